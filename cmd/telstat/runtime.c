/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the report of a log of a runtime answers at once: how long its garbage
 * collector stopped it, and why; the heap after each collection; how fast, of
 * which classes and by which stacks it allocated.
 */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/table.h"
#include "common/message.h"
#include "model/collector.h"

/* Rows of the longest pauses, the largest classes and stacks. */
#define TOP_SHOWN 5
/* Rows of the latest collections, and of generations, in text. */
#define COLLECTIONS_SHOWN 10
#define GENERATIONS_SHOWN 5
/* Pauses and collections that are kept, the first ones; others are counted. */
#define KEPT_MAX ((size_t)1 << 20)
/* Distinct names of collectors, pauses and causes. */
#define NAMES_MAX 256u

struct pause {
	uint64_t duration, clock;
	uint64_t collection; /* its place, or UINT64_MAX */
	uint32_t log;        /* as .ends has it */
	unsigned name, collector, cause;
};

struct collection {
	uint64_t clock;
	uint64_t paused; /* ns */
	uint64_t before, after, capacity, ended;
	uint32_t log;
	unsigned name, cause;
	int has_before, has_after;
};

struct runtime {
	struct pause *pauses;
	size_t npauses, pause_room;
	uint64_t count, total; /* of all pauses */
	struct collection *collections;
	size_t ncollections, collection_room;
	struct tel__table by_number; /* of log and number: its place */
	struct tel__names names;
	uint32_t log; /* of the last event */
	uint64_t left_out;
	struct tel__collector ends; /* of ranges; the logs' clocks */
	struct pause *cycles; /* collections that are ranges, by duration */
	size_t ncycles, cycle_room;
	tel_heap *stacks, *classes; /* of samples; classes NULL: not yet */
	int sorted;
	int only_ranges; /* of the first log */
	/* of the types of a schema of the log: whether they are wanted */
	const tel_schema *schema;
	unsigned char *wanted;
	size_t ntypes, wanted_room;
};

/* Nonzero for types whose events are kept as they are, and joined. */
static int
is_of_collector(const tel_type *type)
{
	return tel_type_range(type)[0] != '\0' ||
	    strcmp(tel_type_role(type), "generation") == 0;
}

int
runtime_wants(const tel_type *type)
{
	const char *role = tel_type_role(type);

	return is_of_collector(type) || strcmp(role, "pause") == 0 ||
	    strcmp(role, "collection") == 0 || strcmp(role, "heap") == 0 ||
	    (strcmp(role, "sample") == 0 &&
	        tel_type_role_field(type, "name") >= 0 &&
	        tel_type_role_field(type, "weight") >= 0);
}

struct runtime *
runtime_new(void)
{
	struct runtime *rt = calloc(1, sizeof(*rt));

	if (rt == NULL)
		return NULL;
	tel__table_init(&rt->by_number);
	tel__collector_init(&rt->ends);
	rt->stacks = tel_heap_new();
	rt->only_ranges = 1;
	if (rt->stacks != NULL)
		return rt;
	free(rt);
	return NULL;
}

int
runtime_begin(struct telstat *t, const tel_schema *schema)
{
	unsigned i, n = schema == NULL ? 0 : tel_schema_type_count(schema);

	for (i = 0; i < n; i++)
		if (runtime_wants(tel_schema_type(schema, i)))
			break;
	if (i == n || t->runtime != NULL)
		return 1;
	t->runtime = runtime_new();
	if (t->runtime != NULL) {
		for (; i < n; i++)
			if (runtime_wants(tel_schema_type(schema, i)) &&
			    !is_of_collector(tel_schema_type(schema, i)))
				t->runtime->only_ranges = 0;
		return 1;
	}
	return message_no_memory();
}

void
runtime_end(struct runtime *rt)
{
	if (rt == NULL)
		return;
	tel__generations_label(&rt->ends.generations);
	tel_heap_end(rt->stacks);
	if (rt->classes != NULL)
		tel_heap_end(rt->classes);
}

