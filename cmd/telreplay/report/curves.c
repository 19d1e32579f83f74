/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of the allocators over the run: as a table, and as a chart. */
#include "show.h"

#include <math.h>
#include <stdlib.h>

/* The rows of a table, and the most columns of allocators. */
#define MOMENTS 10
#define BESIDE 5

/* --------------------------------------------------------------- table */

/* The sample whose time, or count of words, is nearest to one. */
static const struct sample *
sample_nearest(const struct result *s, int by_time, double want)
{
	const struct sample *best = &s->samples[0];
	double least = HUGE_VAL, off;

	for (size_t i = 0; i < s->nsamples; i++) {
		off = (double)(by_time ? s->samples[i].ns : s->samples[i].done);
		off = off < want ? want - off : off - want;
		if (off < least) {
			least = off;
			best = &s->samples[i];
		}
	}
	return best;
}

/* That of a share of the run. */
static const struct sample *
sample_at(const struct show *show, const struct result *s, double share)
{
	return sample_nearest(s, 0,
	    share * (double)show->facts->words * show->telreplay->run.repeat);
}

/* Resident bytes some share of the idle time after one of two ends. */
static struct report_value
decayed(const struct result *s, int freed, double share, uint64_t idle)
{
	const struct sample *end = freed ? &s->freed : &s->end;
	const struct sample *last = freed ? &s->freed_idle : &s->idle;

	if (!s->watched || !end->known || !last->known)
		return show_real(NAN);
	const struct sample *at = share <= 0 ?
	    end :
	    share >= 1 ?
	    last :
	    sample_nearest(s, 1, (double)end->ns + share * (double)idle);
	return report_count(result_resident(s, at));
}

/* The memory that is returned to the system while the process is idle. */
static void
put_decay(struct report *r, const struct show *show,
    const struct result *results, size_t n)
{
	uint64_t idle = show->telreplay->idle;
	char text[FORMAT_TEXT];

	for (int k = 0; k < 6; k++) {
		double share = (double)(k % 3) / 2;

		report_row(r, REPORT_TEXT);
		report_cell(r,
		    report_string(k == 0 ?
		            "end" :
		            k == 3 ?
		            "freed" :
		            report_text(r, "+%s",
		                format_edge((int64_t)(share * (double)idle), 0,
		                    "ns", 0, text))));
		report_cell(r,
		    report_count(k < 3 ? show->facts->live_bytes : 0));
		for (size_t i = 0; i < n; i++)
			report_cell(r,
			    decayed(&results[i], k >= 3, share, idle));
	}
}

/* Some of the allocators; the samples of the first show the live bytes. */
static void
put_beside(struct report *r, const struct show *show,
    const struct result *results, size_t n, const struct result *first)
{
	(void)show_section(r, REPORT_TEXT, "curve",
	    "resident memory during the run, and while idle after it");
	report_column(r, "", NULL, REPORT_GROUPED, 9)->left = 1;
	(void)report_column(r, "(live)", NULL, REPORT_SIZE, 10);
	show_beside(r, results, n, REPORT_SIZE);
	for (int m = 1; m <= MOMENTS; m++) {
		double share = (double)m / MOMENTS;

		report_row(r, REPORT_TEXT);
		report_cell(r,
		    report_string(report_text(r, "%3.0f%%", share * 100)));
		report_cell(r,
		    report_real(benchmark_live(show->benchmark,
		        sample_at(show, first, share))));
		for (size_t i = 0; i < n; i++)
			report_cell(r,
			    results[i].watched && results[i].nsamples > 0 ?
			        report_count(result_resident(&results[i],
			            sample_at(show, &results[i], share))) :
			        show_real(NAN));
	}
	if (first->idle.known)
		put_decay(r, show, results, n);
	report_put(r);
}

void
show_curves(struct report *r, const struct show *show)
{
	const struct benchmark *c = show->benchmark;
	const struct result *first = NULL;

	for (size_t i = 0; i < c->n && first == NULL; i++)
		if (c->results[i].watched && c->results[i].nsamples > 0)
			first = &c->results[i];
	if (show_text(show, DETAILS_MEMORY) == 0)
		return;
	for (size_t i = 0; first != NULL && i < c->n; i += BESIDE)
		put_beside(r, show, c->results + i,
		    c->n - i < BESIDE ? c->n - i : BESIDE, first);
}

/* --------------------------------------------------------------- chart */

/*
 * When an allocator had done this many words, interpolated between its samples.
 */
static double
report_curves_time_of(const struct result *s, double done)
{
	double x0 = 0, t0 = 0, x1, t1;

	for (size_t i = 0; i < s->nsamples; i++) {
		x1 = (double)s->samples[i].done;
		t1 = (double)s->samples[i].ns;
		if (x1 >= done)
			return result_between(x0, t0, x1, t1, done);
		x0 = x1;
		t0 = t1;
	}
	return t0;
}

/* A series of the chart: an allocator, or the trace's live bytes. */
struct curve {
	const struct show *show;
	const struct result *result;
	unsigned times;             /* repeats of the trace */
	const struct result *timed; /* whose times it has; NULL: none */
};

