/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures: numbers as people read them, grouped and with units, or plain.
 * Each writes into a buffer of FORMAT_TEXT bytes and returns it.
 */
#ifndef COMMON_REPORT_FORMAT_NUMBER_H
#define COMMON_REPORT_FORMAT_NUMBER_H

#include "base/int128.h"
#include "tel/stats.h"

#define FORMAT_TEXT 128

/* 1,234,567, or without commas when raw. */
char *format_count(tel_int128 v, int raw, char *buffer);

/* The same of a multiple of 10^-decimals, with all of them: 1234.50. */
char *format_digits(tel_int128 v, unsigned decimals, char *buffer);

/* The same without zeros at the end: 1,234.5. */
char *format_decimal(tel_int128 v, unsigned decimals, int raw, char *buffer);

/*
 * A value with its unit, always exact: "12.5 ms" for ns, "65,536 (64 KiB)"
 * for bytes, "1,234 ticks".
 */
char *format_value(tel_int128 v, const char *unit, int raw, char *buffer);

/*
 * The same as short as an edge of a bucket is: "64 KiB", "12.5 ms", "1000".  v
 * is in units of 10^-decimals; one with decimals is shown without its unit.
 */
char *format_edge(int64_t v, unsigned decimals, const char *unit, int raw,
    char *buffer);

/*
 * A mark of an axis, short.  The unit of bytes and of nanoseconds suits most,
 * the largest mark, so that all marks have one unit; if most is 0, v itself.
 */
char *format_mark(double v, double most, const char *unit, int raw,
    char *buffer);

/* v times 10^-decimals, as near as a double can be. */
double format_scaled(double v, unsigned decimals);

/* A mean or a rate: three decimals, or three digits where they are below 0.01. */
char *format_double(double v, const char *unit, int raw, char *buffer);

/* A number with so many decimals. */
char *format_fixed(double v, int decimals, int raw, char *buffer);

/* A size for people, "5.5 KiB" or "-5.5 KiB"; "" where it is below 1 KiB. */
char *format_size(double bytes, char *buffer);

/* The name of a quantile, "p99.9". */
char *format_quantile(uint32_t billionths, char *buffer);

/* A double so that it reads back, "0.999". */
char *format_exact(double v, char *buffer);

#endif