int
runtime_joins(const struct runtime *rt)
{
	return rt->only_ranges && rt->count == 0 && rt->ncollections == 0 &&
	    tel_heap_count(rt->stacks) == 0 &&
	    rt->left_out + rt->ends.left_out + rt->ends.generations.left_out ==
	    0;
}

int
runtime_join(struct runtime *rt, const struct runtime *next, int part)
{
	return tel__collector_join(&rt->ends, &next->ends, part);
}

void
runtime_free(struct runtime *rt)
{
	if (rt == NULL)
		return;
	tel__names_clear(&rt->names);
	tel__table_clear(&rt->by_number);
	tel_heap_free(rt->stacks);
	tel_heap_free(rt->classes);
	free(rt->pauses);
	free(rt->collections);
	tel__collector_clear(&rt->ends);
	free(rt->cycles);
	free(rt->wanted);
	free(rt);
}

/* --------------------------------------------------------------- events */

/* A number that is a part of the role.  0: there is none. */
static int
runtime_get_number(const tel_event *ev, const char *part, uint64_t *out)
{
	const int i = tel_type_role_field(tel_event_type(ev), part);

	*out = 0;
	if (i < 0 || !tel_event_has(ev, (unsigned)i))
		return 0;
	*out = tel_event_u64(ev, (unsigned)i);
	return 1;
}

/* A text that is a part of the role, as a number of names; 0: none. */
static unsigned
get_name(struct runtime *rt, const tel_event *ev, const char *part)
{
	const int i = tel_type_role_field(tel_event_type(ev), part);
	size_t n = 0;
	const char *text = i < 0 ? NULL : tel_event_string(ev, (unsigned)i, &n);

	if (text == NULL || n == 0)
		return 0;
	/* TEL__NOWHERE and 1 is 0 */
	return tel__names_add(&rt->names, text, n, NAMES_MAX) + 1;
}

static const char *
name_of(const struct runtime *rt, unsigned number)
{
	return number == 0 ? "" : rt->names.list[number - 1].text;
}

/*
 * The collection of an event, made if it is new: after one ended, its number is
 * that of another runtime in the same log.  NULL: not kept, or *st.
 */
static struct collection *
find_collection(struct runtime *rt, const tel_event *ev, tel_status *st)
{
	struct tel__entry *e;
	uint64_t number;
	int fresh;

	*st = TEL_OK;
	if (!runtime_get_number(ev, "collection", &number))
		return NULL;
	if (rt->ncollections == KEPT_MAX) {
		e = tel__table_find(&rt->by_number,
		    number ^ (uint64_t)rt->log << 40);
		return e == NULL ? NULL : &rt->collections[e->value];
	}
	e = tel__table_put(&rt->by_number, number ^ (uint64_t)rt->log << 40,
	    &fresh);
	if (e == NULL ||
	    !TEL__RESERVE(rt->collections, rt->collection_room,
	        rt->ncollections + 1)) {
		*st = TEL_ENOMEM;
		return NULL;
	}
	struct collection *c = fresh ? NULL : &rt->collections[e->value];
	if (c != NULL && (!c->has_after || tel_event_clock(ev) <= c->ended))
		return c;
	e->value = rt->ncollections;
	c = &rt->collections[rt->ncollections++];
	memset(c, 0, sizeof(*c));
	c->log = rt->log;
	c->clock = tel_event_clock(ev);
	return c;
}

static tel_status
add_pause(struct runtime *rt, const tel_event *ev)
{
	tel_status st;
	uint64_t ns;

	if (!runtime_get_number(ev, "duration", &ns) || ns > INT64_MAX)
		return TEL_OK;
	struct collection *c = find_collection(rt, ev, &st);
	if (st != TEL_OK)
		return st;
	rt->count++;
	rt->total += ns;
	if (c != NULL)
		c->paused += ns;
	if (rt->npauses == KEPT_MAX) {
		rt->left_out++;
		return TEL_OK;
	}
	if (!TEL__RESERVE(rt->pauses, rt->pause_room, rt->npauses + 1))
		return TEL_ENOMEM;
	struct pause *p = &rt->pauses[rt->npauses++];
	p->duration = ns;
	p->clock = tel_event_clock(ev);
	p->log = rt->log;
	p->collection =
	    c == NULL ? UINT64_MAX : (uint64_t)(c - rt->collections);
	p->name = get_name(rt, ev, "name");
	return TEL_OK;
}

