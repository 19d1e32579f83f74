/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples in the library that telrec preloads, without a recording. */
#define _GNU_SOURCE
#include "telrec/preload/sample.c"
#include "telrec/weights.c"

#include <stdlib.h>

#include "tap.h"

__thread struct ring_self ring_self;
struct ring_shared ring_shared;

uint32_t
process_image(void)
{
	return 0;
}

#define MEAN 8192u
#define CALLS 400000u

/*
 * The sum of the weights is that of the bytes, within 7 standard deviations:
 * each sample of n bytes has the variance n^2 (1 - p) / p of its weight.
 */
static int
is_unbiased(size_t bytes, struct weights *w)
{
	const double n = bytes > 0 ? (double)bytes : 1;
	double sum = 0, p, error, variance;
	unsigned i;

	for (i = 0; i < CALLS; i++)
		if (sample_take(bytes))
			sum += (double)weights_of(w, bytes);
	p = n / ((double)weights_of(w, bytes) + 1e-9);
	p = p < 1 ? p : 1;
	error = sum - n * CALLS;
	variance = n * n * (1 - p) / p * CALLS + 4;
	if (error * error < 49 * variance)
		return 1;
	diag("%zu bytes: %.0f instead of %.0f", bytes, sum, n * CALLS);
	return 0;
}

static void
test_sizes(void)
{
	static const size_t sizes[] = { 0, 1, 8, 24, 100, 1000, 8192, 20000,
		100000, 10000000 };
	struct weights w;
	size_t i;

	weights_init(&w, MEAN);
	ok(weights_of(&w, 100000000) == 100000000,
	    "a large block stands for itself");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ok(is_unbiased(sizes[i], &w), "%zu bytes", sizes[i]);
}

/* Sizes after each other: those that come before must not matter. */
static void
test_mixed(void)
{
	static const size_t sizes[] = { 16, 5000, 64, 64, 300, 16 };
	double sum[6] = { 0 }, all[6] = { 0 }, p, n, error;
	struct weights w;
	unsigned i, k;

	weights_init(&w, MEAN);
	for (i = 0; i < CALLS; i++)
		for (k = 0; k < 6; k++) {
			all[k] += (double)sizes[k];
			if (sample_take(sizes[k]))
				sum[k] += (double)weights_of(&w, sizes[k]);
		}
	for (k = 0; k < 6; k++) {
		n = (double)sizes[k];
		p = n / (double)weights_of(&w, sizes[k]);
		error = sum[k] - all[k];
		ok(error * error < 49 * n * n * (1 - p) / p * CALLS,
		    "%zu bytes among others", sizes[k]);
	}
}

#define COUNT 200000u

static void
test_blocks(void)
{
	static char blocks[COUNT * 16u];
	unsigned i, wrong = 0;

	ok(!sample_remove(NULL) && !sample_remove(blocks),
	    "no block is of a sample at first");
	for (i = 0; i < COUNT; i++)
		wrong += !sample_add(&blocks[i * 16u]);
	ok(wrong == 0, "more blocks than the first table has room for");
	for (i = 0; i < COUNT; i += 2)
		wrong += !sample_remove(&blocks[i * 16u]);
	for (i = 0; i < COUNT; i += 2)
		wrong += sample_remove(&blocks[i * 16u]) != 0;
	ok(wrong == 0, "each is removed once");
	for (i = 0; i < COUNT; i += 2)
		wrong += !sample_add(&blocks[i * 16u]);
	for (i = 0; i < COUNT; i++)
		wrong += !sample_remove(&blocks[i * 16u]);
	ok(wrong == 0, "room is used again");
}

int
main(void)
{
	static struct arena arena; /* it is aligned to pages */

	if (!sample_begin())
		return 1;
	arena.sample = MEAN;
	arena.seed = 1;
	ring_shared.arena = &arena;
	test_sizes();
	test_mixed();
	test_blocks();
	return done();
}
