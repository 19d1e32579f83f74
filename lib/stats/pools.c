/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/labels.h"
#include "model/schema.h"
#include "query/pools.h"

void
tel__stats_pools_clear(struct pools *p)
{
	for (size_t i = 0; i < p->nlabels; i++)
		free(p->labels[i].text);
	free(p->labels);
	tel__table_clear(&p->places);
	tel__table_clear(&p->known);
}

/* ---------------------------------------------------------------- places */

static uint64_t
pools_key(const tel_alloc *op, uint64_t address)
{
	return address ^ tel__live_tag(op, 0);
}

/* The place of a pool and 1, made when it is new; 0: no memory. */
static uint32_t
pools_place(struct pools *p, const tel_alloc *op, uint64_t address)
{
	struct report *r = p->report;
	struct tel__entry *e;
	int fresh;

	e = tel__table_put(&p->places, pools_key(op, address), &fresh);
	if (e == NULL)
		return 0;
	/* the last place is that of all others */
	if (!fresh &&
	    (e->value == POOLS_MAX + 1 || !r->pools[e->value - 1].ended))
		return (uint32_t)e->value;
	if (r->npools <= POOLS_MAX) {
		if (!TEL__RESERVE_ZEROED(r->pools, r->pool_room,
		        (size_t)r->npools + 1))
			return 0;
		if (r->npools < POOLS_MAX)
			r->pools[r->npools].address = address;
		r->npools++;
	}
	e->value = r->npools;
	return r->npools;
}

tel_status
tel__stats_pools_create(struct pools *p, const tel_alloc *op,
    const struct tel_schema *schema)
{
	const char *kind = op->size < schema->ntypes ?
	    tel__pools_suffix(&schema->types[op->size]) :
	    NULL;

	/* the description may be that of an arena */
	if (kind == NULL && op->kind == TEL_ALLOC_POOL_DESCRIBE)
		return TEL_OK;
	uint32_t place = pools_place(p, op, op->pool);
	if (place == 0)
		return TEL_ENOMEM;
	struct pool *pool = &p->report->pools[place - 1];
	if (pool->kind != NULL || kind == NULL || place > POOLS_MAX)
		return TEL_OK;
	pool->kind = strdup(kind);
	return pool->kind == NULL ? TEL_ENOMEM : TEL_OK;
}

void
tel__stats_pools_destroy(struct pools *p, const tel_alloc *op)
{
	const struct tel__entry *e =
	    tel__table_find(&p->places, pools_key(op, op->pool));

	if (e != NULL && e->value <= POOLS_MAX)
		p->report->pools[e->value - 1].ended = 1;
}

/* ---------------------------------------------------------------- blocks */

/* Sets the pool that a block is allocated in, if the operation names one. */
static tel_status
pools_own(struct pools *p, struct tel__live *live, uint64_t log_tag,
    struct tel__live_block *block, const tel_alloc *op)
{
	struct tel__live_pool *of = op->pool == 0 || block->pool == 0 ?
	    NULL :
	    &live->pool_list[block->pool - 1];

	/* a pool is destroyed in both at once */
	if (of != NULL && of->owner != 0) {
		block->account = of->owner;
		return TEL_OK;
	}
	uint64_t address = tel__live_pool_of(live, op, log_tag);
	if (address == 0)
		return TEL_OK;
	block->account = pools_place(p, op, address);
	if (of != NULL)
		of->owner = block->account;
	return block->account != 0 ? TEL_OK : TEL_ENOMEM;
}

tel_status
tel__stats_pools_change(struct pools *p, struct tel__live *live,
    uint64_t log_tag, enum tel__live_what what, struct tel__live_block *block,
    const tel_alloc *op)
{
	const int allocates =
	    what == TEL__LIVE_ALLOCATED || what == TEL__LIVE_UNTRACKED;

	if (block == NULL)
		return TEL_OK;
	if (allocates && pools_own(p, live, log_tag, block, op) != TEL_OK)
		return TEL_ENOMEM;
	if (block->account == 0)
		return TEL_OK;
	struct pool *pool = &p->report->pools[block->account - 1];
	if (allocates) {
		pool->allocs += block->blocks;
		(void)int128_add(&pool->bytes, int128_u64(block->size));
	}
	if (what == TEL__LIVE_ALLOCATED) {
		pool->live_blocks += block->blocks;
		pool->live_bytes += block->size;
		if (pool->live_bytes > pool->peak_bytes)
			pool->peak_bytes = pool->live_bytes;
	} else if (what == TEL__LIVE_PART_FREED) {
		pool->live_bytes -= op->size;
	} else if (what != TEL__LIVE_UNTRACKED) {
		pool->live_blocks -= block->blocks;
		pool->live_bytes -= block->size;
	}
	return TEL_OK;
}

/* ---------------------------------------------------------------- labels */

static struct pool_label *
pools_add_label(struct pools *p, uint64_t address)
{
	struct tel__entry *e;
	int fresh;

	if (!TEL__RESERVE_ZEROED(p->labels, p->label_room, p->nlabels + 1) ||
	    (e = tel__table_put(&p->known, address, &fresh)) == NULL)
		return NULL;
	if (fresh) {
		p->labels[p->nlabels].address = address;
		e->value = p->nlabels++;
	}
	return &p->labels[e->value];
}

tel_status
tel__stats_pools_know(struct pools *p, const struct tel_type *t, uint64_t pool)
{
	const struct tel__entry *e = tel__table_find(&p->known, pool);

	p->recent[pool >> 4 & (POOLS_RECENT - 1)] = pool;
	if (e != NULL || p->nlabels >= POOLS_MAX)
		return TEL_OK;
	p->space = tel_field_space(t->schema,
	    &t->fields[t->role_field[TEL_PART_POOL]]);
	return pools_add_label(p, pool) == NULL ? TEL_ENOMEM : TEL_OK;
}

tel_status
tel__stats_pools_join(struct pools *to, const struct pools *from)
{
	if (from->nlabels > 0)
		to->space = from->space;
	for (size_t i = 0; i < from->nlabels && to->nlabels < POOLS_MAX; i++)
		if (pools_add_label(to, from->labels[i].address) == NULL)
			return TEL_ENOMEM;
	return TEL_OK;
}

tel_status
tel__stats_pools_label(struct pools *p, const struct tel_log *log)
{
	struct tel_label label;

	for (size_t i = 0; i < p->nlabels && log->labels != NULL; i++) {
		if (!tel__labels_find(log->labels, p->space,
		        p->labels[i].address, UINT64_MAX, &label) ||
		    label.string == NULL)
			continue;
		char *text = tel__copy_string(label.string, label.length);
		if (text == NULL)
			return TEL_ENOMEM;
		free(p->labels[i].text);
		p->labels[i].text = text;
	}
	return TEL_OK;
}

tel_status
tel__stats_pools_settle(struct pools *p)
{
	const struct tel__entry *e;

	for (size_t i = 0; i < p->nlabels; i++) {
		e = tel__table_find(&p->places, p->labels[i].address);
		if (p->labels[i].text == NULL || e == NULL ||
		    e->value > POOLS_MAX)
			continue;
		char *text = strdup(p->labels[i].text);
		if (text == NULL)
			return TEL_ENOMEM;
		struct pool *pool = &p->report->pools[e->value - 1];
		free(pool->label);
		pool->label = text;
	}
	return TEL_OK;
}
