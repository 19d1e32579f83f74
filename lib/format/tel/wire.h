/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The native format, tel(5): what its reader and its writer share.
 *
 * A stream is records one after the other; a block is a record with events,
 * column by column, and all that is needed to decode it alone.
 */
#ifndef TEL_NATIVE_H
#define TEL_NATIVE_H

#include "base/varint.h"
#include "model/event.h"
#include "model/metadata.h"
#include "model/schema.h"
#include "wire/column.h"
#include "wire/record.h"

/* -------------------------------------------------------------- cursor */

/* Bytes that are read one after the other; those past the end are 0. */
struct native_bytes {
	const unsigned char *p;
	const unsigned char *end;
	int bad; /* more was requested than there is, or it is invalid */
	/* a reserved value was met: a newer version of the format has it */
	int newer;
};

static inline size_t
native_left(const struct native_bytes *b)
{
	return (size_t)(b->end - b->p);
}

/* n bytes, or NULL. */
static inline const unsigned char *
native_take(struct native_bytes *b, size_t n)
{
	const unsigned char *p = b->p;

	if (n > native_left(b)) {
		b->bad = 1;
		b->p = b->end;
		return NULL;
	}
	b->p += n;
	return p;
}

/* An integer of 7 bits a byte, the lowest first; up to 10 bytes. */
static inline uint64_t
native_varint(struct native_bytes *b)
{
	uint64_t v;
	const unsigned char *p = tel__varint_get(b->p, b->end, &v);

	if (p != NULL) {
		b->p = p;
		return v;
	}
	b->bad = 1;
	b->p = b->end;
	return 0;
}

/* One that is at most max. */
static inline uint32_t
native_number(struct native_bytes *b, uint32_t max)
{
	uint64_t v = native_varint(b);

	if (v > max) {
		b->bad = 1;
		b->p = b->end;
		return 0;
	}
	return (uint32_t)v;
}

/* The same; a greater one is reserved for newer versions of the format. */
static inline uint32_t
native_known(struct native_bytes *b, uint32_t max)
{
	const int bad = b->bad;
	const uint32_t v = native_number(b, max);

	if (b->bad && !bad)
		b->newer = 1;
	return v;
}

/* ------------------------------------------------------------- columns */

/* So many bytes behind a column can be read. */
#define NATIVE_BEHIND 16u

/*
 * Reads a column of n values, 1 or more, that begins near before.  At least
 * NATIVE_BEHIND bytes behind b->end can be read.  out has room for n + 3.
 * 1, or 0 when it is invalid.
 */
int tel__native_column(struct native_bytes *b, size_t n, uint64_t before,
    uint64_t *out);
/*
 * Steps over one, of which only the last value, *out, is wanted; whether the
 * others make sense is not looked at.  spare: room as above.
 */
int tel__native_column_last(struct native_bytes *b, size_t n, uint64_t before,
    uint64_t *spare, uint64_t *out);

/* --------------------------------------------------------------- cells */

/* A part of an event's bytes that is a column. */
struct native_cell {
	uint32_t offset; /* a list has two: the second may be past 65,535 */
	uint8_t width;   /* 1, 2, 4 or 8 bytes */
	uint8_t big;
	uint8_t mask; /* of a byte of bits; else 0xFF */
	uint8_t class;
	uint8_t place; /* it is where in the event a string is, or 0 */
};

/* How events of a type are taken apart. */
struct native_plan {
	struct native_cell *cells;
	unsigned ncells;
	uint32_t fixed; /* bytes before what varies in length */
};

/* ------------------------------------------------------------- schemas */

/* The description of a log in a block or a log record. */
struct native_log {
	uint32_t number; /* in the stream, from 0 */
	const unsigned char *name, *form, *schema, *preamble;
	uint32_t name_size, form_size, schema_size, preamble_size;
	uint64_t digest; /* of its schema */
	double rate;     /* ticks a second, or 0 */
	int has_origin;
	int64_t origin; /* nanoseconds from 1970 to tick 0 */
	/* keys and values, or NULL */
	const unsigned char *metadata;
	uint32_t metadata_size;
	uint64_t index;  /* ordinal in the log of its first event */
	uint64_t offset; /* and where that began */
	/* the description of its types, or of those in the block; or NULL */
	const unsigned char *types;
	uint32_t types_size;
};
#define NATIVE_LOGS_MAX 65535u
#define NATIVE_TYPES_MAX 65535u
/* A derived description has this in place of the number of types. */
#define NATIVE_DERIVED (NATIVE_TYPES_MAX + 1u)

