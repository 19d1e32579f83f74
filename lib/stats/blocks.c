/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting blocks that are allocated and freed, by the model of live blocks, in
 * order of time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/role.h"
#include "query/heap.h"
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
	return tel__stats_pools_change(&from->pools, from->live, from->tag,
	    what, block, op);
}

/* -------------------------------------------------------------- operations */

/* heap: takes the operation as well, with the event that it is of; or NULL. */
static tel_status
take_op(struct source *from, const tel_alloc *op, struct tel_heap *heap,
    const struct tel_event *ev)
{
	tel_status st = TEL_OK;

	if (op->kind == TEL_ALLOC_POOL_CREATE ||
	    op->kind == TEL_ALLOC_POOL_DESCRIBE)
		st = tel__stats_pools_create(&from->pools, op, from->schema);
	if (st == TEL_OK)
		st = heap == NULL ?
		    tel__live_take(from->live, op, from->tag) :
		    tel__heap_take(heap, ev, op, tel__stats_live_change, from);
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

/*
 * What waits is more than the caches near a processor hold: it is fetched so
 * many operations before it is taken, and so is a place for the next one.
 */
#define FETCH_OP 24u
#define FETCH_PLACE 4u

/* A place for an operation of that clock, after those that wait; or NULL. */
static struct block_op *
wait_place(struct waiting *w, uint64_t clock)
{
	struct tel__sort_key *key;

	if (w->nops == w->nrows) {
		if (!TEL__RESERVE(w->ops, w->op_room, w->nrows + 1) ||
		    !TEL__RESERVE(w->keys, w->key_room, w->nrows + 1))
			return NULL;
		w->keys[w->nrows].row = w->nrows;
		w->nrows++;
	}
	key = &w->keys[w->nops++];
	key->clock = clock;
	if (w->nops + FETCH_PLACE < w->nrows)
		__builtin_prefetch(&w->ops[key[FETCH_PLACE].row], 1);
	return &w->ops[key->row];
}

static inline uint64_t
block_op_key(const struct block_op *op)
{
	return op->address ^ tel__live_process_tag(op->process, 0);
}

/* Fetches what the operations after i of n will need. */
__attribute__((always_inline)) static inline void
fetch_ahead(const struct source *from, size_t i, size_t n)
{
	const struct waiting *w = &from->waiting;
	const struct block_op *op;

	if (i + FETCH_OP >= n)
		return;
	__builtin_prefetch(&w->ops[w->keys[i + FETCH_OP].row]);
	if (from->own.by_key.count < TEL__LIVE_NEAR)
		return;
	op = &w->ops[w->keys[i + TEL__LIVE_ENTRY].row];
	tel__live_expect(&from->own, block_op_key(op));
	op = &w->ops[w->keys[i + TEL__LIVE_BLOCK].row];
	tel__live_approach(&from->own, block_op_key(op));
}

/* Takes all but the latest so many operations, no more than half of them. */
static tel_status
take_ops(struct source *from, size_t rest)
{
	struct waiting *w = &from->waiting;
	const size_t n = w->nops;
	const struct block_op *op;
	struct tel__sort_key key;
	tel_status st = TEL_OK;
	tel_alloc alloc = { 0 };
	size_t i;

	if (!tel__sort_keys(&w->sorter, w->keys, n))
		return TEL_ENOMEM;
	for (i = 0; i < n - rest && st == TEL_OK; i++) {
		fetch_ahead(from, i, n - rest);
		op = &w->ops[w->keys[i].row];
		/* the rest stays 0: to clear all of it takes long */
		alloc.kind = (tel_alloc_kind)op->kind;
		alloc.call = (tel_alloc_call)op->call;
		alloc.sized = op->sized;
		alloc.address = op->address;
		alloc.size = op->size;
		alloc.pool = op->pool;
		alloc.buffer = op->buffer;
		alloc.process = op->process;
		alloc.weight = op->weight;
		alloc.clock = w->keys[i].clock;
		st = take_op(from, &alloc, NULL, NULL);
	}
	/* the keys of those that were taken have the rows that are free now */
	for (i = 0; i < rest; i++) {
		key = w->keys[i];
		w->keys[i] = w->keys[n - rest + i];
		w->keys[n - rest + i] = key;
	}
	w->nops = rest;
	return st;
}

void
tel__waiting_clear(struct waiting *w)
{
	free(w->ops);
	free(w->keys);
	tel__sorter_clear(&w->sorter);
}

/* An operation of that kind more waits. */
static tel_status
op_waits(struct tel_stats *s, struct source *from, unsigned kind)
{
	const size_t most = s->piece ? PIECE_MAX : WAITING_MAX;

	s->report.has_allocs |=
	    kind <= TEL_ALLOC_FREE || kind == TEL_ALLOC_COMMIT;
	if (from->waiting.nops < most)
		return TEL_OK;
	from->waiting.lost |= s->piece;
	return take_ops(from, WAITING_REST);
}

/*
 * alloc: volatile, as its numbers were just stored one by one: to load two at
 * once would wait until both are in the cache.
 */
static tel_status
blocks_add_op(struct tel_stats *s, struct source *from,
    const volatile tel_alloc *alloc)
{
	struct block_op *op;

	if (alloc->failed)
		return TEL_OK;
	op = wait_place(&from->waiting, alloc->clock);
	if (op == NULL)
		return TEL_ENOMEM;
	*op = (struct block_op){ alloc->address, alloc->size, alloc->pool,
		alloc->buffer, alloc->process, alloc->weight,
		(uint8_t)alloc->kind, (uint8_t)alloc->call, alloc->sized != 0 };
	return op_waits(s, from, op->kind);
}

tel_status
tel__stats_count_block(struct tel_stats *s, struct source *from,
    const struct tel_event *ev)
{
	tel_alloc alloc;
	const int is_op = tel__event_alloc(ev, &alloc) && s->blocks;
	tel_status st = TEL_OK;

	if (is_op && tel__stats_pools_see(&from->pools, ev, &alloc) != TEL_OK)
		return stats_no_memory(s);
	if (is_op && from->sorted) {
		s->report.has_allocs |= alloc.kind <= TEL_ALLOC_FREE ||
		    alloc.kind == TEL_ALLOC_COMMIT;
		st = take_op(from, &alloc, s->heap, ev);
	} else {
		if (is_op)
			st = blocks_add_op(s, from, &alloc);
		if (st == TEL_OK && s->heap != NULL)
			st = tel__heap_take(s->heap, ev, &alloc, NULL, NULL);
	}
	return st == TEL_ENOMEM ? stats_no_memory(s) : st;
}

tel_status
tel_stats_set_heap(tel_stats *s, tel_heap *h, int samples)
{
	if (s->readers > 0)
		return TEL_ESTATE;
	s->heap = h;
	s->heap_samples = h != NULL && samples;
	return TEL_OK;
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
	struct block_op *op;
	size_t i;

	if (st == TEL_OK)
		st = tel__stats_pools_label(&to->pools, from->log);
	/* one by one, so that the result is as without pieces */
	for (i = 0; i < w->nops && st == TEL_OK; i++) {
		op = wait_place(&to->waiting, w->keys[i].clock);
		if (op == NULL)
			return TEL_ENOMEM;
		*op = w->ops[w->keys[i].row];
		st = op_waits(s, to, op->kind);
	}
	return st;
}
