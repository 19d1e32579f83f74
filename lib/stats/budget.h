/* SPDX-License-Identifier: BSD-2-Clause */
/* Budget: the memory that all that grows with a log may take together. */
#ifndef TEL_STATS_BUDGET_H
#define TEL_STATS_BUDGET_H

#include <stddef.h>

struct budget {
	size_t used;
	size_t most;
};

/* Takes size bytes.  Returns 1, or 0 when they are not there. */
static inline int
budget_take(struct budget *b, size_t size)
{
	if (b->used > b->most || size > b->most - b->used)
		return 0;
	b->used += size;
	return 1;
}

static inline void
budget_give(struct budget *b, size_t size)
{
	b->used -= size;
}

#endif
