/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of the allocators: identity, time, latency, threads, counters. */
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "common/page.h"
#include "telreplay/run/calls.h"

/* The number of threads that text shows. */
#define THREADS_SHOWN 8
/* Characters of a line that are left for the path. */
#define ROOM 64

/* Names of operations as the loop counts them, by enum run_kind. */
static const char *const kinds[RUN_KINDS] = { "malloc", "calloc", "aligned",
	"realloc", "free", "new", "delete" };

struct report_section *
show_table(struct report *r, unsigned to, const char *type,
    const struct some *some, const char *title)
{
	struct report_section *s = show_section(r, to, type, title);
	struct report_field *f =
	    report_column(r, "allocator", "", REPORT_GROUPED, 12);

	s->sparse = 1;
	f->left = 1;
	f->most = 12;
	f->shown = REPORT_TEXT;
	if (report_is(r, REPORT_DATA))
		s->name = some->results->allocator->name;
	return s;
}

void
show_row(struct report *r, unsigned to, const struct result *s)
{
	report_row(r, to);
	report_cell(r, report_string(s->allocator->name));
}

/* ------------------------------------------------------- who they are */

/* The name, version and path of the allocator, in one or two lines. */
static void
put_served(struct report *r, const struct result *s, const char *label)
{
	const char *name = "", *parameters = "";
	char path[128], text[128];

	if (s->called[0] != '\0' && s->plugin)
		name = report_text(r, "pool %.60s", s->called);
	(void)page_escape(path, 120, s->path);
	size_t n = strlen(name) + strnlen(s->release, 70);
	if (s->allocator->builtin != BUILTIN_NONE || s->plugin)
		parameters = page_escape(text, 120, s->allocator->parameters);
	report_line(r, label, "%s%s%.70s%s%s%s%s", name,
	    name[0] != '\0' && s->release[0] != '\0' ? ", " : "", s->release,
	    n == 0                      ? "" :
	        n + strlen(path) > ROOM ? "\n" :
	                                  ", ",
	    path, parameters[0] != '\0' ? ", " : "", parameters);
}

/* Functions in the log that the allocator lacks. */
static void
put_stand_ins(struct report *r, const struct facts *f, const struct result *s)
{
	int pool = s->plugin || s->allocator->builtin != BUILTIN_NONE;

	if (!pool && f->by_new + f->by_delete > 0 && !s->has_delete)
		report_line(r, "",
		    "malloc and free in place of new and delete");
	if (!pool && f->by_sized > 0 && !s->has_sized)
		report_line(r, "", "no free is given the size");
}

void
show_allocators(struct report *r, const struct show *show)
{
	const struct some all = { show, show->benchmark->results,
		show->benchmark->n },
	                  *some = &all;
	const char *at;
	char text[512];

	show_section(r, REPORT_TEXT, "allocator", "allocators")->label_width =
	    13;
	for (size_t i = 0; i < some->n; i++) {
		const struct result *s = &some->results[i];

		put_served(r, s, page_escape(text, 12, s->allocator->name));
		for (at = s->settings; *at != '\0'; at += strlen(at) + 1)
			report_line(r, "", "%s", page_escape(text, 200, at));
		put_stand_ins(r, some->show->facts, s);
		if (s->said[0] != '\0')
			report_line(r, "", "says: %s",
			    page_escape(text, 200, s->said));
		if (s->left_out > 0)
			report_line(r, "",
			    "leaves out %" PRIu64
			    " allocations in internal pools",
			    s->left_out);
		if (s->why[0] != '\0')
			report_line(r, "", "FAILED: %s",
			    page_escape(text, 500, s->why));
	}
	report_put(r);
}

static void
allocators_put_facts(struct report *r, const struct result *s)
{
	uint64_t i = 0;

	report_section(r, REPORT_DATA, "allocator")->name = s->allocator->name;
	report_data(r, "path", report_optional(s->path));
	report_data(r, "version", report_optional(s->release));
	report_data(r, "pool", report_optional(s->plugin ? s->called : ""));
	report_data(r, "parameters", report_optional(s->allocator->parameters));
	report_data(r, "message", report_optional(s->said));
	report_data(r, "has_delete", report_count(s->has_delete != 0));
	report_data(r, "has_sized", report_count(s->has_sized != 0));
	report_data(r, "failed", report_count(s->failed != 0));
	report_data(r, "failure", report_optional(s->why));
	report_data(r, "failed_allocations", report_count(s->failures));
	report_data(r, "errors", report_count(s->errors));
	report_data(r, "left_out", report_count(s->left_out));
	report_put(r);
	for (const char *at = s->settings; *at != '\0'; at += strlen(at) + 1) {
		(void)show_item(r, "setting", s, i++);
		report_data(r, "assignment", report_optional(at));
		report_put(r);
	}
}

