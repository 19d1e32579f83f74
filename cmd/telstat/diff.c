/* SPDX-License-Identifier: BSD-2-Clause */
/* telstat diff: how the statistics of two operands differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/index.h"
#include "common/message.h"
#include "common/report/lifetimes.h"
#include "common/sandbox.h"
#include "show.h"
#include "significance.h"
#include "statistic.h"

/* Statistics, types or keys of a side, by their names. */
struct subjects {
	char **names; /* in the order of their set; ours */
	size_t n, room;
	struct tel__index by_name;
};

/* The number of a subject that a side does not have. */
#define NONE ((size_t)TEL__NOWHERE)

struct side {
	struct telstat telstat;
	double ns, events;
	struct subjects types, stats;
};

struct diff {
	struct side sides[2];
	char *names[2]; /* of the operands */
	struct report *report;
	const struct show *show;
	double share; /* of the first side in all time, or all events */
	int timed;    /* it is of time */
	int failed;
};

/* Either of the two may be missing. */
struct both {
	const tel_stat *stats[2];
	int overflow[2]; /* that side had no room for all groups */
};

/* ------------------------------------------------------------ subjects */

/* Adds the next one, with its name.  Returns 1, or 0 when out of memory. */
static int
subjects_add(struct subjects *s, char *name)
{
	if (s->n == 0)
		tel__index_init(&s->by_name);
	if (name == NULL || !TEL__RESERVE(s->names, s->room, s->n + 1) ||
	    !tel__index_add(&s->by_name,
	        tel__hash_bytes(name, strlen(name), s->by_name.seed),
	        (uint32_t)s->n)) {
		free(name);
		return 0;
	}
	s->names[s->n++] = name;
	return 1;
}

/* The number of what has a name, of several the first one; or NONE. */
static size_t
subjects_find(const struct subjects *s, const char *name)
{
	const uint64_t hash =
	    tel__hash_bytes(name, strlen(name), s->by_name.seed);
	uint32_t i, found = TEL__NOWHERE;
	struct tel__probe at;

	for (i = tel__index_first(&s->by_name, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&s->by_name, &at))
		if (i < found && strcmp(s->names[i], name) == 0)
			found = i;
	return found;
}

static void
subjects_free(struct subjects *s)
{
	while (s->n > 0)
		free(s->names[--s->n]);
	free(s->names);
	tel__index_clear(&s->by_name);
}

/* The name of a statistic with its group, n{kind=Pool}; NULL: no memory. */
static char *
stat_name(const tel_stat *stat)
{
	struct report r = { 0 };
	const char *name = tel_stat_name(stat);

	if (tel_stat_group_count(stat) > 0)
		name =
		    report_text(&r, "%s{%s}", name, statistic_group(&r, stat));
	char *copy = r.failed ? NULL : strdup(name);
	report_free(&r);
	return copy;
}

/* Lists what a side has.  Returns 0 when out of memory. */
static int
list_side(struct side *s)
{
	const tel_stats *stats = s->telstat.stats;
	size_t i, size, nstats = tel_stats_count(stats);
	size_t ntypes = tel_stats_part_count(stats, TEL_PART_TYPE);
	tel_part part;

	if (tel_stats_sort_keys(s->telstat.stats, s->telstat.order) != TEL_OK)
		return 0;
	for (i = 0; i < nstats; i++)
		if (!subjects_add(&s->stats,
		        stat_name(tel_stats_get(stats, i))))
			return 0;
	for (i = 0;
	     i < ntypes && tel_stats_part(stats, TEL_PART_TYPE, i, &part);
	     i++) {
		size = strlen(part.name) + strlen(part.kind) + 2;
		char *name = malloc(size);
		if (name != NULL)
			(void)snprintf(name, size, "%s %s", part.name,
			    part.kind);
		if (!subjects_add(&s->types, name))
			return 0;
	}
	return 1;
}

static void
free_side(struct side *s)
{
	subjects_free(&s->stats);
	subjects_free(&s->types);
	telstat_free(&s->telstat);
}

/* Puts a subject, whose number in each side may be NONE. */
typedef void pair_put(struct diff *d, const struct both *b, const char *name,
    const size_t at[2]);

/*
 * Puts what the first side has, in its order, then what only the other has; of
 * rows, as many of each as are shown.
 */
