/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: its memory and threads, then chunk by chunk, as often as it is
 * repeated.
 *
 * All memory is one mapping.  A program of one thread is run by the thread
 * that calls run_program(), and no other is started: allocators are faster
 * while a process has a single thread.
 */
/* for MAP_ANONYMOUS, which POSIX.1-2008 lacks */
#define _DEFAULT_SOURCE
#include "telreplay/run/run_inside.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGN 4096 /* of the content of the mapping */
#define SPIN 64
#define STACK ((size_t)RUN_STACK)
/* What a thread uses of its stack, with the allocators of Debian. */
#define STACK_USED ((size_t)16 << 10)
#define SIGNAL_STACK ((size_t)RUN_SIGNAL_STACK)

/* Takes an array from the mapping; base NULL: only adds up its size. */
static void *
replay_take(unsigned char *base, size_t *at, uint64_t count, size_t size,
    int *too_large)
{
	size_t n, begin = *at;

	if (__builtin_mul_overflow(count, size, &n) ||
	    n > SIZE_MAX - 2 * ALIGN ||
	    __builtin_add_overflow(begin,
	        (n + ALIGN - 1) & ~(size_t)(ALIGN - 1), at)) {
		*too_large = 1;
		return NULL;
	}
	return base == NULL || count == 0 ? NULL : base + begin;
}

/* Lays out the mapping; base NULL: only returns its size. */
static size_t
lay_out(struct run *r, unsigned char *base, int *bad)
{
	const struct facts *f = r->facts;
	int extra = r->options->verify || r->options->count_live ||
	    r->options->touch_again || r->a->pool != NULL;
	unsigned char *stacks, *signals;
	struct run_latency *latency;
	struct run_size_time *times;
	uint32_t *seen;
	size_t at = 0;

	r->slots = replay_take(base, &at, f->slots, sizeof(*r->slots), bad);
	r->extra = replay_take(base, &at, extra ? f->slots : 0,
	    sizeof(*r->extra), bad);
	r->room = replay_take(base, &at, f->largest_chunk + 1, 8, bad);
	r->thread = replay_take(base, &at, r->threads, sizeof(*r->thread), bad);
	r->workers =
	    replay_take(base, &at, r->threads, sizeof(*r->workers), bad);
	r->pools = replay_take(base, &at, f->pools + 1, sizeof(void *), bad);
	r->internal = replay_take(base, &at, f->pools + 1, 1, bad);
	r->buffers =
	    replay_take(base, &at, 2 * (f->buffers + 1), sizeof(void *), bad);
	latency =
	    replay_take(base, &at, r->options->sample > 0 ? r->threads : 0,
	        RUN_KINDS * sizeof(*latency), bad);
	times = replay_take(base, &at, r->options->sample > 0 ? r->threads : 0,
	    RUN_SIZES * sizeof(*times), bad);
	seen = replay_take(base, &at, (uint64_t)r->threads * r->threads,
	    sizeof(*seen), bad);
	r->inside =
	    replay_take(base, &at, f->windows + 2, sizeof(*r->inside), bad);
	void *watched = replay_take(base, &at, r->options->residency != NULL,
	    run_residency_size(f), bad);
	signals = replay_take(base, &at, r->threads, SIGNAL_STACK, bad);
	if (base != NULL) {
		/* all but the stacks is resident before the clock starts */
		memset(base, 0, at);
		if (watched != NULL)
			run_residency_open(r, watched);
		for (unsigned i = 0; i < r->threads; i++) {
			r->workers[i].seen = seen + (size_t)i * r->threads;
			r->workers[i].signal_stack =
			    signals + (size_t)i * SIGNAL_STACK;
			if (latency == NULL)
				continue;
			r->workers[i].latency = latency + (size_t)i * RUN_KINDS;
			r->workers[i].size_time = times + (size_t)i * RUN_SIZES;
		}
	}
	stacks = replay_take(base, &at, r->threads - 1, STACK + ALIGN, bad);
	for (unsigned i = 1; base != NULL && i < r->threads; i++)
		r->workers[i].stack =
		    stacks + (size_t)(i - 1) * (STACK + ALIGN);
	return at;
}

/*
 * A guard page ends a stack.  The part that is used is resident before the clock
 * starts: it would be taken for memory of the allocator.
 */
static int
stack_open(unsigned char *stack)
{
	for (size_t i = 0; i < STACK_USED; i += RUN_PAGE)
		((volatile unsigned char *)stack)[ALIGN + STACK - 1 - i] = 0;
	return mprotect(stack, ALIGN, PROT_NONE) == 0;
}

