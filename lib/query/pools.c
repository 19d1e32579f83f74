/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools of a heap: what they were created as, and the blocks that live in each. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "query/pools.h"

/* Distinct pools at once; blocks of others are in none. */
#define POOLS_MAX ((size_t)1 << 20)
#define NAME_MAX_BYTES 512

void
tel__pools_init(struct tel__pools *p)
{
	memset(p, 0, sizeof(*p));
	tel__table_init(&p->by_address);
	tel__table_init(&p->by_buffer);
}

void
tel__pools_clear(struct tel__pools *p)
{
	tel__table_clear(&p->by_address);
	tel__table_clear(&p->by_buffer);
	free(p->pools);
	free(p->links);
	tel__pools_init(p);
}

/* The place of a pool and 1, made when it is new; 0: none, or no memory. */
static uint32_t
find_pool(struct tel__pools *p, uint64_t key, int *no_memory)
{
	struct tel__entry *e = tel__table_find(&p->by_address, key);
	uint32_t place = p->spare;
	int fresh;

	if (e != NULL)
		return (uint32_t)e->value;
	if (place == 0 && p->npools >= POOLS_MAX)
		return 0;
	*no_memory = 1;
	if (place == 0 && !TEL__RESERVE(p->pools, p->room, p->npools + 1))
		return 0;
	e = tel__table_put(&p->by_address, key, &fresh);
	if (e == NULL)
		return 0;
	*no_memory = 0;
	if (place == 0)
		place = (uint32_t)++p->npools;
	else
		p->spare = p->pools[place - 1].first;
	e->value = place;
	memset(&p->pools[place - 1], 0, sizeof(p->pools[0]));
	return place;
}

/*
 * What the name of a type adds to that of another one that creates pools: MVFF
 * of PoolInitMVFF, where there is PoolInit; NULL: nothing.
 */
static const char *
suffix_of(const struct tel_type *t)
{
	const struct tel_schema *s = t->schema;
	const struct tel_type *other;
	unsigned i;

	for (i = 0; s != NULL && i < s->ntypes; i++) {
		other = &s->types[i];
		if (other->role == TEL_ROLE_POOL_CREATE &&
		    other->name_length < t->name_length &&
		    memcmp(other->name, t->name, other->name_length) == 0)
			return t->name + other->name_length;
	}
	return NULL;
}

/*
 * What the event that creates a pool says of it: its labels, such as that of
 * its class, but for its own, which is in its name; or the name of the type.
 * A pool may be created by two events, of which one says nothing.
 */
static int
create_pool(struct tel__pools *p, struct tel__stacks *s,
    const struct tel_event *ev, uint64_t key)
{
	const struct tel_type *t = ev->type;
	uint32_t node = 0, pool;
	int no_memory = 0;
	const char *label;
	unsigned i;
	size_t n;

	pool = find_pool(p, key, &no_memory);
	for (i = 0; pool != 0 && i < t->nfields; i++) {
		if ((int)i == t->role_field[TEL_PART_POOL])
			continue;
		label = tel_event_label(ev, i, &n);
		if (label == NULL || n == 0)
			continue;
		node = tel__stacks_name(s, node, label, n);
		if (node == 0)
			return 0;
	}
	if (node == 0 && pool != 0 && p->pools[pool - 1].node == 0 &&
	    (label = suffix_of(t)) != NULL) {
		node = tel__stacks_name(s, 0, label, strlen(label));
		if (node == 0)
			return 0;
	}
	if (node != 0)
		p->pools[pool - 1].node = node;
	return !no_memory;
}

