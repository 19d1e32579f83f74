/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels and clocks by themselves. */
#include "tap.h"

#include "model/clock.h"
#include "model/labels.h"

static const char *
label_at(const struct tel_labels *l, uint64_t address, uint64_t clock)
{
	struct tel_label found;

	if (!tel__labels_find(l, TEL_SPACE_ADDRESS, address, clock, &found))
		return "none";
	return found.string != NULL ? found.string : "unknown";
}

static void
test_labels(void)
{
	struct tel_labels *l = tel__labels_new(1000);
	struct tel_label found;
	uint64_t i, wrong = 0;

	is_str(label_at(l, 0, 0), "none", "nothing is labelled at first");
	ok(tel__labels_add(l, TEL_SPACE_ADDRESS, 0x10, 100, 1) == TEL_OK,
	    "a label");
	is_str(label_at(l, 0x10, 99), "none", "does not hold before its time");
	is_str(label_at(l, 0x10, 100), "unknown", "has no string yet");
	ok(tel__labels_intern(l, 1, "one", 3) == TEL_OK, "a string");
	is_str(label_at(l, 0x10, 100), "one", "holds from its time on");
	ok(tel__labels_intern(l, 2, "two", 3) == TEL_OK, "another string");
	ok(tel__labels_add(l, TEL_SPACE_ADDRESS, 0x10, 50, 2) == TEL_OK,
	    "an earlier label that comes later");
	is_str(label_at(l, 0x10, 99), "two", "holds until the next");
	is_str(label_at(l, 0x10, 100), "one", "and no longer");
	is_str(label_at(l, 0x10, 99), "two", "whatever was found before");
	is_str(label_at(l, 0x10, 1000), "one", "the last one holds on");
	ok(!tel__labels_find(l, TEL_SPACE_POINTER, 0x10, 1000, &found),
	    "pointers are a space of their own");
	is_u64(tel__labels_count(l), 2, "two labels");
	ok(tel__labels_add(l, TEL_SPACE_ADDRESS, 0x10, 50, 2) == TEL_OK,
	    "the same again");
	is_u64(tel__labels_count(l), 2, "adds no label");
	ok(tel__labels_intern(l, 1, "uno", 3) == TEL_OK, "a string anew");
	is_str(label_at(l, 0x10, 1000), "uno", "is found");
	for (i = 0; i < 998; i++)
		wrong += tel__labels_add(l, TEL_SPACE_ADDRESS, i << 12, i, 2) !=
		    TEL_OK;
	is_u64(wrong, 0, "as many labels as there may be");
	ok(tel__labels_add(l, TEL_SPACE_ADDRESS, 7, 7, 2) == TEL_ELIMIT,
	    "and no more");
	for (i = 0; i < 998; i++)
		wrong += strcmp(label_at(l, i << 12, i), "two") != 0;
	is_u64(wrong, 0, "each is found");
	for (i = 3; i < 1001; i++)
		wrong += tel__labels_intern(l, i, "s", 1) != TEL_OK;
	is_u64(wrong, 0, "as many strings as there may be");
	ok(tel__labels_intern(l, 5000, "s", 1) == TEL_ELIMIT, "and no more");
	ok(tel__labels_intern(l, 3, "another", 7) == TEL_OK,
	    "but one may change");
	tel__labels_free(l);
}

/* Bytes of strings are bounded too. */
static void
test_long_strings(void)
{
	static char big[60000];
	struct tel_labels *l = tel__labels_new(1000);

	memset(big, 'x', sizeof(big));
	ok(tel__labels_intern(l, 1, big, sizeof(big)) == TEL_OK, "60 kB");
	ok(tel__labels_intern(l, 2, big, sizeof(big)) == TEL_ELIMIT,
	    "not twice where 64 kB is the most");
	tel__labels_free(l);
}

