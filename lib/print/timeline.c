/* SPDX-License-Identifier: BSD-2-Clause */
/* Timeline: on which track an event belongs, and when. */
#include "print/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/schema.h"

struct timeline *
timeline_new(const struct timeline_ops *ops)
{
	struct timeline *tl = calloc(1, sizeof(*tl));

	if (tl == NULL)
		return NULL;
	tl->ops = ops;
	tl->counters = ops->counter != NULL;
	tel_table_init(&tl->by_name);
	tel_table_init(&tl->open);
	tel_table_init(&tl->blocks);
	return tl;
}

void
timeline_free(struct timeline *tl)
{
	size_t i;

	if (tl == NULL)
		return;
	for (i = 0; i < tl->ntracks; i++) {
		free(tl->tracks[i]->name);
		free(tl->tracks[i]);
	}
	free(tl->tracks);
	tel_table_close(&tl->by_name);
	tel_table_close(&tl->open);
	tel_table_close(&tl->blocks);
	timeline_plans_free(tl);
	free(tl);
}

void
timeline_begin(struct timeline *tl)
{
	tl->begun = 0;
	/* schemas and logs of before may be gone, and others be there */
	timeline_plans_free(tl);
	tel_table_close(&tl->by_name);
	tel_table_init(&tl->by_name);
	tel_table_close(&tl->open);
	tel_table_init(&tl->open);
	tel_table_close(&tl->blocks);
	tel_table_init(&tl->blocks);
	tl->live = 0;
}

/* ------------------------------------------------------------- tracks */

static struct timeline_track *
make_track(struct tel_printer *pr, struct timeline *tl,
    struct timeline_track *parent, enum timeline_use use, const char *name,
    size_t n)
{
	struct timeline_track **tracks, *t;
	size_t room;

	if (tl->ntracks == tl->room) {
		room = tl->room == 0 ? 32 : tl->room * 2;
		tracks =
		    realloc(tl->tracks, room * sizeof(struct timeline_track *));
		if (tracks == NULL)
			return NULL;
		tl->tracks = tracks;
		tl->room = room;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL || (t->name = malloc(n + 1)) == NULL) {
		free(t);
		return NULL;
	}
	memcpy(t->name, name, n);
	t->name[n] = '\0';
	t->length = n;
	t->parent = parent;
	t->use = use;
	tl->tracks[tl->ntracks++] = t;
	t->id = (uint32_t)tl->ntracks;
	tl->ops->track(pr, t);
	return t;
}

/* The top of what a track belongs to. */
static struct timeline_track *
process_of(struct timeline_track *t)
{
	while (t->parent != NULL)
		t = t->parent;
	return t;
}

struct timeline_track *
timeline_track(struct tel_printer *pr, struct timeline *tl,
    struct timeline_track *parent, enum timeline_use use, const char *name,
    size_t n)
{
	uint64_t h = timeline_hash(TIMELINE_HASH, name, n);
	uint32_t above = parent == NULL ? 0 : parent->id;
	struct timeline_track *t;
	struct tel_entry *e;
	int fresh;

	h = timeline_hash(h, &above, sizeof(above));
	h = timeline_hash(h, &use, sizeof(use));
	e = tel_table_put(&tl->by_name, h == 0 ? 1 : h, &fresh);
	if (e == NULL)
		return NULL;
	if (!fresh)
		return tl->tracks[e->value - 1];
	if (tl->ntracks >= TIMELINE_TRACKS && parent != NULL)
		t = process_of(parent);
	else
		t = make_track(pr, tl, parent, use, name, n);
	if (t == NULL)
		tel_table_remove(&tl->by_name, e);
	else
		e->value = t->id;
	return t;
}

/* The label of a field; *n: its length.  NULL: it has none. */
static const char *
label_of(const struct tel_event *ev, int field, size_t *n)
{
	return tel_event_label(ev, (unsigned)field, n);
}

