/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools and buffers.  A log may start when they exist already: one that is
 * used is created where it first occurs.  An MPS logs the creation of a pool
 * after that of the buffers in it: a creation after such a first use is of the
 * same pool.
 */
#include "telreplay/compile/emit.h"

#include <stdlib.h>
#include <string.h>

int
pools_open(struct compiler *c)
{
	struct pools *ps = &c->pools;

	tel__table_init(&ps->by_address);
	tel__table_init(&c->buffers.by_address);
	tel__table_init(&c->descriptions.by_address);
	if (!TEL__RESERVE(ps->all, ps->room, 1))
		return 0;
	memset(&ps->all[0], 0, sizeof(ps->all[0]));
	ps->all[0].buffer = NO_SLOT;
	ps->count = 1;
	return 1;
}

void
pools_close(struct compiler *c)
{
	for (size_t i = 0; i < c->pools.count; i++)
		free(c->pools.all[i].text);
	free(c->pools.all);
	free(c->buffers.all);
	tel__table_clear(&c->pools.by_address);
	tel__table_clear(&c->buffers.by_address);
	for (size_t i = 0; i < c->descriptions.count; i++)
		free(c->descriptions.texts[i]);
	free(c->descriptions.texts);
	tel__table_clear(&c->descriptions.by_address);
}

/* Where the description of an address other than a pool is, or NULL. */
static char **
description_find(const struct compiler *c, uint64_t address)
{
	struct tel__entry *e =
	    tel__table_find(&c->descriptions.by_address, address);

	return e != NULL ? &c->descriptions.texts[e->value] : NULL;
}

/* Adds one to the list.  Returns its number, or NO_SLOT. */
static uint32_t
pool_add(struct pools *ps, uint64_t address, uint32_t pool)
{
	int fresh;

	if (ps->count >= NO_SLOT - 1 ||
	    !TEL__RESERVE(ps->all, ps->room, ps->count + 1))
		return NO_SLOT;
	struct tel__entry *e = tel__table_put(&ps->by_address, address, &fresh);
	if (e == NULL)
		return NO_SLOT;
	e->value = ps->count;
	struct pool *p = &ps->all[ps->count];
	memset(p, 0, sizeof(*p));
	p->address = address;
	p->pool = pool;
	p->buffer = p->next = NO_SLOT;
	return (uint32_t)ps->count++;
}

static uint32_t
pool_create(struct compiler *c, struct thread *t, uint64_t address)
{
	uint32_t n = pool_add(&c->pools, address, 0);

	if (n == NO_SLOT ||
	    emit_extended(c, t, EXTENDED_POOL_CREATE, n, address, 0, 0) != 0)
		return NO_SLOT;
	c->pools.all[n].where = t->last;
	c->pools.all[n].chunk = thread_place(c, t);
	char **text = description_find(c, address);
	if (text != NULL) {
		c->pools.all[n].text = *text;
		*text = NULL;
	}
	c->facts.pools++;
	return n;
}

/* Records the use of one that was not created.  Returns n. */
static uint32_t
first_use(const struct compiler *c, struct pools *ps, uint64_t address,
    uint32_t n)
{
	if (n != NO_SLOT) {
		ps->all[n].used = 1;
		ps->all[n].first_use = anomaly_here(c, ANOMALY_POOL, address);
	}
	return n;
}

/* The number of a pool, which is created when it is unknown. */
static uint32_t
pool_find(struct compiler *c, struct thread *t, uint64_t address)
{
	if (address == 0)
		return 0;
	struct tel__entry *e = tel__table_find(&c->pools.by_address, address);
	return e != NULL ?
	    (uint32_t)e->value :
	    first_use(c, &c->pools, address, pool_create(c, t, address));
}

static uint32_t
buffer_create(struct compiler *c, struct thread *t, uint64_t address,
    uint64_t pool)
{
	uint32_t p = pool_find(c, t, pool), n;

	if (p == NO_SLOT ||
	    (p != 0 &&
	        emit_wait(c, t, c->pools.all[p].where, c->pools.all[p].chunk) !=
	            0))
		return NO_SLOT;
	n = pool_add(&c->buffers, address, p);
	if (n == NO_SLOT ||
	    emit_extended(c, t, EXTENDED_BUFFER_CREATE, n, p, 0, 0) != 0)
		return NO_SLOT;
	c->buffers.all[n].where = t->last;
	c->buffers.all[n].chunk = thread_place(c, t);
	c->buffers.all[n].next = c->pools.all[p].buffer;
	c->pools.all[p].buffer = n;
	c->facts.buffers++;
	return n;
}

uint32_t
buffer_find(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	struct tel__entry *e;

	e = tel__table_find(&c->buffers.by_address, op->buffer);
	return e != NULL ? (uint32_t)e->value :
	                   first_use(c, &c->buffers, op->buffer,
	                       buffer_create(c, t, op->buffer, op->pool));
}

tel_status
pools_finish(struct compiler *c)
{
	const struct pools *both[] = { &c->pools, &c->buffers };
	tel_status st = TEL_OK;

	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; i < both[k]->count && st == TEL_OK; i++)
			if (both[k]->all[i].used)
				st = anomaly_add(c, &both[k]->all[i].first_use);
	return st;
}

static tel_status
buffer_destroy(struct compiler *c, struct thread *t, uint32_t n)
{
	struct pool *b = &c->buffers.all[n];
	struct tel__entry *e;

	e = tel__table_find(&c->buffers.by_address, b->address);
	if (e != NULL)
		tel__table_remove(&c->buffers.by_address, e);
	if (b->reserved != 0) {
		tel_status st = anomaly_count(c, ANOMALY_RESERVED, b->at);

		if (st != TEL_OK)
			return st;
	}
	b->address = 0;
	if (emit_join(c, t) != 0 ||
	    emit_extended(c, t, EXTENDED_BUFFER_DESTROY, n, 0, 0, 0) != 0)
		return compiler_no_memory(c);
	return TEL_OK;
}

