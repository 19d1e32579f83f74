/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenMetrics 1.0, for systems that watch: families of metrics; and the text
 * format of Prometheus, version 0.0.4, where that differs.
 */
#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/message.h"
#include "common/page.h"
#include "class.h"
#include "show.h"
#include "statistic.h"

#define LABEL_MAX 128

/* A label with a value; NAME=" comes before it. */
static void
put_value_label(tel_output *out, const tel_value *value)
{
	char *text = statistic_text(value);

	if (text != NULL)
		put_label(out, text);
	put(out, "\"");
	free(text);
}

/*
 * The name of the label for group i.  Expressions may be of anything, so they
 * are made words, distinct from the labels of our own.
 */
static void
name_label(const tel_stat *stat, unsigned i, char *out)
{
	static const char *const own[] = { "class", "le", "key", "lo", "hi",
		"quantile", "rank", "place" };
	const char *text = tel_stat_group_name(stat, i);
	size_t used = 0, j;

	for (; text != NULL && *text != '\0' && used < LABEL_MAX - 32; text++) {
		char c = *text;
		int word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9' && used > 0);

		if (word)
			out[used++] = c;
		else if (used == 0 || out[used - 1] != '_')
			out[used++] = '_';
	}
	out[used] = '\0';
	for (j = 0; j < sizeof(own) / sizeof(own[0]); j++)
		if (strcmp(out, own[j]) == 0)
			(void)strcat(out, "_group");
	if (out[0] == '_' || used == 0) {
		memmove(out + 5, out, strlen(out) + 1);
		memcpy(out, "group", 5);
	}
}

/* A label for group i that no group before it has. */
static void
put_group_name(tel_output *out, const tel_stat *stat, unsigned i)
{
	char name[LABEL_MAX], other[LABEL_MAX];
	int same = 0;

	name_label(stat, i, name);
	for (unsigned j = 0; j < i; j++) {
		name_label(stat, j, other);
		same |= strcmp(name, other) == 0;
	}
	put(out, name);
	if (same)
		putf(out, "_%u", i + 1);
}

/* The name of a sample and its labels, except for the closing brace. */
static void
metric_open(const struct metric *m, const tel_stat *stat, const char *suffix,
    const char *kind)
{
	tel_output *out = m->show->out;
	unsigned i, n = tel_stat_group_count(stat);
	tel_value value;

	putf(out, "%s%s%s{class=\"", m->base, suffix, kind);
	put_label(out, tel_stat_name(stat));
	put(out, "\"");
	for (i = 0; i < n; i++) {
		put(out, ",");
		put_group_name(out, stat, i);
		put(out, "=\"");
		if (tel_stat_overflow_group(stat))
			put(out, "<overflow>\"");
		else if (tel_stat_group_value(stat, i, &value))
			put_value_label(out, &value);
		else
			put(out, "\"");
	}
}

void
metric_value(tel_output *out, tel_int128 v, unsigned decimals)
{
	char text[FORMAT_TEXT];

	putf(out, "%s\n", format_digits(v, decimals, text));
}

static void
metric_close(const struct metric *m, tel_int128 v, unsigned decimals)
{
	put(m->show->out, "} ");
	metric_value(m->show->out, v, decimals);
}

/* A sample of one number, when that is defined. */
static void
metric_number(const struct metric *m, const tel_stat *stat, const char *suffix,
    const char *kind, tel_number which, unsigned decimals)
{
	tel_int128 v;

	if (!tel_stat_number(stat, which, &v))
		return;
	metric_open(m, stat, suffix, kind);
	metric_close(m, v, decimals);
}

/* Nonzero when values are in ns: their families are in seconds. */
static int
is_time(const struct metric *m)
{
	const tel_stat *stat = tel_stats_get(m->show->stats, m->first);

	return strcmp(tel_stat_unit(stat), "ns") == 0;
}

/* Units, and what the names of families of values in them end with. */
static const struct {
	const char *unit, *suffix;
} units[] = { { "ns", "_seconds" }, { "ticks", "_ticks" },
	{ "bytes", "_bytes" } };

#define NUNITS (sizeof(units) / sizeof(units[0]))

/* That of a statistic's values; "": they have none of these. */
static const char *
unit_suffix(const struct metric *m)
{
	const tel_stat *stat = tel_stats_get(m->show->stats, m->first);

	for (size_t i = 0; i < NUNITS; i++)
		if (strcmp(tel_stat_unit(stat), units[i].unit) == 0)
			return units[i].suffix;
	return "";
}

/* The decimals of its values: times are in ns, and shown in seconds. */
static unsigned
decimals_of(const struct metric *m)
{
	const tel_stat *stat = tel_stats_get(m->show->stats, m->first);

	return tel_stat_decimals(stat) + (is_time(m) ? 9 : 0);
}

