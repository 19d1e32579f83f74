/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of a program: which of the log they run, their room, their slots. */
#include "telreplay/compile/emit.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_WORDS 1024
#define RUN_OF_SLOTS 64 /* new slots at a time: whole cache lines */
#define BATCH 16        /* freed slots at a time, for the same reason */

/* A thread of the program that runs none of the log; NULL when all do. */
static struct thread *
thread_idle(struct compiler *c)
{
	/* thread 0 never ends, so another one cannot be in its place */
	for (unsigned i = 1; c->idle_count > 0 && i < c->thread_count; i++) {
		if (c->threads[i].hosted > 0)
			continue;
		c->idle_count--;
		return &c->threads[i];
	}
	return NULL;
}

/* Chooses the thread of the program for a new one of the log. */
static struct thread *
thread_choose(struct compiler *c)
{
	struct thread *t = NULL;

	/* without waits between threads, each frees blocks after its end */
	if (c->set.order != ORDER_NONE)
		t = thread_idle(c);
	if (t == NULL && c->thread_count < c->set.threads)
		return &c->threads[c->thread_count++];
	if (t == NULL)
		t = thread_idle(c);
	if (t == NULL)
		t = &c->threads[c->facts.log_threads % c->thread_count];
	return t;
}

static int
control(struct compiler *c, struct thread *t, enum control what,
    uint32_t number)
{
	if (thread_room(t) != 0)
		return -1;
	put_word(c, t, word_make(WORD_CONTROL, number, what));
	return 0;
}

/*
 * Has a thread started by thread 0, as most programs do: pthread_create() takes
 * memory, which in the heap of another thread is in its way.  Where no order
 * bounds how early that is, by the thread of the last operation.
 */
static int
thread_start(struct compiler *c, struct thread *t)
{
	struct thread *creator = &c->threads[0];
	const int windows =
	    c->set.window_share > 0 || c->set.window_operations > 0;

	t->started = 1;
	if (t == creator)
		return 0;
	if ((c->set.order == ORDER_NONE ||
	        (c->set.order == ORDER_EDGES && !windows)) &&
	    c->last_thread != NULL && c->last_thread->started)
		creator = c->last_thread;
	/* one in whose place it runs has ended before */
	if (t->ended && emit_wait(c, creator, t->end_where, t->end_chunk) != 0)
		return -1;
	if (control(c, creator, CONTROL_START, (uint32_t)(t - c->threads)) != 0)
		return -1;
	if (c->set.order == ORDER_EDGES)
		c->windows_on = windows;
	c->ordered = c->windows_on || c->set.order == ORDER_TOTAL;
	return emit_follow(c, t, creator);
}

/* Adds a thread of the log.  NULL when out of memory. */
static struct thread *
thread_add(struct compiler *c, uint64_t id)
{
	struct thread *t = thread_choose(c);
	struct thread_life *life = &c->facts.lives[t - c->threads];

	c->facts.log_threads++;
	c->facts.threads = c->thread_count;
	if (life->hosted++ == 0)
		life->id = id ^ c->tag;
	if (t->hosted++ == 0)
		t->clock.alike = 0;
	if (!t->started && thread_start(c, t) != 0)
		return NULL;
	return t;
}

struct thread *
thread_find(struct compiler *c, uint64_t id)
{
	int fresh;
	struct tel__entry *e = tel__table_put(&c->thread_by_id, id, &fresh);

	if (e == NULL)
		return NULL;
	struct thread *t = &c->threads[e->value];
	if (fresh) {
		t = thread_add(c, id);
		if (t == NULL)
			return NULL;
		e->value = (uint64_t)(t - c->threads);
	}
	c->last_thread_id = id;
	c->last_thread = t;
	return t;
}

