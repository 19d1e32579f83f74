/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which clocks a filter leaves: those of all events that it matches.  And what
 * is known of an expression when the bounds of its fields are: a range that is
 * too wide is right, but costs the blocks that it does not skip.
 */
#include "model/clock.h"
#include "model/event.h"
#include "model/schema.h"
#include "query/range.h"
#include "reader/reader.h"
#include "tap.h"
#include "tel.h"

static struct tel_log log_of_events;

/* What the filter says of a range; event: NULL or any. */
static void
check(const char *time, const tel_event *ev, int want, uint64_t first,
    uint64_t last)
{
	tel_filter *f = tel_filter_new();
	uint64_t from = 1, to = 2;
	int got;

	if (f == NULL || tel_filter_set_time(f, time) != TEL_OK) {
		ok(0, "%s can be set", time);
		return;
	}
	got = tel_filter_clocks(f, ev, &from, &to);
	ok(got == want && (!want || (from == first && to == last)),
	    "%s%s: %d, %" PRIx64 " to %" PRIx64, time,
	    ev != NULL ? " from an event on" : "", got, from, to);
	tel_filter_set_invert(f, 1);
	ok(!tel_filter_clocks(f, ev, &from, &to), "all but these: no range");
	tel_filter_free(f);
}

static int
is_order(enum value_op op, const struct value *a, const struct value *b)
{
	return tel__value_compare(op, a, b, 0) == TRIBOOL_TRUE;
}

/* What an operator makes of each two numbers of ranges. */
struct results {
	struct value lo, hi;
	int any, missing;
};

static struct results
all_results(enum value_op op, const uint64_t *end)
{
	struct results all = { { V_MISSING, { 0 }, 0 }, { V_MISSING, { 0 }, 0 },
		0, 0 };
	uint64_t x, y;

	for (x = end[0]; x <= end[1]; x++) {
		for (y = end[2]; y <= end[3]; y++) {
			const struct value a = value_natural(x);
			const struct value b = value_natural(y);
			const struct value v =
			    tel__value_arithmetic(op, &a, &b);

			if (v.tag == V_MISSING) {
				all.missing = 1;
				continue;
			}
			if (!all.any || is_order(OPR_LT, &v, &all.lo))
				all.lo = v;
			if (!all.any || is_order(OPR_GT, &v, &all.hi))
				all.hi = v;
			all.any = 1;
		}
	}
	return all;
}

#define RANGES 21 /* of the numbers 0 to 5 */

/* The ends of two ranges; i: below RANGES * RANGES. */
static void
set_ends(unsigned i, uint64_t *end)
{
	static const unsigned char ends[RANGES][2] = { { 0, 0 }, { 0, 1 },
		{ 0, 2 }, { 0, 3 }, { 0, 4 }, { 0, 5 }, { 1, 1 }, { 1, 2 },
		{ 1, 3 }, { 1, 4 }, { 1, 5 }, { 2, 2 }, { 2, 3 }, { 2, 4 },
		{ 2, 5 }, { 3, 3 }, { 3, 4 }, { 3, 5 }, { 4, 4 }, { 4, 5 },
		{ 5, 5 } };

	end[0] = ends[i / RANGES][0];
	end[1] = ends[i / RANGES][1];
	end[2] = ends[i % RANGES][0];
	end[3] = ends[i % RANGES][1];
}

