/* SPDX-License-Identifier: BSD-2-Clause */
/* Live blocks: allocated, resized, freed at once or in parts, or with a pool. */
#include "model/live.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/role.h"

/* Pools of a log that are distinguished; blocks of others are in none. */
#define POOLS_MAX ((size_t)1 << 20)

void
tel__live_init(struct tel__live *l, tel__live_fn *change, void *arg)
{
	memset(l, 0, sizeof(*l));
	l->change = change;
	l->arg = arg;
	l->max = TEL__LIVE_MAX;
	tel__table_init(&l->by_key);
	tel__table_init(&l->ends);
	tel__table_init(&l->pools);
	tel__table_init(&l->buffers);
	tel__table_init(&l->first_processes);
	tel__table_init(&l->ended_places);
	l->log_tag = UINT64_MAX;
}

void
tel__live_clear(struct tel__live *l)
{
	tel__table_clear(&l->by_key);
	tel__table_clear(&l->ends);
	tel__table_clear(&l->pools);
	tel__table_clear(&l->buffers);
	tel__table_clear(&l->first_processes);
	tel__table_clear(&l->ended_places);
	free(l->blocks);
	free(l->ended);
	free(l->pool_list);
	tel__live_init(l, l->change, l->arg);
}

/* The key of the block of event i of a run; 0: it has none. */
static uint64_t
live_key_of(const struct tel_run *run, size_t i, uint64_t log_tag)
{
	const struct tel_type *t = run_type(run, i);
	uint64_t address, process;

	if (!tel_type_is_alloc(t))
		return 0;
	address = tel__alloc_block(t, run->data[i], &process);
	return address ^ tel__live_process_tag(process, log_tag);
}

void
tel__live_fetch(const struct tel__live *l, const struct tel_run *run, size_t i,
    uint64_t log_tag)
{
	uint64_t key;

	if (l->by_key.count < TEL__LIVE_NEAR)
		return;
	if (i + TEL__LIVE_ENTRY < run->count &&
	    (key = live_key_of(run, i + TEL__LIVE_ENTRY, log_tag)) != 0)
		tel__live_expect(l, key);
	if (i + TEL__LIVE_BLOCK < run->count &&
	    (key = live_key_of(run, i + TEL__LIVE_BLOCK, log_tag)) != 0)
		tel__live_approach(l, key);
}

/* --------------------------------------------------------------- pools */

static uint64_t
pool_address(const struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	const struct tel__entry *e;

	if (op->pool != 0 || op->buffer == 0)
		return op->pool;
	e = tel__table_find(&l->buffers, op->buffer ^ tag);
	return e == NULL ? 0 : e->value;
}

uint64_t
tel__live_pool_of(const struct tel__live *l, const tel_alloc *op,
    uint64_t log_tag)
{
	return pool_address(l, op, tel__live_tag(op, log_tag));
}

/*
 * The place of the pool of an operation and 1, made when it is new; 0: it names
 * none, or there are too many.  0 with *st set: no memory.
 */
static uint32_t
live_pool(struct tel__live *l, const tel_alloc *op, uint64_t tag,
    tel_status *st)
{
	const uint64_t address = pool_address(l, op, tag);
	uint32_t place = l->spare_pool;
	int fresh;

	if (address == 0)
		return 0;
	struct tel__entry *e = tel__table_find(&l->pools, address ^ tag);
	if (e != NULL)
		return (uint32_t)e->value;
	if (place == 0 && l->npools >= POOLS_MAX)
		return 0;
	if ((place == 0 &&
	        !TEL__RESERVE(l->pool_list, l->pool_room, l->npools + 1)) ||
	    (e = tel__table_put(&l->pools, address ^ tag, &fresh)) == NULL) {
		*st = TEL_ENOMEM;
		return 0;
	}
	if (place == 0)
		place = (uint32_t)++l->npools;
	else
		l->spare_pool = l->pool_list[place - 1].first;
	l->pool_list[place - 1] = (struct tel__live_pool){ 0, 0 };
	e->value = place;
	return place;
}

