/* SPDX-License-Identifier: BSD-2-Clause */
/* Timeline: what becomes of an event: ranges of time, instants, counts. */
#include <stdio.h>
#include <stdlib.h>

#include "model/event.h"
#include "model/schema.h"
#include "model/pair.h"
#include "print/timeline.h"

struct timeline *
tel__timeline_new(const struct timeline_ops *ops)
{
	struct timeline *tl = calloc(1, sizeof(*tl));

	if (tl == NULL)
		return NULL;
	tl->ops = ops;
	tl->most = TIMELINE_TRACKS;
	tl->counters = ops->counter != NULL;
	tel__table_init(&tl->by_name);
	tel__table_init(&tl->open);
	tel__timeline_count_init(tl);
	tel__table_init(&tl->pools);
	tel__table_init(&tl->arenas);
	tel__table_init(&tl->classes);
	tel__table_init(&tl->flows);
	return tl;
}

void
tel__timeline_free(struct timeline *tl)
{
	if (tl == NULL)
		return;
	for (size_t i = 0; i < tl->ntracks; i++) {
		free(tl->tracks[i]->name);
		free(tl->tracks[i]);
	}
	free(tl->tracks);
	tel__table_clear(&tl->by_name);
	tel__table_clear(&tl->open);
	tel__timeline_count_clear(tl);
	tel__timeline_resources_free(tl);
	free(tl->gauges);
	tel__timeline_plans_free(tl);
	free(tl);
}

void
tel__timeline_begin(struct timeline *tl)
{
	tl->begun = 0;
	/*
	 * schemas and logs may have been freed, and others be at their
	 * addresses
	 */
	tel__timeline_plans_free(tl);
	tel__table_clear(&tl->by_name);
	tel__table_init(&tl->by_name);
	tel__table_clear(&tl->open);
	tel__timeline_count_clear(tl);
	tel__timeline_resources_free(tl);
}

tel_status
tel__timeline_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct timeline_ops *ops = pr->renderer->dialect;
	struct timeline **tl = pr->state;

	(void)ev;
	if (tl == NULL) {
		tl = pr->state = calloc(1, ops->state_size);
		if (tl != NULL)
			*tl = tel__timeline_new(ops);
		return tl != NULL && *tl != NULL ? TEL_OK : TEL_ENOMEM;
	}
	if (!pr->continues)
		tel__timeline_begin(*tl);
	return TEL_OK;
}

/* The clock of an event is not as it was, or is past what was known of it. */
static void
timeline_find_part(struct timeline *tl, struct tel_clock *c, uint64_t clock)
{
	const uint64_t version = tel__clock_version(c);

	tl->parts = tel__clock_part(c, clock, &tl->part);
	if (tl->clock == c && tl->version == version)
		return;
	tl->clock = c;
	tl->version = version;
	tl->start = tel__clock_ns(c, tl->base);
	tl->ticks = tel__clock_rate(c) <= 0;
}

/*
 * Nanoseconds since the first event, of a clock of the log of ev; ticks where
 * the rate is not known.
 */
static uint64_t
timeline_time_of(struct timeline *tl, const struct tel_event *ev,
    uint64_t clock)
{
	struct tel_clock *c = ev->log->clock;
	int64_t ns;

	/* events without a time are at the start of the log */
	if (tel_event_timeless(ev))
		return 0;
	if (!tl->begun) {
		tl->begun = 1;
		tl->base = ev->clock;
		tl->last = 0;
		tl->clock = NULL;
	}
	if (tl->clock != c || tl->version != tel__clock_version(c) ||
	    (tl->parts && (clock < tl->part.low || clock > tl->part.high)))
		timeline_find_part(tl, c, clock);
	/* the clock of an event may be anything, and its time far away */
	if (tl->ticks)
		ns = (int64_t)(clock - tl->base);
	else if (__builtin_sub_overflow(tl->parts ?
	                 tel__clock_part_ns(&tl->part, clock) :
	                 tel__clock_ns(c, clock),
	             tl->start, &ns))
		ns = clock > tl->base ? INT64_MAX : 0;
	/* events that arrive out of order */
	return ns < 0 ? 0 : (uint64_t)ns;
}

