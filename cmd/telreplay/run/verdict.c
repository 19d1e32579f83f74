/* SPDX-License-Identifier: BSD-2-Clause */
/* The test of Mann and Whitney, its interval, and Holm's correction. */
#include "telreplay/run/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of each side, at most. */
#define VALUES_MAX 100

int
verdict_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * For each u up to half of the n * m pairs, the chance that at most u of them
 * have the larger value first, if both sides are alike: the sums of coefficients
 * of a Gaussian binomial, which is built factor by factor.
 */
static const double *
chances_of(size_t n, size_t m)
{
	static double chances[VALUES_MAX * VALUES_MAX / 2 + 1];
	const size_t u = n * m / 2;
	double all = 1, sum = 0;

	memset(chances, 0, (u + 1) * sizeof(*chances));
	chances[0] = 1;
	for (size_t i = 1; i <= m; i++) {
		for (size_t k = u + 1; k-- > n + i;)
			chances[k] -= chances[k - n - i];
		for (size_t k = i; k <= u; k++)
			chances[k] += chances[k - i];
		all *= (double)(n + i) / (double)i;
	}
	for (size_t k = 0; k <= u; k++) {
		sum += chances[k];
		chances[k] = sum / all;
	}
	return chances;
}

/* Pairs in which a is not above the other value times a factor. */
static size_t
pairs_below(const double *ratios, size_t n, double factor)
{
	size_t i = 0;

	while (i < n && ratios[i] <= factor)
		i++;
	return i;
}

/*
 * A time that is net of telreplay's own may be less than nothing, and memory
 * none: such a value is below all others, and not told from another one.
 */
static double
verdict_ratio(double a, double b)
{
	if (b > 0)
		return a > 0 ? a / b : 0;
	return a > 0 ? INFINITY : 1;
}

void
verdict_compare(const double *a, size_t n, const double *b, size_t m,
    unsigned looks, double *room, struct verdict *out)
{
	size_t i, j, k = 0, all = n * m, above, below;

	memset(out, 0, sizeof(*out));
	if (all == 0 || n > VALUES_MAX || m > VALUES_MAX)
		return;
	for (i = 0; i < n; i++)
		for (j = 0; j < m; j++)
			room[i * m + j] = verdict_ratio(a[i], b[j]);
	qsort(room, all, sizeof(*room), verdict_order);
	out->ratio = (room[(all - 1) / 2] + room[all / 2]) / 2;
	if (isinf(out->ratio))
		out->ratio = 0;
	out->known = 1;
	const double *chances = chances_of(n, m);
	while (k < all / 2 && chances[k] <= 0.025 / looks)
		k++;
	if (k > 0 && room[k - 1] > 0 && room[all - k] < INFINITY) {
		out->low = room[k - 1];
		out->high = room[all - k];
		out->equal =
		    out->low > 1 / VERDICT_SAME && out->high < VERDICT_SAME;
	}
	/* few ratios below 1.03, or few above 1 / 1.03 */
	below = pairs_below(room, all, VERDICT_SAME);
	above = all - pairs_below(room, all, 1 / VERDICT_SAME);
	double more = chances[below < all / 2 ? below : all / 2];
	double less = chances[above < all / 2 ? above : all / 2];
	out->p = 2 * (more < less ? more : less);
}

static int
compare_verdicts(const void *a, const void *b)
{
	const struct verdict *const *x = a, *const *y = b;

	return ((*x)->p > (*y)->p) - ((*x)->p < (*y)->p);
}

void
verdict_correct(struct verdict *all, size_t n, unsigned looks)
{
	struct verdict **order = calloc(n + 1, sizeof(*order));
	size_t i, known = 0;
	double p, least = 0;

	for (i = 0; i < n && order != NULL; i++)
		if (all[i].known)
			order[known++] = &all[i];
	if (known > 1)
		qsort(order, known, sizeof(struct verdict *), compare_verdicts);
	for (i = 0; i < known; i++) {
		p = order[i]->p * (double)(known - i) * looks;
		least = p > least ? p : least;
		order[i]->p = least < 1 ? least : 1;
		order[i]->different = least < VERDICT_CHANCE;
	}
	free(order);
}

size_t
verdict_runs(size_t pairs, unsigned looks)
{
	size_t n = 3;

	while (pairs > 0 && n < 20 &&
	    2 * chances_of(n, n)[0] * (double)pairs * looks >= VERDICT_CHANCE)
		n++;
	return n;
}
