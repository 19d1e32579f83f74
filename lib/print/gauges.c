/* SPDX-License-Identifier: BSD-2-Clause */
#include "print/gauges.h"

#include <stdio.h>

#include "base/array.h"
#include "query/pools.h"

/* In a table: a new gauge, and one that found no room. */
#define GAUGE_NEW GAUGE_NONE
#define GAUGE_FULL (GAUGE_NONE - 1)

/* What a gauge is of: all of a log, a pool in it, or a type's memory. */
enum space { OF_ALL, OF_POOL, OF_TYPE, OF_TYPE_POOL };

/* The number of a gauge that is not used; GAUGE_FULL; GAUGE_NONE: no memory. */
static uint32_t
free_gauge(struct timeline *tl)
{
	for (size_t i = 0; tl->ended > 0 && i < tl->ngauges; i++) {
		if (tl->gauges[i].ended) {
			tl->ended--;
			return (uint32_t)i;
		}
	}
	if (tl->ngauges >= TIMELINE_POOLS)
		return GAUGE_FULL;
	if (!TEL__RESERVE(tl->gauges, tl->gauge_room, tl->ngauges + 1)) {
		tl->no_memory = 1;
		return GAUGE_NONE;
	}
	return (uint32_t)tl->ngauges++;
}

/*
 * Makes a gauge of memory with that name below a track, whose number goes into
 * e, or GAUGE_FULL if there are too many, or no memory.
 */
static void
make_gauge(struct tel_printer *pr, struct timeline *tl,
    struct timeline_track *parent, enum timeline_memory memory,
    const char *name, size_t owner_at, struct tel__entry *e)
{
	struct timeline_track *t = parent == NULL ?
	    NULL :
	    tel__timeline_track(pr, tl, parent, TIMELINE_BYTES, name,
	        strlen(name));
	const uint32_t gauge = t == NULL ? GAUGE_NONE : free_gauge(tl);

	e->value = gauge == GAUGE_NONE ? GAUGE_FULL : gauge;
	tl->no_memory |= gauge == GAUGE_NONE;
	/* another one may have had the number */
	if (gauge != GAUGE_NONE && tl->shown != 0)
		tl->ops->flush_bucket(pr);
	if (gauge < GAUGE_FULL && t->use == TIMELINE_BYTES) {
		t->memory = memory;
		t->owner_at = owner_at;
	}
	if (gauge < GAUGE_FULL)
		tl->gauges[gauge] = (struct timeline_gauge){ .track = t };
}

/* Adds the label of a field to a name, if it has one; its length. */
static size_t
add_label(char *name, size_t size, const struct tel_event *ev, int field)
{
	size_t n;
	const char *label = tel_event_label(ev, (unsigned)field, &n);

	return label == NULL ? 0 :
	                       (size_t)snprintf(name, size, " %.*s",
	                           (int)(n < 256 ? n : 256), label);
}

/* The track of the arena that an event names; NULL: no memory. */
static struct timeline_track *
arena_track(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p)
{
	struct timeline_track *t = tel__timeline_process(pr, tl, ev->log);
	char name[TIMELINE_NAME];
	size_t n = (size_t)snprintf(name, sizeof(name), "arena 0x%llx",
	    (unsigned long long)tel_event_u64(ev, (unsigned)p->arena));

	n += add_label(name + n, sizeof(name) - n, ev, p->arena);
	return t == NULL ?
	    NULL :
	    tel__timeline_track(pr, tl, t, TIMELINE_KIND, name, n);
}

/* What a gauge of an event belongs to: its arena, or the log; NULL: no memory. */
static struct timeline_track *
gauge_parent(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t pool)
{
	if (tl->ops->heat != NULL && p->arena >= 0)
		return arena_track(pr, tl, ev, p);
	const struct tel__entry *e = tel__table_find(&tl->arenas, pool);
	return e != NULL ? tl->tracks[e->value - 1] :
	                   tel__timeline_process(pr, tl, ev->log);
}

static uint64_t
gauge_key(const struct tel_log *log, enum space space, uint64_t owner)
{
	uint64_t h = tel__hash((uint64_t)(uintptr_t)log, TEL__FNV);

	return tel__hash(owner, tel__hash((uint64_t)space, h));
}

/* The key of a pool among those that have an arena. */
static uint64_t
pool_key(const struct tel_log *log, uint64_t owner)
{
	return gauge_key(log, OF_POOL, owner);
}

