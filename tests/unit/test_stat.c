/* SPDX-License-Identifier: BSD-2-Clause */
/* Specs, what events do to statistics, groups, and snapshots. */
#include "made_run.h"
#include "stat_log.h"

/* ------------------------------------------------------------- specs */

static const struct {
	const char *spec;
	unsigned column;
	const char *why; /* a part of the message */
} wrong_specs[] = {
	{ "", 1, "NAME=CLASS" },
	{ "x", 2, "NAME=CLASS" },
	{ "a b=mag(size)", 3, "NAME=CLASS" },
	{ "x=", 3, "expected a class" },
	{ "x=mug(size)", 3, "expected a class" },
	{ "x=mag", 6, "expected '('" },
	{ "x=mag(", 7, "expected ')'" },
	{ "x=mag()", 7, "expected an expression" },
	{ "x=mag(size", 11, "expected ')'" },
	{ "x=mag(\"size)", 7, "unterminated" },
	{ "x=mag((size)", 13, "expected ')'" },
	{ "x=mag((size", 7, "unterminated" },
	{ "x=mag(1+(2*(size", 9, "unterminated" },
	{ "x=mag(size,1)", 12, "at most 1" },
	{ "x=mag(size +)", 13, "" },
	{ "x=mag(size) when 1", 13, "\"if\" or the end" },
	{ "x=mag(size) if", 15, "expected an expression" },
	{ "x=mag(size) if size >", 22, "" },
	{ "x=hist(size)", 0, "requires 3 more" },
	{ "x=hist(size,0,10)", 0, "requires 1 more" },
	{ "x=hist(size,0,10,z)", 18, "expected a number" },
	{ "x=hist(size,0,10,0)", 18, "width must be above 0" },
	{ "x=hist(size,0,10.5,1)", 15, "expected an integer" },
	{ "x=hist(size,0,10q,1)", 15, "optionally followed by k M G T or" },
	{ "x=hist(size,0,9223372036854775808,1)", 15, "number is too large" },
	{ "x=hist(size,-9223372036854775809,0,1)", 13, "number is too large" },
	{ "x=hist(size,0,9223372036854775807,1)", 35, "more than 65536" },
	{ "x=hist(size,-9223372036854775808,0,1)", 36, "more than 65536" },
	{ "x=hist(real(size,1),0,10.25,1)", 23, "too many decimals" },
	{ "x=hist(real(size,1),0,10.,1)", 23, "expected a digit" },
	{ "x=hist(real(size,2),0,92233720368547758.08,1)", 23,
	    "number is too large" },
	{ "x=hist(dur(A,B),0,1.0000000001s,1)", 19, "too many decimals" },
	{ "x=hist(real(size,0),0,10,1)", 18, "decimals must be from 1 to 9" },
	{ "x=hist(real(size,10),0,10,1)", 18, "decimals must be from 1 to 9" },
	{ "x=hist(size,10,10,1)", 16, "above the lower" },
	{ "x=hist(size,0,65537,1)", 21, "more than 65536" },
	{ "x=hist(size,0,10,1,1,1)", 22, "at most 5" },
	{ "x=split(size,0,1,0,10,1)", 18, "knee must be above" },
	{ "x=split(size,0,1,10,10,1)", 21, "above the knee" },
	{ "x=split(size,0,0,5,10,1)", 16, "width" },
	{ "x=tally(size,0)", 14, "1 to 2^24" },
	{ "x=tally(size,16777217)", 14, "1 to 2^24" },
	{ "x=log2(size,6)", 13, "0 to 5" },
	{ "x=quantiles(size,10)", 18, "1 to 9" },
	{ "x=loglin(size,1,0,1,10)", 15, "above 1" },
	{ "x=loglin(size,10,1,1,10)", 20, "above the low" },
	{ "x=loglin(size,10,0,1,15)", 22, "multiple" },
	{ "x=loglin(size,10,0,1,30)", 22, "divide a power" },
	{ "x=loglin(size,10,0,19,10)", 20, "less than 2^63" },
	{ "x=mag(dur() + 1)", 13, "part of an expression" },
	{ "x=dur(A B)", 7, "name of a type" },
	{ "x=dur(A,B,k,M,5)", 15, "at most 4" },
	{ "x=dur(A,B) if dt > 5", 0, "dt cannot be combined" },
};

