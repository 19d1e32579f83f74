/* SPDX-License-Identifier: BSD-2-Clause */
/* The axes of pictures: where values are, and the round numbers that mark them. */
#include "common/report/scale.h"
#include "tap.h"

static int
is_near(double is, double want)
{
	double error = is - want;

	return error < 1e-6 && error > -1e-6;
}

static void
test_places(void)
{
	static const struct {
		struct scale s;
		double value, want;
	} rows[] = { { { 0, 10, 100, 200, 0 }, 0, 100 },
		{ { 0, 10, 100, 200, 0 }, 10, 200 },
		{ { 0, 10, 100, 200, 0 }, 2.5, 125 },
		{ { 0, 10, 100, 200, 0 }, 11, 210 },
		{ { -10, 10, 300, 100, 0 }, -10, 300 },
		{ { -10, 10, 300, 100, 0 }, 0, 200 },
		{ { 5, 5, 7, 9, 0 }, 5, 7 }, { { 5, 4, 7, 9, 0 }, 4.5, 7 },
		/* log2(1 + v) */
		{ { 0, 15, 0, 4, 1 }, 0, 0 }, { { 0, 15, 0, 4, 1 }, 1, 1 },
		{ { 0, 15, 0, 4, 1 }, 3, 2 }, { { 0, 15, 0, 4, 1 }, 7, 3 },
		{ { 0, 15, 0, 4, 1 }, 15, 4 },
		{ { 0, 15, 0, 4, 1 }, 2, 1.5849625007 },
		{ { 0, 15, 0, 4, 1 }, 4, 2.3219280949 },
		{ { -7, 7, 0, 6, 1 }, -7, 0 }, { { -7, 7, 0, 6, 1 }, -1, 2 },
		{ { -7, 7, 0, 6, 1 }, 0, 3 }, { { -7, 7, 0, 6, 1 }, 3, 5 },
		{ { 0, 0x1p40, 0, 40, 1 }, 0x1p39, 39 } };
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double at = scale_at(&rows[i].s, rows[i].value);

		ok(is_near(at, rows[i].want), "row %zu: %.9g is at %.9g", i,
		    rows[i].value, at);
	}
}

/* The marks of an axis, as text, in their order on it. */
static const char *
marks(double lo, double hi, int log, const char *unit, unsigned most)
{
	static char text[512];
	struct scale s = { lo, hi, 0, 1, log };
	struct ticks ticks;
	size_t used = 0;
	unsigned i;

	scale_ticks(&s, unit, most, &ticks);
	scale_sort(&ticks);
	text[0] = '\0';
	for (i = 0; i < ticks.n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "%s%.9g", i > 0 ? " " : "", ticks.at[i]);
	(void)snprintf(text + used, sizeof(text) - used, " | %.9g",
	    scale_max(&s, &ticks));
	return text;
}

static void
test_marks(void)
{
	static const struct {
		double lo, hi;
		int log;
		const char *unit;
		unsigned most;
		const char *want;
	} rows[] = { { 0, 10, 0, "", 5, "0 2 4 6 8 10 | 10" },
		{ 0, 10, 0, "", 2, "0 5 10 | 10" },
		{ 0, 10, 0, "", 10, "0 1 2 3 4 5 6 7 8 9 10 | 10" },
		{ 0, 11, 0, "", 10, "0 2 4 6 8 10 | 10" },
		{ 0, 1, 0, "", 5, "0 0.2 0.4 0.6 0.8 1 | 1" },
		{ 0, 0.003, 0, "", 3, "0 0.001 0.002 0.003 | 0.003" },
		{ 0, 5100, 0, "", 5, "0 2000 4000 | 4000" },
		{ 0, 5000, 0, "", 5, "0 1000 2000 3000 4000 5000 | 5000" },
		{ 0, 1000, 0, "bytes", 4, "0 256 512 768 | 768" },
		{ 0, 1024, 0, "bytes", 4, "0 256 512 768 1024 | 1024" },
		{ 0, 1, 0, "bytes", 4, "0 1 | 1" },
		{ -10, 5, 0, "", 3, "-10 -5 0 5 | 10" },
		{ 3, 18, 0, "", 5, "5 10 15 | 15" },
		{ -18, -3, 0, "", 5, "-15 -10 -5 | 15" },
		{ 15, 30, 0, "", 3, "15 20 25 30 | 30" },
		{ 0, 1000, 1, "", 5, "0 1 10 100 1000 | 0" },
		{ 0, 999, 1, "", 5, "0 1 10 100 | 0" },
		{ 0, 1000, 1, "", 4, "0 1 10 100 1000 | 0" },
		{ 0, 1000, 1, "", 3, "0 1 100 | 0" },
		{ -100, 10, 1, "", 8, "-100 -10 -1 0 1 10 | 0" },
		{ 8, 64, 1, "bytes", 5, "8 16 32 64 | 0" },
		{ 8, 64, 1, "bytes", 4, "8 16 32 64 | 0" },
		{ 8, 64, 1, "bytes", 3, "16 64 | 0" },
		/* no power, or one alone */
		{ 2, 9, 1, "", 4, "2 4 6 8 | 0" },
		{ 20, 180, 1, "", 4, "50 100 150 | 0" } };
	struct scale s = { 0, 1e6, 0, 1, 0 };
	struct ticks ticks;
	unsigned i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(marks(rows[i].lo, rows[i].hi, rows[i].log, rows[i].unit,
		           rows[i].most),
		    rows[i].want, "row %u: %g to %g", i, rows[i].lo,
		    rows[i].hi);
	/* never more than there is room for, as a picture asks for it or not */
	scale_ticks(&s, "", 100, &ticks);
	ok(ticks.n == TICKS_MAX, "room for marks");
	s.log = 1;
	s.hi = 1e19;
	scale_ticks(&s, "", 100, &ticks);
	ok(ticks.n == TICKS_MAX, "the same, by powers");
}

int
main(void)
{
	test_places();
	test_marks();
	return done();
}