/* The track of the thread, the processor or the kind of an event. */
static struct timeline_track *
context_of(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p)
{
	const struct tel_log *log = ev->log;
	int cpu = p->cpu >= 0 && (p->thread < 0 || p->is == PLAN_SPAN);
	struct timeline_track *process;
	char name[TIMELINE_NAME];
	const char *label = NULL;
	size_t length = 0;
	uint64_t id;
	int n;

	process = timeline_track(pr, tl, NULL, TIMELINE_PROCESS, log->name,
	    strlen(log->name));
	if (process == NULL)
		return NULL;
	if (!cpu && p->thread < 0)
		return timeline_track(pr, tl, process, TIMELINE_KIND,
		    ev->type->kind, strlen(ev->type->kind));
	id = tel_event_u64(ev, (unsigned)(cpu ? p->cpu : p->thread));
	n = snprintf(name, sizeof(name), "%s %lld", cpu ? "cpu" : "thread",
	    (long long)id);
	if (!cpu)
		label = label_of(ev, p->thread, &length);
	if (label != NULL && length < sizeof(name) - 32)
		n += snprintf(name + n, sizeof(name) - (size_t)n, " %.*s",
		    (int)length, label);
	return timeline_track(pr, tl, process, TIMELINE_THREAD, name,
	    (size_t)n);
}

/* --------------------------------------------------------------- time */

/* Nanoseconds since the first event; ticks where the rate is not known. */
static uint64_t
time_of(struct timeline *tl, const struct tel_event *ev, uint64_t clock)
{
	struct tel_clock *c = ev->log->clock;
	int64_t ns;

	if (!tl->begun) {
		tl->begun = 1;
		tl->base = ev->clock;
		tl->last = 0;
	}
	if (tel_clock_rate(c) > 0)
		ns = tel_clock_ns(c, clock) - tel_clock_ns(c, tl->base);
	else
		ns = (int64_t)(clock - tl->base);
	/* what comes too late for its place */
	return ns < 0 ? 0 : (uint64_t)ns;
}

/* ------------------------------------------------------------- ranges */

/* What tells a range from others that are open. */
static uint64_t
range_key(const struct tel_event *ev, int start)
{
	const struct tel_type *t = ev->type;
	uint64_t h = timeline_hash(TIMELINE_HASH, &ev->log, sizeof(ev->log));
	const char *string;
	uint64_t v;
	unsigned i;
	size_t n;

	h = timeline_hash(h, &start, sizeof(start));
	for (i = 0; i < TEL_ROLE_PARTS; i++) {
		if (t->role_field[i] < 0 || t->role_field[i] >= t->nfields)
			continue;
		string = tel_event_string(ev, (unsigned)t->role_field[i], &n);
		if (string != NULL) {
			h = timeline_hash(h, string, n);
		} else {
			v = tel_event_u64(ev, (unsigned)t->role_field[i]);
			h = timeline_hash(h, &v, sizeof(v));
		}
	}
	return h == 0 ? 1 : h;
}

/*
 * The name of a range or an instant, made in name: that of its type, and the
 * string or the label that tells it from others.
 */
static const char *
name_of(const struct tel_event *ev, const struct timeline_plan *p, char *name,
    size_t *length)
{
	const struct tel_type *t = ev->type;
	const char *more = NULL;
	size_t n = 0;
	unsigned i;

	if (p->string >= 0)
		more = tel_event_string(ev, (unsigned)p->string, &n);
	for (i = 0; p->is == PLAN_START && more == NULL && i < TEL_ROLE_PARTS;
	     i++)
		if (t->role_field[i] >= 0)
			more = label_of(ev, t->role_field[i], &n);
	*length = p->length;
	if (more == NULL || n == 0) {
		if (p->length == 0)
			*length = t->name_length;
		return t->name;
	}
	/* an event whose first field is a string is named by that */
	if (p->is == PLAN_INSTANT || p->length == 0) {
		*length = n < TIMELINE_NAME ? n : TIMELINE_NAME;
		return more;
	}
	*length = (size_t)snprintf(name, TIMELINE_NAME, "%.*s %.*s",
	    (int)(p->length < 128 ? p->length : 128), p->name,
	    (int)(n < 256 ? n : 256), more);
	return name;
}

/* A lane where nothing is open, or goes on after a time. */
static struct timeline_track *
free_lane(struct tel_printer *pr, struct timeline *tl, struct timeline_track *t,
    uint64_t time)
{
	struct timeline_track *next;
	char name[TIMELINE_NAME + 16];
	unsigned i;
	int n;

	for (i = 2; t->depth > 0 || t->busy > time; i++, t = next) {
		next = t->lane;
		if (next != NULL)
			continue;
		if (i > TIMELINE_LANES || tl->ntracks >= TIMELINE_TRACKS)
			return NULL;
		n = snprintf(name, sizeof(name), "%.*s",
		    (int)(t->length < TIMELINE_NAME ? t->length :
		                                      TIMELINE_NAME),
		    t->name);
		next = make_track(pr, tl, t->parent, t->use, name, (size_t)n);
		if (next == NULL) {
			tl->no_memory = 1;
			return NULL;
		}
		t->lane = next;
	}
	return t;
}

