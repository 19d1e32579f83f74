/* SPDX-License-Identifier: BSD-2-Clause */
/* Tallies: columns in the order of the keys, and an index of them. */
#include "stats/tally.h"

#include "base/array.h"
#include "base/int128.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16u

void
tel__tally_init(struct tally *t, uint32_t max, struct budget *budget)
{
	memset(t, 0, sizeof(*t));
	t->max = max;
	t->budget = budget;
	tel__index_init(&t->index);
}

void
tel__tally_clear(struct tally *t)
{
	free(t->bits);
	free(t->counts);
	free(t->updates);
	free(t->tags);
	tel__index_clear(&t->index);
	free(t->order);
	if (t->budget != NULL)
		budget_give(t->budget, t->taken);
	memset(t, 0, sizeof(*t));
}

/* The bucket of a key; TEL__NOWHERE when it is new. */
static uint32_t
tally_find(const struct tally *t, const struct key *k, uint64_t hash)
{
	struct tel__probe at;
	uint32_t i;

	for (i = tel__index_first(&t->index, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&t->index, &at))
		if (key_equal(t->bits[i], t->tags[i], k))
			break;
	return i;
}

/* Room for one key more.  TEL_OK, TEL_ELIMIT, TEL_ENOMEM. */
static tel_status
tally_reserve(struct tally *t)
{
	uint32_t room = t->room == 0 ? FIRST_ROOM : 2 * t->room;
	size_t bytes;

	if (t->count < t->room)
		return TEL_OK;
	if (room > t->max)
		room = t->max;
	bytes = room * (3 * sizeof(uint64_t) + 1 + 2 * sizeof(*t->index.slots));
	if (t->count >= t->max || !budget_take(t->budget, bytes - t->taken))
		return TEL_ELIMIT;
	t->taken = bytes;
	if (!TEL__RESIZE(t->bits, room) || !TEL__RESIZE(t->counts, room) ||
	    !TEL__RESIZE(t->updates, room) || !TEL__RESIZE(t->tags, room))
		return TEL_ENOMEM;
	t->room = room;
	return TEL_OK;
}

void
tel__tally_overflow(struct tally *t, uint64_t weight, uint64_t updates,
    int *wrapped)
{
	*wrapped |= count_add(&t->overflow, weight);
	*wrapped |= count_add(&t->overflow_updates, updates);
}

tel_status
tel__tally_add(struct tally *t, const struct key *k, uint64_t weight,
    uint64_t updates, int *wrapped)
{
	const uint64_t hash = key_hash(k, t->index.seed);
	uint32_t i = tally_find(t, k, hash);

	if (i != TEL__NOWHERE) {
		*wrapped |= count_add(&t->counts[i], weight);
		*wrapped |= count_add(&t->updates[i], updates);
		return TEL_OK;
	}
	tel_status st = tally_reserve(t);
	if (st == TEL_ELIMIT)
		tel__tally_overflow(t, weight, updates, wrapped);
	if (st == TEL_OK && !tel__index_add(&t->index, hash, t->count))
		st = TEL_ENOMEM;
	if (st != TEL_OK)
		return st;
	/* an order without the new key is invalid */
	free(t->order);
	t->order = NULL;
	i = t->count++;
	t->bits[i] = k->bits;
	t->tags[i] = k->tag;
	t->counts[i] = weight;
	t->updates[i] = updates;
	return TEL_OK;
}

void
tel__tally_zero(struct tally *t)
{
	if (t->count > 0) {
		memset(t->counts, 0, t->count * sizeof(*t->counts));
		memset(t->updates, 0, t->count * sizeof(*t->updates));
	}
	t->overflow = t->overflow_updates = 0;
	free(t->order);
	t->order = NULL;
}

/* Whether key a comes before key b, or is equal to it. */
static int
tally_in_order(const struct tally *t, const struct strings *s,
    tel_key_order order, uint32_t a, uint32_t b)
{
	if (order != TEL_KEYS_VALUE && t->counts[a] != t->counts[b])
		return (t->counts[a] > t->counts[b]) ==
		    (order == TEL_KEYS_COUNT);
	struct key ka = tally_key(t, a);
	struct key kb = tally_key(t, b);
	return tel__key_compare(s, &ka, &kb) <= 0;
}

tel_status
tel__tally_sort(struct tally *t, const struct strings *s, tel_key_order order)
{
	uint32_t n = t->count, width, lo, middle, hi, a, b, i;
	uint32_t *from, *to, *spare;

	free(t->order);
	t->order = NULL;
	if (order == TEL_KEYS_FIRST || n == 0)
		return TEL_OK;
	from = malloc(n * sizeof(*from));
	to = malloc(n * sizeof(*to));
	if (from == NULL || to == NULL) {
		free(from);
		free(to);
		return TEL_ENOMEM;
	}
	for (i = 0; i < n; i++)
		from[i] = i;
	/* bottom-up merge sort: qsort() has no argument for the tally */
	for (width = 1; width < n; width *= 2) {
		for (lo = 0; lo < n; lo = hi) {
			middle = n - lo < width ? n : lo + width;
			hi = n - middle < width ? n : middle + width;
			for (a = lo, b = middle, i = lo; i < hi; i++)
				if (b == hi ||
				    (a < middle &&
				        tally_in_order(t, s, order, from[a],
				            from[b])))
					to[i] = from[a++];
				else
					to[i] = from[b++];
		}
		spare = from;
		from = to;
		to = spare;
	}
	free(to);
	t->order = from;
	return TEL_OK;
}
