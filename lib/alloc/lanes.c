/* SPDX-License-Identifier: BSD-2-Clause */
/* Lanes: which thread has which, their room, and the slots they may take. */
#include "alloc/compiler.h"

#include <stdlib.h>

#define FIRST_WORDS 1024
#define RUN_OF_SLOTS 64 /* fresh ones for a lane: a cache line of its own */
#define BATCH 16        /* freed ones, for the same reason */

static struct lane *
lane_new(struct tel_compiler *c)
{
	struct lane *l;
	unsigned i;

	if (c->lane_count < c->lanes_max)
		return &c->lanes[c->lane_count++];
	/* a lane whose thread has ended, or one that gets several threads */
	for (i = 0; c->ended_count > 0 && i < c->lane_count; i++) {
		l = &c->lanes[i];
		if (l->ended) {
			l->ended = 0;
			c->ended_count--;
			return l;
		}
	}
	return &c->lanes[c->facts.threads % c->lane_count];
}

/* Threads are numbers of any value, keys are not 0. */
static uint64_t
thread_key(uint64_t thread)
{
	return thread + 1 == 0 ? thread : thread + 1;
}

struct lane *
tel_lane_find(struct tel_compiler *c, uint64_t thread)
{
	struct tel_entry *e;
	struct lane *l;
	int fresh;

	e = tel_table_put(&c->threads, thread_key(thread), &fresh);
	if (e == NULL)
		return NULL;
	if (fresh) {
		l = lane_new(c);
		e->value = (uint32_t)(l - c->lanes);
		c->facts.threads++;
		c->facts.lanes = c->lane_count;
	}
	l = &c->lanes[e->value];
	if (l->ended) {
		l->ended = 0;
		c->ended_count--;
	}
	c->last_thread = thread;
	c->last_lane = l;
	return l;
}

void
tel_lane_end(struct tel_compiler *c, uint64_t thread)
{
	struct tel_entry *e;
	struct lane *l;

	e = tel_table_find(&c->threads, thread_key(thread));
	if (e == NULL)
		return;
	l = &c->lanes[e->value];
	tel_table_remove(&c->threads, e);
	if (!l->ended) {
		l->ended = 1;
		c->ended_count++;
	}
	c->last_lane = NULL;
}

void
tel_lanes_close(struct tel_compiler *c)
{
	unsigned i, j;

	for (i = 0; i < c->lane_count; i++) {
		free(c->lanes[i].words);
		free(c->lanes[i].origins);
		free(c->lanes[i].times);
		free(c->lanes[i].free);
		free(c->lanes[i].known);
		for (j = 0; j < SNAPSHOTS; j++)
			free(c->lanes[i].snapshots[j].known);
	}
	free(c->lanes);
	free(c->shared_free);
	tel_table_close(&c->threads);
}

/* Doubles *p to at least need elements of size bytes. */
int
tel_array_grow(void *p, size_t *room, size_t need, size_t size)
{
	size_t n = *room == 0 ? 64 : *room;
	void *grown;

	if (need <= *room)
		return 0;
	while (n < need)
		if (__builtin_mul_overflow(n, (size_t)2, &n))
			return -1;
	if (n > SIZE_MAX / size)
		return -1;
	memcpy(&grown, p, sizeof(grown));
	grown = realloc(grown, n * size);
	if (grown == NULL)
		return -1;
	memcpy(p, &grown, sizeof(grown));
	*room = n;
	return 0;
}

int
tel_lane_grow(struct lane *l)
{
	size_t room = l->room;

	if (room == 0 && l->count == 0)
		room = FIRST_WORDS / 2;
	if (l->count + LANE_SLACK > l->room) {
		room = l->room == 0 ? 0 : l->room;
		if (tel_array_grow(&l->words, &room, l->count + FIRST_WORDS,
		        sizeof(*l->words)) != 0 ||
		    room > WHERE_MASK)
			return -1;
		l->room = (uint32_t)room;
	}
	if (tel_array_grow(&l->origins, &l->origins_room,
	        l->origins_used + ORIGIN_SLACK, 1) != 0)
		return -1;
	room = l->times_room;
	if (tel_array_grow(&l->times, &room, (size_t)l->times_used + 2,
	        sizeof(*l->times)) != 0)
		return -1;
	l->times_room = (uint32_t)room;
	return 0;
}

/* Some of those that any lane may take, or fresh ones. */
int
tel_slots_fetch(struct tel_compiler *c, struct lane *l)
{
	size_t n = c->shared_used < BATCH ? c->shared_used : BATCH, i;

	if (n > 0) {
		if (tel_array_grow(&l->free, &l->free_room, l->free_used + n,
		        sizeof(*l->free)) != 0)
			return -1;
		for (i = 0; i < n; i++)
			l->free[l->free_used++] =
			    c->shared_free[c->shared_used - n + i];
		c->shared_used -= n;
		return 0;
	}
	if (c->slots >= NO_SLOT - RUN_OF_SLOTS)
		return -1;
	n = (size_t)c->slots + RUN_OF_SLOTS;
	if (tel_array_grow(&c->blocks, &c->blocks_room, n,
	        sizeof(*c->blocks)) != 0)
		return -1;
	l->fresh = c->slots;
	c->slots += RUN_OF_SLOTS;
	l->fresh_end = c->slots;
	return 0;
}