static void
start(struct tel_printer *pr, struct timeline *tl, const struct tel_event *ev,
    const struct timeline_plan *p, uint64_t time)
{
	uint64_t key = range_key(ev, (int)ev->type->index);
	struct timeline_track *context, *t = NULL;
	char buffer[TIMELINE_NAME];
	struct tel_entry *e;
	const char *name;
	size_t n;
	int fresh;

	name = name_of(ev, p, buffer, &n);
	context = context_of(pr, tl, ev, p);
	e = tel_table_put(&tl->open, key, &fresh);
	if (context == NULL || e == NULL) {
		tl->no_memory = 1;
		return;
	}
	if (!fresh) {
		t = tl->tracks[e->value - 1];
	} else {
		t = timeline_track(pr, tl, context, TIMELINE_RANGES,
		    p->length > 0 ? p->name : name,
		    p->length > 0 ? p->length : n);
		if (t != NULL)
			t = free_lane(pr, tl, t, time);
		if (t == NULL) {
			/* too many at once: it is a point of time */
			tel_table_remove(&tl->open, e);
			if (tl->ops->instant != NULL)
				tl->ops->instant(pr, context, time, name, n,
				    ev);
			return;
		}
		e->value = t->id;
	}
	t->depth++;
	tl->ops->begin(pr, t, time, name, n, ev);
}

static void
finish(struct tel_printer *pr, struct timeline *tl, const struct tel_event *ev,
    const struct timeline_plan *p, uint64_t time)
{
	const struct tel_schema *s = ev->log->schema;
	struct timeline_track *t;
	struct tel_entry *e;
	int i;

	for (i = p->start; i >= 0;
	     i = timeline_plan(tl, s, &s->types[i])->other) {
		e = tel_table_find(&tl->open, range_key(ev, i));
		if (e == NULL)
			continue;
		t = tl->tracks[e->value - 1];
		tl->ops->end(pr, t, time);
		if (--t->depth == 0)
			tel_table_remove(&tl->open, e);
		return;
	}
}

/* ----------------------------------------------------------- counters */

/* What a range of known length counted: its fields behind its length. */
static void
count_fields(struct tel_printer *pr, struct timeline *tl,
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
		if (f->sort != TEL_UNSIGNED || f->width != 64)
			continue;
		track = timeline_track(pr, tl, context, TIMELINE_COUNT, f->name,
		    f->name_length);
		if (track == NULL)
			tl->no_memory = 1;
		if (track == NULL || track->use != TIMELINE_COUNT)
			return;
		v = tel_load(f, ev->data);
		tl->ops->counter(pr, track, time,
		    v > INT64_MAX ? INT64_MAX : (int64_t)v);
	}
}

static void
span(struct tel_printer *pr, struct timeline *tl, const struct tel_event *ev,
    const struct timeline_plan *p, uint64_t time)
{
	int64_t ticks = (int64_t)tel_event_u64(ev, (unsigned)p->duration);
	struct timeline_track *context = context_of(pr, tl, ev, p), *t = NULL;
	char buffer[TIMELINE_NAME];
	const char *name = NULL;
	uint64_t length = 0;
	size_t n = 0;

	if (context != NULL)
		t = timeline_track(pr, tl, context, TIMELINE_RANGES, p->name,
		    p->length);
	if (t == NULL) {
		tl->no_memory = 1;
		return;
	}
	if (p->thread >= 0)
		name = label_of(ev, p->thread, &n);
	if (name == NULL && p->thread >= 0) {
		n = (size_t)snprintf(buffer, sizeof(buffer), "thread %lld",
		    (long long)tel_event_u64(ev, (unsigned)p->thread));
		name = buffer;
	}
	if (name == NULL)
		name = name_of(ev, p, buffer, &n);
	if (n > TIMELINE_NAME)
		n = TIMELINE_NAME;
	/* what ends before it begins has no length */
	if (ticks > 0)
		length = time_of(tl, ev, ev->clock + (uint64_t)ticks);
	length = length > time ? length - time : 0;
	t = free_lane(pr, tl, t, time);
	if (t == NULL)
		return;
	t->busy = time + length;
	tl->ops->span(pr, t, time, length, name, n, ev, p->method);
	if (tl->counters)
		count_fields(pr, tl, ev, p, context, time);
}

