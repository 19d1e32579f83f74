/* SPDX-License-Identifier: BSD-2-Clause */
/* What a log is: who wrote it, its kinds and types, its memory, the totals. */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "statistic.h"

static tel_int128
total(const struct show *show, tel_total which)
{
	tel_int128 v = { 0, 0 };

	(void)tel_stats_total(show->stats, which, &v);
	return v;
}

/* A total for people. */
static const char *
count_total(const struct show *show, tel_total which, char *text)
{
	return figure_count(total(show, which), show->options->raw, text);
}

/* A part of a line of text. */
static void
add_text(struct report *r, const char *label, const char *text)
{
	struct report_field f = { .name = label,
		.most = 32,
		.shown = REPORT_TEXT };

	(void)report_fact(r, &f, report_string(text));
}

static void
add_count(struct report *r, unsigned shown, const char *name, tel_int128 v)
{
	struct report_field f = { .name = name, .shown = shown };

	(void)report_fact(r, &f, report_int128(v));
}

static struct report_section *
open_line(struct report *r, const char *lead, unsigned indent)
{
	struct report_section *s = report_section(r, REPORT_TEXT, "");

	s->lead = lead;
	s->indent = indent;
	return s;
}

/* ------------------------------------------------------------- origins */

static unsigned
origin_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct show *show = of;
	tel_origin o;

	(void)r;
	if (!tel_stats_origin(show->stats, i, &o))
		return 0;
	cells[0] = report_string(o.schema);
	cells[1] = report_string(o.version);
	cells[2] = report_string(o.form);
	cells[3] = report_count(o.logs);
	cells[4] = report_count(o.events);
	return REPORT_DATA;
}

static void
put_origins(struct report *r, const struct show *show)
{
	static const struct report_field columns[] = {
		{ .name = "schema", .item = 1 },
		{ .name = "version", .shown = REPORT_JSON },
		{ .name = "form", .shown = REPORT_JSON },
		{ .name = "logs" },
		{ .name = "events" },
	};
	size_t i, n = tel_stats_origin_count(show->stats);
	struct report_table table = { columns, 5, n, show, origin_row, 0 };
	tel_origin o;

	for (i = 0; i < n && tel_stats_origin(show->stats, i, &o); i++) {
		open_line(r, o.schema, 2)->lead_strong = 1;
		if (o.version[0] != '\0')
			add_text(r, "version", o.version);
		if (o.form[0] != '\0')
			add_text(r, "read as", o.form);
		if (n > 1)
			add_count(r, REPORT_TEXT, "events",
			    figure_int128_of(o.events));
		if (o.logs != 1)
			add_count(r, REPORT_TEXT, "logs",
			    figure_int128_of(o.logs));
		report_put(r);
	}
	report_section(r, REPORT_DATA, "origin")->table = &table;
	report_put(r);
}

/* ------------------------------------------------- size, span and damage */

static void
put_size(struct report *r, const struct show *show, const char *lead,
    tel_total which, const char *unit)
{
	tel_int128 v = total(show, which);
	double rate = statistic_rate(show, tel_int128_double(v));
	int raw = show->options->raw;
	char text[FIGURE_TEXT];

	(void)open_line(r, lead, 8);
	add_text(r, "", report_text(r, "%s", figure_value(v, unit, raw, text)));
	if (raw || unit[0] == '\0' || figure_size(rate, text)[0] == '\0')
		(void)figure_double(rate, "", raw, text);
	if (rate > 0)
		add_text(r, "",
		    report_text(r, "%s/%s", text, show->options->rate_per));
	report_put(r);
}

static void
put_span(struct report *r, const struct show *show)
{
	const tel_stats *s = show->stats;
	int raw = show->options->raw;
	tel_int128 first, last, v;
	char text[FIGURE_TEXT];

	if (!tel_stats_total(s, TEL_TOTAL_FIRST, &first) ||
	    !tel_stats_total(s, TEL_TOTAL_LAST, &last))
		return;
	(void)open_line(r, "span   ", 8);
	if (tel_stats_total(s, TEL_TOTAL_NS, &v))
		add_text(r, "",
		    report_text(r, "%s%s", figure_value(v, "ns", raw, text),
		        raw ? " ns" : ""));
	if (tel_stats_total(s, TEL_TOTAL_TICKS, &v))
		add_text(r, "",
		    report_text(r, "%s%s", figure_value(v, "ticks", raw, text),
		        raw ? " ticks" : ""));
	report_fact(r, &(struct report_field){ .name = "" },
	    report_string(report_text(r, "%016" PRIX64 " to %016" PRIX64,
	        first.low, last.low)));
	report_put(r);
}

