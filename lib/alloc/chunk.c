/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's file: chunks as they are complete, and its end. */
#include "alloc/compiler.h"

#include <stdlib.h>

/* Words as they are in the file. */
static void
to_file(uint64_t *words, size_t count)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	size_t i;

	for (i = 0; i < count; i++)
		tel_store((unsigned char *)&words[i], words[i], 8, 0);
#else
	(void)words;
	(void)count;
#endif
}

static uint64_t
write_words(struct tel_compiler *c, uint64_t *words, size_t count, uint64_t sum)
{
	to_file(words, count);
	sum = tel_program_sum(sum, (const unsigned char *)words, count * 8);
	tel_output_write(c->out, words, count * 8);
	return sum;
}

tel_status
tel_program_begin(struct tel_compiler *c)
{
	uint64_t head[] = { PROGRAM_MAGIC, PROGRAM_VERSION };

	if (c->out == NULL)
		return TEL_OK;
	c->base = tel_output_bytes(c->out);
	write_words(c, head, 2, 0);
	return TEL_OK;
}

/* A new entry of the index: where the chunk that is written begins. */
static int
index_begin(struct tel_compiler *c)
{
	if (tel_array_grow(&c->index, &c->index_room, c->index_used + 2,
	        sizeof(*c->index)) != 0)
		return -1;
	c->index[c->index_used] = tel_output_bytes(c->out) - c->base;
	return 0;
}

static void
index_end(struct tel_compiler *c)
{
	c->index[c->index_used + 1] =
	    tel_output_bytes(c->out) - c->base - c->index[c->index_used];
	c->index_used += 2;
}

static tel_status
chunk_write(struct tel_compiler *c)
{
	static const unsigned char zeros[8];
	uint64_t head[2], sum, end;
	struct lane *l;
	unsigned i;

	if (index_begin(c) != 0)
		return tel_compiler_no_memory(c);
	head[0] = c->lane_count;
	sum = write_words(c, head, 1, 0);
	for (i = 0; i < c->lane_count; i++) {
		l = &c->lanes[i];
		while (l->origins_used % 8 != 0)
			l->origins[l->origins_used++] = zeros[0];
		head[0] = (uint64_t)l->times_used / 2 << 32 | l->count;
		head[1] = l->origins_used;
		sum = write_words(c, head, 2, sum);
	}
	for (i = 0; i < c->lane_count; i++)
		sum = write_words(c, c->lanes[i].words, c->lanes[i].count, sum);
	for (i = 0; i < c->lane_count; i++)
		sum = write_words(c, c->lanes[i].times, c->lanes[i].times_used,
		    sum);
	for (i = 0; i < c->lane_count; i++) {
		l = &c->lanes[i];
		sum = tel_program_sum(sum, l->origins, l->origins_used);
		tel_output_write(c->out, l->origins, l->origins_used);
	}
	end = sum;
	write_words(c, &end, 1, 0);
	index_end(c);
	if (tel_output_errno(c->out) != 0)
		return tel_compiler_fail(c, TEL_EIO, "%s",
		    strerror(tel_output_errno(c->out)));
	return TEL_OK;
}

/* All that the lanes freed may be taken by any: each comes after all. */
static int
slots_share(struct tel_compiler *c)
{
	struct lane *l;
	unsigned i;

	for (i = 0; i < c->lane_count; i++) {
		l = &c->lanes[i];
		if (l->free_used == 0)
			continue;
		if (tel_array_grow(&c->shared_free, &c->shared_room,
		        c->shared_used + l->free_used,
		        sizeof(*c->shared_free)) != 0)
			return -1;
		memcpy(c->shared_free + c->shared_used, l->free,
		    l->free_used * sizeof(*l->free));
		c->shared_used += l->free_used;
		l->free_used = 0;
	}
	return 0;
}

static void
lane_reset(struct tel_compiler *c, struct lane *l)
{
	c->facts.compiled += l->operations;
	l->count = l->last = l->operations = 0;
	l->origins_used = 0;
	l->event = l->log = 0;
	l->times_used = 0;
	l->time_word = 0;
	l->use = 0;
	l->use_buffer = 0;
	l->snapshot_count = 0;
	if (l->known != NULL)
		memset(l->known, 0, c->lanes_max * sizeof(*l->known));
}

tel_status
tel_chunk_end(struct tel_compiler *c)
{
	uint64_t need = c->used;
	unsigned i;
	tel_status st;

	if (c->used == 0)
		return TEL_OK;
	if (c->facts.chunks + 1 >= CHUNKS_MAX)
		return tel_compiler_fail(c, TEL_ELIMIT,
		    "the program has too many chunks");
	for (i = 0; i < c->lane_count; i++)
		need += c->lanes[i].times_used;
	if (c->out != NULL && (st = chunk_write(c)) != TEL_OK)
		return st;
	if (slots_share(c) != 0)
		return tel_compiler_no_memory(c);
	for (i = 0; i < c->lane_count; i++)
		lane_reset(c, &c->lanes[i]);
	c->facts.words += c->used;
	c->facts.chunks++;
	if (need > c->facts.largest_chunk)
		c->facts.largest_chunk = need;
	c->used = 0;
	c->total_lane = NULL;
	return TEL_OK;
}

tel_status
tel_program_end(struct tel_compiler *c)
{
	uint64_t tail[4] = { 0, 0, 0, PROGRAM_MAGIC }, sum;
	unsigned char *facts;
	size_t size;

	if (c->out == NULL)
		return TEL_OK;
	facts = malloc(FACTS_MOST);
	if (facts == NULL)
		return tel_compiler_no_memory(c);
	size = tel_facts_store(&c->facts, facts);
	tail[0] = tel_output_bytes(c->out) - c->base;
	tail[1] = c->index_used * 8 + size;
	sum = tel_program_sum(0, facts, size);
	tel_output_write(c->out, facts, size);
	free(facts);
	tail[2] = write_words(c, c->index, c->index_used, sum);
	write_words(c, tail, 4, 0);
	if (tel_output_flush(c->out) != TEL_OK)
		return tel_compiler_fail(c, TEL_EIO, "%s",
		    strerror(tel_output_errno(c->out)));
	return TEL_OK;
}
