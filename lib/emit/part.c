/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts: the counts of each thread, and updates of them.
 *
 * A thread has a seat: a table of its parts, one for each class.  Only this
 * thread adds to them, by single instructions, so that signal handlers may do
 * so, too.  When a thread ends, another one may inherit its seat with the
 * counts.  Threads without a seat, and those without memory for a part, use the
 * shared part of the class, with locked instructions.
 */
#define _GNU_SOURCE
#include "class.h"

#include <signal.h>
#include <string.h>

/* The seat of this thread. */
static __thread struct {
	uint32_t epoch;
	uint32_t seated;
	uint64_t
	    *table; /* addresses of parts by index of class; bit 0: shared */
} self __attribute__((tls_model("initial-exec")));

/* A part, and how to add to it. */
struct part {
	uint64_t *words;
	int shared;
};

static uint64_t *
table_of(unsigned seat)
{
	return (uint64_t *)(void *)tel__classes.memory +
	    (size_t)seat * TEL_CLASS_MAX;
}

uint64_t *
tel__class_part(const tel_emit_class *c, unsigned seat)
{
	const uint64_t at =
	    __atomic_load_n(&table_of(seat)[c->index], __ATOMIC_ACQUIRE);

	return (at & 1) != 0 ? NULL : (uint64_t *)(uintptr_t)at;
}

void
tel__class_part_init(const tel_emit_class *c, uint64_t *part, uint32_t words)
{
	const int is_signed = c->type == CLASS_MAGNITUDE;

	for (uint32_t i = 0; i < words; i++)
		SET(part[i], 0);
	SET(part[W_MIN], is_signed ? (uint64_t)INT64_MAX : UINT64_MAX);
	SET(part[W_MAX], is_signed ? (uint64_t)INT64_MIN : 0);
}

