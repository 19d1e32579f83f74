/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 128-bit integers, sums of squares, keys, tallies and open ranges, against
 * plain arithmetic.
 */
#include "stat_log.h"

#include "stats/lexer.h"

static uint64_t seed = 1;

static uint64_t
random64(void)
{
	/* xorshift64 of Marsaglia */
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static int128
native(tel_int128 w)
{
	return (int128)((uint128)(uint64_t)w.high << 64 | w.low);
}

static tel_int128
narrow(int128 v)
{
	tel_int128 w = { (int64_t)((uint128)v >> 64), (uint64_t)v };

	return w;
}

/* Numbers of all sizes, and those at the edges. */
static tel_int128
random_int128(void)
{
	static const uint64_t edges[] = { 0, 1, UINT64_MAX, INT64_MAX,
		(uint64_t)1 << 63 };
	uint64_t r = random64();
	tel_int128 w = { 0, random64() >> (r & 63) };

	if (r & 64)
		w.high = (int64_t)random64() >> (r >> 7 & 63);
	if (r & 1 << 13)
		w.low = edges[r >> 14 & 3];
	if (r & 1 << 17)
		w.high = (int64_t)edges[(r >> 18) % 5];
	return w;
}

static void
test_arithmetic(void)
{
	unsigned i, sums = 0, products = 0, orders = 0, texts = 0;
	tel_int128 a, b, sum, product, back;
	char buffer[TEL_INT128_TEXT];
	int128 want;
	uint64_t n;
	int wrapped;

	for (i = 0; i < 20000; i++) {
		a = random_int128();
		b = random_int128();
		sum = a;
		wrapped = int128_add(&sum, b);
		if (__builtin_add_overflow(native(a), native(b), &want) !=
		        wrapped ||
		    int128_compare(sum, narrow(want)) != 0)
			sums++;
		n = random64() >> (random64() & 63);
		product = int128_u64(0);
		wrapped = tel__int128_add_times(&product, a, n);
		if (__builtin_mul_overflow(native(a), (int128)n, &want) !=
		        wrapped ||
		    (!wrapped && want != native(product)))
			products++;
		orders += int128_compare(a, b) !=
		    (native(a) > native(b)) - (native(a) < native(b));
		tel_int128_text(a, buffer);
		if (!tel__int128_parse(buffer, buffer + strlen(buffer),
		        &back) ||
		    int128_compare(a, back) != 0)
			texts++;
	}
	is_u64(sums, 0, "sums");
	is_u64(products, 0, "products");
	is_u64(orders, 0, "orders");
	is_u64(texts, 0, "texts read back");
}
#else
static void
test_arithmetic(void)
{
	ok(1, "arithmetic # SKIP this compiler has no integers of 128 bits");
}
#endif

static void
test_text(void)
{
	static const struct {
		tel_int128 v;
		const char *text;
	} rows[] = {
		{ { 0, 0 }, "0" },
		{ { -1, UINT64_MAX }, "-1" },
		{ { 0, 1000000000 }, "1000000000" },
		{ { 0, UINT64_MAX }, "18446744073709551615" },
		{ { 1, 0 }, "18446744073709551616" },
		{ { INT64_MAX, UINT64_MAX },
		    "170141183460469231731687303715884105727" },
		{ { INT64_MIN, 0 },
		    "-170141183460469231731687303715884105728" },
	};
	static const char *const wrong[] = { "", "-", "1x", "+1", " 1",
		"170141183460469231731687303715884105728",
		"-170141183460469231731687303715884105729",
		"999999999999999999999999999999999999999999" };
	char buffer[TEL_INT128_TEXT];
	tel_int128 v;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(tel_int128_text(rows[i].v, buffer), rows[i].text, "%s",
		    rows[i].text);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!tel__int128_parse(wrong[i], wrong[i] + strlen(wrong[i]),
		       &v),
		    "no number: '%s'", wrong[i]);
	ok(tel_int128_double(rows[4].v) == 18446744073709551616.0 &&
	        tel_int128_double(rows[1].v) == -1,
	    "doubles");
}

/* -------------------------------------------------------------- squares */

