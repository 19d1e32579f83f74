/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timeline: resources other than threads: messages in channels, threads that
 * wait for a handle, interrupts, which thread a processor runs, and what
 * classes of measurements have.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/schema.h"
#include "print/timeline.h"

/* The most resources. */
#define RESOURCES_MAX 16384u

struct resource {
	struct timeline_track *track;
	int64_t value; /* of its counter */
};

struct timeline_resources {
	struct tel__table by_key; /* hash of a resource to its place */
	struct resource *all;
	size_t count, room;
};

void
tel__timeline_resources_free(struct timeline *tl)
{
	struct timeline_resources *all = tl->resources;

	if (all == NULL)
		return;
	tel__table_clear(&all->by_key);
	free(all->all);
	free(all);
	tl->resources = NULL;
}

static struct timeline_resources *
resources_of(struct timeline *tl)
{
	if (tl->resources == NULL) {
		tl->resources = calloc(1, sizeof(*tl->resources));
		if (tl->resources == NULL) {
			tl->no_memory = 1;
			return NULL;
		}
		tel__table_init(&tl->resources->by_key);
	}
	return tl->resources;
}

/* The resource of a track, made when it is new; NULL: too many, no memory. */
static struct resource *
resource_of(struct timeline *tl, struct timeline_track *t,
    enum timeline_use use)
{
	struct timeline_resources *all = resources_of(tl);
	int fresh;

	if (all == NULL || t == NULL) {
		tl->no_memory = 1;
		return NULL;
	}
	/* where there were too many tracks it is the log's */
	if (t->use != use)
		return NULL;
	struct tel__entry *e = tel__table_find(&all->by_key, t->id);
	if (e != NULL)
		return &all->all[e->value];
	if (all->count >= RESOURCES_MAX)
		return NULL;
	e = tel__table_put(&all->by_key, t->id, &fresh);
	if (e == NULL || !TEL__RESERVE(all->all, all->room, all->count + 1)) {
		if (e != NULL)
			tel__table_remove(&all->by_key, e);
		tl->no_memory = 1;
		return NULL;
	}
	e->value = all->count;
	all->all[all->count] = (struct resource){ t, 0 };
	return &all->all[all->count++];
}

/* ------------------------------------------------------------- counters */

static void
resource_set(struct tel_printer *pr, struct timeline *tl, struct resource *r,
    uint64_t time, int64_t value)
{
	r->value = value;
	tl->ops->counter(pr, r->track, time, value);
}

/* A counter that goes up and down, as far as it can. */
static void
resource_add(struct tel_printer *pr, struct timeline *tl, struct resource *r,
    uint64_t time, int64_t by)
{
	int64_t value;

	if (__builtin_add_overflow(r->value, by, &value))
		value = by < 0 ? INT64_MIN : INT64_MAX;
	resource_set(pr, tl, r, time, value);
}

/* A number in a class: its value, what it grows by, or one of many. */
static void
resource_put_value(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time)
{
	const struct tel_field *f = &ev->type->fields[p->value];
	struct timeline_track *t = tel__timeline_context(pr, tl, ev, p);
	enum timeline_use use = TIMELINE_COUNT;
	int64_t value = (int64_t)tel_load(f, ev->data);

	if (f->datatype == TEL_UNSIGNED && value < 0)
		value = INT64_MAX;
	if (p->resource == RESOURCE_GROW)
		use = TIMELINE_RATE;
	else if (p->resource == RESOURCE_OBSERVE)
		use = TIMELINE_HEAT;
	if (t != NULL)
		t = tel__timeline_track(pr, tl, t, use,
		    use == TIMELINE_RATE ? "rate" : "value",
		    use == TIMELINE_RATE ? 4 : 5);
	struct resource *r = resource_of(tl, t, use);
	if (r == NULL)
		return;
	if (p->resource == RESOURCE_OBSERVE)
		tl->ops->heat(pr, t, time, value,
		    p->weight < 0 ? 1 : tel_event_u64(ev, (unsigned)p->weight));
	else if (p->resource == RESOURCE_ADD)
		resource_add(pr, tl, r, time, value);
	else
		resource_set(pr, tl, r, time, value);
}

