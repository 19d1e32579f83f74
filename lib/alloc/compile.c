/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of an operation: of blocks, and of what is odd about it. */
#include "alloc/compiler.h"

_Static_assert(TEL_ALLOC_KINDS == TEL_ALLOC_THREAD_END + 1, "all are counted");

/* An allocation, of whatever kind. */
static tel_status
allocate(struct tel_compiler *c, struct lane *l, const tel_alloc *op,
    uint64_t size)
{
	struct tel_entry *e;
	uint32_t flags = 0;
	tel_status st;
	int fresh;

	if (op->failed || op->address == 0)
		return tel_odd_count(c, TEL_ODD_FAILED, op->address);
	if (size > TEL_BLOCK_MAX || op->alignment > TEL_BLOCK_MAX)
		return tel_odd_count(c, TEL_ODD_ARGUMENT, op->address);
	e = tel_table_put(&c->table, op->address, &fresh);
	if (e == NULL)
		return tel_compiler_no_memory(c);
	if (!fresh) {
		if (op->kind == TEL_ALLOC_COMMIT) {
			st = tel_odd_count(c, TEL_ODD_RECLAIMED, op->address);
			if (st == TEL_OK)
				st = tel_block_take(c, l, e, 0);
		} else
			st = tel_suspect_double(c, l, e);
		if (st != TEL_OK)
			return st;
		e = tel_table_put(&c->table, op->address, &fresh);
		if (e == NULL)
			return tel_compiler_no_memory(c);
	}
	if (c->suspects_used > 0 &&
	    (st = tel_suspect_born(c, l, op->address, &flags)) != TEL_OK)
		return st;
	return tel_block_begin(c, l, e, size, flags, op);
}

static tel_status
commit(struct tel_compiler *c, struct lane *l, const tel_alloc *op)
{
	uint32_t n;
	struct pool *b;

	if (op->buffer == 0)
		return allocate(c, l, op, op->size);
	n = tel_buffer_find(c, l, op);
	if (n == NO_SLOT)
		return tel_compiler_no_memory(c);
	b = &c->buffers.all[n];
	if (op->kind == TEL_ALLOC_COMMIT) {
		b->reserved = 0;
		return allocate(c, l, op, op->size);
	}
	if (b->reserved != 0)
		return tel_odd_count(c, TEL_ODD_RESERVED, b->at);
	b->reserved = 1;
	b->at = op->address;
	return TEL_OK;
}

static tel_status
release(struct tel_compiler *c, struct lane *l, const tel_alloc *op)
{
	struct tel_entry *e;
	const struct block *b;
	tel_status st;
	int done;

	if (op->address == 0)
		return tel_odd_count(c, TEL_ODD_FREE_NULL, 0);
	if (c->suspects_used > 0) {
		st = tel_suspect_ended(c, l, op->address, 1, &done);
		if (st != TEL_OK || done)
			return st;
	}
	e = tel_table_find(&c->table, op->address);
	if (e == NULL) {
		done = 0;
		st = op->sized ?
		    tel_part_end(c, l, op->address, op->size, &done) :
		    TEL_OK;
		return st != TEL_OK || done ?
		    st :
		    tel_suspect_free(c, l, op->address);
	}
	b = &c->blocks[e->value];
	if (!op->sized || op->size == b->size || op->size == 0)
		return tel_block_take(c, l, e, 0);
	if (op->size < b->size)
		return tel_part_front(c, l, e, op->size);
	st = tel_odd_count(c, TEL_ODD_SIZE, op->address);
	return st != TEL_OK ? st : tel_block_take(c, l, e, 0);
}

