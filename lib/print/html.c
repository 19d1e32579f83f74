/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page of HTML that shows a timeline: sums over buckets of time of all
 * events, and as many exact ones as fit into its size.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "io/gzip.h"
#include "model/run.h"
#include "print/html.h"
#include "render/number.h"

/* The most logs that are listed. */
#define LOGS_MAX 256u
/* The page's bytes for each track. */
#define TRACK_BYTES 512

/* ----------------------------------------------------------------- logs */

/* The log of an event that is not that of the event before. */
static tel_status
set_log(struct html *h, const struct tel_event *ev)
{
	const struct tel_log *log = ev->log;
	unsigned char *end;
	int64_t ns;
	size_t i;

	h->log = log;
	h->number = log->number;
	h->schema = NULL;
	for (i = 0; i < h->nlogs; i++)
		if (strcmp(h->logs[i].name, log->name) == 0)
			break;
	h->at = i < LOGS_MAX ? i : LOGS_MAX - 1;
	if (h->at < h->nlogs)
		return TEL_OK;
	if (!TEL__RESERVE(h->logs, h->logs_room, i + 1))
		return TEL_ENOMEM;
	struct html_log *l = &h->logs[i];
	memset(l, 0, sizeof(*l));
	l->name = strdup(log->name);
	l->format = strdup(log->format);
	l->clock = tel__clock_share(log->clock);
	l->base = h->timeline->begun ? h->timeline->base : ev->clock;
	h->nlogs++;
	if (tel__clock_wall(log->clock, ev->clock, &ns)) {
		end = tel__put_iso((unsigned char *)l->start, ns);
		*end = '\0';
	}
	return l->name == NULL || l->format == NULL ? TEL_ENOMEM : TEL_OK;
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	struct html *h = pr->state;
	const char *why;

	(void)ev;
	if (h == NULL) {
		h = calloc(1, sizeof(*h));
		if (h == NULL)
			return TEL_ENOMEM;
		if (!tel__gzip_load(&why)) {
			free(h);
			return tel__render_fail(pr,
			    "zlib is needed to compress a page: %s", why);
		}
		pr->state = h;
		tel__samples_init(&h->samples, pr->max_size / 10 * 9);
		tel__buckets_init(&h->sums);
		tel__collector_init(&h->collections.of);
		tel__collector_init(&h->collections.polls);
		h->timeline = tel__timeline_new(&tel__html_ops);
		if (h->timeline == NULL)
			return TEL_ENOMEM;
		h->timeline->shift = &h->sums.shift;
		if (pr->max_size / TRACK_BYTES < h->timeline->most)
			h->timeline->most =
			    (size_t)(pr->max_size / TRACK_BYTES);
	} else if (!pr->continues) {
		tel__html_close_ranges(h);
		h->holders.ended = h->collections.ended = 1;
		tel__html_settle(pr);
		tel__timeline_begin(h->timeline);
		h->overview.log = NULL;
		h->overview.time = 0;
		tel__samples_forget(&h->samples);
		h->schema = NULL;
		h->log = NULL;
	}
	return TEL_OK;
}

/* An event of which the timeline shows nothing by itself. */
static void
put_other(struct tel_printer *pr, struct html *h, const struct tel_event *ev)
{
	const struct timeline_track *t = h->ended;
	struct timeline_plan *p;

	if (t == NULL) {
		p = tel__timeline_plan(h->timeline, ev->type->schema, ev->type);
		t = p == NULL ? NULL :
		                tel__timeline_context(pr, h->timeline, ev, p);
	}
	if (t == NULL)
		h->no_memory = 1;
	else
		tel__html_ops.instant(pr, t, h->timeline->now, ev->type->name,
		    ev->type->name_length, ev);
}

static tel_status
html_status(const struct html *h)
{
	return h->no_memory || h->timeline == NULL || h->timeline->no_memory ||
	        h->sums.no_memory || h->samples.no_memory ?
	    TEL_ENOMEM :
	    TEL_OK;
}

