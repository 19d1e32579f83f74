/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools and buffers.  A log may begin when they are there already: one that
 * is used is created where it is first met.  A pool may also be told of when
 * its own buffers are there, as those of an MPS are: then it is that one.
 */
#include "alloc/compiler.h"

#include <stdlib.h>

int
tel_pools_open(struct tel_compiler *c)
{
	struct pools *ps = &c->pools;

	tel_table_init(&ps->by_address);
	tel_table_init(&c->buffers.by_address);
	if (tel_array_grow(&ps->all, &ps->room, 1, sizeof(*ps->all)) != 0)
		return -1;
	memset(&ps->all[0], 0, sizeof(ps->all[0]));
	ps->all[0].first = ps->all[0].buffer = NO_SLOT;
	ps->count = 1;
	return 0;
}

void
tel_pools_close(struct tel_compiler *c)
{
	free(c->pools.all);
	free(c->buffers.all);
	tel_table_close(&c->pools.by_address);
	tel_table_close(&c->buffers.by_address);
	free(c->pooled);
}

/* From here on blocks have pools. */
static int
pooled_grow(struct tel_compiler *c, uint32_t slot)
{
	size_t before = c->pooled_room;

	if (slot < before)
		return 0;
	if (tel_array_grow(&c->pooled, &c->pooled_room, (size_t)slot + 1,
	        sizeof(*c->pooled)) != 0)
		return -1;
	memset(c->pooled + before, 0,
	    (c->pooled_room - before) * sizeof(*c->pooled));
	return 0;
}

/* Puts one into the list; its number, or NO_SLOT. */
static uint32_t
pool_add(struct pools *ps, uint64_t address, uint32_t pool)
{
	struct tel_entry *e;
	struct pool *p;
	int fresh;

	if (ps->count >= NO_SLOT - 1 ||
	    tel_array_grow(&ps->all, &ps->room, ps->count + 1,
	        sizeof(*ps->all)) != 0)
		return NO_SLOT;
	e = tel_table_put(&ps->by_address, address, &fresh);
	if (e == NULL)
		return NO_SLOT;
	e->value = (uint32_t)ps->count;
	p = &ps->all[ps->count];
	memset(p, 0, sizeof(*p));
	p->address = address;
	p->pool = pool;
	p->first = p->buffer = p->next = NO_SLOT;
	return (uint32_t)ps->count++;
}

static uint32_t
pool_create(struct tel_compiler *c, struct lane *l, uint64_t address)
{
	uint32_t n = pool_add(&c->pools, address, 0);

	if (n == NO_SLOT || pooled_grow(c, c->slots) != 0 ||
	    tel_emit_more(c, l, TEL_MORE_POOL_CREATE, n, address, 0, 0) != 0)
		return NO_SLOT;
	c->pools.all[n].where = l->last;
	c->pools.all[n].chunk = lane_place(c, l);
	c->facts.pools++;
	return n;
}

/* Notes that one was used before it was created; its number, or NO_SLOT. */
static uint32_t
first_use(const struct tel_compiler *c, struct pools *ps, uint64_t address,
    uint32_t n)
{
	if (n != NO_SLOT) {
		ps->all[n].used = 1;
		ps->all[n].odd = tel_odd_now(c, TEL_ODD_POOL, address);
	}
	return n;
}

/* The number of a pool, which is created when it is not known. */
static uint32_t
pool_find(struct tel_compiler *c, struct lane *l, uint64_t address)
{
	struct tel_entry *e;

	if (address == 0)
		return 0;
	e = tel_table_find(&c->pools.by_address, address);
	return e != NULL ?
	    e->value :
	    first_use(c, &c->pools, address, pool_create(c, l, address));
}

static uint32_t
buffer_create(struct tel_compiler *c, struct lane *l, uint64_t address,
    uint64_t pool)
{
	uint32_t p = pool_find(c, l, pool), n;

	if (p == NO_SLOT ||
	    (p != 0 &&
	        tel_emit_wait(c, l, c->pools.all[p].where,
	            c->pools.all[p].chunk) != 0))
		return NO_SLOT;
	n = pool_add(&c->buffers, address, p);
	if (n == NO_SLOT || pooled_grow(c, c->slots) != 0 ||
	    tel_emit_more(c, l, TEL_MORE_BUFFER_CREATE, n, p, 0, 0) != 0)
		return NO_SLOT;
	c->buffers.all[n].where = l->last;
	c->buffers.all[n].chunk = lane_place(c, l);
	c->buffers.all[n].next = c->pools.all[p].buffer;
	c->pools.all[p].buffer = n;
	c->facts.buffers++;
	return n;
}

uint32_t
tel_buffer_find(struct tel_compiler *c, struct lane *l, const tel_alloc *op)
{
	struct tel_entry *e;

	e = tel_table_find(&c->buffers.by_address, op->buffer);
	return e != NULL ? e->value :
	                   first_use(c, &c->buffers, op->buffer,
	                       buffer_create(c, l, op->buffer, op->pool));
}

tel_status
tel_pools_finish(struct tel_compiler *c)
{
	const struct pools *both[] = { &c->pools, &c->buffers };
	tel_status st = TEL_OK;
	unsigned k;
	size_t i;

	for (k = 0; k < 2; k++)
		for (i = 0; i < both[k]->count && st == TEL_OK; i++)
			if (both[k]->all[i].used)
				st = tel_odd_add(c, &both[k]->all[i].odd);
	return st;
}