static void
test_wrong_specs(void)
{
	tel_stats *s = must(tel_stats_new());
	const char *text;
	tel_status st;
	size_t i;

	for (i = 0; i < sizeof(wrong_specs) / sizeof(wrong_specs[0]); i++) {
		text = wrong_specs[i].spec;
		st = tel_stats_add(s, text);
		ok(st == TEL_EINVAL || st == TEL_ELIMIT, "refused: %s", text);
		if (strstr(tel_stats_error(s), wrong_specs[i].why) == NULL ||
		    tel_stats_error_column(s) != wrong_specs[i].column)
			ok(0, "'%s': column %u: %s", text,
			    tel_stats_error_column(s), tel_stats_error(s));
	}
	is_u64(tel_stats_count(s), 0, "nothing was added");
	must_ok(tel_stats_add(s, "x=hist(size,0,65536,1)"));
	ok(tel_stats_add(s, "x=mag(size)") == TEL_EINVAL,
	    "a name is given once");
	ok(tel_stats_set_groups(s, "pool,") == TEL_EINVAL &&
	        tel_stats_error_column(s) == 6,
	    "groups: an empty one");
	ok(tel_stats_set_groups(s, "a,b,c,d,e,f,g,h,i") == TEL_ELIMIT,
	    "groups: nine");
	tel_stats_free(s);
}

static void
test_texts(void)
{
	static const char *const rows[][2] = {
		{ " a = mag( size ) ", "mag(size)" },
		{ "a=hist(size,0,1k,64) if kind == Pool",
		    "hist(size,0,1024,64) if kind == Pool" },
		{ "a=hist(dur(A,B,(x)),0,10ms,100us,w)",
		    "hist(dur(A,B,(x)),0,10000000,100000,w)" },
		{ "a=hist(dur(A,B),1.5us,2.500ms,0.000100s)",
		    "hist(dur(A,B),1500,2500000,100000)" },
		{ "a=hist(real(size,2),0.25,10.50,.25)",
		    "hist(real(size,2),0.25,10.5,0.25)" },
		{ "a=hist(real(size,1),-1.50,1.500,0.5)",
		    "hist(real(size,1),-1.5,1.5,0.5)" },
		{ "a=hist(real(size,9),0,9.223372036,0.999999999)",
		    "hist(real(size,9),0,9.223372036,0.999999999)" },
		{ "a=hist(size,-0x10,+0x20,2)", "hist(size,-16,32,2)" },
		{ "a=tally(label(pool),5)", "tally(label(pool),5)" },
		{ "a=tally(x in (1,2),5,y) if(z)",
		    "tally(x in (1,2),5,y) if (z)" },
		{ "a=mag(name == \"a,)\\\"b\")", "mag(name == \"a,)\\\"b\")" },
		{ "a=quantiles(size)", "quantiles(size,7)" },
		{ "a=ticks()", "ticks()" },
	};
	tel_stats *s;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s = begin_one(rows[i][0]);
		is_str(tel_stat_definition(tel_stats_get(s, 0)), rows[i][1],
		    "%s", rows[i][0]);
		tel_stats_free(s);
	}
}

static void
test_binding(void)
{
	static const struct {
		const char *spec;
		unsigned column;
	} rows[] = { { "x=mag(siize)", 7 }, { "x=hist(size,0,9,1,wait)", 19 },
		{ "x=mag(size) if kind == Poool", 24 },
		{ "x=dur(ArenaPol,ArenaPollEnd)", 7 },
		{ "x=dur(PoolAlloc)", 7 },
		{ "x=dur(PoolAlloc,PoolFree,kkey)", 26 } };
	struct stat_log l;
	tel_stats *s;
	size_t i;

	stat_log_begin(&l);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s = begin_one(rows[i].spec);
		ok(tel__stats_bind(s, l.schema) == TEL_EINVAL &&
		        tel_stats_error_column(s) == rows[i].column &&
		        strcmp(tel_stats_error_text(s), rows[i].spec) == 0,
		    "not in the log: %s", rows[i].spec);
		tel_stats_free(s);
	}
	s = begin_one(NULL);
	must_ok(tel_stats_set_groups(s, "kind,bool"));
	ok(tel__stats_bind(s, l.schema) == TEL_EINVAL &&
	        tel_stats_error_column(s) == 6,
	    "not in the log: a group");
	tel_stats_free(s);
	stat_log_end(&l);
}

/* ------------------------------------------------------------ values */