/* Reads one of a version; b->bad when it is invalid. */
void tel__native_log(struct native_bytes *b, unsigned median,
    struct native_log *out);

/*
 * Reads metadata, into m unless that is NULL.  TEL_OK, TEL_ENOMEM; b->bad when
 * it is invalid.
 */
tel_status tel__native_metadata(struct native_bytes *b,
    struct tel__metadata *m);

void tel__native_put_metadata(struct tel__buffer *b,
    const struct tel__metadata *m);

/* Describes the types of a schema that wanted has (all where it is NULL). */
void tel__native_describe(struct tel__buffer *b, const struct tel_schema *s,
    const uint8_t *wanted);
/* The documentation and units of those types, if the log has any. */
void tel__native_put_docs(struct tel__buffer *b, const struct tel_schema *s,
    const uint8_t *wanted);
/*
 * What tel__native_log.digest is for a schema that readers know by its name, and
 * for one that is described completely: as they find both by name and digest, the
 * latter is of the whole description.  0 when out of memory.
 */
uint64_t tel__native_digest(const struct tel_schema *s);
uint64_t tel__native_digest_described(const struct tel_schema *s);

/*
 * Compares a digest with that of a schema, or of the first types of one that
 * may have got more since.  1, 0 or -1 (out of memory).
 */
int tel__native_matches(const struct tel_schema *s, uint64_t digest);
/* The same of all that descriptions say of two schemas. */
int tel__native_equal(const struct tel_schema *a, const struct tel_schema *b);

/*
 * Describes a schema as a built-in one, base, with other names of fields, and
 * gives those to base.  1; 0 if they differ in more, -1 out of memory.
 */
int tel__native_derive(struct tel__buffer *b, const struct tel_schema *s,
    struct tel_schema *base);
/* Nonzero if the description of a log is a derived one. */
int tel__native_is_derived(const struct native_log *log);
/*
 * Gives a schema the names that a derived description has.
 * TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
tel_status tel__native_rename(const struct native_log *log,
    struct tel_schema *base);

/*
 * What schemas take beside what a file spends on them: types that a description
 * leaves out, and pieces of this size of the types of one with a header, of which
 * all bytes are cells.  So many, or 250 MB, in one input.
 */
#define NATIVE_UNPAID ((uint32_t)1 << 20)
#define NATIVE_PIECE 128u

/*
 * Makes the schema that a description is of; partial: set to 1 when not all
 * its types are described.  room: the rest of NATIVE_UNPAID, which is reduced.
 * TEL_OK, TEL_EFORMAT (it is invalid, or takes too much), TEL_ENOMEM.
 */
tel_status tel__native_schema(const struct native_log *log,
    struct tel_schema **out, int *partial, uint32_t *room);

/* ----------------------------------------------------------- summaries */

/* The most blocks of a group. */
#define NATIVE_GROUP 64u
/* Types, and cells of all types, that a summary covers. */
#define NATIVE_SUMMARY_TYPES 4096u
#define NATIVE_SUMMARY_CELLS 4096u
/* The most schemas there. */
#define NATIVE_SUMMARY_SCHEMAS 256u

/*
 * The directory's entry of a group: the blocks since the summary before theirs,
 * all records between them, and the summary that is behind them.
 */
struct native_group {
	uint64_t bytes;        /* of its records, without the summary */
	uint32_t summary_size; /* of the summary */
	uint32_t names_size; /* of the names record before the summary, or 0 */
	uint32_t all_size;   /* of the cumulative one before that, or 0, */
	uint64_t all_from;   /* and the first block that it is about */
	uint32_t blocks;
	uint64_t events;
	uint64_t first, last; /* the least and the greatest clock, or 0 */
	uint64_t lost;        /* events lost before its blocks */
	uint64_t flags;
	uint64_t hash; /* of the stream's records up to the summary */
};
/* Bits of native_group.flags; others are reserved. */
enum {
	NATIVE_GROUP_LOGS = 1,   /* there are log records */
	NATIVE_GROUP_UNNAMED = 2 /* names of its blocks are nowhere else */
};

/*
 * The hash of all groups up to this one; 0 before the first.  It has to change
 * with the directory's content.
 */
uint64_t tel__native_group_chain(uint64_t hash, const struct native_group *g);

/* -------------------------------------------------------------- blocks */

