/* SPDX-License-Identifier: BSD-2-Clause */
/* What all forms of output ask of a statistic. */
#include "view.h"

#include <stdlib.h>
#include <string.h>

const struct view_number view_numbers[] = {
	{ TEL_NUMBER_UPDATES, "updates", 0, 1 },
	{ TEL_NUMBER_WEIGHT, "weight", 0, 1 },
	{ TEL_NUMBER_EVENTS, "events", 0, 1 },
	{ TEL_NUMBER_PAIRS, "pairs", 0, 1 },
	{ TEL_NUMBER_SUM, "sum", 1, 1 },
	{ TEL_NUMBER_LAST, "last", 1, 1 },
	{ TEL_NUMBER_MIN, "min", 1, 1 },
	{ TEL_NUMBER_MAX, "max", 1, 1 },
	{ TEL_NUMBER_UNDER, "under", 0, 1 },
	{ TEL_NUMBER_OVER, "over", 0, 1 },
	{ TEL_NUMBER_OUTSIDE, "outside", 0, 1 },
	{ TEL_NUMBER_KEYS, "keys", 0, 1 },
	{ TEL_NUMBER_OVERFLOW, "overflow", 0, 1 },
	{ TEL_NUMBER_OVERFLOW_UPDATES, "overflow_updates", 0, 1 },
	{ TEL_NUMBER_OPEN, "open", 0, 1 },
	{ TEL_NUMBER_ORPHAN, "orphan", 0, 1 },
	{ TEL_NUMBER_NESTED, "nested", 0, 0 },
	{ TEL_NUMBER_BACKWARD, "backward", 0, 0 },
	{ TEL_NUMBER_UNTIMED, "untimed", 0, 0 },
	{ TEL_NUMBER_CROWDED, "crowded", 0, 0 },
	{ TEL_NUMBER_INVALID, "invalid", 0, 0 },
	{ TEL_NUMBER_LOST, "lost", 0, 0 },
};
const size_t view_nnumbers = sizeof(view_numbers) / sizeof(view_numbers[0]);

const struct view_total view_totals[] = {
	{ TEL_TOTAL_LOGS, "logs", "" },
	{ TEL_TOTAL_EVENTS, "events", "" },
	{ TEL_TOTAL_BYTES, "bytes", "bytes" },
	{ TEL_TOTAL_FIRST, "first_clock", "" },
	{ TEL_TOTAL_LAST, "last_clock", "" },
	{ TEL_TOTAL_TICKS, "span_ticks", "ticks" },
	{ TEL_TOTAL_NS, "span_ns", "ns" },
	{ TEL_TOTAL_INPUT, "input_bytes", "bytes" },
	{ TEL_TOTAL_DAMAGED, "damaged", "" },
	{ TEL_TOTAL_SKIPPED, "skipped_bytes", "bytes" },
	{ TEL_TOTAL_REPAIRED, "repaired", "" },
	{ TEL_TOTAL_UNKNOWN, "unknown", "" },
	{ TEL_TOTAL_LOST, "lost", "" },
	{ TEL_TOTAL_CUT, "truncated", "" },
	{ TEL_TOTAL_ALLOCS, "allocated_blocks", "" },
	{ TEL_TOTAL_ALLOC_BYTES, "allocated_bytes", "bytes" },
	{ TEL_TOTAL_FREES, "freed_blocks", "" },
	{ TEL_TOTAL_FREE_BYTES, "freed_bytes", "bytes" },
	{ TEL_TOTAL_LIVE, "live_blocks", "" },
	{ TEL_TOTAL_LIVE_BYTES, "live_bytes", "bytes" },
};
const size_t view_ntotals = sizeof(view_totals) / sizeof(view_totals[0]);

char *
view_value(const tel_value *value)
{
	size_t size = tel_value_text(value, NULL, 0) + 1;
	char *text = malloc(size);

	if (text != NULL)
		(void)tel_value_text(value, text, size);
	return text;
}

/* Text that grows. */
struct growing {
	char *text;
	size_t used;
	int failed;
};

static void
add(struct growing *g, const char *text)
{
	size_t n = strlen(text);
	char *more = g->failed ? NULL : realloc(g->text, g->used + n + 1);

	if (more == NULL) {
		g->failed = 1;
		return;
	}
	memcpy(more + g->used, text, n + 1);
	g->text = more;
	g->used += n;
}

static void
add_group(struct growing *g, const tel_stat *stat)
{
	unsigned i, n = tel_stat_group_count(stat);
	tel_value value;

	if (tel_stat_overflow_group(stat)) {
		add(g, "<overflow>");
		return;
	}
	for (i = 0; i < n; i++) {
		char *text = NULL;

		add(g, i == 0 ? "" : ",");
		add(g, tel_stat_group_name(stat, i));
		add(g, "=");
		if (tel_stat_group_value(stat, i, &value))
			text = view_value(&value);
		add(g, text != NULL ? text : "");
		free(text);
	}
}

static char *
grown(struct growing *g)
{
	if (!g->failed)
		return g->text;
	free(g->text);
	return NULL;
}

