/* SPDX-License-Identifier: BSD-2-Clause */
/* Lifetimes: a histogram of times, and how often a clock was read. */
#include "model/lifetimes.h"

#include <stdlib.h>
#include <string.h>

uint64_t
tel__lifetimes_ns(struct tel_clock *c, uint64_t from, uint64_t to)
{
	int64_t ns;

	if (!tel__clock_between(c, from, to, &ns))
		return to - from;
	return ns > 0 ? (uint64_t)ns : 0;
}

struct tel__lifetimes *
tel__lifetimes_grow(struct tel__lifetimes **all, unsigned i)
{
	struct tel__lifetimes *old = *all, *new;
	unsigned first = i, end = i + 1;

	if (old != NULL) {
		first = i < old->first ? i : old->first;
		end = i + 1 > old->first + old->n ? i + 1 : old->first + old->n;
	}
	new = calloc(1, sizeof(*new) + (end - first) * sizeof(uint64_t));
	if (new == NULL)
		return NULL;
	new->least = UINT64_MAX;
	if (old != NULL) {
		*new = *old;
		memcpy(new->buckets + (old->first - first), old->buckets,
		    old->n * sizeof(uint64_t));
		free(old);
	}
	new->first = first;
	new->n = end - first;
	*all = new;
	return new;
}

int
tel__lifetimes_quantile(const struct tel__lifetimes *l, uint32_t share,
    uint64_t *out)
{
	uint64_t rank, sum = 0, v = 0;

	if (l == NULL)
		return 0;
	/* of the count and the share, neither fits into 64 bits with the other */
	rank = l->count / 1000000000 * share +
	    (l->count % 1000000000 * share + 999999999) / 1000000000;
	for (unsigned k = 0; k < l->n && sum < rank; k++) {
		sum += l->buckets[k];
		v = tel__bucket_start(l->first + k + 1) - 1;
	}
	if (rank == 0 || v < l->least)
		v = l->least;
	*out = v > l->most ? l->most : v;
	return 1;
}

void
tel__lifetimes_powers(const struct tel__lifetimes *l, uint64_t out[65])
{
	for (unsigned k = 0; l != NULL && k < l->n; k++)
		out[tel__bit_length(tel__bucket_start(l->first + k))] +=
		    l->buckets[k];
}

int
tel__lifetimes_resolution(const struct tel__lifetimes_clock *of, uint64_t *out)
{
	return of->steps != NULL && of->shared > of->steps->count / 2 &&
	    tel__lifetimes_quantile(of->steps, 900000000, out);
}
