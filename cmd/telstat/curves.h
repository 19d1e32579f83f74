/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves: the statistics over time, for the pictures of -i. */
#ifndef TELSTAT_CURVES_H
#define TELSTAT_CURVES_H

#include "show.h"

/* The most curves of one chart. */
#define CURVES_MAX 16

struct curves;

struct curves *curves_new(void);
void curves_free(struct curves *c);
/* Adds the moment of show as a point of each curve.  0 when out of memory. */
int curves_add(struct curves *c, const struct show *show);
/* Puts a chart of each statistic into the report. */
void curves_put(struct report *r, const struct show *show,
    const struct curves *c);

#endif
