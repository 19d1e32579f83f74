/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting blocks that are allocated and freed: by their addresses where frees
 * do not say how much they free, and else by their pools.
 */
#include "base/array.h"
#include "model/role.h"
#include "stats/stats.h"

/* Documented limit: the blocks of a log of which the sizes are known. */
#define LIVE_MAX ((size_t)1 << 22)

/* Forgets a block.  1 with its value, or 0 when it is not known. */
static int
take(struct tel__table *table, uint64_t address, uint64_t *value)
{
	struct tel__entry *e = tel__table_find(table, address);

	if (e == NULL)
		return 0;
	*value = e->value;
	tel__table_remove(table, e);
	return 1;
}

/*
 * A block begins to live; one that lived at its address is forgotten.
 * TEL_OK, also when there are too many; TEL_ENOMEM.
 */
static tel_status
add(struct tel__table *table, uint64_t address, uint64_t value)
{
	struct tel__entry *e = tel__table_find(table, address);
	int fresh;

	if (e == NULL && table->count == LIVE_MAX)
		return TEL_OK;
	if (e == NULL && (e = tel__table_put(table, address, &fresh)) == NULL)
		return TEL_ENOMEM;
	e->value = value;
	return TEL_OK;
}

/* A block ends; known: its size is size, if it is not known otherwise. */
static void
end_block(struct tel_stats *s, struct source *from, uint64_t address, int known,
    uint64_t size)
{
	uint64_t was, blocks = 1;

	if (!take(&from->live, address, &was)) {
		s->report.strays += !known;
	} else {
		if (!known)
			size = was;
		(void)take(&from->represented, address, &blocks);
	}
	s->report.frees += blocks;
	(void)int128_add(&s->report.free_bytes, int128_u64(size));
}

/* A block is allocated, or those that a sample stands for. */
static tel_status
begin_block(struct tel_stats *s, struct source *from, const tel_alloc *a)
{
	const uint64_t blocks = tel__alloc_blocks(a, a->size, &from->rest),
	               size = a->weight != 0 ? a->weight : a->size;
	uint64_t was;

	s->report.allocs += blocks;
	s->report.samples += a->weight != 0;
	(void)int128_add(&s->report.alloc_bytes, int128_u64(size));
	if (a->weight != 0 && blocks != 1) {
		if (add(&from->represented, a->address, blocks) != TEL_OK)
			return stats_no_memory(s);
	} else if (from->represented.count > 0) {
		(void)take(&from->represented, a->address, &was);
	}
	if (add(&from->live, a->address, size) != TEL_OK)
		return stats_no_memory(s);
	return TEL_OK;
}

/* Blocks of several processes may have the same address. */
static void
tell_apart(tel_alloc *a)
{
	uint64_t tag = a->process * UINT64_C(0x9e3779b97f4a7c15);

	if (a->address != 0)
		a->address ^= tag;
	if (a->old != 0)
		a->old ^= tag;
}

tel_status
tel__stats_count_block(struct tel_stats *s, struct source *from,
    const struct tel_event *ev)
{
	struct tel__entry *e;
	tel_alloc a;

	s->report.has_allocs = 1;
	(void)tel_event_alloc(ev, &a);
	if (a.failed)
		return TEL_OK;
	if (a.process != 0)
		tell_apart(&a);
	if (a.kind == TEL_ALLOC_FREE) {
		if (a.address != 0)
			end_block(s, from, a.address, a.sized, a.size);
		return TEL_OK;
	}
	/* a block with a number, which realloc keeps, may be a new one */
	if (a.kind == TEL_ALLOC_REALLOC && a.old != 0) {
		if (a.old != a.address)
			end_block(s, from, a.old, 0, 0);
		else if ((e = tel__table_find(&from->live, a.old)) != NULL)
			end_block(s, from, a.old, 1, e->value);
	}
	if (a.address == 0)
		return TEL_OK;
	if (a.kind == TEL_ALLOC_CALLOC &&
	    __builtin_mul_overflow(a.size, a.count, &a.size))
		a.size = UINT64_MAX;
	return begin_block(s, from, &a);
}