/* A live block gets another size, and maybe another address. */
static tel_status
resize(struct tel_compiler *c, struct lane *l, const tel_alloc *op)
{
	struct tel_entry *e;
	uint32_t slot, flags = 0;
	tel_status st;
	int fresh;

	if (op->address != op->old &&
	    (e = tel_table_find(&c->table, op->address)) != NULL &&
	    (st = tel_suspect_double(c, l, e)) != TEL_OK)
		return st;
	if (op->address != op->old && c->suspects_used > 0 &&
	    (st = tel_suspect_born(c, l, op->address, &flags)) != TEL_OK)
		return st;
	/* what was just settled may have been this one */
	e = tel_table_find(&c->table, op->old);
	if (e == NULL)
		return allocate(c, l, op, op->size);
	slot = e->value;
	if (c->blocks[slot].where & BLOCK_PARTS) {
		st = tel_block_take(c, l, e, 0);
		return st != TEL_OK ? st : allocate(c, l, op, op->size);
	}
	if (c->ends_on)
		tel_end_remove(c, e->key + c->blocks[slot].size, slot);
	if (op->address != op->old) {
		tel_table_remove(&c->table, e);
		e = tel_table_put(&c->table, op->address, &fresh);
		if (e == NULL)
			return tel_compiler_no_memory(c);
		e->value = slot;
		if (c->pooled != NULL)
			tel_pool_move(c, slot, op->address);
	}
	if (c->ends_on && tel_end_add(c, e->key + op->size, slot) != 0)
		return tel_compiler_no_memory(c);
	st = tel_block_resize(c, l, slot, op->size);
	c->blocks[slot].where |= flags;
	return st;
}

static tel_status
reallocate(struct tel_compiler *c, struct lane *l, const tel_alloc *op)
{
	tel_alloc other = *op;
	tel_status st = TEL_OK;
	int done;

	if (op->size == 0 && op->old != 0)
		st = tel_odd_count(c, TEL_ODD_REALLOC_ZERO, op->old);
	else if (op->old == 0)
		st = tel_odd_count(c, TEL_ODD_REALLOC_NULL, op->address);
	if (st != TEL_OK)
		return st;
	if (op->old == 0)
		return allocate(c, l, op, op->size);
	if (op->size == 0 && op->address == 0) {
		other.address = op->old;
		other.sized = 0;
		return release(c, l, &other);
	}
	if (op->failed || op->address == 0)
		return tel_odd_count(c, TEL_ODD_FAILED, op->old);
	if (op->size > TEL_BLOCK_MAX)
		return tel_odd_count(c, TEL_ODD_ARGUMENT, op->old);
	if (c->suspects_used > 0 &&
	    (st = tel_suspect_ended(c, l, op->old, 0, &done)) != TEL_OK)
		return st;
	if (tel_table_find(&c->table, op->old) != NULL)
		return resize(c, l, op);
	st = tel_odd_count(c, TEL_ODD_REALLOC, op->old);
	return st != TEL_OK ? st : allocate(c, l, op, op->size);
}

tel_status
tel_compile(struct tel_compiler *c, struct lane *l, const tel_alloc *op)
{
	uint64_t size = op->size;

	switch (op->kind) {
	case TEL_ALLOC_CALLOC:
		if (__builtin_mul_overflow(op->count, op->size, &size))
			size = UINT64_MAX;
		return allocate(c, l, op, size);
	case TEL_ALLOC_MALLOC:
	case TEL_ALLOC_ALIGNED: return allocate(c, l, op, size);
	case TEL_ALLOC_REALLOC: return reallocate(c, l, op);
	case TEL_ALLOC_FREE: return release(c, l, op);
	case TEL_ALLOC_RESERVE:
	case TEL_ALLOC_COMMIT: return commit(c, l, op);
	case TEL_ALLOC_POOL_CREATE:
	case TEL_ALLOC_POOL_DESTROY:
	case TEL_ALLOC_BUFFER_CREATE:
	case TEL_ALLOC_BUFFER_DESTROY: return tel_pool_operation(c, l, op);
	case TEL_ALLOC_THREAD_END: tel_lane_end(c, op->thread); break;
	case TEL_ALLOC_NONE: break;
	}
	return TEL_OK;
}