/* The entry with a gauge's number, which is GAUGE_NEW when it is that. */
static struct tel__entry *
find_gauge(struct timeline *tl, const struct tel_log *log, enum space space,
    uint64_t owner)
{
	struct tel__entry *e;
	int fresh;

	e = tel__table_put(&tl->pools, gauge_key(log, space, owner), &fresh);
	if (e == NULL)
		tl->no_memory = 1;
	else if (fresh)
		e->value = GAUGE_NEW;
	return e;
}

/* The number of the gauge in an entry. */
static uint32_t
gauge_number(const struct tel__entry *e)
{
	return e->value == GAUGE_FULL ? GAUGE_NONE : (uint32_t)e->value;
}

uint32_t
tel__gauge_log(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev)
{
	struct tel__entry *e = find_gauge(tl, ev->log, OF_ALL, 0);

	if (e == NULL)
		return GAUGE_NONE;
	if (e->value == GAUGE_NEW)
		make_gauge(pr, tl, tel__timeline_process(pr, tl, ev->log),
		    TIMELINE_LIVE, "live bytes", 0, e);
	return gauge_number(e);
}

uint32_t
tel__gauge_type(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p)
{
	uint64_t owner = tel__fnv(TEL__FNV, p->counter, strlen(p->counter));

	if (tl->ops->heat != NULL && p->arena >= 0)
		owner ^= tel_event_u64(ev, (unsigned)p->arena);
	struct tel__entry *e = find_gauge(tl, ev->log, OF_TYPE, owner);
	if (e == NULL)
		return GAUGE_NONE;
	if (e->value == GAUGE_NEW)
		make_gauge(pr, tl, gauge_parent(pr, tl, ev, p, 0),
		    p->maps         ? TIMELINE_MAPPED :
		        p->pool < 0 ? TIMELINE_NO_MEMORY :
		                      TIMELINE_HELD,
		    p->counter, 0, e);
	return gauge_number(e);
}

/* Makes the gauge of the pool, or the process, of an operation. */
static void
make_part(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    const tel_alloc *op, struct tel__entry *e)
{
	const int pool = ev->type->role_field[TEL_PART_POOL];
	char name[TIMELINE_NAME];
	const char *label;
	size_t n = 0;

	label = pool < 0 ? NULL : tel_event_label(ev, (unsigned)pool, &n);
	if (pool < 0)
		(void)snprintf(name, sizeof(name), "live bytes of process %llu",
		    (unsigned long long)op->process);
	else
		(void)snprintf(name, sizeof(name), "live bytes of %.*s 0x%llx",
		    label == NULL ? 4 : (int)(n < 256 ? n : 256),
		    label == NULL ? "pool" : label,
		    (unsigned long long)op->pool);
	make_gauge(pr, tl,
	    gauge_parent(pr, tl, ev, p, pool_key(ev->log, gauge_owner(op))),
	    TIMELINE_LIVE, name, sizeof("live bytes of ") - 1, e);
}

uint32_t
tel__gauge_part(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    const tel_alloc *op)
{
	const uint64_t owner = gauge_owner(op);
	struct timeline_recent *r = gauge_recent(tl, owner);

	if (ev->type->role_field[TEL_PART_POOL] < 0 &&
	    ev->type->role_field[TEL_PART_PROCESS] < 0)
		return GAUGE_NONE;
	if (r->log == ev->log && r->owner == owner)
		return r->gauge;
	struct tel__entry *e = find_gauge(tl, ev->log, OF_POOL, owner);
	if (e == NULL)
		return GAUGE_NONE;
	if (e->value == GAUGE_NEW)
		make_part(pr, tl, ev, p, op, e);
	*r = (struct timeline_recent){ ev->log, owner, gauge_number(e) };
	return r->gauge;
}

uint32_t
tel__gauge_type_pool(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t pool)
{
	const uint64_t key =
	    tel__fnv(TEL__FNV, p->counter, strlen(p->counter)) ^ pool;
	struct tel__entry *e = find_gauge(tl, ev->log, OF_TYPE_POOL, key);
	const struct tel__entry *class;
	char name[TIMELINE_NAME];

	if (e == NULL)
		return GAUGE_NONE;
	if (e->value != GAUGE_NEW)
		return gauge_number(e);
	class = tel__table_find(&tl->classes, pool_key(ev->log, pool));
	/* a name of a type may be longer than this one, and a label follows */
	size_t n = (size_t)snprintf(name, sizeof(name), "%s of %.128s",
	    p->counter,
	    class == NULL ? "pool" : (const char *)(uintptr_t) class->value);
	n += add_label(name + n, sizeof(name) - n, ev, p->pool);
	(void)snprintf(name + n, sizeof(name) - n, " 0x%llx",
	    (unsigned long long)pool);
	make_gauge(pr, tl, gauge_parent(pr, tl, ev, p, 0), TIMELINE_HELD, name,
	    strlen(p->counter) + 4, e);
	return gauge_number(e);
}

