/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All of a program, gone through as a run would: one lane after the other,
 * as far as each gets.  Blocks must be there when they are used, and a lane
 * that waits must be waited for by no one that it waits for.
 */
#include "alloc/program.h"

#include <stdlib.h>

#define NOT_LIVE UINT64_MAX

struct state {
	const tel_facts *facts;
	uint64_t *sizes;                /* of blocks, by slot */
	unsigned char *pools, *buffers; /* are there */
	uint64_t *room;
	tel_lane *lanes;
	uint32_t *done; /* words of each lane */
	/* Lanes that wait for a lane, as a list; those that may go on. */
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
more_run(struct state *s, uint64_t w, const uint64_t *words)
{
	uint32_t slot = TEL_WORD_SLOT(w);

	switch (TEL_WORD_SIZE(w)) {
	case TEL_MORE_MALLOC:
	case TEL_MORE_CALLOC:
	case TEL_MORE_ALIGNED:
		if (!is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = words[0];
		return 0;
	case TEL_MORE_FREE:
	case TEL_MORE_FREE_WITH_POOL:
		if (!is_live(s, slot, words[0]))
			return -1;
		s->sizes[slot] = NOT_LIVE;
		return 0;
	case TEL_MORE_REALLOC:
		if (is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = words[0];
		return 0;
	case TEL_MORE_FREE_PART:
		if (is_live(s, slot, NOT_LIVE) ||
		    words[0] + words[1] > s->sizes[slot] ||
		    (words[2] != 0 && !is_live(s, slot, words[2])))
			return -1;
		if (words[2] != 0)
			s->sizes[slot] = NOT_LIVE;
		return 0;
	case TEL_MORE_POOL_CREATE: return s->pools[slot]++ == 0 ? 0 : -1;
	case TEL_MORE_POOL_DESTROY: return s->pools[slot]++ == 1 ? 0 : -1;
	case TEL_MORE_BUFFER_CREATE:
		return s->pools[words[0]] == 1 && s->buffers[slot]++ == 0 ? 0 :
		                                                            -1;
	default: return s->buffers[slot]++ == 1 ? 0 : -1;
	}
}

static int
word_run(struct state *s, uint64_t w, const uint64_t *words)
{
	uint32_t slot = TEL_WORD_SLOT(w);

	switch (w & TEL_WORD_KIND) {
	case TEL_WORD_MALLOC:
	case TEL_WORD_CALLOC:
		if (!is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = TEL_WORD_SIZE(w);
		return 0;
	case TEL_WORD_FREE:
		if (!is_live(s, slot, TEL_WORD_SIZE(w)))
			return -1;
		s->sizes[slot] = NOT_LIVE;
		return 0;
	case TEL_WORD_REALLOC:
		if (is_live(s, slot, NOT_LIVE))
			return -1;
		s->sizes[slot] = TEL_WORD_SIZE(w);
		return 0;
	case TEL_WORD_USE:
		return (TEL_WORD_SIZE(w) ? s->buffers : s->pools)[slot] == 1 ?
		    0 :
		    -1;
	default: return more_run(s, w, words);
	}
}

/* Has the lanes go on that waited for one, as far as it is now. */
static void
wake(struct state *s, unsigned lane)
{
	uint32_t i = s->waiter[lane], next;
	uint64_t w;

	s->waiter[lane] = NOBODY;
	for (; i != NOBODY; i = next) {
		next = s->next[i];
		w = s->lanes[i].words[s->done[i]];
		if (TEL_WORD_SIZE(w) < s->done[lane]) {
			s->ready[s->ready_count++] = i;
		} else {
			s->next[i] = s->waiter[lane];
			s->waiter[lane] = i;
		}
	}
}

/* Runs a lane to its end, or to a wait.  0, or -1: it cannot be. */
static int
lane_run(struct state *s, unsigned lane)
{
	const tel_lane *l = &s->lanes[lane];
	uint32_t i = s->done[lane];
	uint64_t w;
	unsigned other;
	int st = 0;

	for (; i < l->word_count && st == 0; i += 1 + tel_word_more(w)) {
		w = l->words[i];
		if ((w & TEL_WORD_KIND) != TEL_WORD_WAIT) {
			st = word_run(s, w, l->words + i + 1);
			continue;
		}
		other = TEL_WORD_SLOT(w);
		if (other == lane)
			return -1;
		if (TEL_WORD_SIZE(w) >= s->done[other]) {
			s->next[lane] = s->waiter[other];
			s->waiter[other] = lane;
			break;
		}
	}
	s->done[lane] = i;
	wake(s, lane);
	return st;
}

static int
chunk_run(struct state *s)
{
	unsigned i, lanes = (unsigned)s->facts->lanes;
	int st = 0;

	s->ready_count = 0;
	for (i = 0; i < lanes; i++) {
		s->done[i] = 0;
		s->waiter[i] = NOBODY;
		s->ready[s->ready_count++] = i;
	}
	while (s->ready_count > 0 && st == 0)
		st = lane_run(s, s->ready[--s->ready_count]);
	for (i = 0; i < lanes && st == 0; i++)
		if (s->done[i] < s->lanes[i].word_count)
			st = -1;
	return st;
}

static tel_status
state_open(struct state *s, const tel_facts *f)
{
	size_t lanes = (size_t)f->lanes;

	s->facts = f;
	s->sizes = malloc((size_t)f->slots * 8 + 8);
	s->pools = calloc((size_t)f->pools + 1, 1);
	s->buffers = calloc((size_t)f->buffers + 1, 1);
	s->room = malloc((size_t)f->largest_chunk * 8 + 8);
	s->lanes = calloc(lanes, sizeof(*s->lanes));
	s->done = calloc(lanes, sizeof(*s->done));
	s->waiter = calloc(lanes, sizeof(*s->waiter));
	s->next = calloc(lanes, sizeof(*s->next));
	s->ready = calloc(lanes, sizeof(*s->ready));
	if (s->sizes == NULL || s->pools == NULL || s->buffers == NULL ||
	    s->room == NULL || s->lanes == NULL || s->done == NULL ||
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
	free(s->lanes);
	free(s->done);
	free(s->waiter);
	free(s->next);
	free(s->ready);
}

tel_status
tel_program_check(tel_program *p)
{
	struct state s = { 0 };
	tel_status st;
	uint64_t i;

	st = state_open(&s, &p->facts);
	for (i = 0; i < p->facts.chunks && st == TEL_OK; i++) {
		st = tel_program_load(p, i, s.room, s.lanes);
		if (st == TEL_OK && chunk_run(&s) != 0)
			st = TEL_EDAMAGED;
	}
	state_close(&s);
	return st;
}
