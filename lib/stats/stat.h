/* SPDX-License-Identifier: BSD-2-Clause */
/* Stat: the state of one statistic, or of one group of it. */
#ifndef TEL_STATS_STAT_H
#define TEL_STATS_STAT_H

#include "stats/spec.h"
#include "stats/sketch.h"
#include "stats/squares.h"
#include "stats/tally.h"
#include "stats/top.h"

struct definition;

/* Bits of tel_stat.flags. */
enum {
	STAT_LAST = 1,         /* .last is known */
	STAT_EXTREMES = 2,     /* .min and .max are */
	STAT_NO_SUM = 4,       /* .sum is not: a merged part did not have it */
	STAT_OUTSIDE = 8,      /* .under and .over are not: .outside has both */
	STAT_WRAPPED = 16,     /* a number wrapped */
	STAT_APPROXIMATE = 32, /* merged, and not exact */
	STAT_NO_SQUARES = 64,  /* .squares is not: a part or value lacks it */
	STAT_NO_VALUES = 128   /* which values there were is not known */
};

/* Counts of the events and ranges of pairs. */
struct pair_counts {
	uint64_t events, pairs, open, orphan, nested, backward, untimed,
	    over_limit;
};
#define PAIR_COUNTS 8u

struct tel_stat {
	const struct definition *definition;
	/* what merges by adding */
	union {
		struct {
			uint64_t updates, weight;
			uint64_t under, over, outside;
			uint64_t invalid, lost;
			struct pair_counts pairs;
		};
		uint64_t sums[7 + PAIR_COUNTS];
	};
	tel_int128 sum, last, min, max;
	struct squares squares;
	uint64_t last_clock; /* when .last was set */
	uint64_t now;        /* the clock of the update that is made */
	const struct tel_event *event; /* and its event */
	unsigned flags;
	uint64_t *counts; /* of buckets; of powers of two, from that of 0 on */
	uint64_t *below;  /* of powers of two below 0, from that of -1 on */
	struct tally tally;
	struct top top;
	uint8_t *sketch; /* in place of the keys of .tally; or NULL */
	uint32_t inst;   /* its id in the inst log; 0: not written yet */
	int is_overflow;
	struct key group[];
};

/* Bytes of the budget that a stat of a definition takes, except its keys. */
size_t tel__stat_size(const struct definition *d);

/*
 * Makes a stat of a definition and a group; NULL when out of memory.  Its tally
 * takes from budget; the rest was charged by the caller.
 */
struct tel_stat *tel__stat_new(const struct definition *d,
    const struct key *group, struct budget *budget);
void tel__stat_free(struct tel_stat *s);

/*
 * The number of a value, as a multiple of 10^-decimals: the nearest one, of two
 * the one farther from 0; with decimals 0, the integer below it.  TEL_OK;
 * TEL_EINVAL: a string, a NaN, or not from -2^63 to 2^64 - 1.
 */
tel_status tel__stat_number_of(const tel_value *v, unsigned decimals,
    tel_int128 *out);

/* Sets all counts to 0, as TEL_STATS_DELTAS does. */
void tel__stat_zero(struct tel_stat *s);
/* Takes its keys out, and the sketch. */
void tel__stat_clear_keys(struct tel_stat *s);
/* Sets it to what a new stat is: the keys go as well. */
void tel__stat_reset(struct tel_stat *s);

/* The weight in bucket i. */
uint64_t tel__stat_bucket(const struct tel_stat *s, uint32_t i);
/* Adds to it.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stat_add_bucket(struct tel_stat *s, uint32_t i,
    uint64_t weight);

/* A number, whatever the class is.  1, or 0 when it is not known. */
int tel__stat_get_number(const struct tel_stat *s, tel_number which,
    tel_int128 *out);
/* Sets it, as a snapshot has it.  1, or 0 when it does not fit. */
int tel__stat_set_number(struct tel_stat *s, tel_number which, tel_int128 v);

/*
 * Adds what another stat of an equal definition counted after it.  TEL_OK,
 * TEL_ENOMEM.
 */
tel_status tel__stat_merge(struct tel_stat *s, const struct tel_stat *from);

/*
 * Takes out what another stat of the same definition counted; nothing, when it
 * counted more.  The extremes of the rest are unknown.
 */
void tel__stat_subtract(struct tel_stat *s, const struct tel_stat *base);

static inline void
stat_wrap(struct tel_stat *s, int wrapped)
{
	if (wrapped)
		s->flags |= STAT_WRAPPED;
}

/* The least and the largest value so far. */
static inline void
stat_widen(struct tel_stat *s, tel_int128 v)
{
	if (!(s->flags & STAT_EXTREMES)) {
		s->flags |= STAT_EXTREMES;
		s->min = s->max = v;
	} else if (int128_less(v, s->min)) {
		s->min = v;
	} else if (int128_less(s->max, v)) {
		s->max = v;
	}
}

#endif
