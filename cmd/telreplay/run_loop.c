/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop that runs a program's words.
 *
 * What can be decided before is: there is one loop for each way to touch
 * blocks, for malloc and for pools, all made from one inline function.
 */
#include "run_inside.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#define ALWAYS static inline __attribute__((always_inline))
#define UNLIKELY(x) __builtin_expect((x), 0)

#define YIELDS 200     /* before a waiting thread sleeps */
#define SLEEP_NS 50000 /* at first; up to a millisecond */
#define SLEEP_MOST 1000000

/* ------------------------------------------------------------- waiting */

/* The other thread is behind: gives way to it, then sleeps. */
static void
wait_long(struct worker *w, const _Atomic uint64_t *published,
    uint64_t position)
{
	struct timespec pause = { 0, SLEEP_NS };
	uint64_t began = run_cpu();
	unsigned i;

	for (i = 0;
	     atomic_load_explicit(published, memory_order_acquire) <= position;
	     i++) {
		if (i < YIELDS) {
			sched_yield();
			continue;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < SLEEP_MOST)
			pause.tv_nsec += pause.tv_nsec / 4;
	}
	w->board->blocked++;
	w->board->wait_ns += run_cpu() - began;
}

void
run_wait(struct worker *w, uint64_t word)
{
	const _Atomic uint64_t *published =
	    &w->run->board->lane[TEL_WORD_SLOT(word)].published;
	uint64_t position = TEL_WORD_SIZE(word), done;
	uint32_t *seen = &w->seen[TEL_WORD_SLOT(word)];
	int i;

	/* the line with it is fought for: it is not read without need */
	if (*seen > position)
		return;
	for (i = w->run->spin; i >= 0; i--) {
		done = atomic_load_explicit(published, memory_order_acquire);
		if (done > position) {
			*seen = (uint32_t)done;
			return;
		}
	}
	wait_long(w, published, position);
}

/* ----------------------------------------------------------- the loops */

ALWAYS void
touch(unsigned char *block, uint64_t size, enum run_touch how)
{
	uint64_t i;

	if (how == RUN_TOUCH_NONE || size == 0)
		return;
	if (how == RUN_TOUCH_ALL) {
		memset(block, 1, size);
		return;
	}
	*(volatile unsigned char *)block = 1;
	if (how == RUN_TOUCH_PAGE)
		for (i = RUN_PAGE; i < size; i += RUN_PAGE)
			((volatile unsigned char *)block)[i] = 1;
}

/* What a loop looks at for each word, where a register can hold it. */
struct hot {
	void **slots;
	void *(*malloc)(size_t size);
	void (*free)(void *block);
	struct run_extra *extra; /* of pools */
};

ALWAYS void
allocate(struct worker *w, const struct hot *h, const uint64_t *p,
    uint64_t word, enum run_touch how, int pools)
{
	uint64_t size = TEL_WORD_SIZE(word);
	uint32_t slot = TEL_WORD_SLOT(word);
	void *block;

	if (pools) {
		block = w->a->pool->alloc(w->pool, size > 0 ? size : 1);
		h->extra[slot].size = size;
		h->extra[slot].pool = w->pool;
	} else
		block = h->malloc(size);
	h->slots[slot] = block;
	if (UNLIKELY(block == NULL))
		run_error(w, RUN_NULL, p, slot, 0, NULL);
	else
		touch(block, size, how);
}

ALWAYS void
release(struct worker *w, const struct hot *h, uint64_t word, int pools)
{
	uint64_t size = TEL_WORD_SIZE(word);
	void **slot = &h->slots[TEL_WORD_SLOT(word)], *block = *slot;

	*slot = NULL;
	if (!pools)
		h->free(block);
	else if (block != NULL)
		w->a->pool->free(w->pool, block, size > 0 ? size : 1);
}

/*
 * A word that is not one of the two that nearly all are, or that somebody
 * waits for.  Returns its last one.
 */
ALWAYS const uint64_t *
other(struct worker *w, const struct hot *h, const uint64_t *p,
    enum run_touch how, int pools)
{
	uint64_t word = *p;

	switch (word & TEL_WORD_KIND) {
	case TEL_WORD_WAIT: run_wait(w, word); return p;
	case TEL_WORD_FREE: release(w, h, word, pools); break;
	case TEL_WORD_MALLOC:
		if (!pools || w->buffer == NULL)
			allocate(w, h, p, word, how, pools);
		else
			run_careful(w, p);
		break;
	case TEL_WORD_MORE:
		run_careful(w, p);
		p += TEL_WORD_SIZE(word) & 7;
		break;
	default: run_careful(w, p); break;
	}
	if ((word & TEL_WORD_PUBLISH) != 0)
		atomic_store_explicit(&w->board->published,
		    (uint64_t)(p + 1 - w->first), memory_order_release);
	return p;
}

ALWAYS const uint64_t *
loop(struct worker *w, const uint64_t *p, const uint64_t *stop,
    enum run_touch how, int pools)
{
	const struct hot h = { w->slots, w->a->malloc, w->a->free, w->extra };
	struct run_lane *const board = w->board;
	unsigned kind;
	uint64_t word;

	for (; p < stop; p++) {
		word = *p;
		kind = word & (TEL_WORD_KIND | TEL_WORD_PUBLISH);
		atomic_store_explicit(&board->word, p, memory_order_relaxed);
		if (kind == TEL_WORD_FREE)
			release(w, &h, word, pools);
		else if (kind == TEL_WORD_MALLOC &&
		    (!pools || w->buffer == NULL))
			allocate(w, &h, p, word, how, pools);
		else
			p = other(w, &h, p, how, pools);
	}
	return p;
}

static const uint64_t *
malloc_none(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_NONE, 0);
}

static const uint64_t *
malloc_first(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_FIRST, 0);
}

static const uint64_t *
malloc_page(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_PAGE, 0);
}

static const uint64_t *
malloc_all(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_ALL, 0);
}

static const uint64_t *
pools_none(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_NONE, 1);
}

static const uint64_t *
pools_first(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_FIRST, 1);
}

static const uint64_t *
pools_page(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_PAGE, 1);
}

static const uint64_t *
pools_all(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	return loop(w, p, stop, RUN_TOUCH_ALL, 1);
}

/* The same, each word with all that verifying asks for. */
static const uint64_t *
verified(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	uint64_t word;

	for (; p < stop; p++) {
		word = *p;
		atomic_store_explicit(&w->board->word, p, memory_order_relaxed);
		if ((word & TEL_WORD_KIND) == TEL_WORD_WAIT)
			run_wait(w, word);
		else
			run_careful(w, p);
		if ((word & TEL_WORD_KIND) == TEL_WORD_MORE)
			p += TEL_WORD_SIZE(word) & 7;
		if ((word & TEL_WORD_PUBLISH) != 0)
			atomic_store_explicit(&w->board->published,
			    (uint64_t)(p + 1 - w->first), memory_order_release);
	}
	return p;
}

const uint64_t *
run_words(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	static const uint64_t *(*const loops[2][4])(struct worker *,
	    const uint64_t *, const uint64_t *) = {
		{ malloc_none, malloc_first, malloc_page, malloc_all },
		{ pools_none, pools_first, pools_page, pools_all },
	};

	if (w->run->verify)
		return verified(w, p, stop);
	return loops[w->a->pool != NULL][w->run->touch](w, p, stop);
}
