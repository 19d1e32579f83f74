/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations one at a time: the rarer ones, those that are timed, and all of
 * them where blocks are verified.
 */
#include "telreplay/run/run_inside.h"

#include <string.h>
#include "base/bytes.h"

/* -------------------------------------------------------------- pattern */

/*
 * Verifying fills blocks with a pattern that differs by slot and every eight
 * bytes, so that neither an overlap nor a shift goes undetected.
 */
static uint64_t
word_at(uint32_t slot, uint64_t offset)
{
	uint64_t v = ((uint64_t)slot << 32 | 1) + offset / 8;

	v *= UINT64_C(0x9e3779b97f4a7c15);
	return v ^ v >> 29;
}

static unsigned char
byte_at(uint32_t slot, uint64_t offset)
{
	return (unsigned char)(word_at(slot, offset) >> (offset % 8 * 8));
}

static void
run_step_fill(unsigned char *block, uint32_t slot, size_t from, size_t to)
{
	size_t i = from;

	for (; i < to && i % 8 != 0; i++)
		block[i] = byte_at(slot, i);
	for (; i + 8 <= to; i += 8)
		tel_store_le64(block + i, word_at(slot, i));
	for (; i < to; i++)
		block[i] = byte_at(slot, i);
}

static size_t
run_step_compare(const unsigned char *block, uint32_t slot, size_t from,
    size_t to)
{
	size_t i = from;

	for (; i < to && i % 8 != 0; i++)
		if (block[i] != byte_at(slot, i))
			return i;
	while (i + 8 <= to && tel_le64(block + i) == word_at(slot, i))
		i += 8;
	for (; i < to; i++)
		if (block[i] != byte_at(slot, i))
			return i;
	return to;
}

/*
 * The slot whose pattern has eight bytes at an offset, if there is one: the
 * inverse of word_at().  Slots that have no such block do not count.
 */
static int
find_overlap(const struct worker *w, const unsigned char *at, uint32_t *slot)
{
	uint64_t v = tel_le64(at), offset, start;

	v ^= v >> 29 ^ v >> 58;
	/* the inverse of the factor modulo 2^64 */
	v *= UINT64_C(0xf1de83e19937733d);
	*slot = (uint32_t)(v >> 32);
	offset = ((v & UINT32_MAX) - 1) * 8;
	if (*slot >= w->run->facts->slots || w->slots[*slot] == NULL ||
	    offset >= w->extra[*slot].size)
		return 0;
	start = (uintptr_t)w->slots[*slot] + offset;
	return start <= (uintptr_t)at && (uintptr_t)at - start < 8;
}

static size_t
zeros(const unsigned char *block, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (block[i] != 0)
			return i;
	return size;
}

/* --------------------------------------------------------------- errors */

static void
error_add(struct worker *w, enum run_wrong what, const uint64_t *p,
    uint64_t offset, const void *block, const void *other)
{
	struct run_shared_stats *b = w->run->shared_stats;
	struct run_error *e = &b->wrong[what];

	atomic_fetch_add(what == RUN_NULL ? &b->failures : &b->errors, 1);
	if (atomic_fetch_add(&e->count, 1) > 0)
		return;
	e->chunk = w->run->chunk;
	e->thread = w->number;
	e->position = p == NULL ? UINT32_MAX : (uint32_t)(p - w->first);
	e->offset = offset;
	e->address = (uintptr_t)block;
	e->other = (uintptr_t)other;
}

void
run_error(struct worker *w, enum run_wrong what, const uint64_t *p,
    uint64_t offset, const void *block)
{
	error_add(w, what, p, offset, block, NULL);
}

/* A block of size bytes has what was not written to it, from an offset on. */
static void
content_error(struct worker *w, const struct step *s, const void *block,
    size_t offset, size_t size)
{
	const unsigned char *bytes = block, *at = bytes + offset;
	uint32_t other;

	/* the eight bytes that another block would have written */
	at -= (uintptr_t)at % 8;
	if (at >= bytes && at + 8 <= bytes + size &&
	    find_overlap(w, at, &other))
		error_add(w, RUN_OVERLAP, s->p, offset, block, w->slots[other]);
	else
		run_error(w, RUN_CONTENT, s->p, offset, block);
}