/* The unit that a name ends in; NULL: none. */
static const char *
name_unit(const char *name)
{
	const char *last = strrchr(name, '_');

	for (size_t i = 0; last != NULL && i < NUNITS; i++)
		if (strcmp(last, units[i].suffix) == 0)
			return last + 1;
	return NULL;
}

/* The lines before the samples of a family. */
void
metric_family(const struct metric *m, const char *suffix, const char *type,
    const char *help, const tel_stat *stat)
{
	const char *unit = name_unit(suffix);
	const int plain = metrics_plain(m->show);
	void (*text)(tel_output *, const char *) = plain ? put_help : put_label;
	tel_output *out = m->show->out;
	const char *kind = "";

	/* there a family has the name of its samples, and no such type */
	if (plain && strcmp(type, "counter") == 0)
		kind = "_total";
	if (plain && strcmp(type, "info") == 0) {
		kind = "_info";
		type = "gauge";
	}
	putf(out, "# TYPE %s%s%s %s\n", m->base, suffix, kind, type);
	if (unit != NULL && !plain)
		putf(out, "# UNIT %s%s %s\n", m->base, suffix, unit);
	putf(out, "# HELP %s%s%s ", m->base, suffix, kind);
	text(out, help);
	if (stat != NULL && tel_stat_definition(stat)[0] != '\0') {
		put(out, ": ");
		text(out, tel_stat_definition(stat));
	}
	if (stat != NULL && tel_stat_unit(stat)[0] != '\0' &&
	    unit_suffix(m)[0] == '\0') {
		put(out, ", in ");
		text(out, tel_stat_unit(stat));
	}
	put(out, "\n");
}

/* A family of one number of each group; valued: in the unit of the values. */
static void
metric_numbers(const struct metric *m, const char *suffix, const char *type,
    const char *help, tel_number which, int valued)
{
	const tel_stats *s = m->show->stats;
	const char *kind = strcmp(type, "counter") == 0 ? "_total" : "";
	char name[64];

	(void)snprintf(name, sizeof(name), "%s%s", suffix,
	    valued ? unit_suffix(m) : "");
	metric_family(m, name, type, help, tel_stats_get(s, m->first));
	for (size_t i = m->first; i < m->end; i++)
		metric_number(m, tel_stats_get(s, i), name, kind, which,
		    valued ? decimals_of(m) : 0);
}

/* ------------------------------------------------------------- buckets */

/* The bucket that is put when it is known that the next is another one. */
struct pending {
	const struct metric *metric;
	const tel_stat *stat;
	unsigned decimals; /* of le */
	int is;            /* there is one */
	int64_t le;
	tel_int128 count;
};

static void
openmetrics_flush(struct pending *p)
{
	char le[FORMAT_TEXT + 1];

	if (!p->is)
		return;
	metric_open(p->metric, p->stat, unit_suffix(p->metric), "_bucket");
	putf(p->metric->show->out, ",le=\"%s%s\"",
	    format_digits(int128_i64(p->le), p->decimals, le),
	    p->decimals > 0 ? "" : ".0");
	metric_close(p->metric, p->count, 0);
	p->is = 0;
}

/* A bucket up to and with le; edges that are the same double are one. */
static void
put_bucket(struct pending *p, int64_t le, tel_int128 count)
{
	if (p->is && (double)p->le < (double)le)
		openmetrics_flush(p);
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
 * when it would have nothing below it.  Returns the count of all, which their
 * weight is not where that has wrapped around.
 */
static tel_int128
put_all_buckets(const struct metric *m, const tel_stat *stat)
{
	size_t i, n = tel_stat_bucket_count(stat);
	int sparse = is_sparse(stat);
	int64_t least = lower_edge(stat);
	tel_int128 sum = statistic_number(stat, TEL_NUMBER_UNDER);
	struct pending p = { m, stat, decimals_of(m), 0, 0, { 0, 0 } };
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
		(void)int128_add(&sum, int128_u64(b.count));
		if (b.open)
			break;
		put_bucket(&p, b.hi - 1, sum);
	}
	openmetrics_flush(&p);
	(void)int128_add(&sum, statistic_number(stat, TEL_NUMBER_OVER));
	metric_open(m, stat, unit_suffix(m), "_bucket");
	put(m->show->out, ",le=\"+Inf\"");
	metric_close(m, sum, 0);
	return sum;
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
	    (least == 0 && !statistic_nonzero(stat, TEL_NUMBER_UNDER));
}