static void
diff_put_pairs(struct diff *d, const struct both *b,
    const struct subjects *first, const struct subjects *second, pair_put *put,
    int rows)
{
	const struct subjects *const sides[2] = { first, second };
	size_t i, j, n, at[2];

	for (j = 0; j < 2; j++) {
		n = rows ? report_rows(d->report, sides[j]->n) : sides[j]->n;
		for (i = 0; i < n; i++) {
			at[j] = i;
			at[1 - j] =
			    subjects_find(sides[1 - j], sides[j]->names[i]);
			if (j == 0 || at[0] == NONE)
				put(d, b, sides[j]->names[i], at);
		}
	}
}

/* --------------------------------------------------------------- tables */

/* A number of a row: whole, of so many decimals, or of a mean. */
struct figure {
	int known;
	double value;
	struct report_value shown;
};

static struct figure
whole(tel_int128 v, unsigned decimals)
{
	struct figure f = { 1, format_scaled(tel_int128_double(v), decimals),
		report_decimal(v, decimals) };

	return f;
}

static struct figure
count(uint64_t n)
{
	return whole(int128_u64(n), 0);
}

static struct figure
real(double v)
{
	struct figure f = { 1, v, report_real(v) };

	return f;
}

static void
diff_open_table(const struct diff *d, const char *title)
{
	struct report *r = d->report;
	struct report_section *s =
	    report_section(r, REPORT_TEXT | REPORT_DATA, "difference");
	struct report_field *f;

	s->name = title;
	s->indent = 2;
	f = report_column(r, "figure", "", REPORT_PLAIN, 0);
	f->item = f->left = 1;
	f->most = 32;
	(void)report_column(r, "before", NULL, REPORT_GROUPED, 0);
	(void)report_column(r, "after", NULL, REPORT_GROUPED, 0);
	if (d->timed) {
		report_column(r, "before_per_s", "before/s", REPORT_ROUNDED, 0)
		    ->spare = 1;
		report_column(r, "after_per_s", "after/s", REPORT_ROUNDED, 0)
		    ->spare = 1;
	}
	f = report_column(r, "change", NULL, REPORT_PERCENT, 0);
	f->decimals = 1;
	(void)report_column(r, "significance", "sig", REPORT_PLAIN, 0);
	/* in tables of text each number has its own */
	report_column(r, "unit", NULL, REPORT_PLAIN, 0)->shown = REPORT_JSON;
}

/* A number in the cell of a row; for people with its unit. */
static void
diff_put_figure(struct report *r, const struct figure *f, const char *unit)
{
	struct report_field field = { .unit = unit,
		.notation = f->shown.type == REPORT_INTEGER ? REPORT_WITH_UNIT :
		                                              REPORT_ROUNDED };

	if (!f->known)
		report_cell(r, (struct report_value){ .type = REPORT_UNKNOWN });
	else if (report_is(r, REPORT_TEXT))
		report_cell(r,
		    report_string(report_show(r, &field, &f->shown)));
	else
		report_cell(r, f->shown);
}

static void
diff_put_row(struct report *r, const char *name, const struct figure *a,
    const struct figure *b, const char *unit)
{
	report_row(r, REPORT_TEXT | REPORT_DATA);
	report_cell(r, report_string(report_text(r, "%s", name)));
	diff_put_figure(r, a, unit);
	diff_put_figure(r, b, unit);
}

/* How much a number has changed, the mark, and the unit of the number. */
static void
put_change(struct report *r, double a, double b, enum significance s,
    const char *unit)
{
	report_cell(r,
	    a > 0 ? report_real((b - a) / a) :
	            (struct report_value){ .type = REPORT_UNKNOWN });
	report_cell(r, report_optional(significance_mark(s)));
	if (report_is(r, REPORT_JSON))
		report_cell(r, report_optional(unit));
}

/* A row of a number that has no test. */
static void
add_plain(const struct diff *d, const char *name, struct figure a,
    struct figure b, const char *unit, enum significance s)
{
	diff_put_row(d->report, name, &a, &b, unit);
	if (d->timed) {
		report_cell(d->report, report_optional(""));
		report_cell(d->report, report_optional(""));
	}
	put_change(d->report, b.known ? a.value : 0, b.value, s, unit);
}

/*
 * A row of counts: they are compared by time, where that is known of both
 * sides, or by their share of all events.
 */
