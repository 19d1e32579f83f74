/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread of a run: all words of a chunk, with stops to keep a recorded time
 * and to time an operation; and its waits for other threads.
 *
 * A thread that waits looks for a moment how far the other one is, and then
 * sleeps until that one wakes it.  One that goes on looks for sleepers only
 * where it publishes how far it is, and there without a barrier: it looks
 * again, with one, before it waits or ends.
 */
#include "telreplay/run/run_inside.h"

#include <errno.h>
#include <time.h>

#define NEVER UINT64_MAX
/* Nobody sleeps for longer without a look, in nanoseconds. */
#define NAP 2000000

/* Lets the processor rest in a loop that waits. */
static inline void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* The words that another thread has done, or 0: not enough. */
static uint64_t
look(const struct worker *other, uint64_t position)
{
	uint64_t done = atomic_load_explicit(&other->board->published,
	    memory_order_acquire);

	return done > position ? done : 0;
}

/*
 * Spins for a while, and looks less and less often: each look takes the cache
 * line from the thread that writes to it.
 */
static uint64_t
look_again(const struct worker *other, uint64_t position, int spin)
{
	uint64_t done = 0;
	int i, rest;

	for (rest = 4; rest <= spin && done == 0; rest *= 2) {
		for (i = 0; i < rest; i++)
			relax();
		done = look(other, position);
	}
	return done;
}

/* Requests to be woken, and looks a last time. */
static uint64_t
ask(struct worker *other, uint64_t position)
{
	uint64_t at = atomic_load(&other->board->wake_at);

	while (at > position + 1 &&
	    !atomic_compare_exchange_weak(&other->board->wake_at, &at,
	        position + 1))
		;
	return look(other, position);
}

static uint64_t
sleep_for(struct worker *other, uint64_t position)
{
	struct timespec until;
	uint64_t done, ns;

	(void)pthread_mutex_lock(&other->lock);
	while ((done = ask(other, position)) == 0) {
		ns = run_now() + NAP;
		until.tv_sec = (time_t)(ns / 1000000000);
		until.tv_nsec = (long)(ns % 1000000000);
		(void)pthread_cond_timedwait(&other->moved, &other->lock,
		    &until);
	}
	(void)pthread_mutex_unlock(&other->lock);
	return done;
}

/* Waiting is not work: its time is subtracted, and that of the clock calls. */
static void
note(struct worker *w, uint64_t began)
{
	w->board->wait_ns += run_cpu() - began + w->run->clock_ns;
}

void
run_wake(struct worker *w)
{
	struct run_thread *b = w->board;
	uint64_t began;

	/* a barrier: either they see .published, or .wake_at is seen here */
	if (atomic_fetch_add(&b->wake_at, 0) > atomic_load(&b->published))
		return;
	began = run_cpu();
	(void)pthread_mutex_lock(&w->lock);
	atomic_store(&b->wake_at, NEVER);
	(void)pthread_cond_broadcast(&w->moved);
	(void)pthread_mutex_unlock(&w->lock);
	note(w, began);
}

void
run_wait(struct worker *w, uint64_t word)
{
	struct worker *other = &w->run->workers[WORD_SLOT(word)];
	uint64_t position = WORD_SIZE(word), began, done;

	done = look(other, position);
	if (done == 0) {
		run_wake(w);
		began = run_cpu();
		done = look_again(other, position, w->run->spin);
		if (done == 0)
			done = sleep_for(other, position);
		w->board->blocked++;
		note(w, began);
	}
	w->seen[WORD_SLOT(word)] = (uint32_t)done;
}

int
run_wait_open(struct worker *w)
{
	pthread_condattr_t attributes;
	int good;

	if (pthread_condattr_init(&attributes) != 0)
		return 0;
	good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
	    pthread_cond_init(&w->moved, &attributes) == 0;
	(void)pthread_condattr_destroy(&attributes);
	if (good && pthread_mutex_init(&w->lock, NULL) != 0) {
		(void)pthread_cond_destroy(&w->moved);
		good = 0;
	}
	w->opened = good;
	return good;
}

void
run_wait_reset(struct worker *w)
{
	atomic_store(&w->board->wake_at, NEVER);
}

void
run_wait_close(struct worker *w)
{
	if (!w->opened)
		return;
	(void)pthread_cond_destroy(&w->moved);
	(void)pthread_mutex_destroy(&w->lock);
}

/* ---------------------------------------------------------------- chunks */

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

/* Intervals between samples are random, against periodic logs. */
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

/* Runs a word, and records its latency if it is an operation. */
static const uint64_t *
sample(struct worker *w, const uint64_t *p)
{
	uint64_t kind = *p & WORD_KIND;

	if (kind == WORD_WAIT || kind == WORD_USE)
		return run_words(w, p, p + 1);
	atomic_store_explicit(&w->board->word, p, memory_order_relaxed);
	run_timed(w, p);
	if (kind == WORD_EXTENDED)
		p += WORD_SIZE(*p) & 7;
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
		if ((*word & WORD_PUBLISH) != 0)
			run_publish(w, p);
		plan_sample(w, p);
	}
}

/* For signal handlers, which have no argument for it. */
static _Thread_local unsigned thread_here = RUN_NO_THREAD;

unsigned
run_thread_here(void)
{
	return thread_here;
}

void
run_chunk(struct worker *w)
{
	thread_here = w->number;
	w->began_ns = run_now();
	w->cpu_ns = run_cpu();
	work(w);
	run_wake(w);
	w->cpu_ns = run_cpu() - w->cpu_ns;
	w->ended_ns = run_now();
}
