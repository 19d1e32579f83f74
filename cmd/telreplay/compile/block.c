/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks: what each change of the live ones becomes in the program. */
#include "telreplay/compile/emit.h"

#include <string.h>

/* More bytes are live than ever. */
RARE static void
peak_set(struct compiler *c)
{
	struct facts *f = &c->facts;

	f->peak_bytes = c->live_bytes;
	f->peak_of_blocks = c->live_blocks;
	f->peak_event = c->event;
	f->peak_log = c->log;
	/* the blocks that are live near the peak */
	if (c->live_bytes - f->class_asked > f->class_asked / 64) {
		memcpy(f->class_blocks, c->class_blocks,
		    sizeof(f->class_blocks));
		f->class_asked = c->live_bytes;
	}
}

static inline void
live_more(struct compiler *c, uint64_t size)
{
	c->class_blocks[size_class(size)]++;
	c->live_bytes += size;
	if (++c->live_blocks > c->facts.peak_blocks)
		c->facts.peak_blocks = c->live_blocks;
	if (c->live_bytes <= c->point_peak)
		return;
	c->point_peak = c->live_bytes;
	if (c->live_bytes > c->facts.peak_bytes)
		peak_set(c);
}

static inline void
live_less(struct compiler *c, uint64_t size)
{
	c->class_blocks[size_class(size)]--;
	c->live_bytes -= size;
	c->live_blocks--;
}

/* Bytes are allocated or freed, which fills the window. */
static inline void
window_count(struct compiler *c, uint64_t bytes)
{
	if (c->windows_on && c->set.window_operations == 0)
		c->window_moved += bytes;
}

static inline void
request_count(struct compiler *c, uint64_t size)
{
	struct facts *f = &c->facts;

	f->requested += size;
	f->sizes[tel__bit_length(size)]++;
	if (size > f->largest)
		f->largest = size;
	window_count(c, size);
}

/*
 * The thread that runs an operation on a block, with its wait emitted; NULL
 * when out of memory.
 */
static struct thread *
block_thread(struct compiler *c, struct thread *t, const struct block *b)
{
	struct thread *maker = &c->threads[b->chunk & THREAD_MASK];

	if (maker == t)
		return t;
	if (c->set.order == ORDER_NONE)
		return maker;
	if (c->set.order == ORDER_EDGES &&
	    emit_wait(c, t, b->where, b->chunk) != 0)
		return NULL;
	return t;
}

/* The next operation on a block comes after the last word of a thread. */
static void
block_set(const struct compiler *c, struct block *b, const struct thread *t,
    uint32_t flags)
{
	b->where = t->last | flags;
	b->chunk = thread_place(c, t);
}

static int
emit_allocation(struct compiler *c, struct thread *t, uint32_t slot,
    uint64_t size, const tel_alloc *op)
{
	uint64_t alignment;

	if (op->kind == TEL_ALLOC_ALIGNED && op->alignment > 1) {
		for (alignment = 8; alignment < op->alignment;)
			alignment *= 2;
		return emit_extended(c, t, EXTENDED_ALIGNED, slot, size,
		    alignment, 0);
	}
	if (op->call == TEL_CALL_CXX)
		return emit_extended(c, t, EXTENDED_NEW, slot, size, 0, 0);
	return emit_sized(c, t,
	    op->kind == TEL_ALLOC_CALLOC ? WORD_CALLOC : WORD_MALLOC, slot,
	    size);
}

static tel_status
block_allocated(struct compiler *c, struct thread *t,
    struct tel__live_block *live, const tel_alloc *op)
{
	const size_t place = (size_t)(live - c->live.blocks);
	uint32_t slot = slot_new(c, t), pool = c->resized_pool;

	if (slot == NO_SLOT ||
	    !TEL__RESERVE(c->blocks, c->blocks_room, place + 1))
		return compiler_no_memory(c);
	live->owner = slot;
	request_count(c, live->size);
	live_more(c, live->size);
	c->resized_pool = 0;
	if (pool != 0 && op->pool == 0) {
		if (emit_pool(c, t, pool) != 0)
			return compiler_no_memory(c);
	} else if ((c->pools.count > 1 || (op->pool | op->buffer) != 0) &&
	    (pool = pool_use(c, t, op)) == NO_SLOT) {
		return compiler_no_memory(c);
	}
	if (emit_allocation(c, t, slot, live->size, op) != 0)
		return compiler_no_memory(c);
	c->facts.unpooled += pool == 0;
	struct block *b = &c->blocks[place];
	b->start = live->address;
	b->full = live->size;
	b->birth = c->now;
	b->pool = pool;
	block_set(c, b, t,
	    op->kind == TEL_ALLOC_ALIGNED && op->alignment > 1 ? BLOCK_UNSIZED :
	                                                         0);
	return TEL_OK;
}

/* A block that was in a slot has another size, and maybe address. */
static tel_status
block_resized(struct compiler *c, struct thread *t,
    struct tel__live_block *live, uint32_t slot)
{
	struct block *b = block_of(c, live);
	struct thread *m = block_thread(c, t, &c->resized_block);

