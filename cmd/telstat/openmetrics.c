/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "openmetrics": OpenMetrics 1.0, for systems that watch. */
#include "metrics.h"
#include "common/page.h"
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/message.h"

#define LABEL_MAX 128

/*
 * The name of the label for group i.  Expressions may be of anything, so
 * they are made words, and told apart from the labels of our own.
 */
static void
name_label(const tel_stat *stat, unsigned i, char *out)
{
	static const char *const own[] = { "class", "le", "key", "lo", "hi",
		"quantile" };
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
	unsigned j;

	name_label(stat, i, name);
	for (j = 0; j < i; j++) {
		name_label(stat, j, other);
		same |= strcmp(name, other) == 0;
	}
	put(out, name);
	if (same)
		putf(out, "_%u", i + 1);
}

/* The name of a sample and its labels, but for the closing brace. */
void
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
		char *text = NULL;

		put(out, ",");
		put_group_name(out, stat, i);
		put(out, "=\"");
		if (tel_stat_overflow_group(stat))
			put(out, "<overflow>");
		else if (tel_stat_group_value(stat, i, &value))
			text = view_value(&value);
		if (text != NULL)
			put_label(out, text);
		free(text);
		put(out, "\"");
	}
}

void
metric_value(tel_output *out, tel_int128 v, int seconds)
{
	char text[FIGURE_TEXT];
	int digits;

	(void)figure_count(v, 1, text);
	digits = (int)strlen(text);
	if (!seconds)
		putf(out, "%s\n", text);
	else if (digits <= 9)
		putf(out, "0.%.*s%s\n", 9 - digits, "000000000", text);
	else
		putf(out, "%.*s.%s\n", digits - 9, text, text + digits - 9);
}

void
metric_close(const struct metric *m, tel_int128 v)
{
	put(m->show->out, "} ");
	metric_value(m->show->out, v, 0);
}

/* A sample of one number, when that is defined. */
void
metric_number(const struct metric *m, const tel_stat *stat, const char *suffix,
    const char *kind, tel_number which)
{
	tel_int128 v;

	if (!tel_stat_number(stat, which, &v))
		return;
	metric_open(m, stat, suffix, kind);
	metric_close(m, v);
}

/* What stands before the samples of a family. */
void
metric_family(const struct metric *m, const char *suffix, const char *type,
    const char *unit, const char *help, const tel_stat *stat)
{
	tel_output *out = m->show->out;

	putf(out, "# TYPE %s%s %s\n", m->base, suffix, type);
	if (unit != NULL)
		putf(out, "# UNIT %s%s %s\n", m->base, suffix, unit);
	putf(out, "# HELP %s%s ", m->base, suffix);
	put_label(out, help);
	if (stat != NULL && tel_stat_definition(stat)[0] != '\0') {
		put(out, ": ");
		put_label(out, tel_stat_definition(stat));
	}
	if (stat != NULL && unit == NULL && tel_stat_unit(stat)[0] != '\0') {
		put(out, ", in ");
		put_label(out, tel_stat_unit(stat));
	}
	put(out, "\n");
}

/* A family of one number of each group. */
void
metric_numbers(const struct metric *m, const char *suffix, const char *type,
    const char *help, tel_number which)
{
	const tel_stats *s = m->show->stats;
	const char *kind = strcmp(type, "counter") == 0 ? "_total" : "";
	size_t i;

	metric_family(m, suffix, type, NULL, help, tel_stats_get(s, m->first));
	for (i = m->first; i < m->end; i++)
		metric_number(m, tel_stats_get(s, i), suffix, kind, which);
}

static void
put_tally(const struct metric *m)
{
	const tel_stats *s = m->show->stats;
	size_t i, j;

	metric_family(m, "", "counter", NULL, "weight by key",
	    tel_stats_get(s, m->first));
	for (i = m->first; i < m->end; i++) {
		const tel_stat *stat = tel_stats_get(s, i);
		tel_key key;

		for (j = 0; tel_stat_key(stat, j, &key); j++) {
			char *text = view_value(&key.value);

			metric_open(m, stat, "", "_total");
			put(m->show->out, ",key=\"");
			put_label(m->show->out, text != NULL ? text : "");
			put(m->show->out, "\"");
			free(text);
			metric_close(m, figure_int128_of(key.count));
		}
	}
	metric_numbers(m, "_overflow", "counter", "weight of keys without room",
	    TEL_NUMBER_OVERFLOW);
}