static tel_status
buffer_destroy(struct tel_compiler *c, struct lane *l, uint32_t n)
{
	struct pool *b = &c->buffers.all[n];
	struct tel_entry *e;
	tel_status st;

	e = tel_table_find(&c->buffers.by_address, b->address);
	if (e != NULL)
		tel_table_remove(&c->buffers.by_address, e);
	if (b->reserved != 0) {
		st = tel_odd_count(c, TEL_ODD_RESERVED, b->at);
		if (st != TEL_OK)
			return st;
	}
	b->address = 0;
	if (tel_emit_join(c, l) != 0 ||
	    tel_emit_more(c, l, TEL_MORE_BUFFER_DESTROY, n, 0, 0, 0) != 0)
		return tel_compiler_no_memory(c);
	return TEL_OK;
}

/* All that lives in a pool goes, then the pool. */
static tel_status
pool_destroy(struct tel_compiler *c, struct lane *l, struct tel_entry *known)
{
	uint32_t n = known->value, slot;
	struct tel_entry *e;
	uint32_t b;
	tel_status st;

	tel_table_remove(&c->pools.by_address, known);
	st = tel_suspects_expire(c, 1);
	if (st == TEL_OK && tel_emit_join(c, l) != 0)
		st = tel_compiler_no_memory(c);
	for (b = c->pools.all[n].buffer; b != NO_SLOT && st == TEL_OK;
	     b = c->buffers.all[b].next)
		if (c->buffers.all[b].address != 0)
			st = buffer_destroy(c, l, b);
	while (st == TEL_OK && (slot = c->pools.all[n].first) != NO_SLOT) {
		e = tel_table_find(&c->table, c->pooled[slot].address);
		if (e == NULL)
			return tel_compiler_fail(c, TEL_ESTATE,
			    "a block of a pool is lost");
		st = tel_block_take(c, l, e, 1);
	}
	if (st != TEL_OK)
		return st;
	c->pools.all[n].address = 0;
	if (tel_emit_more(c, l, TEL_MORE_POOL_DESTROY, n, 0, 0, 0) != 0)
		return tel_compiler_no_memory(c);
	return TEL_OK;
}

tel_status
tel_pool_operation(struct tel_compiler *c, struct lane *l, const tel_alloc *op)
{
	struct tel_entry *e;
	tel_status st = TEL_OK;
	int pool = op->kind == TEL_ALLOC_POOL_CREATE ||
	    op->kind == TEL_ALLOC_POOL_DESTROY;
	uint64_t address = pool ? op->pool : op->buffer;

	if (address == 0)
		return tel_odd_count(c, TEL_ODD_ARGUMENT, 0);
	e = tel_table_find(pool ? &c->pools.by_address : &c->buffers.by_address,
	    address);
	if (op->kind == TEL_ALLOC_POOL_CREATE && e != NULL &&
	    c->pools.all[e->value].used) {
		c->pools.all[e->value].used = 0;
		return TEL_OK;
	}
	/* one that is created again was destroyed without a word */
	if (e != NULL && pool)
		st = pool_destroy(c, l, e);
	else if (e != NULL)
		st = buffer_destroy(c, l, e->value);
	else if (op->kind == TEL_ALLOC_POOL_DESTROY ||
	    op->kind == TEL_ALLOC_BUFFER_DESTROY)
		st = tel_odd_count(c, TEL_ODD_POOL, address);
	if (st != TEL_OK)
		return st;
	if ((op->kind == TEL_ALLOC_POOL_CREATE &&
	        pool_create(c, l, address) == NO_SLOT) ||
	    (op->kind == TEL_ALLOC_BUFFER_CREATE &&
	        buffer_create(c, l, address, op->pool) == NO_SLOT))
		return tel_compiler_no_memory(c);
	return TEL_OK;
}

/* ------------------------------------------------ the blocks of pools */

int
tel_pool_enter(struct tel_compiler *c, struct lane *l, uint32_t slot,
    uint64_t address, const tel_alloc *op)
{
	struct pooled *b;
	struct pool *p;
	uint32_t n;
	int buffer = op->kind == TEL_ALLOC_COMMIT && op->buffer != 0;

	n = buffer ? tel_buffer_find(c, l, op) : pool_find(c, l, op->pool);
	if (n == NO_SLOT || pooled_grow(c, slot) != 0 ||
	    tel_emit_use(c, l, n, buffer) != 0)
		return -1;
	b = &c->pooled[slot];
	b->address = address;
	b->pool = buffer ? c->buffers.all[n].pool : n;
	b->previous = NO_SLOT;
	b->next = NO_SLOT;
	if (b->pool == 0)
		return 0;
	p = &c->pools.all[b->pool];
	b->next = p->first;
	if (p->first != NO_SLOT)
		c->pooled[p->first].previous = slot;
	p->first = slot;
	return 0;
}

void
tel_pool_leave(struct tel_compiler *c, uint32_t slot)
{
	struct pooled *b;

	if (slot >= c->pooled_room)
		return;
	b = &c->pooled[slot];
	if (b->pool == 0)
		return;
	if (b->next != NO_SLOT)
		c->pooled[b->next].previous = b->previous;
	if (b->previous != NO_SLOT)
		c->pooled[b->previous].next = b->next;
	else
		c->pools.all[b->pool].first = b->next;
	b->pool = 0;
}

void
tel_pool_move(struct tel_compiler *c, uint32_t slot, uint64_t address)
{
	if (slot < c->pooled_room)
		c->pooled[slot].address = address;
}

int
tel_pool_of(struct tel_compiler *c, struct lane *l, uint32_t slot)
{
	uint32_t pool = slot < c->pooled_room ? c->pooled[slot].pool : 0;

	if (l->use_buffer && c->buffers.all[l->use].pool == pool)
		return 0;
	return tel_emit_use(c, l, pool, 0);
}
