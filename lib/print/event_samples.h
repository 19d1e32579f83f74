/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact events of a page: all of them in blocks of columns, while they fit;
 * then every second block, every fourth one, ..., so that exact events are
 * spread evenly over the log.  The longest ranges are held apart from them.
 */
#ifndef TEL_EVENT_SAMPLES_H
#define TEL_EVENT_SAMPLES_H

#include "base/buffer.h"
#include "base/table.h"
#include "model/event.h"

/* Events and bytes of a block. */
#define SAMPLES_EVENTS 4096u
#define SAMPLES_BYTES ((size_t)256 << 10)
/*
 * Bytes of blocks that are not packed; past that, blocks are packed that will
 * be left when every second one is thrown away.
 */
#define EXACT_PLAIN ((size_t)8 << 20)
/* One block of so many is packed to see how small they become. */
#define SAMPLES_TRY 64u
/* The most types; events of others have the last one. */
#define SAMPLES_TYPES 4096u
/* The longest ranges that are held. */
#define SAMPLES_LONGEST 8192u
/* Bytes that a string is cut to, and a name or a label. */
#define SAMPLES_STRING 4096u
#define SAMPLES_NAME 512u

struct sample_field {
	char *name;
	struct tel_field field; /* its name is not valid */
	int labels;
	const char *unit; /* "bytes"; "id": not a quantity; NULL */
};

/* A type, copied because its log will be closed. */
struct sample_type {
	char *name, *kind;
	char *doc;
	const char *collection; /* static, or NULL */
	const char *role; /* of an allocator, or a frame; static, or NULL */
	signed char parts[TEL_ROLE_PARTS]; /* fields of that, or -1 */
	struct sample_field *fields;
	unsigned nfields;
	uint64_t code;
	uint64_t count; /* its events in the log */
	size_t rows;    /* for sorting */
};

/* An event, copied because it is needed later. */
struct sample_copy {
	struct sample_copy *outer; /* for the caller */
	uint64_t from, length;
	uint64_t block; /* that it was put in */
	uint32_t track, type;
	uint32_t name;   /* bytes of its name, behind this */
	uint32_t size;   /* bytes of the event, behind the name */
	uint32_t labels; /* bytes of its labels, behind that */
	unsigned char bytes[];
};

/* Times of events that were left out; from > to: none was. */
struct sample_gap {
	uint64_t from, to;
};
#define SAMPLES_NO_GAP ((struct sample_gap){ UINT64_MAX, 0 })

static inline void
samples_widen(struct sample_gap *g, uint64_t from, uint64_t to)
{
	g->from = from < g->from ? from : g->from;
	g->to = to > g->to ? to : g->to;
}

/* A block that is complete. */
struct sample_block {
	unsigned char *bytes;
	size_t size;     /* of bytes */
	size_t plain;    /* bytes before they were packed */
	int packed;      /* bytes are gzip */
	uint64_t number; /* counts all blocks, from 0 */
	uint64_t from, to, low, high;
	uint32_t events;
	struct sample_gap gap; /* before it, and behind the block before */
};

struct sample_row;

struct event_samples {
	struct sample_type *types;
	size_t ntypes, types_room;
	struct tel__table by_type; /* hash of a type to its number */
	const struct tel_schema *schema;
	uint32_t *numbers; /* of that schema's types, or UINT32_MAX */
	size_t nnumbers;

	/* the block that is being filled */
	uint64_t number, stride;
	struct sample_row *rows;
	size_t nrows, rows_room;
	struct tel__buffer data, strings;
	struct tel__table by_string;
	uint64_t seed;
	size_t nstrings;
	uint64_t from, to, low, high;
	uint32_t events;
	struct sample_gap gap; /* behind the last one that is kept */

	struct sample_block *blocks;
	size_t nblocks, blocks_room;
	uint64_t bytes, most; /* of all blocks in the page, or nearly so */
	size_t plain;         /* bytes of those that are not packed */
	/* blocks that were packed, and what that made of them */
	uint64_t tried, tried_size;
	double ratio;
	unsigned untried; /* blocks since the last one */

	void **longest; /* of struct sample_copy: a heap, the shortest first */
	size_t nlongest, longest_room;
	int no_memory;
};

/* most: bytes that blocks may have. */
void tel__samples_init(struct event_samples *x, uint64_t most);
void tel__samples_clear(struct event_samples *x);
/* The schemas of the logs so far may be freed. */
void tel__samples_forget(struct event_samples *x);

/* The number of a type; makes it when it is new. */
uint32_t tel__samples_type(struct event_samples *x,
    const struct tel_type *type);

/*
 * Puts an event at a time on a track.  name: NULL: that of its type.
 * length: 0: it is an instant; else one more than the length of its range.
 */
void tel__samples_put(struct event_samples *x, const struct tel_event *ev,
    uint32_t type, uint32_t track, uint64_t time, uint64_t length,
    const char *name, size_t n);

/*
 * How many events from here on will not be in the page, at least: they need not
 * be put, and tel__samples_skip() then counts them; from, to: their times.
 */
uint64_t tel__samples_spare(const struct event_samples *x);
void tel__samples_skip(struct event_samples *x, uint64_t events, uint64_t from,
    uint64_t to);

/* Copies an event; NULL: no memory. */
struct sample_copy *tel__samples_copy(struct event_samples *x,
    const struct tel_event *ev, uint32_t type, uint32_t track, uint64_t time,
    const char *name, size_t n);
/* Puts a copy, which is x's from then on, as a range that ends at to. */
void tel__samples_put_copy(struct event_samples *x, struct sample_copy *copy,
    uint64_t to);

/*
 * The block that is being filled, as it is now.  1; 0: it is empty, or is not
 * one that is kept, or when out of memory.
 */
int tel__samples_rest(struct event_samples *x, struct sample_block *block);

/* Compresses a block with a level of gzip, once.  1; 0: no memory. */
int tel__samples_pack(struct sample_block *block, int level);

/*
 * The n longest ranges of those for which is_in(arg, number) of their block is
 * 0, as a block.  1, or 0 as above.
 */
int tel__samples_longest(struct event_samples *x, size_t n,
    int (*is_in)(void *arg, uint64_t number), void *arg,
    struct sample_block *block);

#endif
