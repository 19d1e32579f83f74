/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, and the histogram of latencies. */
#include "telreplay/run/run_inside.h"

#include <math.h>
#include <time.h>

#define EMPTY_PAIRS 1001

uint64_t
run_clock(clockid_t id)
{
	struct timespec t = { 0, 0 };

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t
run_now(void)
{
	return run_clock(CLOCK_MONOTONIC);
}

uint64_t
run_cpu(void)
{
	return run_clock(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * The processor's cycle counter where it is cheap to read: clock_gettime()
 * takes longer than the operation that is measured.
 */
uint64_t
run_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return run_now();
#endif
}

#define THINK_STEPS 200000
#define THINK_TRIES 5

/* Each step needs the one before it. */
static uint64_t
think(uint64_t v, uint64_t steps)
{
	for (; steps > 0; steps--)
		v = v * UINT64_C(0x9e3779b97f4a7c15) + steps;
	return v;
}

void
run_think(struct worker *w)
{
	*(volatile uint64_t *)&w->random = think(w->random, w->think) | 1;
}

double
run_think_rate(void)
{
	volatile uint64_t v = 1;
	uint64_t began, taken, least = UINT64_MAX;

	for (int i = 0; i < THINK_TRIES; i++) {
		began = run_now();
		v = think(v, THINK_STEPS);
		taken = run_now() - began;
		if (taken < least)
			least = taken;
	}
	return (double)THINK_STEPS / (double)(least > 0 ? least : 1);
}

/*
 * The median difference between two calls of a clock; noise: by how much nine
 * in ten exceed it at most, and 1 at least.
 */
static uint64_t
run_clock_between(uint64_t (*read)(void), uint64_t *noise)
{
	uint64_t taken[EMPTY_PAIRS], t, v;
	int i, j;

	for (i = 0; i < EMPTY_PAIRS; i++) {
		t = read();
		v = read() - t;
		/* insertion sort */
		for (j = i; j > 0 && taken[j - 1] > v; j--)
			taken[j] = taken[j - 1];
		taken[j] = v;
	}
	v = taken[EMPTY_PAIRS / 2];
	*noise = taken[EMPTY_PAIRS * 9 / 10] - v;
	*noise += *noise == 0;
	return v;
}

uint64_t
run_cpu_cost(void)
{
	uint64_t noise;

	return run_clock_between(run_cpu, &noise);
}

uint64_t
run_empty(uint64_t *noise)
{
	return run_clock_between(run_ticks, noise);
}

void
run_note(struct run_latency *l, uint32_t *by_size, uint64_t ticks)
{
	unsigned i = tel__bucket(ticks);

	if (i >= RUN_BUCKETS)
		i = RUN_BUCKETS - 1;
	l->count++;
	l->buckets[i]++;
	by_size[i / 4]++;
	if (ticks > l->max)
		l->max = ticks;
}

void
run_latency_add(struct run_latency *to, const struct run_latency *from)
{
	to->count += from->count;
	if (from->max > to->max)
		to->max = from->max;
	for (unsigned i = 0; i < RUN_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

void
run_size_time_add(struct run_size_time *to, const struct run_size_time *from)
{
	for (size_t k = 0; k < RUN_SIZES; k++)
		for (size_t i = 0; i < RUN_COARSE; i++) {
			to[k].allocated[i] += from[k].allocated[i];
			to[k].freed[i] += from[k].freed[i];
		}
}

double
run_coarse_median(const uint32_t *buckets, uint64_t *sum)
{
	uint64_t below = 0, low;
	unsigned i;

	*sum = 0;
	for (i = 0; i < RUN_COARSE; i++)
		*sum += buckets[i];
	if (*sum == 0)
		return NAN;
	for (i = 0; 2 * (below + buckets[i]) < *sum; i++)
		below += buckets[i];
	low = tel__bucket_start(4 * i);
	return (double)low +
	    ((double)*sum / 2 - (double)below) / (double)buckets[i] *
	    (double)(tel__bucket_start(4 * i + 4) - low);
}

double
run_quantile(const struct run_latency *l, double share)
{
	double rank = share * (double)l->count, below = 0, n, at;
	unsigned i;

	if (l->count == 0)
		return 0;
	if (share >= 1)
		return (double)l->max;
	for (i = 0; i < RUN_BUCKETS - 1; i++) {
		n = (double)l->buckets[i];
		if (below + n > rank)
			break;
		below += n;
	}
	/* interpolated linearly within the bucket */
	n = l->buckets[i] > 0 ? (rank - below) / (double)l->buckets[i] : 0;
	at = (double)tel__bucket_start(i);
	at += n * ((double)tel__bucket_start(i + 1) - at);
	return at < (double)l->max ? at : (double)l->max;
}

void
run_position(const struct run_shared_stats *shared_stats, unsigned thread,
    uint64_t *chunk, uint32_t *position)
{
	const struct run_thread *l = &shared_stats->thread[thread];
	uintptr_t first = (uintptr_t)atomic_load(&l->first);
	uintptr_t word = (uintptr_t)atomic_load(&l->word);

	*chunk = atomic_load(&l->chunk);
	*position = word >= first ? (uint32_t)((word - first) / 8) : 0;
}

double
run_progress(const struct run_shared_stats *shared_stats,
    const struct facts *facts, uint64_t *words)
{
	uint64_t done = atomic_load(&shared_stats->words), chunk;
	uint64_t all = facts->words == 0 ? 1 : facts->words;
	uint32_t position;
	unsigned i;

	if (atomic_load(&shared_stats->phase) == RUN_CHUNK)
		for (i = 0; i < shared_stats->threads && i < facts->threads;
		     i++) {
			run_position(shared_stats, i, &chunk, &position);
			done += position;
		}
	if (done > all)
		done = all;
	if (words != NULL)
		*words = done;
	return (double)done / (double)all;
}

uint64_t
run_words_done(const struct run_shared_stats *shared_stats,
    const struct facts *facts, unsigned repeat)
{
	const uint64_t all = facts->words * repeat;
	uint64_t words = 0;

	(void)run_progress(shared_stats, facts, &words);
	/* the words of the last repeat are there when it has been counted */
	words += facts->words * atomic_load(&shared_stats->repeats);
	return words < all ? words : all;
}
