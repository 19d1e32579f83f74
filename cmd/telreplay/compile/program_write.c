/* SPDX-License-Identifier: BSD-2-Clause */
/* A program's file, written: chunks as they are complete, and its end. */
#include "telreplay/compile/compiler_inside.h"
#include "telreplay/compile/program_file.h"

#include <stdlib.h>

static uint64_t
write_words(struct compiler *c, uint64_t *words, size_t count, uint64_t sum)
{
	program_swap(words, count);
	sum = program_sum(sum, (const unsigned char *)words, count * 8);
	tel_output_write(c->out, words, count * 8);
	return sum;
}

void
program_start(struct compiler *c)
{
	uint64_t head[] = { PROGRAM_MAGIC, PROGRAM_VERSION };

	if (c->out == NULL)
		return;
	c->base = tel_output_bytes(c->out);
	write_words(c, head, 2, 0);
}

/* Starts an entry of the index: the offset of the next chunk. */
static int
index_start(struct compiler *c)
{
	if (!TEL__RESERVE(c->index, c->index_room, c->index_used + 2))
		return -1;
	c->index[c->index_used] = tel_output_bytes(c->out) - c->base;
	return 0;
}

static void
index_end(struct compiler *c)
{
	c->index[c->index_used + 1] =
	    tel_output_bytes(c->out) - c->base - c->index[c->index_used];
	c->index_used += 2;
}

static tel_status
chunk_write(struct compiler *c)
{
	static const unsigned char zeros[8];
	uint64_t head[2], sum, end;

	if (index_start(c) != 0)
		return compiler_no_memory(c);
	head[0] = c->thread_count;
	sum = write_words(c, head, 1, 0);
	for (unsigned i = 0; i < c->thread_count; i++) {
		struct thread *t = &c->threads[i];

		while (t->origins_used % 8 != 0)
			t->origins[t->origins_used++] = zeros[0];
		head[0] = (uint64_t)t->times_used / 2 << 32 | t->count;
		head[1] = t->origins_used;
		sum = write_words(c, head, 2, sum);
	}
	for (unsigned i = 0; i < c->thread_count; i++)
		sum = write_words(c, c->threads[i].words, c->threads[i].count,
		    sum);
	for (unsigned i = 0; i < c->thread_count; i++)
		sum = write_words(c, c->threads[i].times,
		    c->threads[i].times_used, sum);
	for (unsigned i = 0; i < c->thread_count; i++) {
		struct thread *t = &c->threads[i];

		sum = program_sum(sum, t->origins, t->origins_used);
		tel_output_write(c->out, t->origins, t->origins_used);
	}
	end = sum;
	write_words(c, &end, 1, 0);
	index_end(c);
	if (tel_output_errno(c->out) != 0)
		return compiler_fail(c, TEL_EIO, "%s",
		    strerror(tel_output_errno(c->out)));
	return TEL_OK;
}

/* Slots that were freed in a chunk are free to all in the next one. */
static int
slots_share(struct compiler *c)
{
	for (unsigned i = 0; i < c->thread_count; i++) {
		struct thread *t = &c->threads[i];

		if (t->free_used == 0)
			continue;
		if (!TEL__RESERVE(c->shared_free, c->shared_room,
		        c->shared_used + t->free_used))
			return -1;
		memcpy(c->shared_free + c->shared_used, t->free,
		    t->free_used * sizeof(*t->free));
		c->shared_used += t->free_used;
		t->free_used = 0;
	}
	return 0;
}

static void
thread_reset(struct compiler *c, struct thread *t)
{
	c->facts.compiled += t->operations;
	t->count = t->last = t->operations = 0;
	t->origins_used = 0;
	t->event = t->log = 0;
	t->times_used = 0;
	t->time_due = 0;
	t->use = 0;
	t->use_buffer = 0;
	t->snapshot_count = 0;
	t->window = 0;
	if (t->vector != NULL)
		memset(t->vector, 0, c->set.threads * sizeof(*t->vector));
}

tel_status
chunk_end(struct compiler *c)
{
	uint64_t need = c->used;
	tel_status st;

	if (c->used == 0)
		return TEL_OK;
	if (c->facts.chunks + 1 >= CHUNKS_MAX)
		return compiler_fail(c, TEL_ELIMIT,
		    "the program has too many chunks");
	for (unsigned i = 0; i < c->thread_count; i++)
		need += c->threads[i].times_used;
	if (c->out != NULL && (st = chunk_write(c)) != TEL_OK)
		return st;
	if (slots_share(c) != 0)
		return compiler_no_memory(c);
	for (unsigned i = 0; i < c->thread_count; i++)
		thread_reset(c, &c->threads[i]);
	if (c->windows_on && c->window > c->facts.windows)
		c->facts.windows = c->window;
	c->window = 1;
	c->window_threads = 0;
	c->window_moved = 0;
	c->facts.words += c->used;
	c->facts.chunks++;
	if (need > c->facts.largest_chunk)
		c->facts.largest_chunk = need;
	c->used = 0;
	c->total_thread = NULL;
	return TEL_OK;
}

/*
 * What describes the pools, from number 0 on to the last one that is described:
 * text and a NUL for each, with zeros up to a multiple of eight.
 */
static int
descriptions_make(struct compiler *c, char **text)
{
	const struct pools *ps = &c->pools;
	size_t i, n, used = 0, last = 0, room = 0;
	const char *one;

	for (i = 0; i < ps->count && i < POOLS_DESCRIBED; i++) {
		one = ps->all[i].text != NULL ? ps->all[i].text : "";
		n = strlen(one) + 1;
		if (!TEL__RESERVE(*text, room, used + n + 8))
			return 0;
		memcpy(*text + used, one, n);
		used += n;
		if (n > 1)
			last = used;
	}
	if (last > 0)
		memset(*text + last, 0, 8);
	c->facts.described = (last + 7) & ~(size_t)7;
	return 1;
}

tel_status
program_end(struct compiler *c)
{
	uint64_t tail[4] = { 0, 0, 0, PROGRAM_MAGIC }, sum;
	char *text = NULL;

	if (c->out == NULL)
		return TEL_OK;
	unsigned char *facts = malloc(FACTS_MAX);
	if (facts == NULL || !descriptions_make(c, &text)) {
		free(facts);
		free(text);
		return compiler_no_memory(c);
	}
	size_t described = (size_t)c->facts.described;
	size_t size = facts_store(&c->facts, facts);
	tail[0] = tel_output_bytes(c->out) - c->base;
	tail[1] = c->index_used * 8 + size + described;
	sum = program_sum(0, facts, size);
	sum = program_sum(sum, (unsigned char *)text, described);
	tel_output_write(c->out, facts, size);
	tel_output_write(c->out, text, described);
	free(facts);
	free(text);
	tail[2] = write_words(c, c->index, c->index_used, sum);
	write_words(c, tail, 4, 0);
	if (tel_output_flush(c->out) != TEL_OK)
		return compiler_fail(c, TEL_EIO, "%s",
		    strerror(tel_output_errno(c->out)));
	return TEL_OK;
}
