/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting by clocks, against a plain model. */
#include "base/sort.c"

#include "tap.h"

#define KEYS 5000u

static uint32_t state = 1;

static uint32_t
draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * below >> 32);
}

/* Keys as clocks say, whose rows are their places. */
static void
number_keys(struct tel__sort_key *keys)
{
	size_t i;

	for (i = 0; i < KEYS; i++)
		keys[i].row = i;
}

static int
compare(const void *a, const void *b)
{
	const struct tel__sort_key *x = a, *y = b;

	if (x->clock != y->clock)
		return x->clock < y->clock ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Runs of up to so many keys, each up or down, of clocks that may be equal. */
static void
make_runs(struct tel__sort_key *keys, uint32_t longest, uint32_t step)
{
	uint32_t i, n, up;
	uint64_t clock;

	for (i = 0; i < KEYS;) {
		n = 1 + draw(longest);
		up = draw(2);
		for (clock = 1000000 + draw(1000); n > 0 && i < KEYS; n--) {
			keys[i++].clock = clock;
			clock += up ? draw(step) : -(uint64_t)draw(step);
		}
	}
	number_keys(keys);
}

static void
test_random(struct tel__sorter *s)
{
	static struct tel__sort_key keys[KEYS], model[KEYS];
	int right = 1;
	uint32_t i;

	for (i = 0; i < 200; i++) {
		make_runs(keys, 1 + draw(60), 1 + draw(20));
		memcpy(model, keys, sizeof(keys));
		qsort(model, KEYS, sizeof(*model), compare);
		right &= tel__sort_keys(s, keys, KEYS) &&
		    memcmp(keys, model, sizeof(keys)) == 0;
	}
	ok(right, "sort: runs up and down, those of one clock as they came");
	ok(tel__sort_keys(s, keys, 0) && tel__sort_keys(s, keys, 1),
	    "sort: no key, and one");
}

/*
 * Flushes, of which each is later than the one before: newest first, or, if
 * mixed, some of them in order.
 */
static void
test_flushes(struct tel__sorter *s, int mixed)
{
	static struct tel__sort_key keys[KEYS];
	uint32_t i, j, n, down;
	size_t pieces;
	int right = 1;

	for (i = 0; i < KEYS; i += n) {
		n = 2 + draw(50);
		n = n < KEYS - i ? n : KEYS - i;
		down = !mixed || draw(2);
		for (j = 0; j < n; j++)
			keys[i + j].clock = i + (down ? n - 1 - j : j);
	}
	number_keys(keys);
	pieces = find_pieces(s, keys, KEYS);
	for (i = 1; i < KEYS; i++)
		right &= keys[i].clock >= keys[i - 1].clock;
	/* a flush of two, down, between others is not told from a drop */
	ok(mixed ? pieces < 50 : pieces == 1 && right,
	    "sort: %s flushes need few merges: %zu pieces",
	    mixed ? "mixed" : "descending", pieces);
}

int
main(void)
{
	struct tel__sorter s = { 0 };

	test_random(&s);
	test_flushes(&s, 0);
	test_flushes(&s, 1);
	tel__sorter_clear(&s);
	return done();
}
