/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Row: what the forms "csv" and "json" are made of.  JSON has an object for a
 * row; CSV a line for a figure.
 */
#ifndef TELREPLAY_REPORT_ROW_H
#define TELREPLAY_REPORT_ROW_H

#include "report.h"

/* A row in the making. */
struct row {
	tel_output *out;
	int json;
	const char *allocator, *type, *item;
};

struct row row_open(const struct report *r, const char *type,
    const char *allocator, const char *item);
void row_close(const struct row *row);

/* Figures; a string that is empty is left out. */
void row_integer(const struct row *row, const char *name, uint64_t v);
void row_real(const struct row *row, const char *name, double v);
void row_string(const struct row *row, const char *name, const char *text);

#endif
