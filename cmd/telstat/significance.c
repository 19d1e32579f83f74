/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of significance, by critical values of two levels. */
#include "significance.h"

/* Of the normal distribution, two-sided. */
static const double normal[] = { 2.5758293, 3.2905267 };
static const double chances[] = { 0.01, 0.001 };
/* Fewer counts than these are tested exactly. */
#define FEW 200

const char *
significance_mark(enum significance s)
{
	static const char *const marks[] = { "", "*", "**" };

	return marks[s];
}

/* By the square of a number that is normally distributed. */
static enum significance
of_square(double square)
{
	if (square > normal[1] * normal[1])
		return VERY_SIGNIFICANT;
	return square > normal[0] * normal[0] ? SIGNIFICANT : NOT_SIGNIFICANT;
}

/* The chance of at least k successes of n, each of chance p. */
static double
tail(unsigned k, unsigned n, double p)
{
	double term = 1, sum = 0;

	/* from 0 successes on; with n and p as here it does not underflow */
	for (unsigned i = 0; i < n; i++)
		term *= 1 - p;
	for (unsigned i = 0; i <= n; i++) {
		if (i >= k)
			sum += term;
		term *= p / (1 - p) * (n - i) / (i + 1);
	}
	return sum;
}

enum significance
significance_counts(double a, double b, double share)
{
	double n = a + b, expected = n * share, off, chance;

	if (n < 1 || share <= 0 || share >= 1)
		return NOT_SIGNIFICANT;
	if (n >= FEW || share < 0.05 || share > 0.95) {
		/* half a count less, as counts are whole */
		off = a > expected ? a - expected : expected - a;
		off = off > 0.5 ? off - 0.5 : 0;
		return of_square(off * off / (expected * (1 - share)));
	}
	chance = a > expected ? tail((unsigned)a, (unsigned)n, share) :
	                        tail((unsigned)b, (unsigned)n, 1 - share);
	chance *= 2;
	return chance < chances[1] ? VERY_SIGNIFICANT :
	    chance < chances[0]    ? SIGNIFICANT :
	                             NOT_SIGNIFICANT;
}

/* Critical values of Student's t, from those of z: Fisher and Cornish. */
static double
student(double z, double df)
{
	double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	return z + (z3 + z) / (4 * df) +
	    (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
	    (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df);
}

enum significance
significance_means(double a, double variance_a, double na, double b,
    double variance_b, double nb)
{
	double va, vb, square, df, t;

	if (na < 5 || nb < 5)
		return NOT_SIGNIFICANT;
	/* the variance of a mean, estimated from n values */
	va = variance_a / (na - 1);
	vb = variance_b / (nb - 1);
	if (va + vb <= 0)
		return a == b ? NOT_SIGNIFICANT : VERY_SIGNIFICANT;
	square = (a - b) * (a - b) / (va + vb);
	df = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
	for (int i = 1; i >= 0; i--) {
		t = student(normal[i], df);
		if (square > t * t)
			return i > 0 ? VERY_SIGNIFICANT : SIGNIFICANT;
	}
	return NOT_SIGNIFICANT;
}

enum significance
significance_shares(double a, double na, double b, double nb)
{
	if (na < 20 || nb < 20)
		return NOT_SIGNIFICANT;
	double share = (a + b) / (na + nb);
	double variance = share * (1 - share) * (1 / na + 1 / nb);
	double off = a / na - b / nb;
	return variance > 0 ? of_square(off * off / variance) : NOT_SIGNIFICANT;
}

enum significance
significance_distance(double d, double na, double nb)
{
	static const double critical[] = { 1.6276, 1.9495 };

	if (na < 20 || nb < 20)
		return NOT_SIGNIFICANT;
	double square = d * d * na * nb / (na + nb);
	if (square > critical[1] * critical[1])
		return VERY_SIGNIFICANT;
	return square > critical[0] * critical[0] ? SIGNIFICANT :
	                                            NOT_SIGNIFICANT;
}