static void
openmetrics_put_histogram(const struct metric *m, const tel_stat *stat)
{
	const char *suffix = unit_suffix(m);
	const tel_int128 count = put_all_buckets(m, stat);
	tel_int128 sum;

	if (!has_sum(stat) && !metrics_plain(m->show))
		return;
	metric_open(m, stat, suffix, "_count");
	metric_close(m, count, 0);
	if (tel_stat_number(stat, TEL_NUMBER_SUM, &sum) &&
	    !tel_stat_wrapped(stat)) {
		metric_number(m, stat, suffix, "_sum", TEL_NUMBER_SUM,
		    decimals_of(m));
		return;
	}
	/* readers of that format take one that is missing for 0 */
	metric_open(m, stat, suffix, "_sum");
	put(m->show->out, "} NaN\n");
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
		metric_close(m, int128_u64(b.count), 0);
	}
}

/* Nonzero when the sides are not known for any of the groups. */
static int
is_merged(const struct metric *m)
{
	for (size_t i = m->first; i < m->end; i++)
		if (statistic_defined(tel_stats_get(m->show->stats, i),
		        TEL_NUMBER_OUTSIDE))
			return 1;
	return 0;
}

static void
metric_buckets(const struct metric *m)
{
	const tel_stats *s = m->show->stats;
	const tel_stat *stat = tel_stats_get(s, m->first);
	int merged = is_merged(m);

	if (merged)
		metric_family(m, "_hits", "counter", "weight", stat);
	else
		metric_family(m, unit_suffix(m), "histogram", "distribution",
		    stat);
	for (size_t i = m->first; i < m->end; i++) {
		stat = tel_stats_get(s, i);
		if (merged)
			put_hits(m, stat);
		else
			openmetrics_put_histogram(m, stat);
	}
	if (merged)
		metric_numbers(m, "_overflow", "counter", "weight outside",
		    TEL_NUMBER_OUTSIDE, 0);
}
/* ------------------------------------------------------------ families */

static void
put_tally(const struct metric *m)
{
	const tel_stats *s = m->show->stats;

	metric_family(m, "", "counter", "weight by key",
	    tel_stats_get(s, m->first));
	for (size_t i = m->first; i < m->end; i++) {
		const tel_stat *stat = tel_stats_get(s, i);
		tel_key key;

		for (size_t j = 0; tel_stat_key(stat, j, &key); j++) {
			metric_open(m, stat, "", "_total");
			put(m->show->out, ",key=\"");
			put_value_label(m->show->out, &key.value);
			metric_close(m, int128_u64(key.count), 0);
		}
	}
	metric_numbers(m, "_overflow", "counter", "weight of keys without room",
	    TEL_NUMBER_OVERFLOW, 0);
}

/* The largest values, by their rank. */
static void
openmetrics_put_top(const struct metric *m)
{
	const tel_stats *s = m->show->stats;
	char name[64];

	(void)snprintf(name, sizeof(name), "_top%s", unit_suffix(m));
	metric_family(m, name, "gauge", "largest values",
	    tel_stats_get(s, m->first));
	for (size_t i = m->first; i < m->end; i++) {
		const tel_stat *stat = tel_stats_get(s, i);
		tel_top top;

		for (size_t j = 0; tel_stat_top(stat, j, &top); j++) {
			metric_open(m, stat, name, "");
			putf(m->show->out, ",rank=\"%zu\",place=\"", j + 1);
			put_label(m->show->out, top.log);
			putf(m->show->out, ":%" PRIu64 "\"", top.offset);
			for (unsigned k = 0; k < top.nshown; k++) {
				if (top.shown[k].missing)
					continue;
				putf(m->show->out, ",%s=\"",
				    statistic_shown(k));
				put_value_label(m->show->out, &top.shown[k]);
			}
			metric_close(m, top.value, decimals_of(m));
		}
	}
}

static void
openmetrics_put_pairs(const struct metric *m)
{
	const tel_stats *s = m->show->stats;
	const tel_stat *stat = tel_stats_get(s, m->first);
	const char *suffix = is_time(m) ? "_seconds" : "_ticks";

	metric_family(m, suffix, "summary", "length of ranges", stat);
	for (size_t i = m->first; i < m->end; i++) {
		stat = tel_stats_get(s, i);
		metric_number(m, stat, suffix, "_count", TEL_NUMBER_PAIRS, 0);
		metric_number(m, stat, suffix, "_sum", TEL_NUMBER_SUM,
		    decimals_of(m));
	}
	metric_numbers(m, "_events", "counter", "starts, ends and middles",
	    TEL_NUMBER_EVENTS, 0);
	metric_numbers(m, "_open", "gauge", "ranges without an end",
	    TEL_NUMBER_OPEN, 0);
}

/* A family of the statistics whose numbers are not exact, if there are any. */
static void
put_doubts(const struct metric *m, const char *suffix, const char *help,
    int (*doubt)(const tel_stat *stat))
{
	int found = 0;

	for (size_t i = m->first; i < m->end; i++) {
		const tel_stat *stat = tel_stats_get(m->show->stats, i);

		if (!doubt(stat))
			continue;
		if (!found)
			metric_family(m, suffix, "gauge", help, NULL);
		found = 1;
		metric_open(m, stat, suffix, "");
		metric_close(m, int128_u64(1), 0);
	}
}