static void
worker_set(struct run *r, unsigned i)
{
	struct worker *w = &r->workers[i];

	w->run = r;
	w->number = i;
	w->shared_stats = &r->shared_stats->thread[i];
	w->a = r->a;
	w->slots = r->slots;
	w->extra = r->extra;
	w->random = 0x9e3779b97f4a7c15 + i;
	w->think = (uint64_t)(r->options->think_ns * r->options->think_rate);
}

static int
run_open(struct run *r)
{
	int bad = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	r->size = lay_out(r, NULL, &bad);
	if (bad)
		return 0;
	r->base = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->base == MAP_FAILED) {
		r->base = NULL;
		return 0;
	}
	(void)lay_out(r, r->base, &bad);
	r->spin = cpus > 1 ? SPIN : 0;
	r->clock_ns = run_cpu_cost();
	for (unsigned i = 0; i < r->threads && !bad; i++) {
		worker_set(r, i);
		r->workers[i].opened =
		    run_cond_open(&r->workers[i].cond, &r->workers[i].lock);
		bad = !r->workers[i].opened;
		if (i > 0)
			bad |= !stack_open(r->workers[i].stack);
	}
	return !bad && run_threads_open(r);
}

static void
run_close(struct run *r)
{
	if (r->base == NULL)
		return;
	run_threads_close(r);
	for (unsigned i = 0; i < r->threads; i++)
		run_wait_close(&r->workers[i]);
	run_residency_close(r);
	munmap(r->base, r->size);
}

/* --------------------------------------------------------------- chunks */

size_t
run_shared_stats_size(unsigned threads)
{
	return sizeof(struct run_shared_stats) +
	    threads * sizeof(struct run_thread);
}

static void
replay_tell(struct run *r, enum run_phase phase)
{
	atomic_store(&r->shared_stats->phase, phase);
	if (r->options->phase != NULL)
		r->options->phase(r->options->arg, phase);
}

/* Nonzero when the sizes of an operation are some that this machine has. */
static int
sizes_fit(const uint64_t *p)
{
	for (unsigned i = 1; i <= word_operands(*p); i++)
		if ((size_t)p[i] != p[i])
			return word_operation(*p)->kind == RUN_KINDS;
	return 1;
}

/* Counts the operations of a thread in a chunk.  0: one has no such size. */
static int
replay_count(struct run *r, struct worker *w, const struct program_thread *l)
{
	uint64_t word;

	w->operations = 0;
	for (uint32_t i = 0; i < l->word_count; i += 1 + word_operands(word)) {
		word = l->words[i];
		if (word_is_window(word))
			r->inside[WORD_SLOT(word)]++;
		if (!word_is_operation(word))
			continue;
		if (!sizes_fit(&l->words[i]))
			return 0;
		w->operations++;
		enum run_kind kind = word_operation(word)->kind;
		if (kind < RUN_KINDS)
			r->shared_stats->operations[kind]++;
	}
	return 1;
}

/*
 * Finds where a thread has to end.  Each such word gets the number of the next
 * one, so that the thread that is then started finds its own end.
 */
static void
find_ends(struct run *r, struct worker *w, const struct program_thread *l)
{
	uint64_t *words = r->room + (l->words - r->room), *end = NULL;
	uint32_t i;

	w->end = w->last;
	for (i = 0; i < l->word_count; i += 1 + word_operands(words[i])) {
		if (!word_is_end(words[i]))
			continue;
		if (end == NULL)
			w->end = words + i;
		else
			*end |= (uint64_t)i << WORD_SLOT_SHIFT;
		end = words + i;
		*end &= ((uint64_t)1 << WORD_SLOT_SHIFT) - 1;
	}
	if (end != NULL)
		*end |= (uint64_t)l->word_count << WORD_SLOT_SHIFT;
}

static int
replay_load(struct run *r, uint64_t chunk)
{
	struct worker *w;
	tel_status st = program_load(r->program, chunk, r->room, r->thread);

	if (st != TEL_OK) {
		r->wrong = tel_status_text(st);
		return 0;
	}
	r->chunk = chunk;
	r->left = 0;
	for (uint64_t n = 0; n < r->facts->windows + 2; n++)
		atomic_init(&r->inside[n], 0);
	for (unsigned i = 0; i < r->threads; i++) {
		w = &r->workers[i];
		const struct program_thread *l = &r->thread[i];
		if (!replay_count(r, w, l)) {
			r->wrong = "a size is larger than the address space";
			return 0;
		}
		w->first = w->next = l->words;
		w->last = l->words + l->word_count;
		find_ends(r, w, l);
		w->counted = w->first != w->last;
		r->left += (unsigned)w->counted;
		w->window = 0;
		w->cpu_ns = w->began_ns = 0;
		w->times = w->times_end = l->times;
		if (r->tick_ns > 0)
			w->times_end += 2 * (size_t)l->time_count;
		memset(w->seen, 0, r->threads * sizeof(*w->seen));
		run_pool_use(w, 0);
		atomic_store(&w->shared_stats->chunk, chunk);
		atomic_store(&w->shared_stats->first, w->first);
		atomic_store(&w->shared_stats->word, w->first);
		atomic_store(&w->shared_stats->published, 0);
	}
	run_wait_reset(r);
	return 1;
}

