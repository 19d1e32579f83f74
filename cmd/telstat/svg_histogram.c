/* SPDX-License-Identifier: BSD-2-Clause */
/* SVG: the bars of a histogram, as wide as their buckets are. */
#include "svg.h"

#include <stdio.h>
#include <string.h>

/* The height of the bars, and of what stands below them. */
#define PLOT 190
#define BELOW 40
/* Room for the figures on the left. */
#define LEFT 76
/* The bars of what lies outside, and the gap before them. */
#define SIDE 26
#define SIDE_GAP 12

struct plot {
	const struct show *show;
	const tel_stat *stat;
	const char *unit;
	struct scale x, y;
	struct view_span span;
	double top;
	int under, over; /* there are bars for them */
};

double
svg_histogram_height(void)
{
	return PLOT + BELOW + SVG_LINE;
}

/* Buckets that grow are shown by logarithm, others when that is asked for. */
static int
is_log(const struct show *show, const tel_stat *stat)
{
	switch (tel_stat_class(stat)) {
	case TEL_CLASS_LOG2:
	case TEL_CLASS_LOGLIN:
	case TEL_CLASS_QUANTILES: return 1;
	default: return show->options->log;
	}
}

static tel_bucket
bucket_of(const struct plot *p, size_t i)
{
	tel_bucket b = { 0, 1, 0, 0, 0 };

	(void)tel_stat_bucket(p->stat, i, &b);
	return b;
}

/* The upper edge; one that is open is as far as the scale goes. */
static double
upper(const tel_bucket *b)
{
	if (!b->open)
		return (double)b->hi;
	return b->lo > 0 ? (double)b->lo * 2 : (double)b->lo + 1;
}

/* What the height of a bucket's bar is. */
static double
weigh(const struct plot *p, const tel_bucket *b)
{
	if (!p->show->options->density)
		return (double)b->count;
	return b->open ? 0 : (double)b->count / (upper(b) - (double)b->lo);
}

/* Sets the scales by the buckets in use. */
static void
measure(struct plot *p)
{
	tel_bucket b;
	double v;
	size_t i;

	p->x.from = SVG_MARGIN + LEFT + (p->under ? SIDE + SIDE_GAP : 0);
	p->x.to = SVG_WIDTH - SVG_MARGIN - (p->over ? SIDE + SIDE_GAP : 0);
	b = bucket_of(p, 0);
	p->x.lo = (double)b.lo;
	p->x.hi = upper(&b);
	if (p->span.first <= p->span.last) {
		b = bucket_of(p, p->span.first);
		p->x.lo = (double)b.lo;
		b = bucket_of(p, p->span.last);
		p->x.hi = upper(&b);
	}
	p->y.lo = 0;
	p->y.hi = 0;
	p->y.from = p->top + PLOT;
	p->y.to = p->top;
	for (i = p->span.first; i <= p->span.last;
	     i = tel_stat_next_bucket(p->stat, i + 1)) {
		b = bucket_of(p, i);
		v = weigh(p, &b);
		if (v > p->y.hi)
			p->y.hi = v;
		if (i >= p->span.last)
			break;
	}
	if (p->show->options->density)
		return;
	v = tel_int128_double(view_number(p->stat, TEL_NUMBER_UNDER));
	if (v > p->y.hi)
		p->y.hi = v;
	v = tel_int128_double(view_number(p->stat, TEL_NUMBER_OVER));
	if (v > p->y.hi)
		p->y.hi = v;
	/* some air above the highest */
	p->y.hi *= 1.05;
}

/* A figure at the left axis. */
static void
label_height(const struct plot *p, double v, char *text)
{
	if (p->show->options->density)
		(void)snprintf(text, FIGURE_TEXT, "%.3g", v);
	else
		(void)figure_double(v, "", p->show->options->raw, text);
}

/*
 * Marks of the left axis: of a count round numbers; of a density, which has
 * no whole numbers, quarters of the largest.
 */
static void
put_left(const struct plot *p)
{
	double right = SVG_WIDTH - SVG_MARGIN, x = SVG_MARGIN + LEFT, at;
	char text[FIGURE_TEXT];
	struct ticks ticks;
	unsigned i;

	scale_ticks(&p->y, "", 5, &ticks);
	if (p->show->options->density)
		for (ticks.n = 0; ticks.n < 5; ticks.n++)
			ticks.at[ticks.n] = p->y.hi * ticks.n / 4;
	for (i = 0; i < ticks.n; i++) {
		at = scale_at(&p->y, ticks.at[i]);
		svg_line(p->show->out, x, at, right, at, "grid");
		label_height(p, ticks.at[i], text);
		svg_text(p->show->out, x - 6, at + 4, "small", "end", LEFT,
		    text);
	}
	(void)snprintf(text, sizeof(text), "%s",
	    p->show->options->density ? "weight by width" : "weight");
	putf(p->show->out,
	    "<text class=\"small\" text-anchor=\"middle\" transform=\""
	    "translate(%.1f %.1f) rotate(-90)\">%s</text>\n",
	    (double)SVG_MARGIN + 8, p->top + PLOT / 2, text);
}