/* Nonzero if the block in a slot has a pattern, and is checked. */
static int
is_verified(const struct worker *w, uint32_t slot)
{
	return w->run->options->verify || (w->run->check && slot % 64 == 0);
}

void
run_touch(const struct worker *w, unsigned char *block, size_t size)
{
	enum run_touch touch = w->run->options->touch;

	if (touch == RUN_TOUCH_SHARE) {
		size = (size_t)(w->run->options->touch_share * (double)size);
		touch = RUN_TOUCH_ALL;
	}
	if (size == 0 || touch == RUN_TOUCH_NONE)
		return;
	if (touch == RUN_TOUCH_ALL)
		memset(block, 1, size);
	else
		*(volatile unsigned char *)block = 1;
	if (touch == RUN_TOUCH_PAGE)
		for (size_t i = RUN_PAGE; i < size; i += RUN_PAGE)
			((volatile unsigned char *)block)[i] = 1;
}

/* Locking a normal mutex that is never copied or destroyed cannot fail. */
static void
lock_pools(const struct alloc_functions *a)
{
	if (a->lock != NULL)
		(void)pthread_mutex_lock(a->lock);
}

static void
unlock_pools(const struct alloc_functions *a)
{
	if (a->lock != NULL)
		(void)pthread_mutex_unlock(a->lock);
}

/* Frees a block by the function for it, or by the best of those there are. */
static void
call_delete(const struct alloc_functions *a, const struct step *s, void *block)
{
	if (s->op->word == EXTENDED_DELETE_SIZED && a->delete_sized != NULL)
		a->delete_sized(block, s->size);
	else if (s->op->word == EXTENDED_FREE_SIZED && a->free_sized != NULL)
		a->free_sized(block, s->size);
	else if (s->op->word != EXTENDED_FREE_SIZED && a->delete != NULL)
		a->delete (block);
	else
		a->free(block);
}

static void *
call_pool(struct worker *w, const struct step *s, void *old)
{
	lock_pools(w->a);
	void *block = run_pool_call(w, s, old);
	unlock_pools(w->a);
	return block;
}

static void *
run_step_call(struct worker *w, const struct step *s, void *old)
{
	const struct alloc_functions *a = w->a;

	if (a->pool != NULL)
		return call_pool(w, s, old);
	switch (s->op->kind) {
	case RUN_FREE: a->free(old); return NULL;
	case RUN_REALLOC: return a->realloc(old, s->size);
	case RUN_CALLOC: return a->calloc(1, s->size);
	case RUN_ALIGNED: return a->aligned((size_t)s->p[2], s->size);
	case RUN_NEW:
		return a->new != NULL ? a->new (s->size) : a->malloc(s->size);
	case RUN_DELETE: call_delete(a, s, old); return NULL;
	default: return a->malloc(s->size);
	}
}

/* ------------------------------------------------------- one operation */

static inline int
frees(const struct step *s)
{
	return s->op->effect == EFFECT_FREE;
}

/* Checks a block that is about to be freed or resized. */
static void
check_before(struct worker *w, const struct step *s, const void *old)
{
	const struct run_extra *extra = &w->extra[s->slot];
	const size_t from = extra->gone > 0 ? extra->from : 0;
	const size_t end = from + extra->size - extra->gone;

	if (old == NULL || s->op->effect == EFFECT_ALLOCATE)
		return;
	size_t wrong = run_step_compare(old, s->slot, from, end);
	if (wrong != end)
		content_error(w, s, old, wrong, end);
}

