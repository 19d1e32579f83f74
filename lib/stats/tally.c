/* SPDX-License-Identifier: BSD-2-Clause */
/* Tallies: a hash table with open addressing over columns in order. */
#include "stats/tally.h"

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
	t->seed = (uint64_t)(uintptr_t)t;
}

void
tel__tally_clear(struct tally *t)
{
	free(t->bits);
	free(t->counts);
	free(t->updates);
	free(t->tags);
	free(t->index);
	free(t->order);
	if (t->budget != NULL)
		budget_give(t->budget, t->taken);
	memset(t, 0, sizeof(*t));
}

/* Makes a column longer; 0 when there is no memory. */
static int
stretch(void *column, uint32_t room, size_t width)
{
	void *old, *new;

	memcpy(&old, column, sizeof(old));
	new = realloc(old, room * width);
	if (new == NULL)
		return 0;
	memcpy(column, &new, sizeof(new));
	return 1;
}

static uint32_t *
place(const struct tally *t, const struct key *k)
{
	uint32_t at = (uint32_t)key_hash(k, t->seed) & t->mask, i;

	for (; (i = t->index[at]) != 0; at = (at + 1) & t->mask)
		if (key_equal(t->bits[i - 1], t->tags[i - 1], k))
			break;
	return &t->index[at];
}

/* Room for one key more.  0 when there is none: the tally stays as it is. */
static int
grow(struct tally *t)
{
	uint32_t room = t->room == 0 ? FIRST_ROOM : 2 * t->room, i;
	uint32_t size = 2 * FIRST_ROOM, *index;
	struct key k;
	size_t bytes;

	if (room > t->max)
		room = t->max;
	while (size < 2 * room - room / 2)
		size *= 2;
	bytes = room * (3 * sizeof(uint64_t) + 1) + size * sizeof(*index);
	if (!budget_take(t->budget, bytes - t->taken))
		return 0;
	t->taken = bytes;
	if (!stretch(&t->bits, room, sizeof(*t->bits)) ||
	    !stretch(&t->counts, room, sizeof(*t->counts)) ||
	    !stretch(&t->updates, room, sizeof(*t->updates)) ||
	    !stretch(&t->tags, room, sizeof(*t->tags)))
		return 0;
	if (size != t->mask + 1) {
		free(t->index);
		t->index = NULL;
		index = calloc(size, sizeof(*index));
		if (index == NULL) {
			/* no index: no key is found any more, none is added */
			t->max = 0;
			return 0;
		}
		t->index = index;
		t->mask = size - 1;
		for (i = 0; i < t->count; i++) {
			k = tally_key(t, i);
			*place(t, &k) = i + 1;
		}
	}
	t->room = room;
	return 1;
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
	uint32_t *at = t->index != NULL ? place(t, k) : NULL;
	uint32_t i;

	if (at != NULL && *at != 0) {
		i = *at - 1;
		*wrapped |= count_add(&t->counts[i], weight);
		*wrapped |= count_add(&t->updates[i], updates);
		return TEL_OK;
	}
	if (t->count == t->room) {
		if (t->count >= t->max || !grow(t)) {
			tel__tally_overflow(t, weight, updates, wrapped);
			return TEL_ELIMIT;
		}
		at = place(t, k);
	}
	/* an order that has not all keys is none */
	free(t->order);
	t->order = NULL;
	i = t->count++;
	t->bits[i] = k->bits;
	t->tags[i] = k->tag;
	t->counts[i] = weight;
	t->updates[i] = updates;
	*at = t->count;
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

/* Whether key a comes before key b, or is as good as it. */
static int
in_order(const struct tally *t, const struct strings *s, tel_key_order order,
    uint32_t a, uint32_t b)
{
	struct key ka, kb;

	if (order != TEL_KEYS_VALUE && t->counts[a] != t->counts[b])
		return (t->counts[a] > t->counts[b]) ==
		    (order == TEL_KEYS_COUNT);
	ka = tally_key(t, a);
	kb = tally_key(t, b);
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
	/* merging from below: qsort() could not be told of the tally */
	for (width = 1; width < n; width *= 2) {
		for (lo = 0; lo < n; lo = hi) {
			middle = n - lo < width ? n : lo + width;
			hi = n - middle < width ? n : middle + width;
			for (a = lo, b = middle, i = lo; i < hi; i++)
				if (b == hi ||
				    (a < middle &&
				        in_order(t, s, order, from[a],
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
