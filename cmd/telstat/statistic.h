/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistic: what the outputs ask of one, and its section of the report. */
#ifndef TELSTAT_STATISTIC_H
#define TELSTAT_STATISTIC_H

#include "show.h"

/* A number, or 0 when it is not defined. */
tel_int128 statistic_number(const tel_stat *stat, tel_number which);
/* Nonzero when it is defined. */
int statistic_defined(const tel_stat *stat, tel_number which);
/* Nonzero when it is defined and not 0. */
int statistic_nonzero(const tel_stat *stat, tel_number which);
/*
 * The sum over the number of updates, pairs or weight.  1 with *out set, or 0
 * when there is none.
 */
int statistic_mean(const tel_stat *stat, double *out);

/*
 * The number that a statistic without buckets is about, in the unit of its
 * values: the one that its class is called by, or the mean.  Returns 0 when it
 * has none yet.
 */
int statistic_figure(const tel_stat *stat, double *out);
/* What it is: "count", "maximum". */
const char *statistic_figure_name(const tel_stat *stat);
/* Its unit, which a count does not have. */
const char *statistic_figure_unit(const tel_stat *stat);
/* The square root of v; 0 of one that is not above 0. */
double statistic_root(double v);
/* The class has buckets, whether it has any now or not. */
int statistic_has_buckets(const tel_stat *stat);

/* A rate over the time of the moment, in the unit of --rate; 0 if unknown. */
double statistic_rate(const struct show *show, double amount);

/*
 * Puts its section into the report.  apart: after a blank line of text; axes:
 * those that pictures of all groups share, or NULL.
 */
void statistic_put(struct report *r, const struct show *show,
    const tel_stat *stat, int apart, const struct report_axes *axes);
/* Its group as text, good until the section is put; "" without one. */
const char *statistic_group(struct report *r, const tel_stat *stat);

/*
 * The weight of its updates, or how many there are; with sums, the total where
 * that only grows.
 */
double statistic_counted(const tel_stat *stat, int sums);
/* The quantiles that are shown: those asked for, or the usual ones. */
const uint32_t *statistic_quantiles(const struct telstat *t, unsigned *n);
/* A value of a group or a key as text, to be freed; NULL: no memory. */
char *statistic_text(const tel_value *v);
/* The title of an axis: "minimum (bytes)". */
const char *statistic_title(struct report *r, const char *what,
    const char *unit);

/* The name of a value shown beside the largest ones, by its number. */
const char *statistic_shown(unsigned i);

#endif
