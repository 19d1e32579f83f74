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

static uint64_t
reorder_key_of(const struct compiler *c, uint64_t address)
{
	return address ^ c->key_tag;
}

static struct reorder_entry *
entry_find(struct compiler *c, uint64_t key)
{
	const struct tel__entry *e = tel__table_find(&c->reorder_by_key, key);

	return e == NULL ? NULL : &c->reorder[e->value];
}

static void
entry_drop(struct compiler *c, struct reorder_entry *s)
{
	tel__table_remove(&c->reorder_by_key,
	    tel__table_find(&c->reorder_by_key, s->key));
	s->open = 0;
}

/* It was not a race: a free of nothing, or a free that is not in the log. */
static tel_status
entry_settle(struct compiler *c, struct reorder_entry *s)
{
	struct reorder_entry was = *s;

	entry_drop(c, s);
	tel_status st = anomaly_add(c, &was.anomaly);
	if (st != TEL_OK || was.what != REORDER_DOUBLE)
		return st;
	return block_free(c, thread_running(c, was.block.chunk & THREAD_MASK),
	    &was.older, &was.block, BLOCK_REPLACED);
}

static int
too_old(const struct compiler *c, const struct reorder_entry *s)
{
	return c->now - s->when > REORDER_OPERATIONS;
}

/* Settles the oldest entry, and gives up its place. */
static tel_status
entry_shift(struct compiler *c)
{
	struct reorder_entry *s = &c->reorder[c->reorder_first];
	tel_status st = s->open ? entry_settle(c, s) : TEL_OK;

	c->reorder_first = (c->reorder_first + 1) % REORDER_ENTRIES;
	c->reorder_used--;
	return st;
}

tel_status
reorder_expire(struct compiler *c, int all)
{
	tel_status st = TEL_OK;

	while (c->reorder_used > 0 && st == TEL_OK) {
		const struct reorder_entry *s = &c->reorder[c->reorder_first];

		if (s->open && !all &&
		    (s->what == REORDER_EARLY_FREE || !too_old(c, s)))
			break;
		st = entry_shift(c);
	}
	return st;
}

/* Makes room for an entry: settles the oldest, and the one of its key. */
static tel_status
entry_room(struct compiler *c, uint64_t key)
{
	tel_status st;

	if (c->reorder == NULL)
		c->reorder = calloc(REORDER_ENTRIES, sizeof(*c->reorder));
	if (c->reorder == NULL)
		return compiler_no_memory(c);
	struct reorder_entry *s = entry_find(c, key);
	if (s != NULL && (st = entry_settle(c, s)) != TEL_OK)
		return st;
	return c->reorder_used < REORDER_ENTRIES ? TEL_OK : entry_shift(c);
}

static tel_status
entry_add(struct compiler *c, struct thread *t, int what, uint64_t key,
    const struct anomaly_event *anomaly, const struct tel__live_block *older)
{
	tel_status st = entry_room(c, key);
	int fresh;

	if (st != TEL_OK)
		return st;
	struct tel__entry *e = tel__table_put(&c->reorder_by_key, key, &fresh);
	if (e == NULL)
		return compiler_no_memory(c);
	e->value = (c->reorder_first + c->reorder_used) % REORDER_ENTRIES;
	struct reorder_entry *s = &c->reorder[e->value];
	*s = (struct reorder_entry){ .key = key,
		.when = c->now,
		.anomaly = *anomaly,
		.thread = (uint32_t)(t - c->threads),
		.what = what,
		.open = 1 };
	if (older != NULL) {
		s->older = *older;
		s->block = *block_of(c, older);
	}
	c->reorder_used++;
	return TEL_OK;
}

/* Operations are only out of order where there are several threads. */
static int
may_race(const struct compiler *c)
{
	return c->facts.log_threads > 1 && !c->set.strict;
}

tel_status
reorder_free(struct compiler *c, struct thread *t, enum anomaly which,
    uint64_t address)
{
	const struct anomaly_event anomaly = anomaly_here(c, which, address);

	if (!may_race(c))
		return anomaly_add(c, &anomaly);
	return entry_add(c, t, REORDER_FREE, reorder_key_of(c, address),
	    &anomaly, NULL);
}

tel_status
reorder_double(struct compiler *c, struct thread *t,
    const struct tel__live_block *b)
{
	struct anomaly_event anomaly =
	    anomaly_here(c, ANOMALY_DOUBLE, b->address);
	struct reorder_entry *s = entry_find(c, reorder_key_of(c, b->address));
	struct thread *maker;

	maker = thread_running(c, block_of(c, b)->chunk & THREAD_MASK);
	if (s != NULL && s->what == REORDER_EARLY_FREE) {
		anomaly = s->anomaly;
		anomaly.anomaly = ANOMALY_RACE;
		entry_drop(c, s);
	} else if (may_race(c)) {
		/* its address has been given away: it is dead in any case */
		block_count_end(c, b, block_of(c, b));
		return entry_add(c, t, REORDER_DOUBLE,
		    reorder_key_of(c, b->address), &anomaly, b);
	}
	tel_status st = anomaly_add(c, &anomaly);
	return st != TEL_OK ?
	    st :
	    block_free(c, maker, b, block_of(c, b), BLOCK_FREED);
}

tel_status
reorder_allocated(struct compiler *c, struct thread *t, uint64_t address)
{
	struct reorder_entry *s = entry_find(c, reorder_key_of(c, address));

	if (s == NULL || s->what == REORDER_DOUBLE)
		return TEL_OK;
	if (s->what != REORDER_FREE || too_old(c, s) ||
	    s->thread == (uint32_t)(t - c->threads))
		return entry_settle(c, s);
	s->what = REORDER_EARLY_FREE;
	return TEL_OK;
}

tel_status
reorder_freed(struct compiler *c, struct thread *t, uint64_t address, int freed,
    int *done)
{
	struct reorder_entry *s = entry_find(c, reorder_key_of(c, address));

	*done = 0;
	if (s == NULL)
		return TEL_OK;
	if (!freed || s->what != REORDER_DOUBLE || too_old(c, s) ||
	    s->thread == (uint32_t)(t - c->threads))
		return entry_settle(c, s);
	*done = 1;
	struct anomaly_event anomaly = anomaly_here(c, ANOMALY_RACE, address);
	struct reorder_entry was = *s;
	entry_drop(c, s);
	tel_status st = anomaly_add(c, &anomaly);
	return st != TEL_OK ?
	    st :
	    block_free(c, t, &was.older, &was.block, BLOCK_REPLACED);
}
