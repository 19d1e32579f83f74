/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each class of statistic makes of given values: tables of vectors, and
 * short inst streams.
 */
#include "stat_log.h"

#define UNDER (-1)
#define OVER (-2)

struct vector {
	const char *spec;
	uint32_t buckets;
	/* value and bucket, up to a bucket of END */
	int64_t pairs[20][2];
};

#define END INT64_MIN

static const struct vector vectors[] = {
	{ "h=hist(x,40,256,4)", 54,
	    { { 39, UNDER }, { 40, 0 }, { 43, 0 }, { 44, 1 }, { 255, 53 },
	        { 256, OVER }, { 0, END } } },
	{ "h=hist(x,256,10240,64)", 156,
	    { { 255, UNDER }, { 256, 0 }, { 319, 0 }, { 320, 1 },
	        { 10239, 155 }, { 10240, OVER }, { 0, END } } },
	{ "h=split(x,0,512,16384,262144,16384)", 47,
	    { { -1, UNDER }, { 0, 0 }, { 511, 0 }, { 512, 1 }, { 16383, 31 },
	        { 16384, 32 }, { 32767, 32 }, { 32768, 33 }, { 262143, 46 },
	        { 262144, OVER }, { 0, END } } },
	{ "h=hist(x,-40,40,10)", 8,
	    { { -41, UNDER }, { -40, 0 }, { -31, 0 }, { -30, 1 }, { -1, 3 },
	        { 0, 4 }, { 9, 4 }, { 10, 5 }, { 39, 7 }, { 40, OVER },
	        { 0, END } } },
	{ "h=hist(x,0,10,3)", 4,
	    { { 0, 0 }, { 2, 0 }, { 3, 1 }, { 8, 2 }, { 9, 3 }, { 10, OVER },
	        { 0, END } } },
	{ "h=split(x,0,3,10,20,4)", 7,
	    { { 9, 3 }, { 10, 4 }, { 13, 4 }, { 14, 5 }, { 18, 6 }, { 19, 6 },
	        { 20, OVER }, { 0, END } } },
	{ "h=hist(x,-2147483648,2147483647,1073741824)", 4,
	    { { INT32_MIN, 0 }, { -1073741825, 0 }, { -1073741824, 1 },
	        { -1, 1 }, { 0, 2 }, { 1073741824, 3 }, { INT32_MAX - 1, 3 },
	        { INT32_MAX, OVER }, { 0, END } } },
	/* bounds of 64 bits: the range is wider than an int64_t */
	{ "h=hist(x,-9223372036854775808,9223372036854775807,"
	  "4611686018427387904)",
	    4,
	    { { INT64_MIN, 0 }, { -1, 1 }, { 0, 2 }, { INT64_MAX - 1, 3 },
	        { INT64_MAX, OVER }, { 0, END } } },
};

/* Counted as llquantize() does: 0 is under, the last one over. */
static const struct vector loglins[] = {
	{ "h=loglin(x,10,0,6,20)", 117,
	    { { 0, 0 }, { 1, 1 }, { 9, 9 }, { 10, 10 }, { 14, 10 }, { 15, 11 },
	        { 95, 27 }, { 99, 27 }, { 100, 28 }, { 150, 29 }, { 999, 45 },
	        { 1000, 46 }, { 1500, 47 }, { 9999999, 117 }, { 10000000, 118 },
	        { 0, END } } },
	{ "h=loglin(x,10,0,2,10)", 27,
	    { { 0, 0 }, { 9, 9 }, { 10, 10 }, { 20, 11 }, { 99, 18 },
	        { 100, 19 }, { 999, 27 }, { 1000, 28 }, { 5000, 28 },
	        { 0, END } } },
};

static void
test_vector(const struct vector *v, int loglin)
{
	struct trouble trouble = { NULL, 0, "" };
	struct spec spec;
	int64_t at, want;
	unsigned i;

	if (!ok(tel__spec_parse(v->spec, &spec, &trouble) == TEL_OK, "%s",
	        v->spec)) {
		diag("%s", trouble.message);
		return;
	}
	is_u64(spec.layout.count, v->buckets, "%s: buckets", v->spec);
	for (i = 0; v->pairs[i][1] != END; i++) {
		at = layout_find(&spec.layout, v->pairs[i][0]);
		want = v->pairs[i][1];
		if (loglin)
			at++;
		else if (want == OVER)
			want = v->buckets;
		is_u64((uint64_t)at, (uint64_t)want, "%s: %" PRId64, v->spec,
		    v->pairs[i][0]);
	}
	tel__spec_clear(&spec);
	free(trouble.text);
}

