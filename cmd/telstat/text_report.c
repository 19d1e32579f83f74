/* SPDX-License-Identifier: BSD-2-Clause */
/* Text: the report of what a log is, its kinds and types. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The columns of a table of parts. */
enum column { NAME, KIND, EVENTS, SHARE, BYTES, BYTES_SHARE, RATE, COLUMNS };

#define CELL_MAX 160

struct parts {
	const struct show *show;
	int kinds; /* it is the table of kinds, and has no column KIND */
	unsigned widths[COLUMNS];
	double events, bytes; /* of all, for shares */
	int decimals;         /* of rates */
	int put;              /* nonzero: put rows; 0: measure them */
};

static void
put_origins(const struct show *show)
{
	size_t i, n = tel_stats_origin_count(show->stats);
	int raw = show->options->raw;
	char text[FIGURE_TEXT], line[256];
	tel_origin o;

	for (i = 0; i < n && tel_stats_origin(show->stats, i, &o); i++) {
		struct items items;

		text_bold(show, 1);
		put(show->out, page_escape(line, sizeof(line) - 1, o.schema));
		text_bold(show, 0);
		items_begin(&items, show, 2, "");
		items.column = (unsigned)strlen(line);
		items.first = 0;
		if (o.version[0] != '\0')
			items_add(&items, "version %s",
			    page_escape(line, 32, o.version));
		if (o.form[0] != '\0')
			items_add(&items, "read as %s",
			    page_escape(line, 32, o.form));
		if (n > 1)
			items_add(&items, "events %s",
			    figure_count(figure_int128_of(o.events), raw,
			        text));
		if (o.logs != 1)
			items_add(&items, "logs %s",
			    figure_count(figure_int128_of(o.logs), raw, text));
		items_end(&items);
	}
}

static void
put_size(const struct show *show)
{
	const tel_stats *s = show->stats;
	const char *per = show->options->rate_per;
	tel_int128 events = view_total(s, TEL_TOTAL_EVENTS);
	tel_int128 bytes = view_total(s, TEL_TOTAL_BYTES);
	int raw = show->options->raw;
	char text[FIGURE_TEXT], size[FIGURE_TEXT];
	struct items items;
	double rate;

	items_begin(&items, show, 8, "events ");
	items_add(&items, "%s", figure_count(events, raw, text));
	rate = view_rate(show, tel_int128_double(events));
	if (rate > 0)
		items_add(&items, "%s/%s", figure_double(rate, "", raw, text),
		    per);
	items_end(&items);
	items_begin(&items, show, 8, "bytes  ");
	items_add(&items, "%s", figure_value(bytes, "bytes", raw, text));
	rate = view_rate(show, tel_int128_double(bytes));
	if (rate > 0)
		(void)figure_size(raw ? 0 : rate, size);
	if (rate > 0 && size[0] != '\0')
		items_add(&items, "%s/%s", size, per);
	else if (rate > 0)
		items_add(&items, "%s/%s", figure_double(rate, "", raw, text),
		    per);
	items_end(&items);
}

static void
put_span(const struct show *show)
{
	const tel_stats *s = show->stats;
	int raw = show->options->raw;
	tel_int128 first, last, v;
	char text[FIGURE_TEXT];
	struct items items;

	if (!tel_stats_total(s, TEL_TOTAL_FIRST, &first) ||
	    !tel_stats_total(s, TEL_TOTAL_LAST, &last))
		return;
	items_begin(&items, show, 8, "span   ");
	if (tel_stats_total(s, TEL_TOTAL_NS, &v))
		items_add(&items, "%s%s", figure_value(v, "ns", raw, text),
		    raw ? " ns" : "");
	if (tel_stats_total(s, TEL_TOTAL_TICKS, &v))
		items_add(&items, "%s%s", figure_value(v, "ticks", raw, text),
		    raw ? " ticks" : "");
	items_add(&items, "%016" PRIX64 " to %016" PRIX64, first.low, last.low);
	items_end(&items);
}

static void
put_damage(const struct show *show)
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
	char text[FIGURE_TEXT];
	struct items items;
	int found = 0;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tel_int128 v = view_total(show->stats, rows[i].which);

		if (v.low == 0)
			continue;
		if (!found)
			items_begin(&items, show, 8, "damage ");
		found = 1;
		items_add(&items, "%s %s",
		    figure_count(v, show->options->raw, text),
		    v.low == 1 ? rows[i].one : rows[i].more);
	}
	if (found)
		items_end(&items);
}

/* Measures a row of cells, or puts it. */
static void
row(struct parts *p, char cells[COLUMNS][CELL_MAX])
{
	tel_output *out = p->show->out;
	int i;

	for (i = 0; i < COLUMNS; i++) {
		unsigned length = (unsigned)strlen(cells[i]);

		if (!p->put && length > p->widths[i])
			p->widths[i] = length;
		if (!p->put || p->widths[i] == 0)
			continue;
		if (i > 0)
			put(out, "  ");
		if (i <= KIND)
			text_left(out, cells[i], p->widths[i]);
		else
			text_right(out, cells[i], p->widths[i]);
	}
	if (p->put)
		put(out, "\n");
}

