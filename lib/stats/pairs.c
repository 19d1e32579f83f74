/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open ranges: they lie in one array, and those of a key are a list in the
 * order in which they end: from the top one down, or of a queue from the first.  The index has a key as long as a range of it is open, so
 * that memory is bounded by how many are open at a time.
 */
#include "stats/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NOWHERE TEL__NOWHERE

struct pair_range {
	struct pair_key key;
	uint64_t clock;
	struct tel_stat *stat;
	/* starts without room: above the top one; of a queue, right behind it */
	uint64_t over_limit;
	uint32_t
	    below;     /* the next of the stack or queue, or of the free list */
	uint32_t last; /* of the first of a queue: its last */
	int ended; /* of a queue: it waits for the ends of those behind it */
};

void
tel__pairs_init(struct open_pairs *o, uint32_t max, int queue)
{
	memset(o, 0, sizeof(*o));
	o->queue = queue;
	o->max = max;
	o->free = NOWHERE;
	tel__index_init(&o->tops);
}

void
tel__pairs_clear(struct open_pairs *o)
{
	tel__index_clear(&o->tops);
	free(o->ranges);
	tel__pairs_init(o, o->max, o->queue);
}

static uint64_t
pairs_hash_key(const struct open_pairs *o, const struct pair_key *k)
{
	const uint64_t log = (uint64_t)k->log << 32 | k->pair;
	uint64_t seed = o->tops.seed;

	/* few logs have processes */
	if (k->process != 0)
		seed = tel__hash(k->process, seed);
	return key_hash(&k->key, tel__hash(log, seed));
}

/* The top range of a key, or NOWHERE.  hash: of the key. */
static inline uint32_t
pairs_find(const struct open_pairs *o, const struct pair_key *k, uint64_t hash,
    struct tel__probe *at)
{
	uint32_t i;

	for (i = tel__index_first(&o->tops, hash, at); i != NOWHERE;
	     i = tel__index_next(&o->tops, at)) {
		const struct pair_key *of = &o->ranges[i].key;

		if (of->log == k->log && of->pair == k->pair &&
		    of->process == k->process &&
		    key_equal(of->key.bits, of->key.tag, &k->key))
			break;
	}
	return i;
}

/* A place for a range; NOWHERE when out of memory. */
static uint32_t
take_place(struct open_pairs *o)
{
	uint32_t i = o->free;

	if (i != NOWHERE) {
		o->free = o->ranges[i].below;
		return i;
	}
	if (!TEL__RESERVE(o->ranges, o->room, (size_t)o->nranges + 1))
		return NOWHERE;
	return o->nranges++;
}

/* Ends a range, whose place can be used again.  Returns the one below it. */
static uint32_t
give_place(struct open_pairs *o, uint32_t i)
{
	uint32_t below = o->ranges[i].below;

	o->ranges[i].below = o->free;
	o->free = i;
	o->count--;
	return below;
}

enum pair_result
tel__pairs_start(struct open_pairs *o, const struct pair_key *k, uint64_t clock,
    struct tel_stat *stat)
{
	const uint64_t hash = pairs_hash_key(o, k);
	struct tel__probe at;
	uint32_t top = pairs_find(o, k, hash, &at), i, last = top;

	if (o->queue && top != NOWHERE)
		last = o->ranges[top].last;
	/* above a start without room no other may come before its end */
	if (o->count == o->max ||
	    (last != NOWHERE && o->ranges[last].over_limit > 0)) {
		if (last != NOWHERE)
			o->ranges[last].over_limit++;
		return PAIR_OVER_LIMIT;
	}
	i = take_place(o);
	if (i == NOWHERE)
		return PAIR_NO_MEMORY;
	struct pair_range *r = &o->ranges[i];
	r->key = *k;
	r->clock = clock;
	r->stat = stat;
	r->over_limit = 0;
	r->ended = 0;
	r->last = i;
	r->below = o->queue ? NOWHERE : top;
	o->count++;
	if (o->queue && top != NOWHERE) {
		o->ranges[last].below = i;
		o->ranges[top].last = i;
		return PAIR_OK;
	}
	if (top != NOWHERE) {
		tel__index_move(&o->tops, &at, i);
		return PAIR_NESTED;
	}
	if (tel__index_add(&o->tops, hash, i))
		return PAIR_OK;
	(void)give_place(o, i);
	return PAIR_NO_MEMORY;
}

enum pair_result
tel__pairs_end(struct open_pairs *o, const struct pair_key *k, uint64_t *clock,
    struct tel_stat **stat)
{
	struct tel__probe at;
	uint32_t top = pairs_find(o, k, pairs_hash_key(o, k), &at), below;
	enum pair_result result = PAIR_OK;

	if (top == NOWHERE)
		return PAIR_NONE;
	struct pair_range *r = &o->ranges[top];
	if (r->over_limit > 0 && (!o->queue || r->ended)) {
		result = PAIR_OVER_LIMIT;
		if (--r->over_limit > 0 || !o->queue)
			return result;
	} else {
		*clock = r->clock;
		*stat = r->stat;
		r->ended = r->over_limit > 0;
		if (r->ended)
			return result;
	}
	below = give_place(o, top);
	if (below == NOWHERE) {
		tel__index_remove(&o->tops, &at);
		return result;
	}
	o->ranges[below].last = r->last;
	tel__index_move(&o->tops, &at, below);
	return result;
}

struct tel_stat *
tel__pairs_find(const struct open_pairs *o, const struct pair_key *k)
{
	struct tel__probe at;
	uint32_t top = pairs_find(o, k, pairs_hash_key(o, k), &at);

	return top == NOWHERE ? NULL : o->ranges[top].stat;
}

void
tel__pairs_forget(struct open_pairs *o, uint32_t log)
{
	struct tel__probe at = { 0, 0 };

	while (o->tops.slots != NULL && at.slot <= o->tops.mask) {
		uint32_t i = o->tops.slots[at.slot].number - 1;

		if (i == NOWHERE || o->ranges[i].key.log != log) {
			at.slot++;
			continue;
		}
		while (i != NOWHERE)
			i = give_place(o, i);
		/* another may have moved here: look at this slot again */
		tel__index_remove(&o->tops, &at);
	}
}

void
tel__pairs_forget_all(struct open_pairs *o)
{
	tel__index_clear(&o->tops);
	o->nranges = 0;
	o->count = 0;
	o->free = NOWHERE;
}
