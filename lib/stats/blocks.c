/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting blocks that are allocated and freed, by the model of live blocks, in
 * order of time.
 */
#include <stdlib.h>

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
	case TEL__LIVE_LEFT:
	case TEL__LIVE_REPLACED:
		blocks_add(&r->ended, block->blocks);
		blocks_add(&r->ended_bytes, block->size);
		break;
	case TEL__LIVE_UNKNOWN: r->strays++; break;
	case TEL__LIVE_INHERITED: r->inherited++; break;
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

	if (op->kind < TEL_ALLOC_POOL_CREATE && heap == NULL)
		return tel__live_take(from->live, op, from->tag);
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

/* Small, as what waits is more than the caches near a processor hold. */
struct block_op {
	uint64_t address, size, pool;
	uint8_t kind, call, sized, more;
};

/* What few have, in the same row: where one is not 0, .more is set. */
struct block_more {
	uint64_t buffer, process, weight;
};

/*
 * An operation is fetched so many operations before it is taken, and so is a
 * place for the next one.
 */
#define FETCH_OP 24u
#define FETCH_PLACE 4u

/* The key of the block of an operation that waits. */
static inline uint64_t
waiting_key(const struct waiting *w, size_t row)
{
	const struct block_op *op = &w->ops[row];

	return op->address ^
	    tel__live_process_tag(op->more ? w->more[row].process : 0, 0);
}

/* Fetches a row, which may be in two lines of a cache. */
__attribute__((always_inline)) static inline void
waiting_fetch(const struct block_op *op)
{
	__builtin_prefetch(op, 1);
	__builtin_prefetch((const unsigned char *)(op + 1) - 1, 1);
}

/* A place for an operation of that clock, after those that wait; or NULL. */
static inline struct block_op *
wait_place(struct waiting *w, uint64_t clock)
{
	if (w->nops == w->nrows) {
		if (!TEL__RESERVE(w->ops, w->op_room, w->nrows + 1) ||
		    !TEL__RESERVE(w->keys, w->key_room, w->nrows + 1))
			return NULL;
		w->keys[w->nrows].row = w->nrows;
		w->nrows++;
	}
	struct tel__sort_key *key = &w->keys[w->nops++];
	key->clock = clock;
	if (w->nops + FETCH_PLACE < w->nrows)
		waiting_fetch(&w->ops[key[FETCH_PLACE].row]);
	return &w->ops[key->row];
}

/* Adds to an operation what few have.  1, or 0: no memory. */
static int
wait_more(struct waiting *w, struct block_op *op, const struct block_more *more)
{
	const size_t row = (size_t)(op - w->ops);

	if (!TEL__RESERVE(w->more, w->more_room, w->nrows))
		return 0;
	w->more[row] = *more;
	op->more = 1;
	return 1;
}

/* Fetches what the operations after i of n will need. */
__attribute__((always_inline)) static inline void
fetch_ahead(const struct source *from, size_t i, size_t n)
{
	const struct waiting *w = &from->waiting;

	if (i + FETCH_OP >= n)
		return;
	waiting_fetch(&w->ops[w->keys[i + FETCH_OP].row]);
	if (from->own.by_key.count < TEL__LIVE_NEAR)
		return;
	tel__live_expect(&from->own,
	    waiting_key(w, w->keys[i + TEL__LIVE_ENTRY].row));
	tel__live_approach(&from->own,
	    waiting_key(w, w->keys[i + TEL__LIVE_BLOCK].row));
}

/* Takes all but the latest so many operations, no more than half of them. */
static tel_status
take_ops(struct source *from, size_t rest)
{
	struct waiting *w = &from->waiting;
	const size_t n = w->nops;
	const struct block_more none = { 0, 0, 0 }, *more;
	struct tel__sort_key key;
	tel_status st = TEL_OK;
	tel_alloc alloc = { 0 };

	if (!tel__sort_keys(&w->sorter, w->keys, n))
		return TEL_ENOMEM;
	for (size_t i = 0; i < n - rest && st == TEL_OK; i++) {
		fetch_ahead(from, i, n - rest);
		const struct block_op *op = &w->ops[w->keys[i].row];
		more = op->more ? &w->more[w->keys[i].row] : &none;
		/* the rest stays 0: to clear all of it takes long */
		alloc.kind = (tel_alloc_kind)op->kind;
		alloc.call = (tel_alloc_call)op->call;
		alloc.sized = op->sized;
		alloc.address = op->address;
		alloc.size = op->size;
		alloc.pool = op->pool;
		alloc.buffer = more->buffer;
		alloc.process = more->process;
		alloc.weight = more->weight;
		alloc.clock = w->keys[i].clock;
		st = take_op(from, &alloc, NULL, NULL);
	}
	/* the keys of those that were taken have the rows that are free now */
	for (size_t i = 0; i < rest; i++) {
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
	free(w->more);
	free(w->keys);
	tel__sorter_clear(&w->sorter);
}

/* An operation of that kind more waits. */
static inline tel_status
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
	if (alloc->failed)
		return TEL_OK;
	struct block_op *op = wait_place(&from->waiting, alloc->clock);
	if (op == NULL)
		return TEL_ENOMEM;
	*op = (struct block_op){ alloc->address, alloc->size, alloc->pool,
		(uint8_t)alloc->kind, (uint8_t)alloc->call, alloc->sized != 0,
		0 };
	struct block_more more =
	    (struct block_more){ alloc->buffer, alloc->process, alloc->weight };
	if ((more.buffer | more.process | more.weight) != 0 &&
	    !wait_more(&from->waiting, op, &more))
		return TEL_ENOMEM;
	return op_waits(s, from, op->kind);
}