/* Checks a new block, and fills it. */
static void
check_after(struct worker *w, const struct step *s, void *block)
{
	size_t kept = 0, wrong;
	size_t alignment = s->size >= 16 ? 16 : s->size >= 8 ? 8 : 1;

	/* a pool may have an alignment of its own */
	if (w->a->pool != NULL && w->a->pool->create_as != NULL &&
	    alignment > 8)
		alignment = 8;
	if (s->op->kind == RUN_ALIGNED &&
	    (w->a->pool == NULL || w->a->pool->aligned != NULL))
		alignment = (size_t)s->p[2];
	if (((uintptr_t)block & (alignment - 1)) != 0)
		run_error(w, RUN_ALIGNMENT, s->p, alignment, block);
	if (s->op->kind == RUN_CALLOC &&
	    (wrong = zeros(block, s->size)) != s->size)
		run_error(w, RUN_NOT_ZERO, s->p, wrong, block);
	if (s->op->kind == RUN_REALLOC) {
		kept = w->extra[s->slot].size;
		if (kept > s->size)
			kept = s->size;
		wrong = run_step_compare(block, s->slot, 0, kept);
		if (wrong != kept) {
			content_error(w, s, block, wrong, s->size);
			kept = 0; /* report it once */
		}
	}
	run_step_fill(block, s->slot, kept, s->size);
}

/* Counts live bytes: one block of a size is replaced by another. */
static void
count_live(struct worker *w, uint64_t before, uint64_t after)
{
	struct run_shared_stats *b = w->run->shared_stats;

	if (!w->run->options->count_live)
		return;
	uint64_t live =
	    atomic_fetch_add(&b->live_bytes, after - before) + after - before;
	uint64_t peak = atomic_load(&b->live_peak);
	while (live > peak && live >> 63 == 0 &&
	    !atomic_compare_exchange_weak(&b->live_peak, &peak, live))
		;
}

/* The usable bytes of a block, when they are counted. */
static size_t
room_of(const struct worker *w, void *block, size_t size)
{
	const struct alloc_functions *a = w->a;

	if (block == NULL || !w->run->options->count_live)
		return 0;
	if (a->pool == NULL)
		return a->usable != NULL ? a->usable(block) : 0;
	if (a->pool->usable == NULL)
		return size;
	lock_pools(a);
	size = a->pool->usable(w->pool, block, size > 0 ? size : 1);
	unlock_pools(a);
	return size;
}

/* Usable bytes are not there any more. */
static void
drop_room(const struct worker *w, size_t room)
{
	if (w->run->options->count_live && room > 0)
		(void)atomic_fetch_sub(&w->run->shared_stats->room, room);
}

/* Counts a new block of size bytes, with room for more. */
static void
count_room(struct worker *w, size_t size, size_t room)
{
	struct run_shared_stats *b = w->run->shared_stats;
	struct run_slack *s = &b->slack[run_size_class(size)];

	if (!w->run->options->count_live)
		return;
	(void)atomic_fetch_add(&b->room, room);
	(void)atomic_fetch_add(&b->asked, size);
	(void)atomic_fetch_add(&b->given, room);
	if (room == 0)
		return;
	(void)atomic_fetch_add(&s->blocks, 1);
	(void)atomic_fetch_add(&s->asked, size);
	(void)atomic_fetch_add(&s->given, room);
}

/* The latency of a call, without that of the clock. */
static void
note_latency(struct worker *w, enum run_kind kind, size_t size, uint64_t taken)
{
	struct run_size_time *t = &w->size_time[run_size_class(size)];
	uint64_t empty = w->run->shared_stats->empty_ticks;

	run_note(&w->latency[kind],
	    kind == RUN_FREE || kind == RUN_DELETE ? t->freed : t->allocated,
	    taken > empty ? taken - empty : 0);
}

/* A program uses a block until it frees it. */
static void
touch_again(struct worker *w, const struct step *s, void *old)
{
	if (old != NULL && s->op->effect != EFFECT_ALLOCATE)
		run_touch(w, old, (size_t)w->extra[s->slot].size);
}

/*
 * A realloc failed, and left the block as it was: without it, what follows in
 * the log, for a block of the new size, finds none.
 */
static void
free_unresized(struct worker *w, const struct step *s, void *block)
{
	const struct step all = { s->p, &operation_rows[WORD_FREE], s->slot,
		w->extra != NULL ? w->extra[s->slot].size : 0 };

	(void)run_step_call(w, &all, block);
}