/* A message or a thread comes to a channel or a handle, or leaves it. */
static void
put_queue(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time)
{
	const long long id = (long long)tel_event_u64(ev, (unsigned)p->owner);
	const int is_message =
	    p->resource == RESOURCE_SEND || p->resource == RESOURCE_RECEIVE;
	char name[64];
	int n = snprintf(name, sizeof(name),
	    is_message ? "messages in channel %lld" :
	                 "threads that wait for handle %lld",
	    id);
	struct resource *r = resource_of(tl,
	    tel__timeline_track_in(pr, tl, ev,
	        is_message ? "channels" : "wait handles", TIMELINE_COUNT, name,
	        (size_t)n),
	    TIMELINE_COUNT);

	if (r == NULL)
		return;
	if (p->resource == RESOURCE_SEND || p->resource == RESOURCE_WAIT)
		resource_add(pr, tl, r, time, 1);
	else if (r->value > 0)
		resource_add(pr, tl, r, time, -1);
}

/* ------------------------------------------------------------ processors */

/* A processor runs another thread from now on, until the next one. */
static void
put_switch(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time)
{
	char name[TIMELINE_NAME];
	size_t n = tel__timeline_name(name, "cpu",
	    tel_event_u64(ev, (unsigned)p->cpu), NULL, 0);
	struct timeline_track *t =
	    tel__timeline_in_log(pr, tl, ev->log, TIMELINE_THREAD, name, n);

	if (t != NULL)
		t = tel__timeline_track(pr, tl, t, TIMELINE_RANGES,
		    "thread that runs", 16);
	if (t == NULL || t->use != TIMELINE_RANGES)
		return;
	if (t->depth > 0)
		tl->ops->end(pr, t, time);
	t->depth = 1;
	const char *label = tel_event_label(ev, (unsigned)p->next, &n);
	n = tel__timeline_name(name, "thread",
	    tel_event_u64(ev, (unsigned)p->next), label, n);
	tl->ops->begin(pr, t, time, name, n, ev);
}

void
tel__timeline_resource(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time)
{
	switch (p->resource) {
	case RESOURCE_NONE: break;
	case RESOURCE_SEND:
	case RESOURCE_RECEIVE:
	case RESOURCE_WAIT:
	case RESOURCE_TAKE: put_queue(pr, tl, ev, p, time); break;
	case RESOURCE_SET:
	case RESOURCE_ADD:
	case RESOURCE_GROW:
	case RESOURCE_OBSERVE: resource_put_value(pr, tl, ev, p, time); break;
	case RESOURCE_SWITCH: put_switch(pr, tl, ev, p, time); break;
	}
}

/* ------------------------------------------------------------ messages */

/*
 * The messages of a channel arrive in order: the next one received is the
 * first that was sent and has not arrived.
 */
void
tel__timeline_find_flow(struct timeline *tl, const struct tel_event *ev,
    const struct timeline_plan *p, const struct timeline_track *process)
{
	uint64_t h, number;
	int fresh;

	h = tel__fnv_number(TEL__FNV, process->id, sizeof(process->id));
	h = tel__fnv_number(h, p->sender, sizeof(p->sender));
	for (unsigned i = 0; i < TIMELINE_KEYS && p->keys[i] >= 0; i++)
		h = tel__fnv_number(h,
		    tel_load(&ev->type->fields[p->keys[i]], ev->data),
		    sizeof(uint64_t));
	struct tel__entry *e = tel__table_find(&tl->flows, h);
	if (e == NULL) {
		if (p->receives || tl->flows.count >= TIMELINE_FLOWS)
			return;
		e = tel__table_put(&tl->flows, h, &fresh);
		if (e == NULL) {
			tl->no_memory = 1;
			return;
		}
		e->value = 0;
	}
	uint32_t sent = (uint32_t)(e->value >> 32);
	uint32_t received = (uint32_t)e->value;
	if (p->receives ? received == sent : sent == UINT32_MAX)
		return;
	number = p->receives ? received : sent;
	e->value += p->receives ? 1 : (uint64_t)1 << 32;
	tl->receives = p->receives;
	tl->flow = tel__fnv_number(h, number, sizeof(number)) | 1;
}

/* ----------------------------------------------------------------- plans */

