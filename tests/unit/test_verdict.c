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
	verdict_compare(x, n, y, n, room, &v);
	return v;
}

static int
is_near(double is, double want)
{
	return is > want * 0.999999 && is < want * 1.000001;
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
	v = compare(130, 100, 0.1, 100);
	ok(v.p < 1e-50 && v.p > 0, "and that are not");
	is_u64(verdict_runs(0), 3, "runs of one allocator");
	is_u64(verdict_runs(1), 4, "of two");
	is_u64(verdict_runs(6), 5, "of four");
	is_u64(verdict_runs(45), 7, "of ten");

	all[0] = compare(200, 100, 1, 5);
	all[1] = compare(100, 100, 1, 5);
	all[2] = compare(250, 100, 1, 4);
	verdict_correct(all, 3);
	ok(is_near(all[0].p, 3 * 2.0 / 252) && all[0].different,
	    "the least p is taken three times");
	ok(is_near(all[2].p, 2 * 2.0 / 70) && !all[2].different,
	    "the next one twice, which is too much");
	ok(all[1].p > 0.05 && all[1].p <= 1 && !all[1].different,
	    "and the last one once");
	return done();
}
