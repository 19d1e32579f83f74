/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "json": one object a line. */
#include "common/page.h"
#include "view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last integer that each reader of JSON takes as it is. */
#define EXACT ((uint64_t)1 << 53)

/* An integer; as a string where a double would spoil it. */
static void
put_integer(tel_output *out, tel_int128 v)
{
	char text[FIGURE_TEXT];
	int64_t small;
	int plain = figure_fits_i64(v, &small) && small <= (int64_t)EXACT &&
	    small >= -(int64_t)EXACT;

	putf(out, "%s%s%s", plain ? "" : "\"", figure_count(v, 1, text),
	    plain ? "" : "\"");
}

static void
put_member(tel_output *out, const char *name, tel_int128 v)
{
	putf(out, ",\"%s\":", name);
	put_integer(out, v);
}

static void
put_u64(tel_output *out, const char *name, uint64_t v)
{
	put_member(out, name, figure_int128_of(v));
}

static void
put_i64(tel_output *out, const char *name, int64_t v)
{
	put_member(out, name, figure_int128_signed(v));
}

static void
put_double(tel_output *out, const char *name, double v)
{
	char text[FIGURE_TEXT];

	putf(out, ",\"%s\":%s", name, figure_exact(v, text));
}

static void
put_string(tel_output *out, const char *name, const char *text)
{
	putf(out, ",\"%s\":", name);
	put_json(out, text);
}

/* What each object begins with. */
static void
open_object(const struct show *show, const char *type)
{
	put(show->out, "{\"t\":");
	if (show->at.known)
		put_integer(show->out, figure_int128_of(show->at.time));
	else
		put(show->out, "null");
	put_string(show->out, "type", type);
}

static void
close_object(const struct show *show)
{
	put(show->out, "}\n");
}

/* A value of a key or group: numbers, true and false, null as they are. */
static void
put_value(tel_output *out, const tel_value *value)
{
	char *text;

	if (value->missing) {
		put(out, "null");
		return;
	}
	switch (value->datatype) {
	case TEL_UNSIGNED:
		put_integer(out, figure_int128_of(value->as.u64));
		return;
	case TEL_SIGNED:
		put_integer(out, figure_int128_signed(value->as.i64));
		return;
	case TEL_BOOLEAN:
		put(out, value->as.u64 != 0 ? "true" : "false");
		return;
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER:
	case TEL_DOUBLE:
	case TEL_STRING: break;
	}
	text = view_value(value);
	put_json(out, text != NULL ? text : "");
	free(text);
}

static void
put_group(tel_output *out, const tel_stat *stat)
{
	unsigned i, n = tel_stat_group_count(stat);
	tel_value value;

	if (n == 0)
		return;
	if (tel_stat_overflow_group(stat)) {
		put(out, ",\"group\":\"<overflow>\"");
		return;
	}
	put(out, ",\"group\":{");
	for (i = 0; i < n; i++) {
		put(out, i == 0 ? "" : ",");
		put_json(out, tel_stat_group_name(stat, i));
		put(out, ":");
		if (tel_stat_group_value(stat, i, &value))
			put_value(out, &value);
		else
			put(out, "null");
	}
	put(out, "}");
}

static void
put_parameters(tel_output *out, const tel_stat *stat)
{
	const char *name;
	int64_t value;
	unsigned i;

	for (i = 0; tel_stat_parameter(stat, i, &name, &value); i++) {
		putf(out, "%s\"%s\":", i == 0 ? ",\"parameters\":{" : ",",
		    name);
		put_integer(out, figure_int128_signed(value));
	}
	if (i > 0)
		put(out, "}");
}

static void
put_segment(tel_output *out, int64_t lo, int64_t hi, int64_t width)
{
	put(out, "{\"lo\":");
	put_integer(out, figure_int128_signed(lo));
	put_i64(out, "hi", hi);
	put_i64(out, "width", width);
	put(out, "}");
}

/* The ranges of equal width of a histogram. */
static void
put_segments(tel_output *out, const tel_stat *stat)
{
	int64_t lo = view_parameter(stat, "lo");
	int64_t hi = view_parameter(stat, "hi");
	int64_t knee = view_parameter(stat, "knee");

	if (tel_stat_class(stat) == TEL_CLASS_HIST) {
		put(out, ",\"segments\":[");
		put_segment(out, lo, hi, view_parameter(stat, "w"));
		put(out, "]");
	} else if (tel_stat_class(stat) == TEL_CLASS_SPLIT) {
		put(out, ",\"segments\":[");
		put_segment(out, lo, knee, view_parameter(stat, "w1"));
		put(out, ",");
		put_segment(out, knee, hi, view_parameter(stat, "w2"));
		put(out, "]");
	}
}

static void
put_buckets(const struct show *show, const tel_stat *stat)
{
	size_t i, n = tel_stat_bucket_count(stat);
	const char *between = "";
	tel_bucket b;

	put(show->out, ",\"buckets\":[");
	for (i = 0; i < n; i++) {
		if (!show->options->zeros)
			i = tel_stat_next_bucket(stat, i);
		if (!tel_stat_bucket(stat, i, &b))
			break;
		putf(show->out, "%s{\"lo\":", between);
		put_integer(show->out, figure_int128_signed(b.lo));
		if (!b.open)
			put_i64(show->out, "hi", b.hi);
		put_u64(show->out, "count", b.count);
		put(show->out, "}");
		between = ",";
	}
	put(show->out, "]");
}

