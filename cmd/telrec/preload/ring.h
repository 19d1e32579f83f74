/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of this thread: arena.h describes them.  Everything here may be
 * called in signal handlers, and before the library is initialised.
 */
#ifndef TELREC_RING_H
#define TELREC_RING_H

#include <stddef.h>
#include <stdint.h>

#include "telrec/arena.h"

/* Records that a signal handler makes while its thread makes one. */
#define RING_QUEUE 96u

/* This thread. */
struct ring_self {
	int32_t left; /* words until it has to look at more than the epoch */
	uint32_t epoch;
	struct arena_ring *ring;
	uint64_t *words;
	uint16_t id;         /* its number as an owner, from 1 */
	uint16_t strict;     /* no system call but read(2), and no clock */
	uint32_t queued;     /* words in the queue */
	uint32_t muted;      /* its calls are those of this library */
	int ringless;        /* it has waited for a ring, and got none */
	int ends;            /* its end is near: rounds of destructors */
	uint64_t start;      /* of a realloc: the clock */
	const void *skipped; /* its free is recorded already */
	int64_t sample;      /* bytes until the next sample */
	uint64_t random;
	uint64_t queue[RING_QUEUE];
	/* an allocation within calls of the allocator that have not returned */
	uint64_t held[ARENA_RECORD_MAX];
	const void *held_block;
	uint32_t held_words;
	uint32_t nested; /* of those calls */
	int holding;
	const void *inner; /* the block of the last allocation */
	int repeated;      /* such a call has returned the block */
};
extern __thread struct ring_self ring_self
    __attribute__((tls_model("initial-exec")));

/* The arena, and the options of the recording; all 0 until there is one. */
struct ring_shared {
	struct arena *arena;
	uint16_t *owners;
	uint32_t options;
	uint32_t unused;
};
extern struct ring_shared ring_shared;

#define RING_OWNERS ((size_t)1 << 21)
#define RING_LIKELY(x) __builtin_expect(!!(x), 1)

static inline uint16_t *
ring_owner(const void *p)
{
	return &ring_shared.owners[((uintptr_t)p >> 12) & (RING_OWNERS - 1)];
}

/* A record that needs more than ring_put() does.  AS */
void ring_put_slow(const uint64_t *words, unsigned n, const void *p);
/*
 * Reads the clock for the record that is open, and makes this thread the owner
 * of p's page.  0: nothing is to be recorded; the ring is no longer open.
 */
int ring_refresh(struct ring_self *s, const void *p);
/* From now on this thread records nothing; or as before. */
void ring_mute(int on);
/* Writes what signal handlers left. */
void ring_put_queued(struct ring_self *s);

/* Reads the clock for the record that is open. */
void ring_put_clock(struct ring_self *s);

/*
 * With ARENA_EXACT each record has a clock.  There is room for it: a ring that
 * is opened has more than this record takes.
 */
static inline __attribute__((always_inline)) void
ring_be_exact(struct ring_self *s)
{
	if (!RING_LIKELY((ring_shared.options & ARENA_EXACT) == 0))
		ring_put_clock(s);
}

/* Appends words to a ring that is open and has room. */
static inline __attribute__((always_inline)) void
ring_append(struct ring_self *s, const uint64_t *words, unsigned n)
{
	struct arena_ring *ring = s->ring;
	const uint32_t head = ARENA_NOW(ring->head);

	for (unsigned i = 0; i < n; i++)
		s->words[(head + i) & (ARENA_RING_WORDS - 1)] = words[i];
	s->left -= (int32_t)n;
	__atomic_store_n(&ring->head, head + n, __ATOMIC_RELEASE);
}

static inline void
ring_close(struct ring_self *s)
{
	__atomic_store_n(&s->ring->open, 0, __ATOMIC_RELEASE);
	if (!RING_LIKELY(s->queued == 0))
		ring_put_queued(s);
}