static void
test_values(void)
{
	tel_stats *s = begin_one("f=hist(size,0,100,10)");
	struct stat_log l;
	char b[TEL_INT128_TEXT];
	const tel_stat *t;

	stat_log_begin(&l);
	must_ok(tel_stats_add(s, "w=hist(size,0,100,10,size*2)"));
	must_ok(tel_stats_add(s, "c=growth(1) if name == PoolAlloc"));
	must_ok(tel_stats_add(s, "neg=growth(10-size)"));
	must_ok(tel_stats_add(s, "half=mag(size/2.0)"));
	must_ok(tel_stats_add(s, "down=mag(0-size/2.0)"));
	must_ok(tel_stats_add(s, "str=mag(name)"));
	must_ok(tel_stats_add(s, "big=mag(pReturn)"));
	must_ok(tel_stats_add(s, "code=tally(code,10)"));
	must_ok(tel_stats_add(s, "all=growth(1)"));
	must_ok(tel_stats_add(s, "dt=mag(dt) if name == PoolFree"));
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolAlloc", 1000, 1, UINT64_MAX, 9);
	feed(s, &l, "PoolAlloc", 1100, 1, UINT64_MAX, 10);
	feed(s, &l, "PoolFree", 1250, 1, 2, 100);
	feed(s, &l, "ArenaDestroy", 1400, 1, 2, 3);
	feed(s, &l, "unknown", 1500, 0, 0, 0);
	feed(s, &l, "PoolFree", 1600, 1, 2, 5);
	must_ok(tel_stats_end(s, NULL));
	is_number(s, 0, TEL_NUMBER_UPDATES, "4", "a field: updates");
	is_number(s, 0, TEL_NUMBER_OVER, "1", "a field: over");
	is_number(s, 0, TEL_NUMBER_SUM, "124", "a field: sum");
	is_number(s, 1, TEL_NUMBER_WEIGHT, "248", "weights: weight");
	is_number(s, 1, TEL_NUMBER_SUM, "20412", "weights: sum");
	is_number(s, 1, TEL_NUMBER_OVER, "200", "weights: over");
	is_number(s, 2, TEL_NUMBER_SUM, "2", "a constant and a condition");
	is_number(s, 3, TEL_NUMBER_INVALID, "1", "growth: below 0 is invalid");
	is_number(s, 3, TEL_NUMBER_SUM, "6", "growth: and not counted");
	is_number(s, 4, TEL_NUMBER_MIN, "2", "a double: the integer below");
	is_number(s, 5, TEL_NUMBER_MAX, "-3", "a double: below 0, too");
	is_number(s, 6, TEL_NUMBER_INVALID, "6", "a string is invalid");
	is_number(s, 6, TEL_NUMBER_UPDATES, "0", "and no update");
	is_number(s, 7, TEL_NUMBER_SUM, "36893488147419103230",
	    "a sum of more than 64 bits");
	is_number(s, 8, TEL_NUMBER_KEYS, "4", "tally: keys");
	is_number(s, 9, TEL_NUMBER_UPDATES, "6",
	    "every event, the unknown too");
	is_number(s, 10, TEL_NUMBER_SUM, "250",
	    "dt: from the event before, whatever it was");
	is_total(s, TEL_TOTAL_EVENTS, "6", "report: events");
	is_total(s, TEL_TOTAL_UNKNOWN, "1", "report: unknown");
	is_total(s, TEL_TOTAL_ALLOC_BYTES, "19", "report: allocated");
	is_total(s, TEL_TOTAL_FREE_BYTES, "0", "report: freed");
	is_total(s, TEL_TOTAL_LIVE_BYTES, "10", "report: live");
	is_total(s, TEL_TOTAL_STRAYS, "2", "report: freed, not allocated");
	is_total(s, TEL_TOTAL_TICKS, "600", "report: ticks");
	is_total(s, TEL_TOTAL_NS, "600", "report: ns");
	is_total(s, TEL_TOTAL_FIRST, "1000", "report: first");
	t = tel_stats_get(s, 0);
	is_str(number(t, TEL_NUMBER_MIN, b), "-", "hist: no min");
	is_str(number(t, TEL_NUMBER_PAIRS, b), "-", "hist: no pairs");
	is_str(tel_stat_unit(t), "bytes", "unit");
	ok(tel_stats_add(s, "late=mag(size)") == TEL_ESTATE,
	    "no spec after the first event");
	tel_stats_free(s);
	stat_log_end(&l);
}

