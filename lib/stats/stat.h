/* SPDX-License-Identifier: BSD-2-Clause */
/* Stat: the numbers of one statistic, or of one group of it. */
#ifndef TEL_STATS_STAT_H
#define TEL_STATS_STAT_H

#include "stats/spec.h"
#include "stats/tally.h"

struct definition;

/* Bits of what is known. */
enum {
	STAT_LAST = 1,        /* .last */
	STAT_EXTREMES = 2,    /* .min and .max */
	STAT_NO_SUM = 4,      /* .sum is not known: a part did not tell it */
	STAT_OUTSIDE = 8,     /* .under and .over are not: .outside has both */
	STAT_WRAPPED = 16,    /* a number wrapped */
	STAT_APPROXIMATE = 32 /* merged, and not exact */
};

struct pair_counts {
	uint64_t events, pairs, open, orphan, nested, backward, untimed,
	    crowded;
};
#define PAIR_COUNTS 8u

struct tel_stat {
	const struct definition *definition;
	uint64_t updates, weight;
	tel_int128 sum, last, min, max;
	unsigned flags;
	uint64_t under, over, outside;
	uint64_t invalid, lost;
	uint64_t *counts; /* of buckets; of powers of two, from that of 0 on */
	uint64_t *below;  /* of powers of two below 0, from that of -1 on */
	struct tally tally;
	struct pair_counts pairs;
	uint32_t inst; /* its number in the inst stream; 0: not written yet */
	int is_overflow;
	struct key group[];
};

/* What a stat takes of the budget. */
size_t tel__stat_size(const struct definition *d);

/*
 * Makes a stat of a definition and a group; NULL when there is no memory.
 * Its tally takes from budget; the rest was taken by the caller.
 */
struct tel_stat *tel__stat_new(const struct definition *d,
    const struct key *group, struct budget *budget);
void tel__stat_free(struct tel_stat *s);

/* Updates it with a number.  Not for tallies.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stat_update(struct tel_stat *s, tel_int128 v, uint64_t weight);

/* Updates a tally; key NULL: one that there is no room for. */
void tel__stat_update_key(struct tel_stat *s, const struct key *key,
    uint64_t weight);

/*
 * The number of a value.  TEL_OK; TEL_EINVAL: it is none, or not from -2^63
 * to 2^64 - 1.
 */
tel_status tel__stat_number_of(const tel_value *v, tel_int128 *out);

/* Begins anew, as tel_stats_set_deltas() says. */
void tel__stat_zero(struct tel_stat *s);

/* The weight in bucket i. */
uint64_t tel__stat_bucket(const struct tel_stat *s, uint32_t i);
/* Adds to it.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stat_add_bucket(struct tel_stat *s, uint32_t i,
    uint64_t weight);

/*
 * Adds what another one of an equal definition counted after it; strings:
 * those that their keys are of.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__stat_merge(struct tel_stat *s, struct strings *strings,
    const struct tel_stat *from, const struct strings *from_strings);

static inline void
stat_wrap(struct tel_stat *s, int wrapped)
{
	if (wrapped)
		s->flags |= STAT_WRAPPED;
}

#endif
