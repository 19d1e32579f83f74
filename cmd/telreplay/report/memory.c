/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of allocators: what they have from the system, which part of it
 * is in blocks, and both by the size of blocks.
 */
#include "show.h"

#include "common/page.h"

static const struct report_value unknown = { .type = REPORT_UNKNOWN };

static void
add_memory(struct report *r, const struct facts *f, const struct result *s)
{
	struct spread peak = result_figure(s, METRIC_PEAK),
	              end = result_figure(s, METRIC_END);

	show_row(r, s->watched ? REPORT_ALL : REPORT_TEXT, s);
	if (!s->watched) {
		report_cell(r, unknown);
		return;
	}
	report_cell(r, report_count(s->peak));
	report_cell(r, report_real(result_over_live(s, f)));
	report_cell(r, report_count(result_resident(s, &s->end)));
	report_cell(r,
	    s->idle.known ? report_count(result_resident(s, &s->idle)) :
	                    unknown);
	report_cell(r, report_count(result_resident(s, &s->freed)));
	report_cell(r, report_count(s->freed.lazy));
	report_cell(r, report_count(s->baseline.resident));
	report_cell(r, report_count(s->asked));
	report_cell(r, s->has_room ? report_count(s->given) : unknown);
	report_cell(r, report_count(s->live_peak));
	report_cell(r, report_count(s->end.huge));
	report_cell(r,
	    s->freed_idle.known ?
	        report_count(result_resident(s, &s->freed_idle)) :
	        unknown);
	report_cell(r, report_real(peak.least));
	report_cell(r, report_real(peak.most));
	report_cell(r, report_real(end.least));
	report_cell(r, report_real(end.most));
	report_cell(r,
	    s->has_room && s->asked > 0 ?
	        report_real((double)s->given / (double)s->asked - 1) :
	        unknown);
}

static void
put_memory(struct report *r, const struct some *some)
{
	static const char *const more[] = { "freed_lazy_bytes",
		"baseline_bytes", "asked_bytes", "given_bytes",
		"run_live_bytes", "huge_bytes", "freed_idle_bytes",
		"peak_least_bytes", "peak_most_bytes", "end_least_bytes",
		"end_most_bytes" };
	const struct facts *facts = some->show->facts;
	struct report_field *f;
	size_t i;

	(void)show_table(r, show_text(some->show, DETAILS_MEMORY) | REPORT_DATA,
	    "memory", some, "memory, net of that before the first operation");
	(void)report_column(r, "peak_bytes", "peak", REPORT_SIZE, 11);
	report_column(r, "peak_over_live", "peak/live", REPORT_FIXED, 11)
	    ->decimals = 3;
	(void)report_column(r, "end_bytes", "at the end", REPORT_SIZE, 11);
	(void)report_column(r, "idle_bytes", "then idle", REPORT_SIZE, 11);
	(void)report_column(r, "freed_bytes", "all freed", REPORT_SIZE, 11);
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		report_column(r, more[i], NULL, REPORT_GROUPED, 0)->shown =
		    REPORT_DATA;
	f = report_column(r, "slack", NULL, REPORT_PERCENT, 10);
	f->decimals = 1;
	f->shown = REPORT_TEXT;
	for (i = 0; i < some->n; i++)
		add_memory(r, facts, &some->results[i]);
	report_row(r, REPORT_TEXT);
	report_cell(r, report_string("(live)"));
	report_cell(r, report_count(facts->peak_bytes));
	report_cell(r, report_optional(""));
	report_cell(r, report_count(facts->live_bytes));
	report_put(r);
}

/*
 * Resident bytes outside of live blocks in the largest sample: free blocks,
 * data of the allocator, and the ends of pages.
 */
static void
add_residency(struct report *r, const struct result *s)
{
	const struct sample *most = result_largest(s);
	double resident;
	uint64_t room;

	show_row(r, s->watched && most != NULL ? REPORT_ALL : REPORT_TEXT, s);
	if (!s->watched || most == NULL) {
		report_cell(r, unknown);
		return;
	}
	resident = (double)result_resident(s, most);
	room = most->room;
	report_cell(r, report_real(resident));
	if (s->has_room) {
		report_cell(r, report_count(room));
		report_cell(r,
		    report_real(
		        (double)room < resident ? resident - (double)room : 0));
		report_cell(r,
		    report_real((double)room < resident ?
		            1 - (double)room / resident :
		            0));
	} else {
		report_cell(r, unknown);
		report_cell(r, unknown);
		report_cell(r, unknown);
	}
	report_cell(r,
	    report_real(
	        show_ratio((double)most->huge, (double)most->resident)));
	report_cell(r, report_count(most->lazy));
}

