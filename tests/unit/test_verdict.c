/* SPDX-License-Identifier: BSD-2-Clause */
/* Verdicts: chances that are known, intervals, and Holm's correction. */
#include "tap.h"
#include "telreplay/run/verdict.h"

static double room[10000];

/* n values from first on, step apart, against as many others. */
static struct verdict
compare(double a, double b, double step, size_t n)
{
	double x[100], y[100];
	struct verdict v;
	size_t i;

	for (i = 0; i < n; i++) {
		x[i] = a + step * (double)i;
		y[i] = b + step * (double)i;
	}
	verdict_compare(x, n, y, n, 1, room, &v);
	return v;
}

static int
is_near(double is, double want)
{
	return is > want * 0.999999 && is < want * 1.000001;
}

#define LOOKED_AT 1000

/*
 * Of so many comparisons of values that vary by a factor of up to 2, those with a
 * difference at one of the looks.
 */
static unsigned
looked_at(unsigned looks)
{
	double x[80], y[80];
	uint64_t seed = 1;
	unsigned wrong = 0, k;
	struct verdict v;
	size_t i, n;

	for (k = 0; k < LOOKED_AT; k++) {
		for (i = 0; i < 80; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			x[i] = 1 + (double)(seed >> 48) / 65536;
			seed = seed * UINT64_C(6364136223846793005) + 1;
			y[i] = 1 + (double)(seed >> 48) / 65536;
		}
		v.different = 0;
		for (n = verdict_runs(1, looks); n <= 80 && !v.different;
		     n *= 2) {
			verdict_compare(x, n, y, n, looks, room, &v);
			verdict_correct(&v, 1, looks);
		}
		wrong += v.different != 0;
	}
	return wrong;
}

int
main(void)
{
	struct verdict v = compare(200, 100, 1, 5), all[3];

	ok(is_near(v.p, 2.0 / 252) && v.known,
	    "five values above five others: twice 1 in 252");
	ok(is_near(v.ratio, 202.0 / 102) && v.low < v.ratio &&
	        v.low > 200.0 / 104 && v.high > v.ratio,
	    "the ratio is in its interval");
	v = compare(100, 200, 1, 4);
	ok(is_near(v.p, 2.0 / 70) && v.ratio < 1,
	    "four, of which all are less");
	v = compare(100, 200, 1, 3);
	ok(is_near(v.p, 2.0 / 20) && !v.equal && v.low == 0,
	    "three cannot differ, and have no interval");
	v = compare(102, 100, 0.001, 10);
	ok(v.p > 0.99 && v.equal, "a ratio of 1.02 counts as equal");
	v = compare(104, 100, 0.001, 10);
	ok(v.p < 1e-4 && !v.equal, "one of 1.04 does not");
	v = compare(100, 70, 20, 4);
	ok(v.p > 0.05 && v.ratio > 1.1 && !v.equal,
	    "with few runs that differ a lot, neither is shown");
	v = compare(100, 104, 0.001, 10);
	ok(v.p < 1e-4, "nor its inverse");
	v = compare(100, 100, 1, 100);
	ok(v.p > 0.5 && v.low <= 1 && v.high >= 1, "a hundred that are equal");
	v = compare(-2, 100, 1, 4);
	ok(v.known && v.ratio == 0 && is_near(v.p, 2.0 / 70),
	    "values of which most are nothing are less, but have no ratio");
	v = compare(100, -2, 1, 4);
	ok(v.known && v.ratio == 0 && is_near(v.p, 2.0 / 70),
	    "nor have those that are compared with them");
	v = compare(-0.5, 100, 1, 5);
	ok(v.known && is_near(v.p, 2.0 / 252) && v.low == 0,
	    "less than nothing is less, too, and the interval has no end");
	v = compare(130, 100, 0.1, 100);
	ok(v.p < 1e-50 && v.p > 0, "and that are not");
	is_u64(verdict_runs(0, 1), 3, "runs of one allocator");
	is_u64(verdict_runs(1, 1), 4, "of two");
	is_u64(verdict_runs(6, 1), 5, "of four");
	is_u64(verdict_runs(45, 1), 7, "of ten");
	is_u64(verdict_runs(1, VERDICT_LOOKS), 5, "of two, by several looks");

	all[0] = compare(200, 100, 1, 5);
	all[1] = compare(100, 100, 1, 5);
	all[2] = compare(250, 100, 1, 4);
	verdict_correct(all, 3, 1);
	ok(is_near(all[0].p, 3 * 2.0 / 252) && all[0].different,
	    "the least p is taken three times");
	ok(is_near(all[2].p, 2 * 2.0 / 70) && !all[2].different,
	    "the next one twice, which is too much");
	ok(all[1].p > 0.05 && all[1].p <= 1 && !all[1].different,
	    "and the last one once");
	ok(looked_at(1) > LOOKED_AT / 20,
	    "who stops at any difference finds too many");
	ok(looked_at(VERDICT_LOOKS) <= LOOKED_AT / 20,
	    "but no more than 1 in 20 by the correction");
	return done();
}
