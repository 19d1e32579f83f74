/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread does of a chunk: all of its words, with stops to keep a time,
 * and to time an operation.
 */
#include "run_inside.h"

#include <errno.h>
#include <time.h>

static void
sleep_until(uint64_t ns)
{
	struct timespec t;

	t.tv_sec = (time_t)(ns / 1000000000);
	t.tv_nsec = (long)(ns % 1000000000);
	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Keeps the time that stands at the next word. */
static void
keep_time(struct worker *w)
{
	struct run *r = w->run;
	uint64_t clock = w->times[1], first = r->facts->first_clock, now, due;
	double ns;

	w->times += 2;
	ns = clock > first ? (double)(clock - first) * r->tick_ns : 0;
	due = r->pace_start + (ns < 1e18 ? (uint64_t)ns : 0);
	now = run_now();
	if (now < due)
		sleep_until(due);
	else if (now - due > w->board->late_ns)
		w->board->late_ns = now - due;
}

static uint64_t
next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

/* Samples come at odd intervals, so that no rhythm of a log hides any. */
static void
plan_sample(struct worker *w, const uint64_t *p)
{
	uint64_t n = w->run->sample, left = (uint64_t)(w->end - p);

	if (n == 0) {
		w->next_sample = w->end;
		return;
	}
	/* from n / 2 up to as much more, without a division */
	n = n / 2 + ((next_random(w) >> 32) * n >> 32) + 1;
	w->next_sample = n < left ? p + n : w->end;
}

/* Runs a word and notes how long it took, if it is one that is timed. */
static const uint64_t *
sample(struct worker *w, const uint64_t *p)
{
	uint64_t kind = *p & TEL_WORD_KIND;

	if (kind == TEL_WORD_WAIT || kind == TEL_WORD_USE)
		return run_words(w, p, p + 1);
	atomic_store_explicit(&w->board->word, p, memory_order_relaxed);
	run_timed(w, p);
	if (kind == TEL_WORD_MORE)
		p += TEL_WORD_SIZE(*p) & 7;
	p++;
	return p;
}

/* All words of a chunk. */
static void
work(struct worker *w)
{
	const uint64_t *p = w->first, *stop, *word;

	if (w->run->sample == 0 && w->times == w->times_end) {
		(void)run_words(w, p, w->end);
		return;
	}
	plan_sample(w, p);
	while (p < w->end) {
		stop = w->next_sample;
		if (w->times < w->times_end) {
			if (w->first + w->times[0] <= p) {
				keep_time(w);
				continue;
			}
			if (w->first + w->times[0] < stop)
				stop = w->first + w->times[0];
		}
		p = run_words(w, p, stop);
		if (p < w->next_sample || p >= w->end)
			continue;
		word = p;
		p = sample(w, p);
		if ((*word & TEL_WORD_PUBLISH) != 0)
			run_publish(w, p);
		plan_sample(w, p);
	}
}

/* Signals have no argument that could say in which lane they came. */
static _Thread_local unsigned lane_here = RUN_NO_LANE;

unsigned
run_lane_here(void)
{
	return lane_here;
}

void
run_chunk(struct worker *w)
{
	lane_here = w->number;
	w->began_ns = run_now();
	w->cpu_ns = run_cpu();
	work(w);
	run_wake(w);
	w->cpu_ns = run_cpu() - w->cpu_ns;
	w->ended_ns = run_now();
}
