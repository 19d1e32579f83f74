/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of a run: their start and end; all words of a chunk, with stops
 * to keep a recorded time and to time an operation; waits for other threads and
 * for windows.
 *
 * A thread that waits looks for a moment how far the other one is, and then
 * sleeps until that one wakes it.  One that goes on looks for sleepers only
 * where it publishes its progress, and there without a barrier: it looks
 * again, with one, before it waits or ends.
 */
/* for sigaltstack, which is XSI */
#define _XOPEN_SOURCE 700
#include "telreplay/run/run_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEVER UINT64_MAX
/* The longest sleep before a thread looks again, in nanoseconds. */
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

/* Requests to be woken, and looks once more. */
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

/* Sleeps until it is woken, or for a while. */
static void
nap(pthread_cond_t *moved, pthread_mutex_t *lock)
{
	uint64_t ns = run_now() + NAP;
	struct timespec until;

	until.tv_sec = (time_t)(ns / 1000000000);
	until.tv_nsec = (long)(ns % 1000000000);
	(void)pthread_cond_timedwait(moved, lock, &until);
}

static uint64_t
sleep_for(struct worker *other, uint64_t position)
{
	uint64_t done;

	(void)pthread_mutex_lock(&other->lock);
	while ((done = ask(other, position)) == 0) {
		nap(&other->moved, &other->lock);
	}
	(void)pthread_mutex_unlock(&other->lock);
	return done;
}

static void
set_state(struct worker *w, enum run_state state)
{
	atomic_store_explicit(&w->board->state, state, memory_order_relaxed);
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
		set_state(w, RUN_WAITING);
		done = look_again(other, position, w->run->spin);
		if (done == 0)
			done = sleep_for(other, position);
		set_state(w, RUN_WORKING);
		w->board->blocked++;
		note(w, began);
	}
	w->seen[WORD_SLOT(word)] = (uint32_t)done;
}

/* A condition by the monotonic clock, and its lock.  1, or 0. */
static int
moved_open(pthread_cond_t *moved, pthread_mutex_t *lock)
{
	pthread_condattr_t attributes;
	int good;

	if (pthread_condattr_init(&attributes) != 0)
		return 0;
	good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
	    pthread_cond_init(moved, &attributes) == 0;
	(void)pthread_condattr_destroy(&attributes);
	if (good && pthread_mutex_init(lock, NULL) != 0) {
		(void)pthread_cond_destroy(moved);
		good = 0;
	}
	return good;
}

