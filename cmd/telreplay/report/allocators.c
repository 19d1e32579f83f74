/* SPDX-License-Identifier: BSD-2-Clause */
/* What came of the runs of some allocators, one below the other. */
#include "show.h"

#include <stdio.h>
#include <string.h>
#include "common/page.h"
#include "telreplay/run/calls.h"

/* So many threads are shown in text, the first ones. */
#define THREADS_SHOWN 8
/* A run of less is over before the clock tells much of it. */
#define FEW 20000
/* Characters that a line has beside a name. */
#define ROOM 64

/* Names of operations as the loop counts them, by enum run_kind. */
static const char *const kinds[RUN_KINDS] = { "malloc", "calloc", "aligned",
	"realloc", "free" };

/* The allocators of a table, and of a row one of them. */
struct some {
	const struct show *show;
	const struct result *results;
	size_t n;
};

static const struct report_field name_column = { .name = "allocator",
	.label = "",
	.left = 1,
	.width = 12,
	.most = 12,
	.shown = REPORT_TEXT };
static const struct report_field item_column = { .name = "item",
	.label = "",
	.left = 1,
	.width = 9,
	.item = 1 };

static struct report_value
name_of(const struct result *s)
{
	return report_string(s->candidate->name);
}

static struct report_value
item_of(struct report *r, size_t i)
{
	return report_string(report_text(r, "%zu", i));
}

/* A section of them; that of one has its name for programs. */
static struct report_section *
section_of(struct report *r, unsigned to, const char *type,
    const struct some *some, const char *title)
{
	struct report_section *s = report_section(r, to, type);

	s->title = title;
	s->apart = 1;
	if (some->n == 1)
		s->name = some->results->candidate->name;
	return s;
}

static void
put_table(struct report *r, unsigned to, const char *type,
    const struct some *some, const char *title,
    const struct report_table *table)
{
	section_of(r, to, type, some, title)->table = table;
	report_put(r);
}

/* ------------------------------------------------------- who they are */

/* Who it is, in one line or in two. */
static void
put_served(struct report *r, const struct result *s, const char *label)
{
	const char *name = "", *parameters = "";
	char path[128], text[128];
	size_t n;

	if (s->called[0] != '\0' && s->plugin)
		name = report_text(r, "pool %.60s", s->called);
	(void)page_escape(path, 120, s->path);
	n = strlen(name) + strnlen(s->release, 70);
	if (s->candidate->builtin != BUILTIN_NONE || s->plugin)
		parameters = page_escape(text, 120, s->candidate->parameters);
	report_line(r, label, "%s%s%.70s%s%s%s%s", name,
	    name[0] != '\0' ? ", " : "", s->release,
	    n == 0                      ? "" :
	        n + strlen(path) > ROOM ? "\n" :
	                                  ", ",
	    path, parameters[0] != '\0' ? ", " : "", parameters);
}

/* Who served malloc, and what steers it. */
static void
put_lines(struct report *r, const struct some *some)
{
	struct report_section *section =
	    section_of(r, REPORT_TEXT, "allocator", some, "allocators");
	char text[512];
	size_t i, j;

	section->indent = 2;
	section->label_width = 12;
	for (i = 0; i < some->n; i++) {
		const struct result *s = &some->results[i];

		put_served(r, s, page_escape(text, 12, s->candidate->name));
		for (j = 0; j < s->nsettings; j++)
			report_line(r, "", "%s",
			    page_escape(text, 200, s->settings[j]));
		if (s->why[0] != '\0')
			report_line(r, "", "FAILED: %s",
			    page_escape(text, 500, s->why));
	}
	report_put(r);
}

static unsigned
setting_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct result *s = of;

	cells[0] = item_of(r, i);
	cells[1] = report_optional(s->settings[i]);
	return REPORT_DATA;
}

static void
put_who(struct report *r, const struct some *some)
{
	static const struct report_field columns[] = {
		{ .name = "item", .item = 1 }, { .name = "assignment" }
	};
	const struct result *s = some->results;
	const struct {
		const char *name;
		struct report_value value;
	} rows[] = { { "path", report_optional(s->path) },
		{ "version", report_optional(s->release) },
		{ "pool", report_optional(s->plugin ? s->called : "") },
		{ "parameters", report_optional(s->candidate->parameters) },
		{ "failed", report_count(s->failed != 0) },
		{ "failure", report_optional(s->why) },
		{ "failed_allocations", report_count(s->failures) },
		{ "errors", report_count(s->errors) } };
	const struct report_table table = { columns, 2, s->nsettings, s,
		setting_row, 0 };
	size_t i;

	(void)section_of(r, REPORT_DATA, "allocator", some, NULL);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		(void)report_fact(r,
		    &(struct report_field){ .name = rows[i].name },
		    rows[i].value);
	report_put(r);
	put_table(r, REPORT_DATA, "setting", some, NULL, &table);
}