/* A row of quantize() is named after the value next to 0. */
static void
test_quantize(void)
{
	static const int64_t rows[][2] = { { -5, -4 }, { -4, -4 }, { -1, -1 },
		{ 0, 0 }, { 1, 1 }, { 3, 2 }, { 4, 4 }, { 7, 4 }, { 8, 8 } };
	struct trouble trouble = { NULL, 0, "" };
	struct spec spec;
	tel_bucket b;
	size_t i;

	must_ok(tel__spec_parse("q=log2(x)", &spec, &trouble));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tel__layout_edges(&spec.layout,
		    (uint32_t)layout_find(&spec.layout, rows[i][0]), &b);
		is_u64((uint64_t)(rows[i][0] < 0 ? b.hi - 1 : b.lo),
		    (uint64_t)rows[i][1], "log2: the row of %" PRId64,
		    rows[i][0]);
	}
	tel__spec_clear(&spec);
}

/* Each value lies between the edges of its bucket, and buckets touch. */
static void
test_edges(const char *text)
{
	static const int64_t values[] = { INT64_MIN, INT64_MIN + 1, -1025,
		-1024, -1023, -33, -32, -31, -2, -1, 0, 1, 2, 3, 31, 32, 33, 63,
		64, 1023, 1024, 1025, (int64_t)1 << 40, INT64_MAX / 2,
		INT64_MAX / 2 + 1, INT64_MAX - 1, INT64_MAX };
	struct trouble trouble = { NULL, 0, "" };
	int64_t at, last = INT64_MIN;
	uint32_t i, wrong = 0;
	struct spec spec;
	tel_bucket b;

	must_ok(tel__spec_parse(text, &spec, &trouble));
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		at = layout_find(&spec.layout, values[i]);
		if (at < 0 || at >= spec.layout.count)
			continue;
		tel__layout_edges(&spec.layout, (uint32_t)at, &b);
		if (values[i] < b.lo || (!b.open && values[i] >= b.hi)) {
			wrong++;
			diag("%" PRId64 " in [%" PRId64 ", %" PRId64 ")",
			    values[i], b.lo, b.hi);
		}
	}
	is_u64(wrong, 0, "%s: values lie in their buckets", text);
	for (i = wrong = 0; i < spec.layout.count; i++) {
		tel__layout_edges(&spec.layout, i, &b);
		if ((i > 0 && b.lo != last) || (!b.open && b.hi <= b.lo) ||
		    layout_find(&spec.layout, b.lo) != i ||
		    (!b.open && layout_find(&spec.layout, b.hi - 1) != i))
			wrong++;
		last = b.hi;
	}
	is_u64(wrong, 0, "%s: buckets touch", text);
	tel__spec_clear(&spec);
}

/* ------------------------------------------------------------ streams */

#define HEAD "0000000000000000 H inst 1 0 0 hz=1000000000\n"
#define T "0000000000000001 "

static tel_stats *
stream(const char *text, tel_status want)
{
	tel_stats *s = must(tel_stats_new());
	tel_status st = read_inst(s, text, strlen(text));

	if (!ok(st == want, "the stream is read: %s", tel_status_text(want)))
		diag("%s: %s", tel_status_text(st), tel_stats_error(s));
	return s;
}

static void
test_mag(void)
{
	tel_stats *s = stream(HEAD T
	    "C id=1 parent=0 type=mag name=m\n" T "U c=1 op=delta v=5\n" T
	    "U c=1 op=abs v=-3\n" T "U c=1 op=delta v=10\n" T "Z\n",
	    TEL_OK);

	is_number(s, 0, TEL_NUMBER_UPDATES, "3", "mag: updates");
	is_number(s, 0, TEL_NUMBER_LAST, "7", "mag: current");
	is_number(s, 0, TEL_NUMBER_MIN, "-3", "mag: min");
	is_number(s, 0, TEL_NUMBER_MAX, "7", "mag: max");
	is_number(s, 0, TEL_NUMBER_SUM, "9", "mag: total");
	tel_stats_free(s);
	s = stream(HEAD T "C id=1 parent=0 type=mag name=m\n" T "Z\n", TEL_OK);
	is_number(s, 0, TEL_NUMBER_MIN, "-", "mag: no min before an update");
	is_number(s, 0, TEL_NUMBER_LAST, "-", "mag: no current one");
	is_number(s, 0, TEL_NUMBER_SUM, "0", "mag: total 0");
	tel_stats_free(s);
}