/* The type of the event may be called after the class of the pool: MVFF. */
static void
name_pool(struct timeline *tl, const struct tel_event *ev, const tel_alloc *op)
{
	const char *name = tel__pools_suffix(ev->type);
	struct tel__entry *e;
	int fresh;

	if (name == NULL || tl->ops->heat == NULL ||
	    tl->classes.count >= TIMELINE_TRACKS)
		return;
	e = tel__table_put(&tl->classes, pool_key(ev->log, gauge_owner(op)),
	    &fresh);
	if (e == NULL)
		tl->no_memory = 1;
	else
		e->value = (uint64_t)(uintptr_t)name;
}

void
tel__gauge_start_pool(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    const tel_alloc *op)
{
	const uint64_t owner = gauge_owner(op);
	int fresh;

	name_pool(tl, ev, op);
	if (op->kind != TEL_ALLOC_POOL_CREATE || tl->ops->heat == NULL ||
	    p->arena < 0 || tl->arenas.count >= TIMELINE_TRACKS)
		return;
	struct timeline_track *t = arena_track(pr, tl, ev, p);
	struct tel__entry *e = t == NULL ?
	    NULL :
	    tel__table_put(&tl->arenas, pool_key(ev->log, owner), &fresh);
	if (e == NULL)
		tl->no_memory = 1;
	else
		e->value = t->id;
}

struct timeline_gauge *
tel__gauge_end_pool(struct timeline *tl, const struct tel_event *ev,
    const tel_alloc *op)
{
	const uint64_t owner = gauge_owner(op), key = pool_key(ev->log, owner);
	struct tel__entry *e = tel__table_find(&tl->arenas, key);
	struct timeline_gauge *g = NULL;

	if (e != NULL)
		tel__table_remove(&tl->arenas, e);
	gauge_recent(tl, owner)->log = NULL;
	e = tel__table_find(&tl->pools, key);
	if (e != NULL && e->value < TIMELINE_POOLS)
		g = &tl->gauges[e->value];
	if (e != NULL)
		tel__table_remove(&tl->pools, e);
	return g;
}

void
tel__gauge_hold_first(struct timeline *tl, struct timeline_gauge *g)
{
	g->low = g->high = g->bytes;
	g->next = tl->shown;
	tl->shown = (uint32_t)(g - tl->gauges) + 1;
}

void
tel__gauge_show(struct tel_printer *pr, struct timeline *tl, size_t gauge,
    uint64_t time)
{
	struct timeline_gauge *g = &tl->gauges[gauge];

	if (tl->ops->values != NULL)
		gauge_hold(tl, g);
	else if (g->track->use == TIMELINE_BYTES)
		tl->ops->counter(pr, g->track, time, (int64_t)g->bytes);
}

static void
strip_settle(struct tel_printer *pr, struct timeline *tl,
    struct timeline_strip *s)
{
	for (; s->rows != 0; s->rows &= s->rows - 1) {
		unsigned row = (unsigned)__builtin_ctzll(s->rows);

		tl->ops->heat(pr, s->track, tl->bucket,
		    row == 0 ? 0 : (int64_t)1 << (row - 1), s->row[row]);
		s->row[row] = 0;
	}
}

void
tel__timeline_settle(struct tel_printer *pr, struct timeline *tl)
{
	struct timeline_gauge *g;

	for (; tl->shown != 0; tl->shown = g->next) {
		g = &tl->gauges[tl->shown - 1];
		/* where there were too many tracks it is the log's */
		if (g->track->use == TIMELINE_BYTES)
			tl->ops->values(pr, g->track, tl->bucket, g->shown,
			    (int64_t)g->low, (int64_t)g->high,
			    (int64_t)g->bytes);
		g->shown = 0;
	}
	strip_settle(pr, tl, &tl->sizes);
	strip_settle(pr, tl, &tl->lifetimes);
}
