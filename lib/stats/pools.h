/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools: what lives in each, as the live blocks of a source change. */
#ifndef TEL_STATS_POOLS_H
#define TEL_STATS_POOLS_H

#include "base/table.h"
#include "model/event.h"
#include "model/live.h"
#include "stats/report.h"

struct pool_label {
	uint64_t address;
	char *text; /* NULL: it has none, so far */
};

#define POOLS_RECENT 8u /* a power of two */

/* The pools of a source. */
struct pools {
	struct report *report;
	struct tel__table places; /* of the last one at an address, and 1 */
	/* labels that the addresses have at the end */
	struct tel__table known;
	struct pool_label *labels;
	size_t nlabels, label_room;
	/* addresses that were seen, by a few of their bits; 0: none */
	uint64_t recent[POOLS_RECENT];
	enum tel_space space;
};

void tel__stats_pools_clear(struct pools *p);
/* Keeps a pool, so that the end finds its label.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stats_pools_know(struct pools *p, const struct tel_type *t,
    uint64_t pool);
/*
 * Before an operation is taken, and after.  .size is the index of the type that
 * the pool is created as.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__stats_pools_create(struct pools *p, const tel_alloc *op,
    const struct tel_schema *schema);
void tel__stats_pools_destroy(struct pools *p, const tel_alloc *op);
/*
 * Takes a change of the blocks of a source, whose .account is the place of the
 * pool.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__stats_pools_change(struct pools *p, struct tel__live *live,
    uint64_t log_tag, enum tel__live_what what, struct tel__live_block *block,
    const tel_alloc *op);
/* Adds the addresses of a source of the same log, read behind. */
tel_status tel__stats_pools_join(struct pools *to, const struct pools *from);
/* Finds the labels that a log has for the addresses.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stats_pools_label(struct pools *p, const struct tel_log *log);
/* Gives the pools of the report their labels.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stats_pools_settle(struct pools *p);

/* An event of a type names a pool.  TEL_OK, TEL_ENOMEM. */
static inline tel_status
pools_see(struct pools *p, const struct tel_type *t, uint64_t pool)
{
	/* nearly all are one of the few before */
	if (t->role_field[TEL_PART_POOL] < 0 ||
	    (p->recent[pool >> 4 & (POOLS_RECENT - 1)] == pool && pool != 0))
		return TEL_OK;
	return tel__stats_pools_know(p, t, pool);
}

#endif