	*b = c->resized_block;
	live->owner = slot;
	if (m == NULL || emit_pool(c, m, b->pool) != 0 ||
	    emit_sized(c, m, WORD_REALLOC, slot, live->size) != 0)
		return compiler_no_memory(c);
	if ((b->chunk & THREAD_MASK) != (unsigned)(t - c->threads))
		c->facts.crossing_reallocs++;
	request_count(c, live->size);
	live_less(c, b->full);
	live_more(c, live->size);
	b->start = live->address;
	b->full = live->size;
	block_set(c, b, m, BLOCK_UNSIZED);
	return TEL_OK;
}

/*
 * A block is resized: in its slot, unless parts of it are free, or the event
 * names another pool, where no realloc of its own pool could move it.
 */
static tel_status
block_resizes(struct compiler *c, struct thread *t,
    const struct tel__live_block *live, const tel_alloc *op)
{
	struct block *b = block_of(c, live);
	const struct pool *pool = &c->pools.all[b->pool];

	if (live->size == b->full &&
	    (op->pool == 0 || op->pool == pool->address)) {
		c->resized = live->owner;
		c->resized_block = *b;
		return TEL_OK;
	}
	c->resized_pool = b->pool;
	return block_free(c, t, live, b, BLOCK_FREED);
}

/*
 * The word of a free that the size is given to or is an operator of C++; 0: any
 * other.  The size may be given of a block alone that was allocated with it:
 * one that was aligned or resized may be of another class of sizes.
 */
static enum extended
free_word(const struct compiler *c, const struct block *b)
{
	int sized = (b->where & BLOCK_UNSIZED) == 0;

	switch (c->call) {
	case TEL_CALL_C_SIZED: return sized ? EXTENDED_FREE_SIZED : 0;
	case TEL_CALL_CXX: return EXTENDED_DELETE;
	case TEL_CALL_CXX_SIZED:
		return sized ? EXTENDED_DELETE_SIZED : EXTENDED_DELETE;
	default: return 0;
	}
}

static inline void
count_end(struct compiler *c, const struct tel__live_block *live,
    const struct block *b)
{
	struct facts *f = &c->facts;

	live_less(c, live->size);
	window_count(c, live->size);
	f->lived[tel__bit_length(c->now - b->birth)]++;
}

void
block_count_end(struct compiler *c, const struct tel__live_block *live,
    const struct block *b)
{
	count_end(c, live, b);
}

/* block_free(), without the call for what nearly all blocks come to. */
__attribute__((always_inline)) static inline tel_status
free_as(struct compiler *c, struct thread *t,
    const struct tel__live_block *live, struct block *b, enum block_end end)
{
	const int crosses = &c->threads[b->chunk & THREAD_MASK] != t;
	const int with_pool = end == BLOCK_FREED_WITH_POOL;
	uint32_t slot = live->owner;
	struct thread *m = block_thread(c, t, b);
	enum extended how = c->call == TEL_CALL_C ? 0 : free_word(c, b);
	int st;

	if (m == NULL)
		return compiler_no_memory(c);
	if (with_pool)
		m = t; /* it has waited for all others */
	if (emit_pool(c, m, b->pool) != 0)
		return compiler_no_memory(c);
	if (with_pool)
		st = emit_extended(c, m, EXTENDED_FREE_WITH_POOL, slot, b->full,
		    0, 0);
	else if (live->size != b->full)
		st = emit_extended(c, m, EXTENDED_FREE_PART, slot,
		    live->address - b->start, live->size, b->full);
	else if (how != 0)
		st = emit_extended(c, m, how, slot, live->size, 0, 0);
	else
		st = emit_sized(c, m, WORD_FREE, slot, live->size);
	if (st != 0 || slot_free(m, slot) != 0)
		return compiler_no_memory(c);
	c->facts.crossing_frees += !with_pool && crosses;
	if (end != BLOCK_REPLACED)
		count_end(c, live, b);
	return TEL_OK;
}

tel_status
block_free(struct compiler *c, struct thread *t,
    const struct tel__live_block *live, struct block *b, enum block_end end)
{
	return free_as(c, t, live, b, end);
}

/* The first or the last bytes of a block were freed. */
static tel_status
block_part_freed(struct compiler *c, struct thread *t,
    const struct tel__live_block *live, const tel_alloc *op)
{
	struct block *b = block_of(c, live);
	struct thread *m = block_thread(c, t, b);

	if (m == NULL || emit_pool(c, m, b->pool) != 0 ||
	    emit_extended(c, m, EXTENDED_FREE_PART, live->owner,
	        op->address - b->start, op->size, 0) != 0)
		return compiler_no_memory(c);
	live_less(c, live->size + op->size);
	live_more(c, live->size);
	window_count(c, op->size);
	block_set(c, b, m, b->where & ~WHERE_MASK);
	c->facts.parts++;
	return TEL_OK;
}

