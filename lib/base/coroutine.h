/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coroutine: a function that can pause in the middle of what it does and go
 * on later.  It has a thread of its own, but only one of the two runs at a
 * time, so they share memory as if they were one.
 */
#ifndef TEL__COROUTINE_H
#define TEL__COROUTINE_H

struct tel__coroutine;

/* One that will call run(arg); NULL when out of memory or threads. */
struct tel__coroutine *tel__coroutine_new(void (*run)(void *arg), void *arg);

/* Runs it until it pauses or has returned, after which this does nothing. */
void tel__coroutine_resume(struct tel__coroutine *c);

/*
 * Called by it: pauses until it is resumed.  0: it is being freed, and should
 * return without pausing again.
 */
int tel__coroutine_pause(struct tel__coroutine *c);

/* Has it return, and frees it. */
void tel__coroutine_free(struct tel__coroutine *c);

#endif
