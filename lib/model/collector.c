/* SPDX-License-Identifier: BSD-2-Clause */
/* Collector: pairs of starts and ends, sorted by time. */
#include "model/collector.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/schema.h"

void
tel__collector_init(struct tel__collector *c)
{
	memset(c, 0, sizeof(*c));
	tel__table_init(&c->places);
}

/* The place of a log by its clock; they are shared, so no two are alike. */
static int
collector_place(struct tel__collector *c, struct tel_clock *clock,
    uint32_t *log)
{
	struct tel__entry *e;
	int fresh;

	if (c->nlogs > 0 && c->clocks[c->nlogs - 1] == clock) {
		*log = (uint32_t)(c->nlogs - 1);
		return 1;
	}
	e = tel__table_put(&c->places, (uintptr_t)clock, &fresh);
	if (e == NULL)
		return 0;
	if (fresh) {
		if (c->nlogs == UINT32_MAX ||
		    !TEL__RESERVE(c->clocks, c->clock_room, c->nlogs + 1)) {
			tel__table_remove(&c->places, e);
			return 0;
		}
		e->value = c->nlogs;
		c->clocks[c->nlogs++] = tel__clock_share(clock);
	}
	*log = (uint32_t)e->value;
	return 1;
}

int
tel__collector_log(struct tel__collector *c, const struct tel_event *ev,
    uint32_t *log)
{
	c->generations.log = ev->log;
	return collector_place(c, ev->log->clock, log);
}

tel_status
tel__collector_event(struct tel__collector *c, const struct tel_event *ev,
    uint64_t shown)
{
	uint32_t log;

	if (!tel__collector_log(c, ev, &log))
		return TEL_ENOMEM;
	if (ev->type->role == TEL_ROLE_GENERATION)
		return tel__generations_event(&c->generations, ev, log, shown);
	if (c->nends == TEL__COLLECTOR_MAX) {
		c->left_out++;
		return TEL_OK;
	}
	if (!TEL__RESERVE(c->ends, c->ends_room, c->nends + 1))
		return TEL_ENOMEM;
	struct tel__collector_end *e = &c->ends[c->nends];
	memset(e, 0, sizeof(*e));
	e->at = (struct tel__moment){ ev->clock, log, (uint32_t)c->nends++ };
	e->shown = shown;
	e->key = tel__collector_key(ev);
	e->pause = ev->type->range == TEL_ROLE_PAUSE;
	e->starts = ev->type->role == TEL_ROLE_START;
	return TEL_OK;
}

/* The place of a log of the next one, or that of the log which it continues. */
static int
collector_next_place(struct tel__collector *c,
    const struct tel__collector *next, int part, uint32_t *log)
{
	if (!part)
		return collector_place(c, next->clocks[*log], log);
	*log = (uint32_t)c->nlogs - 1;
	return 1;
}

int
tel__collector_join(struct tel__collector *c, const struct tel__collector *next,
    int part)
{
	const struct tel__generations *of = &next->generations;
	struct tel__collector_end *to;
	uint32_t log;

	if ((part && c->nlogs == 0) ||
	    next->nends > TEL__COLLECTOR_MAX - c->nends ||
	    !TEL__RESERVE(c->ends, c->ends_room, c->nends + next->nends))
		return 0;
	for (size_t i = 0; i < next->nends; i++) {
		to = &c->ends[c->nends];
		*to = next->ends[i];
		if (!collector_next_place(c, next, part, &to->at.log))
			return 0;
		to->at.sequence = (uint32_t)c->nends++;
	}
	for (size_t i = 0; i < of->nevents; i++) {
		log = of->events[i].at.log;
		if (!collector_next_place(c, next, part, &log) ||
		    !tel__generations_add(&c->generations, of, i, log, part))
			return 0;
	}
	return 1;
}

const char *
tel__collector_unit(const struct tel__collector *c)
{
	size_t known = 0;

	for (size_t i = 0; i < c->nlogs; i++)
		known += tel__clock_rate(c->clocks[i]) > 0;
	return known == c->nlogs ? "ns" : known == 0 ? "ticks" : NULL;
}

uint64_t
tel__collector_time(const struct tel__collector *c, uint32_t log, uint64_t from,
    uint64_t to)
{
	int64_t ns;

	if (to <= from)
		return 0;
	if (!tel__clock_between(c->clocks[log], from, to, &ns))
		return to - from;
	return ns > 0 ? (uint64_t)ns : 0;
}

/* Adds the range from a start to an end, which .nranges or .nopen counts. */
static int
collector_add_range(struct tel__collector *c,
    const struct tel__collector_end *start,
    const struct tel__collector_end *end, size_t *count)
{
	const size_t n = c->nranges + c->nopen;

	if (!TEL__RESERVE(c->ranges, c->ranges_room, n + 1))
		return 0;
	struct tel__collector_range *r = &c->ranges[n];
	++*count;
	r->from = start->at.clock;
	r->to = end->at.clock;
	r->key = end->key;
	r->shown = start->shown;
	r->log = end->at.log;
	r->length = tel__collector_time(c, r->log, r->from, r->to);
	r->pause = end->pause;
	return 1;
}

