/* SPDX-License-Identifier: BSD-2-Clause */
/* SVG: what the parts of this form share. */
#ifndef TELSTAT_SVG_H
#define TELSTAT_SVG_H

#include "common/page.h"
#include "common/scale.h"
#include "view.h"

/* The size of the page, and what is left free at its edges. */
#define SVG_WIDTH 760
#define SVG_MARGIN 24
#define SVG_INNER (SVG_WIDTH - 2 * SVG_MARGIN)
/* Between lines of text, and rows of bars. */
#define SVG_LINE 16
#define SVG_ROW 19
/* About the width of a character of the usual size. */
#define SVG_CHAR 7.2

/*
 * The facts of a statistic, wrapped into lines.  Each returns how many there
 * are; lines are put from y on, unless out is NULL.
 */
unsigned svg_facts(const struct show *show, const tel_stat *stat,
    tel_output *out, double y);

/*
 * A text at a place.  class: of the style; anchor: "start", "middle" or
 * "end".  What is longer than so many pixels is cut.
 */
void svg_text(tel_output *out, double x, double y, const char *class,
    const char *anchor, double room, const char *text);

/* A rectangle with a tip, which may be "". */
void svg_bar(tel_output *out, double x, double y, double w, double h,
    const char *class, const char *tip);

void svg_line(tel_output *out, double x1, double y1, double x2, double y2,
    const char *class);

/* The pictures' height, and the pictures, with their upper edge at y. */
double svg_histogram_height(void);
void svg_histogram(const struct show *show, const tel_stat *stat, double y);
double svg_keys_height(const struct show *show, const tel_stat *stat);
void svg_keys(const struct show *show, const tel_stat *stat, double y);
double svg_types_height(const struct show *show);
void svg_types(const struct show *show, double y);

#endif
