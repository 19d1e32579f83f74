/* SPDX-License-Identifier: BSD-2-Clause */
/* Layout: which bucket a value belongs to, and what a bucket's edges are. */
#ifndef TEL_STATS_LAYOUT_H
#define TEL_STATS_LAYOUT_H

#include "tel/stats.h"

/* Documented limits. */
#define BUCKETS_MAX 65536u
#define PARAMETERS_MAX 5u
#define LOG2_MAX 5
#define QUANTILE_BITS_MAX 9
#define QUANTILE_BITS 7
#define TALLY_MAX ((int64_t)1 << 24)
#define DISTINCT_MAX 4096 /* unless a spec sets another */

/* Buckets of one width. */
struct range {
	int64_t lo, hi;
	uint64_t width;
	uint32_t first; /* number of the first bucket */
	int shift;      /* width is 1 << shift; else -1 */
};

/* loglin has a range for each power of its factor, which is 2 or more. */
#define RANGES_MAX 63u

struct layout {
	uint32_t count; /* of buckets; 0 for classes without */
	/* ranges, side by side */
	unsigned nranges;
	struct range *ranges;
	/* or powers of two on both sides of 0 */
	unsigned bits;
	uint32_t half; /* buckets below 0, and as many above */
};

/* What a layout is made of, while it is checked. */
struct layout_maker {
	struct layout *layout;
	struct range ranges[RANGES_MAX];
	const char *why; /* the mistake in the parameters, a sentence, */
	unsigned which;  /* and with which of them */
};

/*
 * How a class makes its layout from its parameters, which are checked even
 * where there are no buckets.
 * TEL_OK; TEL_EINVAL and TEL_ELIMIT with why and which set.
 */
typedef tel_status layout_fn(struct layout_maker *m, const int64_t *parameters);

layout_fn tel__layout_hist, tel__layout_split, tel__layout_log2,
    tel__layout_loglin, tel__layout_quantiles, tel__layout_tally,
    tel__layout_distinct, tel__layout_top;

/*
 * Makes the layout of a class; an empty one where fn is NULL.
 * Returns TEL_OK; TEL_EINVAL and TEL_ELIMIT with *why and *which set;
 * TEL_ENOMEM.
 */
tel_status tel__layout_make(struct layout *l, layout_fn *fn,
    const int64_t *parameters, const char **why, unsigned *which);
void tel__layout_clear(struct layout *l);

/* The bucket of a size, from 1 to 2^63 - 1, counted from that of 0. */
static inline uint32_t
layout_size_bucket(unsigned bits, uint64_t size)
{
	unsigned exponent = 63u - (unsigned)__builtin_clzll(size);

	if (exponent < bits)
		return (uint32_t)size;
	return ((exponent - bits) << bits) +
	    (uint32_t)(size >> (exponent - bits));
}

/* The range that holds v, which lies in one. */
const struct range *tel__layout_range(const struct layout *l, int64_t v);

/* -1: below the first; .count: above the last. */
static inline int64_t
layout_find(const struct layout *l, int64_t v)
{
	const struct range *r = l->ranges;

	if (r == NULL) {
		if (v == 0)
			return l->half;
		if (v > 0)
			return (int64_t)l->half +
			    layout_size_bucket(l->bits, (uint64_t)v);
		/* -2^63 goes with its neighbour */
		return (int64_t)l->half -
		    layout_size_bucket(l->bits,
		        v == INT64_MIN ? INT64_MAX : (uint64_t)-v);
	}
	if (v < r->lo)
		return -1;
	if (v >= l->ranges[l->nranges - 1].hi)
		return l->count;
	if (l->nranges > 1)
		r = tel__layout_range(l, v);
	uint64_t from = (uint64_t)v - (uint64_t)r->lo;
	return r->first +
	    (int64_t)(r->shift >= 0 ? from >> r->shift : from / r->width);
}

/* The edges of bucket i, which there is; .count is left alone. */
void tel__layout_edges(const struct layout *l, uint32_t i, tel_bucket *out);

#endif
