/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of rings, whose page and headers are in tel_emit.h: what
 * libtel-emit writes to them, and what libtel reads in a file or a core of them.
 */
#ifndef TEL__RING_H
#define TEL__RING_H

#include <stdint.h>

#include "tel_emit.h"

/* Of a head, the bits that are a position, in words; the others count events. */
#define TEL__RING_POSITION (TEL__RING_ONE - 1)

/* An entry of the names; its bytes follow. */
struct tel__ring_entry {
	uint32_t bytes; /* of the whole entry, a multiple of 8 */
	uint32_t what;
	uint64_t value;
	uint64_t clock;
	uint64_t length; /* of what follows */
};
enum {
	ENTRY_TYPE = 1,
	ENTRY_STRING,
	ENTRY_THREAD,
	ENTRY_EVENT =
	    5 /* an event of every stream; value: code | thread << 32 */
};

/*
 * The words of the event whose first word is at a position, before which the
 * ring has left words; 0: it is incomplete, or was overwritten.
 */
static inline unsigned
tel__ring_event(uint64_t first, uint64_t position, uint64_t left)
{
	const unsigned words = first >> 16 & 0xfff;

	return (first & TEL__EVENT_WHOLE) != 0 &&
	        first >> 32 ==
	            (uint32_t)((uint32_t)position * TEL__EVENT_TAG) &&
	        words >= 2 && words <= TEL_EMIT_EVENT_MAX / 8 && words <= left ?
	    words :
	    0;
}

/*
 * The position of the oldest event that is not overwritten, at most so many
 * words before the head; start and marks: of the ring.
 */
static inline uint64_t
tel__ring_oldest(uint64_t start, const uint64_t marks[TEL__RING_MARKS],
    uint64_t head, uint64_t most)
{
	uint64_t best = head;

	if (((head - start) & TEL__RING_POSITION) <= most)
		return start;
	for (unsigned i = 0; i < TEL__RING_MARKS; i++)
		if (marks[i] != 0 &&
		    ((head - marks[i]) & TEL__RING_POSITION) <= most &&
		    ((head - marks[i]) & TEL__RING_POSITION) >
		        ((head - best) & TEL__RING_POSITION))
			best = marks[i];
	return best;
}

/*
 * The number of events before a position, in 64 bits; near: one that differs by
 * less than 2^23.  AS
 */
static inline uint64_t
tel__ring_events_at(uint64_t near, uint64_t at)
{
	const uint64_t ahead = ((at >> 40) - near) & 0xFFFFFF;

	return near + ahead - (ahead < 0x800000 ? 0 : 0x1000000);
}

#endif
