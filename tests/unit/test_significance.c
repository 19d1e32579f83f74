/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences that are at, or next to, critical values of tables. */
#include "tap.h"
#include "telstat/significance.c"

#define NOT NOT_SIGNIFICANT
#define ONE SIGNIFICANT
#define TWO VERY_SIGNIFICANT

static void
test_counts(void)
{
	static const struct {
		double a, b, share;
		enum significance is;
	} rows[] = {
		/* 2^-6, 2^-7, 2^-9 and 2^-10 */
		{ 0, 7, 0.5, NOT },
		{ 0, 8, 0.5, ONE },
		{ 10, 0, 0.5, ONE },
		{ 11, 0, 0.5, TWO },
		/* 100 heads or tails of 200, and (|a - 100| - 0.5)^2 / 50 */
		{ 118, 82, 0.5, NOT },
		{ 119, 81, 0.5, ONE },
		{ 77, 123, 0.5, ONE },
		{ 76, 124, 0.5, TWO },
		{ 10, 0, 0, NOT },
		{ 10, 0, 1, NOT },
		{ 0, 0, 0.5, NOT },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(significance_counts(rows[i].a, rows[i].b, rows[i].share),
		    rows[i].is, "counts %g and %g of %g", rows[i].a, rows[i].b,
		    rows[i].share);
}

/* Student's t of 4 degrees of freedom is 4.604 and 8.610, of 8 3.355, 5.041. */
static void
test_means(void)
{
	static const struct {
		double by, variance[2], n[2];
		enum significance is;
	} rows[] = {
		{ 4.5, { 4, 0 }, { 5, 5 }, NOT },
		{ 4.7, { 4, 0 }, { 5, 5 }, ONE },
		{ 4.5, { 0, 4 }, { 5, 5 }, NOT },
		{ -4.7, { 0, 4 }, { 5, 5 }, ONE },
		{ 8, { 4, 0 }, { 5, 5 }, ONE },
		{ 9, { 4, 0 }, { 5, 5 }, TWO },
		{ 3.3, { 2, 2 }, { 5, 5 }, NOT },
		{ 3.4, { 2, 2 }, { 5, 5 }, ONE },
		{ 5, { 2, 2 }, { 5, 5 }, ONE },
		{ 5.1, { 2, 2 }, { 5, 5 }, TWO },
		{ 100, { 4, 4 }, { 4, 5 }, NOT },
		{ 100, { 4, 4 }, { 5, 4 }, NOT },
		{ 0, { 0, 0 }, { 5, 5 }, NOT },
		{ 1, { 0, 0 }, { 5, 5 }, TWO },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_u64(significance_means(rows[i].by, rows[i].variance[0],
		           rows[i].n[0], 0, rows[i].variance[1], rows[i].n[1]),
		    rows[i].is, "means that differ by %g (%u)", rows[i].by, i);
}

static void
test_shares(void)
{
	is_u64(significance_shares(0, 20, 20, 20), TWO, "none and all of 20");
	is_u64(significance_shares(0, 19, 20, 20), NOT, "of less than 20");
	is_u64(significance_shares(0, 20, 19, 19), NOT, "of less than 20");
	is_u64(significance_shares(0, 20, 0, 20), NOT, "none of either");
	/* 100 / (400 / 4): 2.57 and 2.58, 3.28 and 3.30 standard deviations */
	is_u64(significance_shares(10000 - 182, 20000, 10000 + 75, 20000), NOT,
	    "2.57 deviations");
	is_u64(significance_shares(10000 - 182, 20000, 10000 + 76, 20000), ONE,
	    "2.58 deviations");
	is_u64(significance_shares(10000 - 250, 20000, 10000 + 78, 20000), ONE,
	    "3.28 deviations");
	is_u64(significance_shares(10000 - 250, 20000, 10000 + 80, 20000), TWO,
	    "3.30 deviations");
	is_u64(significance_distance(1, 20, 20), TWO, "all of a distribution");
	is_u64(significance_distance(1, 19, 20), NOT, "of less than 20");
	is_u64(significance_distance(1, 20, 19), NOT, "of less than 20");
	/* of 200 and 200 values the square root of n m / (n + m) is 10 */
	is_u64(significance_distance(0.162, 200, 200), NOT, "0.162");
	is_u64(significance_distance(0.163, 200, 200), ONE, "0.163");
	is_u64(significance_distance(0.194, 200, 200), ONE, "0.194");
	is_u64(significance_distance(0.196, 200, 200), TWO, "0.196");
}

int
main(void)
{
	test_counts();
	test_means();
	test_shares();
	return done();
}
