/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lifetimes: how long blocks lived, as a histogram, and the resolution of the
 * clock of a log that was read for few of its events.
 */
#ifndef TEL_LIFETIMES_H
#define TEL_LIFETIMES_H

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

/*
 * The time between two readings of a clock, in ns, or in ticks if their rate is
 * unknown.
 */
uint64_t tel__lifetimes_between(struct tel_clock *c, uint64_t from,
    uint64_t to);
/* Counts blocks that lived for a time.  TEL_OK, TEL_ENOMEM. */
tel_status tel__lifetimes_add(struct tel__lifetimes **all, uint64_t time,
    uint32_t blocks);
/*
 * The time that a share of the blocks, in 1e-9, lived for at most, less than a
 * sixteenth too long.  Returns 1, or 0 without a block.
 */
int tel__lifetimes_quantile(const struct tel__lifetimes *l, uint32_t share,
    uint64_t *out);
/* Adds the blocks by the power of two of their time: see tel__bit_length(). */
void tel__lifetimes_powers(const struct tel__lifetimes *l, uint64_t out[65]);
/* A thread allocates a block.  TEL_OK, TEL_ENOMEM. */
tel_status tel__lifetimes_allocated(struct tel__lifetimes_clock *of,
    struct tel__lifetimes_thread *t, struct tel_clock *c, uint64_t clock);
/*
 * The time within which the next clock was read, for nine in ten blocks, where
 * most have the clock of the one before.  1; 0: each has its own.
 */
int tel__lifetimes_resolution(const struct tel__lifetimes_clock *of,
    uint64_t *out);

#endif