static void
add_counts(const struct diff *d, const char *name, struct figure a,
    struct figure b, int test)
{
	double by_a = d->timed ? d->sides[0].ns / 1e9 : d->sides[0].events;
	double by_b = d->timed ? d->sides[1].ns / 1e9 : d->sides[1].events;

	if (!a.known || !b.known) {
		add_plain(d, name, a, b, "", NOT_SIGNIFICANT);
		return;
	}
	diff_put_row(d->report, name, &a, &b, "");
	if (d->timed) {
		report_cell(d->report, report_real(a.value / by_a));
		report_cell(d->report, report_real(b.value / by_b));
	}
	put_change(d->report, by_a > 0 ? a.value / by_a : 0,
	    by_b > 0 ? b.value / by_b : 0,
	    test ? significance_counts(a.value, b.value, d->share) :
	           NOT_SIGNIFICANT,
	    "");
}

/* ---------------------------------------------------------- statistics */

static struct figure
diff_figure_of(const tel_stat *stat, tel_number which, int valued)
{
	struct figure f = { 0 };
	tel_int128 v;

	if (stat != NULL && tel_stat_number(stat, which, &v))
		f = whole(v, valued ? tel_stat_decimals(stat) : 0);
	return f;
}

/* How many values a statistic has. */
static double
values_of(const tel_stat *stat)
{
	tel_number which = TEL_NUMBER_UPDATES;

	if (tel_stat_class(stat) == TEL_CLASS_DUR)
		which = TEL_NUMBER_PAIRS;
	return tel_int128_double(statistic_number(stat, which));
}

/* The count of a group that a side lacks: it may be among those without room. */
static struct figure
missing_count(const struct both *b, int side)
{
	struct figure f = count(0);

	f.known = b->stats[side] != NULL || !b->overflow[side];
	return f;
}

static struct figure
values_figure(const struct both *b, int side)
{
	return b->stats[side] == NULL ?
	    missing_count(b, side) :
	    count((uint64_t)values_of(b->stats[side]));
}

/* Nonzero when each value weighs 1, as tests need it. */
static int
is_unweighted(const tel_stat *stat)
{
	tel_int128 weight;

	return !tel_stat_number(stat, TEL_NUMBER_WEIGHT, &weight) ||
	    tel_int128_double(weight) == values_of(stat);
}

static void
add_means(const struct diff *d, const struct both *b, const char *unit)
{
	struct figure means[2] = { { 0 } }, spreads[2] = { { 0 } };
	enum significance s = NOT_SIGNIFICANT;
	double n[2] = { 0, 0 }, variance[2];
	int i, known = 0, tested = 1;

	for (i = 0; i < 2; i++) {
		const tel_stat *stat = b->stats[i];
		double mean;

		if (stat == NULL || !statistic_mean(stat, &mean))
			continue;
		means[i] = real(mean);
		if (!tel_stat_variance(stat, &variance[i]))
			continue;
		known++;
		tested &= is_unweighted(stat);
		variance[i] =
		    format_scaled(variance[i], 2 * tel_stat_decimals(stat));
		spreads[i] = real(statistic_root(variance[i]));
		n[i] = values_of(stat);
	}
	if (!means[0].known && !means[1].known)
		return;
	if (known == 2 && tested)
		s = significance_means(means[0].value, variance[0], n[0],
		    means[1].value, variance[1], n[1]);
	add_plain(d, "mean", means[0], means[1], unit, s);
	if (known > 0)
		add_plain(d, "stddev", spreads[0], spreads[1], unit,
		    NOT_SIGNIFICANT);
}

/* Whether two statistics have the same buckets, of values that weigh 1. */
static int
same_buckets(const struct both *b)
{
	const tel_stat *x = b->stats[0], *y = b->stats[1];

	return x != NULL && y != NULL && tel_stat_bucket_count(x) > 0 &&
	    tel_stat_bucket_count(x) == tel_stat_bucket_count(y) &&
	    strcmp(tel_stat_definition(x), tel_stat_definition(y)) == 0 &&
	    statistic_defined(x, TEL_NUMBER_UNDER) &&
	    statistic_defined(y, TEL_NUMBER_UNDER) && is_unweighted(x) &&
	    is_unweighted(y) && values_of(x) > 0 && values_of(y) > 0;
}

/*
 * How many values of each lie at or below the bucket where a share of both
 * together does; with share above 1, where the two distribution functions are
 * farthest apart.
 */