static void
head_row(struct parts *p)
{
	char cells[COLUMNS][CELL_MAX] = { "type", "kind", "events", "share",
		"bytes", "share", "" };

	if (p->kinds) {
		(void)strcpy(cells[NAME], "kind");
		cells[KIND][0] = '\0';
	}
	if (p->show->at.ns > 0)
		(void)snprintf(cells[RATE], CELL_MAX, "events/%s",
		    p->show->options->rate_per);
	text_bold(p->show, p->put);
	row(p, cells);
	text_bold(p->show, 0);
}

static void
part_row(struct parts *p, const tel_part *part)
{
	double events = (double)part->events, bytes = (double)part->bytes;
	int raw = p->show->options->raw;
	/* so that a long name leaves room for the rest */
	unsigned room = raw ? CELL_MAX - 1 : 26;
	char cells[COLUMNS][CELL_MAX];

	(void)page_escape(cells[NAME], room, part->name);
	(void)page_escape(cells[KIND], p->kinds ? 0 : 12, part->kind);
	if (p->kinds)
		cells[KIND][0] = '\0';
	(void)figure_count(figure_int128_of(part->events), raw, cells[EVENTS]);
	(void)snprintf(cells[SHARE], CELL_MAX, "%.1f%%",
	    p->events > 0 ? events / p->events * 100 : 0);
	(void)figure_count(figure_int128_of(part->bytes), raw, cells[BYTES]);
	(void)snprintf(cells[BYTES_SHARE], CELL_MAX, "%.1f%%",
	    p->bytes > 0 ? bytes / p->bytes * 100 : 0);
	cells[RATE][0] = '\0';
	if (p->show->at.ns > 0)
		(void)figure_fixed(view_rate(p->show, events),
		    raw ? 6 : p->decimals, raw, cells[RATE]);
	row(p, cells);
}

/* All rows of the table, once to measure and once to put them. */
static void
rows(struct parts *p)
{
	const tel_stats *s = p->show->stats;
	size_t n = p->kinds ? tel_stats_kind_count(s) : tel_stats_type_count(s);
	size_t i, shown = p->kinds ? n : view_type_count(p->show);
	tel_part part, other = { "<other>", "", 0, 0, 0 };

	head_row(p);
	for (i = 0; i < n; i++) {
		if (!(p->kinds ? tel_stats_kind(s, i, &part) :
		                 tel_stats_type(s, i, &part)))
			break;
		if (i < shown) {
			part_row(p, &part);
			continue;
		}
		other.events += part.events;
		other.bytes += part.bytes;
	}
	if (shown < n)
		part_row(p, &other);
}

/* Leaves out what is least needed when the page is too narrow. */
static void
narrow(struct parts *p)
{
	static const enum column spare[] = { BYTES_SHARE, KIND, BYTES };
	size_t i, n = sizeof(spare) / sizeof(spare[0]);
	unsigned used = 0;
	int j;

	for (j = 0; j < COLUMNS; j++)
		used += p->widths[j] > 0 ? p->widths[j] + 2 : 0;
	for (i = 0; i < n && used > p->show->width + 2; i++) {
		if (p->widths[spare[i]] > 0)
			used -= p->widths[spare[i]] + 2;
		p->widths[spare[i]] = 0;
	}
}

static void
put_parts(const struct show *show, int kinds)
{
	struct parts p;

	memset(&p, 0, sizeof(p));
	p.show = show;
	p.kinds = kinds;
	p.events = tel_int128_double(view_total(show->stats, TEL_TOTAL_EVENTS));
	p.bytes = tel_int128_double(view_total(show->stats, TEL_TOTAL_BYTES));
	/* the same for all, so that they can be compared */
	p.decimals = view_rate(show, p.events) >= 1000 ? 1 : 3;
	rows(&p);
	if (!show->options->raw)
		narrow(&p);
	p.put = 1;
	put(show->out, "\n");
	rows(&p);
}

/* What was allocated and freed, where the log says so. */
static void
put_memory(const struct show *show)
{
	static const struct {
		const char *name;
		tel_total blocks, bytes;
	} lines[] = { { "allocated", TEL_TOTAL_ALLOCS, TEL_TOTAL_ALLOC_BYTES },
		{ "freed", TEL_TOTAL_FREES, TEL_TOTAL_FREE_BYTES },
		{ "live", TEL_TOTAL_LIVE, TEL_TOTAL_LIVE_BYTES } };
	int raw = show->options->raw, found = 0;
	char blocks[FIGURE_TEXT], bytes[FIGURE_TEXT], size[FIGURE_TEXT];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		tel_int128 n, b;

		if (!tel_stats_total(show->stats, lines[i].blocks, &n) ||
		    !tel_stats_total(show->stats, lines[i].bytes, &b))
			continue;
		if (!found)
			put(show->out, "\n");
		found = 1;
		size[0] = '\0';
		if (!raw)
			(void)figure_size(tel_int128_double(b), size);
		putf(show->out, "%-9s  %13s blocks  %17s bytes%s%s\n",
		    lines[i].name, figure_count(n, raw, blocks),
		    figure_count(b, raw, bytes), size[0] != '\0' ? "  " : "",
		    size);
	}
}

void
text_report(const struct show *show)
{
	put_origins(show);
	put_size(show);
	put_span(show);
	put_damage(show);
	if (view_total(show->stats, TEL_TOTAL_EVENTS).low > 0) {
		put_parts(show, 1);
		put_parts(show, 0);
	}
	put_memory(show);
	put(show->out, "\n");
}
