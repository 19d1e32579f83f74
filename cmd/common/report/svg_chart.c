/* SPDX-License-Identifier: BSD-2-Clause */
/* SVG: charts of curves, with a legend. */
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include "common/page.h"
#include "scale.h"

#define LEFT 96
#define RIGHT (SVG_CHART_WIDTH - SVG_MARGIN)
#define INNER (RIGHT - LEFT)
/* Below the title: the height of the plot, and of what its axis has. */
#define PLOT 320
#define BELOW 58
#define LEGEND 34
/* Marks on the axes. */
#define MARKS 6
/* Hues are used again after so many, with another dash. */
#define HUES 8

struct chart {
	struct report *report;
	tel_output *out;
	const struct report_chart *chart;
	struct scale x, y;
};

/* The distance of the plot from the upper edge of the section. */
static double
top_of(struct report *r, const struct report_section *s)
{
	return SVG_LINE *
	    (svg_lines(report_title(r, s), "head", INNER) +
	        svg_lines(s->definition, "small", INNER) + 1.5);
}

double
svg_chart_height(struct report *r, const struct report_section *s)
{
	double height = top_of(r, s) + PLOT + BELOW;

	for (size_t i = 0; i < s->chart->n; i++)
		height += s->chart->series[i].legend[0] == '\0' ? 0 :
		                                                  2 +
		        SVG_LINE *
		            svg_lines(s->chart->series[i].legend, "",
		                INNER - LEGEND);
	for (size_t i = 0; i < s->nnotes; i++)
		height += s->notes[i].shown & REPORT_SVG ? SVG_LINE : 0;
	return height;
}

/* The number at mark i of an axis. */
static const char *
mark_text(const struct chart *c, const struct scale *scale,
    const struct ticks *ticks, unsigned i, const char *unit, char *text)
{
	double v = ticks->at[i];

	if (v != 0 && v < 0.01 && v > -0.01) {
		(void)snprintf(text, FORMAT_TEXT, "%.3g", v);
		return text;
	}
	return format_mark(v, scale_max(scale, ticks), unit,
	    c->report->options.raw, text);
}

static void
put_x_mark(const struct chart *c, double at, const char *text)
{
	double x = scale_at(&c->x, at), bottom = c->y.from;
	double half = svg_text_width(text, "small") / 2;

	svg_line(c->out, x, bottom, x, bottom + 4, "axis");
	/* the text, not the mark, keeps off the page's edge */
	if (x + half > SVG_CHART_WIDTH - 4)
		x = SVG_CHART_WIDTH - 4 - half;
	svg_text(c->out, x, bottom + 18, "small", "middle", INNER, text);
}

static void
put_y_marks(const struct chart *c)
{
	char text[FORMAT_TEXT];
	struct ticks ticks;

	scale_ticks(&c->y, c->chart->unit, MARKS, &ticks);
	for (unsigned i = 0; c->chart->share && i <= 4; i++)
		ticks.at[i] = (double)i / 4;
	if (c->chart->share)
		ticks.n = 5;
	for (unsigned i = 0; i < ticks.n; i++) {
		double y = scale_at(&c->y, ticks.at[i]);

		if (c->chart->share)
			(void)snprintf(text, sizeof(text), "%u%%", i * 25);
		else
			(void)mark_text(c, &c->y, &ticks, i, c->chart->unit,
			    text);
		svg_line(c->out, LEFT, y, RIGHT, y, "grid");
		svg_text(c->out, LEFT - 6, y + 4, "small", "end", LEFT, text);
	}
}

static void
put_x_marks(const struct chart *c)
{
	double free_from = 0, half;
	char text[FORMAT_TEXT];
	struct ticks ticks;

	if (c->chart->x_unit == NULL) {
		for (unsigned i = 0; i <= 10; i += 2) {
			(void)snprintf(text, sizeof(text), "%u%%", i * 10);
			put_x_mark(c, (double)i / 10, text);
		}
		return;
	}
	scale_ticks(&c->x, c->chart->x_unit, MARKS, &ticks);
	scale_sort(&ticks);
	for (unsigned i = 0; i < ticks.n; i++) {
		(void)mark_text(c, &c->x, &ticks, i, c->chart->x_unit, text);
		half = svg_text_width(text, "small") / 2;
		if (scale_at(&c->x, ticks.at[i]) - half < free_from)
			continue;
		free_from = scale_at(&c->x, ticks.at[i]) + half + SVG_CHAR;
		put_x_mark(c, ticks.at[i], text);
	}
}

