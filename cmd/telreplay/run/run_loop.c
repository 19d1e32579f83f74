/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop that runs a program's words.
 *
 * Options are decided outside: there is one loop for each way to touch blocks,
 * for malloc and for pools, all made from one inline function.
 */
#include "telreplay/run/run_inside.h"

#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void
touch(unsigned char *block, uint64_t size, enum run_touch how)
{
	uint64_t i;

	if (how == RUN_TOUCH_NONE)
		return;
	if (how == RUN_TOUCH_ALL) {
		memset(block, 1, size);
		return;
	}
	/* one comparison for nearly all sizes */
	if (UNLIKELY(size - 1 >= RUN_PAGE) && size == 0)
		return;
	*(volatile unsigned char *)block = 1;
	if (how == RUN_TOUCH_PAGE && UNLIKELY(size > RUN_PAGE))
		for (i = RUN_PAGE; i < size; i += RUN_PAGE)
			((volatile unsigned char *)block)[i] = 1;
}

/* What the loop needs for each word, copied so that registers can hold it. */
struct hot {
	void **slots;
	const uint32_t *seen;
	struct run_extra *extra; /* of pools */
	/* of malloc */
	void *(*malloc)(size_t size);
	void (*free)(void *block);
	/* or of pools */
	void *(*alloc)(void *pool, size_t size);
	void (*drop)(void *pool, void *block, size_t size);
};

/* Stores and touches the block that an allocation returned. */
ALWAYS void
keep(struct worker *w, const struct hot *h, const uint64_t *p, uint64_t word,
    void *block, enum run_touch how)
{
	uint64_t size = WORD_SIZE(word);
	uint32_t slot = WORD_SLOT(word);

	h->slots[slot] = block;
	if (UNLIKELY(block == NULL)) {
		if (size > 0)
			run_error(w, RUN_NULL, p, slot, 0, NULL);
	} else {
		touch(block, size, how);
	}
}

ALWAYS void
allocate(struct worker *w, const struct hot *h, const uint64_t *p,
    uint64_t word, enum run_touch how, int pools)
{
	uint64_t size = WORD_SIZE(word);
	uint32_t slot = WORD_SLOT(word);

	if (!pools) {
		keep(w, h, p, word, h->malloc(size), how);
		return;
	}
	if (w->buffer != NULL) {
		run_careful(w, p);
		return;
	}
	h->extra[slot].size = size;
	h->extra[slot].pool = w->pool;
	keep(w, h, p, word, h->alloc(w->pool, size > 0 ? size : 1), how);
}

ALWAYS void
release(struct worker *w, const struct hot *h, uint64_t word, int pools)
{
	uint64_t size = WORD_SIZE(word);
	void **slot = &h->slots[WORD_SLOT(word)], *block = *slot;

	*slot = NULL;
	if (!pools)
		h->free(block);
	else if (block != NULL)
		h->drop(w->pool, block, size > 0 ? size : 1);
}

/* A rarer operation, or one that is verified. */
ALWAYS const uint64_t *
careful(struct worker *w, const uint64_t *p)
{
	uint64_t word = *p;

	run_careful(w, p);
	return (word & WORD_KIND) == WORD_EXTENDED ? p + (WORD_SIZE(word) & 7) :
	                                             p;
}

/*
 * A word other than the two most frequent, or one that another thread waits
 * for.  Returns the last word of the operation.
 */
ALWAYS const uint64_t *
other(struct worker *w, const struct hot *h, const uint64_t *p,
    enum run_touch how, int pools)
{
	uint64_t word = *p;
	uint32_t size = WORD_SIZE(word);

	switch (word & WORD_KIND) {
	case WORD_WAIT:
		/* no need to wait for what was seen done */
		if (UNLIKELY(h->seen[WORD_SLOT(word)] <= size))
			run_wait(w, word);
		return p;
	case WORD_FREE: release(w, h, word, pools); break;
	case WORD_MALLOC: allocate(w, h, p, word, how, pools); break;
	case WORD_CALLOC:
		if (pools)
			run_careful(w, p);
		else
			keep(w, h, p, word, w->a->calloc(1, size), how);
		break;
	default: p = careful(w, p); break;
	}
	if ((word & WORD_PUBLISH) != 0)
		run_publish(w, p + 1);
	return p;
}

ALWAYS const uint64_t *
loop(struct worker *w, const uint64_t *p, const uint64_t *stop,
    enum run_touch how, int pools)
{
	const struct allocator *a = w->a;
	const struct hot h = { w->slots, w->seen, w->extra, a->malloc, a->free,
		pools ? a->pool->alloc : NULL, pools ? a->pool->free : NULL };
	struct run_thread *const board = w->board;
	unsigned kind;
	uint64_t word;

	for (; p < stop; p++) {
		word = *p;
		kind = word & (WORD_KIND | WORD_PUBLISH);
		atomic_store_explicit(&board->word, p, memory_order_relaxed);
		if (kind == WORD_FREE)
			release(w, &h, word, pools);
		else if (kind == WORD_MALLOC)
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

/* The same, verified. */
static const uint64_t *
verified(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	uint64_t word;

	for (; p < stop; p++) {
		word = *p;
		atomic_store_explicit(&w->board->word, p, memory_order_relaxed);
		if ((word & WORD_KIND) == WORD_WAIT) {
			run_wait(w, word);
			continue;
		}
		p = careful(w, p);
		if ((word & WORD_PUBLISH) != 0)
			run_publish(w, p + 1);
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