/* ------------------------------------------------------------- ranges */

/* The key of a range among those that are open. */
static uint64_t
range_key(const struct tel_event *ev, int start)
{
	uint64_t h = tel__hash((uint64_t)(uintptr_t)ev->log, TEL__FNV);
	int known;

	h = tel__hash((uint64_t)start, h);
	return tel__hash(tel__pair_key(ev, &known), h);
}

/* A label to name a range by; NULL: it has none. */
static const char *
label_of(const struct tel_event *ev, struct timeline_plan *p, size_t *n)
{
	const struct tel_type *t = ev->type;
	const char *label = NULL;

	/* those of the thread and its process are in the name of its track */
	for (unsigned i = 0; label == NULL && i < TEL_ROLE_PARTS; i++) {
		int at = t->role_field[i];

		if (at >= 0 && at != p->thread &&
		    t->fields[at].space != TEL_SPACE_PROCESS)
			label = tel_event_label(ev, (unsigned)at, n);
	}
	return label;
}

/*
 * The name of a range or an instant, n bytes, in buffer (TIMELINE_NAME bytes)
 * where it is made: that of its type, and a string or a label of the event.
 */
static const char *
range_name(const struct tel_event *ev, struct timeline_plan *p, char *buffer,
    size_t *length)
{
	const char *more = NULL;
	size_t n = 0;

	if (p->string >= 0)
		more = tel_event_string(ev, (unsigned)p->string, &n);
	if (more == NULL && p->is == PLAN_START)
		more = label_of(ev, p, &n);
	if (more == NULL || n == 0) {
		*length = p->length;
		return p->name;
	}
	/* an event whose first field is a string is named by that */
	if (p->is == PLAN_INSTANT || p->alone) {
		*length = n < TIMELINE_NAME ? n : TIMELINE_NAME;
		return more;
	}
	*length = (size_t)snprintf(buffer, TIMELINE_NAME, "%.*s %.*s",
	    (int)(p->length < 128 ? p->length : 128), p->name,
	    (int)(n < 256 ? n : 256), more);
	return buffer;
}

/* The lane behind number i, from 1; NULL: there are too many, or no memory. */
static struct timeline_track *
next_lane(struct tel_printer *pr, struct timeline *tl, struct timeline_track *t,
    unsigned i)
{
	if (t->lane != NULL)
		return t->lane;
	if (i >= TIMELINE_LANES || tl->ntracks >= tl->most)
		return NULL;
	t->lane = tel__timeline_make_track(pr, tl, t->parent, t->use, t->name,
	    t->length < TIMELINE_NAME ? t->length : TIMELINE_NAME);
	tl->no_memory |= t->lane == NULL;
	return t->lane;
}

/* A lane that is free from a time on. */
static struct timeline_track *
free_lane(struct tel_printer *pr, struct timeline *tl, struct timeline_track *t,
    uint64_t time)
{
	for (unsigned i = 1; t != NULL && (t->depth > 0 || t->busy > time); i++)
		t = next_lane(pr, tl, t, i);
	return t;
}

/*
 * A lane for a range of a stack: if all have open ranges, the oldest one is
 * forgotten.  Ranges that have lost their ends would take all lanes, and no
 * other would be a range; without threads, 256 at once are not expected.
 */
static struct timeline_track *
stack_lane(struct timeline *tl, struct timeline_track *t)
{
	struct timeline_track *oldest = t;

	for (; t != NULL; t = t->lane)
		if (t->since < oldest->since)
			oldest = t;
	struct tel__entry *e = tel__table_find(&tl->open, oldest->key);
	if (e != NULL && e->value == oldest->id)
		tel__table_remove(&tl->open, e);
	oldest->depth = 0;
	return oldest;
}