/*
 * Decodes the head of a block or names record.  median: that of the version
 * of its stream.  0: the head is invalid.
 */
int tel__native_head(const struct native_record *rec, unsigned median,
    struct native_head *out);

/* The most events and bytes of events in a block. */
#define NATIVE_EVENTS_MAX 32768u
#define NATIVE_ROWS_MAX ((size_t)1 << 23)

/* A schema that blocks refer to, and how its types are taken apart. */
struct native_schema {
	struct tel_schema *schema; /* not owned */
	uint64_t digest;
	struct native_plan *plans; /* by the index of the type */
	uint8_t source; /* fields of native_head.source are in front */
};

/* Makes the plans of a schema.  TEL_OK, TEL_ENOMEM. */
tel_status tel__native_schema_begin(struct native_schema *ns,
    struct tel_schema *schema, uint64_t digest);
void tel__native_schema_end(struct native_schema *ns);

/* Bytes that the values of a source take in front of an event. */
uint32_t tel__native_source_size(unsigned source);
/* Writes them. */
void tel__native_source_put(const struct native_head *head, unsigned char *to);
/*
 * Makes the schema of events that have those of another and a source, and
 * their plans.  TEL_OK, TEL_EFORMAT (the fields do not fit), TEL_ENOMEM.
 */
tel_status tel__native_source_schema(const struct tel_schema *from,
    unsigned source, struct tel_schema **out);
tel_status tel__native_source_plans(const struct native_schema *from,
    struct tel_schema *schema, unsigned source, struct native_schema *to);

/* Bytes that belong to an event beside its own; of each event. */
struct native_blobs {
	const unsigned char **at; /* NULL: none has any */
	uint32_t *sizes;
};

/* The events of a type in a block. */
struct native_part {
	uint32_t log;  /* number in native_block.logs */
	uint32_t type; /* index in its schema; for an unknown one its code */
	uint8_t unknown;
	uint8_t inline_use; /* tel_event.inline_use */
	uint8_t counted; /* to be set: the bytes of events need not be built */
	uint32_t count;
	uint64_t bytes;  /* of all */
	uint32_t size;   /* of each, where sizes is NULL */
	uint32_t *sizes; /* of each */
	/* the events, each rounded up to 8 bytes; one of zeros if counted */
	unsigned char *rows;
	struct native_blobs raw, lead, inline_labels;
	uint32_t flags;
	uint32_t stride; /* from row to row, where sizes is NULL */
	uint32_t next;   /* while they are handed out: how many were */
};

/* A label that is in force from a clock on. */
struct native_name {
	uint32_t log;  /* number in native_block.logs */
	uint8_t space; /* TEL_SPACES: unknown */
	uint64_t value, clock;
	const unsigned char *string; /* in the record */
	uint32_t size;
};

/*
 * A block that is decoded.  Its memory is used again for the next one; the
 * bytes of the record must stay while it is looked at, and NATIVE_BEHIND more.
 */
struct native_block {
	struct native_head head;
	unsigned nlogs;
	struct native_log *logs;
	unsigned nparts;
	struct native_part *parts;
	uint32_t nnames;
	struct native_name *names;
	uint16_t *part_of; /* of each event */
	uint64_t *clocks;  /* of each event */
	uint64_t *gaps; /* between its offset and the end of the one before; or
	                 * NULL: none */
	const unsigned char *body; /* of the record, behind the logs */
	/* memory */
	struct native_bytes rest; /* the part not decoded yet */
	struct native_memory *memory;
};

/*
 * A block whose events are being read, and are its bytes alone: what
 * tel_log.encoded of its log is meanwhile.
 */
struct native_encoded {
	const struct native_block *block;
	const struct tel_schema *schema;
};

struct native_block *tel__native_block_new(void);
void tel__native_block_free(struct native_block *b);

/*
 * Reads what a block or names record, which is valid, has on its logs, for
 * their schemas to be found.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
tel_status tel__native_block_open(struct native_block *b,
    const struct native_record *rec, unsigned median);

/*
 * Reads what parts it has, and which event is of which.  schemas: of each of
 * b->logs.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
tel_status tel__native_block_parts(struct native_block *b,
    const struct native_schema *const *schemas);

/*
 * Decodes the rest.  These touch nothing but b, so that blocks can be decoded
 * side by side.
 * TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
tel_status tel__native_block_decode(struct native_block *b,
    const struct native_schema *const *schemas);

#endif