/* The variance of n values, from parts of random lengths; -1: not known. */
static double
variance_of(const tel_int128 *v, const uint64_t *weights, unsigned n)
{
	struct squares all = { { 0 } }, part = { { 0 } };
	tel_int128 sum = int128_u64(0);
	uint64_t weight = 0;
	double variance;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!squares_add(&part, v[i], weights[i]))
			return -1;
		(void)tel__int128_add_times(&sum, v[i], weights[i]);
		weight += weights[i];
		if (random64() % 3 == 0) {
			tel__squares_merge(&all, &part);
			memset(&part, 0, sizeof(part));
		}
	}
	tel__squares_merge(&all, &part);
	return tel__squares_variance(&all, sum, weight, &variance) ? variance :
	                                                             -1;
}

/* Variances that are known, of values up to the edges. */
static void
test_variance(void)
{
	static const struct {
		tel_int128 v[2];
		uint64_t weights[2];
		double variance;
	} rows[] = {
		{ { { 0, 5 }, { 0, 5 } }, { 1, 1 }, 0 },
		{ { { 0, 1 }, { 0, 2 } }, { 1, 1 }, 0.25 },
		{ { { 0, 1 }, { 0, 2 } }, { 3, 1 }, 0.1875 },
		{ { { -1, UINT64_MAX - 2 }, { 0, 3 } }, { 7, 7 }, 9 },
		/* no square of a double would keep these apart */
		{ { { 0, 9007199254740993 }, { 0, 9007199254740995 } },
		    { 1, 1 }, 1 },
		{ { { 0, UINT64_MAX }, { 0, UINT64_MAX } },
		    { (uint64_t)1 << 62, (uint64_t)1 << 62 }, 0 },
		{ { { 0, UINT64_MAX }, { 0, UINT64_MAX - 2 } },
		    { (uint64_t)1 << 62, (uint64_t)1 << 62 }, 1 },
		/* -2^63 and 2^63 */
		{ { { -1, (uint64_t)1 << 63 }, { 0, (uint64_t)1 << 63 } },
		    { (uint64_t)1 << 61, (uint64_t)1 << 61 },
		    85070591730234615865843651857942052864.0 },
		/* more than 64 bits */
		{ { { 1, 0 }, { 0, 0 } }, { 1, 1 }, -1 },
		{ { { -2, UINT64_MAX }, { 0, 0 } }, { 1, 1 }, -1 },
		{ { { 0, 1 }, { 0, 1 } }, { 0, 0 }, -1 },
	};
	const struct squares small = { { 3 } };
	double variance;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(variance_of(rows[i].v, rows[i].weights, 2) ==
		        rows[i].variance,
		    "variance %g", rows[i].variance);
	ok(!tel__squares_variance(&small, int128_u64(3), 2, &variance),
	    "no two values have the sum 3 and the squares 3");
}

#define VALUES 40u

/* The variance does not depend on where 0 is, nor on the parts. */
static void
test_shift(void)
{
	tel_int128 v[VALUES], sum, by;
	uint64_t ones[VALUES], most;
	struct squares s;
	unsigned i, j, bad = 0;
	double here, there;

	for (i = 0; i < 2000; i++) {
		most = UINT64_MAX >> 1 >> (random64() & 63);
		by = int128_u64(random64() >> 1 >> (random64() & 63));
		if (random64() & 1)
			by = tel__int128_negate(by);
		memset(&s, 0, sizeof(s));
		sum = int128_u64(0);
		for (j = 0; j < VALUES; j++) {
			v[j] = int128_u64(random64() & most);
			if (random64() & 1)
				v[j] = tel__int128_negate(v[j]);
			ones[j] = 1;
			(void)squares_add(&s, v[j], 1);
			(void)int128_add(&sum, v[j]);
		}
		here = variance_of(v, ones, VALUES);
		for (j = 0; j < VALUES; j++)
			(void)int128_add(&v[j], by);
		there = variance_of(v, ones, VALUES);
		bad += here < 0 || here != there ||
		    !tel__squares_shift(&s, by, sum, VALUES);
		(void)tel__int128_add_times(&sum, by, VALUES);
		bad += !tel__squares_variance(&s, sum, VALUES, &there) ||
		    here != there;
	}
	is_u64(bad, 0, "variances of shifted values");
	ok(!tel__squares_shift(&s, (tel_int128){ 1, 0 }, sum, 1),
	    "a shift of more than 64 bits");
	ok(!squares_add(&s, (tel_int128){ 1, 0 }, 1),
	    "a value of more than 64 bits");
}

