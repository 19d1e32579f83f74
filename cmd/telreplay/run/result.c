/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures of a result that all reports show. */
#include "telreplay/run/contest.h"

#include <stdlib.h>
#include <string.h>

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct spread
spread(double *values, size_t n)
{
	struct spread s = { 0, 0, 0 };

	if (n == 0)
		return s;
	qsort(values, n, sizeof(*values), compare);
	s.least = values[0];
	s.most = values[n - 1];
	s.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
	return s;
}

struct spread
result_cost(const struct result *r)
{
	double values[RUNS_MAX];
	size_t i, n = 0;

	for (i = 0; i < r->nruns; i++)
		if (r->runs[i].operations > 0)
			values[n++] =
			    r->runs[i].cpu / (double)r->runs[i].operations;
	return spread(values, n);
}

struct spread
result_wall(const struct result *r)
{
	double values[RUNS_MAX];
	size_t i, n = 0;

	for (i = 0; i < r->nruns; i++)
		if (r->runs[i].operations > 0)
			values[n++] =
			    r->runs[i].wall / (double)r->runs[i].operations;
	return spread(values, n);
}

struct spread
result_process(const struct result *r)
{
	double values[RUNS_MAX];
	size_t i, n = 0;

	for (i = 0; i < r->nruns; i++)
		if (r->runs[i].operations > 0)
			values[n++] =
			    r->runs[i].process / (double)r->runs[i].operations;
	return spread(values, n);
}

struct spread
result_faults(const struct result *r)
{
	double values[RUNS_MAX];
	size_t i;

	for (i = 0; i < r->nruns; i++)
		values[i] = (double)r->runs[i].minor_faults +
		    (double)r->runs[i].major_faults;
	return spread(values, r->nruns);
}

/* Adds what the timed runs have to the range of a figure of the watched one. */
static struct spread
range_of(const struct result *r, double watched, int end)
{
	struct spread s = { watched, watched, watched };
	size_t i;

	for (i = 0; i < r->nruns; i++) {
		double v = (double)(end ? r->runs[i].end : r->runs[i].peak);

		if (!r->runs[i].remembers)
			continue;
		s.least = v < s.least ? v : s.least;
		s.most = v > s.most ? v : s.most;
	}
	return s;
}

struct spread
result_peak(const struct result *r)
{
	return range_of(r, (double)r->peak, 0);
}

struct spread
result_end(const struct result *r)
{
	return range_of(r, (double)result_resident(r, &r->end), 1);
}

double
result_p99_of(const struct run_latency latency[RUN_KINDS], double tick_ns)
{
	struct run_latency all;
	struct run_board scale;
	size_t k;

	memset(&all, 0, sizeof(all));
	memset(&scale, 0, sizeof(scale));
	scale.tick_ns = tick_ns;
	for (k = 0; k < RUN_KINDS; k++)
		run_latency_add(&all, &latency[k]);
	return all.count > 0 ? run_quantile(&scale, &all, 0.99) : -1;
}

struct spread
result_p99(const struct result *r)
{
	struct spread s = { result_p99_of(r->latency, r->tick_ns), 0, 0 };
	size_t i;

	s.least = s.most = s.median;
	for (i = 0; i < r->nruns; i++) {
		double v = r->runs[i].p99;

		if (v < 0)
			continue;
		s.least = v < s.least ? v : s.least;
		s.most = v > s.most ? v : s.most;
	}
	return s;
}

double
result_counter(const struct result *r, enum counter which, int *known)
{
	double values[RUNS_MAX];
	size_t i, n = 0;

	for (i = 0; i < r->nruns; i++)
		if (r->runs[i].counted[which] && r->runs[i].operations > 0)
			values[n++] = (double)r->runs[i].counts[which] /
			    (double)r->runs[i].operations;
	*known = n > 0;
	return n > 0 ? spread(values, n).median : 0;
}

const struct sample *
result_largest(const struct result *r)
{
	const struct sample *most = NULL;
	size_t i;

	for (i = 0; i < r->nsamples; i++)
		if (most == NULL || r->samples[i].resident > most->resident)
			most = &r->samples[i];
	return most;
}

double
result_own(const struct result *r)
{
	return r->own != NULL && result_own_known(r) ?
	    result_cost(r->own).median :
	    0;
}

int
result_own_known(const struct result *r)
{
	return r->own == NULL || (!r->own->failed && r->own->nruns > 0);
}

uint64_t
result_resident(const struct result *r, const struct sample *s)
{
	return s->resident > r->baseline.resident ?
	    s->resident - r->baseline.resident :
	    0;
}

/* Interpolated linearly between the two nearest points of the curve. */
double
contest_live(const struct contest *c, const struct sample *s)
{
	const struct facts *f = c->trace->facts;
	uint64_t done =
	    f->words > 0 && s->done > f->words ? s->done % f->words : s->done;
	double x0 = 0, y0 = 0, x1, y1;
	uint64_t i;

	for (i = 0; i < f->curve_points; i++) {
		x1 = (double)f->curve[i].done;
		y1 = (double)f->curve[i].bytes;
		if (f->curve[i].done >= done)
			return x1 > x0 ?
			    y0 + (y1 - y0) * ((double)done - x0) / (x1 - x0) :
			    y1;
		x0 = x1;
		y0 = y1;
	}
	return y0;
}

double
result_over_live(const struct result *r, const struct facts *facts)
{
	/* what is left out of a run takes no memory in it */
	uint64_t live = r->left_out > 0 ? r->live_peak : facts->peak_bytes;

	return live > 0 ? (double)r->peak / (double)live : 0;
}