static void
put_damage(struct report *r, const struct show *show)
{
	static const struct {
		tel_total which;
		const char *one, *more;
	} rows[] = { { TEL_TOTAL_DAMAGED, "damaged place", "damaged places" },
		{ TEL_TOTAL_SKIPPED, "byte skipped", "bytes skipped" },
		{ TEL_TOTAL_REPAIRED, "event repaired", "events repaired" },
		{ TEL_TOTAL_UNKNOWN, "event of unknown type",
		    "events of unknown types" },
		{ TEL_TOTAL_LOST, "record lost", "records lost" },
		{ TEL_TOTAL_CUT, "part truncated", "parts truncated" } };
	struct report_section *s = open_line(r, "damage ", 8);
	struct report_field f = { .name = "" };
	char text[FIGURE_TEXT];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tel_int128 v = total(show, rows[i].which);

		if (v.low != 0)
			(void)report_fact(r, &f,
			    report_string(report_text(r, "%s %s",
			        count_total(show, rows[i].which, text),
			        v.low == 1 ? rows[i].one : rows[i].more)));
	}
	if (s->nfacts > 0)
		report_put(r);
}

/* ----------------------------------------------------- kinds and types */

/* The table of kinds or that of types. */
struct parts {
	const struct show *show;
	int kinds;
	double events, bytes; /* of all, for shares */
};

enum {
	PART_NAME,
	PART_KIND,
	PART_CODE,
	PART_EVENTS,
	PART_SHARE,
	PART_BYTES,
	PART_BYTES_SHARE,
	PART_RATE, /* from here on where the span of time is known */
	PART_PER_SECOND,
	PART_COLUMNS
};

static int
get_part(const struct parts *p, size_t i, tel_part *out)
{
	return p->kinds ? tel_stats_kind(p->show->stats, i, out) :
	                  tel_stats_type(p->show->stats, i, out);
}

static unsigned
part_row(struct report *r, const void *of, size_t i, struct report_value *cells)
{
	const struct parts *p = of;
	size_t shown = report_rows(r, tel_stats_type_count(p->show->stats));
	tel_part part, other = { "<other>", "", 0, 0, 0 };

	if (!p->kinds && i == shown) {
		for (; get_part(p, i, &part); i++) {
			other.events += part.events;
			other.bytes += part.bytes;
		}
		part = other;
	} else if (!get_part(p, i, &part)) {
		return 0;
	}
	cells[PART_NAME] = report_string(part.name);
	/* the kind's own name, and none at all of what is left over */
	if (!p->kinds && part.kind[0] != '\0') {
		cells[PART_KIND] = report_string(part.kind);
		cells[PART_CODE] = report_count(part.code);
	}
	cells[PART_EVENTS] = report_count(part.events);
	cells[PART_SHARE] =
	    report_real(p->events > 0 ? (double)part.events / p->events : 0);
	cells[PART_BYTES] = report_count(part.bytes);
	cells[PART_BYTES_SHARE] =
	    report_real(p->bytes > 0 ? (double)part.bytes / p->bytes : 0);
	if (p->show->at.ns > 0) {
		cells[PART_RATE] =
		    report_real(statistic_rate(p->show, (double)part.events));
		cells[PART_PER_SECOND] =
		    report_real((double)part.events / p->show->at.ns * 1e9);
	}
	return REPORT_TEXT | REPORT_DATA;
}