/* Takes an event of the same log as the one before it. */
static tel_status
print_html_take(struct tel_printer *pr, struct html *h,
    const struct tel_event *ev)
{
	h->type = tel__samples_type(&h->samples, ev->type);
	if (h->samples.no_memory)
		return TEL_ENOMEM;
	h->samples.types[h->type].count++;
	h->logs[h->at].events++;
	h->events++;
	h->recorded = 0;
	h->ended = NULL;
	h->timeline->unnamed = tel__samples_spare(&h->samples) > 0;
	tel_status st = tel__timeline_event(pr, h->timeline, ev);
	if (st == TEL_OK && !h->recorded)
		put_other(pr, h, ev);
	if (h->timeline->now > h->last)
		h->last = h->timeline->now;
	return st == TEL_OK ? html_status(h) : st;
}

/* Nonzero when events of the type say something of collections. */
static int
is_collected(struct html *h, const struct tel_type *type)
{
	return tel__collections_want(&h->collections, type->schema) &&
	    tel__collections_takes(&h->collections, type);
}

/* Nonzero when blocks of logs of a schema are counted by what holds them. */
static int
is_held(struct html *h, const struct tel_schema *s)
{
	const int holds = tel__holders_want(&h->holders, s);

	/* the timeline knows pools */
	h->timeline->held = holds && !h->holders.pools;
	return holds;
}

/* Nonzero when more than tracks is counted of logs of a schema. */
static int
is_watched(struct html *h, const struct tel_schema *s)
{
	const int holds = is_held(h, s);

	return tel__collections_want(&h->collections, s) || holds;
}

/* A track of a log's heap. */
static struct timeline_track *
held_track(struct tel_printer *pr, const struct tel_event *ev,
    enum timeline_use use, enum timeline_memory memory, const char *name)
{
	struct html *h = pr->state;
	struct timeline_track *t = tel__timeline_in_log(pr, h->timeline,
	    ev->log, use, name, strlen(name));

	h->no_memory |= t == NULL;
	/* where there are too many, it is the log's */
	if (t == NULL || t->use != use)
		return NULL;
	t->memory = memory;
	return t;
}

/* A block was allocated, or ends. */
static tel_status
held_block(void *arg, int ends, uint64_t value, uint32_t blocks)
{
	struct tel_printer *pr = arg;
	struct html *h = pr->state;
	const struct timeline_track *t = ends ? h->lifetimes : h->sizes;

	if (t != NULL)
		tel__html_ops.heat(pr, t, h->held_time,
		    value < INT64_MAX ? (int64_t)value : INT64_MAX, blocks);
	return h->no_memory ? TEL_ENOMEM : TEL_OK;
}

/* The bytes that live after an event, and frees of unknown blocks. */
static void
show_held(struct tel_printer *pr, const struct tel_event *ev)
{
	struct html *h = pr->state;
	const tel_heap *heap = h->holders.heap;
	const uint64_t live = tel__heap_live(heap);
	const uint64_t unknown = tel__heap_unknown(heap);
	struct timeline_track *t;

	if (h->held != NULL)
		tel__html_ops.counter(pr, h->held, h->held_time,
		    live < INT64_MAX ? (int64_t)live : INT64_MAX);
	if (unknown == h->held_unknown)
		return;
	h->held_unknown = unknown;
	t = held_track(pr, ev, TIMELINE_COUNT, TIMELINE_NO_MEMORY,
	    TIMELINE_UNKNOWN);
	if (t != NULL)
		tel__html_ops.counter(pr, t, h->held_time, (int64_t)unknown);
}

/* An event that may allocate or free. */
static tel_status
hold_block(struct tel_printer *pr, const struct tel_event *ev)
{
	struct html *h = pr->state;
	/* the end of a process is an event of the timeline, too */
	const int held = timeline_is_held(h->timeline, ev->type) ||
	    (h->timeline->held && ev->type->role == TEL_ROLE_PROCESS_END);

	if (held && h->holders.heap == NULL) {
		h->held = held_track(pr, ev, TIMELINE_BYTES, TIMELINE_LIVE,
		    "live bytes");
		h->sizes = held_track(pr, ev, TIMELINE_HEAT, TIMELINE_SIZES,
		    "sizes of blocks");
		h->lifetimes = held_track(pr, ev, TIMELINE_HEAT,
		    TIMELINE_LIFETIMES, "lifetimes of blocks");
	}
	tel_status st = tel__holders_event(&h->holders, ev, h->held_time,
	    held ? held_block : NULL, pr);
	if (st == TEL_OK && held && h->holders.heap != NULL)
		show_held(pr, ev);
	return st;
}

