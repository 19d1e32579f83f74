/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks: allocated, resized, freed at once or in parts, and what that adds up
 * to.
 *
 * A block may be freed piece by piece, from its front or its end.  The front
 * is found by its address; for the end there is a table of where blocks end,
 * which is made at the first free of an unknown address whose size is known.
 */
#include "telreplay/compile/emit.h"

#include <string.h>

/* The number of bits in a number. */
static inline unsigned
magnitude(uint64_t v)
{
	return v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
}

/* Keeps what is live now, near the peak. */
static void
class_keep(struct compiler *c)
{
	struct facts *f = &c->facts;

	memcpy(f->class_blocks, c->class_blocks, sizeof(f->class_blocks));
	f->class_asked = c->live_bytes;
}

static void
live_add(struct compiler *c, uint64_t bytes)
{
	struct facts *f = &c->facts;

	c->live_bytes += bytes;
	if (c->window_operations == 0)
		c->window_moved += bytes;
	if (c->live_bytes > c->point_peak)
		c->point_peak = c->live_bytes;
	if (c->live_bytes > f->peak_bytes) {
		f->peak_bytes = c->live_bytes;
		f->peak_of_blocks = c->live_blocks;
		f->peak_event = c->event;
		f->peak_log = c->log;
		f->peak_clock = c->clock;
		if (c->live_bytes - f->class_asked > f->class_asked / 64)
			class_keep(c);
	}
}

static void
request(struct compiler *c, uint64_t size)
{
	struct facts *f = &c->facts;

	f->requests++;
	f->requested += size;
	f->sizes[magnitude(size)]++;
	if (size > f->largest)
		f->largest = size;
}

struct thread *
block_thread(struct compiler *c, struct thread *t, const struct block *b)
{
	struct thread *maker = &c->threads[b->chunk & THREAD_MASK];

	if (maker == t)
		return t;
	if (c->order == ORDER_NONE)
		return maker;
	if (c->order == ORDER_EDGES && emit_wait(c, t, b->where, b->chunk) != 0)
		return NULL;
	return t;
}

tel_status
block_allocate(struct compiler *c, struct thread *t, struct tel__entry *e,
    uint64_t size, uint32_t flags, const tel_alloc *op)
{
	uint64_t alignment;
	struct block *b;
	uint32_t slot = slot_new(c, t);
	int st;

	if (slot == NO_SLOT)
		return compiler_no_memory(c);
	e->value = slot;
	b = &c->blocks[slot];
	b->size = size;
	b->birth = c->now;
	b->clock = c->clock;
	if (++c->live_blocks > c->facts.peak_blocks) {
		c->facts.peak_blocks = c->live_blocks;
		if (c->live_blocks > c->max_live)
			return compiler_fail(c, TEL_ELIMIT,
			    "more than %llu blocks are live",
			    (unsigned long long)c->max_live);
	}
	request(c, size);
	c->class_blocks[size_class(size)]++;
	live_add(c, size);
	if ((c->pooled != NULL || op->pool != 0 || op->buffer != 0) &&
	    pool_enter(c, t, slot, e->key, op) != 0)
		return compiler_no_memory(c);
	if (c->ends_on && end_add(c, e->key + size, slot) != 0)
		return compiler_no_memory(c);
	if (op->kind == TEL_ALLOC_ALIGNED && op->alignment > 1) {
		for (alignment = 8; alignment < op->alignment;)
			alignment *= 2;
		st = emit_extended(c, t, EXTENDED_ALIGNED, slot, size,
		    alignment, 0);
		flags |= BLOCK_UNSIZED;
	} else if (op->call == TEL_CALL_CXX)
		st = emit_extended(c, t, EXTENDED_NEW, slot, size, 0, 0);
	else
		st = emit_sized(c, t,
		    op->kind == TEL_ALLOC_CALLOC ? WORD_CALLOC : WORD_MALLOC,
		    slot, size);
	if (st != 0)
		return compiler_no_memory(c);
	b = &c->blocks[slot];
	b->where = t->last | flags;
	b->chunk = thread_place(c, t);
	return TEL_OK;
}

