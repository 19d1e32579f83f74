/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collector: pauses and collections of a garbage collector, from the events
 * that start and end them, in any order of time.
 */
#ifndef TEL_COLLECTOR_H
#define TEL_COLLECTOR_H

#include "base/table.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/generations.h"
#include "model/run.h"

/* Documented limit: starts and ends that are kept, the first ones. */
#define TEL__COLLECTOR_MAX ((size_t)1 << 20)

/* A start or an end. */
struct tel__collector_end {
	struct tel__moment at; /* .log: its place */
	uint64_t shown, key;   /* shown: the user's */
	uint8_t pause, starts;
};

struct tel__collector_range {
	uint64_t from, to, key; /* clocks */
	uint64_t shown;         /* of its start */
	uint64_t length;
	uint32_t log;
	int pause; /* otherwise a collection */
};

/* The program stood still; .before: how long in all that are earlier. */
struct tel__collector_stop {
	uint64_t from, to, before; /* from the first event */
};

struct tel__collector {
	struct tel_clock **clocks; /* of the logs, shared */
	size_t nlogs, clock_room;
	struct tel__table places; /* of clocks */
	struct tel__collector_end *ends;
	size_t nends, ends_room;
	uint64_t left_out;
	/* in order of their ends, then collections without an end */
	struct tel__collector_range *ranges;
	size_t nranges, nopen, ranges_room;
	struct tel__collector_stop *stops; /* in order, none within another */
	size_t nstops, stops_room;
	struct tel__generations generations;
};

/* Windows that 64 bits hold. */
#define TEL__COLLECTOR_WINDOWS 49u

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

/*
 * The first event of a run, from i on, of a wanted type.  Types of the schema have
 * an entry each, those of unknown codes have none.
 */
static inline size_t
tel__collector_find(const struct tel_run *run, size_t i,
    const unsigned char *wanted, size_t ntypes)
{
	while (i < run->count &&
	    (run->types[i] >= ntypes || !wanted[run->types[i]]))
		i++;
	return i;
}

/* The key of the range that an event starts, ends or happens in. */
static inline uint64_t
tel__collector_key(const struct tel_event *ev)
{
	const int key = ev->type->role_field[TEL_PART_ADDRESS];

	return key < 0 ? 0 : tel_load(&ev->type->fields[key], ev->data);
}

void tel__collector_init(struct tel__collector *c);
/* The place of the log of an event; it may have no others.  0: no memory. */
int tel__collector_log(struct tel__collector *c, const struct tel_event *ev,
    uint32_t *log);
/* Takes a start, an end, or what became of a generation.  TEL_OK, TEL_ENOMEM. */
tel_status tel__collector_event(struct tel__collector *c,
    const struct tel_event *ev, uint64_t shown);
/*
 * Adds the ends of other logs, or, part: of a later part of the last log.
 * 1; 0: too many, or no memory.
 */
int tel__collector_join(struct tel__collector *c,
    const struct tel__collector *next, int part);
/*
 * The unit of times: "ns"; "ticks" where no log has the rate of its clock; NULL
 * where only some have it.
 */
const char *tel__collector_unit(const struct tel__collector *c);

/*
 * The time from one clock of a log to another, in ns, as all events that are
 * known by now have it; in ticks where the rate is unknown.  0: backwards.
 */
uint64_t tel__collector_time(const struct tel__collector *c, uint32_t log,
    uint64_t from, uint64_t to);
/*
 * When the logs are over, makes .ranges and .stops: an end goes with the last
 * start.  A collection without one has no length.  first: the clock of the
 * first event.  1; 0: no memory.
 */
int tel__collector_pair(struct tel__collector *c, uint64_t first);
/*
 * The least share, in 0 to 1, that the program had of any window of a length
 * in a log that was as long as span: the minimum mutator utilisation.
 */
double tel__collector_mutator(const struct tel__collector *c, uint64_t span,
    uint64_t window);
void tel__collector_clear(struct tel__collector *c);

#endif