/* Blocks that are not asked for are not counted, but the events are. */
static void
test_no_blocks(void)
{
	tel_stats *s = begin_one("m=mag(size)");
	struct stat_log l;
	tel_int128 n;

	stat_log_begin(&l);
	must_ok(tel_stats_set(s, TEL_STATS_BLOCKS, 0));
	ok(tel_stats_set(s, (tel_stats_option)(TEL_STATS_MAX_MEMORY + 1), 1) ==
	        TEL_EINVAL,
	    "no option past the last");
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolAlloc", 1000, 0, 0, 5);
	must_ok(tel_stats_end(s, NULL));
	is_total(s, TEL_TOTAL_EVENTS, "1", "no blocks: events");
	ok(!tel_stats_total(s, TEL_TOTAL_ALLOCS, &n), "no blocks: none known");
	ok(tel_stats_set(s, TEL_STATS_BLOCKS, 1) == TEL_ESTATE,
	    "no blocks: too late");
	tel_stats_free(s);
	stat_log_end(&l);
}

static void
test_quantiles(void)
{
	static const struct {
		uint32_t share;
		int is;
		int64_t value;
	} rows[] = { { 0, TEL_QUANTILE_BELOW, 0 },
		{ 100000000, TEL_QUANTILE_BELOW, 0 },
		{ 100000001, TEL_QUANTILE_AT_MOST, 9 },
		{ 500000000, TEL_QUANTILE_AT_MOST, 39 },
		{ 900000000, TEL_QUANTILE_AT_MOST, 79 },
		{ 900000001, TEL_QUANTILE_AT_LEAST, 80 },
		{ 1000000000, TEL_QUANTILE_AT_LEAST, 80 } };
	tel_stats *s = begin_one("h=hist(v,0,80,10)");
	tel_quantile q;
	char text[2048];
	size_t i;
	int n;

	tel_stats_free(s);
	/* one below, one in each bucket, one above */
	n = snprintf(text, sizeof(text),
	    "0000000000000000 H inst 1 0 0 hz=1\n"
	    "0000000000000000 C id=1 type=hist lo=0 hi=80 w=10 name=h\n"
	    "0000000000000000 C id=2 type=quantiles bits=7 name=q\n");
	for (i = 0; i < 10; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
		    "0000000000000000 U c=1 op=hist v=%d\n"
		    "0000000000000000 U c=2 op=hist v=%d\n",
		    (int)i * 10 - 10, (int)i * 1000 + 1);
	s = must(tel_stats_new());
	ok(read_inst(s, text, (size_t)n) == TEL_EDAMAGED, "read, without a Z");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(tel_stat_quantile(tel_stats_get(s, 0), rows[i].share, &q) &&
		        (int)q.is == rows[i].is && q.value == rows[i].value,
		    "quantile of %u", rows[i].share);
	ok(!tel_stat_quantile(tel_stats_get(s, 0), 1000000001, &q),
	    "no quantile above 1");
	ok(tel_stat_quantile(tel_stats_get(s, 1), 1000000000, &q) &&
	        q.is == TEL_QUANTILE_AT_MOST && q.value == 9001,
	    "quantiles: the largest is exact");
	ok(tel_stat_quantile(tel_stats_get(s, 1), 500000000, &q) &&
	        q.value >= 4001 && q.value < 4001 + 4001 / 128 + 1,
	    "quantiles: off by less than 1 in 128");
	tel_stats_free(s);
}

/* ------------------------------------------------------------ groups */