tel_status
tel__stats_count_block(struct tel_stats *s, struct source *from,
    const struct tel_event *ev)
{
	tel_alloc alloc;
	const int is_op = tel__event_alloc(ev, &alloc) && s->blocks;
	tel_status st = TEL_OK;

	if (is_op &&
	    (alloc.kind == TEL_ALLOC_POOL_CREATE ||
	        alloc.kind == TEL_ALLOC_POOL_DESCRIBE))
		alloc.size = ev->type->index;
	if (is_op && pools_see(&from->pools, ev->type, alloc.pool) != TEL_OK)
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

/* Where the field of a part is, a number of 64 bits.  1, or 0: it is not. */
static int
block_field(const struct tel_type *t, enum tel_role_part part, uint16_t *out)
{
	const int i = t->role_field[part];

	if (i < 0 || t->fields[i].load != TEL_LOAD_LE64)
		return 0;
	*out = t->fields[i].offset;
	return 1;
}

void
tel__stats_block_fields(const struct tel_type *t, struct block_fields *out)
{
	const int8_t *part = t->role_field;
	const int address = part[TEL_PART_ADDRESS];

	out->kind =
	    t->role == TEL_ROLE_ALLOC ? TEL_ALLOC_MALLOC : TEL_ALLOC_FREE;
	/* the address of a numbered block is another number */
	out->plain = (t->role == TEL_ROLE_ALLOC || t->role == TEL_ROLE_FREE) &&
	    block_field(t, TEL_PART_ADDRESS, &out->address) &&
	    block_field(t, TEL_PART_SIZE, &out->size) &&
	    block_field(t, TEL_PART_POOL, &out->pool) &&
	    t->fields[address].datatype != TEL_UNSIGNED &&
	    t->fields[address].datatype != TEL_SIGNED &&
	    part[TEL_PART_PROCESS] < 0 && part[TEL_PART_WEIGHT] < 0 &&
	    part[TEL_PART_COUNT] < 0 && part[TEL_PART_ALIGNMENT] < 0;
}

tel_status
tel__stats_count_block_in(struct tel_stats *s, struct source *from,
    const struct slot *slot, tel_run *run, size_t i)
{
	const struct block_fields *f = &slot->block;
	const unsigned char *data = run->data[i];

	if (from->sorted)
		tel__live_fetch(from->live, run, i, from->tag);
	if (from->sorted || !f->plain || s->heap != NULL)
		return tel__stats_count_block(s, from, run_event(run, i));
	uint64_t address = tel_le64(data + f->address);
	uint64_t pool = tel_le64(data + f->pool);
	if (pools_see(&from->pools, slot->type, pool) != TEL_OK)
		return stats_no_memory(s);
	if (address == 0 && f->kind == TEL_ALLOC_MALLOC)
		return TEL_OK; /* it failed */
	struct block_op *op = wait_place(&from->waiting, run->clocks[i]);
	if (op == NULL)
		return stats_no_memory(s);
	*op = (struct block_op){ address, tel_le64(data + f->size), pool,
		f->kind, TEL_CALL_C, f->kind == TEL_ALLOC_FREE, 0 };
	return op_waits(s, from, f->kind) == TEL_OK ? TEL_OK :
	                                              stats_no_memory(s);
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

	if (st == TEL_OK)
		st = tel__stats_pools_label(&to->pools, from->log);
	/* one by one, so that the result is as without pieces */
	for (size_t i = 0; i < w->nops && st == TEL_OK; i++) {
		op = wait_place(&to->waiting, w->keys[i].clock);
		if (op == NULL)
			return TEL_ENOMEM;
		*op = w->ops[w->keys[i].row];
		if (op->more &&
		    !wait_more(&to->waiting, op, &w->more[w->keys[i].row]))
			return TEL_ENOMEM;
		st = op_waits(s, to, op->kind);
	}
	return st;
}
