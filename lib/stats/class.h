/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Class: what a statistic counts.
 *
 * A class is a row of the table in class.c: how it is written in a spec and in
 * an inst log, its parameters and buckets, its numbers, and what a value does
 * to it.  Everything else in lib/stats (merging, inst logs, what the public
 * functions return) follows from the row, so that a class is added there.
 */
#ifndef TEL_STATS_CLASS_H
#define TEL_STATS_CLASS_H

#include "stats/stat.h"

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
	unsigned weighted; /* so many weights, or shown values, at most */
	int unitless;      /* its numbers are not in the unit of the values */
	int squared;       /* it has the sum of the squares of its values */
	int real;          /* its values may have decimals */
	int valued;        /* its parameters are values */
	int bare;     /* events count: a value may be of any kind, or none */
	int current;  /* its last value stays where counts begin anew */
	int running;  /* a value adds to the last; on the wire, delta=1 */
	int pairs;    /* its values are the lengths of pairs alone */
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
	 * Takes n values of weight 1 in the order of their events, when their
	 * times do not matter.  TEL_OK, TEL_ENOMEM.  NULL: they matter.
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

/* Adds one of the largest values of another stat.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stat_add_top(struct tel_stat *s, const tel_top *value);

/* Adds a value to a stat with a sketch.  TEL_OK, TEL_ENOMEM. */
tel_status tel__stat_add_distinct(struct tel_stat *s, const tel_value *v);
/* Its registers, made if need be; NULL: no memory. */
uint8_t *tel__stat_sketch(struct tel_stat *s);

/* The values of a stat with squares: how many, or what they weigh. */
static inline uint64_t
stat_values(const struct tel_stat *s, const struct stat_class *class)
{
	return s->counts != NULL ? s->weight :
	    class->pairs         ? s->pairs.pairs :
	                           s->updates;
}

#endif