static void
test_groups(void)
{
	tel_stats *s = begin_one("n=growth(1)");
	struct stat_log l;
	const tel_stat *t;
	tel_value v;
	unsigned i;

	stat_log_begin(&l);
	must_ok(tel_stats_add(s, "p=dur(ArenaPoll,PoolFree)"));
	must_ok(tel_stats_set_groups(s, "kind, pool"));
	must_ok(tel_stats_set(s, TEL_STATS_MAX_GROUPS, 3));
	ok(tel_stats_set(s, TEL_STATS_MAX_GROUPS, 0) == TEL_EINVAL,
	    "no groups: refused");
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "ArenaPoll", 1000, 7, 0, 0);
	feed(s, &l, "PoolAlloc", 1001, 1, 0, 0);
	feed(s, &l, "PoolAlloc", 1002, 2, 0, 0);
	feed(s, &l, "PoolFree", 1003, 3, 0, 0);
	feed(s, &l, "PoolAlloc", 1004, 1, 0, 0);
	must_ok(tel_stats_end(s, NULL));
	is_u64(tel_stats_count(s), 5, "groups: three, the rest, and a pair's");
	t = tel_stats_get(s, 0);
	is_u64(tel_stat_group_count(t), 2, "groups: keys");
	is_str(tel_stat_group_name(t, 1), "pool", "groups: name of a key");
	ok(tel_stat_group_value(t, 0, &v) && v.datatype == TEL_STRING &&
	        strcmp(v.as.string, "Arena") == 0,
	    "groups: a string");
	ok(tel_stat_group_value(t, 1, &v) && v.missing, "groups: missing");
	ok(tel_stat_group_value(tel_stats_get(s, 1), 1, &v) &&
	        v.datatype == TEL_POINTER && v.as.u64 == 1,
	    "groups: a pointer");
	is_number(s, 1, TEL_NUMBER_SUM, "2", "groups: counted apart");
	ok(tel_stat_overflow_group(tel_stats_get(s, 3)),
	    "groups: the overflow group is the last one");
	is_number(s, 3, TEL_NUMBER_SUM, "1", "groups: what it has");
	is_number(s, 4, TEL_NUMBER_PAIRS, "1", "groups: a pair");
	ok(tel_stat_group_value(tel_stats_get(s, 4), 0, &v) &&
	        strcmp(v.as.string, "Arena") == 0,
	    "groups: it is of its start's");
	tel_stats_free(s);
	/* memory runs out before the groups do */
	s = begin_one("h=hist(size,0,65536,1)");
	must_ok(tel_stats_set_groups(s, "size"));
	must_ok(tel_stats_set(s, TEL_STATS_MAX_MEMORY, (size_t)4 << 20));
	must_ok(tel_stats_begin(s, NULL));
	for (i = 0; i < 100; i++)
		feed(s, &l, "PoolAlloc", 2000 + i, 1, 0, i);
	must_ok(tel_stats_end(s, NULL));
	ok(tel_stats_count(s) < 10 &&
	        tel_stat_overflow_group(
	            tel_stats_get(s, tel_stats_count(s) - 1)),
	    "groups: no more than the memory allowed");
	tel_stats_free(s);
	/* nor is there any for the strings of their keys */
	s = begin_one("n=growth(1)");
	must_ok(tel_stats_set_groups(s, "kind, size"));
	must_ok(tel_stats_set(s, TEL_STATS_MAX_MEMORY, 100));
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolAlloc", 3000, 1, 0, 8);
	feed(s, &l, "PoolAlloc", 3001, 1, 0, 9);
	must_ok(tel_stats_end(s, NULL));
	is_u64(tel_stats_count(s), 1, "groups: without memory for a key, one");
	ok(tel_stat_overflow_group(tel_stats_get(s, 0)), "groups: the rest");
	is_number(s, 0, TEL_NUMBER_SUM, "2", "groups: of all events");
	tel_stats_free(s);
	stat_log_end(&l);
}

/* -------------------------------------------------------------- pairs */

/* What the values, weights and conditions of specs need besides an event. */
static void
test_uses(void)
{
	static const struct {
		const char *spec;
		int rate;
	} rows[] = {
		{ "t=tally(code,10)", 0 },
		{ "t=tally(code,10,size)", 0 },
		{ "t=tally(code,10,time)", 1 },
		{ "t=top(size,3,code)", 0 },
		{ "t=top(size,3,code,time)", 1 },
		{ "s=sum(time)", 1 },
		{ "s=sum(size) if(time > 1s)", 1 },
		{ "s=sum(size) if(size > 1)", 0 },
	};
	tel_stats *s;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s = begin_one(rows[i].spec);
		is_u64((uint64_t)tel_stats_uses(s, TEL_USE_RATE),
		    (uint64_t)rows[i].rate, "whether %s needs the rate",
		    rows[i].spec);
		tel_stats_free(s);
	}
}

/* A log of two that are read together is over, and its reader has another one. */
static void
test_span(void)
{
	tel_stats *s = begin_one(NULL);
	struct stat_log l, other;

	stat_log_begin(&l);
	stat_log_begin(&other);
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolAlloc", 1000, 1, 0, 0);
	feed(s, &other, "PoolAlloc", 1500, 1, 0, 0);
	feed(s, &l, "PoolAlloc", 5000, 1, 0, 0);
	l.log.number++;
	feed(s, &l, "PoolAlloc", 2000, 1, 0, 0);
	must_ok(tel_stats_end(s, NULL));
	is_total(s, TEL_TOTAL_TICKS, "4000", "span: ticks");
	is_total(s, TEL_TOTAL_NS, "4000",
	    "span: to the end of one that is over");
	tel_stats_free(s);
	stat_log_end(&l);
	stat_log_end(&other);
}

