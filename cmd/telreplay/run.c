/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: memory for it, a thread for each lane, chunk by chunk.
 *
 * A program of one lane is run by the thread that asks for it, and there is
 * no other: allocators are faster while there is but one.
 */
/* for MAP_ANONYMOUS, which POSIX.1-2008 lacks */
#define _DEFAULT_SOURCE
#include "run_inside.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STACK (1 << 20) /* of a thread; sanitizers want much of it */
#define ALIGN 4096      /* of what is in the mapping */
#define SPIN 200

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

/* --------------------------------------------------------------- pacing */

static void
sleep_until(uint64_t ns)
{
	struct timespec t;

	t.tv_sec = (time_t)(ns / 1000000000);
	t.tv_nsec = (long)(ns % 1000000000);
	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Keeps the time that stands at the next word. */
static void
keep_time(struct worker *w)
{
	struct run *r = w->run;
	uint64_t clock = w->times[1], first = r->facts->first_clock, now, due;
	double ns;

	w->times += 2;
	ns = clock > first ? (double)(clock - first) * r->tick_ns : 0;
	due = r->pace_start + (ns < 1e18 ? (uint64_t)ns : 0);
	now = run_now();
	if (now < due)
		sleep_until(due);
	else if (now - due > w->board->late_ns)
		w->board->late_ns = now - due;
}

/* ------------------------------------------------------------- a thread */

static uint64_t
next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

/* Samples come at odd intervals, so that no rhythm of a log hides any. */
static void
plan_sample(struct worker *w, const uint64_t *p)
{
	uint64_t n = w->run->sample, left = (uint64_t)(w->end - p);

	if (n == 0) {
		w->next_sample = w->end;
		return;
	}
	n = n / 2 + next_random(w) % n + 1;
	w->next_sample = n < left ? p + n : w->end;
}

/* Runs a word and notes how long it took, if it is one that is timed. */
static const uint64_t *
sample(struct worker *w, const uint64_t *p)
{
	uint64_t kind = *p & TEL_WORD_KIND;

	if (kind == TEL_WORD_WAIT || kind == TEL_WORD_USE)
		return run_words(w, p, p + 1);
	atomic_store_explicit(&w->board->word, p, memory_order_relaxed);
	run_timed(w, p);
	if (kind == TEL_WORD_MORE)
		p += TEL_WORD_SIZE(*p) & 7;
	p++;
	return p;
}

/* All words of a chunk. */
static void
work(struct worker *w)
{
	const uint64_t *p = w->first, *stop, *word;

	if (w->run->sample == 0 && w->times == w->times_end) {
		(void)run_words(w, p, w->end);
		return;
	}
	plan_sample(w, p);
	while (p < w->end) {
		stop = w->next_sample;
		if (w->times < w->times_end) {
			if (w->first + w->times[0] <= p) {
				keep_time(w);
				continue;
			}
			if (w->first + w->times[0] < stop)
				stop = w->first + w->times[0];
		}
		p = run_words(w, p, stop);
		if (p < w->next_sample || p >= w->end)
			continue;
		word = p;
		p = sample(w, p);
		if ((*word & TEL_WORD_PUBLISH) != 0)
			atomic_store_explicit(&w->board->published,
			    (uint64_t)(p - w->first), memory_order_release);
		plan_sample(w, p);
	}
}

/* Signals have no argument that could say in which lane they came. */
static _Thread_local unsigned lane_here = RUN_NO_LANE;

unsigned
run_lane_here(void)
{
	return lane_here;
}

static void
run_chunk(struct worker *w)
{
	lane_here = w->number;
	w->began_ns = run_now();
	w->cpu_ns = run_cpu();
	work(w);
	w->cpu_ns = run_cpu() - w->cpu_ns;
	w->ended_ns = run_now();
}

static void *
thread_main(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		pthread_barrier_wait(&w->run->barrier);
		if (w->run->stop)
			return NULL;
		run_chunk(w);
		pthread_barrier_wait(&w->run->barrier);
	}
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

/* --------------------------------------------------------- begin and end */

/* Takes size bytes of a mapping, or says how many there will be. */
static void *
take(unsigned char *base, size_t *at, uint64_t count, size_t size,
    int *too_large)
{
	size_t n, begin = *at;

	if (__builtin_mul_overflow((size_t)count, size, &n) ||
	    n > SIZE_MAX - 2 * ALIGN ||
	    __builtin_add_overflow(begin,
	        (n + ALIGN - 1) & ~(size_t)(ALIGN - 1), at)) {
		*too_large = 1;
		return NULL;
	}
	return base == NULL || count == 0 ? NULL : base + begin;
}

/* Lays out all that is needed; base NULL asks how much that is. */
static size_t
lay_out(struct run *r, unsigned char *base, unsigned char **stacks, int *bad)
{
	const tel_facts *f = r->facts;
	int extra = r->verify || r->a->pool != NULL;
	struct run_latency *latency;
	uint32_t *seen;
	size_t at = 0;
	unsigned i;

	r->slots = take(base, &at, f->slots, sizeof(*r->slots), bad);
	r->extra =
	    take(base, &at, extra ? f->slots : 0, sizeof(*r->extra), bad);
	r->room = take(base, &at, f->largest_chunk + 1, 8, bad);
	r->lane = take(base, &at, r->lanes, sizeof(*r->lane), bad);
	r->workers = take(base, &at, r->lanes, sizeof(*r->workers), bad);
	r->pools = take(base, &at, f->pools + 1, sizeof(void *), bad);
	r->buffers = take(base, &at, 2 * (f->buffers + 1), sizeof(void *), bad);
	latency = take(base, &at, r->sample > 0 ? r->lanes : 0,
	    RUN_KINDS * sizeof(*latency), bad);
	seen =
	    take(base, &at, (uint64_t)r->lanes * r->lanes, sizeof(*seen), bad);
	if (base != NULL) {
		/* the stacks apart, all of it is there before the clock is */
		memset(base, 0, at);
		for (i = 0; i < r->lanes; i++) {
			r->workers[i].seen = seen + (size_t)i * r->lanes;
			if (latency != NULL)
				r->workers[i].latency =
				    latency + (size_t)i * RUN_KINDS;
		}
	}
	*stacks = take(base, &at, r->lanes - 1, STACK + 2 * ALIGN, bad);
	return at;
}

static int
threads_start(struct run *r, unsigned char *stacks)
{
	size_t each = STACK + 2 * ALIGN;
	pthread_attr_t attributes;
	struct worker *w;
	unsigned i;
	int bad;

	if (r->lanes == 1)
		return 1;
	if (pthread_barrier_init(&r->barrier, NULL, r->lanes) != 0)
		return 0;
	r->barrier_made = 1;
	if (pthread_attr_init(&attributes) != 0)
		return 0;
	for (i = 1, bad = 0; i < r->lanes && !bad; i++) {
		w = &r->workers[i];
		/* a page that is not there ends each stack */
		bad = mprotect(stacks, ALIGN, PROT_NONE) != 0 ||
		    pthread_attr_setstack(&attributes, stacks + ALIGN, STACK) !=
		        0 ||
		    pthread_create(&w->thread, &attributes, thread_main, w) !=
		        0;
		w->started = !bad;
		stacks += each;
	}
	pthread_attr_destroy(&attributes);
	return !bad;
}

static int
open_run(struct run *r, unsigned char **base, size_t *size)
{
	unsigned char *stacks;
	struct worker *w;
	unsigned i;
	int bad = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*size = lay_out(r, NULL, &stacks, &bad);
	if (bad)
		return 0;
	*base = mmap(NULL, *size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*base == MAP_FAILED) {
		*base = NULL;
		return 0;
	}
	(void)lay_out(r, *base, &stacks, &bad);
	r->spin = cpus > 1 ? SPIN : 0;
	r->board->own_first = (uintptr_t)*base;
	r->board->own_size = *size;
	for (i = 0; i < r->lanes; i++) {
		w = &r->workers[i];
		w->run = r;
		w->number = i;
		w->board = &r->board->lane[i];
		w->a = r->a;
		w->slots = r->slots;
		w->extra = r->extra;
		w->random = 0x9e3779b97f4a7c15 + i;
	}
	return threads_start(r, stacks);
}

static void
close_run(struct run *r, unsigned char *base, size_t size)
{
	unsigned i, j;

	r->stop = 1;
	for (i = 1; base != NULL && i < r->lanes; i++)
		if (!r->workers[i].started)
			break;
	/* with fewer threads than planned nobody ever got to the barrier */
	if (i == r->lanes && r->lanes > 1)
		pthread_barrier_wait(&r->barrier);
	for (j = 1; j < i; j++) {
		if (i < r->lanes)
			pthread_cancel(r->workers[j].thread);
		pthread_join(r->workers[j].thread, NULL);
	}
	if (r->barrier_made)
		pthread_barrier_destroy(&r->barrier);
	if (base != NULL)
		munmap(base, size);
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
	unsigned char *base = NULL;
	uint64_t ticks, ns;
	size_t size = 0;
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
	if (!open_run(&r, &base, &size)) {
		close_run(&r, base, size);
		return "no memory or no threads for the run";
	}
	board->empty_ticks = run_empty();
	ticks = run_ticks();
	ns = run_now();
	tell(&r, RUN_READY);
	for (i = 0; i < options->repeat && r.wrong == NULL; i++)
		(void)run_once(&r);
	sum_latency(&r, run_ticks() - ticks, run_now() - ns);
	close_run(&r, base, size);
	return r.wrong;
}
