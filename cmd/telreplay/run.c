/* SPDX-License-Identifier: BSD-2-Clause */
/* A run: chunk by chunk, as often as it is repeated. */
#include "run_inside.h"

#include <string.h>

size_t
run_board_size(unsigned lanes)
{
	return sizeof(struct run_board) + lanes * sizeof(struct run_lane);
}

static void
tell(struct run *r, enum run_phase phase)
{
	atomic_store(&r->board->phase, phase);
	if (r->options->phase != NULL)
		r->options->phase(r->options->arg, phase);
}

/* --------------------------------------------------------------- chunks */

static const enum run_kind kinds[8] = {
	[TEL_WORD_MALLOC] = RUN_MALLOC,
	[TEL_WORD_CALLOC] = RUN_CALLOC,
	[TEL_WORD_REALLOC] = RUN_REALLOC,
	[TEL_WORD_FREE] = RUN_FREE,
};

static enum run_kind
kind_of(uint64_t word)
{
	if ((word & TEL_WORD_KIND) != TEL_WORD_MORE)
		return kinds[word & TEL_WORD_KIND];
	switch (TEL_WORD_SIZE(word)) {
	case TEL_MORE_MALLOC: return RUN_MALLOC;
	case TEL_MORE_CALLOC: return RUN_CALLOC;
	case TEL_MORE_REALLOC: return RUN_REALLOC;
	case TEL_MORE_ALIGNED: return RUN_ALIGNED;
	case TEL_MORE_FREE:
	case TEL_MORE_FREE_WITH_POOL:
	case TEL_MORE_FREE_PART: return RUN_FREE;
	default: return RUN_KINDS;
	}
}

/* Counts what a lane is about to do. */
static void
count(struct run *r, struct worker *w, const tel_lane *l)
{
	uint64_t word, kind;
	uint32_t i;

	w->operations = 0;
	for (i = 0; i < l->word_count; i++) {
		word = l->words[i];
		kind = word & TEL_WORD_KIND;
		if (kind == TEL_WORD_WAIT || kind == TEL_WORD_USE)
			continue;
		w->operations++;
		kind = kind_of(word);
		if (kind < RUN_KINDS)
			r->board->operations[kind]++;
		if ((word & TEL_WORD_KIND) == TEL_WORD_MORE)
			i += TEL_WORD_SIZE(word) & 7;
	}
}

static int
load(struct run *r, uint64_t chunk)
{
	struct worker *w;
	const tel_lane *l;
	tel_status st;
	unsigned i;

	st = tel_program_load(r->program, chunk, r->room, r->lane);
	if (st != TEL_OK) {
		r->wrong = tel_status_text(st);
		return 0;
	}
	r->chunk = chunk;
	for (i = 0; i < r->lanes; i++) {
		w = &r->workers[i];
		l = &r->lane[i];
		count(r, w, l);
		w->first = l->words;
		w->end = l->words + l->word_count;
		w->times = w->times_end = l->times;
		if (r->tick_ns > 0)
			w->times_end += 2 * (size_t)l->time_count;
		memset(w->seen, 0, r->lanes * sizeof(*w->seen));
		w->buffer = NULL;
		w->pool = r->a->pool != NULL ? r->pools[0] : NULL;
		atomic_store(&w->board->chunk, chunk);
		atomic_store(&w->board->first, w->first);
		atomic_store(&w->board->word, w->first);
		atomic_store(&w->board->published, 0);
		run_wait_reset(w);
	}
	return 1;
}

/* Adds up what the threads measured in a chunk. */
static void
collect(struct run *r)
{
	uint64_t began = UINT64_MAX, ended = 0, words = 0;
	struct run_board *b = r->board;
	struct worker *w;
	unsigned i;

	for (i = 0; i < r->lanes; i++) {
		w = &r->workers[i];
		if (w->first == w->end)
			continue;
		w->board->operations += w->operations;
		w->board->cpu_ns += w->cpu_ns;
		w->board->wall_ns += w->ended_ns - w->began_ns;
		b->cpu_ns += w->cpu_ns;
		if (w->began_ns < began)
			began = w->began_ns;
		if (w->ended_ns > ended)
			ended = w->ended_ns;
		words += (uint64_t)(w->end - w->first);
	}
	if (ended > began)
		b->wall_ns += ended - began;
	atomic_fetch_add(&b->words, words);
}

/* Runs the program once. */
static int
run_once(struct run *r)
{
	uint64_t i, paused = run_now();

	if (!run_first_pool(r)) {
		r->wrong = "the allocator has no pool";
		return 0;
	}
	atomic_store(&r->board->words, 0);
	r->pace_start = paused;
	for (i = 0; i < r->facts->chunks; i++) {
		if (!load(r, i))
			return 0;
		tell(r, RUN_CHUNK);
		/* what loading took is no part of the log's time */
		r->pace_start += run_now() - paused;
		if (r->lanes > 1)
			pthread_barrier_wait(&r->barrier);
		run_chunk(&r->workers[0]);
		if (r->lanes > 1)
			pthread_barrier_wait(&r->barrier);
		paused = run_now();
		collect(r);
		tell(r, RUN_PAUSE);
	}
	tell(r, RUN_ALL_DONE);
	run_free_all(r);
	tell(r, RUN_ALL_FREED);
	atomic_fetch_add(&r->board->repeats, 1);
	return 1;
}

/* What the samples of all threads come to. */
static void
sum_latency(struct run *r, uint64_t ticks, uint64_t ns)
{
	unsigned i, k;

	r->board->tick_ns = ticks > 0 ? (double)ns / (double)ticks : 1;
	for (i = 0; r->sample > 0 && i < r->lanes; i++)
		for (k = 0; k < RUN_KINDS; k++)
			run_latency_add(&r->board->latency[k],
			    &r->workers[i].latency[k]);
}

const char *
run_program(tel_program *p, const struct allocator *a,
    const struct run_options *options, struct run_board *board)
{
	struct run r = { .program = p, .a = a, .options = options };
	uint64_t ticks, ns;
	unsigned i;

	r.facts = tel_program_facts(p);
	r.board = board;
	r.lanes = (unsigned)r.facts->lanes;
	r.verify = options->verify;
	r.sample = options->sample;
	r.touch = options->touch;
	board->lanes = r.lanes;
	if (options->pace > 0) {
		if (!(r.facts->tick_rate > 0))
			return "the log does not say how fast its clock is";
		r.tick_ns = 1e9 / r.facts->tick_rate / options->pace;
	}
	if (!run_open(&r)) {
		run_close(&r);
		return "no memory or no threads for the run";
	}
	board->empty_ticks = run_empty();
	ticks = run_ticks();
	ns = run_now();
	tell(&r, RUN_READY);
	for (i = 0; i < options->repeat && r.wrong == NULL; i++)
		(void)run_once(&r);
	sum_latency(&r, run_ticks() - ticks, run_now() - ns);
	run_close(&r);
	return r.wrong;
}
