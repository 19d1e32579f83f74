/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorting by clocks.  A flush of a log is a few pieces, each in order of time
 * or against it, so the sort merges such pieces.
 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void
tel__sorter_clear(struct tel__sorter *s)
{
	free(s->merged);
	free(s->ends);
}

/*
 * Finds the pieces of n keys that are in order, turns those around that are in
 * opposite order, and returns how many there are; 0: no memory.
 */
static size_t
find_pieces(struct tel__sorter *s, struct tel__sort_key *k, size_t n)
{
	struct tel__sort_key key;
	size_t i, j, low, high, pieces = 0;

	for (i = 0; i < n; i = j) {
		j = i + 1;
		while (j < n && k[j].clock < k[j - 1].clock)
			j++;
		for (low = i, high = j; low + 1 < high; low++) {
			key = k[--high];
			k[high] = k[low];
			k[low] = key;
		}
		/* the last key may be the first of those in opposite order */
		if (j == i + 1) {
			while (j < n && k[j].clock >= k[j - 1].clock)
				j++;
			j -= j > i + 1 && j + 1 < n &&
			    k[j + 1].clock < k[j].clock;
		}
		/* flushes are mostly in order among themselves */
		if (pieces > 0 && k[i].clock >= k[i - 1].clock)
			pieces--;
		if (!TEL__RESERVE(s->ends, s->ends_room, pieces + 1))
			return 0;
		s->ends[pieces++] = j;
	}
	return pieces;
}

/* Merges a piece that ends at middle with the one after it. */
static void
sort_merge(const struct tel__sort_key *from, struct tel__sort_key *to,
    size_t start, size_t middle, size_t end)
{
	const struct tel__sort_key *a = from + start, *b = from + middle;
	const struct tel__sort_key *const a_end = b, *const b_end = from + end;

	to += start;
	while (a < a_end && b < b_end) {
		/* which is next is random, so that a branch would cost more */
		int later = b->clock < a->clock;
		*to++ = *(later ? b : a);
		b += later;
		a += !later;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	to += a_end - a;
	memcpy(to, b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges pairs of pieces, until there is one; returns where it is. */
static const struct tel__sort_key *
merge_all(struct tel__sorter *s, struct tel__sort_key *from,
    struct tel__sort_key *to, size_t pieces)
{
	size_t i, n, start, middle, end;

	while (pieces > 1) {
		for (i = n = start = 0; i < pieces; i += 2, start = end) {
			middle = s->ends[i];
			end = i + 1 < pieces ? s->ends[i + 1] : middle;
			sort_merge(from, to, start, middle, end);
			s->ends[n++] = end;
		}
		pieces = n;
		struct tel__sort_key *other = from;
		from = to;
		to = other;
	}
	return from;
}

int
tel__sort_keys(struct tel__sorter *s, struct tel__sort_key *keys, size_t n)
{
	const struct tel__sort_key *sorted;
	const size_t pieces = find_pieces(s, keys, n);

	if (pieces <= 1)
		return pieces == 1 || n == 0;
	if (!TEL__RESERVE(s->merged, s->merged_room, n))
		return 0;
	sorted = merge_all(s, keys, s->merged, pieces);
	if (sorted != keys)
		memcpy(keys, sorted, n * sizeof(*keys));
	return 1;
}
