/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the native format: the state, and its steps. */
#ifndef TEL_NATIVE_READER_H
#define TEL_NATIVE_READER_H

#include "base/table.h"
#include "format/tel/wire.h"
#include "reader/reader.h"

/* The most schemas, and unknown types of each, in one input. */
#define NATIVE_SCHEMAS_MAX 65536u
#define NATIVE_UNKNOWN_MAX 65536u

/* A schema that was found. */
struct native_found {
	struct native_found *next;
	struct native_found *same; /* of this digest, or base, the next */
	struct native_schema native;
	uint64_t name;  /* hash of the name that the stream gives it */
	uint64_t types; /* of a partial one: the hash of its description */
	struct native_found *base; /* the schema to which a source was added */
	struct native_found *with_source; /* that schema, by their .same */
};

/* A log of the stream that is read. */
struct native_source {
	struct native_source *next;
	struct tel_log *log;
	struct tel_log own;  /* of all logs but the first */
	uint64_t index, end; /* of its next event */
	uint64_t strings;    /* labels that are defined outside of events */
	char *name, *origin;
	unsigned char *preamble;
	struct tel__metadata metadata;
	int listed; /* the input's metadata have it */
};

/* Blocks that were not read, by their places. */
struct native_gap {
	uint64_t from, to; /* the first, and the one after the last */
};
#define NATIVE_GAPS 64u

/* The events of a type that are handed out. */
struct native_row {
	const struct tel_type *type;
	unsigned char *row; /* the next one */
	uint32_t size;      /* of each, where .sizes is NULL */
	uint32_t stride;    /* and from one to the next */
	uint32_t *sizes;    /* of the next event and those after it */
	uint32_t clock_at;  /* where the clock is in a header, or 0 */
	uint8_t big;        /* and its byte order */
	uint8_t inline_use; /* tel_event.inline_use */
	uint8_t followed;   /* they mean something to the log */
	uint8_t alone;      /* that, or of an unknown type: first of a run */
	uint8_t counted;    /* native_part.counted */
	uint32_t index;     /* of their type */
	uint8_t blobs;      /* they have bytes beside their own */
	struct native_part *part;
};

/* A log of the block that is handed out. */
struct native_slot {
	struct native_source *source;
	struct native_found *schema;
	int begun;
};

/* Schemas that need a newer version: so many are kept apart from damage. */
#define NATIVE_NEWER 16u

struct native {
	struct native_block *block;
	struct native_found *schemas;
	unsigned nschemas;
	uint32_t unpaid; /* the rest of NATIVE_UNPAID */
	/* from digests to schemas, and from numbers of logs to sources */
	struct tel__table by_digest, by_number;
	/* digests of schemas whose descriptions need a newer version */
	uint64_t newer[NATIVE_NEWER];
	unsigned nnewer;
	struct native_source *sources;
	unsigned stream;
	struct tel_clock *leader; /* of its first log: others follow it */

	/* the block that is handed out */
	size_t size; /* of its record, or 0: it is not in the window */
	uint32_t at; /* its next event */
	struct native_encoded encoded;
	struct tel_log *offered; /* the log that has .encoded, or NULL */
	struct native_slot *slots;
	const struct native_schema **natives; /* of the slots */
	size_t slot_room, natives_room;
	struct native_row *rows; /* of the parts */
	size_t part_room;
	int plain; /* one log, and nothing beside the events' own bytes */
	uint32_t
	    simple;   /* and the events to this one need not more than that */
	int counting; /* parts are only counted, */
	int counted;  /* and were */
	unsigned char *copy; /* a record that is not in the window */
	size_t copy_room;

	uint64_t reported; /* events lost, at a damaged place of the input */

	/* where the stream should go on */
	int opening;       /* the log is being opened */
	int in_stream;     /* one has begun, and not ended */
	uint64_t sequence; /* of the next block */
	uint64_t ordinal;  /* events before it */
	uint64_t last;     /* greatest clock so far */
	uint64_t base;     /* of numbers of events, over their ordinals */
	enum { BASE_UNKNOWN, BASE_SAME, BASE_VARIES } based; /* of blocks */
	struct native_gap gaps[NATIVE_GAPS]; /* which places are missing */
	unsigned ngaps;

