/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holders: what each stack of callers held at moments of a log, for a page, from
 * the figures of a heap (tel/heap.h); without stacks, each process or size.
 */
#ifndef TEL_HOLDERS_H
#define TEL_HOLDERS_H

#include "base/buffer.h"
#include "model/event.h"
#include "query/heap.h"

/* The most moments, each at the end of an interval; a power of two. */
#define HOLDERS_MOMENTS 512u

/* What a stack had at a moment, where that differs from the moment before. */
struct holders_cell {
	uint32_t stack;
	uint64_t live, blocks, allocated, calls;
};

struct holders_moment {
	struct holders_cell *cells;
	size_t count, room;
};

struct holders {
	tel_heap *heap; /* NULL: nothing was allocated */
	const struct tel_schema *schema;
	int wanted;             /* types of .schema allocate, in no pools */
	int pools;              /* some do in pools, which are counted apart */
	int stacked;            /* and say by which stack */
	size_t names, nameless; /* frames, and those that are addresses */
	/* an expression of functions of allocators, too, or NULL */
	const char *allocators;
	uint64_t process; /* without stacks: of the first allocation */
	int processes;    /* and there are others */
	int ended;        /* another log has begun: it has a time of its own */
	unsigned shift;   /* an interval is 2^shift ns */
	size_t now;       /* the interval that has not ended */
	struct holders_moment moments[HOLDERS_MOMENTS];
	size_t ncells;             /* of all moments */
	struct holders_cell *last; /* by stack, at the moment before */
	size_t last_room;
	/* blocks by the power of two of their size, and the largest size */
	uint64_t sizes[65], largest;
};

/* Nonzero when events of a schema are to be given to tel__holders_event(). */
int tel__holders_want(struct holders *h, const struct tel_schema *s);
/*
 * Takes an event, at a time since the first one; watch: set when it is the
 * first.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__holders_event(struct holders *h, const struct tel_event *ev,
    uint64_t time, tel__heap_fn *watch, void *arg);
/*
 * Puts the names, the stacks and the moments up to a time into a block of a
 * page; 0: no memory.  moments: 0 leaves them out.
 */
int tel__holders_put(struct holders *h, uint64_t last, int moments,
    struct tel__buffer *block);
/* Puts the facts into the head of a page, as members of an object. */
void tel__holders_head(const struct holders *h, struct tel__buffer *b);
void tel__holders_clear(struct holders *h);

#endif
