/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of pools, for logs that record which pool allocates, not which
 * function: the frames of a pool are its class, or whatever else is labelled
 * where it was created, and its own name.  A table has, by the address of a
 * pool, the node of what it was created as.
 */
#ifndef TEL_POOLS_H
#define TEL_POOLS_H

#include "model/live.h"
#include "model/stacks.h"

/*
 * Takes an event that creates or destroys a pool; tag: of its log.  1, or 0: no
 * memory.
 */
int tel__pools_note(struct tel__table *pools, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t tag);

/*
 * What the name of a type adds to that of another one that creates pools: MVFF
 * of PoolInitMVFF, where there is PoolInit; NULL: nothing.
 */
const char *tel__pools_suffix(const struct tel_type *t);

/* Nonzero when an event has the pool that it allocates in. */
static inline int
tel__pools_has(const struct tel_type *t)
{
	return t->role_field[TEL_PART_STACK] < 0 &&
	    (t->role_field[TEL_PART_POOL] >= 0 ||
	        t->role_field[TEL_PART_BUFFER] >= 0);
}

/*
 * The node of the frames of the pool at an address, in which an event of such a
 * type allocates; address 0: it is not known.  0: no memory.
 */
uint32_t tel__pools_find(const struct tel__table *pools, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t address,
    uint64_t tag);

#endif