/*
 * What stacks hold is counted for each event of a log that has them, and so
 * are collections.
 */
static tel_status
hold_event(struct tel_printer *pr, struct html *h, const struct tel_event *ev)
{
	const int holds = is_held(h, ev->type->schema);
	tel_status st = TEL_OK;
	uint64_t time;

	if (tel__collections_want(&h->collections, ev->type->schema) &&
	    !tel__collections_span(&h->collections, ev))
		return TEL_ENOMEM;
	if (!holds && !is_collected(h, ev->type))
		return TEL_OK;
	if (tel__timeline_times(h->timeline, ev->log, &ev->clock, 1, &time) !=
	    1)
		time = h->timeline->last;
	h->held_time = time;
	if (holds && tel_type_is_alloc(ev->type))
		st = hold_block(pr, ev);
	return st == TEL_OK && is_collected(h, ev->type) ?
	    tel__collections_event(&h->collections, &h->samples, ev, time) :
	    st;
}

/* The log of an event may be another one, or have lost more events. */
static tel_status
enter_log(struct html *h, const struct tel_event *ev)
{
	if (ev->log != h->log || ev->log->number != h->number) {
		tel_status st = set_log(h, ev);

		if (st != TEL_OK)
			return st;
	}
	h->logs[h->at].lost = ev->log->lost;
	return TEL_OK;
}

static tel_status
print_html_event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct html *h = pr->state;
	tel_status st = enter_log(h, ev);

	if (st == TEL_OK)
		st = hold_event(pr, h, ev);
	if (st == TEL_OK)
		st = print_html_take(pr, h, ev);
	tel__html_silence(h, ev->log, &ev->clock, 1);
	return st;
}

/* What to do with the types of a schema is not known yet.  0: no memory. */
static int
set_schema(struct tel_printer *pr, struct html *h, const struct tel_schema *s)
{
	struct timeline_actions *to = &h->actions;

	if (h->schema == s && to->count == s->ntypes)
		return 1;
	tel__html_settle(pr);
	to->count = 0;
	h->schema = NULL;
	if (!TEL__RESIZE(to->all, s->ntypes + 1u) ||
	    !TEL__RESIZE(to->recent, s->ntypes + 1u))
		return 0;
	memset(to->all, 0, (s->ntypes + 1u) * sizeof(*to->all));
	to->count = s->ntypes;
	h->schema = s;
	return 1;
}

/* The action of a type; NULL: no memory. */
static struct timeline_action *
action_of(struct html *h, const struct tel_type *type)
{
	struct timeline_action *a = &h->actions.all[type->index];

	if (a->plan != NULL)
		return a;
	a->type = tel__samples_type(&h->samples, type);
	if (h->samples.no_memory)
		return NULL;
	a->plan = tel__timeline_plan(h->timeline, type->schema, type);
	if (a->plan == NULL)
		return NULL;
	tel__timeline_action(a, type);
	if (timeline_is_held(h->timeline, type))
		a->does &= ~TIMELINE_ALLOCATES;
	return a;
}

/* Counts an event that is in no exact block. */
static void
count_event(struct tel_printer *pr, struct html *h, const struct tel_event *ev,
    struct timeline_action *a, uint64_t time)
{
	const struct timeline_track *t;

	h->samples.types[a->type].count++;
	if (a->does != 0)
		tel__timeline_count(pr, h->timeline, ev, a->plan, a->does,
		    time);
	if (a->series > 0) {
		tel__buckets_count(&h->sums, a->series - 1, time, 1);
		return;
	}
	h->type = a->type;
	t = tel__timeline_context(pr, h->timeline, ev, a->plan);
	if (t == NULL) {
		h->no_memory = 1;
		return;
	}
	tel__html_count(h, t, time);
	/* without a thread there is one track for each log */
	if (a->plan->thread < 0 && a->plan->cpu < 0)
		a->series = h->series[a->type].count;
	if (a->series > 0)
		tel__timeline_sum(a, ev->type);
}

/* Times of events of a run. */
struct times {
	size_t first, last; /* of those from there to before there */
	/* they are in one bucket: that of the earliest, .of[0] */
	int one;
	uint64_t of[TEL_RUN_MAX];
};

