/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for other threads, and for windows.
 *
 * A thread that waits polls the other one's progress for a moment, and then
 * sleeps until that one wakes it.  One that goes on looks for sleepers only
 * where it publishes its progress, and there without a barrier: it looks
 * again, with one, before it waits or ends.
 */
#include "telreplay/run/run_inside.h"

#include <time.h>

#define NEVER UINT64_MAX
/* The longest sleep before a thread looks again, in nanoseconds. */
#define WAIT_NS 2000000

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
poll_done(const struct worker *other, uint64_t position)
{
	uint64_t done = atomic_load_explicit(&other->shared_stats->published,
	    memory_order_acquire);

	return done > position ? done : 0;
}

/*
 * Spins for a while, and looks less and less often: each look takes the cache
 * line from the thread that writes to it.
 */
static uint64_t
spin_poll(const struct worker *other, uint64_t position, int spin)
{
	uint64_t done = 0;

	for (int rest = 4; rest <= spin && done == 0; rest *= 2) {
		for (int i = 0; i < rest; i++)
			relax();
		done = poll_done(other, position);
	}
	return done;
}

/* Requests to be woken from a position on. */
static void
request_wake(_Atomic uint64_t *wake_at, uint64_t position)
{
	uint64_t at = atomic_load(wake_at);

	while (at > position &&
	    !atomic_compare_exchange_weak(wake_at, &at, position))
		;
}

/* Wakes those that requested it, which takes time as a wait does. */
static void
wake_all(struct worker *w, _Atomic uint64_t *wake_at, pthread_cond_t *cond,
    pthread_mutex_t *lock)
{
	uint64_t began = run_cpu();

	(void)pthread_mutex_lock(lock);
	atomic_store(wake_at, NEVER);
	(void)pthread_cond_broadcast(cond);
	(void)pthread_mutex_unlock(lock);
	run_account_wait(w, began);
}

/* Sleeps until it is woken, or for a while. */
static void
timed_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	uint64_t ns = run_now() + WAIT_NS;
	struct timespec until;

	until.tv_sec = (time_t)(ns / 1000000000);
	until.tv_nsec = (long)(ns % 1000000000);
	(void)pthread_cond_timedwait(cond, lock, &until);
}

static uint64_t
sleep_for(struct worker *other, uint64_t position)
{
	uint64_t done;

	(void)pthread_mutex_lock(&other->lock);
	for (;;) {
		request_wake(&other->shared_stats->wake_at, position + 1);
		done = poll_done(other, position);
		if (done != 0)
			break;
		timed_wait(&other->cond, &other->lock);
	}
	(void)pthread_mutex_unlock(&other->lock);
	return done;
}

void
run_wake(struct worker *w)
{
	struct run_thread *b = w->shared_stats;

	/* a barrier: either they see .published, or .wake_at is seen here */
	if (atomic_fetch_add(&b->wake_at, 0) <= atomic_load(&b->published))
		wake_all(w, &b->wake_at, &w->cond, &w->lock);
}

void
run_wait(struct worker *w, uint64_t word)
{
	struct worker *other = &w->run->workers[WORD_SLOT(word)];
	uint64_t position = WORD_SIZE(word), began, done;

	done = poll_done(other, position);
	if (done == 0) {
		run_wake(w);
		began = run_cpu();
		run_set_state(w, RUN_WAITING);
		done = spin_poll(other, position, w->run->spin);
		if (done == 0)
			done = sleep_for(other, position);
		run_set_state(w, RUN_WORKING);
		w->shared_stats->blocked++;
		run_account_wait(w, began);
	}
	w->seen[WORD_SLOT(word)] = (uint32_t)done;
}

/* A condition by the monotonic clock, and its lock.  1, or 0. */
int
run_cond_open(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	pthread_condattr_t attributes;
	int good;

	if (pthread_condattr_init(&attributes) != 0)
		return 0;
	good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
	    pthread_cond_init(cond, &attributes) == 0;
	(void)pthread_condattr_destroy(&attributes);
	if (good && pthread_mutex_init(lock, NULL) != 0) {
		(void)pthread_cond_destroy(cond);
		good = 0;
	}
	return good;
}

int
run_wait_open(struct worker *w)
{
	w->opened = run_cond_open(&w->cond, &w->lock);
	return w->opened;
}

void
run_wait_reset(struct worker *w)
{
	atomic_store(&w->shared_stats->wake_at, NEVER);
}

void
run_wait_close(struct worker *w)
{
	if (!w->opened)
		return;
	(void)pthread_cond_destroy(&w->cond);
	(void)pthread_mutex_destroy(&w->lock);
}

/* --------------------------------------------------------------- windows */

/* Passes the windows that all threads have left. */
static void
run_wait_advance(struct run *r)
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
	run_wait_advance(r);
}

void
run_window_leave(struct worker *w)
{
	struct run *r = w->run;
	uint32_t window = w->window;

	w->window = 0;
	if (window == 0 || atomic_fetch_sub(&r->inside[window], 1) != 1)
		return;
	run_wait_advance(r);
	if (atomic_load(&r->low) >= atomic_load(&r->low_wanted))
		wake_all(w, &r->low_wanted, &r->low_moved, &r->low_lock);
}

void
run_window_enter(struct worker *w, uint32_t window)
{
	struct run *r = w->run;
	uint64_t low = window - 1, began;

	run_window_leave(w);
	w->window = window;
	if (atomic_load(&r->low) >= low)
		return;
	run_wake(w);
	began = run_cpu();
	run_set_state(w, RUN_WAITING);
	for (int i = 0; i < r->spin && atomic_load(&r->low) < low; i++)
		relax();
	if (atomic_load(&r->low) < low) {
		(void)pthread_mutex_lock(&r->low_lock);
		for (;;) {
			request_wake(&r->low_wanted, low);
			if (atomic_load(&r->low) >= low)
				break;
			timed_wait(&r->low_moved, &r->low_lock);
		}
		(void)pthread_mutex_unlock(&r->low_lock);
	}
	run_set_state(w, RUN_WORKING);
	w->shared_stats->blocked++;
	run_account_wait(w, began);
}