/* Puts a block into a pool, which is at a place, and 1. */
static void
live_link(struct tel__live *l, struct tel__live_block *b, uint32_t pool)
{
	const uint32_t place = (uint32_t)(b - l->blocks) + 1;

	b->pool = pool;
	b->previous = 0;
	struct tel__live_pool *p = &l->pool_list[pool - 1];
	b->next = p->first;
	if (b->next != 0)
		l->blocks[b->next - 1].previous = place;
	p->first = place;
}

static void
live_unlink(struct tel__live *l, const struct tel__live_block *b)
{
	if (b->next != 0)
		l->blocks[b->next - 1].previous = b->previous;
	if (b->previous != 0)
		l->blocks[b->previous - 1].next = b->next;
	else
		l->pool_list[b->pool - 1].first = b->next;
}

/* ---------------------------------------------------------------- ends */

/* Notes where a block ends.  1, or 0: no memory. */
static int
live_end_add(struct tel__live *l, const struct tel__live_block *b)
{
	struct tel__entry *e;
	int fresh;

	e = tel__table_put(&l->ends, (b->address + b->size) ^ b->tag, &fresh);
	if (e != NULL && fresh)
		e->value = (uint64_t)(b - l->blocks);
	return e != NULL;
}

/* Of blocks that end at one address only the first is known. */
static void
live_end_remove(struct tel__live *l, const struct tel__live_block *b)
{
	struct tel__entry *e =
	    tel__table_find(&l->ends, (b->address + b->size) ^ b->tag);

	if (e != NULL && e->value == (uint64_t)(b - l->blocks))
		tel__table_remove(&l->ends, e);
}

/* Notes where all blocks end.  1, or 0: no memory. */
static int
live_ends_make(struct tel__live *l)
{
	size_t i;

	l->has_ends = 1;
	/* the last entry is that of the key 0 */
	for (i = 0; l->by_key.count > 0 && i <= l->by_key.mask + 1; i++) {
		const struct tel__entry *e = &l->by_key.entries[i];

		if (e->key != 0 && !live_end_add(l, &l->blocks[e->value]))
			return 0;
	}
	return 1;
}

/* -------------------------------------------------------------- blocks */

/* A block lives no more; what refers to it by its place is still to go. */
static inline tel_status
live_leave(struct tel__live *l, struct tel__live_block *b,
    enum tel__live_what what, const tel_alloc *op)
{
	if (l->has_ends)
		live_end_remove(l, b);
	if (b->pool != 0)
		live_unlink(l, b);
	l->bytes -= b->size;
	return l->change(l->arg, what, b, op);
}

/* Ends a block, whose entry is e. */
static tel_status
live_end(struct tel__live *l, struct tel__entry *e, enum tel__live_what what,
    const tel_alloc *op)
{
	struct tel__live_block *b = &l->blocks[e->value];
	const tel_status st = live_leave(l, b, what, op);

	tel__table_remove(&l->by_key, e);
	b->next = l->spare;
	l->spare = (uint32_t)(b - l->blocks) + 1;
	return st;
}

/* A place for a block; NULL: no memory. */
static struct tel__live_block *
live_place(struct tel__live *l)
{
	if (l->spare != 0) {
		struct tel__live_block *b = &l->blocks[l->spare - 1];

		l->spare = b->next;
		return b;
	}
	if (!TEL__RESERVE(l->blocks, l->block_room, l->nblocks + 1))
		return NULL;
	return &l->blocks[l->nblocks++];
}

/* Fills in a block that is allocated. */
static void
live_set(struct tel__live *l, struct tel__live_block *b, const tel_alloc *op,
    uint64_t tag, uint64_t size)
{
	const uint64_t blocks =
	    op->weight == 0 ? 1 : tel__alloc_blocks(op, size, &l->rest);

	b->address = op->address;
	b->tag = tag;
	b->size = op->weight != 0 ? op->weight : size;
	b->clock = op->clock;
	b->blocks = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
	b->owner = b->account = b->pool = 0;
}