/* --------------------------------------------------------------- pools */

/* Documented limit: pools of a log that are distinguished. */
#define POOLS_MAX ((size_t)1 << 20)

/* The pool at an address; NULL when there are too many, or *st is set. */
static struct pool *
find_pool(struct source *from, uint64_t address, tel_status *st)
{
	struct tel__entry *e;
	int fresh;

	if (from->recent != NULL && from->recent_address == address)
		return from->recent;
	e = tel__table_find(&from->pools, address);
	if (e == NULL) {
		if (from->npools == POOLS_MAX)
			return NULL;
		e = TEL__RESERVE_ZEROED(from->pool_list, from->pool_room,
		        from->npools + 1) ?
		    tel__table_put(&from->pools, address, &fresh) :
		    NULL;
		if (e == NULL) {
			*st = TEL_ENOMEM;
			return NULL;
		}
		e->value = from->npools++;
	}
	from->recent = &from->pool_list[e->value];
	from->recent_address = address;
	return from->recent;
}

tel_status
tel__stats_count_pool(struct tel_stats *s, struct source *from,
    const struct slot *slot, const unsigned char *data)
{
	tel_status st = TEL_OK;
	struct pool *p = find_pool(from, tel_load(slot->pool, data), &st);

	if (st != TEL_OK)
		return stats_no_memory(s);
	if (p == NULL)
		return TEL_OK;
	switch (slot->type->role) {
	case TEL_ROLE_ALLOC:
	case TEL_ROLE_NEW:
		p->blocks++;
		p->bytes += tel_load(slot->size, data);
		break;
	case TEL_ROLE_FREE:
	case TEL_ROLE_DELETE:
	case TEL_ROLE_DELETE_SIZED:
	case TEL_ROLE_FREE_SIZED:
		p->blocks--;
		p->bytes -= tel_load(slot->size, data);
		break;
	case TEL_ROLE_POOL_CREATE: p->pools++; break;
	default:
		p->pools--;
		p->finished = 1;
		break;
	}
	return TEL_OK;
}

int
tel__pools_fit(const struct source *a, const struct source *b)
{
	return a->npools + b->npools < POOLS_MAX;
}

tel_status
tel__stats_join_pools(struct source *to, const struct source *from)
{
	const struct tel__entry *e;
	const struct pool *p;
	struct pool *pool;
	tel_status st = TEL_OK;
	size_t i;

	if (from->npools == 0)
		return TEL_OK;
	/* the last entry is that of the address 0 */
	for (i = 0; i <= from->pools.mask + 1; i++) {
		e = &from->pools.entries[i];
		if (e->key == 0)
			continue;
		pool = find_pool(to, i <= from->pools.mask ? e->key : 0, &st);
		if (pool == NULL)
			return TEL_ENOMEM;
		p = &from->pool_list[e->value];
		pool->blocks += p->blocks;
		pool->bytes += p->bytes;
		pool->pools += p->pools;
		pool->finished |= p->finished;
	}
	return TEL_OK;
}

void
tel__stats_settle_pools(struct tel_stats *s, struct source *from)
{
	uint64_t ended = 0, bytes = 0;
	const struct pool *p;
	size_t i;

	for (i = 0; i < from->npools; i++) {
		p = &from->pool_list[i];
		if (!p->finished || p->pools > 0)
			continue;
		ended += p->blocks;
		bytes += p->bytes;
	}
	/* both may have fallen since: a pool was made where one had been */
	(void)int128_add(&s->report.ended,
	    int128_i64((int64_t)(ended - from->ended)));
	(void)int128_add(&s->report.ended_bytes,
	    int128_i64((int64_t)(bytes - from->ended_bytes)));
	from->ended = ended;
	from->ended_bytes = bytes;
}