/* ---------------------------------------------------------------- time */

static unsigned
cost_row(struct report *r, const void *of, size_t i, struct report_value *cells)
{
	const struct some *some = of;
	const struct result *s = &some->results[i];
	struct spread cost = result_cost(s), wall = result_wall(s);
	double own = result_own(s), faults = result_faults(s).median;

	cells[0] = name_of(s);
	cells[1].type = REPORT_UNKNOWN;
	if (s->nruns == 0)
		return REPORT_TEXT;
	cells[1] = report_real(cost.median - own);
	cells[2] = report_real(cost.least - own);
	cells[3] = report_real(cost.most - own);
	cells[4] = report_real(own);
	cells[5] = report_real(wall.median);
	cells[6] = report_real(show_ratio(1e3, wall.median));
	cells[7] = report_is(r, REPORT_TEXT) ? report_count((uint64_t)faults) :
	                                       report_real(faults);
	return REPORT_ALL;
}

static void
put_cost(struct report *r, const struct some *some)
{
	const struct report_field columns[] = {
		name_column,
		{ .name = "ns",
		    .label = "median",
		    .notation = REPORT_SHORT,
		    .width = 9 },
		{ .name = "least_ns",
		    .label = "least",
		    .notation = REPORT_SHORT,
		    .width = 9 },
		{ .name = "most_ns",
		    .label = "most",
		    .notation = REPORT_SHORT,
		    .width = 9 },
		{ .name = "own_ns",
		    .label = "own",
		    .notation = REPORT_SHORT,
		    .width = 8 },
		{ .name = "wall_ns", .shown = REPORT_DATA },
		{ .name = "M ops/s",
		    .notation = REPORT_FIXED,
		    .decimals = 2,
		    .width = 12,
		    .shown = REPORT_TEXT },
		{ .name = "page_faults", .label = "page faults", .width = 12 }
	};
	const struct report_table table = { columns, 8, some->n, some, cost_row,
		2 };
	const struct show *show = some->show;

	section_of(r, REPORT_TEXT | REPORT_DATA, "cost", some,
	    "CPU time, nanoseconds an operation; telreplay's own is subtracted")
	    ->table = &table;
	if (show->facts->compiled * show->telreplay->run.repeat < FEW)
		report_note(r, REPORT_TEXT, NULL,
		    "the trace is too short for this to say much: "
		    "--repeat runs it again");
	report_put(r);
}

static unsigned
run_row(struct report *r, const void *of, size_t i, struct report_value *cells)
{
	const struct some *some = of;
	const struct timing *t = &some->results->runs[i];

	cells[0] = item_of(r, i + 1);
	cells[1] = report_count(t->operations);
	cells[2] = report_real(t->cpu);
	cells[3] = report_real(t->wall);
	cells[4] = report_count(t->minor_faults);
	cells[5] = report_count(t->major_faults);
	return REPORT_DATA;
}

static void
put_runs(struct report *r, const struct some *some)
{
	static const struct report_field columns[] = {
		{ .name = "item", .item = 1 },
		{ .name = "operations" },
		{ .name = "cpu_ns" },
		{ .name = "wall_ns" },
		{ .name = "minor_faults" },
		{ .name = "major_faults" },
	};
	const struct report_table table = { columns, 6, some->results->nruns,
		some, run_row, 0 };

	put_table(r, REPORT_DATA, "run", some, NULL, &table);
}

/* ------------------------------------------------------------- latency */

/* The latency in nanoseconds of a kind; share 1 is the largest. */
static struct report_value
latency(const struct result *s, size_t kind, double share)
{
	const struct run_latency *l = &s->latency[kind];
	double max = (double)l->max * s->tick_ns, value;
	struct run_board scale;

	if (share >= 1)
		return report_real(max);
	memset(&scale, 0, sizeof(scale));
	scale.tick_ns = s->tick_ns;
	value = run_quantile(&scale, l, share);
	return report_real(value < max ? value : max);
}

/* Rows by kind, and of a kind by allocator. */
static unsigned
latency_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999, 1 };
	const struct some *some = of;
	const struct result *s = &some->results[i % some->n];
	size_t kind = i / some->n, j;

	(void)r;
	cells[0] = name_of(s);
	cells[1] = report_string(kinds[kind]);
	cells[2] = report_count(s->operations[kind]);
	cells[3] = report_count(s->latency[kind].count);
	for (j = 0; j < 5; j++)
		cells[4 + j] = latency(s, kind, shares[j]);
	cells[9] = report_real(s->empty_ns);
	return (s->latency[kind].count > 0 ? REPORT_TEXT : 0) |
	    (s->operations[kind] > 0 ? REPORT_DATA : 0);
}