static void
put_residency(struct report *r, const struct some *some)
{
	size_t i;

	(void)show_table(r, show_text(some->show, DETAILS_MEMORY) | REPORT_DATA,
	    "residency", some,
	    "largest sample of resident memory: in blocks, and in none");
	(void)report_column(r, "resident_bytes", "resident", REPORT_SIZE, 11);
	(void)report_column(r, "room_bytes", "in blocks", REPORT_SIZE, 11);
	(void)report_column(r, "free_bytes", "in none", REPORT_SIZE, 11);
	report_column(r, "free_share", "share", REPORT_PERCENT, 9)->decimals =
	    1;
	report_column(r, "huge_share", "huge pages", REPORT_PERCENT, 11)
	    ->decimals = 1;
	(void)report_column(r, "lazy_bytes", "freed lazily", REPORT_SIZE, 13);
	for (i = 0; i < some->n; i++)
		add_residency(r, &some->results[i]);
	report_put(r);
}

/* The most columns of allocators in a table by the size of blocks. */
#define BESIDE 6

/* Starts such a table: a column for each allocator. */
static void
open_size_table(struct report *r, const char *type, const char *title,
    const struct result *s, size_t n, enum report_notation notation)
{
	char text[16];
	size_t i;

	report_section(r, REPORT_TEXT, type)->apart = 1;
	r->section.sparse = 1;
	r->section.title = title;
	r->section.indent = 2;
	report_column(r, "", NULL, REPORT_GROUPED, 17)->left = 1;
	for (i = 0; i < n; i++)
		report_column(r,
		    report_text(r, "%s",
		        page_escape(text, 9, s[i].allocator->name)),
		    NULL, notation, 10)
		    ->decimals = 1;
}

static int
has_slack(const struct result *s, size_t n, size_t size)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s[i].has_room && s[i].slack[size].blocks > 0)
			return 1;
	return 0;
}

/* How much larger than requested blocks are. */
static void
put_slack_table(struct report *r, const struct result *s, size_t n)
{
	size_t size, i;

	open_size_table(r, "slack", "slack by requested size", s, n,
	    REPORT_PERCENT);
	for (size = 0; size < RUN_SIZES; size++) {
		if (!has_slack(s, n, size))
			continue;
		report_row(r, REPORT_TEXT);
		report_cell(r, report_string(show_range(r, size)));
		for (i = 0; i < n; i++) {
			const struct run_slack *k = &s[i].slack[size];

			report_cell(r,
			    !s[i].has_room || k->asked == 0 ?
			        unknown :
			        report_real(
			            (double)k->given / (double)k->asked - 1));
		}
	}
	report_put(r);
}

/* Bytes of resident pages that hold no live block. */
static uint64_t
in_none(const struct result *s)
{
	uint64_t all = result_resident(s, &s->at_peak);
	size_t i;

	for (i = 0; i < RUN_SIZES; i++) {
		uint64_t some = s->residency.size[i].resident;

		all -= some < all ? some : all;
	}
	return all;
}

/* Nonzero when it is known which pages hold the blocks of an allocator. */
static int
has_sizes(const struct result *s)
{
	return s->watched && s->at_peak.known && s->residency.known;
}

static void
put_size_row(struct report *r, const struct result *s, size_t n, size_t size)
{
	int any = 0;
	size_t i;

	for (i = 0; i < n; i++)
		any |=
		    size == RUN_SIZES || s[i].residency.size[size].blocks > 0;
	if (!any)
		return;
	report_row(r, REPORT_TEXT);
	report_cell(r,
	    report_string(
	        size < RUN_SIZES ? show_range(r, size) : "in no block"));
	for (i = 0; i < n; i++)
		report_cell(r,
		    !has_sizes(&s[i]) ?
		        unknown :
		        size < RUN_SIZES ?
		        report_count(s[i].residency.size[size].resident) :
		        report_count(in_none(&s[i])));
}

