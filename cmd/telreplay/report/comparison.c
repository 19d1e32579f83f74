/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first screen: a row of the main figures for each allocator, the range of
 * its runs, and, below each but the first, the ratios to the first.
 */
#include "show.h"

#include <string.h>
#include "common/page.h"

#define COLUMNS 7

/* What is compared, in the order of the columns. */
struct figures {
	double value[COLUMNS];
	int known[COLUMNS];
};

static void
set(struct figures *f, size_t i, int known, double value)
{
	f->known[i] = known;
	f->value[i] = value;
}

static struct figures
figures_of(const struct show *show, const struct result *s)
{
	int timed = s->nruns > 0 && result_own_known(s);
	double p99 = result_p99(s).median;
	struct figures f;

	set(&f, 0, timed, result_cost(s).median - result_own(s));
	set(&f, 1, p99 >= 0, p99);
	set(&f, 2, timed,
	    result_process(s).median -
	        (s->own != NULL ? result_process(s->own).median : 0));
	set(&f, 3, s->watched, (double)s->peak);
	set(&f, 4, s->watched, (double)result_resident(s, &s->end));
	set(&f, 5, s->watched, result_over_live(s, show->facts));
	set(&f, 6, s->nruns > 0, result_faults(s).median);
	return f;
}

/* The range of a column over the runs; that of peak/live is the peak's. */
static int
range_of(const struct result *s, size_t column, struct spread *out)
{
	switch (column) {
	case 0: *out = result_cost(s); return s->nruns > 0;
	case 1: *out = result_p99(s); return s->nruns > 0 && out->least >= 0;
	case 2: *out = result_process(s); return s->nruns > 0;
	case 3:
	case 5: *out = result_peak(s); return s->nruns > 0 && s->watched;
	case 4: *out = result_end(s); return s->nruns > 0 && s->watched;
	default: *out = result_faults(s); return s->nruns > 0;
	}
}

/* Nonzero if the ranges of two allocators overlap in a column. */
static int
overlap(const struct result *a, const struct result *b, size_t column)
{
	struct spread x, y;

	return range_of(a, column, &x) && range_of(b, column, &y) &&
	    x.least <= y.most && y.least <= x.most;
}

static const char *const names[COLUMNS] = { "ns", "p99_ns", "process_ns",
	"peak_bytes", "end_bytes", "peak_over_live", "page_faults" };

static void
put_figures(struct report *r, const struct result *s, const struct figures *f)
{
	static const struct report_value unknown = { .type = REPORT_UNKNOWN };
	size_t i;

	report_row(r, REPORT_TEXT);
	report_cell(r, report_string(s->candidate->name));
	for (i = 0; i < COLUMNS; i++) {
		if (!f->known[i])
			report_cell(r, unknown);
		else if (i >= 3 && i != 5)
			report_cell(r, report_count((uint64_t)f->value[i]));
		else
			report_cell(r, report_real(f->value[i]));
	}
}

/* Half the range of the runs of an allocator, in percent of its figure. */
static void
put_ranges(struct report *r, const struct result *s, const struct figures *f)
{
	struct spread range;
	const char *text;
	size_t i;

	if (s->nruns < 2)
		return;
	report_row(r, REPORT_TEXT);
	report_cell(r, report_string("  +-"));
	for (i = 0; i < COLUMNS; i++) {
		/* that of peak/live is the same as of the peak */
		text = "";
		if (f->known[i] && f->value[i] > 0 && i != 5 &&
		    range_of(s, i, &range))
			text = report_text(r, "%.0f%%",
			    (range.most - range.least) / 2 / f->value[i] * 100);
		report_cell(r, report_string(text));
	}
}

static int
put_ratios(struct report *r, const struct result *s,
    const struct result *first_result, const struct figures *f,
    const struct figures *first)
{
	int unsure = 0, overlaps;
	size_t i;

	report_row(r, REPORT_TEXT);
	report_cell(r, report_string(""));
	for (i = 0; i < COLUMNS; i++) {
		if (!f->known[i] || !first->known[i] ||
		    !(first->value[i] > 0)) {
			report_cell(r, report_string(""));
			continue;
		}
		overlaps = overlap(s, first_result, i);
		unsure |= overlaps;
		report_cell(r,
		    report_string(report_text(r, "%s%.2f", overlaps ? "~" : "x",
		        f->value[i] / first->value[i])));
	}
	return unsure;
}

/* For programs: the same ratios, of each allocator. */
static void
put_data(struct report *r, const struct result *s, const struct result *first,
    const struct figures *f, const struct figures *of_first)
{
	size_t i;

	report_section(r, REPORT_DATA, "ratio")->name = s->candidate->name;
	for (i = 0; i < COLUMNS; i++)
		if (f->known[i] && of_first->known[i] && of_first->value[i] > 0)
			report_data(r, names[i],
			    report_real(f->value[i] / of_first->value[i]));
	report_data(r, "overlaps",
	    report_count((uint64_t)(overlap(s, first, 0) != 0)));
	for (i = 1; i < COLUMNS; i++)
		if (f->known[i] && of_first->known[i])
			report_data(r, report_text(r, "%s_overlaps", names[i]),
			    report_count(
			        (uint64_t)(overlap(s, first, i) != 0)));
	report_put(r);
}

static void
open_table(struct report *r)
{
	struct report_section *s = report_section(r, REPORT_TEXT, "comparison");
	struct report_field *f =
	    report_column(r, "allocator", "", REPORT_GROUPED, 12);

	s->title = "comparison";
	s->indent = 2;
	f->left = 1;
	f->most = 12;
	(void)report_column(r, names[0], "ns/op", REPORT_SHORT, 9);
	(void)report_column(r, names[1], "p99 ns", REPORT_SHORT, 8);
	(void)report_column(r, names[2], "CPU/op", REPORT_SHORT, 8);
	(void)report_column(r, names[3], "peak", REPORT_SIZE, 11);
	(void)report_column(r, names[4], "at the end", REPORT_SIZE, 11);
	report_column(r, names[5], "peak/live", REPORT_FIXED, 10)->decimals = 2;
	(void)report_column(r, names[6], "faults", REPORT_GROUPED, 9);
}

void
show_comparison(struct report *r, const struct show *show)
{
	const struct contest *c = show->contest;
	const struct result *first = &c->results[0], *s;
	struct figures of_first = figures_of(show, first), f;
	int unsure = 0;
	size_t i;

	for (i = 1; i < c->n && report_is(r, REPORT_DATA); i++) {
		s = &c->results[i];
		f = figures_of(show, s);
		put_data(r, s, first, &f, &of_first);
	}
	if (!report_is(r, REPORT_TEXT))
		return;
	open_table(r);
	for (i = 0; i < c->n; i++) {
		s = &c->results[i];
		f = figures_of(show, s);
		put_figures(r, s, &f);
		put_ranges(r, s, &f);
		if (i > 0)
			unsure |= put_ratios(r, s, first, &f, &of_first);
	}
	if (c->telreplay->runs > 1)
		report_note(r, REPORT_TEXT, NULL,
		    "+-: half the range of the runs, in percent");
	if (unsure)
		report_note(r, REPORT_TEXT, NULL,
		    "~: the ranges of the runs overlap, which leaves "
		    "open which one has less");
	report_put(r);
}