static void
put_latency(struct report *r, const struct some *some)
{
	unsigned sample = some->show->telreplay->run.sample, i;
	struct report_field columns[] = { name_column, item_column,
		{ .name = "operations", .shown = REPORT_DATA },
		{ .name = "samples", .width = 10 }, { .name = "p50" },
		{ .name = "p90" }, { .name = "p99" }, { .name = "p99.9" },
		{ .name = "max" },
		{ .name = "subtracted", .shown = REPORT_DATA } };
	const struct report_table table = { columns, 10, RUN_KINDS * some->n,
		some, latency_row, 2 };

	for (i = 4; i < 9; i++) {
		columns[i].notation = REPORT_SHORT;
		columns[i].width = i < 8 ? 9 : 10;
	}
	put_table(r, sample > 0 ? REPORT_TEXT | REPORT_DATA : REPORT_DATA,
	    "latency", some,
	    report_text(r, "latency in nanoseconds, of one operation in %u",
	        sample),
	    &table);
}

/* ------------------------------------------------------------- threads */

static unsigned
thread_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct some *some = of;
	const struct thread_timing *t = &some->results->threads[i];

	cells[0] = item_of(r, i);
	cells[1] = report_count(t->operations);
	cells[2] = report_count(t->cpu);
	cells[3] = report_count(t->wait);
	cells[4] = report_count(t->wall);
	cells[5] = report_count(t->blocked);
	if (some->show->telreplay->run.pace > 0)
		cells[6] = report_count(t->late);
	return REPORT_DATA;
}

/* The throughput of the first threads beside each other. */
static unsigned
throughput_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct some *some = of;
	const struct result *s = &some->results[i];
	uint64_t n = some->show->facts->threads;
	size_t j;

	(void)r;
	if (s->nruns == 0)
		return 0;
	cells[0] = name_of(s);
	for (j = 0; j < n && j < THREADS_SHOWN; j++)
		cells[1 + j] = report_real(
		    show_ratio((double)s->threads[j].operations * 1e3,
		        (double)s->threads[j].wall));
	return REPORT_TEXT;
}

static void
put_threads(struct report *r, const struct some *some)
{
	static const struct report_field figures[] = {
		{ .name = "item", .item = 1 },
		{ .name = "operations" },
		{ .name = "cpu_ns" },
		{ .name = "wait_ns" },
		{ .name = "wall_ns" },
		{ .name = "blocked" },
		{ .name = "late_ns" },
	};
	size_t n = (size_t)some->show->facts->threads, i;
	size_t shown = n < THREADS_SHOWN ? n : THREADS_SHOWN;
	struct report_field columns[1 + THREADS_SHOWN] = { name_column };
	const struct report_table rows = { figures, 7,
		some->results->nruns > 0 ? n : 0, some, thread_row, 0 };
	const struct report_table beside = { columns, 1 + shown, some->n, some,
		throughput_row, 2 };
	const char *title = n > THREADS_SHOWN ?
	    "throughput by thread, M ops/s while it runs; the first eight" :
	    "throughput by thread, M ops/s while it runs";

	if (n > 1) {
		struct report_section *s =
		    section_of(r, REPORT_TEXT, "thread", some, title);

		s->table = &beside;
		for (i = 0; i < shown; i++)
			columns[1 + i] =
			    (struct report_field){ .name =
				                       report_text(r, "%zu", i),
				    .notation = REPORT_FIXED,
				    .decimals = 2,
				    .width = 8 };
		report_put(r);
	}
	put_table(r, REPORT_DATA, "thread", some, NULL, &rows);
}

/* -------------------------------------------------------------- memory */

static unsigned
memory_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct some *some = of;
	const struct facts *f = some->show->facts;
	const struct result *s = &some->results[i];

	(void)r;
	if (i == some->n) {
		cells[0] = report_string("(live)");
		cells[1] = report_count(f->peak_bytes);
		cells[3] = report_count(f->live_bytes);
		return REPORT_TEXT;
	}
	cells[0] = name_of(s);
	cells[1].type = REPORT_UNKNOWN;
	if (!s->watched)
		return REPORT_TEXT;
	cells[1] = report_count(s->peak);
	cells[2] =
	    report_real(show_ratio((double)s->peak, (double)f->peak_bytes));
	cells[3] = report_count(result_resident(s, &s->end));
	cells[4] = report_count(result_resident(s, &s->freed));
	cells[5] = report_count(s->freed.lazy);
	cells[6] = report_count(s->baseline.resident);
	cells[7] = report_count(s->asked);
	if (s->has_room)
		cells[8] = report_count(s->given);
	cells[9].type = REPORT_UNKNOWN;
	if (s->has_room && s->asked > 0)
		cells[9] = report_real((double)s->given / (double)s->asked - 1);
	return REPORT_ALL;
}