/* Frees all that lives in a pool, then destroys it. */
static tel_status
pool_destroy(struct compiler *c, struct thread *t, struct tel__entry *known,
    const tel_alloc *op)
{
	tel_alloc destroy = *op;
	uint32_t n = (uint32_t)known->value, b;

	tel__table_remove(&c->pools.by_address, known);
	tel_status st = reorder_expire(c, 1);
	if (st == TEL_OK && emit_join(c, t) != 0)
		st = compiler_no_memory(c);
	for (b = c->pools.all[n].buffer; b != NO_SLOT && st == TEL_OK;
	     b = c->buffers.all[b].next)
		if (c->buffers.all[b].address != 0)
			st = buffer_destroy(c, t, b);
	destroy.kind = TEL_ALLOC_POOL_DESTROY;
	if (st == TEL_OK)
		st = tel__live_take(&c->live, &destroy, c->log_tag);
	c->pools.all[n].address = 0;
	if (st == TEL_OK &&
	    emit_extended(c, t, EXTENDED_POOL_DESTROY, n, 0, 0, 0) != 0)
		st = TEL_ENOMEM;
	return st == TEL_ENOMEM ? compiler_no_memory(c) : st;
}

/*
 * Where the description of an address is to be: of a pool, or of what may become
 * one.  Returns NULL if there is no room.
 */
static char **
description_add(struct compiler *c, uint64_t address)
{
	struct descriptions *d = &c->descriptions;
	struct tel__entry *e = tel__table_find(&c->pools.by_address, address);
	int fresh;

	if (e != NULL)
		return e->value < POOLS_DESCRIBED ?
		    &c->pools.all[e->value].text :
		    NULL;
	if (description_find(c, address) != NULL)
		return description_find(c, address);
	if (d->count >= POOLS_DESCRIBED ||
	    !TEL__RESERVE(d->texts, d->room, d->count + 1) ||
	    (e = tel__table_put(&d->by_address, address, &fresh)) == NULL)
		return NULL;
	e->value = d->count;
	d->texts[d->count] = NULL;
	return &d->texts[d->count++];
}

const char *
compiler_description(const struct compiler *c, uint64_t address)
{
	char **text = description_find(c, address ^ c->tag);

	return text != NULL && *text != NULL ? *text : "";
}

tel_status
compiler_describe(struct compiler *c, uint64_t address, const char *text)
{
	size_t used = 0, more = strlen(text), first = strcspn(text, " ");

	if (c->failed != TEL_OK || c->ended)
		return TEL_ESTATE;
	address ^= address != 0 ? c->tag : 0;
	char **at = description_add(c, address);
	if (at == NULL)
		return TEL_OK;
	if (*at != NULL &&
	    (at != description_find(c, address) || strcspn(*at, " ") != first ||
	        memcmp(*at, text, first) != 0))
		used = strlen(*at);
	if (more == 0 || more + (used > 0) > POOL_TEXT - used)
		return TEL_OK;
	char *now = realloc(*at, used + more + 2);
	if (now == NULL)
		return compiler_no_memory(c);
	if (used > 0)
		now[used++] = ' ';
	memcpy(now + used, text, more + 1);
	*at = now;
	return TEL_OK;
}

tel_status
pool_operation(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	tel_status st = TEL_OK;
	int pool = op->kind != TEL_ALLOC_BUFFER_CREATE &&
	    op->kind != TEL_ALLOC_BUFFER_DESTROY;
	uint64_t address = pool ? op->pool : op->buffer;

	if (address == 0)
		return anomaly_count(c, ANOMALY_ARGUMENT, 0);
	if (op->failed)
		return anomaly_count(c, ANOMALY_FAILED, address);
	struct tel__entry *e = tel__table_find(pool ? &c->pools.by_address :
	                                              &c->buffers.by_address,
	    address);
	if (op->kind == TEL_ALLOC_POOL_DESCRIBE)
		return TEL_OK;
	/* the creation of one that exists since it was used */
	if (op->kind == TEL_ALLOC_POOL_CREATE && e != NULL &&
	    c->pools.all[e->value].used) {
		c->pools.all[e->value].used = 0;
		return TEL_OK;
	}
	/* one that is created again was destroyed unrecorded */
	if (e != NULL && pool)
		st = pool_destroy(c, t, e, op);
	else if (e != NULL)
		st = buffer_destroy(c, t, (uint32_t)e->value);
	else if (op->kind == TEL_ALLOC_POOL_DESTROY ||
	    op->kind == TEL_ALLOC_BUFFER_DESTROY)
		st = anomaly_count(c, ANOMALY_POOL, address);
	if (st != TEL_OK)
		return st;
	if ((op->kind == TEL_ALLOC_POOL_CREATE &&
	        pool_create(c, t, address) == NO_SLOT) ||
	    (op->kind == TEL_ALLOC_BUFFER_CREATE &&
	        buffer_create(c, t, address, op->pool) == NO_SLOT))
		return compiler_no_memory(c);
	return TEL_OK;
}

/* ------------------------------------------------ the blocks of pools */

uint32_t
pool_use(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	int buffer = op->kind == TEL_ALLOC_COMMIT && op->buffer != 0;
	uint32_t n = buffer ? buffer_find(c, t, op) : pool_find(c, t, op->pool);

	if (n == NO_SLOT || emit_use(c, t, n, buffer) != 0)
		return NO_SLOT;
	return buffer ? c->buffers.all[n].pool : n;
}