static void
step_run(struct worker *w, const struct step *s, int timed)
{
	void **slot = &w->slots[s->slot], *old = *slot, *block;
	int verify = is_verified(w, s->slot);
	uint64_t began = 0;

	if (w->left_out && !frees(s)) {
		atomic_fetch_add(&w->run->shared_stats->left_out, 1);
		return;
	}
	if (w->think > 0)
		run_think(w);
	if (verify)
		check_before(w, s, old);
	else if (w->run->options->touch_again)
		touch_again(w, s, old);
	if (frees(s))
		*slot = NULL;
	if (timed)
		began = run_ticks();
	/* count it before another thread can allocate it again */
	if (frees(s) && old != NULL)
		count_live(w, s->size, 0);
	if (s->op->effect != EFFECT_ALLOCATE && w->extra != NULL)
		drop_room(w, room_of(w, old, w->extra[s->slot].size));
	block = run_step_call(w, s, old);
	if (timed)
		note_latency(w, s->op->kind, s->size, run_ticks() - began);
	if (frees(s))
		return;
	if (block == NULL && s->size > 0) {
		run_error(w, RUN_NULL, s->p, s->size, old);
		if (s->op->kind == RUN_REALLOC && old != NULL)
			free_unresized(w, s, old);
	}
	count_room(w, block != NULL ? s->size : 0, room_of(w, block, s->size));
	if (w->extra != NULL)
		count_live(w,
		    s->op->kind == RUN_REALLOC && old != NULL ?
		        w->extra[s->slot].size - w->extra[s->slot].gone :
		        0,
		    block != NULL ? s->size : 0);
	if (block == NULL && w->extra != NULL)
		w->extra[s->slot].size = 0;
	*slot = block;
	if (block != NULL) {
		if (verify)
			check_after(w, s, block);
		else
			run_touch(w, block, s->size);
		if (w->extra != NULL) {
			w->extra[s->slot].size = s->size;
			w->extra[s->slot].pool = w->pool;
			w->extra[s->slot].gone = 0;
		}
	}
}

/* What a block has room for beyond its size goes with its first part. */
static size_t
first_slack(const struct worker *w, uint32_t slot)
{
	const struct run_extra *extra = &w->extra[slot];
	size_t room =
	    extra->gone > 0 ? 0 : room_of(w, w->slots[slot], extra->size);

	return room > extra->size ? room - extra->size : 0;
}

/* Frees a part of a block; whole is what it was, or 0 if more of it is left. */
static void
part_free(struct worker *w, const struct step *s, size_t offset, size_t size,
    size_t whole)
{
	const tel_pool_table *t = w->a->pool;
	unsigned char *block = w->slots[s->slot];
	struct run_extra *extra = w->extra;
	size_t wrong, slack;
	struct step all = { s->p, &operation_rows[WORD_FREE], s->slot, whole };

	if (block == NULL)
		return;
	count_live(w, size, 0);
	slack = t != NULL && t->free_part != NULL ? first_slack(w, s->slot) : 0;
	if (is_verified(w, s->slot)) {
		wrong = run_step_compare(block, s->slot, offset, offset + size);
		if (wrong != offset + size)
			content_error(w, s, block, wrong, offset + size);
	}
	if (whole != 0) {
		w->slots[s->slot] = NULL;
	} else if (extra != NULL) {
		extra += s->slot;
		if (extra->gone == 0)
			extra->from = 0;
		if (extra->from == offset)
			extra->from += size;
		extra->gone += size;
	}
	if (t != NULL && t->free_part != NULL) {
		drop_room(w, size + slack);
		lock_pools(w->a);
		if (whole == 0)
			t->free_part(w->pool, block + offset, size);
		else
			t->free(w->pool, block + offset, size);
		unlock_pools(w->a);
	} else if (whole != 0) {
		drop_room(w, room_of(w, block, whole));
		(void)run_step_call(w, &all, block);
	}
}