/* Of small ranges the result is known, and how often it is the least. */
static void
test_arithmetic(void)
{
	static const struct {
		enum value_op op;
		unsigned known, exact;
	} want[] = { { OPR_ADD, 441, 441 }, { OPR_SUB, 441, 441 },
		{ OPR_MUL, 441, 441 }, { OPR_DIV, 315, 315 },
		{ OPR_MOD, 315, 280 }, { OPR_AND, 441, 385 },
		{ OPR_SHR, 441, 441 } };
	unsigned i, k, known, exact, bad;
	struct range a, b, r;
	struct results all;
	uint64_t end[4];

	for (k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
		known = exact = bad = 0;
		for (i = 0; i < RANGES * RANGES; i++) {
			set_ends(i, end);
			a = range_naturals(end[0], end[1]);
			b = range_naturals(end[2], end[3]);
			r = tel__range_arithmetic(want[k].op, &a, &b);
			all = all_results(want[k].op, end);
			if (!r.known)
				continue;
			known++;
			bad += !all.any || all.missing > r.missing ||
			    is_order(OPR_LT, &all.lo, &r.lo) ||
			    is_order(OPR_GT, &all.hi, &r.hi);
			exact += all.missing == r.missing &&
			    is_order(OPR_EQ, &all.lo, &r.lo) &&
			    is_order(OPR_EQ, &all.hi, &r.hi);
		}
		ok(known == want[k].known && exact >= want[k].exact && bad == 0,
		    "operator %u of ranges: %u known, %u exact, %u wrong",
		    (unsigned)want[k].op, known, exact, bad);
	}
}

/* A comparison may be what it is of any two numbers, and nothing else. */
static void
test_compare(void)
{
	unsigned i, op, truth, wrong = 0;
	struct range a, b;
	uint64_t end[4], x, y;

	for (op = OPR_EQ; op <= OPR_GE; op++) {
		for (i = 0; i < RANGES * RANGES; i++) {
			set_ends(i, end);
			a = range_naturals(end[0], end[1]);
			b = range_naturals(end[2], end[3]);
			truth = 0;
			for (x = end[0]; x <= end[1]; x++) {
				for (y = end[2]; y <= end[3]; y++) {
					const struct value v = value_natural(x);
					const struct value w = value_natural(y);

					truth |= is_order((enum value_op)op, &v,
					             &w) ?
					    MAY_BE_TRUE :
					    MAY_BE_FALSE;
				}
			}
			wrong += tel__range_compare((enum value_op)op, &a,
			             &b) != truth;
			if (op != OPR_EQ || i % RANGES != 0)
				continue;
			truth = (end[0] == 0 ? MAY_BE_FALSE : 0) |
			    (end[1] > 0 ? MAY_BE_TRUE : 0);
			wrong += tel__range_truth(&a) != truth;
		}
	}
	is_u64(wrong, 0, "comparisons of ranges");
	a = range_any();
	b = range_naturals(1, 2);
	is_u64(tel__range_compare(OPR_LT, &a, &b), MAY_BE_ANY,
	    "a comparison with what is not known");
	is_u64(tel__range_truth(&a), MAY_BE_ANY, "the truth of it");
	for (truth = 0; truth < 8; truth++) {
		a = tel__range_verdict(truth);
		wrong += (tel__range_truth(&a) & truth) != truth;
	}
	is_u64(wrong, 0, "truth values as ranges");
}

/* The range of a field with bounds; "": anything. */
static void
check_field(tel_datatype datatype, unsigned width, uint64_t low, uint64_t high,
    const char *want)
{
	const struct tel_bound bound = { 1, low, high },
	                       none = { 0, low, high };
	struct tel_field f;
	struct range r;
	char text[64] = "";

	memset(&f, 0, sizeof(f));
	f.datatype = datatype;
	f.width = (uint8_t)width;
	r = tel__range_field(&f, &bound);
	if (r.known && r.lo.tag == V_DOUBLE)
		snprintf(text, sizeof(text), "%g %g", r.lo.as.d, r.hi.as.d);
	else if (r.known)
		snprintf(text, sizeof(text), "%lld %lld", (long long)r.lo.as.u,
		    (long long)r.hi.as.u);
	ok(strcmp(text, want) == 0 && (r.known ? !r.missing : r.missing),
	    "a field of type %u from %" PRIx64 " to %" PRIx64 ": '%s'",
	    (unsigned)datatype, low, high, text);
	ok(!tel__range_field(&f, &none).known, "the same without bounds");
}

