/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Emit: operations become words of threads, with the events and the times
 * they come from and the waits they need.  The functions return 0, or -1 when
 * out of memory.
 */
#ifndef TELREPLAY_EMIT_H
#define TELREPLAY_EMIT_H

#include "telreplay/compile/compiler_inside.h"

/* A rarer operation, with its operands. */
int emit_extended(struct compiler *c, struct thread *t, enum extended what,
    uint32_t slot, uint64_t first, uint64_t second, uint64_t third);
/* Has the thread use a pool or a buffer from here on. */
int emit_use(struct compiler *c, struct thread *t, uint32_t number, int buffer);
/*
 * Has thread t wait for a word of another, given as a block has it.  Does
 * nothing when it comes after that word anyway by the vector clock.
 */
int emit_wait(struct compiler *c, struct thread *t, uint32_t where,
    uint32_t chunk);
/* Has thread t, which another one is about to start, know what that one does. */
int emit_follow(struct compiler *c, struct thread *t,
    const struct thread *creator);
/*
 * Has thread t enter the current window, or the next one if that is full.
 * A window is a range of operations, in the order of the log.  No thread enters
 * one before all others have left the one before the previous: so far can they
 * run ahead of each other.
 */
int emit_window(struct compiler *c, struct thread *t);
/* Has thread t wait for all that the others did. */
int emit_join(struct compiler *c, struct thread *t);
/* The rate of the clock has changed. */
void emit_rate(struct compiler *c);

/* Has the thread use a pool, or a buffer of it, from here on. */
static inline int
emit_pool(struct compiler *c, struct thread *t, uint32_t pool)
{
	if ((t->use_buffer ? c->buffers.all[t->use].pool : t->use) == pool)
		return 0;
	return emit_use(c, t, pool, 0);
}

/* Room for an operation and the words that go before it. */
static inline int
thread_room(struct thread *t)
{
	if (t->spare == 0 && thread_grow(t) != 0)
		return -1;
	t->spare--;
	return 0;
}

static inline void
put_word(struct compiler *c, struct thread *t, uint64_t word)
{
	t->words[t->count++] = word;
	c->used++;
}

/* Records the event of an operation, in as many bytes as it takes. */
RARE void emit_origin(struct compiler *c, struct thread *t);
/* Records the time, unless that was just done. */
RARE int emit_time(struct compiler *c, struct thread *t);
/* Before an operation, what orders it after those of other threads. */
RARE int emit_order(struct compiler *c, struct thread *t);
#define ORIGIN_SHORT 32 /* a difference that is a byte in the origins */

/* Starts an operation: the caller puts its words. */
static inline int
emit_start(struct compiler *c, struct thread *t)
{
	if (c->ordered && emit_order(c, t) != 0)
		return -1;
	if (thread_room(t) != 0)
		return -1;
	/* the time now and then, more often when it goes by faster */
	if ((t->count >= t->time_due ||
	        c->clock - t->time_clock >= c->time_ticks) &&
	    emit_time(c, t) != 0)
		return -1;
	uint64_t delta = c->event - t->event;
	if (delta < ORIGIN_SHORT && c->log == t->log) {
		t->origins[t->origins_used++] = (unsigned char)(delta << 2);
		t->event = c->event;
	} else
		emit_origin(c, t);
	t->last = t->count;
	t->operations++;
	return 0;
}

/* An operation of a size, which the word or a second one holds. */
__attribute__((always_inline)) static inline int
emit_sized(struct compiler *c, struct thread *t, enum word kind, uint32_t slot,
    uint64_t size)
{
	/* they are in the same order */
	if (size > WORD_SIZE_MAX)
		return emit_extended(c, t, (enum extended)((kind + 1) << 3 | 1),
		    slot, size, 0, 0);
	if (emit_start(c, t) != 0)
		return -1;
	put_word(c, t, word_make(kind, slot, (uint32_t)size));
	return 0;
}

#endif
