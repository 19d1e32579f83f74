/* SPDX-License-Identifier: BSD-2-Clause */
/* SVG: histograms and ranges. */
#include "svg.h"

#include <stdio.h>
#include <string.h>
#include "scale.h"

/* ---------------------------------------------------------- histograms */

/* The height of the bars, and of the axis and legend below them. */
#define PLOT 190
#define BELOW 40
/* Room for the figures on the left. */
#define LEFT 76
/* The bars of what lies outside, and the gap before them. */
#define SIDE 26
#define SIDE_GAP 12

struct plot {
	struct report *report;
	tel_output *out;
	const struct report_histogram *histogram;
	const char *name, *unit;
	unsigned decimals;
	struct scale x, y;
	double top;
	int under, over; /* there are bars for them */
};

double
svg_histogram_height(void)
{
	return PLOT + BELOW + SVG_LINE;
}

static tel_bucket
svg_plot_bucket_of(const struct plot *p, size_t i)
{
	return p->histogram->bucket(p->histogram->of, i);
}

/* The first bucket from i on that is in use, or their number. */
static size_t
next_of(const struct plot *p, size_t i)
{
	return p->histogram->next(p->histogram->of, i);
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
svg_plot_weigh(const struct plot *p, const tel_bucket *b)
{
	if (!p->report->options.density)
		return (double)b->count;
	return b->open ? 0 :
	                 (double)b->count /
	        format_scaled(upper(b) - (double)b->lo, p->decimals);
}

/* Sets the scales by the buckets in use, or those of all groups. */
static void
svg_plot_measure(struct plot *p)
{
	const struct report_histogram *h = p->histogram;
	tel_bucket b = svg_plot_bucket_of(p, 0);
	size_t i, first = next_of(p, 0);

	p->x.from = SVG_MARGIN + LEFT + (p->under ? SIDE + SIDE_GAP : 0);
	p->x.to = SVG_WIDTH - SVG_MARGIN - (p->over ? SIDE + SIDE_GAP : 0);
	p->y.from = p->top + PLOT;
	p->y.to = p->top;
	p->x.lo = (double)b.lo;
	p->x.hi = upper(&b);
	for (i = first; i < h->n; i = next_of(p, i + 1)) {
		b = svg_plot_bucket_of(p, i);
		if (i == first)
			p->x.lo = (double)b.lo;
		p->x.hi = upper(&b);
		double v = svg_plot_weigh(p, &b);
		if (v > p->y.hi)
			p->y.hi = v;
	}
	if (p->report->options.density)
		return;
	double v = tel_int128_double(h->under);
	if (v > p->y.hi)
		p->y.hi = v;
	v = tel_int128_double(h->over);
	if (v > p->y.hi)
		p->y.hi = v;
	/* some air above the highest */
	p->y.hi *= 1.05;
}

/* Sets the scales to those of all groups, and leaves room beside one bar. */
static void
svg_plot_widen(struct plot *p)
{
	const struct report_histogram *h = p->histogram;
	double width = p->x.hi - p->x.lo;

	if (h->axes.hi > h->axes.lo) {
		p->x.lo = h->axes.lo;
		p->x.hi = h->axes.hi;
		if (!p->report->options.density)
			p->y.hi = h->axes.most * 1.05;
	} else if (h->n > 0 && next_of(p, next_of(p, 0) + 1) >= h->n) {
		/* no room below 0 for values that have no sign */
		if (p->x.log)
			p->x.lo /= 2;
		else
			p->x.lo = p->x.lo >= 0 && p->x.lo < width ?
			    0 :
			    p->x.lo - width;
		p->x.hi = p->x.log ? p->x.hi * 2 : p->x.hi + width;
	}
}

/*
 * Marks of the left axis: of a count round numbers; of a density, which has
 * no whole numbers, quarters of the largest.
 */
static void
put_left(const struct plot *p)
{
	double right = SVG_WIDTH - SVG_MARGIN, x = SVG_MARGIN + LEFT, at;
	int density = p->report->options.density;
	char text[FORMAT_TEXT];
	struct ticks ticks;

	scale_ticks(&p->y, "", 5, &ticks);
	if (density)
		for (ticks.n = 0; ticks.n < 5; ticks.n++)
			ticks.at[ticks.n] = p->y.hi * ticks.n / 4;
	for (unsigned i = 0; i < ticks.n; i++) {
		at = scale_at(&p->y, ticks.at[i]);
		svg_line(p->out, x, at, right, at, "grid");
		if (density)
			(void)snprintf(text, FORMAT_TEXT, "%.3g", ticks.at[i]);
		else
			(void)format_double(ticks.at[i], "",
			    p->report->options.raw, text);
		svg_text(p->out, x - 6, at + 4, "small", "end", LEFT, text);
	}
	svg_upright(p->out, SVG_MARGIN + 8, p->top + PLOT / 2,
	    report_text(p->report, "%s%s", p->histogram->y_title,
	        density ? " by width" : ""));
}

/* Marks of the lower axis, as many as have room beside each other. */
static void
put_below(const struct plot *p, double left)
{
	double y = p->y.from, at, free_from = 0, width, middle;
	double room = SVG_INNER - (p->under || p->over ? 300 : 0);
	const char *unit = p->unit, *title;
	char text[FORMAT_TEXT];
	struct ticks ticks;

	svg_line(p->out, left, y, SVG_WIDTH - SVG_MARGIN, y, "axis");
	/* decimals of bytes are decimal too */
	scale_ticks(&p->x, p->decimals > 0 ? "" : p->unit, 8, &ticks);
	scale_sort(&ticks);
	for (unsigned i = 0; i < ticks.n; i++) {
		/* beyond these a double does not fit an edge */
		if (ticks.at[i] >= 9.2e18 || ticks.at[i] <= -9.2e18)
			continue;
		at = scale_at(&p->x, ticks.at[i]);
		if (p->decimals > 0)
			(void)format_edge((int64_t)ticks.at[i], p->decimals,
			    p->unit, p->report->options.raw, text);
		else
			(void)format_mark(ticks.at[i], scale_max(&p->x, &ticks),
			    p->unit, p->report->options.raw, text);
		width = svg_text_width(text, "small");
		/* the text, not the mark, keeps off the page's edge */
		middle = at;
		if (middle + width / 2 > SVG_WIDTH - 4)
			middle = SVG_WIDTH - 4 - width / 2;
		if (middle - width / 2 < 4)
			middle = 4 + width / 2;
		if (middle - width / 2 < free_from)
			continue;
		free_from = middle + width / 2 + SVG_CHAR;
		svg_line(p->out, at, y, at, y + 5, "axis");
		svg_text(p->out, middle, y + 18, "small", "middle", 200, text);
	}
	/* marks of times have units of their own */
	if (strcmp(unit, "ns") == 0 && !p->report->options.raw)
		unit = "time";
	title = report_text(p->report, "%s%s%s%s%s%s", p->name,
	    unit[0] != '\0' ? " (" : "", unit, unit[0] != '\0' ? ")" : "",
	    p->x.log ? ", logarithmic" : "",
	    p->under || p->over ? "; grey: outside" : "");
	/* a name that is longer is in the title of the picture */
	if (svg_text_width(title, "small") > room)
		title = report_text(p->report, "%s%s%s",
		    unit[0] != '\0' ? unit : "value",
		    p->x.log ? ", logarithmic" : "",
		    p->under || p->over ? "; grey: outside" : "");
	svg_text(p->out, (p->x.from + p->x.to) / 2, y + 34, "small", "middle",
	    room, title);
}

static void
put_bar(const struct plot *p, const tel_bucket *b)
{
	double from = scale_at(&p->x, (double)b->lo);
	double to = scale_at(&p->x, upper(b));
	double top = scale_at(&p->y, svg_plot_weigh(p, b)), width = to - from;
	char lo[FORMAT_TEXT], hi[FORMAT_TEXT], count[FORMAT_TEXT];
	char tip[3 * FORMAT_TEXT + 16];
	int raw = p->report->options.raw;

	/* a gap between bars where there is room for one */
	if (width > 4)
		width -= 1;
	if (width < 0.5)
		width = 0.5;
	if (p->y.from - top < 1)
		top = p->y.from - 1;
	(void)snprintf(tip, sizeof(tip), "[%s, %s): %s",
	    format_edge(b->lo, p->decimals, p->unit, raw, lo),
	    b->open ? "+inf" :
	              format_edge(b->hi, p->decimals, p->unit, raw, hi),
	    format_count(int128_u64(b->count), raw, count));
	svg_bar(p->out, from, top, width, p->y.from - top,
	    p->histogram->knee && b->range > 0 ? "part" : "bar", tip);
}

/* The bar of what lies below or above, beside the axis of values. */
static void
put_side(const struct plot *p, tel_int128 v, double x, int64_t edge,
    const char *sign, const char *anchor)
{
	double top = scale_at(&p->y, tel_int128_double(v));
	char text[FORMAT_TEXT], tip[2 * FORMAT_TEXT + 16], label[FORMAT_TEXT];
	int raw = p->report->options.raw;

	(void)format_edge(edge, p->decimals, p->unit, raw, label);
	(void)snprintf(tip, sizeof(tip), "%s %s: %s", sign, label,
	    format_count(v, raw, text));
	if (p->report->options.density || top < p->top)
		top = p->y.from;
	if (p->y.from - top < 1)
		top = p->y.from - 1;
	svg_bar(p->out, x, top, SIDE, p->y.from - top, "side", tip);
	(void)snprintf(tip, sizeof(tip), "%s %s", sign, label);
	svg_text(p->out, anchor[0] == 'e' ? x + SIDE : x, p->y.from + 34,
	    "small", anchor, 160, tip);
}

void
svg_histogram(struct report *r, const struct report_section *s, double y)
{
	const struct report_histogram *h = s->histogram;
	struct plot p = { 0 };
	tel_bucket b;

	p.report = r;
	p.out = r->out;
	p.histogram = h;
	p.name = s->name != NULL ? s->name : "";
	p.unit = s->unit;
	p.decimals = s->decimals;
	p.top = y + SVG_LINE / 2;
	p.x.log = h->log || r->options.log;
	p.under = h->under.high != 0 || h->under.low != 0;
	p.over = h->over.high != 0 || h->over.low != 0;
	svg_plot_measure(&p);
	svg_plot_widen(&p);
	put_left(&p);
	for (size_t i = next_of(&p, 0); i < h->n; i = next_of(&p, i + 1)) {
		b = svg_plot_bucket_of(&p, i);
		put_bar(&p, &b);
	}
	b = svg_plot_bucket_of(&p, 0);
	if (p.under)
		put_side(&p, h->under, SVG_MARGIN + LEFT + 4, b.lo, "<",
		    "start");
	b = svg_plot_bucket_of(&p, h->n > 0 ? h->n - 1 : 0);
	if (p.over)
		put_side(&p, h->over, SVG_WIDTH - SVG_MARGIN - SIDE, b.hi,
		    "\xe2\x89\xa5", "end");
	put_below(&p, SVG_MARGIN + LEFT);
}

/* -------------------------------------------------------------- ranges */

/* The height of a range's bar, and of the names of marks above it. */
#define RANGE_BAR 18
#define RANGE_NAME 14

double
svg_range_height(void)
{
	return 2 * RANGE_NAME + RANGE_BAR + BELOW + SVG_LINE;
}

static void
put_mark(const struct plot *p, const struct report_named *mark, double y)
{
	double x = scale_at(&p->x, mark->value);
	char text[FORMAT_TEXT];
	int left = x > SVG_WIDTH / 2.0;

	svg_line(p->out, x, y, x, p->y.from, "axis");
	svg_text(p->out, left ? x - 4 : x + 4, y + 10, "small",
	    left ? "end" : "start", SVG_INNER,
	    report_text(p->report, "%s %s", mark->name,
	        format_double(format_scaled(mark->value, p->decimals), p->unit,
	            p->report->options.raw, text)));
}

void
svg_range(struct report *r, const struct report_section *s, double y)
{
	const struct report_range *range = s->range;
	char lo[FORMAT_TEXT], hi[FORMAT_TEXT];
	int raw = r->options.raw;
	struct plot p = { 0 };

	p.report = r;
	p.out = r->out;
	p.name = report_text(r, "%s%s%s", s->name != NULL ? s->name : "",
	    range->what != NULL ? ": " : "",
	    range->what != NULL ? range->what : "");
	p.unit = s->unit;
	p.decimals = s->decimals;
	p.y.from = y + 2 * RANGE_NAME + RANGE_BAR;
	p.x.from = SVG_MARGIN;
	p.x.to = SVG_WIDTH - SVG_MARGIN;
	p.x.lo = range->axis_lo < 0 ? range->axis_lo : 0;
	p.x.hi = range->axis_hi > 0 ? range->axis_hi : 0;
	if (p.x.lo > range->lo)
		p.x.lo = range->lo;
	if (p.x.hi < range->hi)
		p.x.hi = range->hi;
	if (p.x.hi <= p.x.lo)
		p.x.hi = p.x.lo + 1;
	double from = scale_at(&p.x, range->lo);
	svg_bar(r->out, from, p.y.from - RANGE_BAR,
	    scale_at(&p.x, range->hi) - from + 1, RANGE_BAR, "bar",
	    report_text(r, "[%s, %s]",
	        format_double(format_scaled(range->lo, s->decimals), s->unit,
	            raw, lo),
	        format_double(format_scaled(range->hi, s->decimals), s->unit,
	            raw, hi)));
	/* the line of the upper one must not cross the name of the lower */
	int swap = range->n == 2 &&
	    (range->marks[1].value < range->marks[0].value) ==
	        (scale_at(&p.x, range->marks[0].value) < SVG_WIDTH / 2.0);
	for (size_t i = 0; i < range->n; i++)
		put_mark(&p, &range->marks[i],
		    y + (double)(swap ? 1 - i : i) * RANGE_NAME);
	put_below(&p, SVG_MARGIN);
}