int
run_wait_open(struct worker *w)
{
	w->opened = moved_open(&w->moved, &w->lock);
	return w->opened;
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

/* --------------------------------------------------------------- windows */

/* Passes the windows that all threads have left. */
static void
advance(struct run *r)
{
	uint64_t low = atomic_load(&r->low);

	/* of two threads that leave last, each sees what the other has done */
	while (low <= r->facts->windows && atomic_load(&r->inside[low]) == 0)
		if (atomic_compare_exchange_weak(&r->low, &low, low + 1))
			low++;
}

void
run_window_reset(struct run *r)
{
	atomic_store(&r->low, 1);
	atomic_store(&r->low_wanted, NEVER);
	advance(r);
}

static void
leave_window(struct worker *w)
{
	struct run *r = w->run;
	uint64_t began;
	uint32_t window = w->window;

	w->window = 0;
	if (window == 0 || atomic_fetch_sub(&r->inside[window], 1) != 1)
		return;
	advance(r);
	if (atomic_load(&r->low) < atomic_load(&r->low_wanted))
		return;
	began = run_cpu();
	(void)pthread_mutex_lock(&r->low_lock);
	atomic_store(&r->low_wanted, NEVER);
	(void)pthread_cond_broadcast(&r->low_moved);
	(void)pthread_mutex_unlock(&r->low_lock);
	note(w, began);
}

/* Requests to be woken when .low is so far, and looks a last time. */
static int
is_low(struct run *r, uint64_t low)
{
	uint64_t at = atomic_load(&r->low_wanted);

	while (
	    at > low && !atomic_compare_exchange_weak(&r->low_wanted, &at, low))
		;
	return atomic_load(&r->low) >= low;
}

static void
enter_window(struct worker *w, uint32_t window)
{
	struct run *r = w->run;
	uint64_t low = window - 1, began;
	int i;

	leave_window(w);
	w->window = window;
	if (atomic_load(&r->low) >= low)
		return;
	run_wake(w);
	began = run_cpu();
	set_state(w, RUN_WAITING);
	for (i = 0; i < r->spin && atomic_load(&r->low) < low; i++)
		relax();
	if (atomic_load(&r->low) < low) {
		(void)pthread_mutex_lock(&r->low_lock);
		while (!is_low(r, low))
			nap(&r->low_moved, &r->low_lock);
		(void)pthread_mutex_unlock(&r->low_lock);
	}
	set_state(w, RUN_WORKING);
	w->board->blocked++;
	note(w, began);
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
	if (now < due) {
		set_state(w, RUN_WAITING);
		sleep_until(due);
		set_state(w, RUN_WORKING);
	} else if (now - due > w->board->late_ns)
		w->board->late_ns = now - due;
}

/* The most to compute between two operations: more was sleep, not work. */
#define THINK_MOST 1e6

/* Spreads the time from one recorded time to the next over the words there. */
static void
next_think(struct worker *w)
{
	const uint64_t *t = w->times;
	double ns;

	w->think = 0;
	w->times += 2;
	if (w->times == w->times_end || t[2] <= t[0] || t[3] <= t[1])
		return;
	ns = (double)(t[3] - t[1]) * w->run->tick_ns / (double)(t[2] - t[0]);
	if (ns > THINK_MOST)
		ns = THINK_MOST;
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

	if (!word_is_operation(kind))
		return run_words(w, p, p + 1);
	atomic_store_explicit(&w->board->word, p, memory_order_relaxed);
	run_timed(w, p);
	if (kind == WORD_EXTENDED)
		p += WORD_SIZE(*p) & 7;
	p++;
	return p;
}

/* The words up to the end of the chunk, or of the thread. */
static void
work(struct worker *w)
{
	const uint64_t *p = w->next, *stop, *word;

	if (w->run->sample == 0 && w->times == w->times_end) {
		(void)run_words(w, p, w->end);
		return;
	}
	plan_sample(w, p);
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

/* Runs the words of a thread, up to the end of the chunk or its own. */
static void
run_chunk(struct worker *w)
{
	uint64_t began = run_cpu();

	thread_here = w->number;
	set_state(w, RUN_WORKING);
	if (w->began_ns == 0)
		w->began_ns = run_now();
	work(w);
	leave_window(w);
	if (w->end != w->last && (*w->end & WORD_PUBLISH) != 0)
		run_publish(w, w->end + 1);
	run_wake(w);
	w->cpu_ns += run_cpu() - began;
	w->ended_ns = run_now();
}

/* --------------------------------------------------------------- threads */

/*
 * What follows the words that a thread has run: those of the thread that is
 * started in its place, if it has ended.  Returns nonzero if it has.  Without
 * a recorded end a thread stays until run_threads_end(): what it has of the
 * allocator, an arena or a cache, stays with it.
 */
static int
next_words(struct worker *w)
{
	struct run *r = w->run;
	int ended = w->end != w->last;

	if (ended) {
		w->next = w->end + 1;
		w->end = w->first + WORD_SLOT(*w->end);
	} else {
		w->next = w->last;
	}
	if (w->next == w->last && w->counted) {
		w->counted = 0;
		if (--r->left == 0)
			(void)pthread_cond_signal(&r->finished);
	}
	return ended;
}

/*
 * A signal handler for a stack that is full needs one of its own.  before: set
 * to the one that there was, as a sanitizer has its own and frees it.
 */
static void
set_signal_stack(const struct worker *w, stack_t *before)
{
	stack_t stack;

	memset(&stack, 0, sizeof(stack));
	stack.ss_sp = w->signal_stack;
	stack.ss_size = RUN_SIGNAL_STACK;
	(void)sigaltstack(&stack, before);
}

static void *
thread_main(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;
	uint64_t generation;
	stack_t before;
	int ended = 0;

	set_signal_stack(w, &before);
	while (!ended) {
		run_chunk(w);
		(void)pthread_mutex_lock(&r->lock);
		ended = next_words(w);
		generation = r->generation;
		set_state(w, ended ? RUN_ENDED : RUN_IDLE);
		while (!ended && generation == r->generation && !r->stop)
			(void)pthread_cond_wait(&r->loaded, &r->lock);
		ended |= r->stop;
		(void)pthread_mutex_unlock(&r->lock);
	}
	set_state(w, RUN_ENDED);
	(void)sigaltstack(&before, NULL);
	return NULL;
}

/* Starts a thread, on the stack of one that has ended. */
static void
start(struct worker *w, struct worker *other)
{
	uint64_t began = run_cpu();
	struct run *r = w->run;
	pthread_attr_t attributes;
	int good;

	if (other->joinable)
		(void)pthread_join(other->thread, NULL);
	good = pthread_attr_init(&attributes) == 0;
	/* behind the guard page */
	other->joinable = good &&
	    pthread_attr_setstack(&attributes, other->stack + RUN_PAGE,
	        RUN_STACK) == 0;
	if (!other->joinable ||
	    pthread_create(&other->thread, &attributes, thread_main, other) !=
	        0) {
		other->joinable = 0;
		run_error(w, RUN_NO_START, NULL, 0, 0, NULL);
		if (r->options->phase != NULL)
			r->options->phase(r->options->arg, RUN_NO_THREAD);
		abort();
	}
	(void)pthread_attr_destroy(&attributes);
	note(w, began);
}

void
run_control(struct worker *w, uint64_t word)
{
	if (WORD_SIZE(word) == CONTROL_WINDOW)
		enter_window(w, WORD_SLOT(word));
	else if (WORD_SIZE(word) == CONTROL_START)
		start(w, &w->run->workers[WORD_SLOT(word)]);
}

int
run_threads_open(struct run *r)
{
	r->opened = moved_open(&r->loaded, &r->lock);
	if (!r->opened || pthread_cond_init(&r->finished, NULL) != 0 ||
	    !moved_open(&r->low_moved, &r->low_lock))
		return 0;
	set_signal_stack(&r->workers[0], &r->signal_stack);
	return 1;
}

void
run_threads_chunk(struct run *r)
{
	struct worker *w = &r->workers[0];
	unsigned i;

	(void)pthread_mutex_lock(&r->lock);
	r->generation++;
	(void)pthread_cond_broadcast(&r->loaded);
	(void)pthread_mutex_unlock(&r->lock);
	run_chunk(w);
	(void)pthread_mutex_lock(&r->lock);
	(void)next_words(w);
	set_state(w, RUN_IDLE);
	while (r->left > 0)
		(void)pthread_cond_wait(&r->finished, &r->lock);
	(void)pthread_mutex_unlock(&r->lock);
	/* those whose end is recorded are to be over */
	for (i = 1; i < r->threads; i++)
		if (r->workers[i].joinable &&
		    atomic_load(&r->workers[i].board->state) == RUN_ENDED) {
			(void)pthread_join(r->workers[i].thread, NULL);
			r->workers[i].joinable = 0;
		}
}

void
run_threads_end(struct run *r)
{
	unsigned i;

	(void)pthread_mutex_lock(&r->lock);
	r->stop = 1;
	(void)pthread_cond_broadcast(&r->loaded);
	(void)pthread_mutex_unlock(&r->lock);
	for (i = 1; i < r->threads; i++) {
		if (r->workers[i].joinable)
			(void)pthread_join(r->workers[i].thread, NULL);
		r->workers[i].joinable = 0;
	}
	r->stop = 0;
}

void
run_threads_close(struct run *r)
{
	if (!r->opened)
		return;
	(void)sigaltstack(&r->signal_stack, NULL);
	run_threads_end(r);
}
