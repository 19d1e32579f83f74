/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between: the stretches of a log that begin with an event for which one
 * expression is true, and end with one for which another is.
 */
#ifndef TEL_BETWEEN_H
#define TEL_BETWEEN_H

#include "tel.h"

struct between_log;

struct between {
	tel_filter *since;        /* NULL: from the begin on */
	tel_filter *until;        /* NULL: to the end */
	struct between_log *logs; /* those that are read side by side */
	size_t nlogs, room;
	size_t last;              /* the one that was asked for last */
	const tel_filter *failed; /* the end that could not be asked */
};

/* Sets an end of it, since or until; text NULL: none. */
tel_status tel__between_set(tel_filter **end, const char *text);

/* Whether an event lies there: 1, 0, or -1 after a failure. */
int tel__between_match(struct between *b, const tel_event *event);

void tel__between_clear(struct between *b);

#endif
