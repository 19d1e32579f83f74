/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms "csv" and "json": the same rows, each with an allocator, a type,
 * an item, and figures.  JSON has an object for a row; CSV a line for a
 * figure.
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include "calls.h"
#include "common/figure.h"
#include "common/page.h"

/* The last integer that each reader of JSON takes as it is. */
#define EXACT ((uint64_t)1 << 53)

/* A row in the making. */
struct row {
	tel_output *out;
	int json;
	const char *allocator, *type, *item;
};

static struct row
open_row(const struct report *r, const char *type, const char *allocator,
    const char *item)
{
	struct row row = { r->out, r->telreplay->form == &form_json, allocator,
		type, item };

	if (!row.json)
		return row;
	put(row.out, "{\"type\":");
	put_json(row.out, type);
	if (allocator[0] != '\0') {
		put(row.out, ",\"allocator\":");
		put_json(row.out, allocator);
	}
	if (item[0] != '\0') {
		put(row.out, ",\"item\":");
		put_json(row.out, item);
	}
	return row;
}

static void
close_row(const struct row *row)
{
	if (row->json)
		put(row->out, "}\n");
}

/* What stands before a value. */
static void
put_before(const struct row *row, const char *name)
{
	if (row->json) {
		putf(row->out, ",\"%s\":", name);
		return;
	}
	put_csv(row->out, row->type);
	put(row->out, ",");
	put_csv(row->out, row->allocator);
	put(row->out, ",");
	put_csv(row->out, row->item);
	putf(row->out, ",%s,", name);
}

static void
put_after(const struct row *row)
{
	if (!row->json)
		put(row->out, "\n");
}

static void
put_integer(const struct row *row, const char *name, uint64_t v)
{
	const char *quote = row->json && v > EXACT ? "\"" : "";

	put_before(row, name);
	putf(row->out, "%s%" PRIu64 "%s", quote, v, quote);
	put_after(row);
}

static void
put_real(const struct row *row, const char *name, double v)
{
	char text[FIGURE_TEXT];

	put_before(row, name);
	put(row->out, figure_exact(v, text));
	put_after(row);
}

static void
put_string(const struct row *row, const char *name, const char *text)
{
	if (text[0] == '\0')
		return;
	put_before(row, name);
	if (row->json)
		put_json(row->out, text);
	else
		put_csv(row->out, text);
	put_after(row);
}

static void
put_trace(const struct report *r)
{
	const tel_facts *f = r->facts;
	struct row row = open_row(r, "trace", "", "");

	put_integer(&row, "threads", f->threads);
	put_integer(&row, "lanes", f->lanes);
	put_string(&row, "order", report_order(f));
	put_integer(&row, "operations", f->compiled);
	put_integer(&row, "waits", f->waits);
	put_integer(&row, "crossing_frees", f->crossing_frees);
	put_integer(&row, "crossing_reallocs", f->crossing_reallocs);
	put_integer(&row, "partial_frees", f->parts);
	put_integer(&row, "pools", f->pools);
	put_integer(&row, "buffers", f->buffers);
	put_integer(&row, "requests", f->requests);
	put_integer(&row, "requested_bytes", f->requested);
	put_integer(&row, "largest_bytes", f->largest);
	put_integer(&row, "peak_bytes", f->peak_bytes);
	put_integer(&row, "peak_bytes_blocks", f->peak_of_blocks);
	put_integer(&row, "peak_blocks", f->peak_blocks);
	put_integer(&row, "peak_event", f->peak_event);
	put_integer(&row, "live_bytes", f->live_bytes);
	put_integer(&row, "live_blocks", f->live_blocks);
	close_row(&row);
}

/* Histograms: an item is the least value of its range. */
static void
put_histogram(const struct report *r, const char *type, const char *what,
    const uint64_t *counts, const uint64_t *left)
{
	char item[24];
	unsigned i;

	for (i = 0; i <= 64; i++) {
		struct row row;

		if (counts[i] == 0)
			continue;
		(void)snprintf(item, sizeof(item), "%" PRIu64,
		    i == 0 ? 0 : (uint64_t)1 << (i - 1));
		row = open_row(r, type, "", item);
		put_integer(&row, what, counts[i]);
		if (left != NULL)
			put_integer(&row, "not_freed", left[i]);
		close_row(&row);
	}
}