char *
view_group(const tel_stat *stat)
{
	struct growing g = { NULL, 0, 0 };

	add(&g, "");
	if (tel_stat_group_count(stat) > 0)
		add_group(&g, stat);
	return grown(&g);
}

char *
view_name(const tel_stat *stat)
{
	struct growing g = { NULL, 0, 0 };

	add(&g, tel_stat_name(stat));
	if (tel_stat_group_count(stat) > 0) {
		add(&g, "{");
		add_group(&g, stat);
		add(&g, "}");
	}
	return grown(&g);
}

tel_int128
view_number(const tel_stat *stat, tel_number which)
{
	tel_int128 v = { 0, 0 };

	(void)tel_stat_number(stat, which, &v);
	return v;
}

int
view_defined(const tel_stat *stat, tel_number which)
{
	tel_int128 v;

	return tel_stat_number(stat, which, &v);
}

int
view_nonzero(const tel_stat *stat, tel_number which)
{
	tel_int128 v;

	return tel_stat_number(stat, which, &v) && (v.high != 0 || v.low != 0);
}

int
view_mean(const tel_stat *stat, double *out)
{
	tel_number of = TEL_NUMBER_UPDATES;
	double n;

	if (view_defined(stat, TEL_NUMBER_WEIGHT))
		of = TEL_NUMBER_WEIGHT;
	else if (tel_stat_class(stat) == TEL_CLASS_DUR)
		of = TEL_NUMBER_PAIRS;
	n = tel_int128_double(view_number(stat, of));
	if (n <= 0 || !view_defined(stat, TEL_NUMBER_SUM) ||
	    tel_stat_wrapped(stat))
		return 0;
	*out = tel_int128_double(view_number(stat, TEL_NUMBER_SUM)) / n;
	return 1;
}

const char *
view_mean_name(const tel_stat *stat)
{
	return tel_stat_class(stat) == TEL_CLASS_RATIO ? "ratio" : "mean";
}

int64_t
view_parameter(const tel_stat *stat, const char *name)
{
	const char *found;
	int64_t value;
	unsigned i;

	for (i = 0; tel_stat_parameter(stat, i, &found, &value); i++)
		if (strcmp(found, name) == 0)
			return value;
	return 0;
}

tel_int128
view_total(const tel_stats *s, tel_total which)
{
	tel_int128 v = { 0, 0 };

	(void)tel_stats_total(s, which, &v);
	return v;
}

int
view_only_report(const struct show *show)
{
	return tel_stats_count(show->stats) == 0;
}

int
view_report(const struct show *show)
{
	return show->options->report || view_only_report(show);
}

int
view_has_buckets(const tel_stat *stat)
{
	switch (tel_stat_class(stat)) {
	case TEL_CLASS_HIST:
	case TEL_CLASS_SPLIT:
	case TEL_CLASS_LOG2:
	case TEL_CLASS_LOGLIN:
	case TEL_CLASS_QUANTILES: return 1;
	case TEL_CLASS_MAG:
	case TEL_CLASS_GROWTH:
	case TEL_CLASS_TALLY:
	case TEL_CLASS_RATIO:
	case TEL_CLASS_DUR: break;
	}
	return 0;
}

struct view_span
view_span(const tel_stat *stat)
{
	struct view_span span = { 1, 0, tel_stat_bucket_count(stat) };
	size_t i = tel_stat_next_bucket(stat, 0);

	if (i < span.count)
		span.first = i;
	for (; i < span.count; i = tel_stat_next_bucket(stat, i + 1))
		span.last = i;
	return span;
}

unsigned
view_quantiles(const struct show *show, const tel_stat *stat,
    const uint32_t **list)
{
	static const uint32_t few[] = { 500000000, 900000000, 990000000 };
	static const uint32_t many[] = { 500000000, 750000000, 900000000,
		950000000, 990000000, 999000000 };

	*list = show->options->quantiles;
	if (show->options->nquantiles > 0)
		return show->options->nquantiles;
	if (tel_stat_class(stat) == TEL_CLASS_QUANTILES) {
		*list = many;
		return sizeof(many) / sizeof(many[0]);
	}
	*list = few;
	return sizeof(few) / sizeof(few[0]);
}

double
view_rate(const struct show *show, double amount)
{
	if (show->at.ns <= 0)
		return 0;
	return amount / show->at.ns * (double)show->options->rate_ns;
}

double
view_stat_rate(const struct show *show, const tel_stat *stat)
{
	tel_number of = TEL_NUMBER_UPDATES;

	if (tel_stat_class(stat) == TEL_CLASS_GROWTH)
		of = TEL_NUMBER_SUM;
	else if (view_defined(stat, TEL_NUMBER_WEIGHT))
		of = TEL_NUMBER_WEIGHT;
	return view_rate(show, tel_int128_double(view_number(stat, of)));
}

size_t
view_type_count(const struct show *show)
{
	size_t n = tel_stats_type_count(show->stats);
	uint64_t top = show->options->top;

	return top > 0 && top < n ? (size_t)top : n;
}

size_t
view_key_count(const struct show *show, const tel_stat *stat)
{
	size_t n = tel_stat_key_count(stat);
	uint64_t top = show->options->top;

	return top > 0 && top < n ? (size_t)top : n;
}