static void
test_growth(void)
{
	tel_stats *s = stream(HEAD T
	    "C id=1 parent=0 type=growth name=g\n" T "U c=1 op=inc v=3\n" T
	    "U c=1 op=inc v=0\n" T "U c=1 op=inc v=4294967295\n" T "Z\n",
	    TEL_OK);

	is_number(s, 0, TEL_NUMBER_UPDATES, "3", "growth: updates");
	is_number(s, 0, TEL_NUMBER_SUM, "4294967298", "growth: total");
	is_number(s, 0, TEL_NUMBER_LAST, "4294967295", "growth: last");
	is_number(s, 0, TEL_NUMBER_MIN, "0", "growth: min");
	is_number(s, 0, TEL_NUMBER_MAX, "4294967295", "growth: max");
	tel_stats_free(s);
}

static void
test_tally(void)
{
	tel_stats *s = stream(HEAD T
	    "C id=1 parent=0 type=tally max=2 name=t\n" T
	    "U c=1 op=tally v=\"a\" n=1\n" T "U c=1 op=tally v=\"b\" n=5\n" T
	    "U c=1 op=tally v=\"c\" n=7\n" T "U c=1 op=tally v=\"a\" n=2\n" T
	    "U c=1 op=tally v=\"d\" n=1\n" T "Z\n",
	    TEL_OK);
	tel_key k;

	is_number(s, 0, TEL_NUMBER_UPDATES, "5", "tally: updates");
	is_number(s, 0, TEL_NUMBER_OVERFLOW, "8", "tally: overflow");
	is_number(s, 0, TEL_NUMBER_OVERFLOW_UPDATES, "2",
	    "tally: in 2 updates");
	is_number(s, 0, TEL_NUMBER_WEIGHT, "16", "tally: weight");
	ok(tel_stat_key(tel_stats_get(s, 0), 0, &k) &&
	        strcmp(k.value.as.string, "a") == 0 && k.count == 3,
	    "tally: a=3");
	ok(tel_stat_key(tel_stats_get(s, 0), 1, &k) &&
	        strcmp(k.value.as.string, "b") == 0 && k.count == 5,
	    "tally: b=5");
	ok(!tel_stat_key(tel_stats_get(s, 0), 2, &k), "tally: no more keys");
	tel_stats_free(s);
}

static void
test_strace(void)
{
	tel_stats *s =
	    stream(HEAD "0000000000000000 C id=1 parent=0 type=strace name=d\n"
	                "00000000000003E8 E c=1 tag=1 p=1\n"
	                "0000000000001388 E c=1 tag=2 p=1\n"
	                "0000000000002328 E c=1 tag=1 p=3\n"
	                "0000000000005208 E c=1 tag=1 p=2\n"
	                "00000000000055F0 E c=1 tag=9 p=2\n"
	                "000000000000639C E c=1 tag=2 p=2\n"
	                "0000000000007530 E c=1 tag=3 p=1\n"
	                "0000000000007530 Z\n",
	        TEL_OK);

	is_number(s, 0, TEL_NUMBER_UPDATES, "7", "strace: events");
	is_number(s, 0, TEL_NUMBER_PAIRS, "2", "strace: pairs");
	is_number(s, 0, TEL_NUMBER_SUM, "40", "strace: total in us");
	is_str(tel_stat_unit(tel_stats_get(s, 0)), "us", "strace: unit");
	is_number(s, 0, TEL_NUMBER_OPEN, "1", "strace: open");
	is_number(s, 0, TEL_NUMBER_ORPHAN, "1", "strace: orphan");
	tel_stats_free(s);
}

