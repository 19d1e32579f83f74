/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing the native format: events are gathered by type, and become a block
 * when there are enough of them.
 */
#ifndef TEL_NATIVE_WRITER_H
#define TEL_NATIVE_WRITER_H

#include "base/table.h"
#include "format/tel/wire.h"
#include "encoder/encoder.h"

/* A schema that events are of. */
struct out_schema {
	struct out_schema *next;
	struct native_schema native;
	int known; /* equal to the built-in one, so files refer to it by name */
	/* else a derived description, if it differs in names of fields only */
	struct tel__buffer derived;
};

/* A log of the stream. */
struct out_log {
	struct out_log *next;
	const struct tel_log *of; /* of the reader; NULL: it has ended */
	unsigned of_number;       /* of->number at its start */
	/* of it, for when *of is that of another log; its clock is shared */
	struct tel_log kept;
	struct tel__metadata own;
	uint32_t number;
	uint64_t index;            /* events so far */
	uint64_t end;              /* where the last event ended in its log */
	uint64_t bytes;            /* of events that are in blocks */
	struct tel_labels *labels; /* those given outside of events */
	uint64_t strings;          /* in there */
	const struct tel__metadata *metadata; /* over its own */
	uint64_t lost; /* of->lost when it was looked at last */
	int part;      /* the rest of it is elsewhere */
	int lines;     /* keeps ev->raw, and lines between events */
	/* the wall clock as the last block has it, if that has one */
	int has_epoch;
	int64_t epoch;
	int renew; /* the next block has another */
	char *name;
	size_t name_size;
	const struct out_schema *recorded; /* in the last record of the log */
	uint8_t *described;                /* the types that were, with it */
};

/* Byte strings of events. */
struct out_blobs {
	struct tel__buffer bytes;
	uint32_t *sizes;
	int any;
};

/* The events of a type that are gathered. */
struct out_part {
	unsigned slot; /* number of its log and schema */
	const struct tel_type *type;
	const struct native_plan *plan;
	uint8_t inline_use;
	uint8_t tails; /* bytes after the cells are kept */
	uint8_t vary;
	uint8_t beside; /* there are bytes beside the cells */
	uint32_t count, room;
	uint32_t stride;         /* bytes of a row: the cells */
	struct tel__buffer rows; /* of all events */
	uint32_t *sizes;         /* of the whole events */
	struct tel__column_range
	    *ranges; /* of its cells, once the body is written */
	size_t range_room;
	struct out_blobs tail, raw, lead, inline_labels;
};

/* A log and its schema. */
struct out_slot {
	struct out_log *log;
	struct out_schema *schema;
	uint64_t index, offset; /* of its first event */
	uint32_t *parts;        /* number + 1 by the index of a type */
	size_t part_room;
};

/* Events that become a block. */
struct out_block {
	struct out_slot *slots;
	unsigned nslots;
	size_t slot_room;
	struct tel__table by_key; /* of logs and schemas to slots */
	struct out_part *parts;
	unsigned nparts;
	size_t part_room;
	uint16_t *part_of;
	uint64_t *clocks;
	uint64_t *gaps;
	uint32_t count;
	uint32_t ngaps;
	size_t bytes;     /* of all that is gathered */
	unsigned smaller; /* it is full with 1 / (1 << this) of the usual */
	struct tel__buffer names;
	uint32_t nnames;
};

/* A block is written when it has so many events, or bytes of events. */
#define BLOCK_EVENTS 16384u
#define BLOCK_BYTES ((size_t)1 << 17)
/*
 * The first block has so many halvings of that, the next one fewer, so that a
 * short file that is cut off keeps events; and not less than a description.
 */
#define BLOCK_HALVINGS 1u
/* The same of its parts, each the events of one type. */
#define BLOCK_PARTS 16384u
/* The same of bytes of names, as of the frames of deep stacks. */
#define BLOCK_NAMES (NATIVE_BODY_MAX / 2)

static inline int
out_block_full(const struct out_block *b)
{
	return b->count >= BLOCK_EVENTS >> b->smaller ||
	    b->bytes >= BLOCK_BYTES >> b->smaller || b->nparts >= BLOCK_PARTS ||
	    b->names.used >= BLOCK_NAMES;
}

/* Makes room for its events.  TEL_OK, TEL_ENOMEM. */
tel_status tel__out_block_begin(struct out_block *b);
void tel__out_block_end(struct out_block *b);
/* Forgets the events; memory stays. */
void tel__out_block_clear(struct out_block *b);
/*
 * Gathers an event; lead: the lines before it.
 * TEL_OK, TEL_ENOMEM.
 */
tel_status tel__out_block_add(struct out_block *b, struct out_log *log,
    struct out_schema *schema, const struct tel_event *ev,
    const unsigned char *lead, size_t lead_size);
/*
 * The same of up to n events of a run, from one on, which are bytes alone: up to
 * one that needs more than a place in memory that is there, or the one that
 * makes the block full.  Returns how many were gathered.
 */
size_t tel__out_block_add_run(struct out_block *b, struct out_log *log,
    const struct out_schema *schema, const struct tel_run *run, size_t from,
    size_t n);
/* The number of a log and schema in the block; -1: out of memory. */
int tel__out_block_slot(struct out_block *b, struct out_log *log,
    struct out_schema *schema);
/* Adds a name that no event defines; b->names.failed without memory. */
void tel__out_block_name(struct out_block *b, int slot,
    const struct tel_label *label, enum tel_space space, uint64_t value,
    uint64_t clock);
/*
 * Writes the body of the block, whose least clock is first; body->failed when
 * out of memory.
 */
void tel__out_block_body(struct out_block *b, struct tel__buffer *body,
    uint64_t first);

/* Whether a block that was read is as long as one that is written. */
int tel__out_block_fills(const struct native_block *from);

