/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing the native format: events are gathered by type, and become a block
 * when there are enough of them.
 */
#ifndef TEL_NATIVE_WRITER_H
#define TEL_NATIVE_WRITER_H

#include "format/tel/wire.h"
#include "encoder/encoder.h"

/*
 * Writes a column of n values, 1 or more, in the mode that takes the fewest
 * bytes.  spare: memory of column_spare(n) bytes.
 */
void tel__column_put(struct tel__buffer *b, const uint64_t *v, size_t n,
    uint64_t before, uint64_t *spare);
/* The same of clocks, which may advance in steps that change little. */
void tel__column_put_clocks(struct tel__buffer *b, const uint64_t *v, size_t n,
    uint64_t before, uint64_t *spare);
static inline size_t
column_spare(size_t n)
{
	return 4 * n * sizeof(uint64_t);
}

/* A schema that events are of. */
struct out_schema {
	struct out_schema *next;
	struct native_schema native;
	int known; /* it goes by its name: it is built in, and like that */
};

/* A log of the stream. */
struct out_log {
	struct out_log *next;
	const struct tel_log *of; /* NULL: it has ended */
	unsigned of_number;       /* of->number when it began */
	uint32_t number;
	uint64_t index;            /* events so far */
	uint64_t end;              /* where the last event ended in its log */
	uint64_t bytes;            /* of events that are in blocks */
	struct tel_labels *labels; /* those given outside of events */
	uint64_t strings;          /* in there */
	const struct tel__metadata *metadata; /* over its own */
	uint64_t lost; /* of->lost when it was looked at last */
	int lines;     /* keeps ev->raw, and what is between */
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
	uint8_t tails; /* bytes behind the cells are kept */
	uint8_t vary;
	uint8_t beside; /* there are bytes beside the cells */
	uint32_t count, room;
	uint32_t stride;         /* bytes of a row: the cells */
	struct tel__buffer rows; /* of all events */
	uint32_t *sizes;         /* of the whole events */
	struct out_blobs tail, raw, lead, inline_labels;
};

/* A log, and the schema that it has. */
struct out_slot {
	struct out_log *log;
	struct out_schema *schema;
	uint64_t index, offset; /* of its first event */
	uint32_t *parts;        /* number + 1 by the index of a type */
	size_t part_room;
};

/* What becomes a block. */
struct out_block {
	struct out_slot *slots;
	unsigned nslots;
	size_t slot_room;
	struct out_part *parts;
	unsigned nparts;
	size_t part_room;
	uint16_t *part_of;
	uint64_t *clocks;
	uint64_t *gaps;
	uint32_t count;
	uint32_t ngaps;
	size_t bytes; /* of all that is gathered */
	struct tel__buffer names;
	uint32_t nnames;
};

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
/* The number of a log and schema in the block; -1: there is no memory. */
int tel__out_block_slot(struct out_block *b, struct out_log *log,
    struct out_schema *schema);
/*
 * Writes the body of the block, whose least clock is first; body->failed when
 * there is no memory.
 */
void tel__out_block_body(struct out_block *b, struct tel__buffer *body,
    uint64_t first);

/* Sets wanted[i] where type i of a slot's schema has events in the block. */
void tel__out_block_types(const struct out_block *b, unsigned slot,
    uint8_t *wanted);

/* What a block, or a log record, says of a log. */
void tel__out_log_put(struct tel__buffer *b, const struct out_log *log,
    const struct out_schema *schema, uint64_t index, uint64_t offset,
    const uint8_t *wanted, int describe, int full);

/*
 * Up to so many bytes of events a log does not describe the types of a
 * built-in format, and those of others once, before its blocks.
 */
#define NATIVE_DESCRIBE_BYTES 65536u
/* With fewer blocks there is nothing to be found faster. */
#define NATIVE_INDEX_BLOCKS 8u

/* A stream that is written. */
struct native_out {
	struct out_block block;
	struct out_block names;      /* copies of events that name things */
	struct tel__buffer ordinals; /* of the events there, 64 bits each */
	struct out_log *logs;
	struct out_schema *schemas;
	struct out_log *last_log; /* of the last event */
	struct out_schema *last_schema;
	uint32_t nlogs;
	struct tel__buffer record;
	int started;
	uint64_t sequence; /* blocks written */
	uint64_t ordinal;  /* events in them */
	uint64_t length;   /* bytes of the stream */
	uint64_t hash;     /* of its records so far */
	uint64_t identifier;
	uint64_t lost; /* events lost before the next block */
	struct tel__buffer index;
	uint64_t entries;
	uint64_t indexed; /* bytes of the stream before the next entry */
	uint64_t clock;   /* first of the last entry with one */
	uint64_t named;   /* blocks that a names record is about, or none */
};

/* write_put.c; they return as tel_writer_event() does. */

/* Writes the events that are held back. */
tel_status tel__native_put_events(struct tel_writer *w);
/* Writes what names things in the blocks since the last such record. */
tel_status tel__native_put_names(struct tel_writer *w);
/* Writes a record of a log without events, which describes a whole schema. */
tel_status tel__native_put_schema(struct tel_writer *w, struct out_log *log,
    struct out_schema *schema);
/* Forgets what would be in the next one. */
void tel__native_clear_names(struct native_out *n);
/* Ends the stream. */
tel_status tel__native_put_end(struct tel_writer *w);

#endif