static void
test_integers(void)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = { { "0", 0 }, { "-40", -40 }, { "+7", 7 }, { "0x10", 16 },
		{ "64k", 65536 }, { "64KiB", 65536 }, { "1M", 1048576 },
		{ "10ms", 10000000 }, { "1.5us", 1500 }, { "0.000000001s", 1 },
		{ "-9223372036854775808", INT64_MIN },
		{ "9223372036854775807", INT64_MAX } };
	static const char *const bad[] = { "", "-", "x", "1x", "1.5", "1.5k",
		"0.5ns", "1.0000000001s", "9223372036854775808",
		"-9223372036854775809", "10000000000G", "1 k", "0x" };
	int64_t v;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(tel__lex_number(good[i].text,
		       good[i].text + strlen(good[i].text), 0, &v) == NULL &&
		        v == good[i].value,
		    "integer %s", good[i].text);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(tel__lex_number(bad[i], bad[i] + strlen(bad[i]), 0, &v) !=
		        NULL,
		    "no integer: '%s'", bad[i]);
}

/* A million keys, each twice, and what they take. */
static void
test_tally(void)
{
	struct budget budget = { 0, (size_t)64 << 20 };
	struct tally t;
	struct key k = { 0, TEL_ADDRESS };
	uint64_t total = 0;
	int wrapped = 0;
	uint32_t i, wrong = 0, n = getenv("TEST_SLOW") ? 20000 : 1000000;

	tel__tally_init(&t, n, &budget);
	for (i = 0; i < 2 * n; i++) {
		k.bits = (uint64_t)(i % n) * 4096;
		(void)tel__tally_add(&t, &k, i % 7, 1, &wrapped);
		total += i % 7;
	}
	k.bits = 1;
	ok(tel__tally_add(&t, &k, 5, 2, &wrapped) == TEL_ELIMIT, "tally: full");
	is_u64(t.count, n, "tally: keys");
	is_u64(t.overflow, 5, "tally: overflow");
	is_u64(t.overflow_updates, 2, "tally: in so many updates");
	ok(budget.used < (size_t)48 * n + 65536, "tally: %zu bytes a key",
	    budget.used / n);
	must_ok(tel__tally_sort(&t, NULL, TEL_KEYS_COUNT));
	for (i = 1; i < n; i++)
		if (t.counts[t.order[i]] > t.counts[t.order[i - 1]] ||
		    (t.counts[t.order[i]] == t.counts[t.order[i - 1]] &&
		        t.bits[t.order[i]] < t.bits[t.order[i - 1]]))
			wrong++;
	for (i = 0; i < n; i++)
		total -= t.counts[i];
	is_u64(wrong, 0, "tally: sorted by count, then by key");
	is_u64(total, 0, "tally: all counted");
	tel__tally_clear(&t);
	is_u64(budget.used, 0, "tally: the budget has it back");
	budget.most = 4096;
	tel__tally_init(&t, 1000, &budget);
	for (i = 0; i < 1000; i++) {
		k.bits = i;
		(void)tel__tally_add(&t, &k, 1, 1, &wrapped);
	}
	ok(t.count > 10 && t.count < 200 && t.count + t.overflow == 1000,
	    "tally: no more than the budget, the rest is overflow");
	tel__tally_clear(&t);
}

/* Starts and ends at random, beside a stack or a queue for each key. */
static void
test_open(int queue)
{
	static uint64_t starts[16][50000];
	const char *const name = queue ? "open ranges, queues" : "open ranges";
	unsigned from[16] = { 0 }, to[16] = { 0 }, i, key, wrong = 0, most = 0;
	struct open_pairs o;
	struct pair_key k = { { 0, TEL_UNSIGNED }, 0, 0, 0 };
	enum pair_result got;
	struct tel_stat *stat;
	uint64_t clock;

	memset(&o, 0xbe, sizeof(o));
	tel__pairs_init(&o, 100000, queue);
	for (i = 0; i < 50000; i++) {
		key = (unsigned)random64() % 16;
		k.key.bits = key * 3;
		k.log = key & 1;
		/* up for a while, and down for a while */
		if (random64() % 8 < (i / 5000 % 2 ? 3u : 5u)) {
			got = tel__pairs_start(&o, &k, i, NULL);
			wrong += got !=
			    (!queue && from[key] < to[key] ? PAIR_NESTED :
			                                     PAIR_OK);
			starts[key][to[key]++] = i;
		} else {
			got = tel__pairs_end(&o, &k, &clock, &stat);
			wrong +=
			    got != (from[key] < to[key] ? PAIR_OK : PAIR_NONE);
			if (from[key] < to[key])
				wrong += clock !=
				    starts[key]
				          [queue ? from[key]++ : --to[key]];
		}
		most = o.count > most ? o.count : most;
	}
	is_u64(wrong, 0, "%s: the %s in is the first out", name,
	    queue ? "first" : "last");
	ok(most > 100, "%s: up to %u were open", name, most);
	tel__pairs_forget(&o, 1);
	for (i = 0; i < 16; i++) {
		k.key.bits = i * 3;
		k.log = i & 1;
		got = tel__pairs_end(&o, &k, &clock, &stat);
		wrong += got !=
		    ((i & 1) == 0 && from[i] < to[i] ? PAIR_OK : PAIR_NONE);
	}
	is_u64(wrong, 0, "%s: those of a log are forgotten", name);
	tel__pairs_clear(&o);
}