/* What types are, by the ends of their names, and the fields that say more. */
static const struct {
	const char *end;
	enum timeline_resource resource;
	const char *owner, *value, *weight;
} known[] = {
	{ "DeliverHook", RESOURCE_SEND, "ChannelId", NULL, NULL },
	{ "RetrieveHook", RESOURCE_RECEIVE, "ChannelId", NULL, NULL },
	{ "Enqueue", RESOURCE_WAIT, "HandleID", NULL, NULL },
	{ "Acquire", RESOURCE_TAKE, "HandleID", NULL, NULL },
	{ "SwitchTo", RESOURCE_SWITCH, "cpu", "DestTID", NULL },
	{ "UpdateSet", RESOURCE_SET, "class", "value", NULL },
	{ "UpdateAdd", RESOURCE_ADD, "class", "value", NULL },
	{ "UpdateGrowth", RESOURCE_GROW, "class", "value", NULL },
	{ "UpdateHistogram", RESOURCE_OBSERVE, "class", "value", "weight" },
	{ "Magnitude", RESOURCE_SET, "class", "current", NULL },
};

void
tel__timeline_resource_plan(struct timeline_plan *p, const struct tel_type *t)
{
	int at = tel_type_find_field(t, "path");

	p->interrupt = timeline_number(t, "Irq");
	p->path = at >= 0 && t->fields[at].datatype == TEL_STRING &&
	        timeline_number(t, "class") >= 0 ?
	    at :
	    -1;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].end);

		if (t->name_length < n ||
		    strcmp(t->name + t->name_length - n, known[i].end) != 0)
			continue;
		p->owner = timeline_number(t, known[i].owner);
		p->value = timeline_number(t, known[i].value);
		p->weight = timeline_number(t, known[i].weight);
		p->next = p->value;
		if (p->owner >= 0 &&
		    (known[i].value == NULL || p->value >= 0) &&
		    (known[i].resource < RESOURCE_SET || p->path >= 0))
			p->resource = known[i].resource;
		return;
	}
}

/* ------------------------------------------------------------- counters */

/* Nonzero when a field is a counter: of a gauge, those with a unit. */
static int
is_counted(const struct tel_event *ev, const struct tel_field *f, int gauge,
    int64_t *value)
{
	const unsigned i = (unsigned)(f - ev->type->fields);
	const uint64_t v = tel_load(f, ev->data);

	*value = v > INT64_MAX ? INT64_MAX : (int64_t)v;
	if (!gauge)
		return f->datatype == TEL_UNSIGNED && f->width == 64;
	if (!tel_event_has(ev, i))
		return 0;
	if (f->unit != TEL_UNIT_FRACTION)
		return f->unit == TEL_UNIT_BYTES && f->load != TEL_LOAD_LIST;
	double percent = tel_event_double(ev, i) * 100;
	if (!(percent >= 0 && percent <= 1e6))
		return 0;
	*value = (int64_t)(percent + 0.5);
	return 1;
}

void
tel__timeline_count_fields(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    struct timeline_track *context, uint64_t time)
{
	const struct tel_type *t = ev->type;
	const int gauge = tel_type_is_gauge(t);
	struct timeline_track *track;
	char name[TIMELINE_NAME];
	int64_t v;
	int i, n;

	/* where structs have members, most numbers are of something else */
	for (i = p->duration + 1;
	     i < t->nfields && (gauge || !t->schema->nested); i++) {
		const struct tel_field *f = &t->fields[i];

		if (!is_counted(ev, f, gauge, &v))
			continue;
		n = snprintf(name, sizeof(name), "%.*s%s%s%s", gauge ? 128 : 0,
		    t->name, gauge ? " " : "", f->name,
		    f->unit == TEL_UNIT_FRACTION ? " %" : "");
		if (n > (int)sizeof(name) - 1)
			n = (int)sizeof(name) - 1;
		track = tel__timeline_track(pr, tl, context, TIMELINE_COUNT,
		    name, (size_t)n);
		if (track == NULL || track->use != TIMELINE_COUNT)
			return;
		track->cycles = i == p->cycles;
		/* percent are numbers of their own */
		if (f->unit != TEL_UNIT_FRACTION)
			track->unit = tel_field_unit(f);
		tl->ops->counter(pr, track, time, v);
	}
}