static void
put_pairs(const struct metric *m)
{
	const tel_stats *s = m->show->stats;
	const tel_stat *stat = tel_stats_get(s, m->first);
	int seconds = strcmp(tel_stat_unit(stat), "ns") == 0;
	const char *suffix = seconds ? "_seconds" : "_ticks";
	tel_int128 sum;
	size_t i;

	metric_family(m, suffix, "summary", suffix + 1, "length of ranges",
	    stat);
	for (i = m->first; i < m->end; i++) {
		stat = tel_stats_get(s, i);
		metric_number(m, stat, suffix, "_count", TEL_NUMBER_PAIRS);
		if (!tel_stat_number(stat, TEL_NUMBER_SUM, &sum))
			continue;
		metric_open(m, stat, suffix, "_sum");
		put(m->show->out, "} ");
		metric_value(m->show->out, sum, seconds);
	}
	metric_numbers(m, "_events", "counter", "starts, ends and middles",
	    TEL_NUMBER_EVENTS);
	metric_numbers(m, "_open", "gauge", "ranges without an end",
	    TEL_NUMBER_OPEN);
}

/* What is not as exact as it looks, when there is any. */
static void
put_doubts(const struct metric *m, const char *suffix, const char *help,
    int (*doubt)(const tel_stat *stat))
{
	int found = 0;
	size_t i;

	for (i = m->first; i < m->end; i++) {
		const tel_stat *stat = tel_stats_get(m->show->stats, i);

		if (!doubt(stat))
			continue;
		if (!found)
			metric_family(m, suffix, "gauge", NULL, help, NULL);
		found = 1;
		metric_open(m, stat, suffix, "");
		metric_close(m, figure_int128_of(1));
	}
}

static void
put_metric(const struct metric *m)
{
	const tel_stat *stat = tel_stats_get(m->show->stats, m->first);
	const char *updates = "number of updates";

	switch (tel_stat_class(stat)) {
	case TEL_CLASS_MAG:
		metric_numbers(m, "", "gauge", "current value",
		    TEL_NUMBER_LAST);
		metric_numbers(m, "_min", "gauge", "least value",
		    TEL_NUMBER_MIN);
		metric_numbers(m, "_max", "gauge", "largest value",
		    TEL_NUMBER_MAX);
		metric_numbers(m, "_cumulative", "gauge", "sum of values",
		    TEL_NUMBER_SUM);
		break;
	case TEL_CLASS_GROWTH:
		metric_numbers(m, "", "counter", "total", TEL_NUMBER_SUM);
		metric_numbers(m, "_increment_min", "gauge", "least increment",
		    TEL_NUMBER_MIN);
		metric_numbers(m, "_increment_max", "gauge",
		    "largest increment", TEL_NUMBER_MAX);
		break;
	case TEL_CLASS_RATIO:
		/* it may fall; whoever watches divides them */
		metric_numbers(m, "", "gauge", "sum of values", TEL_NUMBER_SUM);
		metric_numbers(m, "_by", "counter", "sum of divisors",
		    TEL_NUMBER_WEIGHT);
		break;
	case TEL_CLASS_TALLY: put_tally(m); break;
	case TEL_CLASS_DUR:
		put_pairs(m);
		updates = NULL;
		break;
	case TEL_CLASS_HIST:
	case TEL_CLASS_SPLIT:
	case TEL_CLASS_LOG2:
	case TEL_CLASS_LOGLIN:
	case TEL_CLASS_QUANTILES: metric_buckets(m); break;
	}
	if (updates != NULL)
		metric_numbers(m, "_updates", "counter", updates,
		    TEL_NUMBER_UPDATES);
	put_doubts(m, "_approximate", "merged from parts that lack keys",
	    tel_stat_approximate);
	put_doubts(m, "_wrapped", "a number was too large and wrapped round",
	    tel_stat_wrapped);
}

/* The first statistic behind the groups of number i. */
static size_t
end_of(const tel_stats *s, size_t i)
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

static void
show_moment(const struct show *show)
{
	size_t i, n = tel_stats_count(show->stats);
	struct names names = { NULL, 0, 0 };
	struct metric m = { show, NULL, 0, 0 };

	metrics_totals(show, &names);
	for (i = 0; i < n; i = m.end) {
		const char *path = tel_stat_name(tel_stats_get(show->stats, i));
		int clash;
		char *base =
		    names_make(&names, show->options->prefix, path, &clash);

		m.base = base;
		m.first = i;
		m.end = end_of(show->stats, i);
		if (base == NULL)
			message_fail(STATUS_FAILED, NULL, "%s",
			    tel_status_text(TEL_ENOMEM));
		else if (clash && show->options->settings.strict)
			message_fail(STATUS_FAILED, NULL,
			    "-f openmetrics: '%s' would have a name that is "
			    "taken",
			    path);
		else
			put_metric(&m);
		free(base);
	}
	put(show->out, "# EOF\n");
	names_free(&names);
}

const struct form form_openmetrics = { "openmetrics", 1, NULL, show_moment,
	NULL };
