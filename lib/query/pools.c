/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of pools: what each was created as. */
#include "query/pools.h"

#include <stdio.h>

/* Pools at once of which it is known what they were created as. */
#define POOLS_MAX ((size_t)1 << 20)
#define NAME_MAX_BYTES 512

/* What tells the pools of a process and a log apart. */
static uint64_t
query_pool_key(const tel_alloc *op, uint64_t address, uint64_t tag)
{
	return address ^ tel__live_tag(op, tag);
}

const char *
tel__pools_suffix(const struct tel_type *t)
{
	const struct tel_schema *s = t->schema;

	for (unsigned i = 0; s != NULL && i < s->ntypes; i++) {
		const struct tel_type *other = &s->types[i];

		if (other->role == TEL_ROLE_POOL_CREATE &&
		    other->name_length < t->name_length &&
		    memcmp(other->name, t->name, other->name_length) == 0)
			return t->name + other->name_length;
	}
	return NULL;
}

/*
 * From the event that creates a pool: its labels, such as that of its class,
 * except for its own, which is in its name; or the name of the type.  A pool
 * may be created by two events, of which one has no class.
 */
static int
create_pool(struct tel__table *pools, struct tel__stacks *s,
    const struct tel_event *ev, uint64_t key)
{
	const struct tel_type *t = ev->type;
	struct tel__entry *e = tel__table_find(pools, key);
	uint32_t node = 0;
	const char *label;
	size_t n;
	int fresh;

	if (e == NULL && pools->count >= POOLS_MAX)
		return 1;
	for (unsigned i = 0; i < t->nfields; i++) {
		if ((int)i == t->role_field[TEL_PART_POOL])
			continue;
		label = tel_event_label(ev, i, &n);
		if (label == NULL || n == 0)
			continue;
		node = tel__stacks_name(s, node, label, n);
		if (node == 0)
			return 0;
	}
	if (node == 0 && e == NULL && (label = tel__pools_suffix(t)) != NULL) {
		node = tel__stacks_name(s, 0, label, strlen(label));
		if (node == 0)
			return 0;
	}
	if (node == 0)
		return 1;
	e = tel__table_put(pools, key, &fresh);
	if (e != NULL)
		e->value = node;
	return e != NULL;
}

int
tel__pools_note(struct tel__table *pools, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t tag)
{
	const uint64_t key = query_pool_key(op, op->pool, tag);
	struct tel__entry *e;

	switch (op->kind) {
	case TEL_ALLOC_POOL_CREATE:
	case TEL_ALLOC_POOL_DESCRIBE: return create_pool(pools, s, ev, key);
	case TEL_ALLOC_POOL_DESTROY:
		e = tel__table_find(pools, key);
		if (e != NULL)
			tel__table_remove(pools, e);
		return 1;
	default: return 1;
	}
}

uint32_t
tel__pools_find(const struct tel__table *pools, struct tel__stacks *s,
    const struct tel_event *ev, const tel_alloc *op, uint64_t address,
    uint64_t tag)
{
	static const char unknown[] = "<unknown>";
	const struct tel_type *t = ev->type;
	int at = t->role_field[TEL_PART_POOL];
	const struct tel__entry *e;
	char name[NAME_MAX_BYTES];
	struct tel_label label;

	if (at < 0) {
		at = t->role_field[TEL_PART_BUFFER];
		if (address == 0)
			return tel__stacks_name(s, 0, unknown,
			    sizeof(unknown) - 1);
	}
	e = tel__table_find(pools, query_pool_key(op, address, tag));
	uint32_t node = e == NULL ? 0 : (uint32_t)e->value;
	if (tel_find_label(ev, &t->fields[at], address, &label) &&
	    label.string != NULL && label.length > 0)
		return tel__stacks_name(s, node, label.string, label.length);
	int n = snprintf(name, sizeof(name), "pool 0x%llx",
	    (unsigned long long)address);
	return tel__stacks_name(s, node, name, (size_t)n);
}