/* ---------------------------------------------------------------- time */

static void
add_cost(struct report *r, const struct result *s)
{
	const struct spread *f = s->figures, cost = f[METRIC_COST];
	const struct spread p99 = f[METRIC_P99];
	const double wall = f[METRIC_WALL].median;
	const double cells[] = { cost.median, cost.least, cost.most,
		s->own_cost, wall, f[METRIC_PROCESS].median,
		wall > 0 ? 1e3 / wall : NAN, f[METRIC_FAULTS].median,
		p99.median, p99.least, p99.most };

	show_row(r, s->nruns > 0 ? REPORT_ALL : REPORT_TEXT, s);
	show_cells(r, cells, sizeof(cells) / sizeof(cells[0]));
}

static void
put_cost(struct report *r, const struct some *some)
{
	static const struct {
		const char *name, *label;
		enum report_notation notation;
		unsigned width, shown;
	} columns[] = {
		{ "ns", "median", REPORT_SHORT, 9, 0 },
		{ "least_ns", "least", REPORT_SHORT, 9, 0 },
		{ "most_ns", "most", REPORT_SHORT, 9, 0 },
		{ "own_ns", "own", REPORT_SHORT, 8, 0 },
		{ "wall_ns", NULL, REPORT_SHORT, 0, REPORT_DATA },
		{ "process_ns", "CPU/op", REPORT_SHORT, 9, 0 },
		{ "M ops/s", NULL, REPORT_SHORT, 10, REPORT_TEXT },
		{ "page_faults", "page faults", REPORT_SHORT, 12, 0 },
		{ "p99_ns", NULL, REPORT_SHORT, 0, REPORT_DATA },
		{ "p99_least_ns", NULL, REPORT_SHORT, 0, REPORT_DATA },
		{ "p99_most_ns", NULL, REPORT_SHORT, 0, REPORT_DATA },
	};
	const struct show *show = some->show;

	(void)show_table(r, show_text(show, DETAILS_TIME) | REPORT_DATA, "cost",
	    some,
	    "CPU time, nanoseconds an operation; telreplay's own is "
	    "subtracted");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		report_column(r, columns[i].name, columns[i].label,
		    columns[i].notation, columns[i].width)
		    ->shown = columns[i].shown;
	for (size_t i = 0; i < some->n; i++)
		add_cost(r, &some->results[i]);
	report_put(r);
}

static void
put_runs(struct report *r, const struct result *s)
{
	for (size_t i = 0; i < s->nruns; i++) {
		const struct timing *t = &s->runs[i];

		(void)show_item(r, "run", s, i + 1);
		report_data(r, "operations", report_count(t->operations));
		report_data(r, "cpu_ns", report_real(t->cpu));
		report_data(r, "wall_ns", report_real(t->wall));
		report_data(r, "process_ns", report_real(t->process));
		if (!isnan(t->p99))
			report_data(r, "p99_ns", report_real(t->p99));
		if (t->remembers) {
			report_data(r, "peak_bytes", report_count(t->peak));
			report_data(r, "end_bytes", report_count(t->end));
		}
		report_data(r, "minor_faults", report_count(t->minor_faults));
		report_data(r, "major_faults", report_count(t->major_faults));
		report_put(r);
	}
}

/* ------------------------------------------------------------- latency */

/* Quantiles of latency; share 1 is the largest. */
static const struct {
	const char *name;
	double share;
} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 },
	{ "p99.9", 0.999 }, { "max", 1 } };