static void
counts_below(const struct both *b, double share, double below[2])
{
	double n[2], sum[2], apart, most = -1;
	size_t i, j, count = tel_stat_bucket_count(b->stats[0]);
	tel_bucket bucket;

	for (j = 0; j < 2; j++) {
		n[j] = values_of(b->stats[j]);
		sum[j] = tel_int128_double(
		    statistic_number(b->stats[j], TEL_NUMBER_UNDER));
	}
	below[0] = sum[0];
	below[1] = sum[1];
	for (i = 0; i < count; i++) {
		for (j = 0; j < 2; j++)
			if (tel_stat_bucket(b->stats[j], i, &bucket))
				sum[j] += (double)bucket.count;
		apart = sum[0] / n[0] - sum[1] / n[1];
		if (share <= 1 || (apart < 0 ? -apart : apart) > most) {
			most = apart < 0 ? -apart : apart;
			below[0] = sum[0];
			below[1] = sum[1];
		}
		if (share <= 1 && sum[0] + sum[1] >= share * (n[0] + n[1]))
			break;
	}
}

static struct figure
quantile_of(const tel_stat *stat, uint32_t share)
{
	struct figure f = { 0 };
	tel_quantile q;

	if (stat != NULL && tel_stat_quantile(stat, share, &q) &&
	    q.is == TEL_QUANTILE_AT_MOST)
		f = whole(int128_i64(q.value), tel_stat_decimals(stat));
	return f;
}

static void
add_quantiles(const struct diff *d, const struct both *b, const char *unit)
{
	unsigned n;
	const uint32_t *list = statistic_quantiles(&d->sides[0].telstat, &n);
	int tested = same_buckets(b);
	enum significance s = NOT_SIGNIFICANT;
	double below[2], na = 0, nb = 0, apart;
	char name[FORMAT_TEXT];

	if (tested) {
		na = values_of(b->stats[0]);
		nb = values_of(b->stats[1]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (tested) {
			counts_below(b, (double)list[i] / 1e9, below);
			s = significance_shares(below[0], na, below[1], nb);
		}
		add_plain(d, format_quantile(list[i], name),
		    quantile_of(b->stats[0], list[i]),
		    quantile_of(b->stats[1], list[i]), unit, s);
	}
	if (!tested)
		return;
	counts_below(b, 2, below);
	apart = below[0] / na - below[1] / nb;
	s = significance_distance(apart < 0 ? -apart : apart, na, nb);
	add_plain(d, "shape", (struct figure){ 0 }, (struct figure){ 0 }, "",
	    s);
}

/* Lists the keys of a tally.  Returns 0 when out of memory. */
static int
list_keys(const tel_stat *stat, struct subjects *s)
{
	const size_t n = stat != NULL ? tel_stat_key_count(stat) : 0;
	tel_key key;

	for (size_t i = 0; i < n && tel_stat_key(stat, i, &key); i++)
		if (!subjects_add(s, statistic_text(&key.value)))
			return 0;
	return 1;
}

static void
diff_add_key(struct diff *d, const struct both *b, const char *name,
    const size_t at[2])
{
	const int tested = b->stats[0] != NULL && b->stats[1] != NULL &&
	    is_unweighted(b->stats[0]) && is_unweighted(b->stats[1]);
	struct figure f[2];
	tel_key key;

	for (int j = 0; j < 2; j++) {
		f[j] = missing_count(b, j);
		if (at[j] != NONE && tel_stat_key(b->stats[j], at[j], &key))
			f[j] = count(key.count);
		else if (b->stats[j] != NULL &&
		    statistic_nonzero(b->stats[j], TEL_NUMBER_OVERFLOW_UPDATES))
			/* it may be among those without room */
			f[j].known = 0;
	}
	add_counts(d, name, f[0], f[1], tested);
}

/* The keys of a tally.  Returns 0 when out of memory. */
static int
add_keys(struct diff *d, const struct both *b)
{
	struct subjects keys[2] = { { 0 } };
	const int complete = list_keys(b->stats[0], &keys[0]) &&
	    list_keys(b->stats[1], &keys[1]);

	if (complete)
		diff_put_pairs(d, b, &keys[0], &keys[1], diff_add_key, 1);
	subjects_free(&keys[0]);
	subjects_free(&keys[1]);
	return complete;
}

static void
add_numbers(struct diff *d, const struct both *b, const char *name)
{
	static const struct {
		tel_number which;
		const char *name;
	} rows[] = { { TEL_NUMBER_SUM, "total" }, { TEL_NUMBER_MIN, "min" },
		{ TEL_NUMBER_MAX, "max" }, { TEL_NUMBER_KEYS, "keys" },
		{ TEL_NUMBER_DISTINCT, "distinct" } };
	const tel_stat *any = b->stats[b->stats[0] == NULL];
	const char *unit = tel_stat_unit(any);
	const char *counted =
	    tel_stat_class(any) == TEL_CLASS_DUR ? "pairs" : "updates";

	diff_open_table(d, name);
	d->report->section.definition = tel_stat_definition(any);
	d->report->section.class = tel_class_name(tel_stat_class(any));
	add_counts(d, counted, values_figure(b, 0), values_figure(b, 1), 1);
	add_means(d, b, unit);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct figure x =
		    diff_figure_of(b->stats[0], rows[i].which, i < 3);
		struct figure y =
		    diff_figure_of(b->stats[1], rows[i].which, i < 3);

		if (x.known || y.known)
			add_plain(d, rows[i].name, x, y, i < 3 ? unit : "",
			    NOT_SIGNIFICANT);
	}
	if (statistic_has_buckets(any))
		add_quantiles(d, b, unit);
	if (tel_stat_class(any) == TEL_CLASS_TALLY)
		d->failed |= !add_keys(d, b);
}