/* The most live bytes up to each point, once for each repeat. */
static void
live_point(const void *of, size_t i, double *x, double *y)
{
	const struct curve *c = of;
	const struct facts *f = c->show->facts;
	size_t n = (size_t)f->curve_points;
	const struct live_point *p = &f->curve[i % n];
	double share = show_ratio((double)p->done, (double)f->words);

	/* the blocks that are left live until they are freed */
	if (i == n * c->times || i == n * c->times + 1) {
		*x = (double)c->timed->freed.ns;
		*y = i == n * c->times ? (double)f->live_bytes : 0;
		return;
	}
	share = ((double)(i / n) + share) / c->times;
	*x = c->timed == NULL ?
	    share :
	    report_curves_time_of(c->timed,
	        share * (double)f->words * c->show->telreplay->run.repeat);
	*y = (double)p->peak;
}

/* From nothing before the first sample to the last one, when all is freed. */
static void
resident_point(const void *of, size_t i, double *x, double *y)
{
	const struct curve *c = of;
	const struct result *s = c->result;
	*x = *y = 0;
	if (i == 0)
		return;
	*x = (double)s->samples[i - 1].ns;
	*y = (double)result_resident(s, &s->samples[i - 1]);
}

static const char *
legend(struct report *r, const char *name, double peak, const char *more)
{
	char text[FORMAT_TEXT];

	return report_text(r, "%.60s: peak %s%s", name,
	    format_size(peak, text)[0] != '\0' ? text : "less than 1 KiB",
	    more);
}

static void
add_live(struct report *r, struct report_series *series, struct curve *curve)
{
	const struct facts *f = curve->show->facts;
	unsigned times = curve->show->telreplay->run.repeat;

	/* more points are not distinguishable */
	if (curve->show->benchmark == NULL)
		times = 1;
	curve->times = times > 50 ? 50 : times;
	series->name = "live";
	series->legend =
	    legend(r, "live blocks, as requested", (double)f->peak_bytes,
	        curve->timed == NULL ? "" :
	                               report_text(r, ", in the time of %.60s",
	                                   curve->timed->allocator->name));
	series->area = 1;
	series->n = (size_t)f->curve_points * curve->times +
	    (curve->timed != NULL ? 2 : 0);
	series->of = curve;
	series->point = live_point;
}

static void
add_allocator(struct report *r, struct report_series *series,
    struct curve *curve, size_t number)
{
	const struct result *s = &curve->show->benchmark->results[number];
	char text[FORMAT_TEXT];

	curve->result = s;
	series->name = s->allocator->name;
	series->number = number;
	series->of = curve;
	series->point = resident_point;
	if (s->failed) {
		series->legend = report_text(r, "%.60s: FAILED, %.200s",
		    series->name, s->why);
		series->n = s->watched ? s->nsamples + 1 : 0;
		return;
	}
	(void)format_size((double)result_resident(s, &s->freed), text);
	series->legend = legend(r, series->name, (double)s->peak,
	    report_text(r, ", when all is freed %s",
	        text[0] != '\0' ? text : "nothing"));
	series->n = s->nsamples + 1;
}

static void
put_chart(struct report *r, const struct show *show,
    struct report_series *series, struct curve *curves)
{
	const struct benchmark *c = show->benchmark;
	struct report_chart chart = { .series = series,
		.x_title = "share of the operations done",
		.y_title = "memory (bytes)",
		.unit = "bytes",
		.most = (double)show->facts->peak_bytes };
	struct report_section *s = report_section(r, REPORT_SVG, "curve");
	size_t i, n = c != NULL ? c->n : 0;

	s->title = c != NULL ? "Resident memory of each allocator" :
	                       "Live memory of the trace";
	s->definition = c != NULL ?
	    "bytes above those before the first operation" :
	    "bytes that were requested and not yet freed";
	for (i = 0; i < n; i++) {
		const struct result *one = &c->results[i];

		if (!one->watched || one->nsamples == 0)
			continue;
		if (curves[0].timed == NULL && one->freed.known)
			curves[0].timed = one;
		chart.x_unit = "ns";
		chart.x_title = "real time since the first operation";
		if ((double)one->samples[one->nsamples - 1].ns > chart.x_max)
			chart.x_max =
			    (double)one->samples[one->nsamples - 1].ns;
	}
	curves[0].show = show;
	add_live(r, &series[chart.n++], &curves[0]);
	for (i = 0; i < n; i++) {
		if ((double)c->results[i].peak > chart.most)
			chart.most = (double)c->results[i].peak;
		if (!c->results[i].watched && !c->results[i].failed)
			continue;
		curves[chart.n].show = show;
		add_allocator(r, &series[chart.n], &curves[chart.n], i);
		chart.n++;
	}
	s->chart = &chart;
	report_put(r);
}

void
show_chart(struct report *r, const struct show *show)
{
	size_t n = 1 + (show->benchmark != NULL ? show->benchmark->n : 0);
	struct report_series *series = calloc(n, sizeof(*series));
	struct curve *curves = calloc(n, sizeof(*curves));

	if (series != NULL && curves != NULL)
		put_chart(r, show, series, curves);
	else
		r->failed = 1;
	free(series);
	free(curves);
}
