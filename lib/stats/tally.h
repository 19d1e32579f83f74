/* SPDX-License-Identifier: BSD-2-Clause */
/* Tally: a count for each of the first keys that come. */
#ifndef TEL_STATS_TALLY_H
#define TEL_STATS_TALLY_H

#include "stats/key.h"

/*
 * Column by column, so that a key takes 25 bytes and no padding, and 16 in the
 * index: a million of them 42 MB.
 */
struct tally {
	uint32_t max, count, room;
	uint64_t *bits;
	uint64_t *counts;
	uint64_t *updates;
	uint8_t *tags;
	struct tel__index index;
	uint32_t *order; /* as the keys were sorted last, or NULL */
	uint64_t overflow, overflow_updates;
	struct budget *budget;
	size_t taken;
};

void tel__tally_init(struct tally *t, uint32_t max, struct budget *budget);
void tel__tally_clear(struct tally *t);

/*
 * Adds to the count of a key, which gets a bucket if it is new and one is
 * left.  *wrapped is set when a count did.  TEL_OK; TEL_ELIMIT: it was added
 * to the overflow; TEL_ENOMEM.
 */
tel_status tel__tally_add(struct tally *t, const struct key *k, uint64_t weight,
    uint64_t updates, int *wrapped);

/* The same for one that is counted as overflow. */
void tel__tally_overflow(struct tally *t, uint64_t weight, uint64_t updates,
    int *wrapped);

/* All counts are 0 again; the keys stay. */
void tel__tally_zero(struct tally *t);

static inline struct key
tally_key(const struct tally *t, uint32_t i)
{
	struct key k = { t->bits[i], t->tags[i] };

	return k;
}

/* Puts the keys in order.  TEL_OK, TEL_ENOMEM. */
tel_status tel__tally_sort(struct tally *t, const struct strings *s,
    tel_key_order order);

#endif