/* ------------------------------------------------------------- report */

/* Nonzero when a side had no room for all groups of a statistic. */
static int
has_overflow(const struct side *s, const char *name)
{
	char group[512];

	(void)snprintf(group, sizeof(group), "%s{<overflow>}", name);
	return subjects_find(&s->stats, group) != NONE;
}

static void
diff_put_stat(struct diff *d, const struct both *b, const char *name,
    const size_t at[2])
{
	struct both both = { 0 };

	(void)b;
	for (int j = 0; j < 2; j++)
		if (at[j] != NONE)
			both.stats[j] =
			    tel_stats_get(d->sides[j].telstat.stats, at[j]);
	for (int j = 0; j < 2; j++)
		both.overflow[j] = both.stats[j] == NULL &&
		    has_overflow(&d->sides[j],
		        tel_stat_name(both.stats[1 - j]));
	add_numbers(d, &both, name);
	report_put(d->report);
}

static void
diff_put_type(struct diff *d, const struct both *b, const char *name,
    const size_t at[2])
{
	uint64_t counts[2] = { 0, 0 };
	tel_part part = { 0 };

	(void)b;
	(void)name;
	for (int j = 0; j < 2; j++)
		if (at[j] != NONE &&
		    tel_stats_part(d->sides[j].telstat.stats, TEL_PART_TYPE,
		        at[j], &part))
			counts[j] = part.events;
	add_counts(d, part.name, count(counts[0]), count(counts[1]), 1);
}

/* A row of a number that a side may not have; none if neither has it. */
static void
add_known(const struct diff *d, const char *name, const struct figure f[2],
    const char *unit)
{
	if (f[0].known || f[1].known)
		add_plain(d, name, f[0], f[1], unit, NOT_SIGNIFICANT);
}

/* The peak and lifetimes, beside the counts of blocks. */
static void
diff_put_heaps(const struct diff *d)
{
	struct figure blocks[2] = { 0 }, bytes[2] = { 0 }, temporary[2] = { 0 };
	struct figure lived[REPORT_LIFETIMES][2] = { 0 };
	const char *unit = NULL;
	tel_heap_stack all;
	uint64_t v, step;
	int mixed = 0;

	for (int i = 0; i < 2; i++) {
		const tel_heap *heap = d->sides[i].telstat.heap;

		if (heap == NULL)
			continue;
		/* times of clocks of which one has no rate do not compare */
		const char *own = tel_heap_ticks(heap) ? "ticks" : "ns";
		mixed = unit != NULL && strcmp(unit, own) != 0;
		unit = own;
		tel_heap_total(heap, &all);
		/* the report has no peak of nothing, either */
		if (all.peak_bytes > 0) {
			blocks[i] = whole(int128_u64(all.peak_blocks), 0);
			bytes[i] = whole(int128_u64(all.peak_bytes), 0);
		}
		if (!answers_samples(d->sides[i].telstat.stats))
			temporary[i] = whole(int128_u64(all.temporary), 0);
		/* a log without times has no lifetimes */
		if (!tel_heap_resolution(heap, &step))
			step = 1;
		/* those below the resolution may be anything */
		for (size_t k = 0; k < REPORT_LIFETIMES; k++)
			if (tel_heap_lifetime_of_all(heap,
			        report_lifetimes[k].share, &v) &&
			    v >= step)
				lived[k][i] = whole(int128_u64(v), 0);
	}
	add_known(d, "peak_blocks", blocks, "");
	add_known(d, "peak_bytes", bytes, "bytes");
	add_known(d, "temporary_blocks", temporary, "");
	for (size_t k = 0; k < REPORT_LIFETIMES && !mixed; k++)
		add_known(d, report_lifetimes[k].name, lived[k], unit);
}

