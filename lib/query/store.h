/* SPDX-License-Identifier: BSD-2-Clause */
/* Store: copies of events, in the order they came or sorted by time. */
#ifndef TEL_STORE_H
#define TEL_STORE_H

#include "base/sort.h"
#include "model/event.h"

struct tel_store {
	struct tel_event *events; /* those held are from first to count */
	size_t first;
	size_t count;
	size_t room;
	unsigned char *bytes; /* of all events from 0 to count */
	size_t used;
	size_t size;
	struct tel__sort_key *keys; /* while events are sorted */
	size_t keys_room;
	struct tel__sorter sorter;
};

void tel__store_free(struct tel_store *s);

/* Copies ev to the end.  TEL_OK, TEL_ENOMEM. */
tel_status tel__store_add(struct tel_store *s, const struct tel_event *ev);

/* How many events are held. */
static inline size_t
tel_store_count(const struct tel_store *s)
{
	return s->count - s->first;
}

/*
 * The first event, which leaves the store but stays valid until the next call
 * that adds to it; NULL when there is none.
 */
const struct tel_event *tel__store_take(struct tel_store *s);

/*
 * Sorts the events by clock, and those of one clock as they came: the logs of a
 * file count each its own.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__store_sort(struct tel_store *s);

#endif
