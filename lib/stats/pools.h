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

/* The pools of a source. */
struct pools {
	struct report *report;
	struct tel__table places; /* of the last one at an address, and 1 */
	/* labels that the addresses have at the end */
	struct tel__table known;
	struct pool_label *labels;
	size_t nlabels, label_room;
	uint64_t last; /* the place of the last one that was seen */
	enum tel_space space;
};

void tel__stats_pools_clear(struct pools *p);
/*
 * An event names the pool of an operation, which may be taken later: what it
 * was created as is in .size then.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__stats_pools_see(struct pools *p, const struct tel_event *ev,
    tel_alloc *op);
/* Before an operation is taken, and after.  TEL_OK, TEL_ENOMEM. */
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

#endif