int
tel__pools_note(struct tel__pools *p, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t tag)
{
	struct tel__entry *e;
	int fresh;

	switch (op->kind) {
	case TEL_ALLOC_POOL_CREATE:
	case TEL_ALLOC_POOL_DESCRIBE:
		return create_pool(p, s, ev, op->pool ^ tag);
	case TEL_ALLOC_BUFFER_CREATE:
		e = tel__table_put(&p->by_buffer, op->buffer ^ tag, &fresh);
		if (e == NULL)
			return 0;
		e->value = op->pool;
		return 1;
	case TEL_ALLOC_BUFFER_DESTROY:
		e = tel__table_find(&p->by_buffer, op->buffer ^ tag);
		if (e != NULL)
			tel__table_remove(&p->by_buffer, e);
		return 1;
	default: return 1;
	}
}

int
tel__pools_find(struct tel__pools *p, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t tag,
    uint32_t *pool, uint32_t *node)
{
	static const char unknown[] = "<unknown>";
	const struct tel_type *t = ev->type;
	int at = t->role_field[TEL_PART_POOL], no_memory = 0;
	uint64_t address = op->pool;
	const struct tel__entry *e;
	char name[NAME_MAX_BYTES];
	struct tel_label label;
	int n;

	*pool = 0;
	if (at < 0) {
		at = t->role_field[TEL_PART_BUFFER];
		e = tel__table_find(&p->by_buffer, op->buffer ^ tag);
		if (e == NULL) {
			*node = tel__stacks_name(s, 0, unknown,
			    sizeof(unknown) - 1);
			return *node != 0;
		}
		address = e->value;
	}
	*pool = find_pool(p, address ^ tag, &no_memory);
	if (no_memory)
		return 0;
	*node = *pool == 0 ? 0 : p->pools[*pool - 1].node;
	if (tel_find_label(ev, &t->fields[at], address, &label) &&
	    label.string != NULL && label.length > 0) {
		*node = tel__stacks_name(s, *node, label.string, label.length);
	} else {
		n = snprintf(name, sizeof(name), "pool 0x%llx",
		    (unsigned long long)address);
		*node = tel__stacks_name(s, *node, name, (size_t)n);
	}
	return *node != 0;
}

int
tel__pools_link(struct tel__pools *p, uint32_t pool, size_t place, uint64_t key)
{
	struct tel__pool_link *l;
	struct tel__pool *owner;

	if (pool == 0) {
		if (place < p->link_room)
			p->links[place].pool = 0;
		return 1;
	}
	if (!TEL__RESERVE_ZEROED(p->links, p->link_room, place + 1))
		return 0;
	owner = &p->pools[pool - 1];
	l = &p->links[place];
	l->key = key;
	l->pool = pool;
	l->previous = 0;
	l->next = owner->first;
	if (l->next != 0)
		p->links[l->next - 1].previous = (uint32_t)place + 1;
	owner->first = (uint32_t)place + 1;
	return 1;
}

void
tel__pools_unlink(struct tel__pools *p, size_t place)
{
	struct tel__pool_link *l;

	if (place >= p->link_room || p->links[place].pool == 0)
		return;
	l = &p->links[place];
	if (l->next != 0)
		p->links[l->next - 1].previous = l->previous;
	if (l->previous != 0)
		p->links[l->previous - 1].next = l->next;
	else
		p->pools[l->pool - 1].first = l->next;
	l->pool = 0;
}

int
tel__pools_next(const struct tel__pools *p, const tel_alloc *op, uint64_t tag,
    uint64_t *key)
{
	const struct tel__entry *e =
	    tel__table_find(&p->by_address, op->pool ^ tag);
	uint32_t first = e == NULL ? 0 : p->pools[e->value - 1].first;

	if (first == 0)
		return 0;
	*key = p->links[first - 1].key;
	return 1;
}

void
tel__pools_end(struct tel__pools *p, const tel_alloc *op, uint64_t tag)
{
	struct tel__entry *e = tel__table_find(&p->by_address, op->pool ^ tag);

	if (e == NULL)
		return;
	p->pools[e->value - 1].node = 0;
	p->pools[e->value - 1].first = p->spare;
	p->spare = (uint32_t)e->value;
	tel__table_remove(&p->by_address, e);
}