/* One family of the spread: the variance, or its root, in the unit. */
static void
put_spread(const struct metric *m, const char *suffix, int is_variance,
    const char *help)
{
	const unsigned decimals = decimals_of(m);
	int found = 0;
	char text[FORMAT_TEXT];
	double v;

	for (size_t i = m->first; i < m->end; i++) {
		const tel_stat *stat = tel_stats_get(m->show->stats, i);

		if (!tel_stat_variance(stat, &v))
			continue;
		if (!found)
			metric_family(m, suffix, "gauge", help, NULL);
		found = 1;
		v = is_variance ? format_scaled(v, 2 * decimals) :
		                  format_scaled(statistic_root(v), decimals);
		metric_open(m, stat, suffix, "");
		putf(m->show->out, "} %s\n", format_exact(v, text));
	}
}

static void
put_spreads(const struct metric *m)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "_stddev%s", unit_suffix(m));
	put_spread(m, name, 0, "standard deviation of the values");
	put_spread(m, "_variance", 1,
	    is_time(m) ? "variance of the values, in seconds squared" :
	                 "variance of the values");
}

/* The families of a class, or its numbers as gauges. */
static void
openmetrics_put_numbers(const struct metric *m)
{
	static const struct class_family others[] = {
		{ "", "gauge", "last value", TEL_NUMBER_LAST, 1 },
		{ "_cumulative", "gauge", "sum of values", TEL_NUMBER_SUM, 1 },
		{ "_min", "gauge", "least value", TEL_NUMBER_MIN, 1 },
		{ "_max", "gauge", "largest value", TEL_NUMBER_MAX, 1 },
	};
	const tel_stat *first = tel_stats_get(m->show->stats, m->first);
	const struct class_view *view = class_view(first);
	const int has_own = view->families[0].type != NULL;
	const struct class_family *f = has_own ? view->families : others;

	for (size_t i = 0; i < CLASS_FAMILIES_MAX && f[i].type != NULL; i++) {
		if (!has_own && !statistic_defined(first, f[i].which))
			continue;
		metric_numbers(m, f[i].suffix, f[i].type, f[i].help, f[i].which,
		    f[i].valued);
	}
}

static void
put_metric(const struct metric *m)
{
	const tel_stat *stat = tel_stats_get(m->show->stats, m->first);
	const tel_class class = tel_stat_class(stat);

	if (class == TEL_CLASS_TALLY)
		put_tally(m);
	else if (class == TEL_CLASS_DUR)
		openmetrics_put_pairs(m);
	else if (tel_stat_bucket_count(stat) > 0)
		metric_buckets(m);
	else
		openmetrics_put_numbers(m);
	if (class == TEL_CLASS_TOP)
		openmetrics_put_top(m);
	if (class != TEL_CLASS_DUR)
		metric_numbers(m, "_updates", "counter", "number of updates",
		    TEL_NUMBER_UPDATES, 0);
	put_spreads(m);
	put_doubts(m, "_approximate", "merged from parts, and not exact",
	    tel_stat_approximate);
	put_doubts(m, "_wrapped", "a number was too large and wrapped round",
	    tel_stat_wrapped);
}

/* The first statistic behind the groups of number i. */
static size_t
openmetrics_end_of(const tel_stats *s, size_t i)
{
	const tel_stat *first = tel_stats_get(s, i);
	size_t n = tel_stats_count(s);

	while (++i < n) {
		const tel_stat *stat = tel_stats_get(s, i);

		if (strcmp(tel_stat_name(stat), tel_stat_name(first)) != 0 ||
		    tel_stat_class(stat) != tel_stat_class(first))
			break;
	}
	return i;
}

void
prometheus_put(const struct show *show)
{
	size_t i, n = tel_stats_count(show->stats);
	struct tel__table names;
	struct metric m = { show, NULL, 0, 0 };

	tel__table_init(&names);
	metrics_totals(show, &names);
	for (i = 0; i < n; i = m.end) {
		const char *path = tel_stat_name(tel_stats_get(show->stats, i));
		int clash;
		m.first = i;
		char *base = names_make(&names, show->options->prefix, path,
		    unit_suffix(&m), &clash);

		m.base = base;
		m.end = openmetrics_end_of(show->stats, i);
		if (base == NULL)
			(void)message_no_memory();
		else if (clash && show->options->settings.strict)
			message_fail(STATUS_FAILED, NULL,
			    "-f %s: the name of '%s' is already in use",
			    show->options->format->name, path);
		else
			put_metric(&m);
		free(base);
	}
	tel__table_clear(&names);
}

void
openmetrics_put(const struct show *show)
{
	prometheus_put(show);
	put(show->out, "# EOF\n");
}
