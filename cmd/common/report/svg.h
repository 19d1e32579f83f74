/* SPDX-License-Identifier: BSD-2-Clause */
/* SVG: the shapes of a page, and the plots that are drawn with them. */
#ifndef COMMON_REPORT_SVG_H
#define COMMON_REPORT_SVG_H

#include "report.h"

/* The size of a page, and its margins. */
#define SVG_WIDTH 760
#define SVG_MARGIN 24
#define SVG_INNER (SVG_WIDTH - 2 * SVG_MARGIN)
/* Between lines of text, and rows of bars. */
#define SVG_LINE 16
#define SVG_ROW 19
/* About the width of a character of the usual size. */
#define SVG_CHAR 7.2

/* What a page draws: it has styles for that. */
#define SVG_BARS 1u
#define SVG_CURVES 2u

/*
 * A text at a place.  class: of the style; anchor: "start", "middle" or
 * "end".  A text longer than so many pixels is cut.
 */
void svg_text(tel_output *out, double x, double y, const char *class,
    const char *anchor, double room, const char *text);
/* About how many pixels wide a text is, rather more than less. */
double svg_text_width(const char *text, const char *class);
/*
 * A text in as many lines as it needs, SVG_LINE apart; they are at most
 * SVG_LINES_MAX, and the last one is cut.  Both return how many lines.
 */
#define SVG_LINES_MAX 12
unsigned svg_lines(const char *text, const char *class, double room);
unsigned svg_wrapped(tel_output *out, double x, double y, const char *class,
    const char *anchor, double room, const char *text);
/* A rectangle with a tip, which may be "". */
void svg_bar(tel_output *out, double x, double y, double w, double h,
    const char *class, const char *tip);
void svg_line(tel_output *out, double x1, double y1, double x2, double y2,
    const char *class);

/* The title of an axis that goes up. */
void svg_upright(tel_output *out, double x, double y, const char *text);

/* The plots' height, and the plots, with their upper edge at y. */
double svg_histogram_height(void);
void svg_histogram(struct report *r, const struct report_section *s, double y);
double svg_range_height(void);
void svg_range(struct report *r, const struct report_section *s, double y);
/* A chart is wider than a page, and has its section's title in it. */
#define SVG_CHART_WIDTH 800
double svg_chart_height(struct report *r, const struct report_section *s);
void svg_chart(struct report *r, const struct report_section *s, double y);

#endif