int
thread_rename(struct compiler *c, uint64_t id, uint64_t to)
{
	struct tel__entry *e = tel__table_find(&c->thread_by_id, id);
	uint64_t number = e->value;
	int fresh;

	tel__table_remove(&c->thread_by_id, e);
	e = tel__table_put(&c->thread_by_id, to, &fresh);
	if (e != NULL)
		e->value = number;
	c->threads[number].clock.alike = 0;
	if (c->last_thread_id == id)
		c->last_thread = NULL;
	return e != NULL;
}

int
thread_end(struct compiler *c, uint64_t id)
{
	struct tel__entry *e = tel__table_find(&c->thread_by_id, id);

	if (e == NULL) {
		c->facts.log_threads++;
		return 0;
	}
	struct thread *t = &c->threads[e->value];
	tel__table_remove(&c->thread_by_id, e);
	if (c->last_thread_id == id)
		c->last_thread = NULL;
	if (--t->hosted > 0 || t == &c->threads[0])
		return 0;
	c->idle_count++;
	if (c->set.order == ORDER_NONE)
		return 0;
	t->started = 0;
	t->ended = 1;
	t->end_where = t->count;
	t->end_chunk = thread_place(c, t);
	return control(c, t, CONTROL_END, 0);
}

/*
 * Entries that may be looked at for each operation, to find the threads of
 * processes: where very many threads run while processes end, the others of a
 * process stay.
 */
#define LOOKS_MIN ((uint64_t)1 << 28)
#define LOOKS 64

int
threads_end(struct compiler *c, uint64_t id)
{
	const struct tel__table *t = &c->thread_by_id;

	if (tel__table_find(t, id) != NULL && thread_end(c, id) != 0)
		return -1;
	if (c->thread_looks > LOOKS_MIN + LOOKS * c->now)
		return 0;
	c->thread_looks += t->mask;
	for (size_t i = 0; t->count > 0 && i <= t->mask; i++)
		/* an end moves another one here */
		while (t->entries[i].key != 0 &&
		    (t->entries[i].key ^ id) >> TAG_SHIFT == 0)
			if (thread_end(c, t->entries[i].key) != 0)
				return -1;
	return 0;
}

struct thread *
thread_running(struct compiler *c, uint32_t number)
{
	return &c->threads[c->threads[number].started ? number : 0];
}

void
threads_close(struct compiler *c)
{
	for (unsigned i = 0; i < c->thread_count; i++) {
		free(c->threads[i].words);
		free(c->threads[i].origins);
		free(c->threads[i].times);
		free(c->threads[i].free);
		free(c->threads[i].vector);
		for (unsigned j = 0; j < SNAPSHOTS; j++)
			free(c->threads[i].snapshots[j].vector);
	}
	free(c->threads);
	free(c->shared_free);
	tel__table_clear(&c->thread_by_id);
}

int
thread_grow(struct thread *t)
{
	size_t words = t->room, origins;

	if (!TEL__RESERVE(t->words, words, t->count + FIRST_WORDS) ||
	    words > WHERE_MASK ||
	    !TEL__RESERVE(t->origins, t->origins_room,
	        t->origins_used + FIRST_WORDS))
		return -1;
	t->room = (uint32_t)words;
	words = (words - t->count) / THREAD_SLACK;
	origins = (t->origins_room - t->origins_used) / ORIGIN_SLACK;
	t->spare = (uint32_t)(words < origins ? words : origins);
	return 0;
}

/* Takes some of the shared slots, or new ones. */
int
slots_fetch(struct compiler *c, struct thread *t)
{
	size_t n = c->shared_used < BATCH ? c->shared_used : BATCH;

	if (n > 0) {
		if (!TEL__RESERVE(t->free, t->free_room, t->free_used + n))
			return -1;
		c->shared_used -= n;
		memcpy(t->free + t->free_used, c->shared_free + c->shared_used,
		    n * sizeof(*t->free));
		t->free_used += n;
		return 0;
	}
	if (c->slots >= NO_SLOT - RUN_OF_SLOTS)
		return -1;
	t->fresh = c->slots;
	c->slots += RUN_OF_SLOTS;
	t->fresh_end = c->slots;
	return 0;
}