static void
put_quantiles(const struct show *show, const tel_stat *stat)
{
	static const char *const names[] = { "at_most", "below", "at_least" };
	const uint32_t *list;
	unsigned i, n = view_quantiles(show, stat, &list);
	const char *between = "";
	char text[FIGURE_TEXT];
	tel_quantile q;

	put(show->out, ",\"quantiles\":[");
	for (i = 0; i < n; i++) {
		if (!tel_stat_quantile(stat, list[i], &q))
			continue;
		putf(show->out, "%s{\"q\":%s", between,
		    figure_exact((double)list[i] / 1e9, text));
		put_i64(show->out, names[q.is], q.value);
		put(show->out, "}");
		between = ",";
	}
	put(show->out, "]");
}

static void
put_keys(const struct show *show, const tel_stat *stat)
{
	size_t i, shown = view_key_count(show, stat);
	tel_int128 other = { 0, 0 };
	tel_key key;

	put(show->out, ",\"buckets\":[");
	for (i = 0; tel_stat_key(stat, i, &key); i++) {
		if (i >= shown) {
			other = figure_add(other, figure_int128_of(key.count));
			continue;
		}
		put(show->out, i == 0 ? "{\"key\":" : ",{\"key\":");
		put_value(show->out, &key.value);
		put_u64(show->out, "count", key.count);
		put_u64(show->out, "updates", key.updates);
		put(show->out, "}");
	}
	put(show->out, "]");
	if (shown < i)
		put_member(show->out, "other", other);
}

static void
put_stat(const struct show *show, const tel_stat *stat)
{
	tel_output *out = show->out;
	double mean;
	size_t i;

	open_object(show, tel_class_name(tel_stat_class(stat)));
	put_string(out, "name", tel_stat_name(stat));
	put_group(out, stat);
	if (tel_stat_definition(stat)[0] != '\0')
		put_string(out, "definition", tel_stat_definition(stat));
	if (tel_stat_unit(stat)[0] != '\0')
		put_string(out, "unit", tel_stat_unit(stat));
	for (i = 0; i < view_nnumbers; i++) {
		tel_int128 v;

		if (tel_stat_number(stat, view_numbers[i].which, &v))
			put_member(out, view_numbers[i].name, v);
	}
	if (view_mean(stat, &mean))
		put_double(out, view_mean_name(stat), mean);
	if (show->options->rate && show->at.ns > 0) {
		put_double(out, "rate", view_stat_rate(show, stat));
		put_string(out, "rate_per", show->options->rate_per);
	}
	if (tel_stat_approximate(stat))
		put(out, ",\"approximate\":true");
	if (tel_stat_wrapped(stat))
		put(out, ",\"wrapped\":true");
	put_parameters(out, stat);
	put_segments(out, stat);
	if (view_has_buckets(stat)) {
		put_buckets(show, stat);
		put_quantiles(show, stat);
	} else if (tel_stat_class(stat) == TEL_CLASS_TALLY) {
		put_keys(show, stat);
	}
	close_object(show);
}

static void
put_part(const struct show *show, const char *type, const tel_part *part)
{
	open_object(show, type);
	put_string(show->out, "name", part->name);
	/* the kind's own name, and none at all of what is left over */
	if (strcmp(type, "kind") != 0 && part->kind[0] != '\0') {
		put_string(show->out, "kind", part->kind);
		put_u64(show->out, "code", part->code);
	}
	put_u64(show->out, "events", part->events);
	put_u64(show->out, "bytes", part->bytes);
	if (show->at.ns > 0)
		put_double(show->out, "events_per_s",
		    (double)part->events / show->at.ns * 1e9);
	close_object(show);
}

static void
put_report(const struct show *show)
{
	tel_part part, other = { "<other>", "", 0, 0, 0 };
	size_t i, shown = view_type_count(show);
	tel_origin o;

	for (i = 0; tel_stats_origin(show->stats, i, &o); i++) {
		open_object(show, "origin");
		put_string(show->out, "schema", o.schema);
		put_string(show->out, "version", o.version);
		put_string(show->out, "form", o.form);
		put_u64(show->out, "logs", o.logs);
		put_u64(show->out, "events", o.events);
		close_object(show);
	}
	for (i = 0; tel_stats_kind(show->stats, i, &part); i++)
		put_part(show, "kind", &part);
	for (i = 0; tel_stats_type(show->stats, i, &part); i++) {
		if (i < shown) {
			put_part(show, "event", &part);
			continue;
		}
		other.events += part.events;
		other.bytes += part.bytes;
	}
	if (shown < i)
		put_part(show, "event", &other);
}

static void
show_moment(const struct show *show)
{
	size_t i, n = tel_stats_count(show->stats);

	if (view_report(show))
		put_report(show);
	for (i = 0; i < n; i++)
		put_stat(show, tel_stats_get(show->stats, i));
	open_object(show, "totals");
	for (i = 0; i < view_ntotals; i++) {
		tel_int128 v;

		if (tel_stats_total(show->stats, view_totals[i].which, &v))
			put_member(show->out, view_totals[i].name, v);
	}
	close_object(show);
}

const struct form form_json = { "json", 0, NULL, show_moment, NULL };
