/* SPDX-License-Identifier: BSD-2-Clause */
/* Report: the forms in which telreplay tells what it found. */
#ifndef TELREPLAY_REPORT_H
#define TELREPLAY_REPORT_H

#include "telreplay/run/contest.h"

struct report {
	const struct telreplay *telreplay;
	const struct facts *facts;
	const struct contest *contest; /* NULL: only the trace was looked at */
	tel_output *out;
};

struct form {
	const char *name;
	void (*show)(const struct report *r);
};

extern const struct form form_text, form_csv, form_json, form_svg;

/* Names of operations as the loop counts them, by enum run_kind. */
extern const char *const report_kinds[RUN_KINDS];
/* And as a trace has them, by tel_alloc_kind. */
extern const char *const report_operations[ALLOC_KINDS];

/* Quantiles of latency. */
#define REPORT_QUANTILES 4
struct report_quantile {
	const char *name;
	double share;
};
extern const struct report_quantile report_quantiles[REPORT_QUANTILES];

/* The latency in nanoseconds of a kind; share 1 is the largest. */
double report_latency(const struct result *r, enum run_kind kind, double share);

/* What the machine is: a line of words each, or "". */
struct report_machine {
	char kernel[256];
	char processor[128];
	unsigned processors;
	char huge_pages[64];
};
void report_machine(struct report_machine *m);

/* How the trace is ordered, touched and so on, in a few words. */
const char *report_order(const struct facts *f);
const char *report_touch(enum run_touch touch);

/* The last element of a histogram that is not 0, or 0. */
unsigned report_last(const uint64_t *histogram);
unsigned report_first(const uint64_t *histogram);

/* Shares of a ratio; 0 when there is nothing to divide by. */
double report_ratio(double a, double b);

#endif
