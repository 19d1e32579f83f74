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

/* A number that rises, for which threads wait. */
struct gate {
	const _Atomic uint64_t *value;
	_Atomic uint64_t *wake_at; /* a thread sleeps until it is so high */
	pthread_cond_t *cond;
	pthread_mutex_t *lock;
};

/* The words of a thread that are done. */
static struct gate
words_of(struct worker *w)
{
	return (struct gate){ &w->shared_stats->published,
		&w->shared_stats->wake_at, &w->cond, &w->lock };
}

/* The first window that some thread is in. */
static struct gate
windows_of(struct run *r)
{
	return (struct gate){ &r->low, &r->low_wanted, &r->low_moved,
		&r->low_lock };
}

/* Wakes those that requested it, which takes time as a wait does. */
static void
gate_wake(struct worker *w, struct gate g)
{
	uint64_t began = run_cpu();

	(void)pthread_mutex_lock(g.lock);
	atomic_store(g.wake_at, NEVER);
	(void)pthread_cond_broadcast(g.cond);
	(void)pthread_mutex_unlock(g.lock);
	run_account_wait(w, began);
}

/* Sleeps until it is woken, or for a while, again and again. */
static void
gate_sleep(struct gate g, uint64_t value)
{
	(void)pthread_mutex_lock(g.lock);
	for (;;) {
		uint64_t at = atomic_load(g.wake_at);

		while (at > value &&
		    !atomic_compare_exchange_weak(g.wake_at, &at, value))
			;
		if (atomic_load(g.value) >= value)
			break;
		const uint64_t ns = run_now() + WAIT_NS;
		const struct timespec until = { (time_t)(ns / 1000000000),
			(long)(ns % 1000000000) };
		(void)pthread_cond_timedwait(g.cond, g.lock, &until);
	}
	(void)pthread_mutex_unlock(g.lock);
}

static int
gate_is_open(struct gate g, uint64_t value)
{
	return atomic_load_explicit(g.value, memory_order_acquire) >= value;
}

/*
 * Waits for a value.  Spins for a while, and looks less and less often: each
 * look takes the cache line from the thread that writes to it.
 */
static void
gate_wait(struct worker *w, struct gate g, uint64_t value)
{
	run_wake(w);
	uint64_t began = run_cpu();
	run_set_state(w, RUN_WAITING);
	for (int rest = 4; rest <= w->run->spin && !gate_is_open(g, value);
	     rest *= 2)
		for (int i = 0; i < rest; i++)
			relax();
	if (!gate_is_open(g, value))
		gate_sleep(g, value);
	run_set_state(w, RUN_WORKING);
	w->shared_stats->times.blocked++;
	run_account_wait(w, began);
}

void
run_wake(struct worker *w)
{
	const struct gate g = words_of(w);

	/* a barrier: either they see .value, or .wake_at is seen here */
	if (atomic_fetch_add(g.wake_at, 0) <= atomic_load(g.value))
		gate_wake(w, g);
}

void
run_wait(struct worker *w, uint64_t word)
{
	const struct gate g = words_of(&w->run->workers[WORD_SLOT(word)]);
	const uint64_t value = (uint64_t)WORD_SIZE(word) + 1;

	if (!gate_is_open(g, value))
		gate_wait(w, g, value);
	w->seen[WORD_SLOT(word)] =
	    (uint32_t)atomic_load_explicit(g.value, memory_order_acquire);
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
run_wait_reset(struct run *r)
{
	for (unsigned i = 0; i < r->threads; i++)
		atomic_store(&r->workers[i].shared_stats->wake_at, NEVER);
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
		gate_wake(w, windows_of(r));
}

void
run_window_enter(struct worker *w, uint32_t window)
{
	const struct gate g = windows_of(w->run);

	run_window_leave(w);
	w->window = window;
	if (!gate_is_open(g, window - 1))
		gate_wait(w, g, window - 1);
}
