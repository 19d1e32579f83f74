/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of a page, against a plain model. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "failing.h"

#include "base/array.c"
#include "base/varint.h"
#include "print/time_buckets.h"
#include "tap.h"

#define EVENTS 20000u

static uint64_t state = 1;

static uint64_t
draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (state >> 20) % below;
}

/* A series as it is in a page. */
struct decoded {
	size_t count;
	uint64_t *at, *columns[TIME_BUCKETS_COLUMNS];
};

static void
forget(struct decoded *d)
{
	unsigned c;

	free(d->at);
	for (c = 0; c < TIME_BUCKETS_COLUMNS; c++)
		free(d->columns[c]);
}

static uint64_t *
column(const unsigned char **p, const unsigned char *end, size_t n, int deltas,
    int zigzag)
{
	uint64_t *out = calloc(n + 1, sizeof(*out)), v = 0, before = 0;
	size_t i;

	for (i = 0; i < n && out != NULL && *p != NULL; i++) {
		*p = tel__varint_get(*p, end, &v);
		if (zigzag)
			v = tel__unzigzag(v);
		out[i] = before = deltas ? before + v : v;
	}
	return out;
}

/* 1, or 0: the bytes are not those of a series. */
static int
decode(struct time_buckets *p, size_t series, unsigned level, struct decoded *d)
{
	enum buckets_kind kind = p->series[series].key.kind;
	struct tel__buffer b = { 0 };
	const unsigned char *at, *end;
	unsigned c;
	int good;

	memset(d, 0, sizeof(*d));
	tel__buckets_settle_all(p);
	d->count = tel__buckets_put(p, series, level, &b);
	at = b.bytes;
	end = at + b.used;
	d->at = column(&at, end, d->count, 1, 0);
	for (c = 0; c < tel__buckets_columns(kind); c++) {
		int plain = c == 0 || kind == TIME_BUCKETS_RANGES;

		d->columns[c] = column(&at, end, d->count, !plain, !plain);
	}
	good = at == end && !b.failed;
	tel__buffer_clear(&b);
	return good;
}

static uint64_t
total(const uint64_t *column_, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += column_[i];
	return sum;
}

/* Nonzero when buckets are in order, and all of them in the page. */
static int
in_order(const struct time_buckets *p, const struct decoded *d, unsigned level)
{
	size_t i;

	for (i = 1; i < d->count; i++)
		if (d->at[i - 1] >= d->at[i])
			return 0;
	return d->count == 0 ||
	    d->at[d->count - 1] <= p->last >> p->shift >> level;
}

static long
add_series(struct time_buckets *p, uint32_t track, enum buckets_kind kind)
{
	const struct bucket_key key = { track, 0, -1, kind };

	return tel__buckets_series(p, &key, TIME_BUCKETS_SERIES);
}

static void
test_series(void)
{
	struct time_buckets p;
	struct bucket_key row = { 1, 0, 3, TIME_BUCKETS_COUNT };
	uint32_t i;
	int right = 1;

	tel__buckets_init(&p);
	ok(add_series(&p, 1, TIME_BUCKETS_COUNT) == 0 &&
	        add_series(&p, 1, TIME_BUCKETS_RANGES) == 1 &&
	        add_series(&p, 2, TIME_BUCKETS_COUNT) == 2 &&
	        tel__buckets_series(&p, &row, TIME_BUCKETS_SERIES) == 3,
	    "a series is of a track, a type, a row and a kind");
	ok(add_series(&p, 1, TIME_BUCKETS_RANGES) == 1, "and found again");
	for (i = 4; i < TIME_BUCKETS_SERIES; i++)
		right &= add_series(&p, i, TIME_BUCKETS_COUNT) == (long)i;
	ok(right && add_series(&p, i, TIME_BUCKETS_COUNT) == -1,
	    "there are not more than the most");
	tel__buckets_count(&p, -1, 5, 1);
	tel__buckets_value(&p, -1, 5, 1);
	tel__buckets_range(&p, -1, 5, 6);
	ok(p.bytes == 0 && !p.no_memory, "what has no series is in no sum");
	tel__buckets_clear(&p);
}

/* Counts, in order of time and not, while time grows. */
static void
test_counts(int back)
{
	static uint64_t times[EVENTS];
	struct time_buckets p;
	struct decoded d;
	uint64_t now = 0, expected;
	unsigned level, i;
	size_t k;
	int right = 1, ordered = 1;

	tel__buckets_init(&p);
	for (i = 0; i < EVENTS; i++) {
		now += draw(UINT64_C(1) << (i * 40 / EVENTS));
		times[i] = back ? draw(now + 1) : now;
		tel__buckets_count(&p, add_series(&p, 1, TIME_BUCKETS_COUNT),
		    times[i], 1);
	}
	ok(p.shift > 0, "buckets get wider when time grows");
	for (level = 0; level < 4; level++) {
		ok(decode(&p, 0, level, &d), "a series is encoded, level %u",
		    level);
		ordered &= in_order(&p, &d, level);
		right &= total(d.columns[0], d.count) == EVENTS;
		for (k = 0; k < d.count; k++) {
			expected = 0;
			if (k % 97 != 0)
				continue;
			for (i = 0; i < EVENTS; i++)
				expected +=
				    times[i] >> p.shift >> level == d.at[k];
			right &= d.columns[0][k] == expected;
		}
		forget(&d);
	}
	ok(ordered, "its buckets are in order");
	ok(right, "and count each event once%s",
	    back ? ", whose clock goes back" : "");
	tel__buckets_clear(&p);
}

