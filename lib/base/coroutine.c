/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The turn goes to and fro between two threads.  A turn is mostly short, so
 * whoever waits for it looks a few times before it sleeps.
 */
#include "base/coroutine.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How often to look: about a microsecond. */
#define LOOKS 400

enum { CALLER, COROUTINE };

struct tel__coroutine {
	void (*run)(void *arg);
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change; /* of turn */
	atomic_int turn;
	int stop;
	int returned;
};

/* Gives the turn to the other one. */
static void
coroutine_give(struct tel__coroutine *c, int to)
{
	pthread_mutex_lock(&c->lock);
	atomic_store_explicit(&c->turn, to, memory_order_release);
	pthread_mutex_unlock(&c->lock);
	/* behind it: who wakes up is not to wait for the lock */
	pthread_cond_signal(&c->change);
}

/* Waits for the turn. */
static void
coroutine_await(struct tel__coroutine *c, int me)
{
	for (int i = 0; i < LOOKS; i++)
		if (atomic_load_explicit(&c->turn, memory_order_acquire) == me)
			return;
	pthread_mutex_lock(&c->lock);
	while (atomic_load_explicit(&c->turn, memory_order_acquire) != me)
		pthread_cond_wait(&c->change, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static void *
coroutine_start(void *arg)
{
	struct tel__coroutine *c = arg;

	coroutine_await(c, COROUTINE);
	if (!c->stop)
		c->run(c->arg);
	c->returned = 1;
	coroutine_give(c, CALLER);
	return NULL;
}

/* Starts the thread, which takes no signals.  1 or 0. */
static int
start_thread(struct tel__coroutine *c)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int failed = pthread_create(&c->thread, NULL, coroutine_start, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return failed == 0;
}

struct tel__coroutine *
tel__coroutine_new(void (*run)(void *arg), void *arg)
{
	struct tel__coroutine *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->run = run;
	c->arg = arg;
	atomic_init(&c->turn, CALLER);
	if (pthread_mutex_init(&c->lock, NULL) != 0) {
		free(c);
		return NULL;
	}
	if (pthread_cond_init(&c->change, NULL) == 0) {
		if (start_thread(c))
			return c;
		pthread_cond_destroy(&c->change);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
	return NULL;
}

void
tel__coroutine_resume(struct tel__coroutine *c)
{
	if (c->returned)
		return;
	coroutine_give(c, COROUTINE);
	coroutine_await(c, CALLER);
}

int
tel__coroutine_pause(struct tel__coroutine *c)
{
	if (c->stop)
		return 0;
	coroutine_give(c, CALLER);
	coroutine_await(c, COROUTINE);
	return !c->stop;
}

void
tel__coroutine_free(struct tel__coroutine *c)
{
	if (c == NULL)
		return;
	c->stop = 1;
	tel__coroutine_resume(c);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->change);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