/* A block is allocated in another log than the last one. */
__attribute__((noinline)) static tel_status
live_enter_log(struct tel__live *l, const tel_alloc *op, uint64_t log_tag)
{
	struct tel__entry *e;
	int fresh;

	e = tel__table_put(&l->first_processes, log_tag, &fresh);
	if (e == NULL)
		return TEL_ENOMEM;
	if (fresh)
		e->value = op->process;
	l->log_tag = log_tag;
	return TEL_OK;
}

/* There is no room for a block that is allocated. */
__attribute__((noinline, cold)) static tel_status
live_untracked(struct tel__live *l, const tel_alloc *op, uint64_t tag,
    uint64_t size)
{
	struct tel__live_block b = { 0 };

	live_set(l, &b, op, tag, size);
	return l->change(l->arg, TEL__LIVE_UNTRACKED, &b, op);
}

tel_status
tel__live_allocate(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	const uint64_t size = tel_alloc_bytes(op);
	const uint64_t log_tag = tel__live_log_tag(op, tag);
	struct tel__live_block *b;
	struct tel__entry *e;
	tel_status st = TEL_OK;
	uint32_t pool = op->kind == TEL_ALLOC_REALLOC ? l->resized_pool : 0;
	int fresh;

	if (size > TEL__LIVE_BLOCK_MAX || op->weight > TEL__LIVE_BLOCK_MAX)
		return TEL_OK;
	if (l->log_tag != log_tag && live_enter_log(l, op, log_tag) != TEL_OK)
		return TEL_ENOMEM;
	if (l->by_key.count >= l->max || l->bytes > UINT64_MAX / 2)
		return live_untracked(l, op, tag, size);
	e = tel__table_put(&l->by_key, op->address ^ tag, &fresh);
	if (e == NULL)
		return TEL_ENOMEM;
	if (fresh) {
		b = live_place(l);
		if (b == NULL) {
			tel__table_remove(&l->by_key, e);
			return TEL_ENOMEM;
		}
		e->value = (uint64_t)(b - l->blocks);
	} else {
		b = &l->blocks[e->value];
		st = live_leave(l, b, TEL__LIVE_REPLACED, op);
	}
	live_set(l, b, op, tag, size);
	l->bytes += b->size;
	l->allocations++;
	if (st == TEL_OK && pool_address(l, op, tag) != 0)
		pool = live_pool(l, op, tag, &st);
	if (st == TEL_OK && pool != 0)
		live_link(l, b, pool);
	if (l->has_ends && !live_end_add(l, b))
		return TEL_ENOMEM;
	return st == TEL_OK ? l->change(l->arg, TEL__LIVE_ALLOCATED, b, op) :
	                      st;
}

/* Frees size bytes of a block, fewer than it has, at its start or its end. */
__attribute__((noinline)) static tel_status
live_free_part(struct tel__live *l, struct tel__entry *e, uint64_t size,
    int at_start, const tel_alloc *op)
{
	const uint64_t place = e->value;
	struct tel__live_block *b = &l->blocks[place];
	int fresh;

	if (at_start) {
		tel__table_remove(&l->by_key, e);
		b->address += size;
		e = tel__table_put(&l->by_key, b->address ^ b->tag, &fresh);
		if (e == NULL)
			return TEL_ENOMEM;
		e->value = place;
		b->size -= size;
	} else {
		live_end_remove(l, b);
		b->size -= size;
		if (!live_end_add(l, b))
			return TEL_ENOMEM;
	}
	l->bytes -= size;
	return l->change(l->arg, TEL__LIVE_PART_FREED, b, op);
}

