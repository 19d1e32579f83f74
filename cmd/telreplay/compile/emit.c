/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words, the events they come from, and waits.
 *
 * Each thread keeps a vector clock; waits that it implies are elided.
 */
#include "telreplay/compile/emit.h"

#include <stdlib.h>
#include <string.h>
#include "base/varint.h"

#define TIME_WORDS 64 /* words between two times, at most */
#define WAIT_AHEAD 32 /* words that a wait may be for later ones */
#define TIME_SECONDS 20e-6
#define TIME_SHORT 4 /* words between two times, at least */
#define TIME_LONG 50 /* but not after so many times TIME_SECONDS */

void
emit_origin(struct compiler *c, struct thread *t)
{
	const uint64_t delta = tel__zigzag(c->event - t->event);
	unsigned char *p = t->origins + t->origins_used;

	/* the bit above all others is lost: events are fewer than 2^62 */
	p = tel__varint_put(p, delta << 1 | (c->log != t->log));
	if (c->log != t->log)
		p = tel__varint_put(p, c->log);
	t->origins_used = (size_t)(p - t->origins);
	t->event = c->event;
	t->log = c->log;
}

int
emit_time(struct compiler *c, struct thread *t)
{
	/* a long time is recorded, however few words it took */
	if (t->time_due > t->count + TIME_WORDS - TIME_SHORT &&
	    (c->clock - t->time_clock) / TIME_LONG < c->time_ticks)
		return 0;
	if (!TEL__RESERVE(t->times, t->times_room, t->times_used + 2))
		return -1;
	t->times[t->times_used++] = t->count;
	t->times[t->times_used++] = c->clock;
	t->time_due = t->count + TIME_WORDS;
	t->time_clock = c->clock;
	return 0;
}

void
emit_rate(struct compiler *c)
{
	double ticks = c->facts.tick_rate * TIME_SECONDS;

	c->time_ticks =
	    ticks >= 1 && ticks < 1e18 ? (uint64_t)ticks : UINT64_MAX;
}

int
emit_order(struct compiler *c, struct thread *t)
{
	struct thread *before = c->total_thread;

	if (c->set.order == ORDER_TOTAL && before != t) {
		c->total_thread = t;
		if (before != NULL &&
		    emit_wait(c, t, before->last, thread_place(c, before)) != 0)
			return -1;
	}
	if (c->windows_on &&
	    (t->window != c->window || c->window_moved >= c->window_max) &&
	    emit_window(c, t) != 0)
		return -1;
	c->window_moved += c->set.window_operations != 0;
	return 0;
}

int
emit_extended(struct compiler *c, struct thread *t, enum extended what,
    uint32_t slot, uint64_t first, uint64_t second, uint64_t third)
{
	unsigned count = (unsigned)what & 7;

	if (emit_start(c, t) != 0)
		return -1;
	put_word(c, t, word_make(WORD_EXTENDED, slot, (uint32_t)what));
	if (count > 0)
		put_word(c, t, first);
	if (count > 1)
		put_word(c, t, second);
	if (count > 2)
		put_word(c, t, third);
	return 0;
}

int
emit_use(struct compiler *c, struct thread *t, uint32_t number, int buffer)
{
	const struct pool *p =
	    buffer ? &c->buffers.all[number] : &c->pools.all[number];

	if (t->use == number && t->use_buffer == buffer)
		return 0;
	if ((buffer || number != 0) && emit_wait(c, t, p->where, p->chunk) != 0)
		return -1;
	if (thread_room(t) != 0)
		return -1;
	put_word(c, t, word_make(WORD_USE, number, (uint32_t)buffer));
	t->use = number;
	t->use_buffer = buffer;
	return 0;
}

/* ------------------------------------------------------------- waiting */

static int
vectors_new(struct compiler *c, struct thread *t)
{
	t->vector = calloc(c->set.threads, sizeof(*t->vector));
	if (t->vector == NULL)
		return -1;
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		t->snapshots[i].vector =
		    calloc(c->set.threads, sizeof(*t->vector));
		if (t->snapshots[i].vector == NULL)
			return -1;
	}
	return 0;
}

/*
 * Merges the vector clock that another thread had at one of its words into that
 * of thread t, and saves the result.
 */
