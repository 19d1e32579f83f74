/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TMF, the text in which users describe events: providers, their types, and
 * blocks of fields, each of an item type.  tel-ets(5) has its grammar.
 */
#ifndef TEL_TMF_H
#define TEL_TMF_H

#include "tel/base.h"

/* The most bytes of a file, and of a line or a name in it. */
#define TMF_SIZE_MAX ((size_t)1 << 24)
#define TMF_NAME_MAX 100
/* The most types of events, names of messages, and providers, of all files. */
#define TMF_TYPES_MAX 4096u
#define TMF_MESSAGES_MAX (1u << 17)
#define TMF_PROVIDERS_MAX 8192u
/* The most fields of a block. */
#define TMF_FIELDS_MAX 200u

/* What an item type is on the wire and in a schema. */
struct tmf_item {
	const char *name;
	uint8_t size;     /* bytes; of a string, those before its bytes */
	uint8_t datatype; /* enum tel_datatype */
	uint8_t load; /* enum tel_load, of those that are fields as they are */
	enum tmf_shape {
		TMF_PLAIN,        /* a field as it is */
		TMF_CHAR,         /* a signed byte */
		TMF_IP,           /* four bytes, shown as a.b.c.d */
		TMF_GUID,         /* 16 bytes, shown as usual */
		TMF_STRING,       /* bytes up to a NUL, or all that is left */
		TMF_WIDE,         /* UTF-16, little-endian, up to a NUL */
		TMF_COUNTED,      /* two bytes of length, and so many bytes */
		TMF_COUNTED_WIDE, /* the same, of UTF-16 */
		TMF_PADDING       /* a number that is not shown */
	} shape;
};

struct tmf_field {
	char *name;
	const struct tmf_item *item;
};

struct tmf_block {
	struct tmf_field *fields;
	unsigned nfields;
	size_t room; /* for fields */
};

struct tmf_provider {
	char *token; /* "8", or "0" and the name of a contract */
	char *name;
	int64_t number; /* of a decimal token; else -1 */
};

struct tmf_type {
	char *name;
	int64_t number; /* of the type; of a message its tag */
	uint32_t version;
	uint32_t provider; /* index */
	uint32_t block;    /* index */
	uint32_t order;    /* in which they came: later ones take precedence */
};

/* All that was described, file after file.  Begin with zeros. */
struct tmf {
	struct tmf_provider *providers;
	struct tmf_type *types;
	struct tmf_block *blocks;
	unsigned nproviders, ntypes, nblocks;
	size_t provider_room, type_room, block_room;
	unsigned nmessages; /* types that are of contracts */
};

/*
 * Adds the descriptions in n bytes of text; path: its name in messages.
 * TEL_OK; TEL_EINVAL, TEL_ELIMIT: error has the place that is invalid, or the
 * limit, in printable ASCII; TEL_ENOMEM.  After a failure only tel__tmf_free()
 * may be called.
 */
tel_status tel__tmf_parse(struct tmf *t, const char *text, size_t n,
    const char *path, char *error, size_t error_size);

/* tmf_find.c */

/* To be called after the last tel__tmf_parse(): sorts, and drops the overruled. */
void tel__tmf_finish(struct tmf *t);

/*
 * The name of a contract's message; NULL when it is not known.
 * contract: n bytes, as the log spells it: "DirectoryServiceContract.Imp".
 */
const char *tel__tmf_message(const struct tmf *t, const char *contract,
    size_t n, int64_t tag);

void tel__tmf_free(struct tmf *t);

/* The item type of that name; NULL when there is none.  tmf_item.c */
const struct tmf_item *tel__tmf_find_item(const char *name, size_t n);
/* A field that only takes room has this one. */
extern const struct tmf_item tel__tmf_padding[9];

#endif