static void
put_odd(const struct report *r)
{
	const tel_facts *f = r->facts;
	struct row row;
	uint64_t i;
	int k;

	for (k = 0; k < TEL_ALLOC_KINDS; k++) {
		if (f->operations[k] == 0)
			continue;
		row = open_row(r, "operation", "", report_operations[k]);
		put_integer(&row, "events", f->operations[k]);
		close_row(&row);
	}
	for (k = 0; k < TEL_ODD_KINDS; k++) {
		if (f->odd[k] == 0)
			continue;
		row = open_row(r, tel_odd_damage((tel_odd)k) ? "wrong" : "odd",
		    "", tel_odd_text((tel_odd)k));
		put_integer(&row, "events", f->odd[k]);
		close_row(&row);
	}
	for (i = 0; i < f->odd_kept; i++) {
		const tel_odd_one *o = &f->odd_ones[i];

		row = open_row(r, "odd event", "", tel_odd_text(o->odd));
		put_string(&row, "log", f->log_names[o->log]);
		put_integer(&row, "event", o->event);
		put_integer(&row, "address", o->address);
		put_integer(&row, "thread", o->thread);
		close_row(&row);
	}
}

static void
put_live(const struct report *r)
{
	const tel_facts *f = r->facts;
	char item[24];
	uint64_t i;

	for (i = 0; i < f->curve_points; i++) {
		struct row row;

		(void)snprintf(item, sizeof(item), "%" PRIu64, i);
		row = open_row(r, "live", "", item);
		put_real(&row, "done",
		    report_ratio((double)f->curve[i].done, (double)f->words));
		put_integer(&row, "blocks", f->curve[i].blocks);
		put_integer(&row, "bytes", f->curve[i].bytes);
		close_row(&row);
	}
}

static void
put_machine(const struct report *r)
{
	const struct telreplay *t = r->telreplay;
	struct row row = open_row(r, "machine", "", "");
	struct report_machine m;

	report_machine(&m);
	put_string(&row, "kernel", m.kernel);
	put_string(&row, "processor", m.processor);
	put_integer(&row, "processors", m.processors);
	put_string(&row, "huge_pages", m.huge_pages);
	put_integer(&row, "runs", t->runs);
	put_integer(&row, "repeat", t->run.repeat);
	put_string(&row, "touch", report_touch(t->run.touch));
	put_integer(&row, "verified", t->run.verify != 0);
	put_real(&row, "pace", t->run.pace);
	put_integer(&row, "sampled_each", t->run.sample);
	close_row(&row);
}

static void
put_who(const struct report *r, const struct result *s)
{
	const char *name = s->candidate->name;
	struct row row = open_row(r, "allocator", name, "");
	char item[24];
	size_t i;

	put_string(&row, "path", s->path);
	put_string(&row, "version", s->release);
	put_string(&row, "pool", s->plugin ? s->called : "");
	put_string(&row, "parameters", s->candidate->parameters);
	put_integer(&row, "failed", (uint64_t)(s->failed != 0));
	put_string(&row, "failure", s->why);
	put_integer(&row, "failed_allocations", s->failures);
	put_integer(&row, "errors", s->errors);
	close_row(&row);
	for (i = 0; i < s->nsettings; i++) {
		(void)snprintf(item, sizeof(item), "%zu", i);
		row = open_row(r, "setting", name, item);
		put_string(&row, "assignment", s->settings[i]);
		close_row(&row);
	}
}

static void
put_runs(const struct report *r, const struct result *s)
{
	struct spread cost = result_cost(s), wall = result_wall(s);
	const char *name = s->candidate->name;
	struct row row;
	char item[24];
	size_t i;

	if (s->nruns == 0)
		return;
	row = open_row(r, "cost", name, "");
	put_real(&row, "ns", cost.median - result_own(s));
	put_real(&row, "least_ns", cost.least - result_own(s));
	put_real(&row, "most_ns", cost.most - result_own(s));
	put_real(&row, "own_ns", result_own(s));
	put_real(&row, "wall_ns", wall.median);
	put_real(&row, "page_faults", result_faults(s).median);
	close_row(&row);
	for (i = 0; i < s->nruns; i++) {
		const struct timing *t = &s->runs[i];

		(void)snprintf(item, sizeof(item), "%zu", i + 1);
		row = open_row(r, "run", name, item);
		put_integer(&row, "operations", t->operations);
		put_real(&row, "cpu_ns", t->cpu);
		put_real(&row, "wall_ns", t->wall);
		put_integer(&row, "minor_faults", t->minor_faults);
		put_integer(&row, "major_faults", t->major_faults);
		close_row(&row);
	}
}

