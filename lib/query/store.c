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
	free(s->keys);
	tel__sorter_clear(&s->sorter);
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

/* Moves the n events so that each is where the keys have its row. */
static void
store_permute(struct tel_event *events, struct tel__sort_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (keys[i].row == i)
			continue;
		const struct tel_event first = events[i];
		size_t to = i, from;

		while ((from = keys[to].row) != i) {
			events[to] = events[from];
			keys[to].row = to;
			to = from;
		}
		events[to] = first;
		keys[to].row = to;
	}
}

tel_status
tel__store_sort(struct tel_store *s)
{
	struct tel_event *events = s->events + s->first;
	const size_t n = tel_store_count(s);
	size_t i = 1;

	/* most are in order, of formats that do not buffer by kind */
	while (i < n && events[i - 1].clock <= events[i].clock)
		i++;
	if (i >= n)
		return TEL_OK;
	if (!TEL__RESERVE(s->keys, s->keys_room, n))
		return TEL_ENOMEM;
	for (i = 0; i < n; i++)
		s->keys[i] = (struct tel__sort_key){ events[i].clock, i };
	if (!tel__sort_keys(&s->sorter, s->keys, n))
		return TEL_ENOMEM;
	store_permute(events, s->keys, n);
	return TEL_OK;
}
