/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timeline: counters.  The bytes that live are counted by the events that
 * allocate and free them, of all and of each pool; and so is memory that one
 * type takes and another gives back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model/schema.h"
#include "print/timeline.h"

/* A size that an entry of the blocks has no room for is in tl->large. */
#define LARGE ((uint32_t)1 << 31)
#define LARGES 1024
/* No block is larger: such an event is wrong, and would hide all others. */
#define BLOCK_MAX (UINT64_C(1) << 47)
/* No gauge. */
#define NONE UINT32_MAX

void
tel__timeline_count_clear(struct timeline *tl)
{
	tel_table_close(&tl->blocks);
	tel_table_init(&tl->blocks);
	tel_table_close(&tl->pools);
	tel_table_init(&tl->pools);
	tl->ngauges = 0;
	tl->processes = 0;
	tl->nlarge = 0;
}

void
tel__timeline_count_fields(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    struct timeline_track *context, uint64_t time)
{
	const struct tel_type *t = ev->type;
	const struct tel_field *f;
	struct timeline_track *track;
	uint64_t v;
	int i;

	for (i = p->duration + 1; i < t->nfields; i++) {
		f = &t->fields[i];
		if (f->datatype != TEL_UNSIGNED || f->width != 64)
			continue;
		track = tel__timeline_track(pr, tl, context, TIMELINE_COUNT,
		    f->name, f->name_length);
		if (track == NULL)
			tl->no_memory = 1;
		if (track == NULL || track->use != TIMELINE_COUNT)
			return;
		v = tel_load(f, ev->data);
		tl->ops->counter(pr, track, time,
		    v > INT64_MAX ? INT64_MAX : (int64_t)v);
	}
}

/* --------------------------------------------------------------- sizes */

/*
 * What an entry of the blocks is to hold for a size; what is too large for it,
 * and one too many, is cut.
 */
static uint32_t
put_size(struct timeline *tl, uint64_t size)
{
	uint64_t *bigger;
	size_t i, room;

	if (size < LARGE)
		return (uint32_t)size;
	for (i = 0; i < tl->nlarge && tl->large[i] != 0; i++)
		;
	if (i == LARGES)
		return LARGE - 1;
	if (i == tl->large_room) {
		room = tl->large_room == 0 ? 16 : tl->large_room * 2;
		bigger = realloc(tl->large, room * sizeof(*bigger));
		if (bigger == NULL) {
			tl->no_memory = 1;
			return LARGE - 1;
		}
		tl->large = bigger;
		tl->large_room = room;
	}
	if (i == tl->nlarge)
		tl->nlarge++;
	tl->large[i] = size;
	return LARGE | (uint32_t)i;
}

/* What an entry of the blocks stands for, which is forgotten. */
static uint64_t
take_size(struct timeline *tl, uint32_t value)
{
	uint64_t size;

	if (value < LARGE)
		return value;
	size = tl->large[value & ~LARGE];
	tl->large[value & ~LARGE] = 0;
	return size;
}

/* -------------------------------------------------------------- gauges */

/* The key of a block, by the number of what it is counted in. */
static uint64_t
block_key(size_t gauge, uint64_t address)
{
	uint64_t key = address ^ gauge * UINT64_C(0x9e3779b97f4a7c15);

	return key == 0 ? 1 : key;
}

/* Makes a gauge with that name, whose number goes into e.  0: no memory. */
static int
make_gauge(struct tel_printer *pr, struct timeline *tl,
    const struct tel_log *log, const char *name, struct tel_entry *e)
{
	struct timeline_track *process = tel__timeline_process(pr, tl, log), *t;
	struct timeline_gauge *bigger;
	size_t room;

	if (tl->ngauges == tl->gauge_room) {
		room = tl->gauge_room == 0 ? 16 : tl->gauge_room * 2;
		bigger = realloc(tl->gauges, room * sizeof(*bigger));
		if (bigger == NULL)
			return 0;
		tl->gauges = bigger;
		tl->gauge_room = room;
	}
	t = process == NULL ? NULL :
	                      tel__timeline_track(pr, tl, process,
	                          TIMELINE_BYTES, name, strlen(name));
	if (t == NULL)
		return 0;
	tl->gauges[tl->ngauges].track = t;
	tl->gauges[tl->ngauges].bytes = 0;
	e->value = (uint32_t)tl->ngauges++;
	return 1;
}

