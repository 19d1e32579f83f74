/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program, checked by a simulation: one thread after the other runs as far
 * as it gets.  Blocks must exist when they are used, and the waits must not
 * form a cycle.
 */
#include "telreplay/compile/program_file.h"

#include <stdlib.h>

#define NOT_LIVE UINT64_MAX

struct state {
	const struct facts *facts;
	uint64_t *sizes;                /* of blocks, by slot */
	unsigned char *pools, *buffers; /* 1: created, 2: destroyed */
	uint64_t *room;
	struct program_thread *threads;
	uint32_t *done; /* words of each thread */
	/* Threads that wait for a thread, as a list; those that may go on. */
	uint32_t *waiter, *next;
	uint32_t *ready;
	unsigned ready_count;
};
#define NOBODY UINT32_MAX

/* The size of the block that must be in a slot. */
static int
is_live(const struct state *s, uint32_t slot, uint64_t size)
{
	return s->sizes[slot] == size;
}

static int
extended_run(struct state *s, uint64_t w, const uint64_t *words)
{
	uint32_t slot = WORD_SLOT(w);

	switch (WORD_SIZE(w)) {
	case EXTENDED_MALLOC:
	case EXTENDED_CALLOC:
	case EXTENDED_ALIGNED:
		if (!is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = words[0];
		return 0;
	case EXTENDED_FREE:
	case EXTENDED_FREE_WITH_POOL:
		if (!is_live(s, slot, words[0]))
			return -1;
		s->sizes[slot] = NOT_LIVE;
		return 0;
	case EXTENDED_REALLOC:
		if (is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = words[0];
		return 0;
	case EXTENDED_FREE_PART:
		if (is_live(s, slot, NOT_LIVE) ||
		    words[0] + words[1] > s->sizes[slot] ||
		    (words[2] != 0 && !is_live(s, slot, words[2])))
			return -1;
		if (words[2] != 0)
			s->sizes[slot] = NOT_LIVE;
		return 0;
	case EXTENDED_POOL_CREATE: return s->pools[slot]++ == 0 ? 0 : -1;
	case EXTENDED_POOL_DESTROY: return s->pools[slot]++ == 1 ? 0 : -1;
	case EXTENDED_BUFFER_CREATE:
		return s->pools[words[0]] == 1 && s->buffers[slot]++ == 0 ? 0 :
		                                                            -1;
	default: return s->buffers[slot]++ == 1 ? 0 : -1;
	}
}

static int
word_run(struct state *s, uint64_t w, const uint64_t *words)
{
	uint32_t slot = WORD_SLOT(w);

	switch (w & WORD_KIND) {
	case WORD_MALLOC:
	case WORD_CALLOC:
		if (!is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = WORD_SIZE(w);
		return 0;
	case WORD_FREE:
		if (!is_live(s, slot, WORD_SIZE(w)))
			return -1;
		s->sizes[slot] = NOT_LIVE;
		return 0;
	case WORD_REALLOC:
		if (is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = WORD_SIZE(w);
		return 0;
	case WORD_USE:
		return (WORD_SIZE(w) ? s->buffers : s->pools)[slot] == 1 ? 0 :
		                                                           -1;
	default: return extended_run(s, w, words);
	}
}

/* Readies the threads that waited for one and need not any more. */
static void
wake(struct state *s, unsigned thread)
{
	uint32_t i = s->waiter[thread], next;
	uint64_t w;

	s->waiter[thread] = NOBODY;
	for (; i != NOBODY; i = next) {
		next = s->next[i];
		w = s->threads[i].words[s->done[i]];
		if (WORD_SIZE(w) < s->done[thread]) {
			s->ready[s->ready_count++] = i;
		} else {
			s->next[i] = s->waiter[thread];
			s->waiter[thread] = i;
		}
	}
}

/* Runs a thread to its end or to a wait: 0, or -1 for an impossible word. */
static int
thread_run(struct state *s, unsigned thread)
{
	const struct program_thread *t = &s->threads[thread];
	uint32_t i = s->done[thread];
	uint64_t w;
	unsigned other;
	int st = 0;

	for (; i < t->word_count && st == 0; i += 1 + word_operands(w)) {
		w = t->words[i];
		if ((w & WORD_KIND) != WORD_WAIT) {
			st = word_run(s, w, t->words + i + 1);
			continue;
		}
		other = WORD_SLOT(w);
		if (other == thread)
			return -1;
		if (WORD_SIZE(w) >= s->done[other]) {
			s->next[thread] = s->waiter[other];
			s->waiter[other] = thread;
			break;
		}
	}
	s->done[thread] = i;
	wake(s, thread);
	return st;
}

static int
chunk_run(struct state *s)
{
	unsigned i, threads = (unsigned)s->facts->threads;
	int st = 0;

	s->ready_count = 0;
	for (i = 0; i < threads; i++) {
		s->done[i] = 0;
		s->waiter[i] = NOBODY;
		s->ready[s->ready_count++] = i;
	}
	while (s->ready_count > 0 && st == 0)
		st = thread_run(s, s->ready[--s->ready_count]);
	for (i = 0; i < threads && st == 0; i++)
		if (s->done[i] < s->threads[i].word_count)
			st = -1;
	return st;
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
	s->threads = calloc(threads, sizeof(*s->threads));
	s->done = calloc(threads, sizeof(*s->done));
	s->waiter = calloc(threads, sizeof(*s->waiter));
	s->next = calloc(threads, sizeof(*s->next));
	s->ready = calloc(threads, sizeof(*s->ready));
	if (s->sizes == NULL || s->pools == NULL || s->buffers == NULL ||
	    s->room == NULL || s->threads == NULL || s->done == NULL ||
	    s->waiter == NULL || s->next == NULL || s->ready == NULL)
		return TEL_ENOMEM;
	memset(s->sizes, 0xff, (size_t)f->slots * 8 + 8);
	s->pools[0] = 1;
	return TEL_OK;
}

static void
state_close(struct state *s)
{
	free(s->sizes);
	free(s->pools);
	free(s->buffers);
	free(s->room);
	free(s->threads);
	free(s->done);
	free(s->waiter);
	free(s->next);
	free(s->ready);
}

tel_status
program_check(struct program *p)
{
	struct state s = { 0 };
	tel_status st;
	uint64_t i;

	st = state_open(&s, &p->facts);
	for (i = 0; i < p->facts.chunks && st == TEL_OK; i++) {
		st = program_load(p, i, s.room, s.threads);
		if (st == TEL_OK && chunk_run(&s) != 0)
			st = TEL_EDAMAGED;
	}
	state_close(&s);
	return st;
}
