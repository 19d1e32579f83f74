/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chunks of a program, read and checked.  A program may come from anywhere:
 * what is loaded has no number that leads out of an array.
 */
#include "alloc/program.h"

#include <stdlib.h>

static void
from_file(uint64_t *words, uint64_t count)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	uint64_t i;

	for (i = 0; i < count; i++)
		words[i] = tel_le64((const unsigned char *)&words[i]);
#else
	(void)words;
	(void)count;
#endif
}

/* The sum over a chunk's head, of which the parts are at hand. */
static uint64_t
head_sum(const struct chunk *c)
{
	unsigned char bytes[16];
	uint64_t sum;
	unsigned i;

	tel_store_le64(bytes, c->lanes);
	sum = tel_program_sum(0, bytes, 8);
	for (i = 0; i < c->lanes; i++) {
		tel_store_le64(bytes,
		    (uint64_t)c->lane[i].times << 32 | c->lane[i].words);
		tel_store_le64(bytes + 8, c->lane[i].origins);
		sum = tel_program_sum(sum, bytes, 16);
	}
	return sum;
}

/* Goes through the origins for the sum, which nothing else needs. */
static tel_status
sum_check(const struct tel_program *p, const struct chunk *c,
    const uint64_t *room)
{
	unsigned char bytes[4096];
	uint64_t sum = head_sum(c), left = c->origins, at;
	tel_status st;
	size_t n;

	n = (size_t)(c->words + 2 * c->times) * 8;
	sum = tel_program_sum(sum, (const unsigned char *)room, n);
	at = c->offset + c->size - left;
	while (left > 0) {
		n = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
		st = tel_program_read(p, at, bytes, n);
		if (st != TEL_OK)
			return st;
		sum = tel_program_sum(sum, bytes, n);
		at += n;
		left -= n;
	}
	st = tel_program_read(p, at, bytes, 8);
	if (st != TEL_OK)
		return st;
	return sum == tel_le64(bytes) ? TEL_OK : TEL_EDAMAGED;
}

/* A rare operation and the words that follow it. */
static int
more_check(const tel_facts *f, uint64_t w, const uint64_t *words)
{
	uint64_t whole;
	uint32_t slot = TEL_WORD_SLOT(w);

	switch (TEL_WORD_SIZE(w)) {
	case TEL_MORE_ALIGNED:
		if (words[1] == 0 || (words[1] & (words[1] - 1)) != 0 ||
		    words[1] > TEL_BLOCK_MAX)
			return -1;
		/* FALLTHROUGH */
	case TEL_MORE_MALLOC:
	case TEL_MORE_FREE:
	case TEL_MORE_REALLOC:
	case TEL_MORE_CALLOC:
	case TEL_MORE_FREE_WITH_POOL:
		return slot < f->slots && words[0] <= TEL_BLOCK_MAX ? 0 : -1;
	case TEL_MORE_FREE_PART:
		whole = words[2] == 0 ? TEL_BLOCK_MAX : words[2];
		return slot < f->slots && whole <= TEL_BLOCK_MAX &&
		        words[0] <= whole && words[1] <= whole - words[0] ?
		    0 :
		    -1;
	case TEL_MORE_POOL_CREATE:
	case TEL_MORE_POOL_DESTROY:
		return slot >= 1 && slot <= f->pools ? 0 : -1;
	case TEL_MORE_BUFFER_CREATE:
		return slot < f->buffers && words[0] <= f->pools ? 0 : -1;
	case TEL_MORE_BUFFER_DESTROY: return slot < f->buffers ? 0 : -1;
	default: return -1;
	}
}

static int
wait_check(const tel_lane *lanes, unsigned count, uint64_t w)
{
	uint32_t lane = TEL_WORD_SLOT(w), word = TEL_WORD_SIZE(w);

	return lane < count && word < lanes[lane].word_count &&
	        (lanes[lane].words[word] & TEL_WORD_PUBLISH) != 0 ?
	    0 :
	    -1;
}

static int
lane_check(const struct tel_program *p, const tel_lane *lanes, unsigned count,
    const tel_lane *l)
{
	const tel_facts *f = &p->facts;
	uint32_t i, more;
	uint64_t w;

	for (i = 0; i < l->word_count; i += 1 + more) {
		w = l->words[i];
		more = tel_word_more(w);
		if (more >= l->word_count - i)
			return -1;
		switch (w & TEL_WORD_KIND) {
		case TEL_WORD_MALLOC:
		case TEL_WORD_FREE:
		case TEL_WORD_REALLOC:
		case TEL_WORD_CALLOC:
			if (TEL_WORD_SLOT(w) >= f->slots)
				return -1;
			break;
		case TEL_WORD_WAIT:
			if (wait_check(lanes, count, w) != 0)
				return -1;
			break;
		case TEL_WORD_USE:
			if (TEL_WORD_SIZE(w) > 1 ||
			    (TEL_WORD_SIZE(w) == 1 ?
			            TEL_WORD_SLOT(w) >= f->buffers :
			            TEL_WORD_SLOT(w) > f->pools))
				return -1;
			break;
		case TEL_WORD_MORE:
			if (more_check(f, w, l->words + i + 1) != 0)
				return -1;
			break;
		default: return -1;
		}
	}
	return 0;
}