static void
test_open_full(void)
{
	struct open_pairs o;
	struct pair_key k = { { 0, TEL_UNSIGNED }, 0, 0, 0 };
	struct tel_stat *stat;
	uint64_t clock;

	/* two places: what finds none has no length, and makes none wrong */
	tel__pairs_init(&o, 2, 0);
	k.log = 0;
	k.key.bits = 1;
	ok(tel__pairs_start(&o, &k, 10, NULL) == PAIR_OK &&
	        tel__pairs_start(&o, &k, 20, NULL) == PAIR_NESTED &&
	        tel__pairs_start(&o, &k, 30, NULL) == PAIR_OVER_LIMIT,
	    "open ranges: the third has no room");
	ok(tel__pairs_end(&o, &k, &clock, &stat) == PAIR_OVER_LIMIT &&
	        tel__pairs_end(&o, &k, &clock, &stat) == PAIR_OK &&
	        clock == 20 &&
	        tel__pairs_end(&o, &k, &clock, &stat) == PAIR_OK &&
	        clock == 10 &&
	        tel__pairs_end(&o, &k, &clock, &stat) == PAIR_NONE,
	    "open ranges: its end ends no other");
	tel__pairs_clear(&o);
}

static void
test_keys(void)
{
	struct budget budget = { 0, (size_t)1 << 20 };
	struct strings *s = must(tel__strings_new(&budget));
	tel_value v = { 0, TEL_STRING, { 0 }, 3 };
	struct key a, b;
	char text[32];

	v.as.string = "abcd";
	must_ok(tel__key_make(s, &v, &a));
	v.length = 4;
	must_ok(tel__key_make(s, &v, &b));
	ok(!key_equal(a.bits, a.tag, &b) && tel__key_compare(s, &a, &b) < 0,
	    "keys: strings of different lengths");
	v.length = 3;
	must_ok(tel__key_make(s, &v, &b));
	ok(key_equal(a.bits, a.tag, &b), "keys: equal strings");
	v.datatype = TEL_SIGNED;
	v.as.i64 = -1;
	must_ok(tel__key_make(s, &v, &a));
	v.datatype = TEL_UNSIGNED;
	must_ok(tel__key_make(s, &v, &b));
	ok(!key_equal(a.bits, a.tag, &b) && tel__key_compare(s, &a, &b) < 0,
	    "keys: -1 is not 2^64 - 1");
	v.datatype = TEL_ADDRESS;
	must_ok(tel__key_make(s, &v, &a));
	ok(key_equal(a.bits, a.tag, &b), "keys: expected a number");
	v.as.u64 = 0x7f00;
	ok(tel_value_text(&v, text, sizeof(text)) == 6 &&
	        strcmp(text, "0x7f00") == 0,
	    "values: an address");
	ok(tel_value_text(&v, text, 4) == 6 && strcmp(text, "0x7") == 0,
	    "values: cut off");
	v.datatype = TEL_DOUBLE;
	v.as.f64 = 0.1;
	ok(tel_value_text(&v, text, sizeof(text)) == 3 &&
	        strcmp(text, "0.1") == 0,
	    "values: a double");
	v.missing = 1;
	ok(tel_value_text(&v, NULL, 0) == 1, "values: missing, only counted");
	budget.most = budget.used + 8;
	v.missing = 0;
	v.datatype = TEL_STRING;
	v.as.string = "another string";
	v.length = 14;
	ok(tel__key_make(s, &v, &a) == TEL_ELIMIT,
	    "keys: no room for a string");
	tel__strings_free(s);
}

int
main(void)
{
	test_arithmetic();
	test_text();
	test_variance();
	test_shift();
	test_integers();
	test_tally();
	test_open(0);
	test_open(1);
	test_open_full();
	test_keys();
	return done();
}