static void
put_axes(const struct chart *c)
{
	double bottom = c->y.from;

	put_y_marks(c);
	put_x_marks(c);
	svg_line(c->out, LEFT, bottom, RIGHT, bottom, "axis");
	svg_line(c->out, LEFT, c->y.to, LEFT, bottom, "axis");
	svg_text(c->out, (LEFT + RIGHT) / 2.0, bottom + 36, "small", "middle",
	    INNER, c->chart->x_title);
	svg_upright(c->out, 16, (c->y.from + c->y.to) / 2, c->chart->y_title);
}

static void
svg_chart_put_class(const struct chart *c, const struct report_series *s)
{
	putf(c->out, "class=\"curve c%zu\"", s->number % HUES);
	if (s->number >= HUES)
		putf(c->out, " stroke-dasharray=\"%zu 3\"",
		    2 + 3 * (s->number / HUES));
}

/* Moves to the first point of the curve, and to each one behind a gap; h0 makes
 * a dot of one that is alone. */
static void
svg_chart_put_series(const struct chart *c, const struct report_series *s)
{
	double x = 0, y;
	int gap = 1;

	put(c->out, "<path ");
	if (s->area)
		putf(c->out, "class=\"live\" d=\"M%.1f %.1f", c->x.from,
		    c->y.from);
	else
		svg_chart_put_class(c, s);
	if (!s->area)
		put(c->out, " d=\"");
	for (size_t i = 0; i < s->n; i++) {
		s->point(s->of, i, &x, &y);
		if (isnan(y)) {
			gap = 1;
			continue;
		}
		putf(c->out, "%s%.1f %.1f%s", gap && !s->area ? "M" : "L",
		    scale_at(&c->x, x), scale_at(&c->y, y),
		    gap && !s->area ? "h0" : "");
		gap = 0;
	}
	if (s->area)
		putf(c->out, "L%.1f %.1fZ", scale_at(&c->x, x), c->y.from);
	put(c->out, "\"><title>");
	put_xml(c->out, s->name);
	put(c->out, "</title></path>\n");
}

static double
put_legend(const struct chart *c, const struct report_series *s, double y)
{
	if (s->area) {
		putf(c->out,
		    "<rect class=\"live\" x=\"%d\" y=\"%.1f\" width=\"26\" "
		    "height=\"10\"/>\n",
		    LEFT, y - 9);
	} else {
		put(c->out, "<path ");
		svg_chart_put_class(c, s);
		putf(c->out, " d=\"M%d %.1fh26\"/>\n", LEFT, y - 4);
	}
	return 2 +
	    SVG_LINE *
	    svg_wrapped(c->out, LEFT + LEGEND, y, "", "start", INNER - LEGEND,
	        s->legend);
}

void
svg_chart(struct report *r, const struct report_section *s, double y)
{
	const struct report_chart *chart = s->chart;
	double plot = y + top_of(r, s);
	/* curves that are all one value have a scale, too */
	double most =
	    chart->most > chart->least ? chart->most : chart->least + 1;
	double air = (most - chart->least) / 20;
	struct chart c = { r, r->out, chart,
		{ chart->x_min, chart->x_unit != NULL ? chart->x_max : 1, LEFT,
		    RIGHT, chart->x_log },
		{ chart->least, chart->share ? 1 : most + air, plot + PLOT,
		    plot, 0 } };

	y += SVG_LINE;
	y += SVG_LINE *
	    svg_wrapped(r->out, SVG_MARGIN, y, "head", "start", INNER,
	        report_title(r, s));
	(void)svg_wrapped(r->out, SVG_MARGIN, y, "small", "start", INNER,
	    s->definition);
	put_axes(&c);
	for (size_t i = 0; i < chart->n; i++)
		svg_chart_put_series(&c, &chart->series[i]);
	y = plot + PLOT + BELOW;
	for (size_t i = 0; i < chart->n; i++)
		if (chart->series[i].legend[0] != '\0')
			y += put_legend(&c, &chart->series[i], y);
	for (size_t i = 0; i < s->nnotes; i++)
		if (s->notes[i].shown & REPORT_SVG) {
			svg_text(r->out, LEFT, y, "small", "start", INNER,
			    s->notes[i].text);
			y += SVG_LINE;
		}
}