static void
start_range(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time)
{
	uint64_t key = range_key(ev, (int)ev->type->index);
	struct timeline_track *context, *t = NULL, *first;
	char buffer[TIMELINE_NAME];
	size_t n;
	int fresh;
	const char *name = range_name(ev, p, buffer, &n);

	context = tel__timeline_context(pr, tl, ev, p);
	struct tel__entry *e = tel__table_put(&tl->open, key, &fresh);
	if (context == NULL || e == NULL) {
		tl->no_memory = 1;
		return;
	}
	if (!fresh) {
		t = tl->tracks[e->value - 1];
	} else {
		first = tel__timeline_track(pr, tl, context, TIMELINE_RANGES,
		    p->alone ? name : p->name, p->alone ? n : p->length);
		if (first != NULL)
			t = free_lane(pr, tl, first, time);
		if (first != NULL && t == NULL && tl->ops->instant == NULL &&
		    context->use != TIMELINE_THREAD) {
			t = stack_lane(tl, first);
			e = tel__table_find(&tl->open, key);
		}
		if (t == NULL) {
			/* too many at once: it is a point of time */
			tel__table_remove(&tl->open, e);
			if (tl->ops->instant != NULL)
				tl->ops->instant(pr, context, time, name, n,
				    ev);
			return;
		}
		e->value = t->id;
	}
	t->depth++;
	t->key = key;
	t->since = ++tl->starts;
	tl->ops->begin(pr, t, time, name, n, ev);
}

/* The range that an event is an end or a middle of; NULL: none is open. */
static struct tel__entry *
find_range(struct timeline *tl, const struct tel_event *ev,
    struct timeline_plan *p)
{
	const struct tel_schema *s = ev->type->schema;
	struct tel__entry *e = NULL;

	for (int i = p->start; i >= 0 && e == NULL;
	     i = tel__timeline_plan(tl, s, &s->types[i])->other)
		e = tel__table_find(&tl->open, range_key(ev, i));
	return e;
}

static void
finish_range(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time)
{
	struct tel__entry *e = find_range(tl, ev, p);

	if (e == NULL)
		return;
	struct timeline_track *t = tl->tracks[e->value - 1];
	tl->ops->end(pr, t, time);
	if (--t->depth == 0)
		tel__table_remove(&tl->open, e);
}

/* A point of time: of its range, where it is in the middle of one. */
static void
put_instant(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time)
{
	struct tel__entry *range =
	    ev->type->role == TEL_ROLE_MIDDLE ? find_range(tl, ev, p) : NULL;
	struct timeline_track *t = range != NULL ?
	    tl->tracks[range->value - 1] :
	    tel__timeline_context(pr, tl, ev, p);
	struct timeline_track *process;
	char buffer[TIMELINE_NAME];
	size_t n;
	const char *name = range_name(ev, p, buffer, &n);

	process = p->sender != 0 ? tel__timeline_process(pr, tl, ev->log) : t;
	if (t == NULL || process == NULL) {
		tl->no_memory = 1;
		return;
	}
	if (p->sender != 0)
		tel__timeline_find_flow(tl, ev, p, process);
	tl->ops->instant(pr, t, time, name, n, ev);
	tl->flow = 0;
}

/*
 * The track of a thread, which may run on several processors, and in several
 * logs; NULL: no memory.
 */
static struct timeline_track *
span_track(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, const char *label,
    size_t nlabel)
{
	const uint64_t id = tel_event_u64(ev, (unsigned)p->thread);
	struct timeline_track *t = p->span;
	char name[TIMELINE_NAME];

	if (t != NULL && p->span_id == id && p->span_label == label &&
	    timeline_is_named(t->parent, label, nlabel))
		return t;
	t = tel__timeline_track(pr, tl, NULL, TIMELINE_PROCESS, "threads", 7);
	if (t != NULL)
		t = tel__timeline_track(pr, tl, t, TIMELINE_THREAD, name,
		    tel__timeline_name(name, "thread", id, label, nlabel));
	if (t != NULL)
		t = tel__timeline_track(pr, tl, t, TIMELINE_RANGES, p->name,
		    p->length);
	/* where there are too many tracks, it is that of all threads */
	p->span = t != NULL && t->parent != NULL ? t : NULL;
	p->span_id = id;
	p->span_label = label;
	return t;
}

/* A range that a thread ran on a processor, on the track of the thread. */
static void
put_thread_span(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time,
    uint64_t length, const char *label, size_t nlabel)
{
	struct timeline_track *t = span_track(pr, tl, ev, p, label, nlabel);
	char name[TIMELINE_NAME];
	size_t n = 0;

	if (t != NULL)
		t = free_lane(pr, tl, t, time);
	if (t == NULL)
		return;
	t->busy = time + length;
	if (!tl->unnamed)
		n = tel__timeline_name(name, "cpu",
		    tel_event_u64(ev, (unsigned)p->cpu), NULL, 0);
	tl->ops->span(pr, t, time, length, name, n, ev, p->method);
}

