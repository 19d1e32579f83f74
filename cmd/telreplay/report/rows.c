/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms "csv" and "json": the same rows, each with an allocator, a type,
 * an item, and figures.
 */
#include "row.h"

#include <inttypes.h>
#include <stdio.h>
#include "telreplay/run/calls.h"
#include "common/page.h"

static void
put_trace(const struct report *r)
{
	const struct facts *f = r->facts;
	struct row row = row_open(r, "trace", "", "");

	row_integer(&row, "threads", f->log_threads);
	row_integer(&row, "lanes", f->threads);
	row_string(&row, "order", report_order(f));
	row_integer(&row, "operations", f->compiled);
	row_integer(&row, "waits", f->waits);
	row_integer(&row, "crossing_frees", f->crossing_frees);
	row_integer(&row, "crossing_reallocs", f->crossing_reallocs);
	row_integer(&row, "partial_frees", f->parts);
	row_integer(&row, "pools", f->pools);
	row_integer(&row, "buffers", f->buffers);
	row_integer(&row, "requests", f->requests);
	row_integer(&row, "requested_bytes", f->requested);
	row_integer(&row, "largest_bytes", f->largest);
	row_integer(&row, "peak_bytes", f->peak_bytes);
	row_integer(&row, "peak_bytes_blocks", f->peak_of_blocks);
	row_integer(&row, "peak_blocks", f->peak_blocks);
	row_integer(&row, "peak_event", f->peak_event);
	row_integer(&row, "live_bytes", f->live_bytes);
	row_integer(&row, "live_blocks", f->live_blocks);
	row_close(&row);
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
		row = row_open(r, type, "", item);
		row_integer(&row, what, counts[i]);
		if (left != NULL)
			row_integer(&row, "not_freed", left[i]);
		row_close(&row);
	}
}

static void
put_odd(const struct report *r)
{
	const struct facts *f = r->facts;
	struct row row;
	uint64_t i;
	int k;

	for (k = 0; k < ALLOC_KINDS; k++) {
		if (f->operations[k] == 0)
			continue;
		row = row_open(r, "operation", "", report_operations[k]);
		row_integer(&row, "events", f->operations[k]);
		row_close(&row);
	}
	for (k = 0; k < ANOMALIES; k++) {
		if (f->anomalies[k] == 0)
			continue;
		row = row_open(r,
		    anomaly_is_damage((enum anomaly)k) ? "wrong" : "odd", "",
		    anomaly_text((enum anomaly)k));
		row_integer(&row, "events", f->anomalies[k]);
		row_close(&row);
	}
	for (i = 0; i < f->anomaly_event_count; i++) {
		const struct anomaly_event *o = &f->anomaly_events[i];

		row = row_open(r, "odd event", "", anomaly_text(o->anomaly));
		row_string(&row, "log", f->log_names[o->log]);
		row_integer(&row, "event", o->event);
		row_integer(&row, "address", o->address);
		row_integer(&row, "thread", o->thread);
		row_close(&row);
	}
}

static void
put_live(const struct report *r)
{
	const struct facts *f = r->facts;
	char item[24];
	uint64_t i;

	for (i = 0; i < f->curve_points; i++) {
		struct row row;

		(void)snprintf(item, sizeof(item), "%" PRIu64, i);
		row = row_open(r, "live", "", item);
		row_real(&row, "done",
		    report_ratio((double)f->curve[i].done, (double)f->words));
		row_integer(&row, "blocks", f->curve[i].blocks);
		row_integer(&row, "bytes", f->curve[i].bytes);
		row_close(&row);
	}
}

static void
put_machine(const struct report *r)
{
	const struct telreplay *t = r->telreplay;
	struct row row = row_open(r, "machine", "", "");
	struct report_machine m;

	report_machine(&m);
	row_string(&row, "kernel", m.kernel);
	row_string(&row, "processor", m.processor);
	row_integer(&row, "processors", m.processors);
	row_string(&row, "huge_pages", m.huge_pages);
	row_integer(&row, "runs", t->runs);
	row_integer(&row, "repeat", t->run.repeat);
	row_string(&row, "touch", report_touch(t->run.touch));
	row_integer(&row, "verified", t->run.verify != 0);
	row_real(&row, "pace", t->run.pace);
	row_integer(&row, "sampled_each", t->run.sample);
	row_close(&row);
}