/* Marks of the lower axis, as many as have room beside each other. */
static void
put_below(const struct plot *p)
{
	double y = p->top + PLOT, at, free_from = 0, width;
	char text[FIGURE_TEXT];
	struct ticks ticks;
	unsigned i, j;

	svg_line(p->show->out, SVG_MARGIN + LEFT, y, SVG_WIDTH - SVG_MARGIN, y,
	    "axis");
	scale_ticks(&p->x, p->unit, 8, &ticks);
	/* by place, so that it is seen which ones are too near */
	for (i = 1; i < ticks.n; i++)
		for (j = i; j > 0 && ticks.at[j] < ticks.at[j - 1]; j--) {
			at = ticks.at[j];
			ticks.at[j] = ticks.at[j - 1];
			ticks.at[j - 1] = at;
		}
	for (i = 0; i < ticks.n; i++) {
		/* beyond these a double does not fit an edge */
		if (ticks.at[i] >= 9.2e18 || ticks.at[i] <= -9.2e18)
			continue;
		at = scale_at(&p->x, ticks.at[i]);
		(void)figure_edge((int64_t)ticks.at[i], p->unit,
		    p->show->options->raw, text);
		width = (double)strlen(text) * SVG_CHAR;
		if (at - width / 2 < free_from)
			continue;
		free_from = at + width / 2 + SVG_CHAR;
		svg_line(p->show->out, at, y, at, y + 5, "axis");
		svg_text(p->show->out, at, y + 18, "small", "middle", 200,
		    text);
	}
	(void)snprintf(text, sizeof(text), "%s%s%s",
	    p->unit[0] != '\0' ? p->unit : "value",
	    p->x.log ? ", by logarithm" : "",
	    p->under || p->over ? "; grey: outside" : "");
	svg_text(p->show->out, (p->x.from + p->x.to) / 2, y + 34, "small",
	    "middle", SVG_INNER, text);
}

static void
put_bar(const struct plot *p, const tel_bucket *b)
{
	double from = scale_at(&p->x, (double)b->lo);
	double to = scale_at(&p->x, upper(b));
	double top = scale_at(&p->y, weigh(p, b)), width = to - from;
	char lo[FIGURE_TEXT], hi[FIGURE_TEXT], count[FIGURE_TEXT];
	char tip[3 * FIGURE_TEXT + 16];
	int raw = p->show->options->raw;

	/* a gap between bars where there is room for one */
	if (width > 4)
		width -= 1;
	if (width < 0.5)
		width = 0.5;
	if (p->y.from - top < 1)
		top = p->y.from - 1;
	(void)snprintf(tip, sizeof(tip), "[%s, %s): %s",
	    figure_edge(b->lo, p->unit, raw, lo),
	    b->open ? "+inf" : figure_edge(b->hi, p->unit, raw, hi),
	    figure_count(figure_int128_of(b->count), raw, count));
	svg_bar(p->show->out, from, top, width, p->y.from - top,
	    tel_stat_class(p->stat) == TEL_CLASS_SPLIT && b->range > 0 ?
	        "part" :
	        "bar",
	    tip);
}

/* The bar of what lies below or above, beside the axis of values. */
static void
put_side(const struct plot *p, tel_number which, double x, int64_t edge,
    const char *sign, const char *anchor)
{
	tel_int128 v = view_number(p->stat, which);
	double top = scale_at(&p->y, tel_int128_double(v));
	char text[FIGURE_TEXT], tip[2 * FIGURE_TEXT + 16], label[FIGURE_TEXT];
	int raw = p->show->options->raw;

	(void)figure_edge(edge, p->unit, raw, label);
	(void)snprintf(tip, sizeof(tip), "%s %s: %s", sign, label,
	    figure_count(v, raw, text));
	if (p->show->options->density || top < p->top)
		top = p->y.from;
	if (p->y.from - top < 1)
		top = p->y.from - 1;
	svg_bar(p->show->out, x, top, SIDE, p->y.from - top, "side", tip);
	(void)snprintf(tip, sizeof(tip), "%s %s", sign, label);
	svg_text(p->show->out, anchor[0] == 'e' ? x + SIDE : x, p->y.from + 34,
	    "small", anchor, 160, tip);
}

void
svg_histogram(const struct show *show, const tel_stat *stat, double y)
{
	struct plot p;
	tel_bucket b;
	size_t i;

	memset(&p, 0, sizeof(p));
	p.show = show;
	p.stat = stat;
	p.unit = tel_stat_unit(stat);
	p.span = view_span(stat);
	p.top = y + SVG_LINE / 2;
	p.x.log = is_log(show, stat);
	p.under = view_nonzero(stat, TEL_NUMBER_UNDER);
	p.over = view_nonzero(stat, TEL_NUMBER_OVER);
	measure(&p);
	put_left(&p);
	for (i = p.span.first; i <= p.span.last;
	     i = tel_stat_next_bucket(stat, i + 1)) {
		b = bucket_of(&p, i);
		put_bar(&p, &b);
	}
	b = bucket_of(&p, 0);
	if (p.under)
		put_side(&p, TEL_NUMBER_UNDER, SVG_MARGIN + LEFT + 4, b.lo, "<",
		    "start");
	if (p.span.count > 0)
		b = bucket_of(&p, p.span.count - 1);
	if (p.over)
		put_side(&p, TEL_NUMBER_OVER, SVG_WIDTH - SVG_MARGIN - SIDE,
		    b.hi, "\xe2\x89\xa5", "end");
	put_below(&p);
}