/* What was allocated and freed, and what lives, where logs have blocks. */
static void
diff_put_memory(const struct diff *d)
{
	struct figure f[2];
	tel_int128 v;

	diff_open_table(d, "memory");
	for (int t = TEL_TOTAL_ALLOCS; t < TOTALS; t++) {
		const char *name = totals[t].name;

		for (int i = 0; i < 2; i++)
			f[i] = tel_stats_total(d->sides[i].telstat.stats,
			           (tel_total)t, &v) ?
			    whole(v, 0) :
			    (struct figure){ 0 };
		add_known(d, name, f,
		    strstr(name, "_bytes") != NULL ? "bytes" : "");
	}
	diff_put_heaps(d);
	report_put(d->report);
}

/* A table of durations, where either side has any. */
static void
diff_put_durations(const struct diff *d, const char *what,
    const struct durations of[2])
{
	static const char *const names[] = { "total", "p50", "p99", "longest" };
	const char *unit = of[of[0].count == 0].unit;
	struct figure f[2];

	if (of[0].count + of[1].count == 0)
		return;
	/* times of clocks of which one has no rate do not compare */
	if (unit != NULL && of[1].count > 0 &&
	    (of[1].unit == NULL || strcmp(unit, of[1].unit) != 0))
		unit = NULL;
	diff_open_table(d, what);
	add_counts(d, "count", count(of[0].count), count(of[1].count), 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && unit != NULL;
	     i++) {
		for (int j = 0; j < 2; j++) {
			const uint64_t times[] = { of[j].total, of[j].p50,
				of[j].p99, of[j].longest };

			f[j] = of[j].count > 0 ?
			    whole(int128_u64(times[i]), 0) :
			    (struct figure){ 0 };
		}
		add_known(d, report_text(d->report, "%s_%s", names[i], unit), f,
		    unit);
	}
	report_put(d->report);
}

/* Pauses and collections of runtimes. */
static void
diff_put_collector(const struct diff *d)
{
	struct durations pauses[2] = { 0 }, collections[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		const struct show show = { .options = &d->sides[i].telstat,
			.stats = d->sides[i].telstat.stats };

		if (show.options->runtime != NULL &&
		    !runtime_durations(&show, &pauses[i], &collections[i]))
			d->report->failed = 1;
	}
	diff_put_durations(d, "pauses", pauses);
	diff_put_durations(d, "collections", collections);
}

/* Nonzero when a side has allocated blocks. */
static int
has_memory(const struct diff *d)
{
	tel_int128 v;

	return tel_stats_total(d->sides[0].telstat.stats, TEL_TOTAL_ALLOCS,
	           &v) ||
	    tel_stats_total(d->sides[1].telstat.stats, TEL_TOTAL_ALLOCS, &v);
}

static void
diff_fill(struct report *r, void *arg)
{
	struct diff *d = arg;
	const struct side *a = &d->sides[0], *b = &d->sides[1];
	const struct telstat *t = &a->telstat;

	d->report = r;
	if (t->stacks != NULL) {
		changes_put(r, d->show, stacks_heap(t),
		    stacks_heap(&b->telstat));
		if (!t->given)
			return;
	}
	if (t->report || a->stats.n + b->stats.n == 0) {
		diff_open_table(d, "events");
		add_counts(d, "all", count((uint64_t)a->events),
		    count((uint64_t)b->events), d->timed);
		diff_put_pairs(d, NULL, &a->types, &b->types, diff_put_type, 1);
		report_put(r);
		if (!t->types && has_memory(d))
			diff_put_memory(d);
		diff_put_collector(d);
	}
	diff_put_pairs(d, NULL, &a->stats, &b->stats, diff_put_stat, 0);
	if (!report_is(r, REPORT_TEXT))
		return;
	report_section(r, REPORT_TEXT, "")->indent = 0;
	report_line(r, "",
	    "* and **: by chance alone less than 1 in 100, and 1 in 1000; "
	    "changes are of %s",
	    d->timed ? "rates" : "shares of all events");
	report_put(r);
}

