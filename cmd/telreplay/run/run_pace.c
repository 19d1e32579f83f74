/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pace: the words of a chunk, with stops to keep a recorded time and to time an
 * operation.
 */
#include "telreplay/run/run_inside.h"

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

/* Sleeps until the recorded time of the next word. */
static void
keep_time(struct worker *w)
{
	struct run *r = w->run;
	uint64_t clock = w->times[1], first = r->facts->first_clock, now, due;

	w->times += 2;
	double ns = clock > first ? (double)(clock - first) * r->tick_ns : 0;
	due = r->pace_start + (ns < 1e18 ? (uint64_t)ns : 0);
	now = run_now();
	if (now < due) {
		run_set_state(w, RUN_WAITING);
		sleep_until(due);
		run_set_state(w, RUN_WORKING);
	} else if (now - due > w->shared_stats->times.late_ns)
		w->shared_stats->times.late_ns = now - due;
}

/* The most to compute between two operations: more was sleep, not work. */
#define MAX_THINK_NS 1e6

/*
 * Spreads the time from one recorded time to the next over the words there, at
 * least one, as times_fit() has seen.
 */
static void
next_think(struct worker *w)
{
	const uint64_t *t = w->times;
	double ns;

	w->think = 0;
	w->times += 2;
	if (w->times == w->times_end || t[3] <= t[1])
		return;
	ns = (double)(t[3] - t[1]) * w->run->tick_ns / (double)(t[2] - t[0]);
	if (ns > MAX_THINK_NS)
		ns = MAX_THINK_NS;
	w->think = (uint64_t)(ns * w->run->options->think_rate);
}

static uint64_t
next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

/* Within so many words another operation is sampled in place of a wait. */
#define INSTEAD 16

/* Intervals of n words between samples are random, against periodic logs. */
static void
plan_sample(struct worker *w, const uint64_t *p, uint64_t n)
{
	uint64_t left = (uint64_t)(w->end - p);

	if (n == 0) {
		w->next_sample = w->end;
		return;
	}
	/* those between: n - 1 on average, and half of that at least */
	n = (n - 1) / 2 + ((next_random(w) >> 32) * (n | 1) >> 32);
	w->next_sample = n < left ? p + n : w->end;
}

/* Runs an operation, and records its latency. */
static const uint64_t *
run_pace_sample(struct worker *w, const uint64_t *p)
{
	uint64_t word = *p;

	atomic_store_explicit(&w->shared_stats->word, p, memory_order_relaxed);
	run_timed(w, p);
	p += 1 + word_operands(word);
	if ((word & WORD_PUBLISH) != 0)
		run_publish(w, p);
	return p;
}

void
run_paced(struct worker *w)
{
	const uint64_t *p = w->next, *stop;
	const uint64_t n = w->run->options->sample;

	if (n == 0 && w->times == w->times_end) {
		(void)run_words(w, p, w->end);
		return;
	}
	plan_sample(w, p, n);
	while (p < w->end) {
		stop = w->next_sample;
		if (w->times < w->times_end) {
			if (w->first + w->times[0] <= p) {
				if (w->run->options->think_log)
					next_think(w);
				else
					keep_time(w);
				continue;
			}
			if (w->first + w->times[0] < stop)
				stop = w->first + w->times[0];
		}
		p = run_words(w, p, stop);
		if (p < w->next_sample || p >= w->end)
			continue;
		if (word_is_operation(*p)) {
			p = run_pace_sample(w, p);
			plan_sample(w, p, n);
		} else {
			p = run_words(w, p, p + 1);
			plan_sample(w, p, n < INSTEAD ? n : INSTEAD);
		}
	}
}