/* Which sizes the resident pages are for, near the peak of live bytes. */
static void
put_size_table(struct report *r, const struct result *s, size_t n)
{
	size_t size;

	open_size_table(r, "size_residency",
	    "resident pages by requested size, near the peak of live bytes", s,
	    n, REPORT_SIZE);
	for (size = 0; size <= RUN_SIZES; size++)
		put_size_row(r, s, n, size);
	report_put(r);
}

/* Medians to allocate and to free a block of a class; NaN: no samples. */
struct size_time {
	double allocate, release;
	uint64_t allocated, freed;
};

static struct size_time
size_time(const struct result *s, size_t size)
{
	struct size_time t;

	t.allocate = s->tick_ns *
	    run_coarse_median(s->size_time[size].allocated, &t.allocated);
	t.release =
	    s->tick_ns * run_coarse_median(s->size_time[size].freed, &t.freed);
	return t;
}

static struct report_value
time_pair(struct report *r, const struct size_time *t)
{
	return report_string(t->freed == 0 ?
	        report_text(r, "%.0f", t->allocate) :
	        report_text(r, "%.0f %.0f", t->allocate, t->release));
}

/* The time to allocate and to free a block of each class. */
static void
put_time_table(struct report *r, const struct result *s, size_t n)
{
	struct size_time t[BESIDE];
	size_t size, i;
	uint64_t any;

	open_size_table(r, "size_time",
	    "nanoseconds to allocate and to free, medians by requested size", s,
	    n, REPORT_GROUPED);
	for (size = 0; size < RUN_SIZES; size++) {
		for (any = 0, i = 0; i < n; i++) {
			t[i] = size_time(&s[i], size);
			any |= t[i].allocated;
		}
		if (any == 0)
			continue;
		report_row(r, REPORT_TEXT);
		report_cell(r, report_string(show_range(r, size)));
		for (i = 0; i < n; i++)
			report_cell(r,
			    t[i].allocated == 0 ? unknown :
			                          time_pair(r, &t[i]));
	}
	report_put(r);
}

static void
put_sizes(struct report *r, const struct some *some)
{
	size_t i, n;

	for (i = 0; i < some->n; i += BESIDE) {
		n = some->n - i < BESIDE ? some->n - i : BESIDE;
		if (show_text(some->show, DETAILS_SLACK) != 0)
			put_slack_table(r, some->results + i, n);
		if (show_text(some->show, DETAILS_SIZES) != 0) {
			put_size_table(r, some->results + i, n);
			put_time_table(r, some->results + i, n);
		}
	}
}

/* The same for programs, of one. */
static void
put_time_rows(struct report *r, const struct result *s)
{
	struct size_time t;
	size_t i;

	for (i = 0; i < RUN_SIZES; i++) {
		t = size_time(s, i);
		if (t.allocated + t.freed == 0)
			continue;
		(void)show_item(r, "size_time", s,
		    i == 0 ? 0 : (uint64_t)1 << (i - 1));
		report_data(r, "allocation_samples", report_count(t.allocated));
		if (t.allocated > 0)
			report_data(r, "allocation_ns",
			    report_real(t.allocate));
		report_data(r, "free_samples", report_count(t.freed));
		if (t.freed > 0)
			report_data(r, "free_ns", report_real(t.release));
		report_put(r);
	}
}

static void
put_size_rows(struct report *r, const struct result *s)
{
	size_t i;

	for (i = 0; i < RUN_SIZES && has_sizes(s); i++) {
		if (s->residency.size[i].blocks == 0)
			continue;
		(void)show_item(r, "size_residency", s,
		    i == 0 ? 0 : (uint64_t)1 << (i - 1));
		report_data(r, "blocks",
		    report_count(s->residency.size[i].blocks));
		report_data(r, "asked_bytes",
		    report_count(s->residency.size[i].asked));
		report_data(r, "pages",
		    report_count(s->residency.size[i].pages));
		report_data(r, "resident_bytes",
		    report_count(s->residency.size[i].resident));
		report_put(r);
	}
	if (!has_sizes(s))
		return;
	report_section(r, REPORT_DATA, "size_residency")->name =
	    s->allocator->name;
	r->section.item = "none";
	report_data(r, "resident_bytes", report_count(in_none(s)));
	report_put(r);
}