static void
put_span(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time)
{
	int64_t ticks = (int64_t)tel_event_u64(ev, (unsigned)p->duration);
	struct timeline_track *context = tel__timeline_context(pr, tl, ev, p),
	                      *t = NULL;
	const char *name = NULL, *label = NULL;
	char buffer[TIMELINE_NAME];
	uint64_t length = 0;
	size_t n = 0, nlabel = 0;

	if (context != NULL)
		t = tel__timeline_track(pr, tl, context, TIMELINE_RANGES,
		    p->name, p->length);
	if (t == NULL)
		return;
	if (p->thread >= 0)
		name = label = tel_event_label(ev, (unsigned)p->thread, &n);
	if (n > TIMELINE_NAME)
		n = TIMELINE_NAME;
	nlabel = n;
	if (name == NULL && p->thread >= 0 && !tl->unnamed) {
		n = tel__timeline_name(buffer, "thread",
		    tel_event_u64(ev, (unsigned)p->thread), NULL, 0);
		name = buffer;
	}
	if (name == NULL && !tl->unnamed)
		name = range_name(ev, p, buffer, &n);
	if (n > TIMELINE_NAME)
		n = TIMELINE_NAME;
	/* a range that ends before its start has no length */
	if (ticks > 0)
		length = timeline_time_of(tl, ev, ev->clock + (uint64_t)ticks);
	length = length > time ? length - time : 0;
	t = free_lane(pr, tl, t, time);
	if (t == NULL)
		return;
	t->busy = time + length;
	tl->ops->span(pr, t, time, length, name, n, ev, p->method);
	if (!tl->counters)
		return;
	tel__timeline_count_fields(pr, tl, ev, p, context, time);
	if (p->cpu >= 0 && p->thread >= 0)
		put_thread_span(pr, tl, ev, p, time, length, label, nlabel);
}

/*
 * A call: it has a lane for its depth, and starts where the one before it there
 * ended if its time is that of the same microsecond.
 */
static void
put_call(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p)
{
	struct timeline_track *t = tel__timeline_context(pr, tl, ev, p);
	const uint64_t depth = tel_event_u64(ev, (unsigned)p->depth);
	const uint64_t ticks = tel_event_u64(ev, (unsigned)p->duration);
	const uint64_t clock = tel_event_u64(ev, (unsigned)p->start);
	uint64_t time = timeline_time_of(tl, ev, clock), length = 0;
	char name[TIMELINE_NAME];
	size_t n = 0;

	if (ticks <= INT64_MAX)
		length = timeline_time_of(tl, ev, clock + ticks);
	length = length > time ? length - time : 0;
	if (t != NULL)
		t = tel__timeline_track(pr, tl, t, TIMELINE_RANGES, "calls", 5);
	for (unsigned i = 1; t != NULL && i <= depth; i++)
		t = next_lane(pr, tl, t, i);
	if (t != NULL && t->busy > time && t->busy - time < 1000)
		time = t->busy;
	if (t != NULL)
		t = free_lane(pr, tl, t, time);
	if (t == NULL)
		return;
	t->busy = time + length;
	if (!tl->unnamed) {
		const char *func =
		    tel_event_string(ev, (unsigned)p->string, &n);

		n = n < TIMELINE_NAME ? n : TIMELINE_NAME;
		memcpy(name, func, n);
	}
	tl->ops->span(pr, t, time, length, name, n, ev, -1);
}

/* ------------------------------------------------------------- events */