static void
test_ranges(void)
{
	struct time_buckets p;
	struct decoded d;
	uint64_t from, to, now = 0, busy = 0;
	unsigned i;
	long s;
	int right = 1;

	tel__buckets_init(&p);
	s = add_series(&p, 1, TIME_BUCKETS_RANGES);
	for (i = 0; i < 2000; i++) {
		from = now + draw(100);
		to = from + draw(UINT64_C(1) << draw(24));
		now += draw(5000);
		tel__buckets_range(&p, s, from, to);
		busy += to - from;
	}
	tel__buckets_range(&p, s, 7, 7);
	for (i = 0; i < 20; i++) {
		right &= decode(&p, 0, i, &d) && in_order(&p, &d, i) &&
		    total(d.columns[0], d.count) == 2001 &&
		    total(d.columns[1], d.count) == busy;
		forget(&d);
	}
	ok(right, "ranges have their whole time, and count once");
	tel__buckets_clear(&p);
}

/* Counters in a few buckets, negative ones too. */
static void
test_values(void)
{
	static const struct {
		uint64_t time;
		int64_t value;
	} given[] = { { 0, 5 }, { 1, -7 }, { 1, INT64_MAX }, { 1, 3 },
		{ 9, INT64_MIN }, { 9, -1 }, { 70000, 4 }, { 3, 2 } };
	struct time_buckets p;
	struct decoded d;
	size_t i;
	long s;

	tel__buckets_init(&p);
	s = add_series(&p, 1, TIME_BUCKETS_VALUES);
	for (i = 0; i < 6; i++)
		tel__buckets_value(&p, s, given[i].time, given[i].value);
	ok(p.shift == 0 && decode(&p, 0, 0, &d) && d.count == 3 &&
	        d.at[1] == 1 && d.columns[0][1] == 3 &&
	        (int64_t)d.columns[1][1] == -7 &&
	        (int64_t)d.columns[2][1] == INT64_MAX && d.columns[3][1] == 3,
	    "a bucket has the least, the most and the last value");
	ok((int64_t)d.columns[1][2] == INT64_MIN &&
	        (int64_t)d.columns[2][2] == -1,
	    "differences of 64 bits wrap");
	forget(&d);
	for (; i < 8; i++)
		tel__buckets_value(&p, s, given[i].time, given[i].value);
	ok(p.shift == 1 && decode(&p, 0, 0, &d) && d.count == 4 &&
	        d.columns[0][0] == 4 && (int64_t)d.columns[1][0] == -7 &&
	        d.columns[3][0] == 3 && d.at[1] == 1 && d.columns[0][1] == 1 &&
	        d.columns[3][1] == 2 && d.at[3] == 35000,
	    "they become one bucket with the later's last");
	forget(&d);
	tel__buckets_clear(&p);
}

/* Many values of one bucket at once, and one by one. */
static void
test_many_values(void)
{
	struct time_buckets p;
	struct decoded d;
	int64_t low, high, value = 0;
	uint64_t time = 0;
	unsigned i, j;
	long one, many;
	int right;

	tel__buckets_init(&p);
	one = add_series(&p, 1, TIME_BUCKETS_VALUES);
	many = add_series(&p, 2, TIME_BUCKETS_VALUES);
	for (i = 0; i < 2000; i++) {
		time += draw(i % 16 + 1);
		low = INT64_MAX;
		high = INT64_MIN;
		for (j = 0; j < i % 5; j++) {
			value = (int64_t)draw(1000) - 500;
			low = value < low ? value : low;
			high = value > high ? value : high;
			tel__buckets_value(&p, one, time, value);
		}
		tel__buckets_values(&p, many, time, j, low, high, value);
	}
	right = decode(&p, 0, 0, &d) && total(d.columns[0], d.count) == 4000;
	forget(&d);
	for (i = 0; i < 4; i++) {
		struct tel__buffer a = { 0 }, b = { 0 };

		right &= tel__buckets_put(&p, 0, i, &a) ==
		        tel__buckets_put(&p, 1, i, &b) &&
		    a.used == b.used && memcmp(a.bytes, b.bytes, a.used) == 0;
		tel__buffer_clear(&a);
		tel__buffer_clear(&b);
	}
	ok(right, "many values at once are what they are one by one");
	tel__buckets_clear(&p);
}