/* Adds up what the threads measured in a chunk. */
static void
replay_collect(struct run *r)
{
	uint64_t began = UINT64_MAX, ended = 0, words = 0;
	struct run_shared_stats *b = r->shared_stats;

	for (unsigned i = 0; i < r->threads; i++) {
		struct worker *w = &r->workers[i];

		if (w->first == w->last)
			continue;
		w->shared_stats->times.operations += w->operations;
		w->shared_stats->times.cpu_ns += w->cpu_ns;
		w->shared_stats->times.wall_ns += w->ended_ns - w->began_ns;
		b->cpu_ns += w->cpu_ns;
		if (w->began_ns < began)
			began = w->began_ns;
		if (w->ended_ns > ended)
			ended = w->ended_ns;
		words += (uint64_t)(w->last - w->first);
	}
	if (ended > began)
		b->wall_ns += ended - began;
	atomic_fetch_add(&b->words, words);
}

/* Runs the program once. */
static void
run_once(struct run *r)
{
	uint64_t i, paused = run_now();

	if (!run_first_pool(r)) {
		r->wrong = "the allocator has no pool";
		return;
	}
	atomic_store(&r->shared_stats->words, 0);
	r->pace_start = paused;
	for (i = 0; i < r->facts->chunks; i++) {
		if (!replay_load(r, i))
			return;
		replay_tell(r, RUN_CHUNK);
		/* the time to load is not part of the log's time */
		r->pace_start += run_now() - paused;
		run_threads_chunk(r);
		paused = run_now();
		replay_collect(r);
		replay_tell(r, RUN_PAUSE);
	}
	run_residency_end(r);
	replay_tell(r, RUN_ALL_DONE);
	run_threads_end(r);
	run_free_all(r);
	replay_tell(r, RUN_ALL_FREED);
	atomic_fetch_add(&r->shared_stats->repeats, 1);
}

/* Adds up the latency samples of all threads. */
static void
sum_latency(struct run *r, uint64_t ticks, uint64_t ns)
{
	r->shared_stats->tick_ns = ticks > 0 ? (double)ns / (double)ticks : 1;
	for (unsigned i = 0; r->options->sample > 0 && i < r->threads; i++) {
		for (unsigned k = 0; k < RUN_KINDS; k++)
			run_latency_add(&r->shared_stats->latency[k],
			    &r->workers[i].latency[k]);
		run_size_time_add(r->shared_stats->size_time,
		    r->workers[i].size_time);
	}
}

const char *
run_program(struct program *p, const struct alloc_functions *a,
    const struct run_options *options, struct run_shared_stats *shared_stats)
{
	struct run r = { .program = p, .a = a, .options = options };

	r.facts = program_facts(p);
	r.shared_stats = shared_stats;
	r.threads = (unsigned)r.facts->threads;
	r.check = options->check && options->count_live &&
	    !options->touch_again &&
	    (options->touch == RUN_TOUCH_PAGE ||
	        options->touch == RUN_TOUCH_ALL);
	r.slow = options->verify || options->count_live || a->lock != NULL ||
	    options->touch == RUN_TOUCH_SHARE || options->touch_again ||
	    options->think_ns > 0 || options->think_log;
	shared_stats->threads = r.threads;
	if (options->pace > 0 || options->think_log) {
		if (!(r.facts->tick_rate > 0))
			return "the log does not record the rate of its clock";
		r.tick_ns = 1e9 / r.facts->tick_rate;
		if (options->pace > 0)
			r.tick_ns /= options->pace;
	}
	if (!run_open(&r)) {
		run_close(&r);
		return "no memory or no threads for the run";
	}
	if (a->pool != NULL && a->pool->roots != NULL)
		a->pool->roots(a->state, r.slots, (size_t)r.facts->slots);
	shared_stats->empty_ticks = run_empty(&shared_stats->noise_ticks);
	uint64_t ticks = run_ticks();
	uint64_t ns = run_now();
	replay_tell(&r, RUN_READY);
	for (unsigned i = 0; i < options->repeat && r.wrong == NULL; i++)
		run_once(&r);
	sum_latency(&r, run_ticks() - ticks, run_now() - ns);
	run_close(&r);
	return r.wrong;
}
