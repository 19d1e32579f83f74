/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reorder buffer: operations that do not fit, and may have been recorded out of
 * order.
 *
 * When a thread frees a block and another one gets its address at once, the
 * log may have the two in the wrong order: the address is allocated while it
 * is live, and freed soon after by another thread.  Or a block is handed over
 * and freed before its allocation was recorded: a free of an unknown address,
 * which soon is allocated by another thread, and then allocated again without
 * having been freed.  The operation stays in the buffer until later ones show
 * which it was.
 */
#include "telreplay/compile/compiler_inside.h"

#include <stdlib.h>

static struct reorder_entry *
entry_find(struct compiler *c, uint64_t address)
{
	struct tel__entry *e = tel__table_find(&c->reorder_by_address, address);

	return e == NULL ? NULL : &c->reorder[e->value];
}

static void
entry_drop(struct compiler *c, struct reorder_entry *s)
{
	struct tel__entry *e;

	e = tel__table_find(&c->reorder_by_address, s->address);
	if (e != NULL)
		tel__table_remove(&c->reorder_by_address, e);
	s->address = 0;
}

/* It was not a race: a free of nothing, or a free that is not in the log. */
static tel_status
entry_settle(struct compiler *c, struct reorder_entry *s)
{
	struct reorder_entry was = *s;
	struct tel__entry *e;
	struct block *b;
	tel_status st;

	entry_drop(c, s);
	st = anomaly_add(c, &was.anomaly);
	if (st == TEL_OK && was.what == REORDER_DOUBLE) {
		b = &c->blocks[was.slot];
		st = block_free(c, thread_running(c, b->chunk & THREAD_MASK),
		    was.slot, 0);
	} else if (was.what == REORDER_EARLY_FREE) {
		e = tel__table_find(&c->table, was.address);
		if (e != NULL)
			c->blocks[e->value].where &= ~BLOCK_EARLY;
	}
	return st;
}

static int
too_old(const struct compiler *c, const struct reorder_entry *s)
{
	return c->now - s->when > REORDER_OPERATIONS;
}

tel_status
reorder_expire(struct compiler *c, int all)
{
	struct reorder_entry *s;
	tel_status st = TEL_OK;

	while (c->reorder_used > 0 && st == TEL_OK) {
		s = &c->reorder[c->reorder_first % REORDER_ENTRIES];
		if (s->address != 0 && !all &&
		    (s->what == REORDER_EARLY_FREE || !too_old(c, s)))
			break;
		if (s->address != 0)
			st = entry_settle(c, s);
		c->reorder_first = (c->reorder_first + 1) % REORDER_ENTRIES;
		c->reorder_used--;
	}
	return st;
}

static tel_status
entry_add(struct compiler *c, struct thread *t, int what, uint64_t address,
    const struct anomaly_event *anomaly, uint32_t slot)
{
	struct reorder_entry *s;
	struct tel__entry *e;
	tel_status st;
	unsigned i;
	int fresh;

	if (c->reorder == NULL)
		c->reorder = calloc(REORDER_ENTRIES, sizeof(*c->reorder));
	if (c->reorder == NULL)
		return compiler_no_memory(c);
	s = entry_find(c, address);
	if (s != NULL && (st = entry_settle(c, s)) != TEL_OK)
		return st;
	if (c->reorder_used == REORDER_ENTRIES) {
		s = &c->reorder[c->reorder_first];
		if (s->address != 0 && (st = entry_settle(c, s)) != TEL_OK)
			return st;
		c->reorder_first = (c->reorder_first + 1) % REORDER_ENTRIES;
		c->reorder_used--;
	}
	i = (c->reorder_first + c->reorder_used) % REORDER_ENTRIES;
	e = tel__table_put(&c->reorder_by_address, address, &fresh);
	if (e == NULL)
		return compiler_no_memory(c);
	e->value = i;
	s = &c->reorder[i];
	s->address = address;
	s->when = c->now;
	s->anomaly = *anomaly;
	s->slot = slot;
	s->thread = (uint32_t)(t - c->threads);
	s->what = what;
	c->reorder_used++;
	return TEL_OK;
}

/* Operations are only out of order where there are several threads. */
static int
may_race(const struct compiler *c)
{
	return c->facts.log_threads > 1 && !c->strict;
}

tel_status
reorder_free(struct compiler *c, struct thread *t, uint64_t address)
{
	struct anomaly_event anomaly = anomaly_here(c, ANOMALY_FREE, address);

	if (!may_race(c))
		return anomaly_add(c, &anomaly);
	return entry_add(c, t, REORDER_FREE, address, &anomaly, NO_SLOT);
}

tel_status
reorder_double(struct compiler *c, struct thread *t, struct tel__entry *e)
{
	struct anomaly_event anomaly = anomaly_here(c, ANOMALY_DOUBLE, e->key);
	struct reorder_entry *s = entry_find(c, e->key);
	uint64_t address = e->key;
	uint32_t slot = (uint32_t)e->value;
	struct thread *maker;
	tel_status st;

	maker = thread_running(c, c->blocks[slot].chunk & THREAD_MASK);
	if (s != NULL && s->what == REORDER_EARLY_FREE) {
		anomaly = s->anomaly;
		anomaly.anomaly = ANOMALY_RACE;
		entry_drop(c, s);
	} else if (may_race(c)) {
		if (c->ends_on)
			end_remove(c, e->key + c->blocks[slot].size, slot);
		tel__table_remove(&c->table, e);
		return entry_add(c, t, REORDER_DOUBLE, address, &anomaly, slot);
	}
	st = anomaly_add(c, &anomaly);
	return st != TEL_OK ? st : block_remove(c, maker, e, 0);
}

tel_status
reorder_allocated(struct compiler *c, struct thread *t, uint64_t address,
    uint32_t *flags)
{
	struct reorder_entry *s = entry_find(c, address);

	*flags = 0;
	if (s == NULL || s->what == REORDER_DOUBLE)
		return TEL_OK;
	if (s->what != REORDER_FREE || too_old(c, s) ||
	    s->thread == (uint32_t)(t - c->threads))
		return entry_settle(c, s);
	s->what = REORDER_EARLY_FREE;
	*flags = BLOCK_EARLY;
	return TEL_OK;
}

tel_status
reorder_freed(struct compiler *c, struct thread *t, uint64_t address, int freed,
    int *done)
{
	struct reorder_entry *s = entry_find(c, address);
	struct anomaly_event anomaly;
	uint32_t slot;
	tel_status st;

	*done = 0;
	if (s == NULL)
		return TEL_OK;
	if (!freed || s->what != REORDER_DOUBLE || too_old(c, s) ||
	    s->thread == (uint32_t)(t - c->threads))
		return entry_settle(c, s);
	*done = 1;
	anomaly = anomaly_here(c, ANOMALY_RACE, address);
	slot = s->slot;
	entry_drop(c, s);
	st = anomaly_add(c, &anomaly);
	return st != TEL_OK ? st : block_free(c, t, slot, 0);
}