static tel_status
add_collection(struct runtime *rt, const tel_event *ev)
{
	tel_status st;
	struct collection *c = find_collection(rt, ev, &st);

	if (c == NULL)
		return st;
	c->clock = tel_event_clock(ev);
	c->name = get_name(rt, ev, "name");
	c->cause = get_name(rt, ev, "cause");
	return TEL_OK;
}

/* The heap as it was before a collection, or after it. */
static tel_status
add_heap(struct runtime *rt, const tel_event *ev)
{
	const int i = tel_type_role_field(tel_event_type(ev), "name");
	uint64_t used;
	tel_status st;
	size_t n = 0;
	const char *when = i < 0 ? NULL : tel_event_string(ev, (unsigned)i, &n);

	if (when == NULL || !runtime_get_number(ev, "size", &used))
		return TEL_OK;
	struct collection *c = find_collection(rt, ev, &st);
	if (c == NULL)
		return st;
	if (n >= 5 && memcmp(when, "After", 5) == 0) {
		c->after = used;
		c->has_after = 1;
		c->ended = tel_event_clock(ev);
		(void)runtime_get_number(ev, "capacity", &c->capacity);
	} else if (n >= 6 && memcmp(when, "Before", 6) == 0) {
		c->before = used;
		c->has_before = 1;
	}
	return TEL_OK;
}

/* Makes the heap of classes: it adds up by the field that names them. */
static tel_status
runtime_add_classes(struct runtime *rt, const tel_type *type)
{
	const int i = tel_type_role_field(type, "name");
	tel_expr *key = tel_expr_new();
	tel_status st = TEL_ENOMEM;
	char text[512];

	(void)snprintf(text, sizeof(text), ".%s",
	    tel_field_name(tel_type_field(type, (unsigned)i)));
	if (key != NULL)
		st = tel_expr_set(key, text);
	rt->classes = st == TEL_OK ? tel_heap_new() : NULL;
	if (rt->classes == NULL) {
		tel_expr_free(key);
		return st == TEL_OK ? TEL_ENOMEM : st;
	}
	return tel_heap_set_key(rt->classes, key);
}

tel_status
runtime_event(struct runtime *rt, const tel_event *ev)
{
	const char *role = tel_type_role(tel_event_type(ev));
	tel_status st;

	if (!tel__collector_log(&rt->ends, ev, &rt->log))
		return TEL_ENOMEM;
	if (is_of_collector(tel_event_type(ev)))
		return tel__collector_event(&rt->ends, ev, 0);
	if (strcmp(role, "pause") == 0)
		return add_pause(rt, ev);
	if (strcmp(role, "collection") == 0)
		return add_collection(rt, ev);
	if (strcmp(role, "heap") == 0)
		return add_heap(rt, ev);
	st = rt->classes == NULL ? runtime_add_classes(rt, tel_event_type(ev)) :
	                           TEL_OK;
	if (st == TEL_OK)
		st = tel_heap_event(rt->classes, ev);
	return st == TEL_OK ? tel_heap_event(rt->stacks, ev) : st;
}

/* Finds out which types of a schema are wanted.  1, or 0: no memory. */
static int
runtime_choose(struct runtime *rt, const tel_schema *schema)
{
	rt->schema = schema;
	rt->ntypes = tel_schema_type_count(schema);
	if (!TEL__RESERVE(rt->wanted, rt->wanted_room, rt->ntypes))
		return 0;
	for (size_t i = 0; i < rt->ntypes; i++)
		rt->wanted[i] =
		    runtime_wants(tel_schema_type(schema, (unsigned)i)) != 0;
	return 1;
}

