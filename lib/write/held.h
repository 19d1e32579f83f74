/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that are held for later: copies of them, up to a number of bytes. */
#ifndef TEL_HELD_H
#define TEL_HELD_H

#include "model/event.h"

/* A copy of an event. */
struct held {
	struct tel_event ev;
	size_t size;
	unsigned char bytes[];
};

struct held_pool {
	size_t bytes; /* that are held */
	size_t most;
};

/* Nothing is held; at most so many events will be, of a usual size. */
void tel__held_begin(struct held_pool *p, size_t max);

/*
 * Copies ev, without the lines before it.  TEL_OK, TEL_ELIMIT (too much is
 * held), TEL_ENOMEM.
 */
tel_status tel__held_new(struct held_pool *p, const struct tel_event *ev,
    struct held **out);

/* Frees a copy, if there is one; *h is NULL then. */
void tel__held_drop(struct held_pool *p, struct held **h);

#endif