/* Columns of kinds do not say the kind again. */
static void
put_parts(struct report *r, const struct show *show, int kinds)
{
	struct parts p = { show, kinds,
		tel_int128_double(total(show, TEL_TOTAL_EVENTS)),
		tel_int128_double(total(show, TEL_TOTAL_BYTES)) };
	/* the same for all, so that they can be compared */
	int decimals = show->options->raw          ? 6 :
	    statistic_rate(show, p.events) >= 1000 ? 1 :
	                                             3;
	const struct report_field columns[PART_COLUMNS] = {
		[PART_NAME] = { .name = "name",
		    .label = kinds ? "kind" : "type",
		    .item = 1,
		    .left = 1,
		    .most = 26 },
		[PART_KIND] = { .name = "kind",
		    .shown = kinds ? REPORT_JSON : REPORT_TEXT | REPORT_JSON,
		    .left = 1,
		    .most = 12,
		    .spare = 8 },
		[PART_CODE] = { .name = "code", .shown = REPORT_JSON },
		[PART_EVENTS] = { .name = "events" },
		[PART_SHARE] = { .name = "share",
		    .notation = REPORT_PERCENT,
		    .decimals = 1,
		    .shown = REPORT_TEXT },
		[PART_BYTES] = { .name = "bytes", .spare = 7 },
		[PART_BYTES_SHARE] = { .name = "share",
		    .notation = REPORT_PERCENT,
		    .decimals = 1,
		    .shown = REPORT_TEXT,
		    .spare = 9 },
		[PART_RATE] = { .name = report_text(r, "events/%s",
		                    show->options->rate_per),
		    .notation = REPORT_FIXED,
		    .decimals = decimals,
		    .shown = REPORT_TEXT },
		[PART_PER_SECOND] = { .name = "events_per_s",
		    .shown = REPORT_JSON },
	};
	size_t n = kinds ? tel_stats_kind_count(show->stats) :
	                   tel_stats_type_count(show->stats);
	size_t shown = kinds ? n : report_rows(r, n);
	struct report_table table = { columns,
		show->at.ns > 0 ? PART_COLUMNS : PART_RATE, shown + (shown < n),
		&p, part_row, 0 };
	unsigned to = p.events > 0 ? REPORT_TEXT | REPORT_DATA : REPORT_DATA;
	const char *type = report_is(r, REPORT_CSV) ? "type" : "event";
	struct report_section *s = report_section(r, to, kinds ? "kind" : type);

	s->apart = 1;
	s->table = &table;
	report_put(r);
}

static void
type_of(struct report *r, const void *of, size_t i, struct report_bar *out)
{
	const struct show *show = of;
	tel_part part;

	(void)r;
	memset(out, 0, sizeof(*out));
	if (!tel_stats_type(show->stats, i, &part))
		return;
	out->label = report_string(part.name);
	out->count = part.events;
}

/* The picture of the types: what was read, and what of it was damaged. */
static void
put_picture(struct report *r, const struct show *show)
{
	const tel_stats *s = show->stats;
	struct report_section *section = report_section(r, REPORT_SVG, "types");
	struct report_bars bars = { show, tel_stats_type_count(s), type_of,
		total(show, TEL_TOTAL_EVENTS), 0, { 0, 0 } };
	char a[FIGURE_TEXT], b[FIGURE_TEXT], c[FIGURE_TEXT];
	tel_origin o = { "", "", "", 0, 0 };
	tel_int128 ns;

	(void)tel_stats_origin(s, 0, &o);
	c[0] = '\0';
	if (tel_stats_total(s, TEL_TOTAL_NS, &ns))
		(void)figure_value(ns, "ns", show->options->raw, c);
	section->title = "Events by type";
	section->definition = report_text(r, "%s%s%s%s events, %s bytes%s%s",
	    o.schema, tel_stats_origin_count(s) > 1 ? " and others" : "",
	    o.schema[0] != '\0' ? ": " : "",
	    count_total(show, TEL_TOTAL_EVENTS, a),
	    count_total(show, TEL_TOTAL_BYTES, b), c[0] != '\0' ? " in " : "",
	    c);
	if (total(show, TEL_TOTAL_DAMAGED).low != 0 ||
	    total(show, TEL_TOTAL_LOST).low != 0 ||
	    total(show, TEL_TOTAL_CUT).low != 0)
		report_note(r, REPORT_SVG, NULL,
		    report_text(r,
		        "%s damaged places, %s bytes skipped, %s records "
		        "lost%s",
		        count_total(show, TEL_TOTAL_DAMAGED, a),
		        count_total(show, TEL_TOTAL_SKIPPED, b),
		        count_total(show, TEL_TOTAL_LOST, c),
		        total(show, TEL_TOTAL_CUT).low != 0 ?
		            ", parts truncated" :
		            ""));
	section->bars = &bars;
	report_put(r);
}