tel_status
tel__timeline_event(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev)
{
	struct timeline_plan *p;
	uint64_t time = timeline_time_of(tl, ev, ev->clock);

	p = tel__timeline_plan(tl, ev->type->schema, ev->type);
	if (p == NULL)
		return TEL_ENOMEM;
	tl->no_memory = 0;
	tl->now = time;
	if (time > tl->last)
		tl->last = time;
	timeline_enter(pr, tl, time);
	if (tl->counters && tel_type_is_alloc(ev->type) &&
	    (timeline_is_held(tl, ev->type) ||
	        tel__timeline_allocate(pr, tl, ev, p, time)))
		return tl->no_memory ? TEL_ENOMEM : TEL_OK;
	if (tl->counters && p->memory != 0)
		tel__timeline_take(pr, tl, ev, p, time);
	if (p->resource != RESOURCE_NONE && tl->ops->heat != NULL) {
		tel__timeline_resource(pr, tl, ev, p, time);
		if (p->resource == RESOURCE_SWITCH)
			return tl->no_memory ? TEL_ENOMEM : pr->out->status;
	}
	if (tl->counters && tel_type_is_gauge(ev->type))
		tel__timeline_count_fields(pr, tl, ev, p,
		    tel__timeline_context(pr, tl, ev, p), time);
	switch (p->is) {
	case PLAN_START: start_range(pr, tl, ev, p, time); break;
	case PLAN_FINISH: finish_range(pr, tl, ev, p, time); break;
	case PLAN_SPAN: put_span(pr, tl, ev, p, time); break;
	case PLAN_CALL: put_call(pr, tl, ev, p); break;
	case PLAN_NONE: break;
	case PLAN_INSTANT:
		if (tl->ops->instant != NULL)
			put_instant(pr, tl, ev, p, time);
		break;
	}
	return tl->no_memory ? TEL_ENOMEM : pr->out->status;
}

/* ---------------------------------------------------------------- sums */

size_t
tel__timeline_times(struct timeline *tl, const struct tel_log *log,
    const uint64_t *clocks, size_t n, uint64_t *times)
{
	struct tel_clock *c = log->clock;
	int64_t ns;
	size_t i;

	if (!tl->begun)
		return 0;
	if (tl->clock != c || tl->version != tel__clock_version(c) ||
	    (tl->parts &&
	        (clocks[0] < tl->part.low || clocks[0] > tl->part.high)))
		timeline_find_part(tl, c, clocks[0]);
	if (!tl->ticks && tl->parts)
		return tel__clock_part_times(&tl->part, tl->start, clocks, n,
		    times);
	for (i = 0; i < n; i++) {
		if (tl->ticks)
			ns = (int64_t)(clocks[i] - tl->base);
		else if (__builtin_sub_overflow(tel__clock_ns(c, clocks[i]),
		             tl->start, &ns))
			break;
		times[i] = ns < 0 ? 0 : (uint64_t)ns;
	}
	return i;
}

size_t
tel__timeline_span(struct timeline *tl, const struct tel_log *log,
    const uint64_t *clocks, size_t n, uint64_t *span)
{
	uint64_t ends[2] = { UINT64_MAX, 0 }, limit = UINT64_MAX;
	size_t i;

	if (tel__timeline_times(tl, log, clocks, 1, span) == 0)
		return 0;
	/* points of synchronisation may say anything of the time behind it */
	if (!tl->ticks && tl->parts)
		limit = tl->part.high;
	for (i = 0; i < n && clocks[i] <= limit; i++) {
		ends[0] = clocks[i] < ends[0] ? clocks[i] : ends[0];
		ends[1] = clocks[i] > ends[1] ? clocks[i] : ends[1];
	}
	/* where clocks wrap, times are not in their order */
	if (ends[1] - ends[0] > INT64_MAX / 2 ||
	    tel__timeline_times(tl, log, ends, 2, span) != 2 ||
	    span[0] > span[1])
		return 0;
	return i;
}

void
tel__timeline_count(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, unsigned does,
    uint64_t time)
{
	tl->now = time;
	if (time > tl->last)
		tl->last = time;
	timeline_enter(pr, tl, time);
	if ((does & TIMELINE_ALLOCATES) != 0)
		(void)tel__timeline_allocate(pr, tl, ev, p, time);
	if ((does & TIMELINE_TAKES) != 0)
		tel__timeline_take(pr, tl, ev, p, time);
}

tel_status
tel__timeline_print(struct tel_printer *pr, const struct tel_event *ev)
{
	struct timeline **tl = pr->state;

	return tel__timeline_event(pr, *tl, ev);
}
