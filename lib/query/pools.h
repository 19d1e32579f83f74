/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools of a heap, for logs that record which pool allocates, not which
 * function: the frames of a pool are its class, or whatever else is labelled
 * where it was created, and its own name.
 */
#ifndef TEL_POOLS_H
#define TEL_POOLS_H

#include "query/stacks.h"

/* A block that lives in a pool. */
struct tel__pool_link {
	uint64_t key;            /* of the block, as the heap has it */
	uint32_t pool;           /* its place and 1; 0: it is in none */
	uint32_t next, previous; /* places of blocks and 1 */
};

struct tel__pool {
	uint32_t node;  /* of what it was created as; 0: unknown */
	uint32_t first; /* the newest live block and 1; if free, the next one */
};

struct tel__pools {
	struct tel__table by_address; /* to a place */
	struct tel__table by_buffer;  /* to the address of a pool */
	struct tel__pool *pools;
	size_t npools, room;
	uint32_t spare;               /* the first that is free, and 1 */
	struct tel__pool_link *links; /* by the place of a block */
	size_t link_room;
};

void tel__pools_init(struct tel__pools *p);
void tel__pools_clear(struct tel__pools *p);

/*
 * Takes an event that creates a pool or a buffer, or ends a buffer; tag: of
 * its log.  1, or 0: no memory.
 */
int tel__pools_note(struct tel__pools *p, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t tag);

/* Nonzero when an event says in which pool it allocates. */
static inline int
tel__pools_has(const struct tel_type *t)
{
	return t->role_field[TEL_PART_STACK] < 0 &&
	    (t->role_field[TEL_PART_POOL] >= 0 ||
	        t->role_field[TEL_PART_BUFFER] >= 0);
}

/*
 * The pool that an event of such a type allocates in, its place and 1, and the
 * node of its frames.  1, or 0: no memory.
 */
int tel__pools_find(struct tel__pools *p, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t tag,
    uint32_t *pool, uint32_t *node);

/* A block at a place starts to live in a pool (0: in none).  1, or 0. */
int tel__pools_link(struct tel__pools *p, uint32_t pool, size_t place,
    uint64_t key);
/* It lives no more. */
void tel__pools_unlink(struct tel__pools *p, size_t place);

/* The key of a block of the pool that an event destroys; 0: it has none. */
int tel__pools_next(const struct tel__pools *p, const tel_alloc *op,
    uint64_t tag, uint64_t *key);
/* The pool is destroyed; its blocks were unlinked. */
void tel__pools_end(struct tel__pools *p, const tel_alloc *op, uint64_t tag);

#endif
