/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of allocators: what they have from the system, which part of it
 * is in blocks, and both by the size of blocks.
 */
#include "show.h"

#include <math.h>

/* Resident bytes of a sample; NaN: there is none. */
static double
resident_of(const struct result *s, const struct sample *at)
{
	return at->known ? (double)result_resident(s, at) : NAN;
}

static void
add_memory(struct report *r, const struct facts *f, const struct result *s)
{
	const double cells[] = { (double)s->peak, result_over_live(s, f),
		resident_of(s, &s->end), resident_of(s, &s->idle),
		resident_of(s, &s->freed), (double)s->freed.lazy,
		(double)s->baseline.resident, (double)s->asked,
		s->has_room ? (double)s->given : NAN, (double)s->live_peak,
		(double)s->end.huge, resident_of(s, &s->freed_idle),
		s->figures[METRIC_PEAK].least, s->figures[METRIC_PEAK].most,
		s->figures[METRIC_END].least, s->figures[METRIC_END].most,
		s->has_room && s->asked > 0 ?
		    (double)s->given / (double)s->asked - 1 :
		    NAN };

	show_row(r, s->watched ? REPORT_ALL : REPORT_TEXT, s);
	if (s->watched)
		show_cells(r, cells, sizeof(cells) / sizeof(cells[0]));
	else
		report_cell(r, show_real(NAN));
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

	(void)show_table(r, show_text(some->show, DETAILS_MEMORY) | REPORT_DATA,
	    "memory", some, "memory, net of that before the first operation");
	(void)report_column(r, "peak_bytes", "peak", REPORT_SIZE, 11);
	report_column(r, "peak_over_live", "peak/live", REPORT_FIXED, 11)
	    ->decimals = 3;
	(void)report_column(r, "end_bytes", "at the end", REPORT_SIZE, 11);
	(void)report_column(r, "idle_bytes", "then idle", REPORT_SIZE, 11);
	(void)report_column(r, "freed_bytes", "all freed", REPORT_SIZE, 11);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		report_column(r, more[i], NULL, REPORT_GROUPED, 0)->shown =
		    REPORT_DATA;
	f = report_column(r, "slack", NULL, REPORT_PERCENT, 10);
	f->decimals = 1;
	f->shown = REPORT_TEXT;
	for (size_t i = 0; i < some->n; i++)
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
	double resident, room, cells[6];

	show_row(r, s->watched && most != NULL ? REPORT_ALL : REPORT_TEXT, s);
	if (!s->watched || most == NULL) {
		report_cell(r, show_real(NAN));
		return;
	}
	resident = (double)result_resident(s, most);
	room = s->has_room ? (double)most->room : NAN;
	cells[0] = resident;
	cells[1] = room;
	cells[2] = room >= resident ? 0 : resident - room;
	cells[3] = show_ratio(cells[2], resident);
	cells[4] = show_ratio((double)most->huge, (double)most->resident);
	cells[5] = (double)most->lazy;
	show_cells(r, cells, 6);
}

static void
put_residency(struct report *r, const struct some *some)
{
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
	for (size_t i = 0; i < some->n; i++)
		add_residency(r, &some->results[i]);
	report_put(r);
}

/* ------------------------------------------------- by the size of blocks */

/* The most columns of allocators in a table by the size of blocks. */
#define BESIDE 6

/*
 * A figure of allocators by the requested size of blocks, see run_size_class();
 * of the size RUN_SIZES: of memory in no block.
 */
struct by_size {
	const char *type, *title;
	unsigned details; /* sections that have the table in text */
	enum report_notation notation;
	int (*has)(const struct result *s, size_t size);
	struct report_value (
	    *cell)(struct report *r, const struct result *s, size_t size);
	void (*data)(struct report *r, const struct result *s, size_t size);
};

static int
slack_has(const struct result *s, size_t size)
{
	return size < RUN_SIZES && s->has_room && s->slack[size].blocks > 0;
}

/* How much larger than requested blocks are. */
static struct report_value
slack_cell(struct report *r, const struct result *s, size_t size)
{
	const struct run_slack *k = &s->slack[size];

	(void)r;
	return show_real(!s->has_room || k->asked == 0 ?
	        NAN :
	        (double)k->given / (double)k->asked - 1);
}

static void
slack_data(struct report *r, const struct result *s, size_t size)
{
	report_data(r, "blocks", report_count(s->slack[size].blocks));
	report_data(r, "asked_bytes", report_count(s->slack[size].asked));
	report_data(r, "given_bytes", report_count(s->slack[size].given));
}

/*
 * Nonzero when it is known which pages hold the blocks of an allocator: those
 * of null are all in the same ones.
 */
static int
has_sizes(const struct result *s)
{
	return s->watched && s->at_peak.known && s->residency.known &&
	    s->allocator->builtin != BUILTIN_NULL_MALLOC;
}

static int
pages_has(const struct result *s, size_t size)
{
	return has_sizes(s) &&
	    (size == RUN_SIZES || s->residency.size[size].blocks > 0);
}

/* Bytes of resident pages for a size, or of those that hold no live block. */
static uint64_t
pages_of(const struct result *s, size_t size)
{
	uint64_t all = result_resident(s, &s->at_peak);

	if (size < RUN_SIZES)
		return s->residency.size[size].resident;
	for (size_t i = 0; i < RUN_SIZES; i++) {
		uint64_t some = s->residency.size[i].resident;

		all -= some < all ? some : all;
	}
	return all;
}

static struct report_value
pages_cell(struct report *r, const struct result *s, size_t size)
{
	(void)r;
	return has_sizes(s) ? report_count(pages_of(s, size)) : show_real(NAN);
}

