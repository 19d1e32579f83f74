/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop that runs a program's words.
 *
 * Options are decided outside: there is one loop for each way to touch blocks,
 * for malloc and for pools, all made from one inline function.  It has only what
 * nearly all words need; the rest is out of line, so that registers suffice.
 */
#include "telreplay/run/run_inside.h"

#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline, cold))
#define SLOW static __attribute__((noinline))
/* Aligned to a cache line: at other addresses a loop took up to 20 % longer. */
#define LOOP static __attribute__((aligned(64)))

ALWAYS void
touch(const struct worker *w, unsigned char *block, size_t size,
    enum run_touch how)
{
	if (how == RUN_TOUCH_NONE)
		return;
	if (how == RUN_TOUCH_ALL)
		memset(block, 1, size);
	/* one comparison for nearly all sizes */
	else if (UNLIKELY(size - 1 >= RUN_PAGE))
		run_touch(w, block, size);
	else
		*(volatile unsigned char *)block = 1;
}

/* An allocation returned NULL, as it may for no bytes. */
RARE void
no_block(struct worker *w, const uint64_t *p)
{
	if (WORD_SIZE(*p) > 0)
		run_error(w, RUN_NULL, p, WORD_SIZE(*p), NULL);
}

ALWAYS void
touch_new(struct worker *w, const uint64_t *p, void *block, size_t size,
    enum run_touch how)
{
	if (UNLIKELY(block == NULL))
		no_block(w, p);
	else
		touch(w, block, size, how);
}

/* Stores and touches the block that an allocation returned. */
ALWAYS void
keep(struct worker *w, const uint64_t *p, void *block, enum run_touch how)
{
	uint64_t word = *p;

	w->slots[WORD_SLOT(word)] = block;
	touch_new(w, p, block, WORD_SIZE(word), how);
}

ALWAYS void
allocate(struct worker *w, const uint64_t *p, enum run_touch how, int pools)
{
	size_t size = WORD_SIZE(*p);

	if (!pools) {
		keep(w, p, w->a->malloc(size), how);
		return;
	}
	if (w->buffer != NULL) {
		run_careful(w, p);
		return;
	}
	struct run_extra *extra = &w->extra[WORD_SLOT(*p)];
	extra->size = size;
	extra->pool = w->pool;
	extra->gone = 0;
	keep(w, p, w->a->pool->alloc(w->pool, size > 0 ? size : 1), how);
}

ALWAYS void
release(struct worker *w, uint64_t word, int pools)
{
	size_t size = WORD_SIZE(word);
	void **slot = &w->slots[WORD_SLOT(word)], *block = *slot;

	*slot = NULL;
	if (!pools)
		w->a->free(block);
	else if (block != NULL)
		w->a->pool->free(w->pool, block, size > 0 ? size : 1);
}

/* An operation that is rarer, or verified.  Returns its last word. */
static const uint64_t *
careful(struct worker *w, const uint64_t *p)
{
	uint64_t word = *p;

	run_careful(w, p);
	return p + word_operands(word);
}

/*
 * A word other than the two most frequent, or one that another thread waits
 * for.  Returns the last word of the operation.
 */
SLOW const uint64_t *
other(struct worker *w, const uint64_t *p)
{
	int pools = w->a->pool != NULL;
	enum run_touch how = w->run->options->touch;
	uint64_t word = *p;

	switch (word & WORD_KIND) {
	case WORD_WAIT:
		/* no need to wait for what was seen done */
		if (UNLIKELY(w->seen[WORD_SLOT(word)] <= WORD_SIZE(word)))
			run_wait(w, word);
		return p;
	case WORD_CONTROL: run_control(w, word); return p;
	case WORD_FREE: release(w, word, pools); break;
	case WORD_MALLOC: allocate(w, p, how, pools); break;
	case WORD_CALLOC:
		if (pools)
			run_careful(w, p);
		else
			keep(w, p, w->a->calloc(1, WORD_SIZE(word)), how);
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
	_Atomic(const uint64_t *) *const at = &w->shared_stats->word;
	void **const slots = w->slots;
	void *(*const get)(size_t) = w->a->malloc;
	void (*const put)(void *) = w->a->free;

	for (; p < stop; p++) {
		uint64_t word = *p;
		unsigned kind = word & (WORD_KIND | WORD_PUBLISH);

		atomic_store_explicit(at, p, memory_order_relaxed);
		if (UNLIKELY(kind > WORD_FREE)) {
			p = other(w, p);
		} else if (pools && kind == WORD_FREE) {
			release(w, word, 1);
		} else if (pools) {
			allocate(w, p, how, 1);
		} else if (kind == WORD_FREE) {
			void **slot = &slots[WORD_SLOT(word)];
			void *block = *slot;

			*slot = NULL;
			put(block);
		} else {
			void *block = get(WORD_SIZE(word));

			/* read again: a register for it would cost more */
			word = *(const volatile uint64_t *)p;
			slots[WORD_SLOT(word)] = block;
			touch_new(w, p, block, WORD_SIZE(word), how);
		}
	}
	return p;
}

#define VARIANT(name, how, pools) \
	LOOP const uint64_t *name(struct worker *w, const uint64_t *p, \
	    const uint64_t *stop) \
	{ \
		return loop(w, p, stop, how, pools); \
	}
VARIANT(malloc_none, RUN_TOUCH_NONE, 0)
VARIANT(malloc_first, RUN_TOUCH_FIRST, 0)
VARIANT(malloc_page, RUN_TOUCH_PAGE, 0)
VARIANT(malloc_all, RUN_TOUCH_ALL, 0)
VARIANT(pools_none, RUN_TOUCH_NONE, 1)
VARIANT(pools_first, RUN_TOUCH_FIRST, 1)
VARIANT(pools_page, RUN_TOUCH_PAGE, 1)
VARIANT(pools_all, RUN_TOUCH_ALL, 1)

/* The same, verified, counted, or with more than the operations. */
static const uint64_t *
verified(struct worker *w, const uint64_t *p, const uint64_t *stop)
{
	for (; p < stop; p++) {
		uint64_t word = *p;

		atomic_store_explicit(&w->shared_stats->word, p,
		    memory_order_relaxed);
		if ((word & WORD_KIND) == WORD_WAIT) {
			run_wait(w, word);
			continue;
		}
		if ((word & WORD_KIND) == WORD_CONTROL) {
			run_control(w, word);
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

	if (w->run->slow)
		return verified(w, p, stop);
	return loops[w->a->pool != NULL][w->run->options->touch](w, p, stop);
}
