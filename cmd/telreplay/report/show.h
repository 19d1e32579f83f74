/* SPDX-License-Identifier: BSD-2-Clause */
/* Show: what telreplay found, as a report. */
#ifndef TELREPLAY_SHOW_H
#define TELREPLAY_SHOW_H

#include "common/report/report.h"
#include "telreplay/run/contest.h"

struct show {
	const struct telreplay *telreplay;
	const struct facts *facts;
	const struct contest *contest; /* NULL: nothing was run */
};

/* The output format of a name; NULL when there is none. */
const struct report_format *show_format(const char *name);

/* Writes the report to where the options say. */
void show_report(const struct show *show);

/* The parts of it: what the trace holds, ... */
void show_trace(struct report *r, const struct show *show);
/* ... the machine, and how it was used, ... */
void show_machine(struct report *r, const struct show *show);
/* ... what came of some of the allocators, one below the other, ... */
void show_allocators(struct report *r, const struct show *show,
    const struct result *results, size_t n);
/* ... and the memory of all of them over the run. */
void show_curves(struct report *r, const struct show *show);
void show_chart(struct report *r, const struct show *show);

/* What kind of order and of touch it is, in a word. */
const char *show_order(const struct facts *f);

/* A ratio; 0 when there is nothing to divide by. */
double show_ratio(double a, double b);

#endif