static void
test_fields(void)
{
	check_field(TEL_UNSIGNED, 64, 3, 7, "3 7");
	check_field(TEL_ADDRESS, 64, 3, 3, "3 3");
	check_field(TEL_STRING, 64, 3, 7, "");
	check_field(TEL_SIGNED, 8, 3, 7, "3 7");
	check_field(TEL_SIGNED, 8, 0, 0x7f, "0 127");
	check_field(TEL_SIGNED, 8, 0x80, 0xff, "-128 -1");
	check_field(TEL_SIGNED, 8, 0x7f, 0x80, "");
	check_field(TEL_SIGNED, 8, 0, 0xff, "");
	check_field(TEL_SIGNED, 64, UINT64_MAX - 4, UINT64_MAX, "-5 -1");
	check_field(TEL_DOUBLE, 64, tel_double_bits(0.5), tel_double_bits(2),
	    "0.5 2");
	check_field(TEL_DOUBLE, 64, 0, UINT64_C(0x7ff) << 52, "0 inf");
	check_field(TEL_DOUBLE, 64, 0, (UINT64_C(0x7ff) << 52) + 1, "");
	/* the bits of negative numbers are in reverse */
	check_field(TEL_DOUBLE, 64, tel_double_bits(-0.5), tel_double_bits(-2),
	    "-2 -0.5");
	check_field(TEL_DOUBLE, 64, tel_double_bits(-0.5),
	    UINT64_C(0xfff) << 52, "-inf -0.5");
	check_field(TEL_DOUBLE, 64, tel_double_bits(-0.5),
	    (UINT64_C(0xfff) << 52) + 1, "");
	check_field(TEL_DOUBLE, 64, tel_double_bits(0.5), tel_double_bits(-2),
	    "");
}

int
main(void)
{
	struct tel_event ev;
	tel_filter *f = tel_filter_new();
	uint64_t from, to;

	memset(&ev, 0, sizeof(ev));
	ev.log = &log_of_events;
	log_of_events.clock = tel__clock_new();
	if (log_of_events.clock == NULL || f == NULL)
		return 1;
	tel__clock_set_origin(log_of_events.clock, 1000);
	ok(!tel_filter_clocks(f, &ev, &from, &to), "without a range");
	check("0x10,0x20", NULL, 1, 0x10, 0x20);
	check("0x10,0x20", &ev, 1, 0x10, 0x20);
	check("0000000000000010,", NULL, 1, 0x10, UINT64_MAX);
	check(",0x20", NULL, 1, 0, 0x20);
	check("0x20,0x20", NULL, 1, 0x20, 0x20);
	check(",", &ev, 0, 0, 0);
	check("10,20", NULL, 0, 0, 0);
	check("10,20", &ev, 1, 1010, 1020);
	check("-10,20", &ev, 1, 990, 1020);
	check("-2000,20", &ev, 1, 0, 1020);
	check("10,0x2000", NULL, 1, 0, 0x2000);
	check("10,0x2000", &ev, 1, 1010, 0x2000);
	check("1s,2s", &ev, 0, 0, 0);
	check("1s,0x2000", &ev, 1, 0, 0x2000);
	tel__clock_set_origin(log_of_events.clock, UINT64_MAX - 5);
	check("2,20", &ev, 1, UINT64_MAX - 3, UINT64_MAX);
	tel_filter_set_clock(f, 5, 6);
	ok(tel_filter_clocks(f, NULL, &from, &to) && from == 5 && to == 6,
	    "a range that was set by clocks");
	if (tel_filter_set_expression(f, "dt > 5") != TEL_OK)
		return 1;
	ok(!tel_filter_clocks(f, NULL, &from, &to),
	    "the time since the event before needs that one");
	tel_filter_free(f);
	tel__clock_free(log_of_events.clock);
	test_fields();
	test_arithmetic();
	test_compare();
	return done();
}
