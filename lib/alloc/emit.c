/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How operations get into lanes: their words, the events they come from, and
 * what a lane has to wait for.
 *
 * A lane knows how far the others are at least: it has waited for them, or
 * for one that had waited for them.  What it knows needs no wait.
 */
#include "alloc/emit.h"

#include <stdlib.h>

#define TIME_SECONDS 20e-6
#define TIME_SHORT 4 /* words between two times, at least */
#define TIME_LONG 50 /* but not when so many times TIME_SECONDS went by */

static void
put_number(struct lane *l, uint64_t v)
{
	while (v >= 0x80) {
		l->origins[l->origins_used++] = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	l->origins[l->origins_used++] = (unsigned char)v;
}

void
tel_emit_origin(struct tel_compiler *c, struct lane *l)
{
	uint64_t delta = c->event - l->event;
	uint64_t zigzag = delta << 1 ^ (uint64_t) - (int64_t)(delta >> 63);

	/* the bit above all others is lost: events are fewer than 2^62 */
	put_number(l, zigzag << 1 | (c->log != l->log));
	if (c->log != l->log)
		put_number(l, c->log);
	l->event = c->event;
	l->log = c->log;
}

void
tel_emit_time(struct tel_compiler *c, struct lane *l)
{
	/* a long time counts, however few words it took */
	if (l->times_used > 0 && l->count - l->time_word < TIME_SHORT &&
	    (c->clock - l->time_clock) / TIME_LONG < c->time_ticks)
		return;
	l->times[l->times_used++] = l->count;
	l->times[l->times_used++] = c->clock;
	l->time_word = l->count;
	l->time_clock = c->clock;
}

void
tel_emit_rate(struct tel_compiler *c)
{
	double ticks = c->facts.tick_rate * TIME_SECONDS;

	c->time_ticks =
	    ticks >= 1 && ticks < 1e18 ? (uint64_t)ticks : UINT64_MAX;
}

int
tel_emit_order(struct tel_compiler *c, struct lane *l)
{
	struct lane *before = c->total_lane;

	c->total_lane = l;
	if (before == NULL)
		return 0;
	return tel_emit_wait(c, l, before->last, lane_place(c, before));
}

int
tel_emit_more(struct tel_compiler *c, struct lane *l, tel_more what,
    uint32_t slot, uint64_t first, uint64_t second, uint64_t third)
{
	unsigned count = (unsigned)what & 7;

	if (emit_begin(c, l) != 0)
		return -1;
	put(c, l, tel_make_word(TEL_WORD_MORE, slot, (uint32_t)what));
	if (count > 0)
		put(c, l, first);
	if (count > 1)
		put(c, l, second);
	if (count > 2)
		put(c, l, third);
	return 0;
}

int
tel_emit_large(struct tel_compiler *c, struct lane *l, tel_word kind,
    uint32_t slot, uint64_t size)
{
	static const tel_more large[] = {
		[TEL_WORD_MALLOC] = TEL_MORE_MALLOC,
		[TEL_WORD_FREE] = TEL_MORE_FREE,
		[TEL_WORD_REALLOC] = TEL_MORE_REALLOC,
		[TEL_WORD_CALLOC] = TEL_MORE_CALLOC,
	};

	return tel_emit_more(c, l, large[kind], slot, size, 0, 0);
}

int
tel_emit_use(struct tel_compiler *c, struct lane *l, uint32_t number,
    int buffer)
{
	const struct pool *p =
	    buffer ? &c->buffers.all[number] : &c->pools.all[number];

	if (l->use == number && l->use_buffer == buffer)
		return 0;
	if ((buffer || number != 0) &&
	    tel_emit_wait(c, l, p->where, p->chunk) != 0)
		return -1;
	if (lane_room(l) != 0)
		return -1;
	put(c, l, tel_make_word(TEL_WORD_USE, number, (uint32_t)buffer));
	l->use = number;
	l->use_buffer = buffer;
	return 0;
}

/* ------------------------------------------------------------- waiting */

static int
known_new(struct tel_compiler *c, struct lane *l)
{
	unsigned i;

	l->known = calloc(c->lanes_max, sizeof(*l->known));
	if (l->known == NULL)
		return -1;
	for (i = 0; i < SNAPSHOTS; i++) {
		l->snapshots[i].known = calloc(c->lanes_max, sizeof(*l->known));
		if (l->snapshots[i].known == NULL)
			return -1;
	}
	return 0;
}

/* Lane l has come to know what lane other knew at a word of it. */
static void
learn(struct tel_compiler *c, struct lane *l, const struct lane *other,
    uint32_t position)
{
	const struct snapshot *s;
	struct snapshot *mine;
	unsigned i, n;

	n = other->snapshot_count < SNAPSHOTS ? other->snapshot_count :
	                                        SNAPSHOTS;
	for (i = 1; i <= n; i++) {
		s = &other->snapshots[(other->snapshot_count - i) % SNAPSHOTS];
		if (s->position > position)
			continue;
		for (i = 0; i < c->lane_count; i++)
			if (s->known[i] > l->known[i])
				l->known[i] = s->known[i];
		break;
	}
	mine = &l->snapshots[l->snapshot_count++ % SNAPSHOTS];
	mine->position = l->count;
	memcpy(mine->known, l->known, c->lane_count * sizeof(*l->known));
}

int
tel_emit_wait(struct tel_compiler *c, struct lane *l, uint32_t where,
    uint32_t chunk)
{
	unsigned number = chunk & LANE_MASK;
	struct lane *other = &c->lanes[number];
	uint32_t position = where & WHERE_MASK;

	if (chunk >> CHUNK_SHIFT != c->facts.chunks || other == l)
		return 0;
	if (l->known == NULL && known_new(c, l) != 0)
		return -1;
	if (l->known[number] > position) {
		c->facts.implied++;
		return 0;
	}
	if (lane_room(l) != 0)
		return -1;
	other->words[position] |= TEL_WORD_PUBLISH;
	put(c, l, tel_make_word(TEL_WORD_WAIT, number, position));
	c->facts.waits++;
	l->known[number] = position + 1;
	learn(c, l, other, position);
	return 0;
}

int
tel_emit_join(struct tel_compiler *c, struct lane *l)
{
	unsigned i;

	for (i = 0; i < c->lane_count; i++)
		if (c->lanes[i].operations > 0 &&
		    tel_emit_wait(c, l, c->lanes[i].last,
		        lane_place(c, &c->lanes[i])) != 0)
			return -1;
	return 0;
}