static void
put_latency(const struct report *r, const struct result *s)
{
	size_t k, q;

	for (k = 0; k < RUN_KINDS; k++) {
		struct row row;

		if (s->operations[k] == 0)
			continue;
		row =
		    open_row(r, "latency", s->candidate->name, report_kinds[k]);
		put_integer(&row, "operations", s->operations[k]);
		put_integer(&row, "samples", s->latency[k].count);
		for (q = 0; q < REPORT_QUANTILES; q++)
			put_real(&row, report_quantiles[q].name,
			    report_latency(s, (enum run_kind)k,
			        report_quantiles[q].share));
		put_real(&row, "max", report_latency(s, (enum run_kind)k, 1));
		put_real(&row, "subtracted", s->empty_ns);
		close_row(&row);
	}
}

static void
put_threads(const struct report *r, const struct result *s)
{
	uint64_t i;
	char item[24];

	for (i = 0; i < r->facts->lanes && s->nruns > 0; i++) {
		const struct lane *lane = &s->lanes[i];
		struct row row;

		(void)snprintf(item, sizeof(item), "%" PRIu64, i);
		row = open_row(r, "thread", s->candidate->name, item);
		put_integer(&row, "operations", lane->operations);
		put_integer(&row, "cpu_ns", lane->cpu);
		put_integer(&row, "wait_ns", lane->wait);
		put_integer(&row, "wall_ns", lane->wall);
		put_integer(&row, "blocked", lane->blocked);
		if (r->telreplay->run.pace > 0)
			put_integer(&row, "late_ns", lane->late);
		close_row(&row);
	}
}

static void
put_memory(const struct report *r, const struct result *s)
{
	const char *name = s->candidate->name;
	struct row row;
	char item[24];
	size_t i;

	if (!s->watched)
		return;
	row = open_row(r, "memory", name, "");
	put_integer(&row, "peak_bytes", s->peak);
	put_real(&row, "peak_over_live",
	    report_ratio((double)s->peak, (double)r->facts->peak_bytes));
	put_integer(&row, "end_bytes", result_resident(s, &s->end));
	put_integer(&row, "freed_bytes", result_resident(s, &s->freed));
	put_integer(&row, "freed_lazy_bytes", s->freed.lazy);
	put_integer(&row, "baseline_bytes", s->baseline.resident);
	put_integer(&row, "asked_bytes", s->asked);
	if (s->has_room)
		put_integer(&row, "given_bytes", s->given);
	close_row(&row);
	for (i = 0; i < s->nsamples; i++) {
		const struct sample *at = &s->samples[i];

		(void)snprintf(item, sizeof(item), "%zu", i);
		row = open_row(r, "sample", name, item);
		put_real(&row, "done",
		    report_ratio((double)at->done,
		        (double)r->facts->words * r->telreplay->run.repeat));
		put_real(&row, "live_bytes", contest_live(r->contest, at));
		put_integer(&row, "resident_bytes", result_resident(s, at));
		put_integer(&row, "lazy_bytes", at->lazy);
		if (s->has_room)
			put_integer(&row, "room_bytes", at->room);
		close_row(&row);
	}
}

static void
put_calls(const struct report *r, const struct result *s)
{
	struct row row;
	size_t k;

	if (!s->calls_known)
		return;
	row = open_row(r, "calls", s->candidate->name, "");
	for (k = 0; k < CALLS; k++)
		put_integer(&row, calls_name((enum system_call)k), s->calls[k]);
	close_row(&row);
}

static void
show(const struct report *r)
{
	size_t i;

	if (r->telreplay->form == &form_csv)
		put(r->out, "type,allocator,item,figure,value\n");
	put_trace(r);
	put_odd(r);
	put_histogram(r, "size", "requests", r->facts->sizes, r->facts->leaked);
	put_histogram(r, "lifetime", "blocks", r->facts->lived, NULL);
	if (r->facts->tick_rate > 0)
		put_histogram(r, "lifetime_ticks", "blocks",
		    r->facts->lived_ticks, NULL);
	put_live(r);
	if (r->contest == NULL)
		return;
	put_machine(r);
	for (i = 0; i < r->contest->n; i++) {
		const struct result *s = &r->contest->results[i];

		put_who(r, s);
		put_runs(r, s);
		put_latency(r, s);
		put_threads(r, s);
		put_memory(r, s);
		put_calls(r, s);
	}
}

const struct form form_csv = { "csv", show };
const struct form form_json = { "json", show };
