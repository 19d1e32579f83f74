/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Emit: the part of it that every operation goes through.  The functions
 * return 0, or -1 when there is no memory.
 */
#ifndef TEL_EMIT_H
#define TEL_EMIT_H

#include "alloc/compiler.h"

#define TIME_WORDS 64   /* words between two times, at most */
#define ORIGIN_SHORT 32 /* a difference that is a byte in the origins */

/* Notes the event of an operation, in whatever it takes. */
void tel_emit_origin(struct tel_compiler *c, struct lane *l);
/* Notes the time, unless that was just done. */
void tel_emit_time(struct tel_compiler *c, struct lane *l);
/* Has a lane wait for the operation before this one, of another lane. */
int tel_emit_order(struct tel_compiler *c, struct lane *l);
/* An operation whose size takes a word of its own. */
int tel_emit_large(struct tel_compiler *c, struct lane *l, tel_word kind,
    uint32_t slot, uint64_t size);

static inline int
lane_room(struct lane *l)
{
	if (l->count + LANE_SLACK <= l->room &&
	    l->origins_used + ORIGIN_SLACK <= l->origins_room &&
	    l->times_used + 2 <= l->times_room)
		return 0;
	return tel_lane_grow(l);
}

static inline void
put(struct tel_compiler *c, struct lane *l, uint64_t word)
{
	l->words[l->count++] = word;
	c->used++;
}

/* Begins an operation: the caller puts its words. */
static inline int
emit_begin(struct tel_compiler *c, struct lane *l)
{
	uint64_t delta;

	if (c->order == TEL_LANES_TOTAL && c->total_lane != l &&
	    tel_emit_order(c, l) != 0)
		return -1;
	if (lane_room(l) != 0)
		return -1;
	/* the time now and then, more often when it goes by faster */
	if (l->count - l->time_word >= TIME_WORDS || l->times_used == 0 ||
	    c->clock - l->time_clock >= c->time_ticks)
		tel_emit_time(c, l);
	delta = c->event - l->event;
	if (delta < ORIGIN_SHORT && c->log == l->log) {
		l->origins[l->origins_used++] = (unsigned char)(delta << 2);
		l->event = c->event;
	} else
		tel_emit_origin(c, l);
	l->last = l->count;
	l->operations++;
	return 0;
}

/* An operation of a size, which the word or a second one holds. */
static inline int
emit_sized(struct tel_compiler *c, struct lane *l, tel_word kind, uint32_t slot,
    uint64_t size)
{
	if (size > TEL_WORD_SIZE_MAX)
		return tel_emit_large(c, l, kind, slot, size);
	if (emit_begin(c, l) != 0)
		return -1;
	put(c, l, tel_make_word(kind, slot, (uint32_t)size));
	return 0;
}

#endif