static void
show_diff(struct diff *d, const struct sink *sink)
{
	struct side *a = &d->sides[0], *b = &d->sides[1];
	tel_int128 v;
	struct show show;

	d->timed = 1;
	for (int i = 0; i < 2; i++) {
		struct side *s = &d->sides[i];

		if (tel_stats_total(s->telstat.stats, TEL_TOTAL_NS, &v))
			s->ns = tel_int128_double(v);
		if (tel_stats_total(s->telstat.stats, TEL_TOTAL_EVENTS, &v))
			s->events = tel_int128_double(v);
		d->timed &= s->ns > 0;
	}
	if (d->timed)
		d->share = a->ns / (a->ns + b->ns);
	else if (a->events + b->events > 0)
		d->share = a->events / (a->events + b->events);
	show_open(&show, &a->telstat, sink);
	d->show = &show;
	show.report.operands = d->names;
	show.report.noperands = 2;
	struct telstat *const sides[] = { &a->telstat, &b->telstat };
	stacks_choose(sides, 2);
	report_write(&show.report, diff_fill, d);
	if (show.report.failed)
		d->failed = 1;
	show_close(&show);
}

/* Reads the arguments for one of the operands.  Returns 1, or 0. */
static int
parse_side(struct diff *d, int i, int argc, char **argv)
{
	struct telstat *t = &d->sides[i].telstat;

	optind = 1;
	if (!telstat_options(t, argc, argv))
		return 0;
	if (t->settings.noperands != 2)
		message_fail(STATUS_USAGE, NULL,
		    "diff: %d operand%s; expected two logs, or outputs of "
		    "-f inst",
		    t->settings.noperands,
		    t->settings.noperands == 1 ? "" : "s");
	else if (t->settings.count_only)
		message_fail(STATUS_USAGE, NULL,
		    "diff cannot be combined with -c");
	else if (t->format->report == NULL || t->format->snapshots != SHOWS_ALL)
		message_fail(STATUS_USAGE, NULL,
		    "diff cannot be combined with -f %s", t->format->name);
	else if (t->interval > 0)
		message_fail(STATUS_USAGE, NULL,
		    "diff cannot be combined with -i");
	else if (t->self_trace != NULL)
		message_fail(STATUS_USAGE, NULL,
		    "diff cannot be combined with --self-trace");
	else {
		t->answers = answers_asked(t);
		d->names[i] = t->settings.ranged.shown[i];
		operands_only(&t->settings, i);
		return operands_select(&t->settings);
	}
	return 0;
}

void
telstat_diff(int argc, char **argv)
{
	struct settings both;
	struct diff d = { 0 };
	struct sink sink;

	const struct settings *second = &d.sides[1].telstat.settings;

	/* the first operand is checked when the output is opened */
	if (parse_side(&d, 0, argc, argv) && parse_side(&d, 1, argc, argv) &&
	    output_check(second->output, second->output == NULL ? 1 : -1,
	        second) &&
	    output_open(&sink, &d.sides[0].telstat.settings)) {
		both = d.sides[0].telstat.settings;
		both.noperands = 2;
		sandbox_enter(&both, &sink, NULL);
		if (telstat_count(&d.sides[0].telstat, &sink) &&
		    telstat_count(&d.sides[1].telstat, &sink)) {
			d.failed =
			    !list_side(&d.sides[0]) || !list_side(&d.sides[1]);
			if (!d.failed)
				show_diff(&d, &sink);
			/* showing has chosen between blocks and samples */
			for (int i = 0; i < 2; i++)
				stacks_check(&d.sides[i].telstat, d.names[i]);
			if (d.failed)
				(void)message_no_memory();
		}
		sink_close(&sink);
	}
	free_side(&d.sides[0]);
	free_side(&d.sides[1]);
}
