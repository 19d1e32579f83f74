/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures of a result that all reports show. */
#include "telreplay/run/benchmark.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct metric result_metrics[METRICS] = {
	[METRIC_COST] = { "ns", "ns/op" },
	[METRIC_P99] = { "p99_ns", "p99 ns" },
	[METRIC_PEAK] = { "peak_bytes", "peak" },
	[METRIC_END] = { "end_bytes", "at the end" },
	[METRIC_PROCESS] = { "process_ns", "CPU/op" },
	[METRIC_FAULTS] = { "page_faults", "faults" },
	[METRIC_WALL] = { "wall_ns", "wall" },
};

/* A figure of one run, telreplay's own cost included; NaN: unknown. */
static double
figure_of(const struct timing *t, enum metric_kind m)
{
	double n = (double)t->operations;

	switch (m) {
	case METRIC_COST: return n > 0 ? t->cpu / n : NAN;
	case METRIC_WALL: return n > 0 ? t->wall / n : NAN;
	case METRIC_PROCESS: return n > 0 ? t->process / n : NAN;
	case METRIC_P99: return t->p99;
	case METRIC_PEAK: return t->remembers ? (double)t->peak : NAN;
	case METRIC_END: return t->remembers ? (double)t->end : NAN;
	default: return (double)t->minor_faults + (double)t->major_faults;
	}
}

/* Of n values, which are sorted. */
static struct spread
result_spread(double *values, size_t n)
{
	struct spread s = { NAN, NAN, NAN };

	if (n == 0)
		return s;
	qsort(values, n, sizeof(*values), verdict_order);
	s.least = values[0];
	s.most = values[n - 1];
	s.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
	return s;
}

/* Of METRIC_COST and METRIC_PROCESS: what telreplay itself takes. */
static double
own_cost(const struct result *r, enum metric_kind m)
{
	double values[RUNS_MAX];
	size_t i, n = 0;

	if ((m != METRIC_COST && m != METRIC_PROCESS) || r->own == NULL)
		return 0;
	for (i = 0; i < r->own->nruns; i++)
		values[n++] = figure_of(&r->own->runs[i], m);
	/* gross times would be taken for net ones */
	return r->own->failed || r->verified ? NAN :
	                                       result_spread(values, n).median;
}

/* The figures of all runs; out: RUNS_MAX of them.  How many are known. */
static size_t
result_values(const struct result *r, enum metric_kind m, double *out)
{
	double v, own = own_cost(r, m);
	size_t i, n = 0;

	for (i = 0; i < r->nruns; i++) {
		v = figure_of(&r->runs[i], m) - own;
		if (!isnan(v))
			out[n++] = v;
	}
	return n;
}

/*
 * The run that was watched counts, too; for the median only without others, as
 * ratios are of these.
 */
static void
spread_add(struct spread *s, double v)
{
	s->median = isnan(s->median) ? v : s->median;
	s->least = v < s->least || isnan(s->least) ? v : s->least;
	s->most = v > s->most || isnan(s->most) ? v : s->most;
}

/* Computes the figures, once for all reports. */
static void
result_judge(struct result *r)
{
	double values[RUNS_MAX];
	struct spread *s = r->figures;

	for (size_t m = 0; m < METRICS; m++)
		s[m] = result_spread(values,
		    result_values(r, (enum metric_kind)m, values));
	r->own_cost = own_cost(r, METRIC_COST);
	if (r->watched) {
		spread_add(&s[METRIC_PEAK], (double)r->peak);
		spread_add(&s[METRIC_END], (double)result_resident(r, &r->end));
	}
}

double
result_p99_of(const struct run_latency latency[RUN_KINDS], double tick_ns)
{
	struct run_latency all;

	memset(&all, 0, sizeof(all));
	for (size_t k = 0; k < RUN_KINDS; k++)
		run_latency_add(&all, &latency[k]);
	return all.count > 0 ? run_quantile(&all, 0.99) * tick_ns : NAN;
}

double
result_counter(const struct result *r, enum counter which)
{
	double values[RUNS_MAX];
	size_t i, n = 0;

	for (i = 0; i < r->nruns; i++)
		if (r->runs[i].counted[which] && r->runs[i].operations > 0)
			values[n++] = (double)r->runs[i].counts[which] /
			    (double)r->runs[i].operations;
	return result_spread(values, n).median;
}

const struct sample *
result_largest(const struct result *r)
{
	const struct sample *most = NULL;

	for (size_t i = 0; i < r->nsamples; i++)
		if (most == NULL || r->samples[i].resident > most->resident)
			most = &r->samples[i];
	return most;
}

uint64_t
sample_above(const struct sample *s, const struct sample *baseline)
{
	return s->resident > baseline->resident ?
	    s->resident - baseline->resident :
	    0;
}

uint64_t
result_resident(const struct result *r, const struct sample *s)
{
	return sample_above(s, &r->baseline);
}

double
result_over_live(const struct result *r, const struct facts *facts)
{
	/* operations left out of a run take no memory in it */
	uint64_t live = r->left_out > 0 ? r->live_peak : facts->peak_bytes;

	return live > 0 ? (double)r->peak / (double)live : NAN;
}

double
result_between(double x0, double y0, double x1, double y1, double x)
{
	return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1;
}

/* Interpolated linearly between the two nearest points of the curve. */
double
benchmark_live(const struct benchmark *c, const struct sample *s)
{
	const struct facts *f = c->trace->facts;
	/* the end of a repeat is not the start of the next one */
	uint64_t done = f->words > 0 && s->done > f->words ?
	    (s->done - 1) % f->words + 1 :
	    s->done;
	double x0 = 0, y0 = 0, x1, y1;

	for (uint64_t i = 0; i < f->curve_points; i++) {
		x1 = (double)f->curve[i].done;
		y1 = (double)f->curve[i].bytes;
		if (f->curve[i].done >= done)
			return result_between(x0, y0, x1, y1, (double)done);
		x0 = x1;
		y0 = y1;
	}
	return y0;
}

/* ------------------------------------------------------------- verdicts */

void
benchmark_judge(struct benchmark *c)
{
	static double room[RUNS_MAX * RUNS_MAX];
	const unsigned looks = benchmark_looks(c);
	double a[RUNS_MAX], b[RUNS_MAX];
	size_t i, j, n, m, k;

	for (i = 0; i < c->n; i++)
		result_judge(&c->results[i]);
	for (k = 0; k < METRICS; k++) {
		struct verdict *v = &c->verdicts[k * c->pairs];

		for (i = 1; i < c->n; i++) {
			n = result_values(&c->results[i], (enum metric_kind)k,
			    a);
			for (j = 0; j < i; j++, v++) {
				m = result_values(&c->results[j],
				    (enum metric_kind)k, b);
				/* two that are lost are not equal */
				if (!(c->results[i].figures[k].median > 0 ||
				        c->results[j].figures[k].median > 0))
					m = 0;
				verdict_compare(a, n, b, m, looks, room, v);
			}
		}
		verdict_correct(&c->verdicts[k * c->pairs], c->pairs, looks);
	}
}

const struct verdict *
benchmark_verdict(const struct benchmark *c, enum metric_kind m, size_t i,
    size_t j)
{
	return &c->verdicts[(size_t)m * c->pairs + i * (i - 1) / 2 + j];
}
