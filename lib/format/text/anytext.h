/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text of a schema that is not built in.  Its header defines the types; where
 * that was lost, the lines themselves do.
 *
 * Facts on types are gathered in sets.  A set becomes a schema when a line is
 * to be read, as a schema does not change once events have it.
 */
#ifndef TEL_ANYTEXT_H
#define TEL_ANYTEXT_H

#include "base/table.h"
#include "model/name.h"
#include "format/text/text.h"

/* The most types of one schema, and types and fields of all in one text. */
#define ANY_TYPES_MAX 4096u
#define ANY_TYPES_TOTAL (1u << 19)
#define ANY_FIELDS_TOTAL (1u << 22)
/* The most fields of all types of one schema. */
#define ANY_FIELDS_MAX (1u << 16)
/* The most schemas in one text. */
#define ANY_SCHEMAS_MAX 1024u
/*
 * Schemas that are made for one line each, so that output does not depend on
 * how the input arrives; later ones have the types of more lines.
 */
#define ANY_SINGLE_MAX 16u
/* The most types of one name, which differ in their fields. */
#define ANY_SAME_MAX 8

/* The header before an event's first field: code, size, clock. */
#define ANY_HEADER 16u

/* The data type of the elements of a list that is empty in all lines so far. */
#define ANY_NO_ELEMENT TEL_LIST

/* A field of a type, as a header or a line has it. */
struct any_field {
	char *name;
	uint8_t datatype;
	uint8_t element; /* of a list */
	uint8_t width;   /* in bits, of a list's elements; 0 for strings */
	uint8_t optional;
	uint8_t is_label; /* of the field before it, an enum */
};

struct any_type {
	char *name;
	char *kind;
	struct any_field *fields;
	uint32_t code;
	uint32_t order; /* in which it came, for types of one code */
	uint32_t same;  /* the place, and 1, of the next one of its hash */
	uint8_t nfields;
	size_t room; /* for fields */
};

/* The text behind "# role: ", and where its line is. */
struct any_role {
	char *text;
	uint64_t offset;
	int reported; /* what of it is wrong, or not to be */
};

/* Types that are being gathered. */
struct any_set {
	char name[48];
	char version[16];
	int untimed; /* as struct tel_schema has it */
	struct any_type *types;
	unsigned ntypes;
	size_t room;
	struct tel__table by_name; /* the places, and 1, of the first types */
	unsigned nfields;          /* of all types */
	int full;                  /* a type had no room */
	struct any_role *roles;
	unsigned nroles;
	size_t role_room;
};

/* A schema, which the reader has. */
struct any_map {
	struct lines_map map;
	uint64_t digest;
	int inferred;
};

struct any {
	int on;      /* lines are read with a schema of these */
	int full;    /* no more types are inferred: a limit is reached */
	int limited; /* nor defined, before a format is named */
	int fresh;   /* header lines have come that no schema has yet */
	struct any_set said;     /* what they say */
	struct any_set inferred; /* what lines without a header say */
	struct any_map known[ANY_SCHEMAS_MAX];
	unsigned nknown;
	unsigned ntypes, nfields; /* of all of them */
	const struct any_map *map;
	unsigned char *data; /* the event, of the longest line */
};

/* Makes s->any if there is none yet.  TEL_OK, TEL_ENOMEM. */
tel_status tel__any_make(struct lines *s);
void tel__any_free(struct any *a);

/*
 * Processes a line of a header: the format's name (tel__any_format), or
 * "# version:", "# type:" or "# role:" (tel__any_header).  1 when it is one, 0
 * when it is not, -1 when out of memory.
 */
int tel__any_format(struct lines *s, const char *name);
int tel__any_header(struct lines *s, const unsigned char *p,
    const unsigned char *end);

/*
 * Adds the type of the event in the line of s.  1: done; 2: it was there as it
 * is; 0: not an event, or it cannot be added; -1: out of memory.
 */
int tel__any_learn(struct lines *s);

/*
 * Puts a schema of what the header said, or else of what was learned, in
 * force.  TEL_OK, TEL_ELIMIT (too many: the one before stays), TEL_ENOMEM.
 */
tel_status tel__any_settle(struct tel_reader *r, struct lines *s);

/* Reads the line of s, as struct lines_syntax has it: read.c. */
int tel__any_parse(struct lines *s);
/* Reads the value of f at *p and stores it. */
int tel__any_value(struct lines *s, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p);

/*
 * Looks for a schema of the same name that the line of s fits, which fits
 * that in force not: texts that were merged may have several.  1 when there is
 * one, which then is in force, and s holds the event.
 */
int tel__any_switch(struct tel_reader *r, struct lines *s);

/* Completes the event that was read, of this type. */
void tel__any_finish(struct lines *s, uint32_t code);

/* The types themselves: anytext_set.c. */

void tel__any_set_clear(struct any_set *set);
/*
 * Adds a type, which is taken over or freed: one of the same name and fields
 * is merged with it.  1, 2 (it was there as it is), 0 (it cannot be added), -1
 * (no memory).
 */
int tel__any_set_add(struct any_set *set, struct any_type *type);
void tel__any_type_clear(struct any_type *type);
/* Adds a field, as like is, with this name.  1, 0 (too many, or twice), -1. */
int tel__any_type_field(struct any_type *type, const unsigned char *name,
    size_t length, struct any_field like);
/* The data type that has the values of both, or -1. */
int tel__any_join(unsigned a, unsigned b);
/* Stores a type's role from a header line, which precedes the type in sorted
 * lines. 1, 0, -1. */
int tel__any_set_role(struct any_set *set, const unsigned char *p, size_t n,
    struct any_role role);
/*
 * Makes a schema of a set, and reports what of its roles is wrong; NULL: no
 * memory.
 */
struct tel_schema *tel__any_set_schema(struct tel_reader *r,
    const struct any_set *set);

/*
 * A word at *p, or a string in quotes, without control characters: *out is a
 * copy, to be freed, and *p is moved behind it and a blank; or NULL, where
 * there is neither.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__any_word(const unsigned char **p, const unsigned char *end,
    char **out);

#endif