static void
vector_merge(struct compiler *c, struct thread *t, const struct thread *other,
    uint32_t position)
{
	const struct snapshot *s;
	unsigned n = other->snapshot_count < SNAPSHOTS ? other->snapshot_count :
	                                                 SNAPSHOTS;

	for (unsigned i = 1; i <= n; i++) {
		s = &other->snapshots[(other->snapshot_count - i) % SNAPSHOTS];
		if (s->position > position)
			continue;
		for (i = 0; i < c->thread_count; i++)
			if (s->vector[i] > t->vector[i])
				t->vector[i] = s->vector[i];
		break;
	}
	struct snapshot *saved = &t->snapshots[t->snapshot_count++ % SNAPSHOTS];
	saved->position = t->count;
	memcpy(saved->vector, t->vector, c->thread_count * sizeof(*t->vector));
}

int
emit_follow(struct compiler *c, struct thread *t, const struct thread *creator)
{
	if (t->vector == NULL && vectors_new(c, t) != 0)
		return -1;
	t->vector[creator - c->threads] = creator->count;
	vector_merge(c, t, creator, creator->count);
	return 0;
}

/* When the current window is full. */
static uint64_t
window_room(const struct compiler *c)
{
	const double bytes = c->set.window_share * (double)c->facts.peak_bytes;
	const uint64_t least = c->set.window_min > 0 ? c->set.window_min : 1;

	if (c->set.window_operations > 0)
		return c->set.window_operations;
	return bytes < (double)least ? least :
	    bytes < 1e18             ? (uint64_t)bytes :
	                               UINT64_MAX;
}

int
emit_window(struct compiler *c, struct thread *t)
{
	/* one that a single thread is in has no end until another one comes */
	if (c->window_moved >= c->window_max &&
	    (c->window_threads > 1 || t->window != c->window)) {
		/* no thread may pass a window that is much too large */
		c->window += c->window_moved / 2 >= c->window_max ? 2 : 1;
		c->window_threads = 0;
		c->window_moved = 0;
		c->window_max = window_room(c);
	}
	if (t->window == c->window)
		return 0;
	if (thread_room(t) != 0)
		return -1;
	put_word(c, t, word_make(WORD_CONTROL, c->window, CONTROL_WINDOW));
	t->window = c->window;
	c->window_threads++;
	return 0;
}

/*
 * The word to wait for instead of one at a position: an operation of the same
 * thread soon after it, which the log has already.  The waits for those between
 * are implied then: a thread that frees the blocks of another one, in the order
 * of their allocation, would wait for each.
 */
static uint32_t
wait_position(const struct thread *other, uint32_t position)
{
	const uint64_t *words = other->words;
	uint32_t i = position, end = other->count;

	if (end - i > WAIT_AHEAD)
		end = i + WAIT_AHEAD;
	for (; i < end && (words[i] & WORD_KIND) != WORD_CONTROL;
	     i += 1 + word_operands(words[i]))
		if (word_is_operation(words[i]))
			position = i;
	return position;
}

int
emit_wait(struct compiler *c, struct thread *t, uint32_t where, uint32_t chunk)
{
	unsigned number = chunk & THREAD_MASK;
	struct thread *other = &c->threads[number];
	uint32_t position = where & WHERE_MASK;

	if (chunk >> CHUNK_SHIFT != c->facts.chunks || other == t)
		return 0;
	if (t->vector == NULL && vectors_new(c, t) != 0)
		return -1;
	if (t->vector[number] > position) {
		c->facts.implied++;
		return 0;
	}
	/* the others must not wait for a window that this thread is still in */
	if ((c->windows_on && emit_window(c, t) != 0) || thread_room(t) != 0)
		return -1;
	position = wait_position(other, position);
	other->words[position] |= WORD_PUBLISH;
	put_word(c, t, word_make(WORD_WAIT, number, position));
	c->facts.waits++;
	t->vector[number] = position + 1;
	vector_merge(c, t, other, position);
	return 0;
}

int
emit_join(struct compiler *c, struct thread *t)
{
	for (unsigned i = 0; i < c->thread_count; i++)
		if (c->threads[i].operations > 0 &&
		    emit_wait(c, t, c->threads[i].last,
		        thread_place(c, &c->threads[i])) != 0)
			return -1;
	return 0;
}
