/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting blocks that are allocated and freed, by the model of live blocks, in
 * order of time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/role.h"
#include "stats/stats.h"

static void
blocks_add(tel_int128 *sum, uint64_t v)
{
	(void)int128_add(sum, int128_u64(v));
}

tel_status
tel__stats_live_change(void *arg, enum tel__live_what what,
    struct tel__live_block *block, const tel_alloc *op)
{
	struct source *from = arg;
	struct report *r = from->pools.report;

	switch (what) {
	case TEL__LIVE_ALLOCATED:
	case TEL__LIVE_UNTRACKED:
		r->allocs += block->blocks;
		r->samples += op->weight != 0;
		blocks_add(&r->alloc_bytes, block->size);
		break;
	case TEL__LIVE_FREED:
	case TEL__LIVE_RESIZED:
		r->frees += block->blocks;
		blocks_add(&r->free_bytes, block->size);
		break;
	case TEL__LIVE_PART_FREED: blocks_add(&r->free_bytes, op->size); break;
	case TEL__LIVE_POOL_DESTROYED:
	case TEL__LIVE_REPLACED:
		blocks_add(&r->ended, block->blocks);
		blocks_add(&r->ended_bytes, block->size);
		break;
	case TEL__LIVE_UNKNOWN: r->strays++; break;
	}
	return tel__stats_pools_change(&from->pools, &from->live, what, block,
	    op);
}

/* -------------------------------------------------------------- operations */

static tel_status
take_op(struct source *from, const tel_alloc *op)
{
	tel_status st = TEL_OK;

	if (op->kind == TEL_ALLOC_POOL_CREATE ||
	    op->kind == TEL_ALLOC_POOL_DESCRIBE)
		st = tel__stats_pools_create(&from->pools, op, from->schema);
	if (st == TEL_OK)
		st = tel__live_take(&from->live, op, 0);
	if (op->kind == TEL_ALLOC_POOL_DESTROY)
		tel__stats_pools_destroy(&from->pools, op);
	return st;
}

/*
 * Operations that wait to be sorted: those of a log that writes its buffers as
 * they fill, and those of a piece, before which others come.
 */
#define WAITING_MAX ((size_t)1 << 16)
#define WAITING_REST ((size_t)1 << 15)
#define PIECE_MAX ((size_t)1 << 20)

struct block_op {
	uint64_t address, size, pool, buffer, process, weight;
	uint8_t kind, call, sized;
};

static tel_status
wait_op(struct source *from, const struct block_op *op, uint64_t clock)
{
	struct waiting *w = &from->waiting;

	if (!TEL__RESERVE(w->ops, w->op_room, w->nops + 1) ||
	    !TEL__RESERVE(w->keys, w->key_room, w->nops + 1))
		return TEL_ENOMEM;
	w->ops[w->nops] = *op;
	w->keys[w->nops].clock = clock;
	w->keys[w->nops].row = w->nops;
	w->nops++;
	return TEL_OK;
}

/* Takes all but the latest so many operations. */
static tel_status
take_ops(struct source *from, size_t rest)
{
	struct waiting *w = &from->waiting;
	const size_t n = w->nops;
	const struct block_op *op;
	struct block_op *left;
	tel_status st = TEL_OK;
	tel_alloc alloc;
	size_t i;

	if (n <= rest)
		return TEL_OK;
	left = malloc((rest + 1) * sizeof(*left));
	if (left == NULL || !tel__sort_keys(&w->sorter, w->keys, n)) {
		free(left);
		return TEL_ENOMEM;
	}
	for (i = 0; i < n - rest && st == TEL_OK; i++) {
		op = &w->ops[w->keys[i].row];
		alloc = (tel_alloc){ .kind = (tel_alloc_kind)op->kind,
			.call = (tel_alloc_call)op->call,
			.sized = op->sized,
			.address = op->address,
			.size = op->size,
			.pool = op->pool,
			.buffer = op->buffer,
			.process = op->process,
			.weight = op->weight,
			.clock = w->keys[i].clock };
		st = take_op(from, &alloc);
	}
	/* those of one clock stay in the order in which they came */
	for (i = 0; i < rest; i++) {
		left[i] = w->ops[w->keys[n - rest + i].row];
		w->keys[i].clock = w->keys[n - rest + i].clock;
		w->keys[i].row = i;
	}
	memcpy(w->ops, left, rest * sizeof(*left));
	w->nops = rest;
	free(left);
	return st;
}

void
tel__waiting_clear(struct waiting *w)
{
	free(w->ops);
	free(w->keys);
	tel__sorter_clear(&w->sorter);
}

/* An operation more waits. */
static tel_status
add_op(struct tel_stats *s, struct source *from, const struct block_op *op,
    uint64_t clock)
{
	const size_t most = s->piece ? PIECE_MAX : WAITING_MAX;
	tel_status st = wait_op(from, op, clock);

	s->report.has_allocs |=
	    op->kind <= TEL_ALLOC_FREE || op->kind == TEL_ALLOC_COMMIT;
	if (st != TEL_OK || from->waiting.nops < most)
		return st;
	from->waiting.lost |= s->piece;
	return take_ops(from, WAITING_REST);
}

tel_status
tel__stats_count_block(struct tel_stats *s, struct source *from,
    const struct tel_event *ev)
{
	struct block_op op;
	tel_alloc alloc;
	tel_status st;

	(void)tel__event_alloc(ev, &alloc);
	if (tel__stats_pools_see(&from->pools, ev, &alloc) != TEL_OK)
		return stats_no_memory(s);
	if (from->sorted) {
		s->report.has_allocs |= alloc.kind <= TEL_ALLOC_FREE ||
		    alloc.kind == TEL_ALLOC_COMMIT;
		st = take_op(from, &alloc);
	} else {
		op = (struct block_op){ alloc.address, alloc.size, alloc.pool,
			alloc.buffer, alloc.process, alloc.weight,
			(uint8_t)alloc.kind, (uint8_t)alloc.call,
			alloc.sized != 0 };
		st = alloc.failed ? TEL_OK : add_op(s, from, &op, alloc.clock);
	}
	return st == TEL_OK ? TEL_OK : stats_no_memory(s);
}

tel_status
tel__stats_settle_blocks(struct tel_stats *s, struct source *from)
{
	return s->piece || take_ops(from, 0) == TEL_OK ? TEL_OK :
	                                                 stats_no_memory(s);
}

int
tel__stats_blocks_fit(const struct source *from)
{
	return !from->sorted && !from->waiting.lost;
}

tel_status
tel__stats_join_blocks(struct tel_stats *s, struct source *to,
    const struct source *from)
{
	const struct waiting *w = &from->waiting;
	tel_status st = tel__stats_pools_join(&to->pools, &from->pools);
	size_t i;

	if (st == TEL_OK)
		st = tel__stats_pools_label(&to->pools, from->log);
	/* one by one, so that what is taken is as without pieces */
	for (i = 0; i < w->nops && st == TEL_OK; i++)
		st = add_op(s, to, &w->ops[w->keys[i].row], w->keys[i].clock);
	return st;
}