static uint64_t
collector_hash(const struct tel__collector_end *m)
{
	return tel__hash(m->key, (uint64_t)m->at.log * 2 + m->pause);
}

/* Adds the collections whose starts are left.  1; 0: no memory. */
static int
collector_add_open(struct tel__collector *c, struct tel__table *open)
{
	const struct tel__collector_end *m;
	const struct tel__entry *e;

	for (m = c->ends; m < c->ends + c->nends; m++) {
		e = m->starts && !m->pause ?
		    tel__table_find(open, collector_hash(m)) :
		    NULL;
		if (e != NULL && e->value == (uint64_t)(m - c->ends) &&
		    !collector_add_range(c, m, m, &c->nopen))
			return 0;
	}
	return 1;
}

static int
pair_ends(struct tel__collector *c)
{
	struct tel__table open;
	struct tel__entry *e;
	const struct tel__collector_end *m;
	int fresh, good = 1;
	uint64_t key;

	c->nranges = c->nopen = 0;
	if (c->nends == 0)
		return 1;
	qsort(c->ends, c->nends, sizeof(*c->ends), tel__moment_order);
	tel__table_init(&open);
	for (m = c->ends; good && m < c->ends + c->nends; m++) {
		key = collector_hash(m);
		if (m->starts) {
			e = tel__table_put(&open, key, &fresh);
			good = e != NULL;
			if (good)
				e->value = (uint64_t)(m - c->ends);
			continue;
		}
		e = tel__table_find(&open, key);
		if (e == NULL || e->value == UINT64_MAX)
			continue;
		good =
		    collector_add_range(c, &c->ends[e->value], m, &c->nranges);
		e->value = UINT64_MAX;
	}
	good = good && collector_add_open(c, &open);
	tel__table_clear(&open);
	return good;
}

static int
stop_order(const void *a, const void *b)
{
	const struct tel__collector_stop *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Joins pauses that overlap, as those of two arenas. */
static int
make_stops(struct tel__collector *c, uint64_t first)
{
	const struct tel__collector_range *r;
	size_t i, n = 0;

	c->nstops = 0;
	if (c->nranges == 0)
		return 1;
	if (!TEL__RESERVE(c->stops, c->stops_room, c->nranges))
		return 0;
	for (r = c->ranges; r < c->ranges + c->nranges; r++)
		if (r->pause)
			c->stops[n++] = (struct tel__collector_stop){
				tel__collector_time(c, r->log, first, r->from),
				tel__collector_time(c, r->log, first, r->to), 0
			};
	if (n > 0)
		qsort(c->stops, n, sizeof(*c->stops), stop_order);
	for (i = 0; i < n; i++) {
		struct tel__collector_stop *s = &c->stops[c->nstops];

		if (c->nstops > 0 && c->stops[i].from <= s[-1].to) {
			if (c->stops[i].to > s[-1].to)
				s[-1].to = c->stops[i].to;
			continue;
		}
		*s = c->stops[i];
		s->before =
		    c->nstops == 0 ? 0 : s[-1].before + s[-1].to - s[-1].from;
		c->nstops++;
	}
	return 1;
}

int
tel__collector_pair(struct tel__collector *c, uint64_t first)
{
	return pair_ends(c) && make_stops(c, first) &&
	    tel__generations_make(&c->generations);
}

/* How long the program stood still before a time. */
static uint64_t
stopped_before(const struct tel__collector *c, uint64_t time)
{
	size_t low = 0, high = c->nstops, middle;

	TEL__BISECT(low, high, middle, c->stops[middle].from < time);
	if (low == 0)
		return 0;
	const struct tel__collector_stop *s = &c->stops[low - 1];
	return s->before + (time < s->to ? time : s->to) - s->from;
}

double
tel__collector_mutator(const struct tel__collector *c, uint64_t span,
    uint64_t window)
{
	uint64_t most = 0, paused, from;

	if (window == 0 || window > span)
		return 1;
	/* the worst window starts with a pause, or ends with one */
	for (size_t i = 0; i < 2 * c->nstops && most < window; i++) {
		from = c->stops[i / 2].from;
		if (i % 2 == 1)
			from = c->stops[i / 2].to > window ?
			    c->stops[i / 2].to - window :
			    0;
		if (from > span - window)
			from = span - window;
		paused =
		    stopped_before(c, from + window) - stopped_before(c, from);
		most = paused > most ? paused : most;
	}
	return 1 - (double)most / (double)window;
}

void
tel__collector_clear(struct tel__collector *c)
{
	for (size_t i = 0; i < c->nlogs; i++)
		tel__clock_free(c->clocks[i]);
	free(c->clocks);
	tel__table_clear(&c->places);
	free(c->ends);
	free(c->ranges);
	free(c->stops);
	tel__generations_clear(&c->generations);
	tel__collector_init(c);
}