/* The same through a spec, in nanoseconds and in buckets of a microsecond. */
static void
test_dur(void)
{
	tel_stats *s = begin_one("d=dur(TraceFlipBegin,TraceFlipEnd,trace,"
	                         "TraceReclaim)");
	struct stat_log l;
	tel_bucket b;
	uint64_t us = 0;
	size_t i;

	stat_log_begin(&l);
	must_ok(tel_stats_add(s,
	    "h=hist(dur(TraceFlipBegin,TraceFlipEnd,trace),"
	    "0,1ms,1us)"));
	must_ok(
	    tel_stats_add(s, "e=dur(TraceFlipBegin,TraceFlipEnd,trace % 1)"));
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "TraceFlipBegin", 1000, 1, 0, 0);
	feed(s, &l, "TraceFlipBegin", 5000, 2, 0, 0);
	feed(s, &l, "TraceReclaim", 9000, 1, 0, 0);
	feed(s, &l, "TraceFlipEnd", 21000, 1, 0, 0);
	feed(s, &l, "TraceFlipEnd", 22000, 9, 0, 0);
	feed(s, &l, "TraceFlipEnd", 25500, 2, 0, 0);
	feed(s, &l, "TraceFlipBegin", 30000, 3, 0, 0);
	must_ok(tel_stats_end(s, NULL));
	is_number(s, 0, TEL_NUMBER_UPDATES, "7", "dur: events");
	is_number(s, 0, TEL_NUMBER_PAIRS, "2", "dur: pairs");
	is_number(s, 0, TEL_NUMBER_SUM, "40500", "dur: total in ns");
	is_number(s, 0, TEL_NUMBER_MIN, "20000", "dur: shortest");
	is_number(s, 0, TEL_NUMBER_MAX, "20500", "dur: longest");
	is_number(s, 0, TEL_NUMBER_OPEN, "1", "dur: open");
	is_number(s, 0, TEL_NUMBER_ORPHAN, "1", "dur: orphan");
	for (i = 0; tel_stat_bucket(tel_stats_get(s, 1), i, &b); i++)
		us += (uint64_t)(b.lo / 1000) * b.count;
	is_u64(us, 40, "dur: cut to microseconds a pair, 40");
	is_number(s, 1, TEL_NUMBER_UPDATES, "2", "hist of dur: updates");
	is_number(s, 1, TEL_NUMBER_OPEN, "1", "hist of dur: open");
	is_number(s, 1, TEL_NUMBER_EVENTS, "6", "hist of dur: no middles");
	is_number(s, 2, TEL_NUMBER_SUM, "37000", "dur: a key that is computed");
	tel_stats_free(s);
	stat_log_end(&l);
}

static void
test_enable(void)
{
	tel_stats *s = stream(HEAD T
	    "C id=1 parent=0 type=path name=P\n" T
	    "C id=2 parent=1 type=mag name=M\n" T "U c=2 op=abs v=1\n" T
	    "X c=1 op=disable\n" T "U c=2 op=abs v=2\n" T "X c=2 op=disable\n" T
	    "X c=1 op=enable\n" T "U c=2 op=abs v=3\n" T "X c=2 op=enable\n" T
	    "U c=2 op=abs v=4\n" T "C id=3 parent=0 type=mag name=P:M\n" T
	    "U c=3 op=abs v=5\n" T "C id=4 parent=0 type=growth name=P:M\n" T
	    "X c=1 op=dispose\n" T "U c=2 op=abs v=6\n" T "Z\n",
	    TEL_EDAMAGED);

	is_u64(tel_stats_count(s), 1, "enable: one class");
	is_str(tel_stat_name(tel_stats_get(s, 0)), "P:M", "enable: its path");
	is_number(s, 0, TEL_NUMBER_UPDATES, "3", "enable: updates");
	is_number(s, 0, TEL_NUMBER_LAST, "5", "enable: current");
	is_number(s, 0, TEL_NUMBER_SUM, "10", "enable: total");
	is_total(s, TEL_TOTAL_DAMAGED, "1", "enable: one conflict of types");
	ok(strstr(tel_stats_error(s), ": a class of another type exists") !=
	        NULL,
	    "enable: reported");
	tel_stats_free(s);
}

#define SMALL \
	HEAD T "C id=1 parent=0 type=growth name=g\n" T "U c=1 op=inc v=3\n"

static void
test_unknown(void)
{
	tel_stats *s = stream(HEAD T
	    "Q id=1 new=\"x\"\n" T
	    "C id=1 parent=0 type=growth shade=red name=g\n" T
	    "D id=1 fmt=\"%d:%d\"\n" T "C id=2 parent=0 type=trace name=t\n" T
	    "E c=2 d=1 1 2 3\n" T "U c=1 op=inc v=3 mood=\"good\"\n" T "Z\n",
	    TEL_OK);

	is_number(s, 0, TEL_NUMBER_SUM, "3",
	    "unknown codes and fields are passed over, as are traces");
	is_u64(tel_stats_count(s), 1, "and make no statistic");
	tel_stats_free(s);
	s = stream(SMALL, TEL_EDAMAGED);
	is_number(s, 0, TEL_NUMBER_SUM, "3", "without Z: the same");
	is_total(s, TEL_TOTAL_CUT, "1", "without Z: reported as cut");
	tel_stats_free(s);
	s = stream(SMALL T "Z\n" SMALL T "Z\n", TEL_OK);
	is_number(s, 0, TEL_NUMBER_SUM, "6", "two sessions are added");
	tel_stats_free(s);
	s = stream(HEAD T "C id=1 parent=0 type=hist lo=0 hi=10 w=1 name=h\n" T
	                  "S c=1 n=4 w=4 ovf=2 b=3:1,9:1\n" T "L n=17 c=1\n" T
	                  "L n=2\n" T "Z\n",
	    TEL_OK);
	is_number(s, 0, TEL_NUMBER_OUTSIDE, "2", "outside as one number");
	is_number(s, 0, TEL_NUMBER_UNDER, "-", "under is not known then");
	is_number(s, 0, TEL_NUMBER_SUM, "-", "nor is a sum that the log omits");
	is_number(s, 0, TEL_NUMBER_LOST, "17", "lost records of a class");
	is_total(s, TEL_TOTAL_LOST, "19", "lost records of all");
	tel_stats_free(s);
}

