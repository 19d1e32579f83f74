/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics over time, for the pictures of -i: a chart for each
 * statistic, with a curve for each group.
 *
 * All curves have the same times.  When there are POINTS of them, every second
 * one is dropped, and from then on only every second snapshot is added, and so
 * on: memory is bounded, and a chart has no room for more.
 */
#include "curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "statistic.h"

#define POINTS 1024
/* The most curves that are stored; further groups have none. */
#define STORED 4096

/* What a curve shows of its statistic. */
enum what {
	FIGURE,   /* the number that the class is about */
	QUANTILE, /* of a class with buckets */
	RATE      /* of a sum, weight or updates, between two points */
};

struct curve {
	char *name, *label, *definition, *unit;
	const char *title; /* what FIGURE is */
	enum what what;
	uint32_t share;  /* of the quantile */
	double sum;      /* with --deltas, of what RATE and live bytes count */
	size_t hue;      /* of all charts of a group the same */
	size_t from;     /* the first time that it has a value of, */
	size_t n;        /* and how many times it has */
	double last;     /* the latest value, also of a time left out */
	double values[]; /* POINTS */
};

struct curves {
	struct curve *list[STORED];
	size_t n;
	double times[POINTS];
	size_t ntimes;
	uint64_t stride, skip; /* every so many snapshots are stored */
};

struct curves *
curves_new(void)
{
	struct curves *c = calloc(1, sizeof(*c));

	if (c != NULL)
		c->stride = 1;
	return c;
}

static void
curve_free(struct curve *curve)
{
	if (curve == NULL)
		return;
	free(curve->name);
	free(curve->label);
	free(curve->definition);
	free(curve->unit);
	free(curve);
}

void
curves_free(struct curves *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n; i++)
		curve_free(c->list[i]);
	free(c);
}

/* ---------------------------------------------------------------- points */

static struct curve *
curve_new(const char *name, const char *label, const char *definition,
    const char *unit)
{
	struct curve *v = calloc(1, sizeof(*v) + POINTS * sizeof(v->values[0]));

	if (v == NULL)
		return NULL;
	v->name = strdup(name);
	v->label = strdup(label);
	v->definition = strdup(definition);
	v->unit = strdup(unit);
	if (v->name == NULL || v->label == NULL || v->definition == NULL ||
	    v->unit == NULL) {
		curve_free(v);
		return NULL;
	}
	return v;
}

/*
 * Finds the curve, or adds it at the place: statistics come in the same order
 * each time, and groups are only added.  1 with *out, which is NULL where there
 * are too many; 0 when out of memory.
 */
static int
telstat_curves_find(struct curves *c, size_t *place, const struct curve *key,
    struct curve **out)
{
	size_t i, tried;

	*out = NULL;
	for (tried = 0, i = *place; tried < c->n; tried++, i++) {
		struct curve *v = c->list[i % c->n];

		if (v->what == key->what && v->share == key->share &&
		    strcmp(v->name, key->name) == 0 &&
		    strcmp(v->label, key->label) == 0) {
			*place = i % c->n + 1;
			*out = v;
			return 1;
		}
	}
	if (c->n == STORED)
		return 1;
	*out = curve_new(key->name, key->label, key->definition, key->unit);
	if (*out == NULL)
		return 0;
	(*out)->title = key->title;
	(*out)->what = key->what;
	(*out)->share = key->share;
	(*out)->from = c->ntimes;
	if (*place > c->n)
		*place = c->n;
	memmove(c->list + *place + 1, c->list + *place,
	    (c->n - *place) * sizeof(c->list[0]));
	c->list[(*place)++] = *out;
	c->n++;
	return 1;
}

static int
add_point(struct curves *c, size_t *place, const struct curve *key, double y)
{
	struct curve *v;

	if (!telstat_curves_find(c, place, key, &v))
		return 0;
	if (v == NULL)
		return 1;
	/* times at which the statistic was not there */
	while (v->from + v->n < c->ntimes && v->n < POINTS)
		v->values[v->n++] = NAN;
	if (v->n < POINTS)
		v->values[v->n++] = y;
	v->last = y;
	return 1;
}

/* The value of a statistic; NaN when it has none. */
static double
telstat_curves_value_of(const tel_stat *stat, const struct curve *key)
{
	tel_quantile q;
	double v;

	if (key->what == FIGURE)
		return statistic_figure(stat, &v) ? v : NAN;
	if (!tel_stat_quantile(stat, key->share, &q))
		return NAN;
	return format_scaled((double)q.value, tel_stat_decimals(stat));
}

/* A total over all snapshots, also where they are of intervals. */
static int
add_sum(struct curves *c, size_t *place, const struct curve *key, double y,
    int deltas)
{
	struct curve *v;

	if (!telstat_curves_find(c, place, key, &v))
		return 0;
	if (v == NULL)
		return 1;
	v->sum = deltas ? v->sum + y : y;
	--*place;
	return add_point(c, place, key, v->sum);
}

