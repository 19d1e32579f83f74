/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "csv": one flat table, a number a row. */
#include "common/page.h"
#include "view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the rows of a statistic begin with. */
struct csv {
	const struct show *show;
	const char *class; /* the statistic's name; "" in the report */
	const char *type;
	const char *group;
};

/*
 * A text from a log: its bytes as they are, but for a terminal, which they
 * could steer.
 */
static void
put_text(const struct csv *c, const char *text)
{
	size_t room = 4 * strlen(text);
	char *shown = c->show->terminal ? malloc(room + 1) : NULL;

	if (shown != NULL)
		put_csv(c->show->out, page_escape(shown, room, text));
	else if (!c->show->terminal)
		put_csv(c->show->out, text);
	free(shown);
}

/* A row; any of the texts may be "". */
static void
put_row(const struct csv *c, const char *stat, const char *lo, const char *hi,
    const char *key, const char *value)
{
	tel_output *out = c->show->out;

	if (c->show->at.known)
		putf(out, "%" PRIu64, c->show->at.time);
	put(out, ",");
	put_text(c, c->class);
	putf(out, ",%s,%s,%s,%s,", c->type, stat, lo, hi);
	put_text(c, key);
	putf(out, ",%s,", value);
	put_text(c, c->group);
	put(out, "\r\n");
}

static void
put_int128(const struct csv *c, const char *stat, const char *key, tel_int128 v)
{
	char text[FIGURE_TEXT];

	put_row(c, stat, "", "", key, figure_count(v, 1, text));
}

static void
put_u64(const struct csv *c, const char *stat, const char *key, uint64_t v)
{
	put_int128(c, stat, key, figure_int128_of(v));
}

static void
put_buckets(const struct csv *c, const tel_stat *stat)
{
	size_t i, n = tel_stat_bucket_count(stat);
	char lo[FIGURE_TEXT], hi[FIGURE_TEXT], count[FIGURE_TEXT];

	for (i = 0; i < n; i++) {
		tel_bucket b;

		if (!c->show->options->zeros)
			i = tel_stat_next_bucket(stat, i);
		if (!tel_stat_bucket(stat, i, &b))
			break;
		(void)figure_edge(b.lo, "", 1, lo);
		(void)figure_edge(b.hi, "", 1, hi);
		put_row(c, "bucket", lo, b.open ? "" : hi, "",
		    figure_count(figure_int128_of(b.count), 1, count));
	}
}

static void
put_keys(const struct csv *c, const tel_stat *stat)
{
	size_t i, shown = view_key_count(c->show, stat);
	tel_int128 other = { 0, 0 };
	tel_key key;

	for (i = 0; tel_stat_key(stat, i, &key); i++) {
		char *text;

		if (i >= shown) {
			other = figure_add(other, figure_int128_of(key.count));
			continue;
		}
		text = view_value(&key.value);
		put_u64(c, "bucket", text != NULL ? text : "", key.count);
		free(text);
	}
	if (shown < i)
		put_int128(c, "other", "", other);
}

static void
put_quantiles(const struct csv *c, const tel_stat *stat)
{
	const uint32_t *list;
	unsigned i, n = view_quantiles(c->show, stat, &list);
	char name[FIGURE_TEXT], value[FIGURE_TEXT];
	tel_quantile q;

	for (i = 0; i < n; i++) {
		int at_most, at_least;

		if (!tel_stat_quantile(stat, list[i], &q))
			continue;
		/* the value lies in [lo, hi]: one end may be open */
		(void)figure_edge(q.value, "", 1, value);
		at_most = q.is == TEL_QUANTILE_AT_MOST;
		at_least = q.is == TEL_QUANTILE_AT_LEAST;
		put_row(c, "quantile", at_least ? value : "",
		    at_most || at_least ? "" : value,
		    figure_quantile(list[i], name), at_most ? value : "");
	}
}

static void
put_stat(const struct show *show, const tel_stat *stat)
{
	struct csv c = { show, tel_stat_name(stat),
		tel_class_name(tel_stat_class(stat)), NULL };
	char *group = view_group(stat);
	char text[FIGURE_TEXT];
	double mean;
	size_t i;

	c.group = group != NULL ? group : "";
	for (i = 0; i < view_nnumbers; i++) {
		tel_int128 v;

		if (tel_stat_number(stat, view_numbers[i].which, &v))
			put_int128(&c, view_numbers[i].name, "", v);
	}
	if (view_mean(stat, &mean))
		put_row(&c, view_mean_name(stat), "", "", "",
		    figure_exact(mean, text));
	if (show->options->rate && show->at.ns > 0)
		put_row(&c, "rate", "", "", show->options->rate_per,
		    figure_exact(view_stat_rate(show, stat), text));
	if (tel_stat_approximate(stat))
		put_u64(&c, "approximate", "", 1);
	if (tel_stat_wrapped(stat))
		put_u64(&c, "wrapped", "", 1);
	if (view_has_buckets(stat)) {
		put_buckets(&c, stat);
		put_quantiles(&c, stat);
	}
	put_keys(&c, stat);
	free(group);
}

static void
put_part(struct csv *c, const char *type, const tel_part *part)
{
	c->type = type;
	put_u64(c, "events", part->name, part->events);
	put_u64(c, "bytes", part->name, part->bytes);
}

static void
put_report(const struct show *show)
{
	struct csv c = { show, "", "origin", "" };
	tel_part part, other = { "<other>", "", 0, 0, 0 };
	size_t i, shown = view_type_count(show);
	tel_origin o;

	for (i = 0; tel_stats_origin(show->stats, i, &o); i++) {
		put_u64(&c, "logs", o.schema, o.logs);
		put_u64(&c, "events", o.schema, o.events);
	}
	for (i = 0; tel_stats_kind(show->stats, i, &part); i++)
		put_part(&c, "kind", &part);
	for (i = 0; tel_stats_type(show->stats, i, &part); i++) {
		if (i < shown) {
			put_part(&c, "type", &part);
			continue;
		}
		other.events += part.events;
		other.bytes += part.bytes;
	}
	if (shown < i)
		put_part(&c, "type", &other);
}

static void
begin(const struct show *show)
{
	put(show->out, "time,class,type,stat,lo,hi,key,value,group\r\n");
}

static void
show_moment(const struct show *show)
{
	struct csv c = { show, "", "totals", "" };
	size_t i, n = tel_stats_count(show->stats);

	if (view_report(show))
		put_report(show);
	for (i = 0; i < n; i++)
		put_stat(show, tel_stats_get(show->stats, i));
	for (i = 0; i < view_ntotals; i++) {
		tel_int128 v;

		if (tel_stats_total(show->stats, view_totals[i].which, &v))
			put_int128(&c, view_totals[i].name, "", v);
	}
}

const struct form form_csv = { "csv", 0, begin, show_moment, NULL };
