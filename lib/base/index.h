/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Index: a hash table that finds the elements of an array by keys of any
 * kind.  It holds hashes and places in the array; the keys stay in the array,
 * and whoever owns it compares them:
 *
 *	hash = tel__hash_bytes(name, n, index->seed);
 *	for (i = tel__index_first(index, hash, &at); i != TEL__NOWHERE;
 *	     i = tel__index_next(index, &at))
 *		if (is_called(&list[i], name, n))
 *			return i;
 */
#ifndef TEL__INDEX_H
#define TEL__INDEX_H

#include "base/hash.h"

/* The place of an element that there is not. */
#define TEL__NOWHERE UINT32_MAX

struct tel__index_slot {
	uint32_t hash;
	uint32_t number; /* place of the element, and 1; 0: the slot is free */
};

struct tel__index {
	struct tel__index_slot *slots; /* NULL until something is added */
	size_t mask;
	size_t count;
	uint64_t seed; /* to hash keys with */
};

/* Where a search is. */
struct tel__probe {
	size_t slot;
	uint32_t hash;
};

/* An empty index. */
void tel__index_init(struct tel__index *x);
/* Frees what it holds; it is empty then, and its seed the same. */
void tel__index_clear(struct tel__index *x);

/*
 * Adds the element at place i, which is not in the index.  1, or 0 when out of
 * memory; the index is then as it was.
 */
int tel__index_add(struct tel__index *x, uint64_t hash, uint32_t i);

/* Takes out the element that a search found; other slots may move to its. */
void tel__index_remove(struct tel__index *x, const struct tel__probe *at);

/* The element that a search found has moved to place i. */
static inline void
tel__index_move(struct tel__index *x, const struct tel__probe *at, uint32_t i)
{
	x->slots[at->slot].number = i + 1;
}

/* The place of the element that a search is at, or TEL__NOWHERE. */
static inline uint32_t
tel__index_look(const struct tel__index *x, struct tel__probe *at)
{
	const struct tel__index_slot *slot = &x->slots[at->slot];

	while (slot->number != 0 && slot->hash != at->hash) {
		at->slot = (at->slot + 1) & x->mask;
		slot = &x->slots[at->slot];
	}
	return slot->number - 1;
}

/* The place of the first element that may have a key with that hash. */
static inline uint32_t
tel__index_first(const struct tel__index *x, uint64_t hash,
    struct tel__probe *at)
{
	if (x->count == 0)
		return TEL__NOWHERE;
	at->hash = (uint32_t)hash;
	at->slot = at->hash & x->mask;
	return tel__index_look(x, at);
}

/* The place of the next one. */
static inline uint32_t
tel__index_next(const struct tel__index *x, struct tel__probe *at)
{
	at->slot = (at->slot + 1) & x->mask;
	return tel__index_look(x, at);
}

#endif