/* Multiples of 10^-decimals of doubles, which are rounded once. */
static void
test_decimals(void)
{
	static const struct {
		double v;
		unsigned decimals;
		const char *want; /* NULL: it does not fit */
	} rows[] = {
		{ 1.5, 0, "1" },
		{ -1.5, 0, "-2" },
		{ 0.5, 1, "5" },
		{ 0.25, 1, "3" },
		{ -0.25, 1, "-3" },
		{ 0.125, 2, "13" },
		/* the double next to 1.005 is below it */
		{ 1.005, 2, "100" },
		{ 0.1, 9, "100000000" },
		{ 1e-9, 9, "1" },
		{ 4e-10, 9, "0" },
		{ 5e-324, 9, "0" },
		{ -0.0, 3, "0" },
		{ 123456789.0, 9, "123456789000000000" },
		{ 9007199254740993.0, 1, "90071992547409920" },
		{ 18446744073.0, 9, "18446744073000000000" },
		{ 18446744074.0, 9, NULL },
		{ -9223372036.0, 9, "-9223372036000000000" },
		{ -9223372037.0, 9, NULL },
		{ 1e300, 9, NULL },
		{ -1e300, 1, NULL },
		{ 18446744073709551616.0, 0, NULL },
	};
	tel_value v = { .datatype = TEL_DOUBLE };
	char text[TEL_INT128_TEXT];
	tel_int128 n;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		v.as.f64 = rows[i].v;
		if (tel__stat_number_of(&v, rows[i].decimals, &n) == TEL_OK)
			is_str(tel_int128_text(n, text),
			    rows[i].want != NULL ? rows[i].want : "nothing",
			    "%.17g, %u decimals", rows[i].v, rows[i].decimals);
		else
			ok(rows[i].want == NULL, "%g is too large", rows[i].v);
	}
	/* k / 2^j, of which few bits are left, or most */
	uint64_t differ = 0, state = 7;
	for (i = 0; i < 2000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		const uint64_t k = state >> 31 & UINT32_MAX;
		const unsigned j = (unsigned)(i % 62) + 1;
		const uint64_t want =
		    (k * 1000000000 + ((uint64_t)1 << (j - 1))) >> j;

		v.as.f64 = (double)k / (double)((uint64_t)1 << j);
		differ += tel__stat_number_of(&v, 9, &n) != TEL_OK ||
		    n.high != 0 || n.low != want;
	}
	is_u64(differ, 0, "fractions are rounded to the nearest");
	v.datatype = TEL_SIGNED;
	v.as.i64 = -7;
	ok(tel__stat_number_of(&v, 2, &n) == TEL_OK &&
	        strcmp(tel_int128_text(n, text), "-700") == 0,
	    "an integer has decimals as well");
	v.as.i64 = INT64_MIN;
	ok(tel__stat_number_of(&v, 1, &n) == TEL_EINVAL, "if they fit");
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		test_vector(&vectors[i], 0);
	for (i = 0; i < sizeof(loglins) / sizeof(loglins[0]); i++)
		test_vector(&loglins[i], 1);
	test_quantize();
	test_edges("q=log2(x)");
	test_edges("q=log2(x,5)");
	test_edges("q=quantiles(x)");
	test_edges("q=quantiles(x,9)");
	test_edges("q=loglin(x,2,0,61,2)");
	test_edges("q=loglin(x,7,1,4,49)");
	test_edges("q=hist(x,-1000,1007,3)");
	test_edges("q=split(x,-1000,7,0,1001,13)");
	test_edges("q=hist(x,-9223372036854775808,9223372036854775807,"
	           "281474976710656)");
	test_mag();
	test_growth();
	test_tally();
	test_strace();
	test_dur();
	test_enable();
	test_unknown();
	test_decimals();
	return done();
}