static tel_status
block_unknown(struct compiler *c, struct thread *t, enum tel__live_what what,
    const tel_alloc *op)
{
	const int resizes = op->kind == TEL_ALLOC_REALLOC;
	const enum anomaly anomaly = what == TEL__LIVE_INHERITED ?
	    ANOMALY_INHERITED :
	    resizes ? ANOMALY_REALLOC :
	              ANOMALY_FREE;

	return resizes ? anomaly_count(c, anomaly, op->old) :
	                 reorder_free(c, t, anomaly, op->address);
}

/* One that is committed over a block has it reclaimed. */
static tel_status
block_replaced(struct compiler *c, struct thread *t,
    const struct tel__live_block *live, const tel_alloc *op)
{
	if (op->kind != TEL_ALLOC_COMMIT)
		return reorder_double(c, t, live);
	tel_status st = anomaly_count(c, ANOMALY_RECLAIMED, op->address);
	return st == TEL_OK ?
	    block_free(c, t, live, block_of(c, live), BLOCK_FREED) :
	    st;
}

/*
 * Counts the lifetime of a block that ends, as telstat does: a resize ends it,
 * too.
 */
static tel_status
count_lifetime(struct compiler *c, const struct tel__live_block *live)
{
	return tel__lifetimes_add(&c->lifetimes,
	    tel__lifetimes_between(c->log_clock, live->clock, c->clock), 1);
}

__attribute__((noinline)) static tel_status
block_starts(struct compiler *c, struct thread *t, struct tel__live_block *live,
    const tel_alloc *op)
{
	const uint32_t slot = c->resized;
	tel_status st;

	if (tel__lifetimes_allocated(&c->resolution, &t->clock, c->log_clock,
	        c->clock) != TEL_OK)
		return compiler_no_memory(c);
	c->resized = NO_SLOT;
	if (c->reorder_used > 0 && op->address != op->old &&
	    (st = reorder_allocated(c, t, op->address)) != TEL_OK)
		return st;
	return slot == NO_SLOT ? block_allocated(c, t, live, op) :
	                         block_resized(c, t, live, slot);
}

/* A free; only a pool is given the size of a part, or of the wrong block. */
__attribute__((noinline)) static tel_status
block_freed(struct compiler *c, struct thread *t,
    const struct tel__live_block *live, const tel_alloc *op)
{
	tel_status st;

	if (count_lifetime(c, live) != TEL_OK)
		return compiler_no_memory(c);
	if (op->kind == TEL_ALLOC_FREE && op->sized && op->size != 0 &&
	    op->size != live->size && op->call == TEL_CALL_C &&
	    (st = anomaly_count(c, ANOMALY_SIZE, op->address)) != TEL_OK)
		return st;
	return free_as(c, t, live, block_of(c, live), BLOCK_FREED);
}

/* Another end of a block. */
static tel_status
block_finished(struct compiler *c, struct thread *t, enum tel__live_what what,
    const struct tel__live_block *live, const tel_alloc *op)
{
	/* one that a process left would have lived on */
	if (what == TEL__LIVE_LEFT)
		return free_as(c, t, live, block_of(c, live), BLOCK_FREED);
	if (count_lifetime(c, live) != TEL_OK)
		return compiler_no_memory(c);
	if (what == TEL__LIVE_RESIZED)
		return block_resizes(c, t, live, op);
	return block_free(c, t, live, block_of(c, live), BLOCK_FREED_WITH_POOL);
}

/* All but allocations and frees. */
RARE static tel_status
block_change_rare(struct compiler *c, struct thread *t,
    enum tel__live_what what, struct tel__live_block *live, const tel_alloc *op)
{
	switch (what) {
	case TEL__LIVE_UNTRACKED:
		return compiler_fail(c, TEL_ELIMIT,
		    "more than %llu blocks are live",
		    (unsigned long long)c->set.max_live);
	case TEL__LIVE_PART_FREED: return block_part_freed(c, t, live, op);
	case TEL__LIVE_REPLACED: return block_replaced(c, t, live, op);
	case TEL__LIVE_UNKNOWN:
	case TEL__LIVE_INHERITED: return block_unknown(c, t, what, op);
	default: return block_finished(c, t, what, live, op);
	}
}

/* The functions that it calls have frames, which it so does not need. */
tel_status
block_change(void *arg, enum tel__live_what what, struct tel__live_block *live,
    const tel_alloc *op)
{
	struct compiler *c = arg;

	if (what == TEL__LIVE_ALLOCATED)
		return block_starts(c, c->thread, live, op);
	if (what == TEL__LIVE_FREED)
		return block_freed(c, c->thread, live, op);
	return block_change_rare(c, c->thread, what, live, op);
}

void
blocks_finish(struct compiler *c)
{
	const struct tel__table *t = &c->live.by_key;
	struct facts *f = &c->facts;

	for (size_t i = 0; i <= 64; i++)
		f->requests += f->sizes[i];
	f->live_blocks = c->live_blocks;
	f->live_bytes = c->live_bytes;
	f->slots = c->slots;
	for (size_t i = 0; t->count > 0 && i <= t->mask; i++)
		if (t->entries[i].key != 0)
			f->leaked[tel__bit_length(
			    c->live.blocks[t->entries[i].value].size)]++;
}