/* A free or a resize of a block that the log does not allocate. */
static tel_status
live_unknown(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	const struct tel__entry *first =
	    tel__table_find(&l->first_processes, tel__live_log_tag(op, tag));
	const int is_child = first != NULL && first->value != op->process &&
	    op->process >> TEL__LIVE_PROCESS_BITS == 0;

	return l->change(l->arg,
	    is_child ? TEL__LIVE_INHERITED : TEL__LIVE_UNKNOWN, NULL, op);
}

/* A free of an address where no block starts: it may end there. */
__attribute__((noinline)) static tel_status
live_free_unknown(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	const struct tel__live_block *b;
	uint64_t end;

	if (!op->sized || op->size == 0 || op->call != TEL_CALL_C ||
	    __builtin_add_overflow(op->address, op->size, &end))
		return live_unknown(l, op, tag);
	if (!l->has_ends && !live_ends_make(l))
		return TEL_ENOMEM;
	struct tel__entry *e = tel__table_find(&l->ends, end ^ tag);
	b = e == NULL ? NULL : &l->blocks[e->value];
	if (b == NULL || op->size >= b->size)
		return live_unknown(l, op, tag);
	return live_free_part(l, e, op->size, 0, op);
}

tel_status
tel__live_free(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	struct tel__entry *e = tel__table_find(&l->by_key, op->address ^ tag);

	if (e == NULL)
		return live_free_unknown(l, op, tag);
	const struct tel__live_block *b = &l->blocks[e->value];
	/* nothing but a pool frees parts; another block would be in the rest */
	if (op->sized && op->size > 0 && op->size < b->size &&
	    op->call == TEL_CALL_C &&
	    tel__table_find(&l->by_key, (b->address + op->size) ^ tag) == NULL)
		return live_free_part(l, e, op->size, 1, op);
	return live_end(l, e, TEL__LIVE_FREED, op);
}

/* The block that is resized ends, and lives on as another one of its pool. */
static tel_status
live_resize(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	l->resized_pool = 0;
	if (op->old == 0)
		return TEL_OK;
	struct tel__entry *e = tel__table_find(&l->by_key, op->old ^ tag);
	if (e == NULL)
		return live_unknown(l, op, tag);
	l->resized_pool = l->blocks[e->value].pool;
	return live_end(l, e,
	    op->address == 0 ? TEL__LIVE_FREED : TEL__LIVE_RESIZED, op);
}

static tel_status
live_destroy_pool(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	struct tel__entry *e = tel__table_find(&l->pools, op->pool ^ tag), *of;
	tel_status st = TEL_OK;

	if (e == NULL)
		return TEL_OK;
	struct tel__live_pool *p = &l->pool_list[e->value - 1];
	while (st == TEL_OK && p->first != 0) {
		const struct tel__live_block *b = &l->blocks[p->first - 1];

		of = tel__table_find(&l->by_key, b->address ^ b->tag);
		st = live_end(l, of, TEL__LIVE_POOL_DESTROYED, op);
	}
	p->first = l->spare_pool;
	l->spare_pool = (uint32_t)e->value;
	tel__table_remove(&l->pools, e);
	return st;
}

/* ------------------------------------------------------------ processes */

/*
 * Blocks that may be looked at for each allocation: where many small processes
 * end while another one has many blocks, what they left ends later, that of
 * several at once.
 */
#define LOOKS_MIN ((uint64_t)1 << 24)
#define LOOKS 64

static tel_status
live_process_ended(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	struct tel__entry *e;
	int fresh;

	if (!TEL__RESERVE(l->ended, l->ended_room, l->nended + 1) ||
	    (e = tel__table_put(&l->ended_places, tag, &fresh)) == NULL)
		return TEL_ENOMEM;
	if (fresh)
		e->value = l->nended++;
	l->ended[e->value] = (struct tel__live_ended){ tag,
		tel__live_log_tag(op, tag), op->clock, l->allocations };
	return TEL_OK;
}

