/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events side by side with a heap of their bytes.  While events are held
 * their data is an offset into the heap, as the heap may move.
 */
#include "query/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void
tel__store_free(struct tel_store *s)
{
	free(s->events);
	free(s->bytes);
	memset(s, 0, sizeof(*s));
}

/* The offset of the bytes of a held event in the heap. */
static size_t
store_place(const struct tel_event *ev)
{
	return (size_t)(uintptr_t)ev->data;
}

/* Moves the held events to the start of their buffers. */
static tel_status
store_compact(struct tel_store *s)
{
	size_t i, n, whole, used = 0;

	n = s->count - s->first;
	if (n == 0) {
		s->first = s->count = s->used = 0;
		return TEL_OK;
	}
	unsigned char *bytes = malloc(s->size);
	if (bytes == NULL)
		return TEL_ENOMEM;
	memmove(s->events, s->events + s->first, n * sizeof(*s->events));
	for (i = 0; i < n; i++) {
		struct tel_event *ev = &s->events[i];

		whole = tel_event_extent(ev);
		memcpy(bytes + used, s->bytes + store_place(ev), whole);
		ev->data = (const unsigned char *)(uintptr_t)used;
		used += whole;
	}
	free(s->bytes);
	s->bytes = bytes;
	s->used = used;
	s->first = 0;
	s->count = n;
	return TEL_OK;
}

/* Makes room for one event more of size bytes. */
static tel_status
store_reserve(struct tel_store *s, size_t size)
{
	if (s->first == s->count || s->first > s->count - s->first)
		if (store_compact(s) != TEL_OK)
			return TEL_ENOMEM;
	if (!TEL__RESERVE(s->events, s->room, s->count + 1) ||
	    !TEL__RESERVE(s->bytes, s->size, s->used + size))
		return TEL_ENOMEM;
	return TEL_OK;
}

tel_status
tel__store_add(struct tel_store *s, const struct tel_event *ev)
{
	size_t whole = tel_event_extent(ev);

	if (store_reserve(s, whole) != TEL_OK)
		return TEL_ENOMEM;
	tel_event_copy(s->bytes + s->used, ev);
	struct tel_event *copy = &s->events[s->count++];
	*copy = *ev;
	copy->data = (const unsigned char *)(uintptr_t)s->used;
	s->used += whole;
	return TEL_OK;
}

const struct tel_event *
tel__store_take(struct tel_store *s)
{
	if (s->first == s->count)
		return NULL;
	struct tel_event *ev = &s->events[s->first++];
	tel_event_place(ev, s->bytes + store_place(ev));
	return ev;
}

/* Of the same clock as they came: the logs of a file count each its own. */
static int
by_time(const void *a, const void *b)
{
	const struct tel_event *x = a, *y = b;

	if (x->clock != y->clock)
		return x->clock < y->clock ? -1 : 1;
	return (store_place(x) > store_place(y)) -
	    (store_place(x) < store_place(y));
}

void
tel__store_sort(struct tel_store *s)
{
	size_t i = s->first + 1;

	/* most are in order, of formats that do not buffer by kind */
	while (i < s->count && by_time(&s->events[i - 1], &s->events[i]) <= 0)
		i++;
	if (i < s->count)
		qsort(s->events + s->first, s->count - s->first,
		    sizeof(*s->events), by_time);
}
