/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenMetrics: the families of statistics with buckets. */
#include "metrics.h"

#include <inttypes.h>
#include "common/page.h"
#include "view.h"

/* The bucket that is put when it is known that the next is another one. */
struct pending {
	const struct metric *metric;
	const tel_stat *stat;
	int is; /* there is one */
	int64_t le;
	tel_int128 count;
};

static void
flush(struct pending *p)
{
	if (!p->is)
		return;
	metric_open(p->metric, p->stat, "", "_bucket");
	putf(p->metric->show->out, ",le=\"%" PRId64 ".0\"", p->le);
	metric_close(p->metric, p->count);
	p->is = 0;
}

/* A bucket up to and with le; edges that are the same double are one. */
static void
put_bucket(struct pending *p, int64_t le, tel_int128 count)
{
	if (p->is && (double)p->le < (double)le)
		flush(p);
	p->is = 1;
	p->le = le;
	p->count = count;
}

/* Nonzero for classes with thousands of buckets: only those in use are put. */
static int
is_sparse(const tel_stat *stat)
{
	return tel_stat_class(stat) == TEL_CLASS_LOG2 ||
	    tel_stat_class(stat) == TEL_CLASS_QUANTILES;
}

/* The least value that has a bucket, or of those in use where few are. */
static int64_t
lower_edge(const tel_stat *stat)
{
	tel_bucket b = { 0, 0, 0, 0, 0 };

	(void)tel_stat_bucket(stat,
	    is_sparse(stat) ? tel_stat_next_bucket(stat, 0) : 0, &b);
	return b.lo;
}

/*
 * The cumulative buckets.  Their upper edge is included, so that of whole
 * numbers is hi - 1.  An edge below 0 would forbid the sum, so there is none
 * when it would have nothing below it.
 */
static void
put_all_buckets(const struct metric *m, const tel_stat *stat)
{
	size_t i, n = tel_stat_bucket_count(stat);
	int sparse = is_sparse(stat);
	int64_t least = lower_edge(stat);
	tel_int128 sum = view_number(stat, TEL_NUMBER_UNDER);
	struct pending p = { m, stat, 0, 0, { 0, 0 } };
	tel_bucket b;

	if (!sparse && least > INT64_MIN && (least > 0 || sum.low != 0))
		put_bucket(&p, least - 1, sum);
	for (i = sparse ? tel_stat_next_bucket(stat, 0) : 0; i < n;
	     i = sparse ? tel_stat_next_bucket(stat, i + 1) : i + 1) {
		if (!tel_stat_bucket(stat, i, &b))
			break;
		/* those left out before it are one, with nothing in it */
		if (sparse && b.lo > INT64_MIN && (b.lo > 0 || least < 0))
			put_bucket(&p, b.lo - 1, sum);
		if (b.open)
			break;
		sum = figure_add(sum, figure_int128_of(b.count));
		put_bucket(&p, b.hi - 1, sum);
	}
	flush(&p);
	metric_open(m, stat, "", "_bucket");
	put(m->show->out, ",le=\"+Inf\"");
	metric_close(m, view_number(stat, TEL_NUMBER_WEIGHT));
}

/* A sum is a counter only when nothing below 0 can be in it. */
static int
has_sum(const tel_stat *stat)
{
	int64_t least = lower_edge(stat);
	tel_int128 sum;

	if (!tel_stat_number(stat, TEL_NUMBER_SUM, &sum) || sum.high < 0 ||
	    tel_stat_wrapped(stat))
		return 0;
	return least > 0 ||
	    (least == 0 && !view_nonzero(stat, TEL_NUMBER_UNDER));
}

static void
put_histogram(const struct metric *m, const tel_stat *stat)
{
	put_all_buckets(m, stat);
	if (!has_sum(stat))
		return;
	metric_number(m, stat, "", "_count", TEL_NUMBER_WEIGHT);
	metric_number(m, stat, "", "_sum", TEL_NUMBER_SUM);
}

/*
 * Where it is only known what lies outside, and not on which side, there
 * are no cumulative buckets.
 */
static void
put_hits(const struct metric *m, const tel_stat *stat)
{
	size_t i, n = tel_stat_bucket_count(stat);
	tel_bucket b;

	for (i = tel_stat_next_bucket(stat, 0); i < n;
	     i = tel_stat_next_bucket(stat, i + 1)) {
		if (!tel_stat_bucket(stat, i, &b))
			break;
		metric_open(m, stat, "_hits", "_total");
		putf(m->show->out, ",lo=\"%" PRId64 "\"", b.lo);
		if (!b.open)
			putf(m->show->out, ",hi=\"%" PRId64 "\"", b.hi);
		metric_close(m, figure_int128_of(b.count));
	}
}

/* Nonzero when the sides are not known for any of the groups. */
static int
is_merged(const struct metric *m)
{
	size_t i;

	for (i = m->first; i < m->end; i++)
		if (view_defined(tel_stats_get(m->show->stats, i),
		        TEL_NUMBER_OUTSIDE))
			return 1;
	return 0;
}

void
metric_buckets(const struct metric *m)
{
	const tel_stats *s = m->show->stats;
	const tel_stat *stat = tel_stats_get(s, m->first);
	int merged = is_merged(m);
	size_t i;

	if (merged)
		metric_family(m, "_hits", "counter", NULL, "weight", stat);
	else
		metric_family(m, "", "histogram", NULL, "distribution", stat);
	for (i = m->first; i < m->end; i++) {
		stat = tel_stats_get(s, i);
		if (merged)
			put_hits(m, stat);
		else
			put_histogram(m, stat);
	}
	if (merged)
		metric_numbers(m, "_overflow", "counter", "weight outside",
		    TEL_NUMBER_OUTSIDE);
}