static void
put_who(const struct report *r, const struct result *s)
{
	const char *name = s->candidate->name;
	struct row row = row_open(r, "allocator", name, "");
	char item[24];
	size_t i;

	row_string(&row, "path", s->path);
	row_string(&row, "version", s->release);
	row_string(&row, "pool", s->plugin ? s->called : "");
	row_string(&row, "parameters", s->candidate->parameters);
	row_integer(&row, "failed", (uint64_t)(s->failed != 0));
	row_string(&row, "failure", s->why);
	row_integer(&row, "failed_allocations", s->failures);
	row_integer(&row, "errors", s->errors);
	row_close(&row);
	for (i = 0; i < s->nsettings; i++) {
		(void)snprintf(item, sizeof(item), "%zu", i);
		row = row_open(r, "setting", name, item);
		row_string(&row, "assignment", s->settings[i]);
		row_close(&row);
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
	row = row_open(r, "cost", name, "");
	row_real(&row, "ns", cost.median - result_own(s));
	row_real(&row, "least_ns", cost.least - result_own(s));
	row_real(&row, "most_ns", cost.most - result_own(s));
	row_real(&row, "own_ns", result_own(s));
	row_real(&row, "wall_ns", wall.median);
	row_real(&row, "page_faults", result_faults(s).median);
	row_close(&row);
	for (i = 0; i < s->nruns; i++) {
		const struct timing *t = &s->runs[i];

		(void)snprintf(item, sizeof(item), "%zu", i + 1);
		row = row_open(r, "run", name, item);
		row_integer(&row, "operations", t->operations);
		row_real(&row, "cpu_ns", t->cpu);
		row_real(&row, "wall_ns", t->wall);
		row_integer(&row, "minor_faults", t->minor_faults);
		row_integer(&row, "major_faults", t->major_faults);
		row_close(&row);
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
		    row_open(r, "latency", s->candidate->name, report_kinds[k]);
		row_integer(&row, "operations", s->operations[k]);
		row_integer(&row, "samples", s->latency[k].count);
		for (q = 0; q < REPORT_QUANTILES; q++)
			row_real(&row, report_quantiles[q].name,
			    report_latency(s, (enum run_kind)k,
			        report_quantiles[q].share));
		row_real(&row, "max", report_latency(s, (enum run_kind)k, 1));
		row_real(&row, "subtracted", s->empty_ns);
		row_close(&row);
	}
}

static void
put_threads(const struct report *r, const struct result *s)
{
	uint64_t i;
	char item[24];

	for (i = 0; i < r->facts->threads && s->nruns > 0; i++) {
		const struct thread_timing *thread = &s->threads[i];
		struct row row;

		(void)snprintf(item, sizeof(item), "%" PRIu64, i);
		row = row_open(r, "thread", s->candidate->name, item);
		row_integer(&row, "operations", thread->operations);
		row_integer(&row, "cpu_ns", thread->cpu);
		row_integer(&row, "wait_ns", thread->wait);
		row_integer(&row, "wall_ns", thread->wall);
		row_integer(&row, "blocked", thread->blocked);
		if (r->telreplay->run.pace > 0)
			row_integer(&row, "late_ns", thread->late);
		row_close(&row);
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
	row = row_open(r, "memory", name, "");
	row_integer(&row, "peak_bytes", s->peak);
	row_real(&row, "peak_over_live",
	    report_ratio((double)s->peak, (double)r->facts->peak_bytes));
	row_integer(&row, "end_bytes", result_resident(s, &s->end));
	row_integer(&row, "freed_bytes", result_resident(s, &s->freed));
	row_integer(&row, "freed_lazy_bytes", s->freed.lazy);
	row_integer(&row, "baseline_bytes", s->baseline.resident);
	row_integer(&row, "asked_bytes", s->asked);
	if (s->has_room)
		row_integer(&row, "given_bytes", s->given);
	row_close(&row);
	for (i = 0; i < s->nsamples; i++) {
		const struct sample *at = &s->samples[i];

		(void)snprintf(item, sizeof(item), "%zu", i);
		row = row_open(r, "sample", name, item);
		row_real(&row, "done",
		    report_ratio((double)at->done,
		        (double)r->facts->words * r->telreplay->run.repeat));
		row_real(&row, "live_bytes", contest_live(r->contest, at));
		row_integer(&row, "resident_bytes", result_resident(s, at));
		row_integer(&row, "lazy_bytes", at->lazy);
		if (s->has_room)
			row_integer(&row, "room_bytes", at->room);
		row_close(&row);
	}
}

static void
put_calls(const struct report *r, const struct result *s)
{
	struct row row;
	size_t k;

	if (!s->calls_known)
		return;
	row = row_open(r, "calls", s->candidate->name, "");
	for (k = 0; k < CALLS; k++)
		row_integer(&row, calls_name((enum system_call)k), s->calls[k]);
	row_close(&row);
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