static void
put_slack_rows(struct report *r, const struct result *s)
{
	size_t i;

	for (i = 0; i < RUN_SIZES; i++) {
		if (!has_slack(s, 1, i))
			continue;
		(void)show_item(r, "slack", s,
		    i == 0 ? 0 : (uint64_t)1 << (i - 1));
		report_data(r, "blocks", report_count(s->slack[i].blocks));
		report_data(r, "asked_bytes", report_count(s->slack[i].asked));
		report_data(r, "given_bytes", report_count(s->slack[i].given));
		report_put(r);
	}
}

static const char *
phase_name(uint32_t phase)
{
	switch (phase) {
	case PHASE_IDLE: return "idle";
	case PHASE_ENDING: return "freeing";
	case PHASE_FREED: return "freed";
	default: return "running";
	}
}

static void
put_samples(struct report *r, const struct show *show, const struct result *s)
{
	double words = (double)show->facts->words * show->telreplay->run.repeat;
	size_t i;

	for (i = 0; i < s->nsamples && s->watched; i++) {
		const struct sample *at = &s->samples[i];

		(void)show_item(r, "sample", s, i);
		report_data(r, "done",
		    report_real(show_ratio((double)at->done, words)));
		report_data(r, "time_ns", report_count(at->ns));
		report_data(r, "phase", report_string(phase_name(at->phase)));
		report_data(r, "live_bytes",
		    report_real(benchmark_live(show->benchmark, at)));
		report_data(r, "run_live_bytes", report_count(at->live));
		report_data(r, "resident_bytes",
		    report_count(result_resident(s, at)));
		report_data(r, "lazy_bytes", report_count(at->lazy));
		report_data(r, "huge_bytes", report_count(at->huge));
		if (s->has_room)
			report_data(r, "room_bytes", report_count(at->room));
		report_put(r);
	}
}

void
show_memory(struct report *r, const struct some *some)
{
	put_memory(r, some);
	put_residency(r, some);
	if (report_is(r, REPORT_TEXT))
		put_sizes(r, some);
}

void
show_memory_rows(struct report *r, const struct show *show,
    const struct result *s)
{
	put_slack_rows(r, s);
	put_size_rows(r, s);
	put_time_rows(r, s);
	put_samples(r, show, s);
}

/* -------------------------------------------------------------- picture */

/* A bar for each class that has blocks, and a last one for "in no block". */
struct bars {
	const struct result *result;
	size_t n, classes[RUN_SIZES];
};

static void
size_bar(struct report *r, const void *of, size_t i, struct report_bar *out)
{
	const struct bars *b = of;
	const struct result *s = b->result;

	if (i == b->n) {
		out->label = report_string("in no block");
		out->count = in_none(s);
		return;
	}
	out->label = report_string(show_range(r, b->classes[i]));
	out->count = s->residency.size[b->classes[i]].resident;
}

static void
put_size_bars(struct report *r, const struct result *s)
{
	struct bars b = { .result = s };
	struct report_bars bars = { .title = "resident bytes",
		.of = &b,
		.bar = size_bar };
	struct report_section *section =
	    report_section(r, REPORT_SVG, "size_residency");
	uint64_t sum = in_none(s);
	size_t i;

	for (i = 0; i < RUN_SIZES; i++) {
		if (s->residency.size[i].blocks > 0)
			b.classes[b.n++] = i;
		sum += s->residency.size[i].resident;
	}
	bars.n = b.n + 1;
	bars.weight = figure_int128_of(sum);
	section->title =
	    report_text(r, "Resident pages of %.60s", s->allocator->name);
	section->definition =
	    "by requested size of their blocks in bytes, near the peak of "
	    "live bytes";
	section->bars = &bars;
	report_put(r);
}

void
show_size_bars(struct report *r, const struct show *show)
{
	size_t i, n = show->benchmark != NULL ? show->benchmark->n : 0;

	for (i = 0; i < n; i++)
		if (has_sizes(&show->benchmark->results[i]))
			put_size_bars(r, &show->benchmark->results[i]);
}