/* Parts of a clock are remembered as long as no point changes them. */
static void
test_between(void)
{
	struct tel_clock *c = tel__clock_new();
	uint64_t x = 1, at, same, good = 0;
	const uint64_t steps = 600000; /* more points than are kept */
	int64_t ns;

	for (uint64_t i = 0; i < steps; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		/* some come between others */
		at = i * 1000 - (x >> 60 == 0 && i > 64 ? x >> 48 : 0);
		(void)tel__clock_sync(c, at, i * 3 + (x >> 62));
		if (x >> 50 == 0)
			tel__clock_set_unit(c, x >> 40);
		at -= at < x >> 47 ? at : x >> 47;
		good += !tel__clock_between(c, at, i * 1000, &ns) ||
		    ns == tel__clock_ns(c, i * 1000) - tel__clock_ns(c, at);
		/* the same part again and again, also when points are dropped */
		same = i / 100 * 100000 + 500;
		good += !tel__clock_between(c, same, at, &ns) ||
		    ns == tel__clock_ns(c, at) - tel__clock_ns(c, same);
	}
	is_u64(good, steps * 2, "a duration is the difference of two times");
	tel__clock_free(c);
}

static void
test_clock(void)
{
	struct tel_clock *c = tel__clock_new();
	uint64_t i;
	int64_t last, now, ns;
	int wrong = 0;

	is_u64((uint64_t)tel__clock_ns(c, 5), 0, "no points, no time");
	ok(tel__clock_rate(c) <= 0, "and no rate");
	tel__clock_set_origin(c, 1000);
	/* 2 GHz against microseconds */
	(void)tel__clock_sync(c, 3000, 11);
	(void)tel__clock_sync(c, 7000, 13);
	ok(tel__clock_rate(c) > 1.999e9 && tel__clock_rate(c) < 2.001e9,
	    "two points make a rate");
	is_u64((uint64_t)tel__clock_ns(c, 1000), 0, "the origin is 0");
	is_u64((uint64_t)tel__clock_ns(c, 3000), 1000, "a point");
	is_u64((uint64_t)tel__clock_ns(c, 5000), 2000, "between two");
	is_u64((uint64_t)tel__clock_ns(c, 9000), 4000, "past the last");
	is_u64((uint64_t)tel__clock_ns(c, 0), (uint64_t)-500, "before all");
	/* from here on half as fast */
	(void)tel__clock_sync(c, 11000, 17);
	is_u64((uint64_t)tel__clock_ns(c, 9000), 5000, "interpolated");
	is_u64((uint64_t)tel__clock_ns(c, 3000), 1000, "the past stays");
	tel__clock_free(tel__clock_share(c));
	ok(tel__clock_between(c, 3000, 9000, &ns), "a shared clock stays");
	is_u64((uint64_t)ns, 4000, "between two readings");
	ok(tel__clock_between(c, 9000, 3000, &ns), "and backwards");
	is_u64((uint64_t)ns, (uint64_t)-4000, "it is negative");
	/* what was found for the ends holds no longer */
	ok(tel__clock_between(c, 3000, 9000, &ns) && ns == 4000,
	    "and forwards again");
	(void)tel__clock_sync(c, 9000, 16);
	ok(tel__clock_between(c, 3000, 9000, &ns) && ns == 5000,
	    "a point that came since");
	ok(tel__clock_between(c, 8000, 10000, &ns) && ns == 2000,
	    "ends after those of the last question");
	ok(tel__clock_between(c, 1000, 5000, &ns) && ns == 2000,
	    "and before them");
	tel__clock_free(c);

	/* 0.3 ns a tick: no duration depends on where time starts */
	for (i = 0; i < 2; i++) {
		c = tel__clock_new();
		tel__clock_set_origin(c, i == 0 ? 10 : 11);
		(void)tel__clock_sync(c, 0, 0);
		(void)tel__clock_sync(c, 10000, 3);
		ok(tel__clock_between(c, 12, 17, &ns), "a duration");
		is_u64((uint64_t)ns, 1, "from 3.6 to 5.1 ns, rounded");
		tel__clock_free(c);
	}
	ok(!tel__clock_between(NULL, 0, 1, &ns), "no clock, no time");

	c = tel__clock_new();
	tel__clock_set_rate(c, 1e6);
	is_u64((uint64_t)tel__clock_ns(c, 7), 7000, "a rate that is stated");
	ok(!tel__clock_between(c, 0, UINT64_MAX, &ns), "what no number holds");
	tel__clock_free(c);

	/* many points, forwards and then backwards */
	c = tel__clock_new();
	for (i = 0; i < 20000; i++)
		(void)tel__clock_sync(c, i * 1000, i);
	for (i = 20000; i > 0; i--)
		(void)tel__clock_sync(c, i * 1000 - 500, i);
	last = INT64_MIN;
	for (i = 0; i < 20000; i++) {
		now = tel__clock_ns(c, i * 1000);
		wrong += now < last;
		last = now;
	}
	ok(wrong == 0, "time does not go back");
	tel__clock_free(c);

	/* points that contradict each other */
	c = tel__clock_new();
	(void)tel__clock_sync(c, 10, UINT64_MAX);
	(void)tel__clock_sync(c, UINT64_MAX, 0);
	(void)tel__clock_ns(c, UINT64_MAX / 2);
	(void)tel__clock_sync(c, 10, 5);
	ok(tel__clock_rate(c) <= 0, "a clock that runs backwards has no rate");
	tel__clock_free(c);
}