/*
 * Finds the times of the events of a run from the one at place i to before last,
 * of as many as there surely are any.
 */
static void
find_times(struct timeline *tl, const struct tel_run *run, size_t i,
    size_t last, struct times *t)
{
	const struct tel_log *log = run->event->log;
	uint64_t span[2];
	size_t n = tel__timeline_span(tl, log, run->clocks + i, last - i, span);

	t->first = i;
	t->one = n > 0 && timeline_same(tl, span[0], span[1]);
	if (t->one) {
		t->of[0] = span[0];
		tl->last = span[1] > tl->last ? span[1] : tl->last;
	} else {
		n = tel__timeline_times(tl, log, run->clocks + i, last - i,
		    t->of);
	}
	t->last = i + n;
}

/* Where the events of the bucket of the one at place i end. */
static size_t
bucket_end(struct timeline *tl, const struct times *t, size_t i, size_t last)
{
	const uint64_t *of = t->of, time = of[i - t->first];
	size_t end = i;

	if (t->one)
		return last;
	for (; end < last; end++) {
		if (!timeline_same(tl, of[end - t->first], time))
			break;
		if (of[end - t->first] > tl->last)
			tl->last = of[end - t->first];
	}
	return end;
}

/* The time of the event at place i. */
static uint64_t
time_at(struct timeline *tl, const struct tel_run *run, const struct times *t,
    size_t i)
{
	uint64_t time;

	if (!t->one)
		return t->of[i - t->first];
	return tel__timeline_times(tl, run->event->log, run->clocks + i, 1,
	           &time) == 1 ?
	    time :
	    t->of[0];
}

/*
 * Takes the events of a run from the one at place i on, as long as they are in
 * no exact block, their times are known, and they do no more than to be counted.
 * t: the times of some, or of none.  *end: where that ends; *more: the event
 * there does more, or has no time.
 */
static tel_status
run_counts(struct tel_printer *pr, struct tel_run *events, struct times *t,
    size_t i, size_t *end, int *more)
{
	struct html *h = pr->state;
	const uint64_t spare = tel__samples_spare(&h->samples);
	const size_t first = i;
	size_t next, bucket = i, last = events->count;
	struct timeline_action *a;

	if (i >= t->last)
		find_times(h->timeline, events, i, last, t);
	uint64_t from = t->last > i ? t->of[t->one ? 0 : i - t->first] : 0;
	*more = t->last == i;
	last = spare < t->last - i ? i + (size_t)spare : t->last;
	while (i < last && !*more) {
		if (i == bucket) {
			timeline_enter(pr, h->timeline,
			    t->of[t->one ? 0 : i - t->first]);
			bucket = bucket_end(h->timeline, t, i, last);
		}
		next = tel__timeline_counts(h->timeline, &h->actions, events, i,
		    bucket);
		if (next > i) {
			i = next;
			continue;
		}
		a = events->types[i] < h->actions.count ?
		    action_of(h, run_type(events, i)) :
		    NULL;
		*more = a == NULL || (a->does & TIMELINE_MORE) != 0;
		if (!*more) {
			count_event(pr, h, run_view(events, i), a,
			    time_at(h->timeline, events, t, i));
			i++;
		}
	}
	*end = i;
	if (h->timeline->last > h->last)
		h->last = h->timeline->last;
	h->events += i - first;
	h->logs[h->at].events += i - first;
	tel__samples_skip(&h->samples, i - first, from, h->timeline->last);
	return html_status(h);
}

static tel_status
print_html_run(struct tel_printer *pr, struct tel_run *events)
{
	struct html *h = pr->state;
	const int plain = events->count <= TEL_RUN_MAX && run_is_plain(events);
	tel_status st = enter_log(h, run_view(events, 0));
	struct times t;
	size_t i = 0;
	int more;

	t.first = t.last = 0;

	if (st != TEL_OK)
		return st;
	if (plain && !set_schema(pr, h, events->first->schema))
		return TEL_ENOMEM;
	for (i = 0; i < events->count && st == TEL_OK &&
	     is_watched(h, run_type(events, i)->schema);
	     i++)
		st = hold_event(pr, h, run_event(events, i));
	for (i = 0; i < events->count && st == TEL_OK;) {
		more = 1;
		if (plain && tel__samples_spare(&h->samples) > 0)
			st = run_counts(pr, events, &t, i, &i, &more);
		if (st == TEL_OK && more)
			st = print_html_take(pr, h, run_event(events, i++));
	}
	tel__html_silence(h, events->event->log, events->clocks, events->count);
	return st;
}