static void
test_pairs(void)
{
	tel_stats *s = begin_one("d=dur()");
	struct stat_log l, other;

	stat_log_begin(&l);
	stat_log_begin(&other);
	other.log.number = 0;
	must_ok(tel_stats_add(s, "k=ticks(PoolAlloc,PoolFree,pool)"));
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "TraceFlipBegin", 1000, 1, 0, 0);
	feed(s, &l, "TraceFlipBegin", 1100, 1, 0, 0);
	feed(s, &l, "TraceFlipEnd", 1110, 1, 0, 0);
	feed(s, &l, "TraceFlipEnd", 1200, 1, 0, 0);
	feed(s, &l, "TraceFlipEnd", 1300, 1, 0, 0);
	is_u64(tel_stats_uses(s, TEL_USE_ORDER) &&
	        tel_stats_uses(s, TEL_USE_RATE),
	    1, "pairs need order and rate");
	feed(s, &l, "PoolAlloc", 2000, 5, 0, 0);
	feed(s, &other, "PoolFree", 2100, 5, 0, 0);
	feed(s, &l, "PoolFree", 1900, 5, 0, 0);
	feed(s, &l, "PoolAlloc", 2000, 6, 0, 0);
	must_ok(tel_stats_end(s, NULL));
	is_number(s, 0, TEL_NUMBER_PAIRS, "2", "roles: pairs");
	is_number(s, 0, TEL_NUMBER_MIN, "10", "roles: the inner one");
	is_number(s, 0, TEL_NUMBER_MAX, "200", "roles: the outer one");
	is_number(s, 0, TEL_NUMBER_NESTED, "1", "roles: nested");
	is_number(s, 0, TEL_NUMBER_ORPHAN, "1", "roles: orphan");
	is_number(s, 1, TEL_NUMBER_ORPHAN, "1", "logs share no keys");
	is_number(s, 1, TEL_NUMBER_BACKWARD, "1", "no time runs backward");
	is_number(s, 1, TEL_NUMBER_PAIRS, "0", "and that is not a pair");
	is_number(s, 1, TEL_NUMBER_OPEN, "1", "one stays open");
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolFree", 2500, 6, 0, 0);
	must_ok(tel_stats_end(s, NULL));
	is_number(s, 1, TEL_NUMBER_OPEN, "1", "it ends with its log");
	is_number(s, 1, TEL_NUMBER_ORPHAN, "2", "and not in the next one");
	is_total(s, TEL_TOTAL_LOGS, "3", "logs");
	ok(tel_stats_end(s, NULL) == TEL_ESTATE, "no end without a start");
	tel_stats_free(s);
	/* without a rate there is no time */
	s = begin_one("d=dur()");
	tel__clock_free(l.log.clock);
	l.log.clock = must(tel__clock_new());
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "TraceFlipBegin", 1000, 1, 0, 0);
	feed(s, &l, "TraceFlipEnd", 1200, 1, 0, 0);
	must_ok(tel_stats_end(s, NULL));
	is_number(s, 0, TEL_NUMBER_UNTIMED, "1", "no length without a rate");
	is_number(s, 0, TEL_NUMBER_PAIRS, "0", "and no pair");
	is_total(s, TEL_TOTAL_NS, "-", "nor any span in ns");
	tel_stats_free(s);
	stat_log_end(&l);
	stat_log_end(&other);
}

