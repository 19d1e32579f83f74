/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of a program: which of the log they run, their room, their slots. */
#include "telreplay/compile/compiler_inside.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_WORDS 1024
#define RUN_OF_SLOTS 64 /* new slots at a time: whole cache lines */
#define BATCH 16        /* freed slots at a time, for the same reason */

static struct thread *
thread_new(struct compiler *c)
{
	struct thread *t;
	unsigned i;

	if (c->thread_count < c->threads_max)
		return &c->threads[c->thread_count++];
	/* reuse one that has ended, or let several share one */
	for (i = 0; c->ended_count > 0 && i < c->thread_count; i++) {
		t = &c->threads[i];
		if (t->ended) {
			t->ended = 0;
			c->ended_count--;
			return t;
		}
	}
	return &c->threads[c->facts.log_threads % c->thread_count];
}

/* Ids have any value, keys are not 0. */
static uint64_t
thread_key(uint64_t id)
{
	return id + 1 == 0 ? id : id + 1;
}

struct thread *
thread_find(struct compiler *c, uint64_t id)
{
	struct hash_entry *e;
	struct thread *t;
	int fresh;

	e = hash_put(&c->thread_by_id, thread_key(id), &fresh);
	if (e == NULL)
		return NULL;
	if (fresh) {
		t = thread_new(c);
		e->value = (uint32_t)(t - c->threads);
		c->facts.log_threads++;
		c->facts.threads = c->thread_count;
	}
	t = &c->threads[e->value];
	if (t->ended) {
		t->ended = 0;
		c->ended_count--;
	}
	c->last_thread_id = id;
	c->last_thread = t;
	return t;
}

void
thread_end(struct compiler *c, uint64_t id)
{
	struct hash_entry *e;
	struct thread *t;

	e = hash_find(&c->thread_by_id, thread_key(id));
	if (e == NULL)
		return;
	t = &c->threads[e->value];
	hash_remove(&c->thread_by_id, e);
	if (!t->ended) {
		t->ended = 1;
		c->ended_count++;
	}
	c->last_thread = NULL;
}

void
threads_close(struct compiler *c)
{
	unsigned i, j;

	for (i = 0; i < c->thread_count; i++) {
		free(c->threads[i].words);
		free(c->threads[i].origins);
		free(c->threads[i].times);
		free(c->threads[i].free);
		free(c->threads[i].vector);
		for (j = 0; j < SNAPSHOTS; j++)
			free(c->threads[i].snapshots[j].vector);
	}
	free(c->threads);
	free(c->shared_free);
	hash_close(&c->thread_by_id);
}

int
thread_grow(struct thread *t)
{
	size_t room = t->room;

	if (room == 0 && t->count == 0)
		room = FIRST_WORDS / 2;
	if (t->count + THREAD_SLACK > t->room) {
		room = t->room == 0 ? 0 : t->room;
		if (array_grow(&t->words, &room, t->count + FIRST_WORDS,
		        sizeof(*t->words)) != 0 ||
		    room > WHERE_MASK)
			return -1;
		t->room = (uint32_t)room;
	}
	if (array_grow(&t->origins, &t->origins_room,
	        t->origins_used + ORIGIN_SLACK, 1) != 0)
		return -1;
	room = t->times_room;
	if (array_grow(&t->times, &room, (size_t)t->times_used + 2,
	        sizeof(*t->times)) != 0)
		return -1;
	t->times_room = (uint32_t)room;
	return 0;
}

/* Takes some of the shared slots, or new ones. */
int
slots_fetch(struct compiler *c, struct thread *t)
{
	size_t n = c->shared_used < BATCH ? c->shared_used : BATCH, i;

	if (n > 0) {
		if (array_grow(&t->free, &t->free_room, t->free_used + n,
		        sizeof(*t->free)) != 0)
			return -1;
		for (i = 0; i < n; i++)
			t->free[t->free_used++] =
			    c->shared_free[c->shared_used - n + i];
		c->shared_used -= n;
		return 0;
	}
	if (c->slots >= NO_SLOT - RUN_OF_SLOTS)
		return -1;
	n = (size_t)c->slots + RUN_OF_SLOTS;
	if (array_grow(&c->blocks, &c->blocks_room, n, sizeof(*c->blocks)) != 0)
		return -1;
	t->fresh = c->slots;
	c->slots += RUN_OF_SLOTS;
	t->fresh_end = c->slots;
	return 0;
}