/* ----------------------------------------------------------------- page */

/* The names of the logs. */
static void
make_title(struct page_fit *d)
{
	const struct html *h = d->html;
	size_t i, used = 0;

	(void)snprintf(d->title, sizeof(d->title), "%s", "no events");
	for (i = 0; i < h->nlogs && used < sizeof(d->title); i++) {
		const char *name = h->logs[i].name;

		used += (size_t)snprintf(d->title + used,
		    sizeof(d->title) - used, "%s%s", i == 0 ? "" : ", ",
		    strcmp(name, "-") == 0 ? "standard input" : name);
	}
}

/* Writes a page of the events so far. */
static tel_status
put_page(struct tel_printer *pr, struct tel_output *out, unsigned seconds)
{
	struct html none = { 0 }, *h = pr->state;
	struct tel__buffer head = { 0 };
	struct page_fit d = { 0 };
	const char *why;
	tel_status st;

	if (!tel__gzip_load(&why))
		return tel__render_fail(pr,
		    "zlib is needed to compress a page: %s", why);

	if (h != NULL) {
		tel__html_settle(pr);
		tel__buckets_settle_all(&h->sums);
	}
	tel__samples_init(&none.samples, 0);
	d.html = h != NULL ? h : &none;
	d.html->holders.allocators = pr->allocators;
	d.most = pr->max_size;
	d.live = seconds;
	d.damaged = pr->damaged;
	d.skipped = pr->skipped;
	make_title(&d);
	d.all = d.html->samples.nblocks;
	if (tel__samples_rest(&d.html->samples, &d.rest))
		d.all++;
	int good = h != NULL && html_status(h) != TEL_OK ?
	    0 :
	    tel__html_draft(&d, &head);
	if (good > 0)
		st = tel__html_write(&d, out, &head);
	else if (good == 0)
		st = TEL_ENOMEM;
	else
		st = tel__render_fail(pr, "the page needs more than %llu bytes",
		    (unsigned long long)d.most);
	tel__buffer_clear(&head);
	tel__html_draft_free(&d);
	return st;
}

static tel_status
print_html_snapshot(struct tel_printer *pr, struct tel_output *out,
    unsigned seconds)
{
	if (seconds == 0 && pr->state != NULL)
		tel__html_close_ranges(pr->state);
	return put_page(pr, out, seconds);
}

static tel_status
print_html_finish(struct tel_printer *pr)
{
	return print_html_snapshot(pr, pr->out, 0);
}

static void
print_html_release(struct tel_printer *pr)
{
	struct html *h = pr->state;
	struct sample_copy *c;

	for (size_t i = 0; i < h->nstates; i++) {
		free(h->states[i].rows);
		while ((c = h->states[i].open) != NULL) {
			h->states[i].open = c->outer;
			free(c);
		}
	}
	for (size_t i = 0; i < h->nlogs; i++) {
		free(h->logs[i].name);
		free(h->logs[i].format);
		tel__clock_free(h->logs[i].clock);
	}
	free(h->states);
	free(h->series);
	free(h->actions.all);
	free(h->actions.recent);
	free(h->links);
	free(h->sent);
	free(h->logs);
	tel__timeline_free(h->timeline);
	tel__samples_clear(&h->samples);
	tel__buckets_clear(&h->sums);
	tel__holders_clear(&h->holders);
	tel__collections_clear(&h->collections);
}

const struct tel_renderer tel__renderer_html = {
	.name = "html",
	.flags = TEL_PRINTER_TIMELINE | TEL_PRINTER_WHOLE | TEL_PRINTER_PAGE |
	    TEL_PRINTER_BINARY,
	.begin_log = begin_log,
	.event = print_html_event,
	.run = print_html_run,
	.finish = print_html_finish,
	.snapshot = print_html_snapshot,
	.release = print_html_release,
};