static void
test_rates(void)
{
	struct time_buckets p;
	struct decoded d;
	long s;

	tel__buckets_init(&p);
	s = add_series(&p, 1, TIME_BUCKETS_RATE);
	tel__buckets_value(&p, s, 3, 2);
	tel__buckets_value(&p, s, 3, 1);
	tel__buckets_value(&p, s, 4, 5);
	tel__buckets_value(&p, s, 9, 1);
	ok(tel__buckets_columns(TIME_BUCKETS_RATE) == 4 &&
	        decode(&p, 0, 0, &d) && d.count == 4,
	    "a rate is encoded as a counter");
	ok(d.at[0] == 3 && d.columns[3][0] == 3000000000 && d.at[1] == 4 &&
	        d.columns[3][1] == 5000000000 && d.at[2] == 5 &&
	        d.columns[3][2] == 0 && d.at[3] == 9 &&
	        d.columns[1][3] == 1000000000,
	    "of so much a second, and of 0 between");
	forget(&d);
	ok(decode(&p, 0, 3, &d) && d.count == 2 && d.at[1] == 1 &&
	        d.columns[3][0] == 1000000000 && d.columns[2][1] == 125000000,
	    "and of a wider bucket, the mean");
	forget(&d);
	tel__buckets_clear(&p);
}

/* Many series with many buckets keep to their memory. */
static void
test_memory(void)
{
	enum { SERIES = 64, EACH = 32768 };
	struct time_buckets p;
	struct decoded d;
	size_t most = 0;
	uint32_t i, j;
	int right = 1;

	tel__buckets_init(&p);
	for (j = 0; j < EACH; j++)
		for (i = 0; i < SERIES; i++) {
			tel__buckets_value(&p,
			    add_series(&p, i + 1, TIME_BUCKETS_VALUES), j * 2,
			    i);
			most = p.bytes > most ? p.bytes : most;
		}
	/* one series may double before the next event sees it */
	ok(most <= TIME_BUCKETS_BYTES + ((size_t)TIME_BUCKETS_MAX + 1) * 36,
	    "series have no more memory than is theirs");
	for (i = 0; i < SERIES; i++) {
		right &= decode(&p, i, 0, &d) && in_order(&p, &d, 0) &&
		    total(d.columns[0], d.count) == EACH &&
		    d.columns[1][0] == i && d.columns[2][0] == i;
		forget(&d);
	}
	ok(right, "and nothing is lost by that");
	tel__buckets_clear(&p);
}

/* Times that are as far apart as can be. */
static void
test_far(void)
{
	struct time_buckets p;
	struct decoded d;
	long s;

	tel__buckets_init(&p);
	s = add_series(&p, 1, TIME_BUCKETS_COUNT);
	tel__buckets_count(&p, s, 0, 1);
	tel__buckets_count(&p, s, UINT64_MAX >> 1, 1);
	tel__buckets_count(&p, s, 1, UINT64_C(1) << 40);
	ok(p.shift == 47 && decode(&p, 0, 0, &d) && d.count == 2 &&
	        d.columns[0][0] == (UINT64_C(1) << 40) + 1 &&
	        d.at[1] == TIME_BUCKETS_MAX - 1,
	    "time may go to its end, and back");
	forget(&d);
	ok(decode(&p, 0, 40, &d) && d.count == 1, "a level has an end");
	forget(&d);
	tel__buckets_clear(&p);
}

/* To give memory back may fail, after any of the arrays of a series. */
static void
test_no_memory(void)
{
	struct time_buckets p;
	unsigned bad = 0;

	for (unsigned n = 0; n < 5; n++) {
		tel__buckets_init(&p);
		long i = add_series(&p, 1, TIME_BUCKETS_VALUES);
		for (unsigned j = 0; j < 600; j++)
			tel__buckets_value(&p, i, j, j);
		failing_after = n;
		tel__buckets_value(&p, i, UINT64_C(1) << 40, 1);
		tel__buckets_settle_all(&p);
		failing_after = UINT32_MAX;
		const struct bucket_series *s = &p.series[i];
		bad += malloc_usable_size(s->at) < s->room * sizeof(*s->at);
		for (unsigned c = 0; c < tel__buckets_columns(s->key.kind); c++)
			bad += malloc_usable_size(s->columns[c]) <
			    s->room * sizeof(*s->columns[c]);
		bad += s->count > s->room;
		tel__buckets_clear(&p);
	}
	is_u64(bad, 0, "no array is smaller than the room of its series");
}

int
main(void)
{
	test_series();
	test_counts(0);
	test_counts(1);
	test_ranges();
	test_values();
	test_many_values();
	test_rates();
	test_memory();
	test_far();
	test_no_memory();
	return done();
}
