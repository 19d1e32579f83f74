/* SPDX-License-Identifier: BSD-2-Clause */
/* Selection: events by kind, type, time, address and label. */
#ifndef TEL_QUERY_SELECT_H
#define TEL_QUERY_SELECT_H

#include "query/tree.h"

/* Selected names, or all but them. */
struct names {
	char *text; /* as it was given */
	char *words;
	struct name {
		const char *word; /* NUL-terminated */
		uint64_t number;
		/* PHRASE: the words between two commas are one kind */
		enum {
			NAME_WORD,
			NAME_GLOB,
			NAME_NUMBER,
			NAME_ALL,
			NAME_PHRASE
		} form;
		const char *phrase; /* all of these words, in text */
		size_t length;
		unsigned column;
		int known; /* to some schema */
	} * names;
	unsigned count;
	int negate;
};

/* An end of a range of time. */
struct instant {
	enum {
		INSTANT_NONE,
		INSTANT_CLOCK, /* the events' own clock */
		INSTANT_TICKS, /* ticks since the first event, signed */
		INSTANT_NS     /* nanoseconds since the first event, signed */
	} base;
	uint64_t value;
};

struct selection {
	struct names kinds;
	struct names types;
	struct instant from, to; /* both belong to the range */
	struct span *addresses;
	size_t naddresses, address_room;
	struct set *address_set; /* of them, once bound */
	struct label {
		char *text;
		struct pattern glob;
	} * labels; /* any of which may match */
	size_t nlabels, label_room;
};

/*
 * Set a part from text; NULL takes it away.  TEL_OK, TEL_EINVAL and
 * TEL_ELIMIT with fail set and nothing changed, TEL_ENOMEM.
 */
tel_status tel__select_kinds(struct selection *s, const char *text,
    struct fail *fail);
tel_status tel__select_types(struct selection *s, const char *text,
    struct fail *fail);
tel_status tel__select_time(struct selection *s, const char *text,
    struct fail *fail);
tel_status tel__select_address(struct selection *s, const char *text,
    struct fail *fail);
/* Adds a glob; NULL takes all away. */
tel_status tel__select_label(struct selection *s, const char *text,
    struct fail *fail);

/* Checks the names against a schema: TEL_OK, TEL_EINVAL, TEL_ENOMEM. */
tel_status tel__select_check(struct selection *s,
    const struct tel_schema *schema, struct fail *fail);

/*
 * Whether the kind and the name of a type are selected.  type: NULL for any
 * unknown type; then -1 means that it depends on the code.
 */
int tel__select_type(const struct selection *s, const struct tel_type *type);

void tel__select_clear(struct selection *s);

#endif