void
tel__class_forget_parts(void)
{
	struct tel__classes *all = &tel__classes;
	const size_t bytes =
	    TABLE_BYTES + ((all->parts_used + 65535) & ~(size_t)65535);

	/* no other thread exists, or none has a part */
	if (tel__emit_memory(all->memory, bytes, -1, 0) == NULL)
		memset(all->memory, 0, bytes);
	memset(all->seats, 0, sizeof(all->seats));
	atomic_store(&all->parts_used, 0);
	atomic_store(&all->seats_used, 0);
	__atomic_store_n(&all->epoch, all->epoch + 1, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------- claiming */

/* Assigns a seat to this thread; NULL: all are taken. */
static uint64_t *
take_seat(void)
{
	struct tel__classes *all = &tel__classes;
	const uint32_t me = tel__emit_thread_id();
	uint32_t i, owner;

	if (atomic_load(&all->seats_used) < SEATS) {
		i = atomic_fetch_add(&all->seats_used, 1);
		if (i < SEATS) {
			__atomic_store_n(&all->seats[i], me, __ATOMIC_RELEASE);
			return table_of(i);
		}
	}
	for (i = 0; i < SEATS; i++) {
		owner = __atomic_load_n(&all->seats[i], __ATOMIC_ACQUIRE);
		/* this thread may have the id of one that has ended */
		if (owner != 0 &&
		    (owner == me || tel__emit_thread_gone(owner)) &&
		    __atomic_compare_exchange_n(&all->seats[i], &owner, me, 0,
		        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return table_of(i);
	}
	return NULL;
}

/* Allocates a part; NULL: no more room. */
static uint64_t *
emit_make_part(const tel_emit_class *c)
{
	struct tel__classes *all = &tel__classes;
	const size_t size = (c->words * sizeof(uint64_t) + 63) & ~(size_t)63;
	size_t at = atomic_load(&all->parts_used);

	do {
		if (size > all->parts_bytes - at)
			return NULL;
	} while (
	    !atomic_compare_exchange_weak(&all->parts_used, &at, at + size));
	uint64_t *part = (uint64_t *)(void *)(all->memory + TABLE_BYTES + at);
	tel__class_part_init(c, part, c->words);
	return part;
}

/* The part of this thread, allocated if it has none. */
static __attribute__((noinline)) struct part
part_claim(const tel_emit_class *c)
{
	struct part part = { c->shared, 1 };
	sigset_t all, old;
	uint64_t *mine, at;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (self.epoch != TEL__NOW(tel__classes.epoch) || !self.seated) {
		self.table = take_seat();
		self.seated = 1;
		self.epoch = TEL__NOW(tel__classes.epoch);
	}
	if (self.table != NULL) {
		/* an earlier thread of this seat may have made one */
		at = __atomic_load_n(&self.table[c->index], __ATOMIC_ACQUIRE);
		if (at == 0) {
			mine = emit_make_part(c);
			at = (uintptr_t)(mine != NULL ? mine : c->shared) |
			    (mine == NULL);
			__atomic_store_n(&self.table[c->index], at,
			    __ATOMIC_RELEASE);
		}
		part.words = (uint64_t *)(uintptr_t)(at & ~(uint64_t)1);
		part.shared = at & 1;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return part;
}

static inline struct part
emit_part_of(const tel_emit_class *c)
{
	struct part part;

	if (TEL__LIKELY(self.epoch == TEL__NOW(tel__classes.epoch) &&
	        self.table != NULL)) {
		uint64_t at = TEL__NOW(self.table[c->index]);

		if (TEL__LIKELY(at != 0)) {
			part.words = (uint64_t *)(uintptr_t)(at & ~(uint64_t)1);
			part.shared = at & 1;
			return part;
		}
	}
	if (self.seated && self.epoch == TEL__NOW(tel__classes.epoch) &&
	    self.table == NULL) {
		part.words = c->shared;
		part.shared = 1;
		return part;
	}
	return part_claim(c);
}

/* ------------------------------------------------------------- counting */

static inline void
part_add(struct part part, size_t word, uint64_t v)
{
	if (TEL__LIKELY(!part.shared))
		(void)tel__emit_add(&part.words[word], v);
	else
		__atomic_fetch_add(&part.words[word], v, __ATOMIC_RELAXED);
}

/*
 * Updates the least and the largest value; bias maps signed values to unsigned.
 */
static inline void
part_extend(struct part part, uint64_t v, uint64_t bias)
{
	uint64_t min = TEL__NOW(part.words[W_MIN]);
	uint64_t max = TEL__NOW(part.words[W_MAX]);

	while (v + bias < min + bias &&
	    !__atomic_compare_exchange_n(&part.words[W_MIN], &min, v, 1,
	        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	while (v + bias > max + bias &&
	    !__atomic_compare_exchange_n(&part.words[W_MAX], &max, v, 1,
	        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Whether an update of that type has an effect. */
static inline int
counts(const tel_emit_class *c, uint32_t type)
{
	return c != NULL && c != TEL_CLASS_ROOT && TEL__NOW(c->on) &&
	    c->type == type;
}

void
tel_class_update_growth(tel_emit_class *c, uint64_t increment)
{
	if (!counts(c, CLASS_GROWTH))
		return;
	struct part part = emit_part_of(c);
	part_add(part, W_SUM, increment);
	part_extend(part, increment, 0);
	SET(part.words[W_LAST], increment);
	part_add(part, W_UPDATES, 1);
}

static void
count_magnitude(const tel_emit_class *c, int64_t value)
{
	struct part part = emit_part_of(c);

	part_add(part, W_SUM, (uint64_t)value);
	part_extend(part, (uint64_t)value, (uint64_t)INT64_MIN);
	part_add(part, W_UPDATES, 1);
}

void
tel_class_update_magnitude(tel_emit_class *c, int64_t value)
{
	if (!counts(c, CLASS_MAGNITUDE))
		return;
	__atomic_store_n(&c->current, value, __ATOMIC_RELAXED);
	count_magnitude(c, value);
}

void
tel_class_update_magnitude_delta(tel_emit_class *c, int64_t delta)
{
	if (!counts(c, CLASS_MAGNITUDE))
		return;
	uint64_t value =
	    (uint64_t)__atomic_fetch_add(&c->current, delta, __ATOMIC_RELAXED) +
	    (uint64_t)delta;
	count_magnitude(c, (int64_t)value);
}

/* There are not more buckets than a part has words. */
static inline size_t
part_bucket_of(int64_t value, int64_t from, uint64_t width)
{
	return (size_t)(((uint64_t)value - (uint64_t)from) / width);
}

void
tel_class_update_histogram(tel_emit_class *c, int64_t value, uint64_t count)
{
	size_t word;

	if (!counts(c, CLASS_HISTOGRAM) && !counts(c, CLASS_SPLIT))
		return;
	struct part part = emit_part_of(c);
	if (value < c->lo)
		word = W_A;
	else if (value >= c->hi)
		word = W_B;
	else if (value < c->knee)
		word = W_HEAD + part_bucket_of(value, c->lo, c->width[0]);
	else
		word = W_HEAD + c->first +
		    part_bucket_of(value, c->knee, c->width[1]);
	part_add(part, word, count);
	part_add(part, W_SUM, (uint64_t)value * count);
	part_add(part, W_UPDATES, 1);
}

/* --------------------------------------------------------------- tallies */

/* Whether a slot has that key; n: of a string. */
static int
emit_is_key(const tel_emit_class *c, uint64_t slot, uint64_t key,
    const char *text, size_t n)
{
	if (!c->text)
		return slot == key;
	const char *other = (const char *)(uintptr_t)slot;
	return strncmp(other, text, n) == 0 && other[n] == '\0';
}

/*
 * Makes the free slot *slot that of the key.  1; 0: another thread was first;
 * -1: no room.
 */
static int
take_slot(tel_emit_class *c, uint64_t *slot, uint64_t key, const char *text,
    size_t n)
{
	uint64_t free_one = TALLY_FREE, count = TEL__NOW(c->nkeys);

	do {
		if (count >= c->max)
			return -1;
	} while (!__atomic_compare_exchange_n(&c->nkeys, &count, count + 1, 1,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (c->text)
		key = (uintptr_t)tel__class_keep(text, n);
	if ((!c->text || key != 0) &&
	    __atomic_compare_exchange_n(slot, &free_one, key, 0,
	        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return 1;
	__atomic_fetch_sub(&c->nkeys, 1, __ATOMIC_RELAXED);
	return c->text && key == 0 ? -1 : 0;
}

/* The slot of a key, as a word of a part; 0: it overflows. */
static size_t
find_key(tel_emit_class *c, uint64_t key, const char *text, size_t n)
{
	uint64_t hash = key * 0x9E3779B97F4A7C15u, slot;
	/* TALLY_FREE is a valid key, too */
	const int is_free = text == NULL && key == TALLY_FREE;

	if (text != NULL)
		hash = tel__native_xxh64(text, n);
	key = is_free ? 0 : key;
	for (size_t i = 0; i <= c->mask; i++) {
		size_t at = is_free ? c->mask + 1u :
		                      ((size_t)(hash >> 32) + i) & c->mask;

		slot = __atomic_load_n(&c->keys[at], __ATOMIC_ACQUIRE);
		while (slot == TALLY_FREE) {
			int taken = take_slot(c, &c->keys[at], key, text, n);

			if (taken > 0)
				return W_HEAD + at;
			if (taken < 0)
				return 0;
			slot = __atomic_load_n(&c->keys[at], __ATOMIC_ACQUIRE);
		}
		if (emit_is_key(c, slot, key, text, n))
			return W_HEAD + at;
	}
	return 0;
}

static void
count_key(tel_emit_class *c, uint64_t key, const char *text, size_t n,
    uint64_t count)
{
	const size_t word = find_key(c, key, text, n);
	struct part part = emit_part_of(c);

	if (word != 0) {
		part_add(part, word, count);
	} else {
		part_add(part, W_A, count);
		part_add(part, W_B, 1);
	}
	part_add(part, W_UPDATES, 1);
}

void
tel_class_update_tally(tel_emit_class *c, uint64_t key, uint64_t count)
{
	if (counts(c, CLASS_TALLY) && !c->text)
		count_key(c, key, NULL, 0, count);
}

void
tel_class_update_tally_text(tel_emit_class *c, const char *key, uint64_t count)
{
	if (key != NULL && counts(c, CLASS_TALLY) && c->text)
		count_key(c, 0, key, strnlen(key, 255), count);
}

/* ------------------------------------------------------------- summaries */

/* The slots that a tag may have. */
#define WINDOW 16u

static struct class_range *
range_slot(const tel_emit_class *c, uint32_t tag, unsigned i)
{
	return &c->ranges[((tag * 0x9E3779B1u >> 21) + i) % RANGE_SLOTS];
}

static uint64_t
range_clock(void)
{
	return PAGE->clock == TEL_EMIT_CLOCK_NONE ? tel__emit_gettime() :
	                                            tel__emit_ticks();
}

/* Stores a start.  0: no room. */
static int
begin_range(const tel_emit_class *c, uint32_t tag, uint64_t clock)
{
	struct class_range *range;
	uint64_t state;

	for (unsigned i = 0; i < WINDOW; i++) {
		range = range_slot(c, tag, i);
		state = 0;
		if (TEL__NOW(range->state) != 0 ||
		    !__atomic_compare_exchange_n(&range->state, &state,
		        RANGE_BUSY | tag, 0, __ATOMIC_ACQUIRE,
		        __ATOMIC_RELAXED))
			continue;
		SET(range->clock, clock);
		__atomic_store_n(&range->state, RANGE_OPEN | tag,
		    __ATOMIC_RELEASE);
		return 1;
	}
	return 0;
}

/* Ends the latest open range with the tag.  0: there is none. */
static int
end_range(const tel_emit_class *c, uint32_t tag, uint64_t *start)
{
	struct class_range *range, *last;
	uint64_t state, clock, best;

	do {
		last = NULL;
		best = 0;
		for (unsigned i = 0; i < WINDOW; i++) {
			range = range_slot(c, tag, i);
			if (__atomic_load_n(&range->state, __ATOMIC_ACQUIRE) !=
			    (RANGE_OPEN | tag))
				continue;
			clock = TEL__NOW(range->clock);
			if (last == NULL || clock >= best) {
				last = range;
				best = clock;
			}
		}
		if (last == NULL)
			return 0;
		state = RANGE_OPEN | tag;
	} while (!__atomic_compare_exchange_n(&last->state, &state,
	    RANGE_BUSY | tag, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	*start = TEL__NOW(last->clock);
	__atomic_store_n(&last->state, 0, __ATOMIC_RELEASE);
	return 1;
}

void
tel__class_update_summary(tel_emit_class *c, unsigned phase, uint32_t tag)
{
	struct part part = emit_part_of(c);
	const uint64_t now = range_clock();
	uint64_t start, time;

	if (phase == TEL_CLASS_START) {
		part_add(part,
		    begin_range(c, tag, now) ? W_STARTS : W_OVER_LIMIT, 1);
	} else if (phase == TEL_CLASS_END && end_range(c, tag, &start)) {
		time = now > start ? now - start : 0;
		part_add(part, W_SUM, time);
		part_extend(part, time, 0);
		SET(part.words[W_LAST], time);
		part_add(part, W_A, 1);
	} else if (phase == TEL_CLASS_END) {
		part_add(part, W_B, 1);
	}
	part_add(part, W_UPDATES, 1);
}
