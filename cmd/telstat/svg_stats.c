/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics in pictures: the groups of a statistic are sorted, and drawn
 * on one scale; quantiles are drawn as distribution functions, in one chart.
 */
#include <stdlib.h>
#include <string.h>
#include "class.h"
#include "curves.h"
#include "statistic.h"

/* ------------------------------------------------------------- order */

static int
by_weight(const void *a, const void *b)
{
	const tel_stat *const *x = a, *const *y = b;
	double p = statistic_counted(*x, 0), q = statistic_counted(*y, 0);
	int over = tel_stat_overflow_group(*x) - tel_stat_overflow_group(*y);

	if (over != 0)
		return over;
	return p < q ? 1 : p > q ? -1 : 0;
}

/* The groups of a statistic from place i on. */
struct groups {
	const tel_stat **list;
	size_t n;
};

static void
groups_of(const struct show *show, size_t i, struct groups *out)
{
	const tel_stat *first = tel_stats_get(show->stats, i);
	size_t all = tel_stats_count(show->stats);

	for (out->n = 0; i < all; i++) {
		const tel_stat *stat = tel_stats_get(show->stats, i);

		if (strcmp(tel_stat_name(stat), tel_stat_name(first)) != 0)
			break;
		out->list[out->n++] = stat;
	}
	if (show->options->order == TEL_KEYS_COUNT)
		qsort(out->list, out->n, sizeof(out->list[0]), by_weight);
}

/* -------------------------------------------------------------- axes */

static void
svg_stats_widen(struct report_axes *axes, double lo, double hi, double most)
{
	if (axes->hi <= axes->lo) {
		axes->lo = lo;
		axes->hi = hi;
	}
	if (lo < axes->lo)
		axes->lo = lo;
	if (hi > axes->hi)
		axes->hi = hi;
	if (most > axes->most)
		axes->most = most;
}

/* The axes that all groups fit. */
static void
axes_of(const struct groups *g, struct report_axes *axes)
{
	tel_int128 lo, hi;
	tel_bucket b;

	memset(axes, 0, sizeof(*axes));
	for (size_t i = 0; g->n > 1 && i < g->n; i++) {
		const tel_stat *stat = g->list[i];
		size_t n = tel_stat_bucket_count(stat);

		for (size_t k = tel_stat_next_bucket(stat, 0); k < n;
		     k = tel_stat_next_bucket(stat, k + 1))
			if (tel_stat_bucket(stat, k, &b))
				svg_stats_widen(axes, (double)b.lo,
				    b.open ? (double)b.lo * 2 + 1 :
				             (double)b.hi,
				    (double)b.count);
		svg_stats_widen(axes, axes->lo, axes->hi,
		    tel_int128_double(
		        statistic_number(stat, TEL_NUMBER_UNDER)));
		svg_stats_widen(axes, axes->lo, axes->hi,
		    tel_int128_double(statistic_number(stat, TEL_NUMBER_OVER)));
		if (n == 0 && tel_stat_number(stat, TEL_NUMBER_MIN, &lo) &&
		    tel_stat_number(stat, TEL_NUMBER_MAX, &hi))
			svg_stats_widen(axes, tel_int128_double(lo),
			    tel_int128_double(hi), 0);
	}
}

/* ------------------------------------------- distribution functions */

struct point {
	double x, y;
};

static void
svg_stats_point_at(const void *of, size_t i, double *x, double *y)
{
	const struct point *points = of;

	*x = points[i].x;
	*y = points[i].y;
}

/*
 * The share of the weight below each edge, between two points for the ends of
 * the axis.  Returns the number of points.
 */