#define NQUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static void
add_latency(struct report *r, const struct result *s, size_t kind)
{
	show_row(r,
	    (s->latency[kind].count > 0 ? REPORT_TEXT : 0) |
	        (s->operations[kind] > 0 ? REPORT_DATA : 0),
	    s);
	report_cell(r, report_string(kinds[kind]));
	report_cell(r, report_count(s->operations[kind]));
	report_cell(r, report_count(s->latency[kind].count));
	for (size_t i = 0; i < NQUANTILES; i++) {
		double v = s->latency[kind].count == 0 ? NAN :
		                                         s->tick_ns *
		        run_quantile(&s->latency[kind], quantiles[i].share);

		/* the clock does not tell it from others */
		report_cell(r,
		    report_is(r, REPORT_TEXT) && v < s->noise_ns ?
		        report_string(report_text(r, "<%.0f", s->noise_ns)) :
		        show_real(v));
	}
	report_cell(r, report_real(s->empty_ns));
}

static void
put_latency(struct report *r, const struct some *some)
{
	unsigned sample = some->show->telreplay->run.sample;
	struct report_field *f;

	show_table(r,
	    (sample > 0 ? show_text(some->show, DETAILS_TIME) : 0) |
	        REPORT_DATA,
	    "latency", some, NULL)
	    ->title = report_text(r,
	    "latency in nanoseconds, of one operation in %u", sample);
	f = report_column(r, "item", "", REPORT_GROUPED, 9);
	f->item = f->left = 1;
	report_column(r, "operations", NULL, REPORT_GROUPED, 0)->shown =
	    REPORT_DATA;
	(void)report_column(r, "samples", NULL, REPORT_GROUPED, 10);
	for (size_t i = 0; i < NQUANTILES; i++)
		(void)report_column(r, quantiles[i].name, NULL, REPORT_SHORT,
		    quantiles[i].share < 1 ? 9 : 10);
	report_column(r, "subtracted", NULL, REPORT_GROUPED, 0)->shown =
	    REPORT_DATA;
	for (size_t kind = 0; kind < RUN_KINDS; kind++)
		for (size_t i = 0; i < some->n; i++)
			add_latency(r, &some->results[i], kind);
	report_put(r);
}

/* The histograms of latency: an item is a kind and the start of a range. */
static void
allocators_put_buckets(struct report *r, const struct result *s)
{
	for (unsigned kind = 0; kind < RUN_KINDS; kind++)
		for (unsigned i = 0; i < RUN_BUCKETS; i++) {
			const struct run_latency *l = &s->latency[kind];

			if (l->buckets[i] == 0)
				continue;
			report_section(r, REPORT_DATA, "latency_range")->name =
			    s->allocator->name;
			r->section.item = report_text(r, "%s %.4g", kinds[kind],
			    (double)tel__bucket_start(i) * s->tick_ns);
			report_data(r, "from_ns",
			    report_real(
			        (double)tel__bucket_start(i) * s->tick_ns));
			report_data(r, "to_ns",
			    report_real(
			        (double)tel__bucket_start(i + 1) * s->tick_ns));
			report_data(r, "samples", report_count(l->buckets[i]));
			report_put(r);
		}
}

/* ------------------------------------------------------------- threads */

/* The thread in the log, "+" for more of them; long numbers are cut. */
static const char *
thread_name(struct report *r, const struct thread_life *life)
{
	const char *more = life->hosted > 1 ? "+" : "";

	if (life->id < 100000)
		return report_text(r, "%u%s", (unsigned)life->id, more);
	return report_text(r, "..%04u%s", (unsigned)(life->id % 10000), more);
}

/* The throughput of the first threads, a column for each. */
static void
put_throughput(struct report *r, const struct some *some)
{
	size_t n = (size_t)some->show->facts->threads, i, j;
	size_t shown = n < THREADS_SHOWN ? n : THREADS_SHOWN;

	if (n < 2)
		return;
	(void)show_table(r, show_text(some->show, DETAILS_THREADS), "thread",
	    some,
	    n > shown ?
	        "throughput by thread, M ops/s while it runs; the first eight" :
	        "throughput by thread, M ops/s while it runs");
	for (j = 0; j < shown; j++)
		report_column(r, thread_name(r, &some->show->facts->lives[j]),
		    NULL, REPORT_FIXED, 8)
		    ->decimals = 2;
	for (i = 0; i < some->n; i++) {
		const struct result *s = &some->results[i];

		if (s->nruns == 0)
			continue;
		show_row(r, REPORT_TEXT, s);
		for (j = 0; j < shown; j++)
			report_cell(r,
			    report_real(
			        show_ratio((double)s->threads[j].operations *
			                1e3,
			            (double)s->threads[j].wall_ns)));
	}
	report_put(r);
}