/* One log of several goes on to another: the ranges that it left open go, no others. */
static void
test_next_log(void)
{
	tel_stats *s = begin_one("k=ticks(PoolAlloc,PoolFree,pool)");
	unsigned open[2][8] = { { 0 } }, count = 0, pairs = 0, orphans = 0;
	struct stat_log logs[2];
	char want[16];

	stat_log_begin(&logs[0]);
	stat_log_begin(&logs[1]);
	must_ok(tel_stats_set(s, TEL_STATS_MAX_OPEN, 12));
	must_ok(tel_stats_begin(s, NULL));
	srand(28);
	for (uint64_t clock = 1; clock <= 3000; clock++) {
		const unsigned log = (unsigned)rand() / 8 % 2,
		               pool = (unsigned)rand() / 8 % 8,
		               what = (unsigned)rand() / 8 % 40;
		unsigned *at = &open[log][pool];

		if (what == 0) {
			logs[log].log.number++;
			for (unsigned i = 0; i < 8; i++)
				count -= open[log][i];
			memset(open[log], 0, sizeof(open[log]));
		}
		if (what % 2 == 0 && count == 12)
			continue;
		feed(s, &logs[log], what % 2 == 0 ? "PoolAlloc" : "PoolFree",
		    clock, pool, 0, 0);
		if (what % 2 == 0) {
			++*at;
			count++;
		} else if (*at > 0) {
			--*at;
			count--;
			pairs++;
		} else {
			orphans++;
		}
	}
	must_ok(tel_stats_end(s, NULL));
	(void)snprintf(want, sizeof(want), "%u", pairs);
	is_number(s, 0, TEL_NUMBER_PAIRS, want, "several logs: pairs");
	(void)snprintf(want, sizeof(want), "%u", orphans);
	is_number(s, 0, TEL_NUMBER_ORPHAN, want, "several logs: orphans");
	is_number(s, 0, TEL_NUMBER_OVER_LIMIT, "0", "room is given back");
	tel_stats_free(s);
	stat_log_end(&logs[0]);
	stat_log_end(&logs[1]);
}

/* ---------------------------------------------------------- snapshots */

struct shots {
	char text[512];
	size_t n;
};

static tel_status
shoot(void *arg, tel_stats *s, const tel_snapshot *at)
{
	char a[TEL_INT128_TEXT], b[TEL_INT128_TEXT];
	struct shots *shots = arg;

	if (shots->n < sizeof(shots->text))
		shots->n += (size_t)snprintf(shots->text + shots->n,
		    sizeof(shots->text) - shots->n, " %d:%s/%s",
		    (int)at->number,
		    number(tel_stats_get(s, 0), TEL_NUMBER_SUM, a),
		    number(tel_stats_get(s, 0), TEL_NUMBER_MIN, b));
	return TEL_OK;
}

static void
run_shots(int deltas, const char *want)
{
	tel_stats *s = begin_one("m=mag(size)");
	struct shots shots = { "", 0 };
	char b[TEL_INT128_TEXT];
	struct stat_log l;

	stat_log_begin(&l);
	must_ok(tel_stats_set_interval(s, 100, 0, shoot, &shots));
	must_ok(tel_stats_set(s, TEL_STATS_DELTAS, deltas));
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolAlloc", 1000, 0, 0, 5);
	feed(s, &l, "PoolAlloc", 1099, 0, 0, 7);
	feed(s, &l, "PoolAlloc", 1100, 0, 0, 9);
	feed(s, &l, "PoolAlloc", 1350, 0, 0, 11);
	must_ok(tel_stats_end(s, NULL));
	is_str(shots.text, want, "snapshots: %s",
	    deltas ? "differences" : "so far");
	is_str(number(tel_stats_get(s, 0), TEL_NUMBER_SUM, b),
	    deltas ? "11" : "32", "snapshots: what is left for the end");
	tel_stats_free(s);
	stat_log_end(&l);
}

static tel_status
count_shots(void *arg, tel_stats *s, const tel_snapshot *at)
{
	(void)s;
	(void)at;
	++*(unsigned *)arg;
	return TEL_OK;
}

static tel_status
refuse(void *arg, tel_stats *s, const tel_snapshot *at)
{
	(void)arg;
	(void)s;
	(void)at;
	return TEL_EIO;
}

static void
test_snapshots(void)
{
	tel_stats *s = begin_one(NULL);
	unsigned count = 0;
	struct stat_log l;

	run_shots(0, " 1:12/5 2:21/5 3:21/5");
	run_shots(1, " 1:12/5 2:9/9 3:0/-");
	stat_log_begin(&l);
	must_ok(tel_stats_set_interval(s, 1, 1, count_shots, &count));
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolAlloc", 0, 0, 0, 5);
	feed(s, &l, "PoolAlloc", 10000, 0, 0, 5);
	is_u64(count, 10000, "snapshots: one by one");
	feed(s, &l, "PoolAlloc", UINT64_MAX, 0, 0, 5);
	is_u64(count, 10002, "snapshots: a leap makes two");
	must_ok(tel_stats_end(s, NULL));
	tel_stats_free(s);
	s = begin_one(NULL);
	must_ok(tel_stats_set_interval(s, 10, 1, refuse, NULL));
	must_ok(tel_stats_begin(s, NULL));
	l.event.index = 0;
	feed(s, &l, "PoolAlloc", 0, 0, 0, 5);
	ok(tel_stats_event(s, stat_event(&l, "PoolAlloc", 20, 0, 0, 5)) ==
	        TEL_EIO,
	    "snapshots: what the function returns is passed on");
	tel_stats_free(s);
	stat_log_end(&l);
}