/* Ends the block in a place, if it is of a process of the log that has ended. */
static tel_status
live_leave_one(struct tel__live *l, size_t place, uint64_t log_tag)
{
	const struct tel__live_block *b = &l->blocks[place];
	const struct tel__entry *of = tel__table_find(&l->ended_places, b->tag);
	tel_alloc op = { .kind = TEL_ALLOC_PROCESS_END };
	struct tel__entry *e;

	if (of == NULL || l->ended[of->value].log_tag != log_tag)
		return TEL_OK;
	/* later blocks are of another process that has got its number */
	if (b->clock > l->ended[of->value].clock &&
	    l->allocations > l->ended[of->value].allocations)
		return TEL_OK;
	/* it may be one that was in a place that is free */
	e = tel__table_find(&l->by_key, b->address ^ b->tag);
	op.clock = l->ended[of->value].clock;
	return e == NULL || e->value != place ?
	    TEL_OK :
	    live_end(l, e, TEL__LIVE_LEFT, &op);
}

tel_status
tel__live_leave(struct tel__live *l, uint64_t log_tag)
{
	tel_status st = TEL_OK;
	size_t i, rest = 0, n = 0;

	if (l->looks > LOOKS_MIN + LOOKS * l->allocations)
		return TEL_OK;
	for (i = 0; i < l->nended; i++)
		n += l->ended[i].log_tag == log_tag;
	if (n == 0)
		return TEL_OK;
	l->looks += l->nblocks;
	for (i = 0; i < l->nblocks && st == TEL_OK; i++)
		st = live_leave_one(l, i, log_tag);
	for (i = 0; i < l->nended; i++) {
		struct tel__live_ended *p = &l->ended[i];
		struct tel__entry *e =
		    tel__table_find(&l->ended_places, p->tag);

		if (p->log_tag == log_tag) {
			tel__table_remove(&l->ended_places, e);
			continue;
		}
		e->value = rest;
		l->ended[rest++] = *p;
	}
	l->nended = rest;
	return st;
}

/* Any other operation, which may end with an allocation. */
__attribute__((noinline)) static tel_status
live_take_rare(struct tel__live *l, const tel_alloc *op, uint64_t tag)
{
	struct tel__entry *e;
	tel_status st;
	int fresh;

	switch (op->kind) {
	case TEL_ALLOC_REALLOC:
		st = live_resize(l, op, tag);
		return st != TEL_OK || op->address == 0 ?
		    st :
		    tel__live_allocate(l, op, tag);
	case TEL_ALLOC_POOL_DESTROY: return live_destroy_pool(l, op, tag);
	case TEL_ALLOC_PROCESS_END: return live_process_ended(l, op, tag);
	case TEL_ALLOC_BUFFER_CREATE:
		e = tel__table_put(&l->buffers, op->buffer ^ tag, &fresh);
		if (e == NULL)
			return TEL_ENOMEM;
		e->value = op->pool;
		return TEL_OK;
	case TEL_ALLOC_BUFFER_DESTROY:
		e = tel__table_find(&l->buffers, op->buffer ^ tag);
		if (e != NULL)
			tel__table_remove(&l->buffers, e);
		return TEL_OK;
	default: return TEL_OK;
	}
}

tel_status
tel__live_take(struct tel__live *l, const tel_alloc *op, uint64_t log_tag)
{
	const uint64_t tag = tel__live_tag(op, log_tag);

	if (op->failed)
		return TEL_OK;
	const tel_status st = live_settle(l, log_tag);
	if (st != TEL_OK)
		return st;
	switch (op->kind) {
	case TEL_ALLOC_FREE:
		return op->address == 0 ? TEL_OK : tel__live_free(l, op, tag);
	case TEL_ALLOC_MALLOC:
	case TEL_ALLOC_CALLOC:
	case TEL_ALLOC_ALIGNED:
	case TEL_ALLOC_COMMIT:
		return op->address == 0 ? TEL_OK :
		                          tel__live_allocate(l, op, tag);
	default: return live_take_rare(l, op, tag);
	}
}