static int
add_stat(struct curves *c, const struct show *show, size_t *place,
    const tel_stat *stat, const char *label)
{
	static const uint32_t shares[] = { 500000000, 900000000, 990000000 };
	struct curve key = { (char *)(uintptr_t)tel_stat_name(stat),
		(char *)(uintptr_t)label,
		(char *)(uintptr_t)tel_stat_definition(stat),
		(char *)(uintptr_t)statistic_figure_unit(stat),
		statistic_figure_name(stat),
		statistic_has_buckets(stat) &&
		        tel_stat_class(stat) != TEL_CLASS_TALLY ?
		    QUANTILE :
		    FIGURE,
		0, 0, 0, 0, 0, 0 };
	/* three curves of each of many groups could not be distinguished */
	size_t i, n = tel_stat_group_count(stat) > 0 ? 1 : 3;

	if (key.what != QUANTILE)
		n = 1;
	for (i = 0; i < n; i++) {
		key.share = key.what == QUANTILE ? shares[i] : 0;
		if (!add_point(c, place, &key,
		        telstat_curves_value_of(stat, &key)))
			return 0;
	}
	key.what = RATE;
	key.share = 0;
	/* of the other classes, weight or updates */
	if (tel_stat_class(stat) != TEL_CLASS_GROWTH)
		key.unit = (char *)(uintptr_t) "";
	return !show->options->rate || show->at.ticks ||
	    add_sum(c, place, &key, statistic_counted(stat, 1),
	        show->options->deltas);
}

/* Events a second and live bytes, of the report. */
static int
add_totals(struct curves *c, const struct show *show, size_t *place)
{
	struct curve events = { (char *)(uintptr_t) "Events over time",
		(char *)(uintptr_t) "events", (char *)(uintptr_t) "",
		(char *)(uintptr_t) "", "", RATE, 0, 0, 0, 0, 0, 0 };
	struct curve live = { (char *)(uintptr_t) "Live bytes over time",
		(char *)(uintptr_t) "live", (char *)(uintptr_t) "",
		(char *)(uintptr_t) "bytes", "current", FIGURE, 0, 0, 0, 0, 0,
		0 };
	int deltas = show->options->deltas;
	tel_int128 v;

	if (!show->at.ticks &&
	    tel_stats_total(show->stats, TEL_TOTAL_EVENTS, &v) &&
	    !add_sum(c, place, &events, tel_int128_double(v), deltas))
		return 0;
	return !tel_stats_total(show->stats, TEL_TOTAL_LIVE_BYTES, &v) ||
	    add_sum(c, place, &live, tel_int128_double(v), deltas);
}

/* Drops every second time, the first one included. */
static void
telstat_curves_thin(struct curves *c)
{
	size_t i, k, from;

	for (i = 1, k = 0; i < c->ntimes; i += 2)
		c->times[k++] = c->times[i];
	c->ntimes = k;
	for (i = 0; i < c->n; i++) {
		struct curve *v = c->list[i];

		from = v->from / 2;
		for (k = 0; 2 * (from + k) + 1 < v->from + v->n; k++)
			v->values[k] = v->values[2 * (from + k) + 1 - v->from];
		v->from = from;
		v->n = k;
	}
	c->stride *= 2;
}

int
curves_add(struct curves *c, const struct show *show)
{
	size_t i, place = 0, n = tel_stats_count(show->stats);
	struct report r = { 0 };
	const struct report_mark none = { NULL, 0 };
	int ok = 1;

	if (!show->at.known || (!show->at.final && ++c->skip % c->stride != 0))
		return 1;
	if (c->ntimes == POINTS)
		telstat_curves_thin(c);
	if (show_overview(show))
		ok = add_totals(c, show, &place);
	for (i = 0; ok && i < n; i++) {
		const tel_stat *stat = tel_stats_get(show->stats, i);

		ok = add_stat(c, show, &place, stat, statistic_group(&r, stat));
		report_release(&r, none);
	}
	ok = ok && !r.failed;
	report_free(&r);
	c->times[c->ntimes++] = (double)show->at.time;
	return ok;
}

/* ---------------------------------------------------------------- charts */

/* A curve as it is drawn. */
struct drawn {
	const struct curves *curves;
	const struct curve *curve;
	double per; /* a rate is in so many nanoseconds */
};

static double
height_at(const struct drawn *d, size_t i)
{
	const struct curve *v = d->curve;
	const double *times = d->curves->times;
	double before = 0, since = 0;
	size_t at = v->from + i;

	if (v->what != RATE || isnan(v->values[i]))
		return v->values[i];
	if (at > 0)
		since = times[at - 1];
	if (i > 0 && !isnan(v->values[i - 1]))
		before = v->values[i - 1];
	return times[at] > since ?
	    (v->values[i] - before) / (times[at] - since) * d->per :
	    NAN;
}

