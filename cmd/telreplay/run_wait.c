/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for what other threads do.
 *
 * A thread that waits looks at how far the other one is, for a moment, and
 * then sleeps until that one wakes it.  One that goes on does not look for
 * sleepers with each operation, but only where it tells how far it is, and
 * there without a barrier: what it may have missed it looks for again when it
 * waits or ends itself.
 */
#include "run_inside.h"

#include <errno.h>
#include <time.h>

#define NEVER UINT64_MAX
/* Nobody sleeps for longer without a look, in nanoseconds. */
#define NAP 2000000

/* How far the other is, or 0: not far enough. */
static uint64_t
look(const struct worker *other, uint64_t position)
{
	uint64_t done = atomic_load_explicit(&other->board->published,
	    memory_order_acquire);

	return done > position ? done : 0;
}

/*
 * Looks for a while, less and less often: each look takes the line from the
 * one who writes to it, and holds it up.
 */
static uint64_t
look_again(const struct worker *other, uint64_t position, int spin)
{
	uint64_t done = 0;
	int i, rest;

	for (rest = 4; rest <= spin && done == 0; rest *= 2) {
		for (i = 0; i < rest; i++)
			run_relax();
		done = look(other, position);
	}
	return done;
}

/* Asks to be woken, and looks a last time. */
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

/* Waiting is no work: the time of it is noted, and that of the clock. */
static void
note(struct worker *w, uint64_t began)
{
	w->board->wait_ns += run_cpu() - began + w->run->clock_ns;
}

void
run_wake(struct worker *w)
{
	struct run_lane *b = w->board;
	uint64_t began;

	/* a barrier: either they see how far it is, or are seen here */
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
	struct worker *other = &w->run->workers[TEL_WORD_SLOT(word)];
	uint64_t position = TEL_WORD_SIZE(word), began, done;

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
	w->seen[TEL_WORD_SLOT(word)] = (uint32_t)done;
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
