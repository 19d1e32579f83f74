/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open ranges: a hash table from keys to stacks, whose parts lie in one array.
 * Entries go with the last of their ranges, so that memory is bounded by how
 * many are open at a time.
 */
#include "stats/open.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX
#define FIRST_SIZE 64u

struct open_range {
	uint64_t clock;
	struct tel_stat *stat;
	uint32_t below; /* the next of the stack, or of the free list */
};

struct open_entry {
	struct open_key key;
	uint32_t top;     /* NOWHERE: the entry is not in use */
	uint64_t crowded; /* starts above top that found no room */
};

void
tel__open_init(struct open_ranges *o, uint32_t max)
{
	memset(o, 0, sizeof(*o));
	o->max = max;
	o->free = NOWHERE;
	o->seed = (uint64_t)(uintptr_t)o;
}

void
tel__open_clear(struct open_ranges *o)
{
	free(o->entries);
	free(o->ranges);
	tel__open_init(o, o->max);
}

static uint32_t
home(const struct open_ranges *o, const struct open_key *k)
{
	return (uint32_t)key_hash(&k->key,
	           o->seed + ((uint64_t)k->log << 32) +
	               (uint64_t)k->pair * 0x9e3779b97f4a7c15u) &
	    o->mask;
}

static int
equal(const struct open_key *a, const struct open_key *b)
{
	return a->log == b->log && a->pair == b->pair &&
	    key_equal(a->key.bits, a->key.tag, &b->key);
}

/* The entry of a key, or the free one where it is to be. */
static struct open_entry *
find(const struct open_ranges *o, const struct open_key *k)
{
	uint32_t at = home(o, k);

	while (o->entries[at].top != NOWHERE && !equal(&o->entries[at].key, k))
		at = (at + 1) & o->mask;
	return &o->entries[at];
}

/* Takes an entry out; those that were pushed on by it move up. */
static void
take_out(struct open_ranges *o, struct open_entry *e)
{
	uint32_t hole = (uint32_t)(e - o->entries), at = hole, want;

	for (;;) {
		at = (at + 1) & o->mask;
		if (o->entries[at].top == NOWHERE)
			break;
		want = home(o, &o->entries[at].key);
		if (((at - want) & o->mask) >= ((at - hole) & o->mask)) {
			o->entries[hole] = o->entries[at];
			hole = at;
		}
	}
	o->entries[hole].top = NOWHERE;
	o->nentries--;
}

/* Makes the table larger, or makes it.  0 when there is no memory. */
static int
grow_table(struct open_ranges *o)
{
	uint32_t size = o->entries == NULL ? FIRST_SIZE : 2 * (o->mask + 1);
	struct open_entry *old = o->entries;
	uint32_t count = old == NULL ? 0 : o->mask + 1, i;
	struct open_entry *new = malloc(size * sizeof(*new));

	if (new == NULL)
		return 0;
	for (i = 0; i < size; i++)
		new[i].top = NOWHERE;
	o->entries = new;
	o->mask = size - 1;
	for (i = 0; i < count; i++)
		if (old[i].top != NOWHERE)
			*find(o, &old[i].key) = old[i];
	free(old);
	return 1;
}

/* A place for a range; NOWHERE when there is no memory. */
static uint32_t
take_place(struct open_ranges *o)
{
	uint32_t at = o->free, room;
	struct open_range *new;

	if (at != NOWHERE) {
		o->free = o->ranges[at].below;
		return at;
	}
	if (o->nranges == o->room) {
		room = o->room == 0 ? FIRST_SIZE : 2 * o->room;
		new = realloc(o->ranges, room * sizeof(*new));
		if (new == NULL)
			return NOWHERE;
		o->ranges = new;
		o->room = room;
	}
	return o->nranges++;
}

enum open_result
tel__open_start(struct open_ranges *o, const struct open_key *k, uint64_t clock,
    struct tel_stat *stat)
{
	struct open_entry *e;
	uint32_t at;
	int nested;

	if ((o->entries == NULL || 2 * o->nentries > o->mask) && !grow_table(o))
		return OPEN_NO_MEMORY;
	e = find(o, k);
	nested = e->top != NOWHERE;
	/* above a start without room no other may come before its end */
	if (o->count == o->max || (nested && e->crowded > 0)) {
		if (nested)
			e->crowded++;
		return OPEN_CROWDED;
	}
	at = take_place(o);
	if (at == NOWHERE)
		return OPEN_NO_MEMORY;
	o->ranges[at].clock = clock;
	o->ranges[at].stat = stat;
	o->ranges[at].below = e->top;
	if (!nested) {
		e->key = *k;
		e->crowded = 0;
		o->nentries++;
	}
	e->top = at;
	o->count++;
	return nested ? OPEN_NESTED : OPEN_OK;
}

static void
drop_top(struct open_ranges *o, struct open_entry *e)
{
	uint32_t at = e->top;

	e->top = o->ranges[at].below;
	o->ranges[at].below = o->free;
	o->free = at;
	o->count--;
}

enum open_result
tel__open_end(struct open_ranges *o, const struct open_key *k, uint64_t *clock,
    struct tel_stat **stat)
{
	struct open_entry *e = o->entries == NULL ? NULL : find(o, k);
	uint32_t below;

	if (e == NULL || e->top == NOWHERE)
		return OPEN_NONE;
	if (e->crowded > 0) {
		e->crowded--;
		return OPEN_CROWDED;
	}
	*clock = o->ranges[e->top].clock;
	*stat = o->ranges[e->top].stat;
	below = o->ranges[e->top].below;
	if (below == NOWHERE) {
		/* the entry stays marked as in use while others move */
		o->ranges[e->top].below = o->free;
		o->free = e->top;
		o->count--;
		take_out(o, e);
	} else {
		drop_top(o, e);
	}
	return OPEN_OK;
}

struct tel_stat *
tel__open_find(const struct open_ranges *o, const struct open_key *k)
{
	const struct open_entry *e = o->entries == NULL ? NULL : find(o, k);

	return e == NULL || e->top == NOWHERE ? NULL : o->ranges[e->top].stat;
}

void
tel__open_forget(struct open_ranges *o, uint32_t log)
{
	struct open_entry *e;
	uint32_t i = 0;

	while (o->entries != NULL && i <= o->mask) {
		e = &o->entries[i];
		if (e->top == NOWHERE || e->key.log != log) {
			i++;
			continue;
		}
		while (o->ranges[e->top].below != NOWHERE)
			drop_top(o, e);
		o->ranges[e->top].below = o->free;
		o->free = e->top;
		o->count--;
		/* another may have moved here: look at this place again */
		take_out(o, e);
	}
}

void
tel__open_forget_all(struct open_ranges *o)
{
	uint32_t i;

	for (i = 0; o->entries != NULL && i <= o->mask; i++)
		o->entries[i].top = NOWHERE;
	o->nentries = 0;
	o->nranges = 0;
	o->count = 0;
	o->free = NOWHERE;
}