static void
point_at(const void *of, size_t i, double *x, double *y)
{
	const struct drawn *d = of;

	*x = d->curves->times[d->curve->from + i];
	*y = height_at(d, i);
}

static int
by_last(const void *a, const void *b)
{
	const struct curve *const *x = a, *const *y = b;
	double p = (*x)->last, q = (*y)->last;

	/* a NaN, which is not above anything, comes last */
	if (isnan(p) || isnan(q))
		return isnan(p) - isnan(q);
	return p < q ? 1 : p > q ? -1 : 0;
}

/* The title of the upper axis. */
static const char *
axis_title(struct report *r, const struct show *show, const struct curve *v)
{
	if (v->what == RATE)
		return report_text(r, "%s/%s",
		    strcmp(v->label, "events") == 0 ? "events" :
		        v->unit[0] != '\0'          ? v->unit :
		                                      "updates",
		    show->options->rate_per);
	return statistic_title(r, v->what == QUANTILE ? "value" : v->title,
	    v->unit);
}

static const char *
legend_of(struct report *r, const struct curve *v)
{
	char share[FORMAT_TEXT];
	const char *label = v->label[0] != '\0' ? v->label : v->name;

	if (v->what != QUANTILE)
		return report_text(r, "%s", label);
	return report_text(r, "%s %s", label, format_quantile(v->share, share));
}

/* Makes the axes as long as the curve needs. */
static void
telstat_curves_extend(struct report_chart *chart, const struct drawn *d)
{
	for (size_t i = 0; i < d->curve->n; i++) {
		double y = height_at(d, i);

		if (y > chart->most)
			chart->most = y;
		if (y < chart->least)
			chart->least = y;
	}
}

static void
telstat_curves_put_chart(struct report *r, const struct show *show,
    const struct curves *c, struct curve **list, size_t n)
{
	struct report_section *s = report_section(r, REPORT_SVG, "curve");
	struct report_series series[CURVES_MAX];
	struct drawn drawn[CURVES_MAX];
	struct report_chart chart = { .series = series,
		.n = n < CURVES_MAX ? n : CURVES_MAX,
		.x_title = show->at.ticks ? "ticks since the first event" :
		                            "time since the first event",
		.y_title = axis_title(r, show, list[0]),
		.unit =
		    list[0]->what == RATE && strcmp(list[0]->unit, "ns") == 0 ?
		    "" :
		    list[0]->unit,
		.x_unit = show->at.ticks ? "ticks" : "ns",
		.x_max = c->times[c->ntimes - 1] };

	qsort(list, n, sizeof(list[0]), by_last);
	memset(series, 0, sizeof(series));
	for (size_t i = 0; i < chart.n; i++) {
		drawn[i] = (struct drawn){ c, list[i],
			(double)show->options->rate_ns };
		series[i].name = series[i].legend = legend_of(r, list[i]);
		/* the only one is that of the title, unless it is of a group */
		if (n == 1 && list[i]->what != QUANTILE &&
		    (list[i]->label[0] == '\0' ||
		        list[i]->definition[0] == '\0'))
			series[i].legend = "";
		series[i].number = list[i]->hue;
		series[i].n = list[i]->n;
		series[i].of = &drawn[i];
		series[i].point = point_at;
		telstat_curves_extend(&chart, &drawn[i]);
	}
	s->title = list[0]->definition[0] == '\0' ?
	    list[0]->name :
	    report_text(r, "%s%s over time", list[0]->name,
	        list[0]->what == RATE ? ": rate" : "");
	s->definition = report_text(r, "%s", list[0]->definition);
	s->chart = &chart;
	if (n > chart.n)
		report_note(r, REPORT_SVG, NULL,
		    report_text(r, "%zu more, with smaller values, not drawn",
		        n - chart.n));
	report_put(r);
}

void
curves_put(struct report *r, const struct show *show, const struct curves *c)
{
	struct curve **list = calloc(c->n + 1, sizeof(struct curve *));
	size_t i, k, n;

	if (list == NULL || c->ntimes == 0) {
		r->failed |= list == NULL;
		free(list);
		return;
	}
	/* the curves of a statistic, and then those of its rate */
	for (i = 0; i < c->n; i = k)
		for (int rate = 0; rate < 2; rate++) {
			n = 0;
			/* groups come in the same order in each statistic */
			for (k = i; k < c->n &&
			     strcmp(c->list[k]->name, c->list[i]->name) == 0;
			     k++)
				if ((c->list[k]->what == RATE) == rate) {
					c->list[k]->hue = n;
					list[n++] = c->list[k];
				}
			if (n > 0)
				telstat_curves_put_chart(r, show, c, list, n);
		}
	free(list);
}