/* A second clock of 32 bits that starts anew, its points in several orders. */
static void
test_narrow_clock(void)
{
	static const struct {
		uint64_t apart; /* microseconds */
		unsigned order[4];
	} rows[] = { { 1000000000, { 0, 1, 2, 3 } },
		{ 1000000000, { 3, 2, 1, 0 } }, { 1000000000, { 1, 3, 0, 2 } },
		/* of an hour, and all from the first to the last in an hour */
		{ 3600000000, { 0, 1, 2, 3 } }, { 1200000000, { 3, 2, 1, 0 } },
		{ 1200000000, { 3, 0, 1, 2 } } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t ns = rows[i].apart * 1000;
		struct tel_clock *parts[] = { tel__clock_new(),
			tel__clock_new() };

		for (unsigned j = 0; j < 4; j++) {
			const uint64_t n = rows[i].order[j];
			struct tel_clock *c = parts[j / 2];

			tel__clock_set_width(c, 32);
			(void)tel__clock_sync(c, n * 1000,
			    (uint32_t)((n + 3) * rows[i].apart));
		}
		ok(tel__clock_join(parts[0], parts[1]) == TEL_OK, "joined");
		tel__clock_set_origin(parts[0], 0);
		for (uint64_t n = 0; n < 5; n++)
			is_u64((uint64_t)tel__clock_ns(parts[0],
			           n * 1000 + 500),
			    n * ns + ns / 2, "its time");
		tel__clock_free(parts[0]);
		tel__clock_free(parts[1]);
	}
	/* it was set back by 15 microseconds */
	struct tel_clock *c = tel__clock_new();
	tel__clock_set_width(c, 32);
	tel__clock_set_origin(c, 0);
	(void)tel__clock_sync(c, 0, 5);
	(void)tel__clock_sync(c, 10, UINT32_MAX - 9);
	(void)tel__clock_sync(c, 1000, 1005);
	is_u64((uint64_t)-tel__clock_ns(c, 10), 15000, "its time");
	is_u64((uint64_t)tel__clock_ns(c, 1000), 1000000, "its time");
	tel__clock_free(c);
}

/* A second clock that is coarse, and one that stands. */
static void
test_clock_that_stands(void)
{
	struct tel_clock *c = tel__clock_new();

	for (uint64_t i = 1; i < 256; i++) {
		(void)tel__clock_sync(c, i, 7);
		is_u64(tel__clock_settled(c), 0, "no rate yet");
	}
	(void)tel__clock_sync(c, 256, 7);
	is_u64(tel__clock_settled(c), UINT64_MAX, "nothing to wait for");
	tel__clock_free(c);
}

int
main(void)
{
	test_clock_that_stands();
	test_narrow_clock();
	test_labels();
	test_long_strings();
	test_clock();
	test_between();
	return done();
}