/* Times stand at words, one behind the other. */
static int
times_check(const tel_lane *l)
{
	uint32_t i;

	for (i = 0; i < l->time_count; i++)
		if (l->times[2 * i] > l->word_count ||
		    (i > 0 && l->times[2 * i] <= l->times[2 * i - 2]))
			return -1;
	return 0;
}

/* Has lanes point to what was read. */
static void
lanes_set(const struct tel_program *p, const struct chunk *c, uint64_t *room,
    tel_lane *lanes)
{
	const uint64_t *words = room, *times = room + c->words;
	unsigned i;

	for (i = 0; i < p->facts.lanes; i++) {
		lanes[i].words = words;
		lanes[i].times = times;
		lanes[i].word_count = i < c->lanes ? c->lane[i].words : 0;
		lanes[i].time_count = i < c->lanes ? c->lane[i].times : 0;
		words += lanes[i].word_count;
		times += 2 * (size_t)lanes[i].time_count;
	}
}

tel_status
tel_program_load(tel_program *p, uint64_t chunk, uint64_t *room,
    tel_lane *lanes)
{
	struct chunk c;
	tel_status st;
	uint64_t n;
	unsigned i;

	st = tel_chunk_open(p, chunk, &c);
	if (st != TEL_OK)
		return st;
	n = c.words + 2 * c.times;
	st = tel_program_read(p, c.offset + 8 + 16 * (uint64_t)c.lanes, room,
	    (size_t)n * 8);
	if (st == TEL_OK)
		st = sum_check(p, &c, room);
	if (st != TEL_OK)
		return st;
	from_file(room, n);
	lanes_set(p, &c, room, lanes);
	for (i = 0; i < c.lanes; i++)
		if (lane_check(p, lanes, c.lanes, &lanes[i]) != 0 ||
		    times_check(&lanes[i]) != 0)
			return TEL_EDAMAGED;
	return TEL_OK;
}

/* -------------------------------------------------------------- origins */

static int
number_get(const unsigned char **p, const unsigned char *end, uint64_t *out)
{
	uint64_t v = 0;
	unsigned shift;

	for (shift = 0; shift < 64; shift += 7) {
		if (*p == end)
			return -1;
		v |= (uint64_t)(**p & 0x7f) << shift;
		if ((*(*p)++ & 0x80) == 0) {
			*out = v;
			return 0;
		}
	}
	return -1;
}

/* Reads as many origins as there are operations up to a word. */
static tel_status
origin_find(const struct tel_program *p, const tel_lane *l,
    const unsigned char *at, const unsigned char *end, uint32_t position,
    uint64_t *log, uint64_t *event)
{
	uint64_t v, kind;
	uint32_t i;

	*log = *event = 0;
	for (i = 0; i < l->word_count && i <= position;
	     i += 1 + tel_word_more(l->words[i])) {
		kind = l->words[i] & TEL_WORD_KIND;
		if (kind == TEL_WORD_WAIT || kind == TEL_WORD_USE)
			continue;
		if (number_get(&at, end, &v) != 0)
			return TEL_EDAMAGED;
		if ((v & 1) != 0 && number_get(&at, end, log) != 0)
			return TEL_EDAMAGED;
		v >>= 1;
		*event += v >> 1 ^ (uint64_t) - (int64_t)(v & 1);
		if (i == position)
			return *log < p->facts.logs ? TEL_OK : TEL_EDAMAGED;
	}
	return TEL_EINVAL;
}

tel_status
tel_program_origin(tel_program *p, uint64_t chunk, unsigned lane,
    uint32_t position, const char **log, uint64_t *event)
{
	struct chunk c;
	tel_lane lanes[PROGRAM_LANES];
	unsigned char *bytes = NULL;
	uint64_t *room, number, at;
	tel_status st;
	unsigned i;

	st = tel_chunk_open(p, chunk, &c);
	if (st != TEL_OK)
		return st;
	if (lane >= c.lanes)
		return TEL_EINVAL;
	room = malloc((size_t)p->facts.largest_chunk * 8 + 8);
	bytes = malloc((size_t)c.lane[lane].origins + 8);
	st = room == NULL || bytes == NULL ?
	    TEL_ENOMEM :
	    tel_program_load(p, chunk, room, lanes);
	if (st == TEL_OK) {
		at = c.offset + c.size - c.origins;
		for (i = 0; i < lane; i++)
			at += c.lane[i].origins;
		st = tel_program_read(p, at, bytes,
		    (size_t)c.lane[lane].origins);
	}
	if (st == TEL_OK)
		st = origin_find(p, &lanes[lane], bytes,
		    bytes + c.lane[lane].origins, position, &number, event);
	if (st == TEL_OK)
		*log = p->facts.log_names[number];
	free(room);
	free(bytes);
	return st;
}
