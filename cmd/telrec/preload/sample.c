/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of allocations by bytes, as allocators with a heap profiler take
 * them.  An allocation of n bytes is a sample with the probability
 * 1 - exp(-n / N), whatever was allocated before; telrec divides by that.
 *
 * The blocks of samples are in a table, without locks, as a forked child gets a
 * copy of it in any state.  A bucket is a line of the cache, with seven blocks;
 * once it was full, it refers to a larger table, for good.
 */
#define _GNU_SOURCE
#include "telrec/preload/sample.h"

#include <stdint.h>
#include <sys/mman.h>

#include "telrec/preload/process.h"
#include "telrec/preload/ring.h"

#define LEVELS 4u
#define SLOTS 7u

/* Buckets of the first level; each has eight times those of the one before. */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define FIRST_BITS 12u
#else
#define FIRST_BITS 8u
#endif

struct bucket {
	uintptr_t blocks[SLOTS];
	uintptr_t was_full;
};

static struct bucket *levels[LEVELS];

static size_t
count_buckets(unsigned level)
{
	return (size_t)1 << (FIRST_BITS + 3 * level);
}

int
sample_begin(void)
{
	struct bucket *all;
	size_t n = 0;

	for (unsigned i = 0; i < LEVELS; i++)
		n += count_buckets(i);
	all = mmap(NULL, n * sizeof(*all), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		return 0;
	for (unsigned i = 0; i < LEVELS; i++) {
		levels[i] = all;
		all += count_buckets(i);
	}
	return 1;
}

/* --------------------------------------------------------------- chance */

static uint64_t
preload_sample_mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

/* -log(v / 2^64) for v > 0, to 10^-14, without libm, which a program may lack. */
static double
minus_log(uint64_t v)
{
	const int zeros = __builtin_clzll(v);
	/* from 0.5 to 1 */
	double m = (double)(v << zeros >> 11) / (double)(UINT64_C(1) << 53);
	double z, square, power, sum = 0;
	int i, halves = zeros;

	if (m < 0.70710678118654752) {
		m *= 2;
		halves++;
	}
	z = (1 - m) / (1 + m);
	square = z * z;
	power = z;
	for (i = 1; i < 20; i += 2) {
		sum += power / i;
		power *= square;
	}
	return 2 * sum + halves * 0.69314718055994531;
}

/* Bytes until the next point. */
static int64_t
draw(struct ring_self *s)
{
	const uint64_t v =
	    preload_sample_mix(s->random += UINT64_C(0x9e3779b97f4a7c15));

	return (int64_t)(minus_log(v | 1) * (double)ring_shared.arena->sample);
}

/* Each thread has numbers of its own, the same in each run of a program. */
static void
seed(struct ring_self *s)
{
	static uint32_t threads;
	const uint64_t number =
	    __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);

	s->random = preload_sample_mix(ring_shared.arena->seed ^
	    preload_sample_mix((uint64_t)process_image() << 32 | (number + 1)));
	s->random |= 1;
	s->sample = draw(s);
}

int
sample_take(size_t bytes)
{
	struct ring_self *s = &ring_self;

	if (s->muted || s->nested != 0)
		return 0;
	if (s->random == 0)
		seed(s);
	/* so that blocks of 0 bytes are seen, too */
	bytes += bytes == 0;
	s->sample -= (int64_t)(bytes < PTRDIFF_MAX ? bytes : PTRDIFF_MAX);
	if (s->sample >= 0)
		return 0;
	s->sample = draw(s);
	return 1;
}

/* --------------------------------------------------------------- blocks */

static struct bucket *
find_bucket(unsigned level, uintptr_t p)
{
	const uint64_t hash = ((uint64_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15);

	return &levels[level][hash >> (64 - FIRST_BITS - 3 * level)];
}

int
sample_add(const void *p)
{
	const uintptr_t block = (uintptr_t)p;
	struct bucket *b;
	uintptr_t none;

	for (unsigned level = 0; level < LEVELS; level++) {
		b = find_bucket(level, block);
		for (unsigned i = 0; i < SLOTS; i++) {
			none = 0;
			if (ARENA_NOW(b->blocks[i]) == 0 &&
			    __atomic_compare_exchange_n(&b->blocks[i], &none,
			        block, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
				return 1;
		}
		ARENA_SET(b->was_full, 1);
	}
	return 0;
}

int
sample_remove(const void *p)
{
	uintptr_t block = (uintptr_t)p;
	struct bucket *b;

	for (unsigned level = 0; block != 0 && level < LEVELS; level++) {
		b = find_bucket(level, block);
		for (unsigned i = 0; i < SLOTS; i++)
			if (ARENA_NOW(b->blocks[i]) == block)
				return __atomic_compare_exchange_n(
				    &b->blocks[i], &block, 0, 0,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
		if (!ARENA_NOW(b->was_full))
			break;
	}
	return 0;
}