tel_status
runtime_run(struct runtime *rt, tel_run *events)
{
	const size_t n = rt == NULL ? 0 : tel_run_count(events);
	const tel_schema *schema = n == 0 ? NULL : events->first->schema;
	const uint32_t log = rt == NULL ? 0 : rt->log;
	tel_status st = TEL_OK;

	if (n == 0)
		return TEL_OK;
	/* also of a log's part without them, as later ones add to it */
	if (!tel__collector_log(&rt->ends, tel_run_event(events, 0), &rt->log))
		return TEL_ENOMEM;
	/* a schema of another log may have its address */
	if ((rt->log != log || rt->schema != schema) &&
	    !runtime_choose(rt, schema))
		return TEL_ENOMEM;
	for (size_t i = 0; st == TEL_OK; i++) {
		i = tel__collector_find(events, i, rt->wanted, rt->ntypes);
		if (i == n)
			break;
		st = runtime_event(rt, tel_run_event(events, i));
	}
	return st;
}

/* --------------------------------------------------------------- report */

int
runtime_some(const struct show *show)
{
	const struct runtime *rt = show->options->runtime;

	return rt != NULL &&
	    (rt->count > 0 || rt->ncollections > 0 || rt->ends.nends > 0 ||
	        rt->ends.generations.ncondemned > 0 ||
	        tel_heap_count(rt->stacks) > 0);
}

/* The clock of the first event. */
static uint64_t
first_clock(const struct show *show)
{
	return show_total(show, TEL_TOTAL_FIRST).low;
}

/* Nanoseconds from the first event to a clock of a log. */
static uint64_t
since_start(const struct show *show, uint32_t log, uint64_t clock)
{
	return tel__collector_time(&show->options->runtime->ends, log,
	    first_clock(show), clock);
}

static int
shorter(const void *a, const void *b)
{
	const struct pause *x = a, *y = b;

	return x->duration != y->duration ?
	    (x->duration > y->duration) - (x->duration < y->duration) :
	    (x->clock < y->clock) - (x->clock > y->clock);
}

/* The duration that so many percent of the sorted ones are at most as long as. */
static uint64_t
duration_at(const struct pause *sorted, size_t n, unsigned percent)
{
	/* n * percent / 100, rounded up, of any n */
	size_t i = n / 100 * percent + (n % 100 * percent + 99) / 100;

	return sorted[i > 0 ? i - 1 : 0].duration;
}

/* A column in text and JSON. */
static void
add_column(struct report *r, const char *name, const char *label,
    enum report_notation notation, const char *unit)
{
	struct report_field *f = report_column(r, name, label, notation, 0);

	f->unit = unit;
	f->left = unit == NULL && notation == REPORT_GROUPED;
}

static void
runtime_put_fact(struct report *r, const char *name, const char *label,
    const char *unit, uint64_t v)
{
	const struct report_field f = { .name = name,
		.label = label,
		.unit = unit,
		.notation = unit != NULL ? REPORT_WITH_UNIT : REPORT_GROUPED };

	(void)report_fact(r, &f, report_count(v));
}

/* What n sorted durations are, of which more may have been counted. */
static struct durations
durations_of(const struct pause *sorted, size_t n, uint64_t count,
    uint64_t total)
{
	const struct durations d = { count, total, duration_at(sorted, n, 50),
		duration_at(sorted, n, 99), sorted[n - 1].duration };

	return d;
}

/* Durations, the last of n sorted ones with its time, and their share of the run. */
static void
put_durations(struct report *r, const struct show *show, const char *what,
    const struct durations *d, const struct pause *sorted, size_t n)
{
	const struct runtime *rt = show->options->runtime;
	const struct report_field share = { .name = "share",
		.notation = REPORT_PERCENT,
		.decimals = 2 };
	const struct pause *longest = &sorted[n - 1];
	struct report_section *s =
	    report_section(r, REPORT_TEXT | REPORT_JSON, what);

	s->apart = rt->ends.nends == 0 || sorted == rt->pauses;
	s->lead = "GC     ";
	s->indent = 8;
	runtime_put_fact(r, "count", what, NULL, d->count);
	runtime_put_fact(r, "total_ns", "total", "ns", d->total);
	runtime_put_fact(r, "p50_ns", "p50", "ns", d->p50);
	runtime_put_fact(r, "p99_ns", "p99", "ns", d->p99);
	runtime_put_fact(r, "longest_ns", "longest", "ns", d->longest);
	runtime_put_fact(r, "longest_time_ns", "at", "ns",
	    since_start(show, longest->log, longest->clock));
	if (show->at.ns > 0)
		(void)report_fact(r, &share,
		    report_real((double)d->total / show->at.ns));
	if (rt->left_out + rt->ends.left_out > 0)
		report_say(r, REPORT_TEXT, "", "quantiles of the first %zu", n);
	report_put(r);
}