/* What a gauge is of: all of a log, a pool in it, or a type's memory. */
enum space { OF_ALL, OF_POOL, OF_TYPE };

/* The entry with a gauge's number, which is NONE when it is new. */
static struct tel_entry *
find_gauge(struct timeline *tl, const struct tel_log *log, enum space space,
    uint64_t owner)
{
	uint64_t h = timeline_hash(TIMELINE_HASH, &log, sizeof(log));
	struct tel_entry *e;
	int fresh;

	h = timeline_hash(h, &space, sizeof(space));
	h = timeline_hash(h, &owner, sizeof(owner));
	e = tel_table_put(&tl->pools, h == 0 ? 1 : h, &fresh);
	if (e == NULL)
		tl->no_memory = 1;
	else if (fresh)
		e->value = NONE;
	return e;
}

static void
show(struct tel_printer *pr, struct timeline *tl, size_t gauge, uint64_t time)
{
	const struct timeline_gauge *g = &tl->gauges[gauge];

	/* where there were too many tracks it is the log's own */
	if (g->track->use == TIMELINE_BYTES)
		tl->ops->counter(pr, g->track, time, (int64_t)g->bytes);
}

/* More lives, as much as a counter can show. */
static void
add(struct timeline *tl, size_t gauge, uint64_t size)
{
	struct timeline_gauge *g = &tl->gauges[gauge];

	g->bytes += size < INT64_MAX - g->bytes ? size : INT64_MAX - g->bytes;
}

/* Less lives; what was there before the log began is not known. */
static void
subtract(struct timeline *tl, size_t gauge, uint64_t size)
{
	struct timeline_gauge *g = &tl->gauges[gauge];

	g->bytes -= size < g->bytes ? size : g->bytes;
}

/* A block begins to live; one that was there has ended without a word. */
static void
block_begins(struct timeline *tl, size_t gauge, uint64_t address, uint64_t size)
{
	struct tel_entry *e;
	int fresh;

	add(tl, gauge, size);
	if (address == 0 || tl->blocks.count >= TIMELINE_BLOCKS)
		return;
	e = tel_table_put(&tl->blocks, block_key(gauge, address), &fresh);
	if (e == NULL) {
		tl->no_memory = 1;
		return;
	}
	if (!fresh)
		subtract(tl, gauge, take_size(tl, e->value));
	e->value = put_size(tl, size);
}

/*
 * A block ends, or a part of it: size of it when sized.  What is known of one
 * that was freed in part is not its size any more.
 */
static void
block_ends(struct timeline *tl, size_t gauge, uint64_t address, uint64_t size,
    int sized)
{
	struct tel_entry *e =
	    tel_table_find(&tl->blocks, block_key(gauge, address));
	uint64_t had = 0;

	if (e != NULL) {
		had = take_size(tl, e->value);
		tel_table_remove(&tl->blocks, e);
	}
	subtract(tl, gauge, sized ? size : had);
}

/* The number of the gauge with a name; NONE: there is no memory. */
static uint32_t
gauge_of(struct tel_printer *pr, struct timeline *tl, const struct tel_log *log,
    enum space space, const char *name)
{
	uint64_t owner = timeline_hash(TIMELINE_HASH, name, strlen(name));
	struct tel_entry *e = find_gauge(tl, log, space, owner);

	if (e != NULL && e->value == NONE &&
	    !make_gauge(pr, tl, log, name, e)) {
		tel_table_remove(&tl->pools, e);
		tl->no_memory = 1;
		return NONE;
	}
	return e == NULL ? NONE : e->value;
}

