/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collections: pauses and collections of a garbage collector in a page, and
 * what events of its kind say of each collection.
 */
#ifndef TEL_COLLECTIONS_H
#define TEL_COLLECTIONS_H

#include "model/collector.h"
#include "print/event_samples.h"
#include "print/page.h"

/* A number that an event has of the collection that it names. */
struct collections_fact {
	uint64_t clock, key;
	uint32_t log;         /* its place */
	uint32_t type, field; /* of the page */
	char value[32];
};

/* The field of a fact that is only the event's time. */
#define COLLECTIONS_TIME UINT32_MAX

struct collections {
	struct tel__collector of, polls;
	const struct tel_schema *schema;
	const struct tel_type *start; /* of a collection; NULL: there is none */
	uint64_t first, last;         /* clocks */
	/* the end of a poll, whose field is whether it did work; or NULL */
	const struct tel_type *poll;
	unsigned poll_field;
	uint64_t worked;
	struct collections_fact *facts;
	size_t nfacts, facts_room;
	int ended; /* another log has begun */
};

/* Nonzero when events of a schema are to be given to tel__collections_event(). */
int tel__collections_want(struct collections *c, const struct tel_schema *s);
/* Nonzero when events of the type are wanted. */
int tel__collections_takes(const struct collections *c,
    const struct tel_type *t);
/*
 * Takes an event of such a type, at a time since the first one.
 * TEL_OK, TEL_ENOMEM.
 */
tel_status tel__collections_event(struct collections *c,
    struct event_samples *x, const struct tel_event *ev, uint64_t time);
/* Takes the clock of an event of a log that has collections.  0: no memory. */
int tel__collections_span(struct collections *c, const struct tel_event *ev);
/*
 * Puts the longest pauses and collections, generations and the mutator's share into the
 * head of a page of so many bytes, if there are any.  0: no memory.
 */
int tel__collections_head(struct collections *c, const struct event_samples *x,
    uint64_t most, struct tel__buffer *b);
void tel__collections_clear(struct collections *c);

#endif