static void
runtime_put_longest(struct report *r, const struct show *show)
{
	const struct runtime *rt = show->options->runtime;
	/* of nothing but times, text has the longest already */
	const unsigned to =
	    REPORT_JSON | (rt->names.count > 0 ? REPORT_TEXT : 0);

	report_section(r, to, "pause")->apart = 1;
	add_column(r, "duration_ns", "longest", REPORT_WITH_UNIT, "ns");
	add_column(r, "time_ns", "at", REPORT_WITH_UNIT, "ns");
	if (rt->names.count > 0) {
		add_column(r, "pause", NULL, REPORT_GROUPED, NULL);
		add_column(r, "collector", NULL, REPORT_GROUPED, NULL);
		add_column(r, "cause", NULL, REPORT_GROUPED, NULL);
	}
	for (size_t i = 0; i < TOP_SHOWN && i < rt->npauses; i++) {
		const struct pause *p = &rt->pauses[rt->npauses - 1 - i];

		report_row(r, to);
		report_cell(r, report_count(p->duration));
		report_cell(r,
		    report_count(since_start(show, p->log, p->clock)));
		if (rt->names.count == 0)
			continue;
		report_cell(r, report_string(name_of(rt, p->name)));
		report_cell(r, report_string(name_of(rt, p->collector)));
		report_cell(r, report_string(name_of(rt, p->cause)));
	}
	report_put(r);
}

static int
earlier(const void *a, const void *b)
{
	const struct collection *x = a, *y = b;

	return x->log != y->log ? (x->log > y->log) - (x->log < y->log) :
	                          (x->clock > y->clock) - (x->clock < y->clock);
}

/* Adds the ranges to the pauses and cycles.  1, or 0: no memory. */
static int
add_ranges(struct runtime *rt, const struct show *show)
{
	if (!tel__collector_pair(&rt->ends, first_clock(show)) ||
	    !TEL__RESERVE(rt->cycles, rt->cycle_room, rt->ends.nranges + 1) ||
	    !TEL__RESERVE(rt->pauses, rt->pause_room,
	        rt->npauses + rt->ends.nranges + 1))
		return 0;
	for (size_t i = 0; i < rt->ends.nranges; i++) {
		const struct tel__collector_range *r = &rt->ends.ranges[i];
		const struct pause p = { .duration = r->length,
			.clock = r->from,
			.log = r->log,
			.collection = UINT64_MAX };

		if (!r->pause) {
			rt->cycles[rt->ncycles++] = p;
			continue;
		}
		rt->pauses[rt->npauses++] = p;
		rt->count++;
		rt->total += p.duration;
	}
	return 1;
}

/*
 * The program's least share of windows of 1, 2, 5 ... us up to the time of the
 * log, which the page of the log draws.
 */
static void
put_mutator(struct report *r, const struct show *show)
{
	const struct tel__collector *c = &show->options->runtime->ends;
	tel_int128 span, logs;
	uint64_t window;

	if (c->nstops == 0 ||
	    !tel_stats_total(show->stats, TEL_TOTAL_NS, &span) ||
	    !tel_stats_total(show->stats, TEL_TOTAL_LOGS, &logs) ||
	    logs.low != 1)
		return;
	(void)report_section(r, REPORT_JSON, "mutator");
	add_column(r, "window_ns", "window", REPORT_WITH_UNIT, "ns");
	report_column(r, "share", NULL, REPORT_PERCENT, 0)->decimals = 2;
	for (unsigned i = 0; i < TEL__COLLECTOR_WINDOWS &&
	     (window = tel__collector_window(i)) <= span.low;
	     i++) {
		report_row(r, REPORT_JSON);
		report_cell(r, report_count(window));
		report_cell(r,
		    report_real(tel__collector_mutator(c, span.low, window)));
	}
	report_put(r);
}

