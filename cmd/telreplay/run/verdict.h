/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verdict: whether a figure of two allocators differs by more than chance.
 *
 * Runs are compared by the test of Mann and Whitney, whose distribution is
 * exact for so few values; p is that of a ratio within VERDICT_SAME of 1, and
 * Holm's correction keeps the chance of any wrong verdict, of all pairs of
 * allocators, below VERDICT_CHANCE.
 */
#ifndef TELREPLAY_VERDICT_H
#define TELREPLAY_VERDICT_H

#include <stddef.h>

/* Ratios up to this count as equal. */
#define VERDICT_SAME 1.03
#define VERDICT_CHANCE 0.05
/*
 * How often runs of --runs auto are judged at most: to stop as soon as there is
 * a difference finds one by chance the more often, the more often one looks.
 */
#define VERDICT_LOOKS 6

struct verdict {
	int known; /* both have values */
	/* the median of those of all pairs; 0: most of one side are not above 0 */
	double ratio;
	/* its confidence interval, of 95 % for all looks; 0, 0: unknown */
	double low, high;
	double p; /* corrected */
	int different;
	int equal; /* the interval is within VERDICT_SAME of 1 */
};

/* Orders doubles, for qsort(). */
int verdict_order(const void *a, const void *b);

/*
 * Compares n values with m others, most of them above 0, before the correction
 * for other pairs and looks.  looks: at most so many.  room: n * m values.
 */
void verdict_compare(const double *a, size_t n, const double *b, size_t m,
    unsigned looks, double *room, struct verdict *out);
/* Corrects the verdicts of n pairs, and decides them. */
void verdict_correct(struct verdict *all, size_t n, unsigned looks);
/* The least number of runs of each that can decide so many pairs. */
size_t verdict_runs(size_t pairs, unsigned looks);

#endif
