/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stat: the state of one statistic, or of one group of it, and the classes of
 * statistics.
 *
 * A class is a row of the table in stat.c: how it is written in a spec and in
 * an inst log, its parameters and buckets, its numbers, and what a value does
 * to it.  Everything else in lib/stats (merging, inst logs, what the public
 * functions return) follows from the row, so that a class is added there.
 */
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
	    crowded;
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

/* A number of a class, and its name in the snapshots of an inst log. */
struct stat_number {
	const char *name; /* NULL ends the list */
	tel_number which;
};
#define STAT_NUMBERS_MAX 8u

struct stat_class {
	const char *name; /* in a spec, and wherever it is shown */
	const char *inst; /* the type of such classes in an inst log */
	const char *parameters[PARAMETERS_MAX];
	unsigned nparameters;
	unsigned required; /* parameters that a spec must give */
	int64_t preset;    /* the first parameter where it is left out */
	unsigned weighted; /* so many weights, or what is shown, at most */
	int unitless;      /* its numbers are not in the unit of the values */
	int squared;       /* it has the sum of the squares of its values */
	int real;          /* its values may have decimals */
	int valued;        /* its parameters are values */
	int bare;          /* a spec may leave out the value: events count */
	int current;       /* its last value stays where counts begin anew */
	int running;       /* a value adds to the last; on the wire, delta=1 */
	int pairs;         /* its values are the lengths of pairs alone */
	int ranked;   /* its largest values are kept; the weights are shown */
	int sketched; /* keys that the tally has no room for are estimated */
	layout_fn *layout; /* checks the parameters and makes buckets */
	/* in the order of a snapshot */
	struct stat_number numbers[STAT_NUMBERS_MAX];
	/* Takes a number.  TEL_OK, TEL_ENOMEM.  NULL: it takes any value. */
	tel_status (*update)(struct tel_stat *s, tel_int128 v, uint64_t weight);
	/* Takes any value.  TEL_OK, TEL_ENOMEM. */
	tel_status (
	    *take)(struct tel_stat *s, const tel_value *v, uint64_t weight);
	/* Adds what another one, of an equal definition, counted after it. */
	tel_status (*merge)(struct tel_stat *s, const struct tel_stat *from);
	/*
	 * Takes n values of weight 1, when their order and their times do not
	 * matter.  TEL_OK, TEL_ENOMEM.  NULL: they matter.
	 */
	tel_status (
	    *update_many)(struct tel_stat *s, const uint64_t *values, size_t n);
};

struct suggestion;

/* The class of a public number, which there is. */
const struct stat_class *tel__stat_class(tel_class c);
/* Finds the class called so by n bytes.  1 with *out set, or 0. */
int tel__stat_class_find(const char *name, size_t n, tel_class *out);
/* The same by the name of its type in an inst log, and whether it is running. */
int tel__stat_class_find_inst(const char *type, size_t n, int running,
    tel_class *out);
/*
 * Writes the names of all classes, of one number first, "count, sum, ...", and
 * offers them for one that is unknown.
 */
void tel__stat_class_list(char *out, size_t size, struct suggestion *near);

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

/* Adds one of the largest values of another stat.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stat_add_top(struct tel_stat *s, const tel_top *value);

/* Adds a value to a stat with a sketch.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stat_add_distinct(struct tel_stat *s, const tel_value *v);
/* Its registers, made if need be; NULL: no memory. */
uint8_t *tel__stat_sketch(struct tel_stat *s);

/*
 * Adds what another stat of an equal definition counted after it.  TEL_OK,
 * TEL_ENOMEM.
 */
tel_status tel__stat_merge(struct tel_stat *s, const struct tel_stat *from);

/*
 * Takes out what another stat of the same definition counted; nothing, when it
 * counted more.  The extremes of what is left are not known.
 */
void tel__stat_subtract(struct tel_stat *s, const struct tel_stat *base);

/* The values of a stat with squares: how many, or what they weigh. */
static inline uint64_t
stat_values(const struct tel_stat *s, const struct stat_class *class)
{
	return s->counts != NULL ? s->weight :
	    class->pairs         ? s->pairs.pairs :
	                           s->updates;
}

static inline void
stat_wrap(struct tel_stat *s, int wrapped)
{
	if (wrapped)
		s->flags |= STAT_WRAPPED;
}

#endif