/* Sorts what was kept; pauses learn what they were of before that. */
static void
sort_kept(struct runtime *rt)
{
	if (rt->sorted)
		return;
	rt->sorted = 1;
	for (struct pause *p = rt->pauses; p < rt->pauses + rt->npauses; p++) {
		if (p->collection == UINT64_MAX)
			continue;
		const struct collection *c = &rt->collections[p->collection];
		p->collector = c->name;
		p->cause = c->cause;
	}
	if (rt->npauses > 0)
		qsort(rt->pauses, rt->npauses, sizeof(*rt->pauses), shorter);
	if (rt->ncycles > 0)
		qsort(rt->cycles, rt->ncycles, sizeof(*rt->cycles), shorter);
	if (rt->ncollections > 0)
		qsort(rt->collections, rt->ncollections,
		    sizeof(*rt->collections), earlier);
}

static void
put_collections(struct report *r, const struct show *show)
{
	const struct runtime *rt = show->options->runtime;
	const struct report_value none = { .type = REPORT_ABSENT };
	struct report_section *s;
	size_t i, n = rt->ncollections, shown = n;

	if (n == 0)
		return;
	if (report_is(r, REPORT_TEXT))
		shown = r->options.top > 0 ? report_rows(r, n) :
		    n < COLLECTIONS_SHOWN  ? n :
		                             COLLECTIONS_SHOWN;
	s = report_section(r, REPORT_TEXT | REPORT_JSON, "collection");
	s->apart = s->sparse = 1;
	s->lead = shown < n ?
	    report_text(r, "Collections: the last %zu of %zu", shown, n) :
	    "Collections";
	add_column(r, "time_ns", "at", REPORT_WITH_UNIT, "ns");
	add_column(r, "before_bytes", "heap before", REPORT_SIZE, "bytes");
	add_column(r, "after_bytes", "after", REPORT_SIZE, "bytes");
	add_column(r, "capacity_bytes", "committed", REPORT_SIZE, "bytes");
	add_column(r, "paused_ns", "paused", REPORT_WITH_UNIT, "ns");
	add_column(r, "collector", NULL, REPORT_GROUPED, NULL);
	add_column(r, "cause", NULL, REPORT_GROUPED, NULL);
	for (i = n - shown; i < n; i++) {
		const struct collection *c = &rt->collections[i];

		report_row(r, REPORT_TEXT | REPORT_JSON);
		report_cell(r,
		    report_count(since_start(show, c->log, c->clock)));
		report_cell(r, c->has_before ? report_count(c->before) : none);
		report_cell(r, c->has_after ? report_count(c->after) : none);
		report_cell(r, c->has_after ? report_count(c->capacity) : none);
		/* without a pause, none may have been selected */
		report_cell(r, rt->count > 0 ? report_count(c->paused) : none);
		report_cell(r, report_string(name_of(rt, c->name)));
		report_cell(r, report_string(name_of(rt, c->cause)));
	}
	report_put(r);
}

/* Sizes to compare, some of which are small. */
static void
add_size(struct report *r, const char *name, const char *label)
{
	add_column(r, name, label, REPORT_SIZE, "bytes");
}

static void
put_generation(struct report *r, const struct tel__generation *g)
{
	const struct report_value none = { .type = REPORT_UNKNOWN };
	const char *address = report_text(r, "0x%" PRIx64, g->key);
	char name[TEL__GENERATION_TEXT];

	report_row(r, REPORT_JSON | (g->collections > 0 ? REPORT_TEXT : 0));
	report_cell(r,
	    report_string(report_text(r, "%s", tel__generation_name(g, name))));
	report_cell(r, report_string(address));
	report_cell(r, g->has_serial ? report_count(g->serial) : none);
	report_cell(r, report_count(g->collections));
	report_cell(r, report_int128(g->condemned));
	report_cell(r, report_int128(g->survived));
	report_cell(r, report_int128(g->reclaimed));
	report_cell(r, g->died < 0 ? none : report_real(g->died));
	report_cell(r, g->predicted < 0 ? none : report_real(g->predicted));
}

