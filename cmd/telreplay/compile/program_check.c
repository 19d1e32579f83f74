/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program, walked through and checked by a simulation: one thread after the
 * other runs as far as it gets.  Blocks must exist when they are used, and the
 * waits must not form a cycle.
 */
#include "telreplay/compile/program_file.h"

#include <stdlib.h>

#define NOT_LIVE UINT64_MAX

/* A thread. */
struct check_thread {
	uint32_t done;         /* words */
	uint32_t published;    /* those that others see done */
	uint32_t waiter, next; /* those that wait for it, as a list */
	uint32_t ready;        /* in .ready_count of them: may go on */
	uint32_t window;       /* that it is in */
	unsigned char running;
	unsigned char at_window; /* waits for one */
};

struct state {
	const struct facts *facts;
	uint64_t *sizes;                /* of blocks, by slot */
	unsigned char *pools, *buffers; /* 1: created, 2: destroyed */
	uint64_t *room;
	struct program_thread *loaded; /* of the chunk */
	struct check_thread *thread;
	unsigned ready_count; /* .ready of so many threads is set */
	uint32_t *inside;     /* threads in each window */
	uint64_t low;         /* the first window that has some */
	program_visit *visit; /* or NULL */
	void *arg;
};
#define NOBODY UINT32_MAX

/* An operation on the block in a slot.  0: an impossible one. */
static int
block_run(struct state *s, enum effect effect, const uint64_t *p)
{
	uint64_t *live = &s->sizes[WORD_SLOT(*p)], size = word_size(p);

	switch (effect) {
	case EFFECT_ALLOCATE:
	case EFFECT_RESIZE:
		if ((*live == NOT_LIVE) != (effect == EFFECT_ALLOCATE))
			return 0;
		*live = size;
		return 1;
	case EFFECT_FREE_PART:
		if (*live == NOT_LIVE || p[1] + p[2] > *live ||
		    (p[3] != 0 && *live != p[3]))
			return 0;
		if (p[3] != 0)
			*live = NOT_LIVE;
		return 1;
	default:
		if (*live != size)
			return 0;
		*live = NOT_LIVE;
		return 1;
	}
}

static int
word_run(struct state *s, const uint64_t *p)
{
	enum effect effect = word_operation(*p)->effect;
	uint32_t n = WORD_SLOT(*p);

	switch (effect) {
	case EFFECT_CREATE_POOL: return s->pools[n]++ == 0;
	case EFFECT_DESTROY_POOL: return s->pools[n]++ == 1;
	case EFFECT_CREATE_BUFFER:
		return s->pools[p[1]] == 1 && s->buffers[n]++ == 0;
	case EFFECT_DESTROY_BUFFER: return s->buffers[n]++ == 1;
	case EFFECT_USE: return (WORD_SIZE(*p) ? s->buffers : s->pools)[n] == 1;
	default: return block_run(s, effect, p);
	}
}

static void
make_ready(struct state *s, uint32_t thread)
{
	s->thread[thread].at_window = 0;
	s->thread[s->ready_count++].ready = thread;
}

/* Readies the threads that waited for one and need not any more. */
static void
wake(struct state *s, unsigned thread)
{
	uint32_t i = s->thread[thread].waiter, next;

	s->thread[thread].waiter = NOBODY;
	for (; i != NOBODY; i = next) {
		next = s->thread[i].next;
		uint64_t w = s->loaded[i].words[s->thread[i].done];
		if (WORD_SIZE(w) < s->thread[thread].published) {
			make_ready(s, i);
		} else {
			s->thread[i].next = s->thread[thread].waiter;
			s->thread[thread].waiter = i;
		}
	}
}

/* A thread leaves its window, and all may go on if that was the last one. */
static void
program_check_leave(struct state *s, unsigned thread)
{
	uint64_t before = s->low;

	if (s->thread[thread].window != 0)
		s->inside[s->thread[thread].window]--;
	s->thread[thread].window = 0;
	while (s->low <= s->facts->windows && s->inside[s->low] == 0)
		s->low++;
	for (unsigned i = 0; s->low != before && i < s->facts->threads; i++)
		if (s->thread[i].at_window)
			make_ready(s, i);
}

/* 1; 0 when the thread has to wait, or has ended; -1 for what cannot be. */
static int
control_run(struct state *s, unsigned thread, uint64_t w)
{
	uint32_t number = WORD_SLOT(w);

	switch (WORD_SIZE(w)) {
	case CONTROL_WINDOW:
		program_check_leave(s, thread);
		s->thread[thread].at_window = s->low + 1 < number;
		if (s->thread[thread].at_window)
			return 0;
		s->thread[thread].window = number;
		return 1;
	case CONTROL_START:
		if (s->thread[number].running)
			return -1;
		s->thread[number].running = 1;
		make_ready(s, number);
		return 1;
	default:
		program_check_leave(s, thread);
		s->thread[thread].running = 0;
		return 1;
	}
}

