/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a run: their start, their chunks, and their end. */
/* for sigaltstack, which is XSI */
#define _XOPEN_SOURCE 700
#include "telreplay/run/run_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* For signal handlers, which have no argument for it. */
static _Thread_local unsigned thread_here = RUN_OUTSIDE;

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
	run_set_state(w, RUN_WORKING);
	if (w->began_ns == 0)
		w->began_ns = run_now();
	run_paced(w);
	run_window_leave(w);
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
	stack_t before;
	int ended = 0;

	set_signal_stack(w, &before);
	while (!ended) {
		run_chunk(w);
		(void)pthread_mutex_lock(&r->lock);
		ended = next_words(w);
		uint64_t generation = r->generation;
		run_set_state(w, ended ? RUN_ENDED : RUN_IDLE);
		while (!ended && generation == r->generation && !r->stop)
			(void)pthread_cond_wait(&r->loaded, &r->lock);
		ended |= r->stop;
		(void)pthread_mutex_unlock(&r->lock);
	}
	run_set_state(w, RUN_ENDED);
	(void)sigaltstack(&before, NULL);
	return NULL;
}

/* Starts a thread, on the stack of one that has ended. */
static void
run_thread_start(struct worker *w, struct worker *other)
{
	uint64_t began = run_cpu();
	struct run *r = w->run;
	pthread_attr_t attributes;

	if (other->joinable)
		(void)pthread_join(other->thread, NULL);
	/* one without words, too, is to see this chunk, and not the next one */
	(void)pthread_mutex_lock(&r->lock);
	r->left += !other->counted;
	other->counted = 1;
	(void)pthread_mutex_unlock(&r->lock);
	errno = pthread_attr_init(&attributes);
	/* behind the guard page */
	if (errno == 0)
		errno = pthread_attr_setstack(&attributes,
		    other->stack + RUN_PAGE, RUN_STACK);
	if (errno == 0)
		errno = pthread_create(&other->thread, &attributes, thread_main,
		    other);
	other->joinable = errno == 0;
	if (!other->joinable) {
		if (r->options->phase != NULL)
			r->options->phase(r->options->arg, RUN_NO_THREAD);
		abort();
	}
	(void)pthread_attr_destroy(&attributes);
	run_account_wait(w, began);
}

void
run_control(struct worker *w, uint64_t word)
{
	if (WORD_SIZE(word) == CONTROL_WINDOW)
		run_window_enter(w, WORD_SLOT(word));
	else if (WORD_SIZE(word) == CONTROL_START)
		run_thread_start(w, &w->run->workers[WORD_SLOT(word)]);
}

int
run_threads_open(struct run *r)
{
	r->opened = run_cond_open(&r->loaded, &r->lock);
	if (!r->opened || pthread_cond_init(&r->finished, NULL) != 0 ||
	    !run_cond_open(&r->low_moved, &r->low_lock))
		return 0;
	set_signal_stack(&r->workers[0], &r->signal_stack);
	return 1;
}

void
run_threads_chunk(struct run *r)
{
	struct worker *w = &r->workers[0];

	(void)pthread_mutex_lock(&r->lock);
	r->generation++;
	(void)pthread_cond_broadcast(&r->loaded);
	(void)pthread_mutex_unlock(&r->lock);
	run_chunk(w);
	(void)pthread_mutex_lock(&r->lock);
	(void)next_words(w);
	run_set_state(w, RUN_IDLE);
	while (r->left > 0)
		(void)pthread_cond_wait(&r->finished, &r->lock);
	(void)pthread_mutex_unlock(&r->lock);
	/* those whose end is recorded are to be over */
	for (unsigned i = 1; i < r->threads; i++)
		if (r->workers[i].joinable &&
		    atomic_load(&r->workers[i].shared_stats->state) ==
		        RUN_ENDED) {
			(void)pthread_join(r->workers[i].thread, NULL);
			r->workers[i].joinable = 0;
		}
}

void
run_threads_end(struct run *r)
{
	(void)pthread_mutex_lock(&r->lock);
	r->stop = 1;
	(void)pthread_cond_broadcast(&r->loaded);
	(void)pthread_mutex_unlock(&r->lock);
	for (unsigned i = 1; i < r->threads; i++) {
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