	/* from the START record */
	unsigned median;     /* of its version */
	int identified;      /* its identifier is known, */
	uint32_t identifier; /* of which these are the low bits */
	int started;         /* its START record was read */
	uint64_t start;      /* and was here */
	uint64_t hash;       /* of its records so far, */
	int whole;           /* if none was left out */
	size_t index_size;   /* of the last record, */
	uint8_t index_kind;  /* which may be an index */
	double rate;         /* ticks a second, or 0 */
	int has_origin;
	int64_t origin; /* nanoseconds from 1970 to tick 0 */
	struct tel__metadata metadata;

	/* of a names record, which events are to be handed out */
	const uint64_t *ordinals; /* of its events; NULL: it is a block */
	uint64_t names_from, names_to;
	struct native_range *range; /* NULL: all is read */

	/* damage not yet reported */
	uint64_t vain;   /* bytes of damaged records, each counted */
	const char *why; /* NULL: none */
	uint64_t from;   /* where it starts */
	uint64_t skipped;
	uint64_t known; /* events in blocks whose heads could be read */
	uint64_t first_lost, last_lost; /* and their clocks */
};

/* read.c */

/* Goes on to the next block with events.  TEL_OK, TEL_END, or a failure. */
tel_status tel__native_next_block(struct tel_reader *r, struct native *s);
/* Bytes needed to detect the start of a record. */
#define NATIVE_LOOK (NATIVE_HEADER + NATIVE_HEAD_MAX)

/*
 * Gathers the whole record that begins at r->p, with its header in rec,
 * in one piece with some bytes behind it, and steps over it where it was
 * copied.  1; 0: the input ends before it does; -1: out of memory.
 */
int tel__native_gather(struct tel_reader *r, struct native *s,
    struct native_record *rec);

/* Counts events that had no room where they were recorded; at: to be shown. */
void tel__native_count_lost(struct tel_reader *r, struct native *s,
    uint64_t lost, uint64_t at);

/* cut.c */

/* Pieces of a stream, as r->format->split_at() and mark(). */
int tel__native_split_at(struct tel_reader *r, uint64_t from, uint64_t to);
void tel__native_mark(const struct tel_reader *r,
    struct tel_decoder_state *mark);

/* range.c */

/* Finds the span of the clocks, as r->span. */
tel_status tel__native_span(struct tel_reader *r, struct tel_clock_span *span);
/*
 * Before the next record is read: moves to the next one that the selected range
 * needs.
 * TEL_OK: read on there; TEL_LOG: a names record was taken, whose events are
 * to be handed out; or a failure.
 */
tel_status tel__native_range_step(struct tel_reader *r, struct native *s);
/* Nonzero when events that are not selected may be left out. */
int tel__native_may_drop(const struct tel_reader *r,
    const struct tel_schema *s);
/* Nonzero when records may be left out. */
int tel__native_range_used(const struct native *s);
void tel__native_range_free(struct native_range *g);

/* logs.c */

/* A whole schema that was found so far, by its name and digest; or NULL. */
const struct native_found *tel__native_find_schema(const struct native *s,
    const unsigned char *name, size_t size, uint64_t digest);

/* Starts a stream. */
void tel__native_begin_stream(struct native *s);
/*
 * Applies a log record.  TEL_OK (it may have made no sense), a
 * failure.
 */
tel_status tel__native_take_log(struct tel_reader *r, struct native *s,
    const struct native_record *rec);
/*
 * Opens and decodes a block, whose record is whole, and makes it ready to be
 * handed out.  TEL_OK; TEL_EFORMAT: it is invalid; a failure.
 */
tel_status tel__native_take_block(struct tel_reader *r, struct native *s,
    const struct native_record *rec);
void tel__native_free_logs(struct tel_reader *r, struct native *s);

/* events.c */

/*
 * Chooses the parts of a block whose events are only counted: as the user asks
 * for no more, or as none of them can be selected.
 */
void tel__native_choose_counted(struct tel_reader *r, struct native *s,
    enum native_kind kind);
/* The form's next(). */
tel_status tel__native_next(struct tel_reader *r);
/* And its decode_batch(). */
void tel__native_decode_batch(struct tel_reader *r);

/* write.c */
extern const struct tel_encoder_ops tel__native_encoder;

#endif
