/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Significance: how surprising a difference of two counts, means or
 * distributions is when nothing but chance makes it.  All events are taken as
 * independent of each other.
 */
#ifndef TELSTAT_SIGNIFICANCE_H
#define TELSTAT_SIGNIFICANCE_H

/* Two-sided: at chance of 1 in 100, of 1 in 1000. */
enum significance { NOT_SIGNIFICANT, SIGNIFICANT, VERY_SIGNIFICANT };

/* "", "*" or "**". */
const char *significance_mark(enum significance s);

/*
 * Counts a and b of events that come independently at the same rate, over
 * times (or other exposures) of ratio share : 1 - share: Przyborowski and
 * Wilenski, Biometrika 31 (1940).
 */
enum significance significance_counts(double a, double b, double share);

/* Means, with variances, of na and nb values: Welch, Biometrika 34 (1947). */
enum significance significance_means(double a, double variance_a, double na,
    double b, double variance_b, double nb);

/*
 * Shares a of na and b of nb values that lie below one value, such as a
 * quantile of both together: the quantile test of Mood (1954), for many values.
 */
enum significance significance_shares(double a, double na, double b, double nb);

/*
 * The largest distance of two distribution functions: Smirnov (1948), for many
 * values.  Where buckets hide part of it, less is significant.
 */
enum significance significance_distance(double d, double na, double nb);

#endif
