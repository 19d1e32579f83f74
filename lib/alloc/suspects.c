/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suspects: operations that do not fit, and may be in the wrong place.
 *
 * When a thread frees a block and another gets its address at once, what
 * they log may come out in the wrong order: the address is allocated while
 * it is live, and freed soon after by another thread.  Or a block is handed
 * over and freed before its allocation was logged: a free of an unknown
 * address, which soon is allocated by another thread, and then allocated
 * again without having been freed.  Until it is known which it was, the
 * operation is a suspect.
 */
#include "alloc/compiler.h"

#include <stdlib.h>

static struct suspect *
suspect_find(struct tel_compiler *c, uint64_t address)
{
	struct tel_entry *e = tel_table_find(&c->suspects_by_address, address);

	return e == NULL ? NULL : &c->suspects[e->value];
}

static void
suspect_drop(struct tel_compiler *c, struct suspect *s)
{
	struct tel_entry *e;

	e = tel_table_find(&c->suspects_by_address, s->address);
	if (e != NULL)
		tel_table_remove(&c->suspects_by_address, e);
	s->address = 0;
}

/* It was no race: a free of nothing, or a free that is not in the log. */
static tel_status
suspect_settle(struct tel_compiler *c, struct suspect *s)
{
	struct suspect was = *s;
	struct tel_entry *e;
	struct block *b;
	tel_status st;

	suspect_drop(c, s);
	st = tel_odd_add(c, &was.odd);
	if (st == TEL_OK && was.what == SUSPECT_DOUBLE) {
		b = &c->blocks[was.slot];
		st = tel_block_end(c, &c->lanes[b->chunk & LANE_MASK], was.slot,
		    0);
	} else if (was.what == SUSPECT_BORN) {
		e = tel_table_find(&c->table, was.address);
		if (e != NULL)
			c->blocks[e->value].where &= ~BLOCK_EARLY;
	}
	return st;
}

static int
too_old(const struct tel_compiler *c, const struct suspect *s)
{
	return c->now - s->when > SUSPECT_OPERATIONS;
}

tel_status
tel_suspects_expire(struct tel_compiler *c, int all)
{
	struct suspect *s;
	tel_status st = TEL_OK;

	while (c->suspects_used > 0 && st == TEL_OK) {
		s = &c->suspects[c->suspects_first % SUSPECTS];
		if (s->address != 0 && !all &&
		    (s->what == SUSPECT_BORN || !too_old(c, s)))
			break;
		if (s->address != 0)
			st = suspect_settle(c, s);
		c->suspects_first = (c->suspects_first + 1) % SUSPECTS;
		c->suspects_used--;
	}
	return st;
}

static tel_status
suspect_add(struct tel_compiler *c, struct lane *l, int what, uint64_t address,
    const tel_odd_one *odd, uint32_t slot)
{
	struct suspect *s;
	struct tel_entry *e;
	tel_status st;
	unsigned i;
	int fresh;

	if (c->suspects == NULL)
		c->suspects = calloc(SUSPECTS, sizeof(*c->suspects));
	if (c->suspects == NULL)
		return tel_compiler_no_memory(c);
	s = suspect_find(c, address);
	if (s != NULL && (st = suspect_settle(c, s)) != TEL_OK)
		return st;
	if (c->suspects_used == SUSPECTS) {
		s = &c->suspects[c->suspects_first];
		if (s->address != 0 && (st = suspect_settle(c, s)) != TEL_OK)
			return st;
		c->suspects_first = (c->suspects_first + 1) % SUSPECTS;
		c->suspects_used--;
	}
	i = (c->suspects_first + c->suspects_used) % SUSPECTS;
	e = tel_table_put(&c->suspects_by_address, address, &fresh);
	if (e == NULL)
		return tel_compiler_no_memory(c);
	e->value = i;
	s = &c->suspects[i];
	s->address = address;
	s->when = c->now;
	s->odd = *odd;
	s->slot = slot;
	s->lane = (uint32_t)(l - c->lanes);
	s->what = what;
	c->suspects_used++;
	return TEL_OK;
}

/* A race takes two threads. */
static int
may_race(const struct tel_compiler *c)
{
	return c->facts.threads > 1 && !c->strict;
}

tel_status
tel_suspect_free(struct tel_compiler *c, struct lane *l, uint64_t address)
{
	tel_odd_one odd = tel_odd_now(c, TEL_ODD_FREE, address);

	if (!may_race(c))
		return tel_odd_add(c, &odd);
	return suspect_add(c, l, SUSPECT_FREE, address, &odd, NO_SLOT);
}

tel_status
tel_suspect_double(struct tel_compiler *c, struct lane *l, struct tel_entry *e)
{
	tel_odd_one odd = tel_odd_now(c, TEL_ODD_DOUBLE, e->key);
	struct suspect *s = suspect_find(c, e->key);
	uint64_t address = e->key;
	uint32_t slot = e->value;
	struct lane *maker;
	tel_status st;

	maker = &c->lanes[c->blocks[slot].chunk & LANE_MASK];
	if (s != NULL && s->what == SUSPECT_BORN) {
		odd = s->odd;
		odd.odd = TEL_ODD_RACE;
		suspect_drop(c, s);
	} else if (may_race(c)) {
		if (c->ends_on)
			tel_end_remove(c, e->key + c->blocks[slot].size, slot);
		tel_table_remove(&c->table, e);
		return suspect_add(c, l, SUSPECT_DOUBLE, address, &odd, slot);
	}
	st = tel_odd_add(c, &odd);
	return st != TEL_OK ? st : tel_block_take(c, maker, e, 0);
}

tel_status
tel_suspect_born(struct tel_compiler *c, struct lane *l, uint64_t address,
    uint32_t *flags)
{
	struct suspect *s = suspect_find(c, address);

	*flags = 0;
	if (s == NULL || s->what == SUSPECT_DOUBLE)
		return TEL_OK;
	if (s->what != SUSPECT_FREE || too_old(c, s) ||
	    s->lane == (uint32_t)(l - c->lanes))
		return suspect_settle(c, s);
	s->what = SUSPECT_BORN;
	*flags = BLOCK_EARLY;
	return TEL_OK;
}

tel_status
tel_suspect_ended(struct tel_compiler *c, struct lane *l, uint64_t address,
    int freed, int *done)
{
	struct suspect *s = suspect_find(c, address);
	tel_odd_one odd;
	uint32_t slot;
	tel_status st;

	*done = 0;
	if (s == NULL)
		return TEL_OK;
	if (!freed || s->what != SUSPECT_DOUBLE || too_old(c, s) ||
	    s->lane == (uint32_t)(l - c->lanes))
		return suspect_settle(c, s);
	*done = 1;
	odd = tel_odd_now(c, TEL_ODD_RACE, address);
	slot = s->slot;
	suspect_drop(c, s);
	st = tel_odd_add(c, &odd);
	return st != TEL_OK ? st : tel_block_end(c, l, slot, 0);
}
