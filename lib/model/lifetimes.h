/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lifetimes: how long blocks lived, as a histogram, and the resolution of the
 * clock of a log that was read for few of its events.
 */
#ifndef TEL_LIFETIMES_H
#define TEL_LIFETIMES_H

#include "base/bucket.h"
#include "model/clock.h"

/* A histogram of times; NULL: no block.  Freed by free(). */
struct tel__lifetimes {
	uint64_t least, most, count;
	unsigned first, n; /* buckets from the first that is used to the last */
	uint64_t buckets[];
};

/* A thread: the blocks that it allocated at one clock, the latest. */
struct tel__lifetimes_thread {
	uint64_t clock;
	uint32_t alike;
};

/* What the clocks of allocations tell about how often the clock was read. */
struct tel__lifetimes_clock {
	struct tel__lifetimes
	    *steps;      /* from one clock of a thread to the next */
	uint64_t shared; /* blocks with the clock of the one before */
};

/* Makes room for bucket i.  NULL: no memory. */
struct tel__lifetimes *tel__lifetimes_grow(struct tel__lifetimes **all,
    unsigned i);

/* What tel__lifetimes_between() does of a clock that is not plain. */
uint64_t tel__lifetimes_ns(struct tel_clock *c, uint64_t from, uint64_t to);
/*
 * The time between two readings of a clock, in ns, or in ticks if their rate is
 * unknown.
 */
static inline uint64_t
tel__lifetimes_between(struct tel_clock *c, uint64_t from, uint64_t to)
{
	const struct tel__clock_plain *plain =
	    (const struct tel__clock_plain *)c;

	if (to <= from)
		return 0;
	return c == NULL || (from >= plain->low && to < plain->end) ?
	    to - from :
	    tel__lifetimes_ns(c, from, to);
}

/* Counts blocks that lived for a time.  TEL_OK, TEL_ENOMEM. */
static inline tel_status
tel__lifetimes_add(struct tel__lifetimes **all, uint64_t time, uint32_t blocks)
{
	const unsigned i = tel__bucket(time);
	struct tel__lifetimes *l = *all;

	if ((l == NULL || i - l->first >= l->n) &&
	    (l = tel__lifetimes_grow(all, i)) == NULL)
		return TEL_ENOMEM;
	l->buckets[i - l->first] += blocks;
	l->count += blocks;
	if (time < l->least)
		l->least = time;
	if (time > l->most)
		l->most = time;
	return TEL_OK;
}

/*
 * The time that a share of the blocks, in 1e-9, lived for at most, less than a
 * sixteenth too long.  Returns 1, or 0 without a block.
 */
int tel__lifetimes_quantile(const struct tel__lifetimes *l, uint32_t share,
    uint64_t *out);
/* Adds the blocks by the power of two of their time: see tel__bit_length(). */
void tel__lifetimes_powers(const struct tel__lifetimes *l, uint64_t out[65]);
/* A thread allocates a block.  TEL_OK, TEL_ENOMEM. */
static inline tel_status
tel__lifetimes_allocated(struct tel__lifetimes_clock *of,
    struct tel__lifetimes_thread *t, struct tel_clock *c, uint64_t clock)
{
	tel_status st = TEL_OK;

	if (t->alike > 0 && clock == t->clock) {
		of->shared++;
		t->alike += t->alike < UINT32_MAX;
		return TEL_OK;
	}
	if (t->alike > 0)
		st = tel__lifetimes_add(&of->steps,
		    tel__lifetimes_between(c, t->clock, clock), t->alike);
	t->clock = clock;
	t->alike = 1;
	return st;
}
/*
 * The time within which the next clock was read, for nine in ten blocks, where
 * most have the clock of the one before.  1; 0: each has its own.
 */
int tel__lifetimes_resolution(const struct tel__lifetimes_clock *of,
    uint64_t *out);

#endif