static size_t
distribution(const tel_stat *stat, struct point *out)
{
	double sum = 0, all = statistic_counted(stat, 0);
	unsigned decimals = tel_stat_decimals(stat);
	size_t i, n = 1, buckets = tel_stat_bucket_count(stat);
	tel_bucket b;

	for (i = tel_stat_next_bucket(stat, 0); i < buckets;
	     i = tel_stat_next_bucket(stat, i + 1)) {
		if (!tel_stat_bucket(stat, i, &b))
			continue;
		out[n++] =
		    (struct point){ format_scaled((double)b.lo, decimals),
			    all > 0 ? sum / all : 0 };
		sum += (double)b.count;
		out[n++] = (struct point){ format_scaled(b.open ? (double)b.lo :
			                                          (double)b.hi,
			                       decimals),
			all > 0 ? sum / all : 0 };
	}
	out[0] = (struct point){ out[1].x, 0 };
	out[n] = (struct point){ out[n - 1].x, 1 };
	return n > 1 ? n + 1 : 0;
}

/* What follows the name of a function: the updates, and some quantiles. */
static const char *
summary_of(struct report *r, const struct show *show, const tel_stat *stat)
{
	unsigned n;
	const uint32_t *list = statistic_quantiles(show->options, &n);
	char a[FORMAT_TEXT], b[FORMAT_TEXT];
	tel_quantile q;
	const char *text = report_text(r, "%s updates",
	    format_count(statistic_number(stat, TEL_NUMBER_UPDATES),
	        show->options->raw, a));

	for (unsigned i = 0; i < n; i++)
		if (tel_stat_quantile(stat, list[i], &q))
			text = report_text(r, "%s, %s %s %s", text,
			    format_quantile(list[i], a),
			    q.is == TEL_QUANTILE_AT_LEAST ? "\xe2\x89\xa5" :
			                                    "\xe2\x89\xa4",
			    format_edge(q.value, tel_stat_decimals(stat),
			        tel_stat_unit(stat), show->options->raw, b));
	return text;
}

/* "pool=0x1000: 66 updates, p50 <= 49, p99 <= 64 KiB"; "" if it is alone. */
static const char *
svg_stats_legend_of(struct report *r, const struct show *show,
    const tel_stat *stat)
{
	const char *label = statistic_group(r, stat);

	if (tel_stat_group_count(stat) == 0)
		return "";
	return report_text(r, "%s: %s", label, summary_of(r, show, stat));
}

static void
put_functions(struct report *r, const struct show *show, const struct groups *g)
{
	const tel_stat *first = g->list[0];
	struct report_section *s = report_section(r, REPORT_SVG, "quantiles");
	struct point *points[CURVES_MAX] = { NULL };
	struct report_series series[CURVES_MAX];
	const char *unit = tel_stat_unit(first);
	struct report_chart chart = { .series = series,
		.n = g->n < CURVES_MAX ? g->n : CURVES_MAX,
		.y_title = "share of the weight at or below",
		.unit = "",
		.most = 1,
		.share = 1,
		.x_unit = unit,
		.x_log = 1 };
	struct report_axes axes = { 0, 0, 0 };

	memset(series, 0, sizeof(series));
	for (size_t i = 0; i < chart.n; i++) {
		const tel_stat *stat = g->list[i];
		size_t n = tel_stat_bucket_count(stat);

		points[i] = calloc(2 * n + 2, sizeof(*points[i]));
		if (points[i] == NULL) {
			r->failed = 1;
			chart.n = i;
			break;
		}
		series[i].legend = svg_stats_legend_of(r, show, stat);
		series[i].name = series[i].legend[0] != '\0' ?
		    series[i].legend :
		    tel_stat_name(stat);
		series[i].number = i;
		series[i].n = distribution(stat, points[i]);
		series[i].of = points[i];
		series[i].point = svg_stats_point_at;
		if (series[i].n > 0)
			svg_stats_widen(&axes, points[i][0].x,
			    points[i][series[i].n - 1].x, 0);
	}
	chart.x_min = axes.lo;
	chart.x_max = axes.hi > axes.lo ? axes.hi : axes.lo + 1;
	for (size_t i = 0; i < chart.n; i++)
		if (series[i].n > 0) {
			points[i][0].x = chart.x_min;
			points[i][series[i].n - 1].x = chart.x_max;
		}
	if (strcmp(unit, "ns") == 0)
		unit = "time";
	chart.x_title = report_text(r, "%s%s%s%slogarithmic",
	    strlen(tel_stat_name(first)) < 50 ? tel_stat_name(first) : "value",
	    unit[0] != '\0' ? " (" : ", ", unit, unit[0] != '\0' ? "), " : "");
	s->title = report_text(r, "%s: distribution", tel_stat_name(first));
	s->definition = tel_stat_definition(first);
	if (tel_stat_group_count(first) == 0)
		s->definition = report_text(r, "%s: %s", s->definition,
		    summary_of(r, show, first));
	s->chart = &chart;
	if (g->n > chart.n)
		report_note(r, REPORT_SVG, NULL,
		    report_text(r, "%zu more groups not drawn",
		        g->n - chart.n));
	report_put(r);
	for (size_t i = 0; i < chart.n; i++)
		free(points[i]);
}