static void
pages_data(struct report *r, const struct result *s, size_t size)
{
	if (size < RUN_SIZES) {
		report_data(r, "blocks",
		    report_count(s->residency.size[size].blocks));
		report_data(r, "asked_bytes",
		    report_count(s->residency.size[size].asked));
		report_data(r, "pages",
		    report_count(s->residency.size[size].pages));
	}
	report_data(r, "resident_bytes", report_count(pages_of(s, size)));
}

/* Samples of allocations and frees of a size, and their medians. */
struct size_time {
	uint64_t allocated, freed;
	double allocation_ns, free_ns;
};

static struct size_time
time_of(const struct result *s, size_t size)
{
	const struct run_size_time *t = &s->size_time[size];
	struct size_time out;

	out.allocation_ns =
	    s->tick_ns * run_coarse_median(t->allocated, &out.allocated);
	out.free_ns = s->tick_ns * run_coarse_median(t->freed, &out.freed);
	return out;
}

static int
time_has(const struct result *s, size_t size)
{
	if (size == RUN_SIZES)
		return 0;
	struct size_time t = time_of(s, size);
	return t.allocated + t.freed > 0;
}

static struct report_value
time_cell(struct report *r, const struct result *s, size_t size)
{
	const struct size_time t = time_of(s, size);

	if (t.allocated + t.freed == 0)
		return show_real(NAN);
	return report_string(report_text(r, "%s %s",
	    t.allocated == 0 ? "-" : report_text(r, "%.0f", t.allocation_ns),
	    t.freed == 0 ? "-" : report_text(r, "%.0f", t.free_ns)));
}

static void
time_data(struct report *r, const struct result *s, size_t size)
{
	const struct size_time t = time_of(s, size);

	report_data(r, "allocation_samples", report_count(t.allocated));
	if (t.allocated > 0)
		report_data(r, "allocation_ns", report_real(t.allocation_ns));
	report_data(r, "free_samples", report_count(t.freed));
	if (t.freed > 0)
		report_data(r, "free_ns", report_real(t.free_ns));
}

static const struct by_size by_size[] = {
	{ "slack", "slack by requested size", DETAILS_SLACK | DETAILS_CLASSES,
	    REPORT_PERCENT, slack_has, slack_cell, slack_data },
	{ "size_residency",
	    "resident pages by requested size, near the peak of live bytes",
	    DETAILS_SIZES | DETAILS_CLASSES, REPORT_SIZE, pages_has, pages_cell,
	    pages_data },
	{ "size_time",
	    "nanoseconds to allocate and to free, medians by requested size",
	    DETAILS_SIZES | DETAILS_CLASSES, REPORT_GROUPED, time_has,
	    time_cell, time_data },
};
#define BY_SIZES (sizeof(by_size) / sizeof(by_size[0]))

/* A table in text: a row for each size, a column for each allocator. */
static void
put_size_table(struct report *r, const struct by_size *t,
    const struct result *s, size_t n)
{
	size_t size, i;
	int any;

	show_section(r, REPORT_TEXT, t->type, t->title)->sparse = 1;
	report_column(r, "", NULL, REPORT_GROUPED, 17)->left = 1;
	show_beside(r, s, n, t->notation);
	for (size = 0; size <= RUN_SIZES; size++) {
		for (any = 0, i = 0; i < n; i++)
			any |= t->has(&s[i], size);
		if (!any)
			continue;
		report_row(r, REPORT_TEXT);
		report_cell(r,
		    report_string(size < RUN_SIZES ? show_range(r, size) :
		                                     "in no block"));
		for (i = 0; i < n; i++)
			report_cell(r, t->cell(r, &s[i], size));
	}
	report_put(r);
}

static void
put_sizes(struct report *r, const struct some *some)
{
	for (size_t i = 0; i < some->n; i += BESIDE) {
		size_t n = some->n - i < BESIDE ? some->n - i : BESIDE;

		for (size_t k = 0; k < BY_SIZES; k++)
			if (show_text(some->show, by_size[k].details) != 0)
				put_size_table(r, &by_size[k],
				    some->results + i, n);
	}
}

/* The same for programs, of one. */
static void
put_size_rows(struct report *r, const struct by_size *t, const struct result *s)
{
	for (size_t size = 0; size <= RUN_SIZES; size++) {
		if (!t->has(s, size))
			continue;
		(void)show_item(r, t->type, s,
		    size == 0 ? 0 : (uint64_t)1 << (size - 1));
		if (size == RUN_SIZES)
			r->section.item = "none";
		t->data(r, s, size);
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

	for (size_t i = 0; i < s->nsamples && s->watched; i++) {
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
	for (size_t k = 0; k < BY_SIZES; k++)
		put_size_rows(r, &by_size[k], s);
	put_samples(r, show, s);
}

/* -------------------------------------------------------------- picture */

/*
 * A bar for each class that has blocks, and a last one for memory in no block.
 */
struct bars {
	const struct result *result;
	size_t classes[RUN_SIZES + 1];
};

static void
size_bar(struct report *r, const void *of, size_t i, struct report_bar *out)
{
	const struct bars *b = of;

	out->label = report_string(b->classes[i] < RUN_SIZES ?
	        show_range(r, b->classes[i]) :
	        "in no block");
	out->count = pages_of(b->result, b->classes[i]);
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
	uint64_t sum = 0;

	for (size_t i = 0; i <= RUN_SIZES; i++)
		if (pages_has(s, i)) {
			b.classes[bars.n++] = i;
			sum += pages_of(s, i);
		}
	bars.weight = int128_u64(sum);
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
