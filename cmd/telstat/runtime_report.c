/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the report of a log of a runtime answers at once: how long its garbage
 * collector stopped it, and why; the heap after each collection; how fast, of
 * which classes and by which stacks it allocated.
 */
#include "runtime.h"
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Rows of the longest pauses, the largest classes and stacks. */
#define TOP_SHOWN 5
/* Rows of the latest collections, and of generations, in text. */
#define COLLECTIONS_SHOWN 10
#define GENERATIONS_SHOWN 5

static const char *
name_of(const struct runtime *rt, unsigned number)
{
	return number == 0 ? "" : rt->names.list[number - 1].text;
}

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

static const char *
runtime_unit(const struct show *show)
{
	return tel__collector_unit(&show->options->runtime->ends);
}

/* Time from the first event to a clock of a log, in that unit. */
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

/* A column of times, which has its unit in its name. */
static void
runtime_add_times(struct report *r, const char *name, const char *label,
    const char *unit)
{
	add_column(r, report_text(r, "%s_%s", name, unit), label,
	    REPORT_WITH_UNIT, unit);
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

static void
runtime_put_time(struct report *r, const char *name, const char *label,
    const char *unit, uint64_t v)
{
	runtime_put_fact(r, report_text(r, "%s_%s", name, unit), label, unit,
	    v);
}

/* What n sorted durations are, of which more may have been counted. */
static struct durations
durations_of(const struct pause *sorted, size_t n, uint64_t count,
    uint64_t total, const char *unit)
{
	const struct durations d = { count, total, duration_at(sorted, n, 50),
		duration_at(sorted, n, 99), sorted[n - 1].duration, unit };

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
	if (d->unit == NULL) {
		report_put(r);
		return;
	}
	runtime_put_time(r, "total", "total", d->unit, d->total);
	runtime_put_time(r, "p50", "p50", d->unit, d->p50);
	runtime_put_time(r, "p99", "p99", d->unit, d->p99);
	runtime_put_time(r, "longest", "longest", d->unit, d->longest);
	runtime_put_time(r, "longest_time", "at", d->unit,
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
	const char *unit = runtime_unit(show);

	if (unit == NULL)
		return;
	report_section(r, to, "pause")->apart = 1;
	runtime_add_times(r, "duration", "longest", unit);
	runtime_add_times(r, "time", "at", unit);
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
	const char *unit = runtime_unit(show);
	struct report_section *s;
	size_t i, n = rt->ncollections, shown = n;

	if (n == 0 || unit == NULL)
		return;
	if (report_is(r, REPORT_TEXT))
		shown = r->options.top > 0 ? report_rows(r, n) :
		    n < COLLECTIONS_SHOWN  ? n :
		                             COLLECTIONS_SHOWN;
	s = report_section(r, REPORT_TEXT | REPORT_JSON, "collection");
	s->apart = s->sparse = 1;
	s->lead = shown < n ? report_text(r, "Collections: the last %s",
	                          report_part(r, shown, n)) :
	                      "Collections";
	runtime_add_times(r, "time", "at", unit);
	add_column(r, "before_bytes", "heap before", REPORT_SIZE, "bytes");
	add_column(r, "after_bytes", "after", REPORT_SIZE, "bytes");
	add_column(r, "capacity_bytes", "committed", REPORT_SIZE, "bytes");
	runtime_add_times(r, "paused", "paused", unit);
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
	    shown < n ?
	        report_text(r, "generation (%s)", report_part(r, shown, n)) :
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
	    report_text(r, "%s (%s%s)", what,
	        report_part(r, n < TOP_SHOWN ? n : (size_t)TOP_SHOWN, n),
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
	const char *unit = runtime_unit(show);
	uint64_t total = 0;

	sort_kept(rt);
	*pauses = *collections = (struct durations){ 0 };
	for (size_t i = 0; i < rt->ncycles; i++)
		total += rt->cycles[i].duration;
	if (rt->npauses > 0)
		*pauses = durations_of(rt->pauses, rt->npauses, rt->count,
		    rt->total, unit);
	if (rt->ncycles > 0)
		*collections = durations_of(rt->cycles, rt->ncycles,
		    rt->ncycles, total, unit);
	return done;
}

static void
runtime_put_answers(struct report *r, const struct show *show)
{
	struct runtime *rt = show->options->runtime;
	struct durations pauses, collections;
	tel_heap_stack all;

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

void
runtime_put(struct report *r, const struct show *show)
{
	const struct runtime *rt = show->options->runtime;

	if (!show->options->answers || rt == NULL ||
	    !report_is(r, REPORT_TEXT | REPORT_JSON))
		return;
	if (runtime_some(show))
		runtime_put_answers(r, show);
	if (rt->samples != NULL)
		samples_put(r, rt->samples);
}