static void
put_memory(struct report *r, const struct some *some)
{
	const struct report_field columns[] = { name_column,
		{ .name = "peak_bytes",
		    .label = "peak",
		    .notation = REPORT_SIZE,
		    .width = 12 },
		{ .name = "peak_over_live",
		    .label = "peak/live",
		    .notation = REPORT_FIXED,
		    .decimals = 3,
		    .width = 12 },
		{ .name = "end_bytes",
		    .label = "at the end",
		    .notation = REPORT_SIZE,
		    .width = 12 },
		{ .name = "freed_bytes",
		    .label = "all freed",
		    .notation = REPORT_SIZE,
		    .width = 12 },
		{ .name = "freed_lazy_bytes", .shown = REPORT_DATA },
		{ .name = "baseline_bytes", .shown = REPORT_DATA },
		{ .name = "asked_bytes", .shown = REPORT_DATA },
		{ .name = "given_bytes", .shown = REPORT_DATA },
		{ .name = "slack",
		    .notation = REPORT_PERCENT,
		    .decimals = 1,
		    .width = 12,
		    .shown = REPORT_TEXT } };
	const struct report_table table = { columns, 10, some->n + 1, some,
		memory_row, 2 };

	put_table(r, REPORT_TEXT | REPORT_DATA, "memory", some,
	    "memory above that before the first operation", &table);
}

static unsigned
sample_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct some *some = of;
	const struct show *show = some->show;
	const struct result *s = some->results;
	const struct sample *at = &s->samples[i];

	cells[0] = item_of(r, i);
	cells[1] = report_real(show_ratio((double)at->done,
	    (double)show->facts->words * show->telreplay->run.repeat));
	cells[2] = report_real(contest_live(show->contest, at));
	cells[3] = report_count(result_resident(s, at));
	cells[4] = report_count(at->lazy);
	if (s->has_room)
		cells[5] = report_count(at->room);
	return REPORT_DATA;
}

static void
put_samples(struct report *r, const struct some *some)
{
	static const struct report_field columns[] = {
		{ .name = "item", .item = 1 },
		{ .name = "done" },
		{ .name = "live_bytes" },
		{ .name = "resident_bytes" },
		{ .name = "lazy_bytes" },
		{ .name = "room_bytes" },
	};
	const struct result *s = some->results;
	const struct report_table table = { columns, 6,
		s->watched ? s->nsamples : 0, some, sample_row, 0 };

	put_table(r, REPORT_DATA, "sample", some, NULL, &table);
}

/* -------------------------------------------------------- system calls */

static unsigned
calls_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct some *some = of;
	const struct result *s = &some->results[i];
	size_t k;

	(void)r;
	cells[0] = name_of(s);
	cells[1].type = REPORT_REMARK;
	cells[1].as.string = "not counted: it may not be traced";
	if (!s->calls_known)
		return REPORT_TEXT;
	for (k = 0; k < CALLS; k++)
		cells[1 + k] = report_count(s->calls[k]);
	return REPORT_ALL;
}

static void
put_calls(struct report *r, const struct some *some)
{
	struct report_field columns[1 + CALLS] = { name_column };
	const struct report_table table = { columns, 1 + CALLS, some->n, some,
		calls_row, 2 };
	size_t k;

	for (k = 0; k < CALLS; k++)
		columns[1 + k] =
		    (struct report_field){ .name =
			                       calls_name((enum system_call)k),
			    .width = 10 };
	put_table(r, REPORT_TEXT | REPORT_DATA, "calls", some,
	    "system calls for memory", &table);
}

void
show_allocators(struct report *r, const struct show *show,
    const struct result *results, size_t n)
{
	const struct some some = { show, results, n };

	put_lines(r, &some);
	if (report_is(r, REPORT_DATA))
		put_who(r, &some);
	put_cost(r, &some);
	if (report_is(r, REPORT_DATA))
		put_runs(r, &some);
	put_latency(r, &some);
	put_threads(r, &some);
	put_memory(r, &some);
	if (report_is(r, REPORT_DATA))
		put_samples(r, &some);
	if (report_is(r, REPORT_TEXT))
		show_curves(r, show);
	put_calls(r, &some);
}
