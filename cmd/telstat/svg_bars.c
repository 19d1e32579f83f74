/* SPDX-License-Identifier: BSD-2-Clause */
/* SVG: horizontal bars, of the keys of a tally and of types of events. */
#include "svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most rows when --top does not say. */
#define ROWS_DEFAULT 40
/* The widest labels, and what figures behind bars need. */
#define LABEL_WIDTH 220
#define FIGURE_WIDTH 150

/* The bars of a picture: measured first, and then put. */
struct bars {
	const struct show *show;
	double y;
	double weight, scale;
	double label; /* width of the labels */
	int put;
	unsigned n;
};

static size_t
rows_shown(const struct show *show, size_t n)
{
	uint64_t top = show->options->top;

	if (top == 0)
		top = ROWS_DEFAULT;
	return top < n ? (size_t)top : n;
}

static void
row(struct bars *b, const char *label, tel_int128 count, const char *class)
{
	double value = tel_int128_double(count), width = SVG_CHAR;
	double left, room, y = b->y + b->n++ * SVG_ROW;
	char text[FIGURE_TEXT + 32], figure[FIGURE_TEXT];

	if (!b->put) {
		width *= (double)strlen(label);
		if (width > LABEL_WIDTH)
			width = LABEL_WIDTH;
		if (width > b->label)
			b->label = width;
		if (value > b->scale)
			b->scale = value;
		return;
	}
	left = SVG_MARGIN + b->label + 8;
	room = SVG_WIDTH - SVG_MARGIN - FIGURE_WIDTH - left;
	width = b->scale > 0 ? value / b->scale * room : 0;
	(void)snprintf(text, sizeof(text), "%s (%.1f%%)",
	    figure_count(count, b->show->options->raw, figure),
	    b->weight > 0 ? value / b->weight * 100 : 0);
	svg_text(b->show->out, left - 8, y + SVG_ROW - 6, "", "end",
	    b->label + SVG_CHAR, label);
	svg_bar(b->show->out, left, y + 2, width < 1 && value > 0 ? 1 : width,
	    SVG_ROW - 5, class, "");
	svg_text(b->show->out, left + width + 6, y + SVG_ROW - 6, "small",
	    "start", FIGURE_WIDTH, text);
}

/* The line that the bars stand on. */
static void
put_axis(const struct bars *b)
{
	double x = SVG_MARGIN + b->label + 8;

	svg_line(b->show->out, x, b->y, x, b->y + b->n * SVG_ROW, "axis");
}

static void
all_keys(struct bars *b, const tel_stat *stat)
{
	size_t i, n = tel_stat_key_count(stat);
	size_t shown = rows_shown(b->show, n);
	tel_int128 other = { 0, 0 };
	tel_key key;

	b->n = 0;
	for (i = 0; i < n && tel_stat_key(stat, i, &key); i++) {
		char *text;

		if (i >= shown) {
			other = figure_add(other, figure_int128_of(key.count));
			continue;
		}
		text = view_value(&key.value);
		row(b, text != NULL ? text : "", figure_int128_of(key.count),
		    "bar");
		free(text);
	}
	if (shown < n)
		row(b, "<other>", other, "side");
	if (view_nonzero(stat, TEL_NUMBER_OVERFLOW_UPDATES))
		row(b, "<overflow>", view_number(stat, TEL_NUMBER_OVERFLOW),
		    "side");
}

double
svg_keys_height(const struct show *show, const tel_stat *stat)
{
	size_t n = tel_stat_key_count(stat), shown = rows_shown(show, n);

	return SVG_ROW *
	    (double)(shown + (shown < n) +
	        (size_t)view_nonzero(stat, TEL_NUMBER_OVERFLOW_UPDATES));
}

void
svg_keys(const struct show *show, const tel_stat *stat, double y)
{
	struct bars b = { show, y, 0, 0, 0, 0, 0 };

	b.weight = tel_int128_double(view_number(stat, TEL_NUMBER_WEIGHT));
	all_keys(&b, stat);
	b.put = 1;
	all_keys(&b, stat);
	put_axis(&b);
}

static void
all_types(struct bars *b)
{
	const tel_stats *s = b->show->stats;
	size_t i, n = tel_stats_type_count(s), shown = rows_shown(b->show, n);
	uint64_t other = 0;
	tel_part part;

	b->n = 0;
	for (i = 0; i < n && tel_stats_type(s, i, &part); i++) {
		if (i < shown)
			row(b, part.name, figure_int128_of(part.events), "bar");
		else
			other += part.events;
	}
	if (shown < n)
		row(b, "<other>", figure_int128_of(other), "side");
}

double
svg_types_height(const struct show *show)
{
	size_t n = tel_stats_type_count(show->stats);
	size_t shown = rows_shown(show, n);

	return SVG_LINE + SVG_ROW * (double)(shown + (shown < n));
}

void
svg_types(const struct show *show, double y)
{
	struct bars b = { show, y, 0, 0, 0, 0, 0 };

	b.weight = tel_int128_double(view_total(show->stats, TEL_TOTAL_EVENTS));
	all_types(&b);
	b.put = 1;
	all_types(&b);
	put_axis(&b);
}
