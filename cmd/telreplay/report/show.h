/* SPDX-License-Identifier: BSD-2-Clause */
/* Show: the results of telreplay, as a report. */
#ifndef TELREPLAY_SHOW_H
#define TELREPLAY_SHOW_H

#include "common/report/report.h"
#include "telreplay/run/benchmark.h"

struct show {
	const struct telreplay *telreplay;
	const struct facts *facts;
	const struct benchmark *benchmark; /* NULL: nothing was run */
};

/* The output format of a name; NULL if unknown. */
const struct report_format *show_format(const char *name);

/* Writes the report to where the options say. */
void show_report(const struct show *show);

/* The parts of it: the contents of the trace, ... */
void show_trace(struct report *r, const struct show *show);
/* ... what its blocks would take with other size classes, ... */
void show_what_if(struct report *r, const struct show *show);
/* ... the comparison of the allocators in one table, ... */
void show_comparison(struct report *r, const struct show *show);
/* ... which library serves malloc in each, and its settings, ... */
void show_allocators(struct report *r, const struct show *show);
/* ... the machine, and how it was used, ... */
void show_machine(struct report *r, const struct show *show);
/* ... the allocators in common tables, for text, ... */
void show_compared(struct report *r, const struct show *show);
/* ... each of them, for csv and json, ... */
void show_allocator(struct report *r, const struct show *show,
    const struct result *s);
/* ... and the memory of all of them over the run. */
void show_curves(struct report *r, const struct show *show);
void show_chart(struct report *r, const struct show *show);

/* Some of the allocators: for programs one, in text all of them together. */
struct some {
	const struct show *show;
	const struct result *results;
	size_t n;
};

/* Their memory in tables, ... */
void show_memory(struct report *r, const struct some *some);
/* ... the rows of one that csv and json alone have, ... */
void show_memory_rows(struct report *r, const struct show *show,
    const struct result *s);
/* ... and a picture of resident pages by size. */
void show_size_bars(struct report *r, const struct show *show);

/* Starts a table of them; that of one has its name for programs. */
struct report_section *show_table(struct report *r, unsigned to,
    const char *type, const struct some *some, const char *title);
/* Starts a row of it. */
void show_row(struct report *r, unsigned to, const struct result *s);

/* Columns of text beside each other, one for each of n allocators. */
void show_beside(struct report *r, const struct result *results, size_t n,
    enum report_notation notation);

/* A section of text, set apart and indented.  title: or NULL. */
struct report_section *show_section(struct report *r, unsigned to,
    const char *type, const char *title);
/* Starts a section for programs: number i of an allocator's, or of all. */
struct report_section *show_item(struct report *r, const char *type,
    const struct result *s, uint64_t i);

/* The range of element i of a histogram of sizes. */
const char *show_range(struct report *r, size_t i);
/* The order of the trace, in a word. */
const char *show_order(const struct facts *f);

/* A number, or unknown if it is NaN. */
struct report_value show_real(double v);
/* Cells of such numbers. */
void show_cells(struct report *r, const double *values, size_t n);
/* REPORT_TEXT if --details has one of the sections; 0 if not. */
unsigned show_text(const struct show *show, unsigned sections);

/* A ratio; 0 when there is nothing to divide by. */
double show_ratio(double a, double b);

#endif