/* ----------------------------------------------------------------- runs */

#define EVENTS 200u

/* A value of any magnitude: of 64 bits, of a few, or one less than a power. */
static uint64_t
draw(uint64_t *state)
{
	uint64_t v;

	*state = *state * 6364136223846793005u + 1442695040888963407u;
	v = *state >> 7 & 63;
	v = v == 0 ? *state : *state >> v;
	return *state & 1 ? v : v & 4095;
}

static void
make_run(struct made_run *m, struct stat_log *l, uint64_t *state, uint64_t most)
{
	static const char *const names[] = { "PoolAlloc", "PoolFree",
		"ArenaPoll", "PoolFinish", "EventClockSync" };
	uint64_t a, b, c;
	unsigned i;

	made_run_begin(m);
	for (i = 0; i < EVENTS; i++) {
		a = draw(state) & most;
		b = draw(state) & most;
		c = draw(state) & most;
		made_run_add(m,
		    stat_event(l,
		        /* the last one is of a type that is only counted */
		        i + 1 < EVENTS ? names[draw(state) % 5] : names[2],
		        1000 + i, a, b, c));
	}
}

/* Values of a run that a stat takes together come to what each comes to. */
static void
test_runs(size_t nspecs)
{
	static const char *const specs[] = { "a=log2(size)", "b=log2(size,3)",
		"c=hist(size,10,4000,17)", "d=quantiles(pool)",
		"e=split(size,0,8,1024,65536,1024)", "f=loglin(size,10,0,8,10)",
		"g=log2(size) if name == PoolFree", "h=log2(size) if pool > 99",
		"i=hist(size,-5,1M,1000)", "j=sum(size)", "k=mag(size)",
		"l=log2(size*3)", "m=tally(pool,100)",
		"n=log2(pool,5) if index > 9", "o=quantiles(size) if size > 1M",
		"p=distinct(size,500)", "q=distinct(pool)", "r=min(size)",
		"s=max(index)", "t=mean(pool)",
		"u=tally(size,1000) if size < 2k" };
	static struct made_run made;
	struct stat_log l;
	tel_stats *one = must(tel_stats_new()), *many = must(tel_stats_new());
	tel_int128 a = { 0 }, b = { 0 };
	tel_total k;
	char *want, *got;
	uint64_t state = 1;
	size_t i, round;

	for (i = 0; i < nspecs && i < sizeof(specs) / sizeof(specs[0]); i++) {
		must_ok(tel_stats_add(one, specs[i]));
		must_ok(tel_stats_add(many, specs[i]));
	}
	stat_log_begin(&l);
	must_ok(tel_stats_begin(one, NULL));
	must_ok(tel_stats_begin(many, NULL));
	for (round = 0; round < 50; round++) {
		make_run(&made, &l, &state, round % 2 ? UINT64_MAX : 0xfffff);
		for (i = 0; i < EVENTS; i++)
			must_ok(tel_stats_event(one, run_event(&made.run, i)));
		must_ok(tel_stats_run(many, &made.run));
	}
	must_ok(tel_stats_end(one, NULL));
	must_ok(tel_stats_end(many, NULL));
	want = write_inst(one, 1);
	got = write_inst(many, 1);
	is_str(got, want, "runs: the statistics of each event");
	for (k = TEL_TOTAL_LOGS; k <= TEL_TOTAL_INHERITED; k++)
		ok(tel_stats_total(one, k, &a) ==
		            tel_stats_total(many, k, &b) &&
		        a.low == b.low && a.high == b.high,
		    "runs: total %d", (int)k);
	ok(nspecs == 0 || tel_stats_get(many, 0)->updates > 1000,
	    "runs: of many");
	free(want);
	free(got);
	tel_stats_free(one);
	tel_stats_free(many);
	stat_log_end(&l);
}

int
main(void)
{
	test_wrong_specs();
	test_texts();
	test_binding();
	test_values();
	test_no_blocks();
	test_quantiles();
	test_groups();
	test_uses();
	test_span();
	test_pairs();
	test_next_log();
	test_snapshots();
	test_runs(21);
	test_runs(0);
	return done();
}