/* Nonzero when a thread may pass a wait; 0 puts it into a list. */
static int
wait_run(struct state *s, unsigned thread, uint64_t w)
{
	uint32_t other = WORD_SLOT(w);

	if (WORD_SIZE(w) < s->thread[other].published)
		return 1;
	s->thread[thread].next = s->thread[other].waiter;
	s->thread[other].waiter = thread;
	return 0;
}

/* Whether a run publishes that a word is done: as run_loop.c. */
static int
is_published(uint64_t w)
{
	return (w & WORD_PUBLISH) != 0 && (w & WORD_KIND) != WORD_WAIT &&
	    ((w & WORD_KIND) != WORD_CONTROL || word_is_end(w));
}

/* Runs a thread to its end or to a wait.  0: an impossible word. */
static int
thread_run(struct state *s, unsigned thread)
{
	const struct program_thread *t = &s->loaded[thread];
	uint32_t i = s->thread[thread].done;
	int go_on = 1;

	while (i < t->word_count && s->thread[thread].running) {
		uint64_t w = t->words[i];

		if ((w & WORD_KIND) == WORD_WAIT) {
			if (WORD_SLOT(w) == thread)
				return 0;
			go_on = wait_run(s, thread, w);
		} else if ((w & WORD_KIND) == WORD_CONTROL) {
			go_on = control_run(s, thread, w);
		} else {
			go_on = word_run(s, t->words + i) ? 1 : -1;
		}
		if (go_on <= 0)
			break;
		if (s->visit != NULL)
			s->visit(s->arg, thread, t->words + i);
		i += 1 + word_operands(w);
		if (is_published(w))
			s->thread[thread].published = i;
	}
	s->thread[thread].done = i;
	if (i == t->word_count)
		program_check_leave(s, thread);
	wake(s, thread);
	return go_on >= 0;
}

/* Counts the threads of each window, and readies those that run. */
static void
chunk_enter(struct state *s)
{
	uint32_t i, k;
	uint64_t w;

	memset(s->inside, 0, ((size_t)s->facts->windows + 2) * 4);
	s->ready_count = 0;
	for (i = 0; i < s->facts->threads; i++) {
		const struct program_thread *t = &s->loaded[i];

		s->thread[i].done = s->thread[i].published = 0;
		s->thread[i].window = 0;
		s->thread[i].waiter = NOBODY;
		s->thread[i].at_window = 0;
		for (k = 0; k < t->word_count; k += 1 + word_operands(w)) {
			w = t->words[k];
			if (word_is_window(w))
				s->inside[WORD_SLOT(w)]++;
		}
	}
	s->low = 1;
	while (s->low <= s->facts->windows && s->inside[s->low] == 0)
		s->low++;
	for (i = 0; i < s->facts->threads; i++)
		if (s->thread[i].running)
			make_ready(s, i);
}

static int
chunk_run(struct state *s)
{
	chunk_enter(s);
	while (s->ready_count > 0)
		if (!thread_run(s, s->thread[--s->ready_count].ready))
			return 0;
	for (unsigned i = 0; i < s->facts->threads; i++)
		if (s->thread[i].done < s->loaded[i].word_count)
			return 0;
	return 1;
}

static tel_status
state_open(struct state *s, const struct facts *f)
{
	size_t threads = (size_t)f->threads;

	s->facts = f;
	s->sizes = malloc((size_t)f->slots * 8 + 8);
	s->pools = calloc((size_t)f->pools + 1, 1);
	s->buffers = calloc((size_t)f->buffers + 1, 1);
	s->room = malloc((size_t)f->largest_chunk * 8 + 8);
	s->loaded = calloc(threads, sizeof(*s->loaded));
	s->thread = calloc(threads, sizeof(*s->thread));
	s->inside = calloc((size_t)f->windows + 2, sizeof(*s->inside));
	if (s->sizes == NULL || s->pools == NULL || s->buffers == NULL ||
	    s->room == NULL || s->loaded == NULL || s->thread == NULL ||
	    s->inside == NULL)
		return TEL_ENOMEM;
	memset(s->sizes, 0xff, (size_t)f->slots * 8 + 8);
	s->pools[0] = 1;
	s->thread[0].running = 1;
	return TEL_OK;
}

static void
state_close(struct state *s)
{
	free(s->sizes);
	free(s->pools);
	free(s->buffers);
	free(s->room);
	free(s->loaded);
	free(s->thread);
	free(s->inside);
}

tel_status
program_walk(struct program *p, program_visit *visit, void *arg)
{
	struct state s = { .visit = visit, .arg = arg };
	tel_status st = state_open(&s, &p->facts);

	for (uint64_t i = 0; i < p->facts.chunks && st == TEL_OK; i++) {
		p->walked = i;
		st = program_load(p, i, s.room, s.loaded);
		if (st == TEL_OK && !chunk_run(&s))
			st = TEL_EDAMAGED;
	}
	state_close(&s);
	return st;
}

tel_status
program_check(struct program *p)
{
	return program_walk(p, NULL, NULL);
}