/* Notes the size of a block; what has no place lives unknown. */
static void
block_begins(struct timeline *tl, uint64_t address, uint64_t size)
{
	struct tel_entry *e;
	int fresh;

	tl->live += (int64_t)(size & INT64_MAX);
	if (address == 0 || tl->blocks.count >= TIMELINE_BLOCKS)
		return;
	e = tel_table_put(&tl->blocks, address, &fresh);
	if (e == NULL)
		tl->no_memory = 1;
	else
		e->value = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

static void
block_ends(struct timeline *tl, uint64_t address, uint64_t size, int sized)
{
	struct tel_entry *e = tel_table_find(&tl->blocks, address);

	if (sized)
		tl->live -= (int64_t)(size & INT64_MAX);
	else if (e != NULL)
		tl->live -= (int64_t)e->value;
	if (e != NULL)
		tel_table_remove(&tl->blocks, e);
}

/* Counts what lives.  Nonzero when the event was no more than that. */
static int
allocate(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, uint64_t time)
{
	static const char name[] = "live bytes";
	struct timeline_track *process, *t = NULL;
	tel_alloc op;

	if (!tel_event_alloc(ev, &op))
		return 0;
	switch (op.kind) {
	case TEL_ALLOC_MALLOC:
	case TEL_ALLOC_ALIGNED:
	case TEL_ALLOC_CALLOC:
		if (op.failed)
			return 1;
		block_begins(tl, op.address,
		    op.kind == TEL_ALLOC_CALLOC ? op.size * op.count : op.size);
		break;
	case TEL_ALLOC_REALLOC:
		if (op.failed)
			return 1;
		block_ends(tl, op.old, 0, 0);
		if (op.address != 0)
			block_begins(tl, op.address, op.size);
		break;
	case TEL_ALLOC_FREE:
		block_ends(tl, op.address, op.size, op.sized);
		break;
	/* what is set aside in a buffer lives or not without a word */
	case TEL_ALLOC_RESERVE:
	case TEL_ALLOC_COMMIT: return 1;
	default: return 0;
	}
	process = timeline_track(pr, tl, NULL, TIMELINE_PROCESS, ev->log->name,
	    strlen(ev->log->name));
	if (process != NULL)
		t = timeline_track(pr, tl, process, TIMELINE_BYTES, name,
		    sizeof(name) - 1);
	if (t == NULL)
		tl->no_memory = 1;
	else if (t->use == TIMELINE_BYTES)
		tl->ops->counter(pr, t, time, tl->live < 0 ? 0 : tl->live);
	return 1;
}

tel_status
timeline_event(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev)
{
	const struct timeline_plan *p;
	uint64_t time = time_of(tl, ev, ev->clock);
	struct timeline_track *context;
	char buffer[TIMELINE_NAME];
	const char *name;
	size_t n;

	p = timeline_plan(tl, ev->log->schema, ev->type);
	if (p == NULL)
		return TEL_ENOMEM;
	tl->no_memory = 0;
	if (time > tl->last)
		tl->last = time;
	if (tl->counters && tel_type_is_alloc(ev->type) &&
	    allocate(pr, tl, ev, time))
		return tl->no_memory ? TEL_ENOMEM : TEL_OK;
	switch (p->is) {
	case PLAN_START: start(pr, tl, ev, p, time); break;
	case PLAN_FINISH: finish(pr, tl, ev, p, time); break;
	case PLAN_SPAN: span(pr, tl, ev, p, time); break;
	case PLAN_NONE: break;
	case PLAN_INSTANT:
		if (tl->ops->instant == NULL)
			break;
		context = context_of(pr, tl, ev, p);
		name = name_of(ev, p, buffer, &n);
		if (context == NULL)
			tl->no_memory = 1;
		else
			tl->ops->instant(pr, context, time, name, n, ev);
		break;
	}
	return tl->no_memory ? TEL_ENOMEM : pr->out->status;
}
