/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures: numbers as people read them, grouped and with units, or plain.
 * Each writes into a buffer of FIGURE_TEXT bytes and returns it.
 */
#ifndef COMMON_REPORT_FIGURE_H
#define COMMON_REPORT_FIGURE_H

#include "tel/stats.h"

#define FIGURE_TEXT 128

/* The number v in 128 bits. */
tel_int128 figure_int128_of(uint64_t v);
tel_int128 figure_int128_signed(int64_t v);
tel_int128 figure_add(tel_int128 a, tel_int128 b);
/* Below 0, 0 or above as a is to b. */
int figure_compare(tel_int128 a, tel_int128 b);
/* The square root of v, which is not below 0. */
double figure_root(double v);
/* Nonzero when v fits the type; out is then set. */
int figure_fits_i64(tel_int128 v, int64_t *out);

/* 1,234,567, or without commas when raw. */
char *figure_count(tel_int128 v, int raw, char *buffer);

/* The same of a multiple of 10^-decimals: 1,234.5. */
char *figure_decimal(tel_int128 v, unsigned decimals, int raw, char *buffer);

/*
 * A value with its unit, always exact: "12.5 ms" for ns, "65,536 (64 KiB)"
 * for bytes, "1,234 ticks".
 */
char *figure_value(tel_int128 v, const char *unit, int raw, char *buffer);

/*
 * The same as short as an edge of a bucket is: "64 KiB", "12.5 ms", "1000".  v
 * is in units of 10^-decimals; one with decimals is shown without its unit.
 */
char *figure_edge(int64_t v, unsigned decimals, const char *unit, int raw,
    char *buffer);

/*
 * A mark of an axis, short.  The unit of bytes and of nanoseconds suits most,
 * the largest mark, so that all marks have one unit; if most is 0, v itself.
 */
char *figure_mark(double v, double most, const char *unit, int raw,
    char *buffer);

/* v times 10^-decimals, as near as a double can be. */
double figure_scaled(double v, unsigned decimals);

/* A mean or a rate, with at most three decimals. */
char *figure_double(double v, const char *unit, int raw, char *buffer);

/* A number with so many decimals. */
char *figure_fixed(double v, int decimals, int raw, char *buffer);

/* A size for people, "5.5 KiB" or "-5.5 KiB"; "" where it is below 1 KiB. */
char *figure_size(double bytes, char *buffer);

/* The name of a quantile, "p99.9". */
char *figure_quantile(uint32_t billionths, char *buffer);

/* A double so that it reads back, "0.999". */
char *figure_exact(double v, char *buffer);

#endif