/* What became of each generation, as they began; text has those condemned. */
static void
put_generations(struct report *r, const struct show *show)
{
	const struct tel__generations *of =
	    &show->options->runtime->ends.generations;
	const struct tel__generation *g, *end = of->rows + of->nrows;
	const int text = report_is(r, REPORT_TEXT);
	size_t n = 0, shown;

	for (g = of->rows; g < end; g++)
		n += g->collections > 0;
	if (n == 0)
		return;
	shown = r->options.top > 0 ? report_rows(r, n) : GENERATIONS_SHOWN;
	report_section(r, REPORT_TEXT | REPORT_JSON, "generation")->apart = 1;
	report_column(r, text ? "generation" : "name",
	    shown < n ? report_text(r, "generation (%zu of %zu)", shown, n) :
	                NULL,
	    REPORT_GROUPED, 0)
	    ->left = 1;
	report_column(r, "address", NULL, REPORT_GROUPED, 0)->shown =
	    REPORT_JSON;
	report_column(r, "serial", NULL, REPORT_PLAIN, 0)->shown = REPORT_JSON;
	(void)report_column(r, "collections", NULL, REPORT_GROUPED, 0);
	add_size(r, "condemned_bytes", "condemned");
	add_size(r, "survived_bytes", "survived");
	add_size(r, "reclaimed_bytes", "reclaimed");
	report_column(r, "died", NULL, REPORT_PERCENT, 0)->decimals = 1;
	report_column(r, "predicted", NULL, REPORT_PERCENT, 0)->decimals = 1;
	for (g = of->rows; g < end; g++)
		if (!text || (g->collections > 0 && shown-- > 0))
			put_generation(r, g);
	if (of->left_out > 0)
		report_note(r, REPORT_TEXT, NULL,
		    report_text(r, "of the first %zu events", of->nevents));
	report_put(r);
}

/* ----------------------------------------------------------- allocation */

static void
put_allocation(struct report *r, const struct show *show,
    const tel_heap_stack *all)
{
	const double rate = show->at.ns > 0 ?
	    (double)all->allocated_bytes / show->at.ns * 1e9 :
	    0;
	char text[FORMAT_TEXT];
	struct report_section *s =
	    report_section(r, REPORT_TEXT | REPORT_JSON, "allocation");

	s->apart = 1;
	s->lead = "memory ";
	s->indent = 8;
	runtime_put_fact(r, "bytes", "allocated", "bytes",
	    all->allocated_bytes);
	if (show->at.ns > 0) {
		if (format_size(rate, text)[0] != '\0')
			report_say(r, REPORT_TEXT, "", "%s/s", text);
		report_data(r, "bytes_per_s", report_real(rate));
	}
	runtime_put_fact(r, "samples", NULL, NULL, all->allocations);
	report_put(r);
}

/*
 * The name of a class: an array as Java's source has it, "byte[]" for "[B" (The
 * Java Virtual Machine Specification, 4.3.2).  A heap's key has ':' for ';'.
 */
static const char *
runtime_class_name(struct report *r, const char *name)
{
	static const char *const primitives[] = { "Bbyte", "Cchar", "Ddouble",
		"Ffloat", "Iint", "Jlong", "Sshort", "Zboolean" };
	static const char brackets[] = "[][][][][][][][]";
	const size_t depth = strspn(name, "[");
	const char *element = name + depth;
	size_t length = strlen(element), i;

	if (depth == 0 || 2 * depth >= sizeof(brackets) || length == 0)
		return name;
	if (element[0] == 'L' && length > 2) {
		element++;
		length -= 2;
	}
	for (i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++) {
		if (length == 1 && element[0] == primitives[i][0]) {
			element = primitives[i] + 1;
			length = strlen(element);
		}
	}
	return report_text(r, "%.*s%.*s", (int)length, element,
	    (int)(2 * depth), brackets);
}

