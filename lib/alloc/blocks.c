/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks: how they begin, change and end, and what that adds up to. */
#include "alloc/emit.h"

/* The number of bits that a number takes. */
static inline unsigned
magnitude(uint64_t v)
{
	return v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
}

static void
tel__live_add(struct tel_compiler *c, uint64_t bytes)
{
	tel_facts *f = &c->facts;

	c->live_bytes += bytes;
	if (c->live_bytes > c->point_peak)
		c->point_peak = c->live_bytes;
	if (c->live_bytes > f->peak_bytes) {
		f->peak_bytes = c->live_bytes;
		f->peak_of_blocks = c->live_blocks;
		f->peak_event = c->event;
		f->peak_log = c->log;
		f->peak_clock = c->clock;
	}
}

static void
request(struct tel_compiler *c, uint64_t size)
{
	tel_facts *f = &c->facts;

	f->requests++;
	f->requested += size;
	f->sizes[magnitude(size)]++;
	if (size > f->largest)
		f->largest = size;
}

struct lane *
tel_block_lane(struct tel_compiler *c, struct lane *l, const struct block *b)
{
	struct lane *maker = &c->lanes[b->chunk & LANE_MASK];

	if (maker == l)
		return l;
	if (c->order == TEL_LANES_NONE)
		return maker;
	if (c->order == TEL_LANES_EDGES &&
	    tel_emit_wait(c, l, b->where, b->chunk) != 0)
		return NULL;
	return l;
}

tel_status
tel_block_begin(struct tel_compiler *c, struct lane *l, struct tel_entry *e,
    uint64_t size, uint32_t flags, const tel_alloc *op)
{
	uint64_t alignment;
	struct block *b;
	uint32_t slot = slot_new(c, l);
	int st;

	if (slot == NO_SLOT)
		return tel_compiler_no_memory(c);
	e->value = slot;
	b = &c->blocks[slot];
	b->size = size;
	b->birth = c->now;
	b->clock = c->clock;
	if (++c->live_blocks > c->facts.peak_blocks) {
		c->facts.peak_blocks = c->live_blocks;
		if (c->live_blocks > c->max_live)
			return tel_compiler_fail(c, TEL_ELIMIT,
			    "more than %llu blocks are live",
			    (unsigned long long)c->max_live);
	}
	request(c, size);
	tel__live_add(c, size);
	if ((c->pooled != NULL || op->pool != 0 || op->buffer != 0) &&
	    tel_pool_enter(c, l, slot, e->key, op) != 0)
		return tel_compiler_no_memory(c);
	if (c->ends_on && tel_end_add(c, e->key + size, slot) != 0)
		return tel_compiler_no_memory(c);
	if (op->kind == TEL_ALLOC_ALIGNED && op->alignment > 1) {
		for (alignment = 8; alignment < op->alignment;)
			alignment *= 2;
		st = tel_emit_more(c, l, TEL_MORE_ALIGNED, slot, size,
		    alignment, 0);
	} else
		st = emit_sized(c, l,
		    op->kind == TEL_ALLOC_CALLOC ? TEL_WORD_CALLOC :
		                                   TEL_WORD_MALLOC,
		    slot, size);
	if (st != 0)
		return tel_compiler_no_memory(c);
	b = &c->blocks[slot];
	b->where = l->last | flags;
	b->chunk = lane_place(c, l);
	return TEL_OK;
}

tel_status
tel_block_resize(struct tel_compiler *c, struct lane *l, uint32_t slot,
    uint64_t size)
{
	struct block *b = &c->blocks[slot];
	struct lane *m = tel_block_lane(c, l, b);

	if (m == NULL || (c->pooled != NULL && tel_pool_of(c, m, slot) != 0) ||
	    emit_sized(c, m, TEL_WORD_REALLOC, slot, size) != 0)
		return tel_compiler_no_memory(c);
	if ((b->chunk & LANE_MASK) != (unsigned)(l - c->lanes))
		c->facts.crossing_reallocs++;
	request(c, size);
	c->live_bytes -= b->size;
	tel__live_add(c, size);
	b->size = size;
	b->where = m->last;
	b->chunk = lane_place(c, m);
	return TEL_OK;
}

/* Counts a block that ends. */
static void
count_end(struct tel_compiler *c, const struct block *b)
{
	tel_facts *f = &c->facts;

	c->live_blocks--;
	c->live_bytes -= b->size;
	f->lived[magnitude(c->now - b->birth)]++;
	f->lived_ticks[magnitude(
	    c->clock > b->clock ? c->clock - b->clock : 0)]++;
}

tel_status
tel_block_end(struct tel_compiler *c, struct lane *l, uint32_t slot,
    int with_pool)
{
	struct block *b = &c->blocks[slot];
	struct lane *m = tel_block_lane(c, l, b);
	int st;

	if (m == NULL)
		return tel_compiler_no_memory(c);
	if (with_pool)
		m = l; /* which has waited for all others */
	if (c->pooled != NULL && tel_pool_of(c, m, slot) != 0)
		return tel_compiler_no_memory(c);
	if (b->where & BLOCK_PARTS)
		st = tel_part_last(c, m, slot, with_pool);
	else if (with_pool)
		st = tel_emit_more(c, m, TEL_MORE_FREE_WITH_POOL, slot, b->size,
		    0, 0);
	else
		st = emit_sized(c, m, TEL_WORD_FREE, slot, b->size);
	if (st != 0 || slot_free(m, slot) != 0)
		return tel_compiler_no_memory(c);
	if ((b->chunk & LANE_MASK) != (unsigned)(l - c->lanes) && !with_pool)
		c->facts.crossing_frees++;
	count_end(c, b);
	if (c->pooled != NULL)
		tel_pool_leave(c, slot);
	return TEL_OK;
}

tel_status
tel_block_take(struct tel_compiler *c, struct lane *l, struct tel_entry *e,
    int with_pool)
{
	uint32_t slot = e->value;

	if (c->ends_on)
		tel_end_remove(c, e->key + c->blocks[slot].size, slot);
	tel_table_remove(&c->table, e);
	return tel_block_end(c, l, slot, with_pool);
}

void
tel_blocks_finish(struct tel_compiler *c)
{
	tel_facts *f = &c->facts;
	size_t i;

	f->live_blocks = c->live_blocks;
	f->live_bytes = c->live_bytes;
	f->slots = c->slots;
	for (i = 0; c->table.count > 0 && i <= c->table.mask; i++)
		if (c->table.entries[i].key != 0)
			f->leaked[magnitude(
			    c->blocks[c->table.entries[i].value].size)]++;
}
