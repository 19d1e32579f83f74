/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first screen: a row of the main figures for each allocator, and how they
 * compare with those of the first.
 */
#include "show.h"

#include <inttypes.h>
#include <math.h>

/* Figures with a column of ratios: the first ones of enum metric_kind. */
#define COMPARED (METRIC_END + 1)

/* Runs of fewer operations are too short for the resolution of the clock. */
#define FEW 20000

static int
has_ratio(const struct verdict *v)
{
	return v->known && v->ratio > 0;
}

/* "x1.17" of a difference; "=" of equality; "~1.17" if neither is shown. */
static const char *
ratio_text(struct report *r, const struct verdict *v)
{
	/* four digits at most, so that a table fits a terminal */
	const int decimals = v->ratio < 9.995 ? 2 : v->ratio < 99.95 ? 1 : 0;

	if (!has_ratio(v))
		return "";
	if (v->equal)
		return "=";
	return report_text(r, "%c%.*f", v->different ? 'x' : '~', decimals,
	    v->ratio);
}

/* A figure; NaN: unknown, or a time that is lost in that of telreplay itself. */
static double
shown_figure(const struct result *s, enum metric_kind m)
{
	const double v = s->figures[m].median;

	return m == METRIC_COST && v <= 0 ? NAN : v;
}

static void
comparison_add_row(struct report *r, const struct benchmark *c, size_t i)
{
	const struct result *s = &c->results[i];

	show_row(r, REPORT_TEXT, s);
	for (size_t m = 0; m < COMPARED; m++) {
		double v = shown_figure(s, (enum metric_kind)m);

		report_cell(r,
		    m < METRIC_PEAK || isnan(v) ? show_real(v) :
		                                  report_count((uint64_t)v));
		report_cell(r,
		    report_string(i == 0 ?
		            "" :
		            ratio_text(r,
		                benchmark_verdict(c, (enum metric_kind)m, i,
		                    0))));
	}
}

/* What the marks mean, as far as there are any. */
static void
put_notes(struct report *r, const struct benchmark *c)
{
	const struct verdict *v;
	int same = 0, different = 0, unknown = 0, lost = 0, verified = 0;

	/* null takes as long as telreplay's own, by definition */
	for (size_t i = 0; i < c->n; i++) {
		verified |= c->results[i].verified;
		lost |= c->results[i].figures[METRIC_COST].median <= 0 &&
		    c->results[i].allocator->builtin != BUILTIN_NULL_MALLOC;
	}
	if (verified)
		report_note(r, REPORT_TEXT, NULL,
		    "no ns/op: --verify takes time, which is not known");
	if (lost)
		report_note(r, REPORT_TEXT, NULL,
		    "no ns/op: the time of so few operations is lost in "
		    "telreplay's own");
	for (size_t i = 1; i < c->n; i++)
		for (size_t m = 0; m < COMPARED; m++) {
			v = benchmark_verdict(c, (enum metric_kind)m, i, 0);
			different |= has_ratio(v) && v->different;
			same |= v->equal;
			unknown |= has_ratio(v) && !v->different && !v->equal;
		}
	if (c->trace->facts->compiled * c->telreplay->run.repeat < FEW)
		report_note(r, REPORT_TEXT, NULL,
		    "the trace is too short for reliable times: --repeat 100 "
		    "runs it 100 times");
	if (different)
		report_note(r, REPORT_TEXT, NULL,
		    report_text(r,
		        "x: ratio to %.60s; by chance alone less than 1 in 20",
		        c->results[0].allocator->name));
	if (same)
		report_note(r, REPORT_TEXT, NULL,
		    report_text(r,
		        "=: equal to %.60s within 3 %%, in 19 of 20 cases",
		        c->results[0].allocator->name));
	if (unknown)
		report_note(r, REPORT_TEXT, NULL,
		    report_text(r,
		        "~: %" PRIu64 " run%s neither a difference nor "
		        "equality within 3 %%%s",
		        c->rounds, c->rounds == 1 ? " shows" : "s show",
		        c->telreplay->runs == RUNS_AUTO ? "" :
		                                          "; try --runs auto"));
}

/* For programs: how each allocator compares with those before it. */
static void
put_pair(struct report *r, const struct benchmark *c, size_t i, size_t j)
{
	const struct verdict *v;

	report_section(r, REPORT_DATA, "ratio")->name =
	    c->results[i].allocator->name;
	r->section.item = c->results[j].allocator->name;
	for (size_t m = 0; m < METRICS; m++) {
		v = benchmark_verdict(c, (enum metric_kind)m, i, j);
		const char *name = result_metrics[m].name;
		if (!v->known)
			continue;
		if (has_ratio(v))
			report_data(r, name, report_real(v->ratio));
		if (v->low > 0) {
			report_data(r, report_text(r, "%s_low", name),
			    report_real(v->low));
			report_data(r, report_text(r, "%s_high", name),
			    report_real(v->high));
		}
		report_data(r, report_text(r, "%s_p", name), report_real(v->p));
		report_data(r, report_text(r, "%s_different", name),
		    report_count((uint64_t)(v->different != 0)));
		report_data(r, report_text(r, "%s_equal", name),
		    report_count((uint64_t)(v->equal != 0)));
	}
	report_put(r);
}

/* Nonzero unless all allocators failed before there was a figure. */
static int
has_figures(const struct benchmark *c)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t m = 0; m < COMPARED; m++)
			if (!isnan(c->results[i].figures[m].median))
				return 1;
	return 0;
}

void
show_comparison(struct report *r, const struct show *show)
{
	const struct benchmark *c = show->benchmark;
	const struct some some = { show, c->results, c->n };

	for (size_t i = 1; i < c->n && report_is(r, REPORT_DATA); i++)
		for (size_t j = 0; j < i; j++)
			put_pair(r, c, i, j);
	if (!report_is(r, REPORT_TEXT) || !has_figures(c))
		return;
	(void)show_table(r, REPORT_TEXT, "comparison", &some, "comparison");
	for (size_t m = 0; m < COMPARED; m++) {
		(void)report_column(r, result_metrics[m].name,
		    result_metrics[m].label,
		    m < METRIC_PEAK ? REPORT_SHORT : REPORT_SIZE,
		    m < METRIC_PEAK ? 8 : 11);
		report_column(r, "ratio", "", REPORT_GROUPED, 7)->spare = 9;
	}
	for (size_t i = 0; i < c->n; i++)
		comparison_add_row(r, c, i);
	put_notes(r, c);
	report_put(r);
}