tel_status
block_resize(struct compiler *c, struct thread *t, uint32_t slot, uint64_t size)
{
	struct block *b = &c->blocks[slot];
	struct thread *m = block_thread(c, t, b);

	if (m == NULL || (c->pooled != NULL && pool_of(c, m, slot) != 0) ||
	    emit_sized(c, m, WORD_REALLOC, slot, size) != 0)
		return compiler_no_memory(c);
	if ((b->chunk & THREAD_MASK) != (unsigned)(t - c->threads))
		c->facts.crossing_reallocs++;
	request(c, size);
	c->live_bytes -= b->size;
	c->class_blocks[size_class(b->size)]--;
	c->class_blocks[size_class(size)]++;
	live_add(c, size);
	b->size = size;
	b->where = m->last;
	b->chunk = thread_place(c, m);
	return TEL_OK;
}

/* Counts a block that is freed. */
static void
count_free(struct compiler *c, const struct block *b)
{
	struct facts *f = &c->facts;

	c->live_blocks--;
	c->class_blocks[size_class(b->size)]--;
	c->live_bytes -= b->size;
	if (c->window_operations == 0)
		c->window_moved += b->size;
	f->lived[magnitude(c->now - b->birth)]++;
	f->lived_ticks[magnitude(
	    c->clock > b->clock ? c->clock - b->clock : 0)]++;
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

tel_status
block_free(struct compiler *c, struct thread *t, uint32_t slot, int with_pool)
{
	struct block *b = &c->blocks[slot];
	struct thread *m = block_thread(c, t, b);
	enum extended how = free_word(c, b);
	int st;

	if (m == NULL)
		return compiler_no_memory(c);
	if (with_pool)
		m = t; /* thread 0 has waited for all others */
	if (c->pooled != NULL && pool_of(c, m, slot) != 0)
		return compiler_no_memory(c);
	if (b->where & BLOCK_PARTS)
		st = part_last(c, m, slot, with_pool);
	else if (with_pool)
		st = emit_extended(c, m, EXTENDED_FREE_WITH_POOL, slot, b->size,
		    0, 0);
	else if (how != 0)
		st = emit_extended(c, m, how, slot, b->size, 0, 0);
	else
		st = emit_sized(c, m, WORD_FREE, slot, b->size);
	if (st != 0 || slot_free(m, slot) != 0)
		return compiler_no_memory(c);
	if ((b->chunk & THREAD_MASK) != (unsigned)(t - c->threads) &&
	    !with_pool)
		c->facts.crossing_frees++;
	count_free(c, b);
	if (c->pooled != NULL)
		pool_leave(c, slot);
	return TEL_OK;
}

tel_status
block_remove(struct compiler *c, struct thread *t, struct tel__entry *e,
    int with_pool)
{
	uint32_t slot = (uint32_t)e->value;

	if (c->ends_on)
		end_remove(c, e->key + c->blocks[slot].size, slot);
	tel__table_remove(&c->table, e);
	return block_free(c, t, slot, with_pool);
}

void
blocks_finish(struct compiler *c)
{
	struct facts *f = &c->facts;
	size_t i;

	f->live_blocks = c->live_blocks;
	f->live_bytes = c->live_bytes;
	f->slots = c->slots;
	for (i = 0; c->table.count > 0 && i <= c->table.mask; i++)
		if (c->table.entries[i].key != 0)
			f->leaked[magnitude(
			    c->blocks[c->table.entries[i].value].size)]++;
}

/* ---------------------------------------------------------------- parts */

int
end_add(struct compiler *c, uint64_t end, uint32_t slot)
{
	struct tel__entry *e;
	int fresh;

	if (end == 0)
		return 0;
	e = tel__table_put(&c->ends, end, &fresh);
	if (e == NULL)
		return -1;
	if (fresh)
		e->value = slot;
	return 0;
}

void
end_remove(struct compiler *c, uint64_t end, uint32_t slot)
{
	struct tel__entry *e = tel__table_find(&c->ends, end);

	/* of blocks that end at one address only the first is known */
	if (e != NULL && e->value == slot)
		tel__table_remove(&c->ends, e);
}

static int
ends_make(struct compiler *c)
{
	const struct tel__entry *e;
	size_t i;

	c->ends_on = 1;
	for (i = 0; c->table.count > 0 && i <= c->table.mask; i++) {
		e = &c->table.entries[i];
		if (e->key != 0 &&
		    end_add(c, e->key + c->blocks[e->value].size,
		        (uint32_t)e->value) != 0)
			return -1;
	}
	return 0;
}

/* The parts of a block, an entry made when it is first asked for. */
static struct part *
part_of(struct compiler *c, uint32_t slot)
{
	struct tel__entry *e;
	struct part *p;
	int fresh;

	e = tel__table_put(&c->parts_by_slot, (uint64_t)slot + 1, &fresh);
	if (e == NULL)
		return NULL;
	if (!fresh)
		return &c->parts[e->value];
	if (!TEL__RESERVE(c->parts, c->parts_room, c->parts_used + 1)) {
		tel__table_remove(&c->parts_by_slot, e);
		return NULL;
	}
	e->value = (uint32_t)c->parts_used;
	p = &c->parts[c->parts_used++];
	p->full = c->blocks[slot].size;
	p->offset = 0;
	p->slot = slot;
	c->blocks[slot].where |= BLOCK_PARTS;
	return p;
}

/* Emits the free of size bytes at offset in what is live of a block. */
static tel_status
part_free(struct compiler *c, struct thread *t, uint32_t slot, uint64_t offset,
    uint64_t size)
{
	struct block *b = &c->blocks[slot];
	struct part *p = part_of(c, slot);
	struct thread *m = block_thread(c, t, b);

	if (p == NULL || m == NULL ||
	    (c->pooled != NULL && pool_of(c, m, slot) != 0) ||
	    emit_extended(c, m, EXTENDED_FREE_PART, slot, p->offset + offset,
	        size, 0) != 0)
		return compiler_no_memory(c);
	if (offset == 0)
		p->offset += size;
	c->class_blocks[size_class(b->size)]--;
	b->size -= size;
	c->class_blocks[size_class(b->size)]++;
	/* what is done to the block next comes after this */
	b->where = m->last | (b->where & ~WHERE_MASK);
	b->chunk = thread_place(c, m);
	c->live_bytes -= size;
	if (c->window_operations == 0)
		c->window_moved += size;
	c->facts.parts++;
	return TEL_OK;
}

tel_status
part_front(struct compiler *c, struct thread *t, struct tel__entry *e,
    uint64_t size)
{
	uint64_t address = e->key;
	uint32_t slot = (uint32_t)e->value;
	tel_status st;
	int fresh;

	if (tel__table_find(&c->table, address + size) != NULL ||
	    address + size < address) {
		/* there cannot be such a block */
		st = anomaly_count(c, ANOMALY_SIZE, address);
		return st != TEL_OK ? st : block_remove(c, t, e, 0);
	}
	tel__table_remove(&c->table, e);
	e = tel__table_put(&c->table, address + size, &fresh);
	if (e == NULL)
		return compiler_no_memory(c);
	e->value = slot;
	if (c->pooled != NULL)
		pool_move(c, slot, address + size);
	return part_free(c, t, slot, 0, size);
}

tel_status
part_end(struct compiler *c, struct thread *t, uint64_t address, uint64_t size,
    int *found)
{
	struct tel__entry *e;
	uint64_t end;
	uint32_t slot;
	tel_status st;

	*found = 0;
	if (!c->ends_on && ends_make(c) != 0)
		return compiler_no_memory(c);
	if (__builtin_add_overflow(address, size, &end))
		return TEL_OK;
	e = tel__table_find(&c->ends, end);
	if (e == NULL || size == 0 || size >= c->blocks[e->value].size)
		return TEL_OK;
	*found = 1;
	slot = (uint32_t)e->value;
	tel__table_remove(&c->ends, e);
	st = part_free(c, t, slot, c->blocks[slot].size - size, size);
	if (st == TEL_OK && end_add(c, address, slot) != 0)
		st = compiler_no_memory(c);
	return st;
}

int
part_last(struct compiler *c, struct thread *t, uint32_t slot, int with_pool)
{
	struct tel__entry *e, *moved;
	struct part p;

	e = tel__table_find(&c->parts_by_slot, (uint64_t)slot + 1);
	if (e == NULL)
		return -1;
	/* the last entry takes its place */
	p = c->parts[e->value];
	c->parts[e->value] = c->parts[--c->parts_used];
	moved = tel__table_find(&c->parts_by_slot,
	    (uint64_t)c->parts[e->value].slot + 1);
	if (moved != NULL)
		moved->value = e->value;
	tel__table_remove(&c->parts_by_slot, e);
	if (with_pool)
		return emit_extended(c, t, EXTENDED_FREE_WITH_POOL, slot,
		    p.full, 0, 0);
	return emit_extended(c, t, EXTENDED_FREE_PART, slot, p.offset,
	    c->blocks[slot].size, p.full);
}
