/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collector: pauses and collections of a garbage collector, from the events
 * that start and end them, in any order of time.
 */
#ifndef TEL_COLLECTOR_H
#define TEL_COLLECTOR_H

#include "model/event.h"

/* Documented limit: starts and ends that are kept, the first ones. */
#define TEL__COLLECTOR_MAX ((size_t)1 << 20)

/* A start or an end, with its clock. */
struct tel__collector_end {
	uint64_t time, shown, key, log; /* shown: the user's */
	uint32_t sequence; /* of equal times, the order of the log */
	uint8_t pause, starts;
};

struct tel__collector_range {
	uint64_t from, to, key;
	uint64_t shown; /* of its start */
	int pause;      /* otherwise a collection */
};

/* The program stood still; .before: how long in all that are earlier. */
struct tel__collector_stop {
	uint64_t from, to, before;
};

struct tel__collector {
	struct tel__collector_end *ends;
	size_t nends, ends_room;
	uint64_t left_out;
	struct tel__collector_range *ranges; /* in order of their ends */
	size_t nranges, ranges_room;
	struct tel__collector_stop *stops; /* in order, none within another */
	size_t nstops, stops_room;
};

/* The windows that are shown, in ns: 1, 2, 5 ... us, number i from 0. */
static inline uint64_t
tel__collector_window(unsigned i)
{
	static const unsigned char steps[] = { 1, 2, 5 };
	uint64_t ns = UINT64_C(1000) * steps[i % 3];

	for (i /= 3; i > 0; i--)
		ns *= 10;
	return ns;
}

/* Nonzero when events of a type start or end a pause or a collection. */
static inline int
tel__collector_wants(const struct tel_type *t)
{
	return t->range != 0;
}

/* The key of the range that an event starts, ends or happens in. */
static inline uint64_t
tel__collector_key(const struct tel_event *ev)
{
	const int key = ev->type->role_field[TEL_PART_ADDRESS];

	return key < 0 ? 0 : tel_load(&ev->type->fields[key], ev->data);
}

/* Takes an event of such a type.  log: its number.  TEL_OK, TEL_ENOMEM. */
tel_status tel__collector_event(struct tel__collector *c,
    const struct tel_event *ev, uint64_t shown, uint64_t log);
/* Adds the ends of a later part of a log.  1; 0: too many, or no memory. */
int tel__collector_join(struct tel__collector *c,
    const struct tel__collector *next, uint64_t log);
/*
 * Makes .ranges and .stops: an end goes with the last start.  1; 0: no memory.
 */
int tel__collector_pair(struct tel__collector *c);
/*
 * The least share, in 0 to 1, that the program had of any window of a length
 * between two times: the minimum mutator utilisation.
 */
double tel__collector_mutator(const struct tel__collector *c, uint64_t first,
    uint64_t last, uint64_t window);
void tel__collector_clear(struct tel__collector *c);

#endif