/* Writes a record of n words about the block p. */
static inline __attribute__((always_inline)) void
ring_put(const uint64_t *words, unsigned n, const void *p)
{
	struct ring_self *s = &ring_self;

	if (!RING_LIKELY(s->left >= (int32_t)n && !ARENA_NOW(s->ring->open))) {
		ring_put_slow(words, n, p);
		return;
	}
	ARENA_SET(s->ring->open, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!RING_LIKELY(s->epoch == ARENA_NOW(ring_shared.arena->epoch) &&
	        ARENA_NOW(*ring_owner(p)) == s->id) &&
	    !ring_refresh(s, p))
		return;
	ring_be_exact(s);
	ring_append(s, words, n);
	ring_close(s);
}

/* What ring_try() has done. */
enum ring_tried {
	RING_WRITTEN,
	RING_QUEUED,  /* written, and signal handlers have left records */
	RING_STALE,   /* the ring is open, but the clock is to be read first */
	RING_NOT_OPEN /* it may be full, or in use */
};

/*
 * Writes a record of one word about the block p, or leaves it to ring_try_more(),
 * which is called last so that nothing has to be kept for it.
 */
static inline __attribute__((always_inline)) enum ring_tried
ring_try(uint64_t word, const void *p)
{
	struct ring_self *s = &ring_self;

	if (!RING_LIKELY(s->left > 0 && !ARENA_NOW(s->ring->open)))
		return RING_NOT_OPEN;
	ARENA_SET(s->ring->open, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!RING_LIKELY(s->epoch == ARENA_NOW(ring_shared.arena->epoch) &&
	        ARENA_NOW(*ring_owner(p)) == s->id))
		return RING_STALE;
	ring_be_exact(s);
	ring_append(s, &word, 1);
	__atomic_store_n(&s->ring->open, 0, __ATOMIC_RELEASE);
	return RING_LIKELY(s->queued == 0) ? RING_WRITTEN : RING_QUEUED;
}

/* Does what ring_try() has left. */
void ring_try_more(enum ring_tried tried, uint64_t word, const void *p);

/* The first word of a record. */
static inline uint64_t
ring_word(enum arena_op op, const void *p, unsigned twelve)
{
	return (uint64_t)(uintptr_t)p << 16 | (uint64_t)twelve << 4 |
	    (unsigned)op;
}

/*
 * Keeps the ring open from before a call of realloc to its record, which
 * ring_end_realloc() writes.  0: the ring is in use, or nothing is recorded.
 */
int ring_begin_realloc(const void *old);
void ring_end_realloc(int begun, const uint64_t *words, unsigned n,
    const void *p, const void *old);

/*
 * Writes a record of n words about the block p although only samples are
 * recorded: it is one.
 */
void ring_put_sample(const uint64_t *words, unsigned n, const void *p);

/*
 * Between these, the free of a block is not recorded: it was, by an operator
 * that may call free().  Keep what the first one returns for the second.
 */
struct ring_skip {
	const void *before;
	const struct arena_ring *ring;
	int32_t left;
};
struct ring_skip ring_skip_free(const void *p);
void ring_skip_end(const struct ring_skip *skip);

/*
 * Between these, a call of an allocator whose functions may call one another: an
 * allocation in between is not recorded if the call returns its block, as the
 * call is.
 */
void ring_nest(void);
void ring_nest_end(const void *p);

/* Records that this thread ends. */
void ring_put_thread_end(void);

/* Nonzero when system calls would end the process. */
int ring_calls_forbidden(void);
/* Has the next record of this thread read the clock.  AS */
void telrec_fresh_clock(void);
/* A node of backtraces: see stack.h. */
void telrec_emit_trace(uint32_t number, uint64_t ip, uint32_t parent);
/* A mapped object: its place, its build identifier in hexadecimal. */
void telrec_emit_module(uint64_t start, uint64_t bias, const char *path,
    const char *build);

#endif