/* Frees a block of which parts may have been freed. */
static void
rest_free(struct worker *w, const struct step *s)
{
	const struct run_extra *extra =
	    w->extra != NULL ? &w->extra[s->slot] : NULL;

	if (extra != NULL && extra->gone > 0)
		part_free(w, s, extra->from, s->size - extra->gone, s->size);
	else
		step_run(w, s, 0);
}

/* A block that is freed with its pool, if the allocator has pools. */
static void
with_pool(struct worker *w, struct step *s)
{
	const tel_pool_table *t = w->a->pool;

	s->op = &operation_rows[WORD_FREE];
	if (!run_has_pools(t)) {
		rest_free(w, s);
		return;
	}
	if (is_verified(w, s->slot))
		check_before(w, s, w->slots[s->slot]);
	if (w->slots[s->slot] != NULL) {
		size_t gone = w->extra[s->slot].gone;

		count_live(w, s->size - gone, 0);
		drop_room(w,
		    gone > 0 && t->free_part != NULL ?
		        s->size - gone :
		        room_of(w, w->slots[s->slot], s->size));
	}
	w->slots[s->slot] = NULL;
}

static void
one_step(struct worker *w, const uint64_t *p, int timed)
{
	struct step s = { p, word_operation(*p), WORD_SLOT(*p),
		(size_t)word_size(p) };

	switch (s.op->effect) {
	case EFFECT_ALLOCATE:
	case EFFECT_FREE:
	case EFFECT_RESIZE: step_run(w, &s, timed); break;
	case EFFECT_FREE_PART:
		part_free(w, &s, (size_t)p[1], (size_t)p[2], (size_t)p[3]);
		break;
	case EFFECT_FREE_WITH_POOL: with_pool(w, &s); break;
	case EFFECT_USE: run_pool_use(w, *p); break;
	default:
		lock_pools(w->a);
		run_pool_step(w, p);
		unlock_pools(w->a);
	}
}

static void
step(struct worker *w, const uint64_t *p, int timed)
{
	if (w->run->residency == NULL || atomic_load(&w->run->looked)) {
		one_step(w, p, timed);
		return;
	}
	run_residency_enter(w);
	one_step(w, p, timed);
	run_residency_leave(w);
}

void
run_careful(struct worker *w, const uint64_t *p)
{
	step(w, p, 0);
}

/* The two most frequent operations, of malloc. */
static void
time_free(struct worker *w, uint64_t word)
{
	void **slot = &w->slots[WORD_SLOT(word)], *block = *slot;

	*slot = NULL;
	uint64_t began = run_ticks();
	w->a->free(block);
	note_latency(w, RUN_FREE, WORD_SIZE(word), run_ticks() - began);
}

static void
time_malloc(struct worker *w, const uint64_t *p)
{
	size_t size = WORD_SIZE(*p);
	uint64_t began = run_ticks();
	void *block = w->a->malloc(size);

	note_latency(w, RUN_MALLOC, size, run_ticks() - began);
	w->slots[WORD_SLOT(*p)] = block;
	if (block != NULL)
		run_touch(w, block, size);
	else if (size > 0)
		run_error(w, RUN_NULL, p, size, NULL);
}

void
run_timed(struct worker *w, const uint64_t *p)
{
	uint64_t kind = *p & WORD_KIND;

	if (w->extra != NULL || w->run->slow || kind > WORD_FREE)
		step(w, p, 1);
	else if (kind == WORD_FREE)
		time_free(w, *p);
	else
		time_malloc(w, p);
}

/* -------------------------------------------------------------- the end */

static void
free_left(struct worker *w, uint32_t slot)
{
	struct step s = { NULL, &operation_rows[WORD_FREE], slot, 0 };

	if (w->extra != NULL)
		s.size = w->extra[slot].size;
	if (w->a->pool != NULL)
		w->pool = w->extra[slot].pool;
	rest_free(w, &s);
}

void
run_free_all(struct run *r)
{
	struct worker *w = &r->workers[0];

	w->left_out = 0;
	w->think = 0;
	w->buffer = NULL;
	for (uint64_t i = 0; i < r->facts->slots; i++)
		if (r->slots[i] != NULL)
			free_left(w, (uint32_t)i);
	run_last_pools(r);
}
