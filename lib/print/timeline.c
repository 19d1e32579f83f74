/* SPDX-License-Identifier: BSD-2-Clause */
/* Timeline: what becomes of an event, and when it was. */
#include <stdlib.h>

#include "model/event.h"
#include "model/schema.h"
#include "print/timeline_inside.h"

struct timeline *
tel__timeline_new(const struct timeline_ops *ops)
{
	struct timeline *tl = calloc(1, sizeof(*tl));

	if (tl == NULL)
		return NULL;
	tl->ops = ops;
	tl->counters = ops->counter != NULL;
	tel_table_init(&tl->by_name);
	tel_table_init(&tl->open);
	tel_table_init(&tl->blocks);
	tel_table_init(&tl->pools);
	return tl;
}

void
tel__timeline_free(struct timeline *tl)
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
	tel__timeline_count_clear(tl);
	free(tl->gauges);
	free(tl->large);
	tel__timeline_plans_free(tl);
	free(tl);
}

void
tel__timeline_begin(struct timeline *tl)
{
	tl->begun = 0;
	/* schemas and logs of before may be gone, and others be there */
	tel__timeline_plans_free(tl);
	tel_table_close(&tl->by_name);
	tel_table_init(&tl->by_name);
	tel_table_close(&tl->open);
	tel_table_init(&tl->open);
	tel__timeline_count_clear(tl);
}

uint64_t
tel__timeline_time(struct timeline *tl, const struct tel_event *ev,
    uint64_t clock)
{
	struct tel_clock *c = ev->log->clock;
	int64_t ns;

	/* what has no time is where the log begins */
	if (tel_event_timeless(ev))
		return 0;
	if (!tl->begun) {
		tl->begun = 1;
		tl->base = ev->clock;
		tl->last = 0;
	}
	/* the clock of an event may be anything, and its time far away */
	if (tel__clock_rate(c) <= 0)
		ns = (int64_t)(clock - tl->base);
	else if (__builtin_sub_overflow(tel__clock_ns(c, clock),
	             tel__clock_ns(c, tl->base), &ns))
		ns = clock > tl->base ? INT64_MAX : 0;
	/* what comes too late for its place */
	return ns < 0 ? 0 : (uint64_t)ns;
}

tel_status
tel__timeline_event(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev)
{
	const struct timeline_plan *p;
	uint64_t time = tel__timeline_time(tl, ev, ev->clock);
	struct timeline_track *context;
	char buffer[TIMELINE_NAME];
	const char *name;
	size_t n;

	p = tel__timeline_plan(tl, ev->log->schema, ev->type);
	if (p == NULL)
		return TEL_ENOMEM;
	tl->no_memory = 0;
	if (time > tl->last)
		tl->last = time;
	if (tl->counters && tel_type_is_alloc(ev->type) &&
	    tel__timeline_allocate(pr, tl, ev, time))
		return tl->no_memory ? TEL_ENOMEM : TEL_OK;
	if (tl->counters && p->memory != 0)
		tel__timeline_take(pr, tl, ev, p, time);
	switch (p->is) {
	case PLAN_START: tel__timeline_start(pr, tl, ev, p, time); break;
	case PLAN_FINISH: tel__timeline_finish(pr, tl, ev, p, time); break;
	case PLAN_SPAN: tel__timeline_span(pr, tl, ev, p, time); break;
	case PLAN_NONE: break;
	case PLAN_INSTANT:
		if (tl->ops->instant == NULL)
			break;
		context = tel__timeline_context(pr, tl, ev, p);
		name = tel__timeline_name(ev, p, buffer, &n);
		if (context == NULL)
			tl->no_memory = 1;
		else
			tl->ops->instant(pr, context, time, name, n, ev);
		break;
	}
	return tl->no_memory ? TEL_ENOMEM : pr->out->status;
}