static void
allocators_put_threads(struct report *r, const struct show *show,
    const struct result *s)
{
	for (uint64_t i = 0; i < show->facts->threads && s->nruns > 0; i++) {
		const struct run_times *t = &s->threads[i];

		(void)show_item(r, "thread", s, i);
		report_data(r, "id", report_count(show->facts->lives[i].id));
		report_data(r, "threads",
		    report_count(show->facts->lives[i].hosted));
		report_data(r, "operations", report_count(t->operations));
		report_data(r, "cpu_ns", report_count(t->cpu_ns));
		report_data(r, "wait_ns", report_count(t->wait_ns));
		report_data(r, "wall_ns", report_count(t->wall_ns));
		report_data(r, "blocked", report_count(t->blocked));
		if (show->telreplay->run.pace > 0)
			report_data(r, "late_ns", report_count(t->late_ns));
		report_put(r);
	}
}

/* ------------------------------------------------------------ counters */

static void
put_counters(struct report *r, const struct some *some)
{
	static const struct {
		const char *name, *label;
	} counters[COUNTERS] = {
		[COUNTER_FAULTS] = { "page_faults", "page faults" },
		[COUNTER_TLB_LOADS] = { "tlb_load_misses", "TLB loads" },
		[COUNTER_TLB_STORES] = { "tlb_store_misses", "TLB stores" },
		[COUNTER_CACHE] = { "cache_misses", "cache" },
		[COUNTER_INSTRUCTIONS] = { "instructions", "instructions" },
	};
	/* text avoids leading zeros behind the point */
	double v, scale = report_is(r, REPORT_TEXT) ? 1000 : 1;

	(void)show_table(r, show_text(some->show, DETAILS_TIME) | REPORT_DATA,
	    "counters", some,
	    "counters per 1,000 operations, telreplay's own included");
	for (size_t k = 0; k < COUNTERS; k++)
		(void)report_column(r, counters[k].name, counters[k].label,
		    REPORT_SHORT, k == COUNTER_CACHE ? 8 : 13);
	for (size_t i = 0; i < some->n; i++) {
		const struct result *s = &some->results[i];

		show_row(r, s->nruns > 0 ? REPORT_ALL : REPORT_TEXT, s);
		for (size_t k = 0; k < COUNTERS; k++) {
			v = result_counter(s, (enum counter)k);
			report_cell(r, show_real(v * scale));
		}
	}
	report_put(r);
}

/* -------------------------------------------------------- system calls */

static void
put_calls(struct report *r, const struct some *some)
{
	struct report_value remark =
	    report_string("not counted: it may not be traced");

	remark.type = REPORT_REMARK;
	(void)show_table(r, show_text(some->show, DETAILS_MEMORY) | REPORT_DATA,
	    "calls", some, "system calls for memory");
	for (size_t k = 0; k < CALLS; k++)
		(void)report_column(r, calls_name((enum system_call)k), NULL,
		    REPORT_GROUPED, 10);
	for (size_t i = 0; i < some->n; i++) {
		const struct result *s = &some->results[i];

		show_row(r, s->calls_known ? REPORT_ALL : REPORT_TEXT, s);
		if (!s->calls_known)
			report_cell(r, remark);
		for (size_t k = 0; k < CALLS && s->calls_known; k++)
			report_cell(r, report_count(s->calls[k]));
	}
	report_put(r);
}

/* All allocators, in common tables. */
void
show_compared(struct report *r, const struct show *show)
{
	const struct some some = { show, show->benchmark->results,
		show->benchmark->n };

	put_cost(r, &some);
	put_latency(r, &some);
	put_throughput(r, &some);
	show_memory(r, &some);
	show_curves(r, show);
	put_counters(r, &some);
	put_calls(r, &some);
}

/* One allocator, with all figures. */
void
show_allocator(struct report *r, const struct show *show,
    const struct result *s)
{
	const struct some some = { show, s, 1 };

	allocators_put_facts(r, s);
	put_cost(r, &some);
	put_runs(r, s);
	put_latency(r, &some);
	allocators_put_buckets(r, s);
	allocators_put_threads(r, show, s);
	show_memory(r, &some);
	show_memory_rows(r, show, s);
	put_counters(r, &some);
	put_calls(r, &some);
}
