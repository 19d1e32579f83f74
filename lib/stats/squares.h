/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Squares: the sum of the squares of values of 64 bits, each times its weight,
 * and the variance that follows from it.  The sum is exact: a square has at
 * most 128 bits and the sum of the weights 64, so 192 bits hold it.
 */
#ifndef TEL_STATS_SQUARES_H
#define TEL_STATS_SQUARES_H

#include "base/int128.h"

struct squares {
	uint64_t words[3]; /* the least significant first */
};

/* Adds a sum of squares that fits in a word. */
static inline void
squares_add_sum(struct squares *s, uint64_t sum)
{
	if (__builtin_add_overflow(s->words[0], sum, &s->words[0]) &&
	    ++s->words[1] == 0)
		s->words[2]++;
}

/* Adds v * v * weight.  Returns 0 when v has more than 64 bits. */
int tel__squares_add_any(struct squares *s, tel_int128 v, uint64_t weight);

/* The same, fast for what most values are. */
static inline int
squares_add(struct squares *s, tel_int128 v, uint64_t weight)
{
	/* most values are small and weigh 1: then one product is enough */
	if (__builtin_expect(((uint64_t)v.high | v.low >> 32 | (weight ^ 1)) !=
	            0,
	        0))
		return tel__squares_add_any(s, v, weight);
	squares_add_sum(s, v.low * v.low);
	return 1;
}

/* Adds, or takes out, all that another one has, modulo 2^192. */
void tel__squares_merge(struct squares *s, const struct squares *from);
void tel__squares_subtract(struct squares *s, const struct squares *from);

/*
 * Makes it that of the values plus shift; sum: of the values, n: how many.
 * Returns 1; 0 when shift has more than 64 bits.
 */
int tel__squares_shift(struct squares *s, tel_int128 shift, tel_int128 sum,
    uint64_t n);

/*
 * The mean of the squared distances from the mean, of values that weigh n
 * together.  Returns 1; 0 when n is 0, or the sum is not that of such values.
 */
int tel__squares_variance(const struct squares *s, tel_int128 sum, uint64_t n,
    double *out);

#endif