/* Sets wanted[i] where type i of a slot's schema has events in the block. */
void tel__out_block_types(const struct out_block *b, unsigned slot,
    uint8_t *wanted);

/* Writes a log as blocks and LOG records have it. */
void tel__out_log_put(struct tel__buffer *b, const struct out_log *log,
    const struct out_schema *schema, uint64_t index, uint64_t offset,
    const uint8_t *wanted, int describe, int full);

/*
 * Up to so many bytes of events a log does not describe the types of a
 * built-in format, and those of others once, before its blocks.
 */
#define NATIVE_DESCRIBE_BYTES 65536u
/* With fewer blocks an index saves nothing. */
#define NATIVE_INDEX_BLOCKS 8u

/* write_names.c: strings and labels in force after all blocks so far. */
struct out_names;
struct out_names *tel__out_names_new(void); /* NULL: no memory */
void tel__out_names_free(struct out_names *all);
void tel__out_names_clear(struct out_names *all);
/* Takes an event of a role up to labelp.  TEL_OK, TEL_ENOMEM. */
tel_status tel__out_names_add(struct out_names *all, struct out_log *log,
    struct out_schema *schema, const struct tel_event *ev, uint64_t ordinal);
/* Takes a name that no event gives. */
tel_status tel__out_names_tell(struct out_names *all, struct out_log *log,
    struct out_schema *schema, const struct tel_label *label,
    enum tel_space space, uint64_t value, uint64_t clock);
/* Nonzero when there is something, and not too much for a record. */
int tel__out_names_any(const struct out_names *all);
/* Gathers all of it in a block, and the ordinals of the events. */
tel_status tel__out_names_block(const struct out_names *all,
    struct out_block *b, struct tel__buffer *ordinals);

/* write_summary.c: the blocks since the last summary. */

/* What blocks have of a type. */
struct out_stat {
	uint32_t schema; /* its place in the summary */
	uint64_t type;   /* as in a part of a block, and 1 added if unknown */
	unsigned ncells;
	uint32_t counts[NATIVE_GROUP];
	struct tel__column_range *ranges; /* of each cell, one for each block */
};

/* A schema that a summary mentions; it may be freed before the summary. */
struct out_named_schema {
	const struct out_schema *of; /* NULL: it is */
	char name[48];
	uint64_t digest;
};

struct out_group {
	struct native_group is;
	uint64_t place;   /* of its first block */
	uint64_t ordinal; /* events before that */
	struct tel__buffer records;
	uint64_t nrecords;
	struct tel__table table; /* of types, to places in stats */
	struct out_stat *stats;
	size_t nstats, stat_room;
	unsigned ncells;
	struct out_named_schema *schemas;
	size_t nschemas, schema_room;
	int incomplete; /* types are left out */
};

void tel__out_group_free(struct out_group *g);
/* Starts the next group. */
void tel__out_group_clear(struct out_group *g, uint64_t place,
    uint64_t ordinal);
/* The schemas are about to be freed. */
void tel__out_group_forget(struct out_group *g);
/* Takes the header and the head of a record of the group. */
void tel__out_group_record(struct out_group *g, const unsigned char *p,
    const struct native_record *rec);
/* Adds a block that was written.  TEL_OK, TEL_ENOMEM. */
tel_status tel__out_group_block(struct out_group *g, const struct out_block *b,
    const struct native_head *head);
/* Writes the head and the body of the summary.  Bytes of the head. */
size_t tel__out_group_put(struct out_group *g, uint32_t stream,
    unsigned char *head, struct tel__buffer *body);
/* Writes an entry of the directory. */
void tel__out_group_entry(struct tel__buffer *b, const struct native_group *g,
    uint64_t before);

/* A stream that is written. */
struct native_out {
	struct out_block block;
	struct out_block names;      /* copies of events that name things */
	struct tel__buffer ordinals; /* of the events there, 64 bits each */
	struct out_block all;        /* the same, of names in force */
	struct tel__buffer all_ordinals;
	struct out_names *in_force;
	uint64_t all_from;  /* the block from which on it has all */
	uint64_t all_size;  /* bytes of the last record of it, */
	uint64_t all_since; /* and of names since then */
	struct out_group group;
	struct tel__buffer directory;
	uint64_t groups;      /* in there */
	uint64_t groups_hash; /* of them */
	struct out_log *logs;
	struct tel__table by_log; /* of addresses of the logs of readers */
	struct out_schema *schemas;
	struct tel__table by_schema; /* the same of theirs */
	struct out_log *last_log;    /* of the last event */
	struct out_schema *last_schema;
	uint32_t nlogs;
	struct tel__buffer record;
	int started;
	uint64_t sequence; /* blocks written */
	uint64_t ordinal;  /* events in them */
	uint64_t length;   /* bytes of the stream */
	uint64_t hash;     /* of its records so far */
	uint64_t identifier;
	uint64_t next; /* the number in its log of the event behind the last */
	uint32_t row;  /* how many were written one behind the other until it */
	uint64_t lost; /* events lost before the next block */
	uint64_t clock; /* first of the last group */
};

/* write_put.c; they return as tel_writer_event() does. */

/* Writes the collected events. */
tel_status tel__native_put_events(struct tel_writer *w);
/* Writes the NAMES records of the group, and its summary. */
tel_status tel__native_put_group(struct tel_writer *w);
/* Writes a record of a log without events, which describes a whole schema. */
tel_status tel__native_put_schema(struct tel_writer *w, struct out_log *log,
    struct out_schema *schema);
/* Drops all names, as the logs and schemas are about to be freed. */
void tel__native_clear_names(struct native_out *n);
/* Ends the stream. */
tel_status tel__native_put_end(struct tel_writer *w);

#endif