/* The classes, or the stacks, that allocated most. */
static void
runtime_put_top(struct report *r, tel_heap *heap, const char *what,
    const tel_heap_stack *all)
{
	const size_t n = tel_heap_count(heap);
	const int stack = strcmp(what, "stack") == 0;
	tel_heap_stack s;
	size_t i;

	if (tel_heap_sort(heap, TEL_HEAP_ALLOCATED) != TEL_OK) {
		r->failed = 1;
		return;
	}
	report_section(r, REPORT_TEXT | REPORT_JSON,
	    stack ? "allocating_stack" : "allocated_class")
	    ->apart = 1;
	add_column(r, "bytes", "allocated", REPORT_SIZE, "bytes");
	report_column(r, "share", NULL, REPORT_PERCENT, 0)->decimals = 1;
	(void)report_column(r, "samples", NULL, REPORT_GROUPED, 0);
	add_column(r, what,
	    report_text(r, "%s (%zu of %zu%s)", what,
	        n < TOP_SHOWN ? n : (size_t)TOP_SHOWN, n,
	        stack ? "; see --stacks" : ""),
	    REPORT_GROUPED, NULL);
	for (i = 0; i < TOP_SHOWN && tel_heap_stack_at(heap, i, &s); i++) {
		const char *frames = stack && report_is(r, REPORT_TEXT) ?
		    tel_heap_holder(heap, i) :
		    tel_heap_frames(heap, i);

		if (frames == NULL) {
			r->failed = 1;
			return;
		}
		report_row(r, REPORT_TEXT | REPORT_JSON);
		report_cell(r, report_count(s.allocated_bytes));
		report_cell(r,
		    report_real(all->allocated_bytes == 0 ?
		            0 :
		            (double)s.allocated_bytes /
		                (double)all->allocated_bytes));
		report_cell(r, report_count(s.allocations));
		report_cell(r,
		    report_string(report_text(r, "%s",
		        !stack ? runtime_class_name(r, frames) :
		            report_is(r, REPORT_TEXT) ?
		                 answers_frames(r, frames, 27) :
		                 frames)));
	}
	report_put(r);
}

int
runtime_durations(const struct show *show, struct durations *pauses,
    struct durations *collections)
{
	struct runtime *rt = show->options->runtime;
	const int done = rt->sorted || add_ranges(rt, show);
	uint64_t total = 0;

	sort_kept(rt);
	*pauses = *collections = (struct durations){ 0 };
	for (size_t i = 0; i < rt->ncycles; i++)
		total += rt->cycles[i].duration;
	if (rt->npauses > 0)
		*pauses =
		    durations_of(rt->pauses, rt->npauses, rt->count, rt->total);
	if (rt->ncycles > 0)
		*collections =
		    durations_of(rt->cycles, rt->ncycles, rt->ncycles, total);
	return done;
}

void
runtime_put(struct report *r, const struct show *show)
{
	struct runtime *rt = show->options->runtime;
	struct durations pauses, collections;
	tel_heap_stack all;

	if (!show->options->answers || !runtime_some(show) ||
	    !report_is(r, REPORT_TEXT | REPORT_JSON))
		return;
	if (!runtime_durations(show, &pauses, &collections))
		r->failed = 1;
	if (rt->npauses > 0)
		put_durations(r, show, "pauses", &pauses, rt->pauses,
		    rt->npauses);
	if (rt->ncycles > 0)
		put_durations(r, show, "collections", &collections, rt->cycles,
		    rt->ncycles);
	if (rt->npauses > 0)
		runtime_put_longest(r, show);
	put_mutator(r, show);
	put_collections(r, show);
	put_generations(r, show);
	if (rt->classes == NULL)
		return;
	tel_heap_total(rt->stacks, &all);
	put_allocation(r, show, &all);
	runtime_put_top(r, rt->classes, "class", &all);
	runtime_put_top(r, rt->stacks, "stack", &all);
}