/* --------------------------------------------- groups as bars of figures */

static int
by_figure(const void *a, const void *b)
{
	const tel_stat *const *x = a, *const *y = b;
	double p, q;
	int has_p = statistic_figure(*x, &p), has_q = statistic_figure(*y, &q);
	int over = tel_stat_overflow_group(*x) - tel_stat_overflow_group(*y);

	if (over != 0)
		return over;
	if (!has_p || !has_q)
		return has_q - has_p;
	return p < q ? 1 : p > q ? -1 : 0;
}

/* A report_bars.bar of a list of groups. */
static void
figure_bar(struct report *r, const void *of, size_t i, struct report_bar *out)
{
	const struct groups *g = of;
	const tel_stat *stat = g->list[i];
	char text[FORMAT_TEXT];

	out->label = report_string(statistic_group(r, stat));
	out->count = out->updates = 0;
	out->value = 0;
	if (statistic_figure(stat, &out->value))
		out->text = report_text(r, "%s",
		    format_double(out->value, statistic_figure_unit(stat),
		        r->options.raw, text));
	else
		out->text = "-";
}

static void
put_figures(struct report *r, const struct show *show, const struct groups *g)
{
	const tel_stat *first = g->list[0];
	struct report_section *s = report_section(r, REPORT_SVG, "groups");
	struct report_bars bars = { .of = g,
		.n = (size_t)report_rows(r, g->n),
		.bar = figure_bar };

	if (show->options->order == TEL_KEYS_COUNT)
		qsort(g->list, g->n, sizeof(g->list[0]), by_figure);
	bars.title = statistic_title(r, statistic_figure_name(first),
	    statistic_figure_unit(first));
	s->title = tel_stat_name(first);
	s->definition = tel_stat_definition(first);
	if (bars.n < g->n)
		s->definition = report_text(r, "%s: %s groups", s->definition,
		    report_part(r, bars.n, g->n));
	s->bars = &bars;
	report_put(r);
}

void
pictures_put(struct report *r, const struct show *show)
{
	size_t i, k, n = tel_stats_count(show->stats);
	struct groups g = { calloc(n + 1, sizeof(tel_stat *)), 0 };
	struct report_axes axes;

	if (show->curves != NULL)
		curves_put(r, show, show->curves);
	/* with --deltas what there is at the end is an interval's only */
	for (i = 0; g.list != NULL && !show->options->deltas && i < n;
	     i += g.n) {
		groups_of(show, i, &g);
		if (tel_stat_class(g.list[0]) == TEL_CLASS_QUANTILES) {
			put_functions(r, show, &g);
			continue;
		}
		if (g.n > 1 && class_view(g.list[0])->bar) {
			put_figures(r, show, &g);
			continue;
		}
		axes_of(&g, &axes);
		for (k = 0; k < g.n; k++)
			statistic_put(r, show, g.list[k], 0, &axes);
	}
	if (g.list == NULL)
		r->failed = 1;
	free(g.list);
}
