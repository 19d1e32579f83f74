/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting blocks that are allocated and freed: by their addresses where frees
 * do not say how much they free, and else by their pools.
 */
#include "base/array.h"
#include "stats/stats.h"

static void
add(tel_int128 *sum, uint64_t v)
{
	(void)int128_add(sum, int128_u64(v));
}

tel_status
tel__stats_live_change(void *arg, enum tel__live_what what,
    struct tel__live_block *block, const tel_alloc *op)
{
	struct report *r = arg;

	switch (what) {
	case TEL__LIVE_ALLOCATED:
	case TEL__LIVE_UNTRACKED:
		r->allocs += block->blocks;
		r->samples += op->weight != 0;
		add(&r->alloc_bytes, block->size);
		break;
	case TEL__LIVE_FREED:
	case TEL__LIVE_RESIZED:
		r->frees += block->blocks;
		add(&r->free_bytes, block->size);
		break;
	case TEL__LIVE_PART_FREED: add(&r->free_bytes, op->size); break;
	case TEL__LIVE_POOL_DESTROYED:
	case TEL__LIVE_REPLACED:
		add(&r->ended, block->blocks);
		add(&r->ended_bytes, block->size);
		break;
	case TEL__LIVE_UNKNOWN: r->strays++; break;
	}
	return TEL_OK;
}

tel_status
tel__stats_count_block(struct tel_stats *s, struct source *from,
    const struct tel_event *ev)
{
	tel_alloc op;

	(void)tel_event_alloc(ev, &op);
	s->report.has_allocs |=
	    op.kind <= TEL_ALLOC_FREE || op.kind == TEL_ALLOC_COMMIT;
	return tel__live_take(&from->live, &op, 0) == TEL_OK ?
	    TEL_OK :
	    stats_no_memory(s);
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
