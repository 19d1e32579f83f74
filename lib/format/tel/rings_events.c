/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a ring, which its program may be writing meanwhile. */
#include "format/tel/rings.h"

/* Looks until an unfinished event is given up: 10 seconds of them. */
#define PATIENCE 200u

static uint64_t
rings_events_word(const struct tel__rings *s, uint64_t position)
{
	return tel__rings_read8(s,
	    s->ring.bytes + TEL__RING_HEADER +
	        8 * (position & (s->page.ring_bytes / 8 - 1)));
}

/*
 * Behind the words of a ring there is room for an event that starts in them.
 * Returns its clock.
 */
static uint64_t
add_event(struct tel__rings *s, const struct tel__emit_ring *ring,
    uint64_t position, unsigned words, uint64_t order)
{
	unsigned char *to = tel__buffer_room(&s->rows, 8 * words);
	struct tel__rings_found found;
	const unsigned char *from = s->ring.bytes + TEL__RING_HEADER +
	    8 * (position & (s->page.ring_bytes / 8 - 1));
	uint64_t first = rings_events_word(s, position);

	if (to == NULL)
		return 0;
	memcpy(to, from, 8 * words);
	found.clock = tel__rings_read8(s, to + 8);
	found.order = order;
	found.at = s->rows.used;
	found.size = 8 * words;
	found.code = first & 0xffff;
	tel__rings_put_head(s, to, ring->thread);
	s->rows.used += 8 * words;
	tel__buffer_put(&s->list, &found, sizeof(found));
	return found.clock;
}

/*
 * Where the events begin that are new: behind those of the last look, unless
 * these were overwritten, or are another thread's.  Behind the end of the ring:
 * the program went on, and wrote over all that was read.
 */
static uint64_t
begin_at(struct tel__rings *s, struct tel__rings_seen *seen,
    const struct tel__emit_ring *ring, const struct tel__emit_ring *now)
{
	const uint64_t size = s->page.ring_bytes / 8, end = ring->head;
	uint64_t at =
	    tel__ring_oldest(ring->start, ring->marks, now->head, size);
	const uint64_t left = (end - at) & TEL__RING_POSITION;

	if (seen == NULL)
		return at;
	if (left > size)
		at = tel__ring_oldest(now->start, now->marks, now->head, size);
	else if (seen->claim == ring->claim &&
	    ((end - seen->at) & TEL__RING_POSITION) <= left)
		return seen->at;
	const uint64_t events = tel__ring_events_at(now->events, now->head) -
	    (((now->head >> 40) - (at >> 40)) & 0xFFFFFF);
	/* before the first look, nobody wanted to read them */
	if (s->looked && events > seen->events)
		s->lost += events - seen->events;
	seen->events = events;
	if (seen->claim != ring->claim)
		seen->stuck = 0;
	return at;
}

void
tel__rings_take(struct tel__rings *s, const struct tel__emit_ring *ring,
    const struct tel__emit_ring *now, unsigned i)
{
	struct tel__rings_seen *seen = s->seen != NULL ? &s->seen[i] : NULL;
	const uint64_t from = begin_at(s, seen, ring, now);
	const int gone =
	    ((ring->head - from) & TEL__RING_POSITION) > s->page.ring_bytes / 8;
	const uint64_t end = (gone ? from : ring->head) & TEL__RING_POSITION;
	uint64_t order = (i + (uint64_t)1) << 40, at = from;
	int torn = 0;

	if (seen != NULL && seen->order != 0)
		order = seen->order;
	while ((at & TEL__RING_POSITION) != end) {
		unsigned words = tel__ring_event(rings_events_word(s,
		                                     at & TEL__RING_POSITION),
		    at & TEL__RING_POSITION, (end - at) & TEL__RING_POSITION);

		if (words == 0 && seen != NULL && !s->ended && !torn &&
		    seen->stuck++ < PATIENCE) {
			/* its clock is read after it is begun */
			s->bound =
			    seen->clock < s->bound ? seen->clock : s->bound;
			break;
		}
		if (words == 0) {
			/* an event that was never finished: any size */
			at += torn ? 0 : TEL__RING_ONE;
			s->torn += !torn;
			torn = 1;
			at++;
			continue;
		}
		torn = 0;
		const uint64_t clock =
		    add_event(s, ring, at & TEL__RING_POSITION, words, order++);
		if (seen != NULL) {
			seen->stuck = 0;
			seen->clock = clock;
		}
		at += TEL__RING_ONE + words;
	}
	if (seen == NULL)
		return;
	seen->claim = ring->claim;
	seen->at = at;
	seen->events += ((at >> 40) - (from >> 40)) & 0xFFFFFF;
	seen->order = order;
	/* unfinished events are examined again */
	seen->head = !gone && (at & TEL__RING_POSITION) == end ? ring->head : 0;
}