/* What was allocated and freed, where the log says so. */
static void
put_memory(struct report *r, const struct show *show)
{
	static const struct {
		const char *name;
		tel_total blocks, bytes;
	} rows[] = { { "allocated", TEL_TOTAL_ALLOCS, TEL_TOTAL_ALLOC_BYTES },
		{ "freed", TEL_TOTAL_FREES, TEL_TOTAL_FREE_BYTES },
		{ "live", TEL_TOTAL_LIVE, TEL_TOTAL_LIVE_BYTES } };
	struct report_section *s = report_section(r, REPORT_TEXT, "");
	char blocks[FIGURE_TEXT], bytes[FIGURE_TEXT], size[FIGURE_TEXT];
	tel_int128 n, b;
	size_t i;

	s->apart = 1;
	s->label_width = 9;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!tel_stats_total(show->stats, rows[i].blocks, &n) ||
		    !tel_stats_total(show->stats, rows[i].bytes, &b))
			continue;
		(void)figure_size(tel_int128_double(b), size);
		if (show->options->raw)
			size[0] = '\0';
		report_line(r, rows[i].name, "  %13s blocks  %17s bytes%s%s",
		    count_total(show, rows[i].blocks, blocks),
		    count_total(show, rows[i].bytes, bytes),
		    size[0] != '\0' ? "  " : "", size);
	}
	if (s->lines != NULL)
		report_put(r);
}

void
overview_put(struct report *r, const struct show *show)
{
	put_origins(r, show);
	put_size(r, show, "events ", TEL_TOTAL_EVENTS, "");
	put_size(r, show, "bytes  ", TEL_TOTAL_BYTES, "bytes");
	put_span(r, show);
	put_damage(r, show);
	put_parts(r, show, 1);
	put_parts(r, show, 0);
	put_memory(r, show);
	if (report_is(r, REPORT_SVG))
		put_picture(r, show);
}

void
overview_totals(struct report *r, const struct show *show, int apart)
{
	static const struct {
		tel_total which;
		const char *name;
		const char *text; /* NULL: not of the line of text */
		int always;       /* which has it even when it is 0 */
	} rows[] = { { TEL_TOTAL_LOGS, "logs", "logs", 1 },
		{ TEL_TOTAL_EVENTS, "events", "events", 1 },
		{ TEL_TOTAL_BYTES, "bytes", "bytes", 1 },
		{ TEL_TOTAL_FIRST, "first_clock", NULL, 0 },
		{ TEL_TOTAL_LAST, "last_clock", NULL, 0 },
		{ TEL_TOTAL_TICKS, "span_ticks", NULL, 0 },
		{ TEL_TOTAL_NS, "span_ns", NULL, 0 },
		{ TEL_TOTAL_INPUT, "input_bytes", NULL, 0 },
		{ TEL_TOTAL_DAMAGED, "damaged", "damaged", 1 },
		{ TEL_TOTAL_SKIPPED, "skipped_bytes", "bytes skipped", 0 },
		{ TEL_TOTAL_REPAIRED, "repaired", "repaired", 0 },
		{ TEL_TOTAL_UNKNOWN, "unknown", "unknown", 1 },
		{ TEL_TOTAL_LOST, "lost", "lost", 1 },
		{ TEL_TOTAL_CUT, "truncated", "truncated", 0 },
		{ TEL_TOTAL_ALLOCS, "allocated_blocks", NULL, 0 },
		{ TEL_TOTAL_ALLOC_BYTES, "allocated_bytes", NULL, 0 },
		{ TEL_TOTAL_FREES, "freed_blocks", NULL, 0 },
		{ TEL_TOTAL_FREE_BYTES, "freed_bytes", NULL, 0 },
		{ TEL_TOTAL_LIVE, "live_blocks", NULL, 0 },
		{ TEL_TOTAL_LIVE_BYTES, "live_bytes", NULL, 0 } };
	static const size_t text_order[] = { 0, 1, 2, 12, 11, 8, 9, 10, 13 };
	struct report_section *s =
	    report_section(r, REPORT_TEXT | REPORT_DATA, "totals");
	tel_int128 v;
	size_t i;

	s->apart = apart;
	s->lead = "Totals:";
	s->indent = 8;
	for (i = 0; i < sizeof(text_order) / sizeof(text_order[0]); i++) {
		v = total(show, rows[text_order[i]].which);
		if (rows[text_order[i]].always || v.low != 0)
			add_count(r, REPORT_TEXT, rows[text_order[i]].text, v);
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (tel_stats_total(show->stats, rows[i].which, &v))
			add_count(r, REPORT_DATA, rows[i].name, v);
	report_put(r);
}
