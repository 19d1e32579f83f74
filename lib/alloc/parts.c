/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts: blocks that are freed piece by piece, from the front or the end.
 *
 * A free of a block's front is found by its address; for one of its end
 * there is a table of where blocks end, which is made when the first free is
 * met whose address is not known but whose size is.
 */
#include "alloc/compiler.h"

int
tel_end_add(struct tel_compiler *c, uint64_t end, uint32_t slot)
{
	struct tel_entry *e;
	int fresh;

	if (end == 0)
		return 0;
	e = tel_table_put(&c->ends, end, &fresh);
	if (e == NULL)
		return -1;
	if (fresh)
		e->value = slot;
	return 0;
}

void
tel_end_remove(struct tel_compiler *c, uint64_t end, uint32_t slot)
{
	struct tel_entry *e = tel_table_find(&c->ends, end);

	/* of blocks that end at one place only the first is known */
	if (e != NULL && e->value == slot)
		tel_table_remove(&c->ends, e);
}

static int
ends_make(struct tel_compiler *c)
{
	const struct tel_entry *e;
	size_t i;

	c->ends_on = 1;
	for (i = 0; c->table.count > 0 && i <= c->table.mask; i++) {
		e = &c->table.entries[i];
		if (e->key != 0 &&
		    tel_end_add(c, e->key + c->blocks[e->value].size,
		        e->value) != 0)
			return -1;
	}
	return 0;
}

/* What is known of the parts of a block, made at the first. */
static struct part *
part_of(struct tel_compiler *c, uint32_t slot)
{
	struct tel_entry *e;
	struct part *p;
	int fresh;

	e = tel_table_put(&c->parts_by_slot, (uint64_t)slot + 1, &fresh);
	if (e == NULL)
		return NULL;
	if (!fresh)
		return &c->parts[e->value];
	if (tel_array_grow(&c->parts, &c->parts_room, c->parts_used + 1,
	        sizeof(*c->parts)) != 0) {
		tel_table_remove(&c->parts_by_slot, e);
		return NULL;
	}
	e->value = (uint32_t)c->parts_used;
	p = &c->parts[c->parts_used++];
	p->whole = c->blocks[slot].size;
	p->offset = 0;
	p->slot = slot;
	c->blocks[slot].where |= BLOCK_PARTS;
	return p;
}

/* Emits the free of size bytes at offset in what is live of a block. */
static tel_status
part_free(struct tel_compiler *c, struct lane *l, uint32_t slot,
    uint64_t offset, uint64_t size)
{
	struct block *b = &c->blocks[slot];
	struct part *p = part_of(c, slot);
	struct lane *m = tel_block_lane(c, l, b);

	if (p == NULL || m == NULL ||
	    (c->pooled != NULL && tel_pool_of(c, m, slot) != 0) ||
	    tel_emit_more(c, m, TEL_MORE_FREE_PART, slot, p->offset + offset,
	        size, 0) != 0)
		return tel_compiler_no_memory(c);
	if (offset == 0)
		p->offset += size;
	b->size -= size;
	/* whoever goes on with the block comes after this */
	b->where = m->last | (b->where & ~WHERE_MASK);
	b->chunk = lane_place(c, m);
	c->live_bytes -= size;
	c->facts.parts++;
	return TEL_OK;
}

tel_status
tel_part_front(struct tel_compiler *c, struct lane *l, struct tel_entry *e,
    uint64_t size)
{
	uint64_t address = e->key;
	uint32_t slot = e->value;
	tel_status st;
	int fresh;

	if (tel_table_find(&c->table, address + size) != NULL ||
	    address + size < address) {
		/* such a block cannot be */
		st = tel_odd_count(c, TEL_ODD_SIZE, address);
		return st != TEL_OK ? st : tel_block_take(c, l, e, 0);
	}
	tel_table_remove(&c->table, e);
	e = tel_table_put(&c->table, address + size, &fresh);
	if (e == NULL)
		return tel_compiler_no_memory(c);
	e->value = slot;
	if (c->pooled != NULL)
		tel_pool_move(c, slot, address + size);
	return part_free(c, l, slot, 0, size);
}

tel_status
tel_part_end(struct tel_compiler *c, struct lane *l, uint64_t address,
    uint64_t size, int *found)
{
	struct tel_entry *e;
	uint64_t end;
	uint32_t slot;
	tel_status st;

	*found = 0;
	if (!c->ends_on && ends_make(c) != 0)
		return tel_compiler_no_memory(c);
	if (__builtin_add_overflow(address, size, &end))
		return TEL_OK;
	e = tel_table_find(&c->ends, end);
	if (e == NULL || size == 0 || size >= c->blocks[e->value].size)
		return TEL_OK;
	*found = 1;
	slot = e->value;
	tel_table_remove(&c->ends, e);
	st = part_free(c, l, slot, c->blocks[slot].size - size, size);
	if (st == TEL_OK && tel_end_add(c, address, slot) != 0)
		st = tel_compiler_no_memory(c);
	return st;
}

int
tel_part_last(struct tel_compiler *c, struct lane *l, uint32_t slot,
    int with_pool)
{
	struct tel_entry *e, *moved;
	struct part p;

	e = tel_table_find(&c->parts_by_slot, (uint64_t)slot + 1);
	if (e == NULL)
		return -1;
	/* the last one takes its place */
	p = c->parts[e->value];
	c->parts[e->value] = c->parts[--c->parts_used];
	moved = tel_table_find(&c->parts_by_slot,
	    (uint64_t)c->parts[e->value].slot + 1);
	if (moved != NULL)
		moved->value = e->value;
	tel_table_remove(&c->parts_by_slot, e);
	if (with_pool)
		return tel_emit_more(c, l, TEL_MORE_FREE_WITH_POOL, slot,
		    p.whole, 0, 0);
	return tel_emit_more(c, l, TEL_MORE_FREE_PART, slot, p.offset,
	    c->blocks[slot].size, p.whole);
}