/* What tells a pool, or a process that has none, from others. */
static uint64_t
owner_of(const tel_alloc *op)
{
	return op->pool ^ op->process * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * The gauge of the pool, or the process, of an operation; NONE: the log tells
 * none, or there are too many.
 */
static uint32_t
part_gauge(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const tel_alloc *op)
{
	int pool = ev->type->role_field[TEL_PART_POOL];
	struct tel_entry *e;
	char name[TIMELINE_NAME];
	const char *label;
	size_t n = 0;

	if (pool < 0 && ev->type->role_field[TEL_PART_PROCESS] < 0)
		return NONE;
	e = find_gauge(tl, ev->log, OF_POOL, owner_of(op));
	if (e == NULL || e->value != NONE)
		return e == NULL ? NONE : e->value;
	label = pool < 0 ? NULL : tel_event_label(ev, (unsigned)pool, &n);
	if (pool < 0)
		(void)snprintf(name, sizeof(name), "live bytes of process %llu",
		    (unsigned long long)op->process);
	else
		(void)snprintf(name, sizeof(name), "live bytes of %.*s 0x%llx",
		    label == NULL ? 4 : (int)(n < 256 ? n : 256),
		    label == NULL ? "pool" : label,
		    (unsigned long long)op->pool);
	if (tl->ngauges >= TIMELINE_POOLS ||
	    !make_gauge(pr, tl, ev->log, name, e)) {
		tl->no_memory |= tl->ngauges < TIMELINE_POOLS;
		tel_table_remove(&tl->pools, e);
		return NONE;
	}
	tl->processes += pool < 0;
	return e->value;
}

/* A pool ends, with all that lives in it. */
static void
end_pool(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const tel_alloc *op, uint32_t all,
    uint64_t time)
{
	struct tel_entry *e = find_gauge(tl, ev->log, OF_POOL, owner_of(op));
	struct timeline_gauge *g;

	if (e == NULL)
		return;
	if (e->value != NONE && tl->gauges[e->value].bytes > 0) {
		g = &tl->gauges[e->value];
		subtract(tl, all, g->bytes);
		g->bytes = 0;
		show(pr, tl, e->value, time);
		show(pr, tl, all, time);
	}
	tel_table_remove(&tl->pools, e);
}

/* Does an operation to a gauge. */
static void
count(struct timeline *tl, uint32_t gauge, const tel_alloc *op)
{
	uint64_t size = op->size;

	if (op->kind == TEL_ALLOC_CALLOC &&
	    __builtin_mul_overflow(op->size, op->count, &size))
		size = UINT64_MAX;
	if (op->kind == TEL_ALLOC_REALLOC)
		block_ends(tl, gauge, op->old, 0, 0);
	if (op->kind == TEL_ALLOC_FREE)
		block_ends(tl, gauge, op->address, size, op->sized);
	else if (op->address != 0 && size <= BLOCK_MAX)
		block_begins(tl, gauge, op->address, size);
}

int
tel__timeline_allocate(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, uint64_t time)
{
	uint32_t all, pool;
	uint64_t before, after;
	tel_alloc op;

	if (!tel_event_alloc(ev, &op))
		return 0;
	/* what is set aside in a buffer lives or not without a word */
	if (op.failed || op.kind == TEL_ALLOC_RESERVE ||
	    op.kind == TEL_ALLOC_COMMIT)
		return 1;
	if (op.kind > TEL_ALLOC_FREE && op.kind != TEL_ALLOC_POOL_DESTROY)
		return 0;
	all = gauge_of(pr, tl, ev->log, OF_ALL, "live bytes");
	if (all == NONE)
		return 1;
	if (op.kind == TEL_ALLOC_POOL_DESTROY) {
		end_pool(pr, tl, ev, &op, all, time);
		return 0;
	}
	pool = part_gauge(pr, tl, ev, &op);
	if (pool == NONE)
		pool = all;
	before = tl->gauges[pool].bytes;
	count(tl, pool, &op);
	after = tl->gauges[pool].bytes;
	if (pool != all) {
		if (after > before)
			add(tl, all, after - before);
		else
			subtract(tl, all, before - after);
		/* a process that is the only one is all */
		if (tl->processes != 1 ||
		    ev->type->role_field[TEL_PART_POOL] >= 0)
			show(pr, tl, pool, time);
	}
	show(pr, tl, all, time);
	return 1;
}

void
tel__timeline_take(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time)
{
	const struct tel_type *t = ev->type;
	uint64_t key = 0, size = 0;
	uint32_t gauge = gauge_of(pr, tl, ev->log, OF_TYPE, p->counter);
	int sized = p->size >= 0 || (p->base >= 0 && p->limit >= 0);

	if (gauge == NONE)
		return;
	if (p->size >= 0) {
		size = tel_load(&t->fields[p->size], ev->data);
	} else if (sized) {
		size = tel_load(&t->fields[p->limit], ev->data) -
		    tel_load(&t->fields[p->base], ev->data);
		/* one that ends before it begins */
		if (size > INT64_MAX)
			size = 0;
	}
	if (p->key >= 0)
		key = tel_load(&t->fields[p->key], ev->data);
	if (p->memory > 0)
		block_begins(tl, gauge, key, size);
	else
		block_ends(tl, gauge, key, size, sized);
	show(pr, tl, gauge, time);
}
