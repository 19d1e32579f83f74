/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run needs: memory, all in one mapping, and a thread for each lane.
 * A program of one lane is run by the thread that asks for it, and there is
 * no other: allocators are faster while there is but one.
 */
/* for MAP_ANONYMOUS, which POSIX.1-2008 lacks */
#define _DEFAULT_SOURCE
#include "run_inside.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK (1 << 20) /* of a thread; sanitizers want much of it */
#define ALIGN 4096      /* of what is in the mapping */
#define SPIN 64

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

static void
worker_set(struct run *r, unsigned i)
{
	struct worker *w = &r->workers[i];

	w->run = r;
	w->number = i;
	w->board = &r->board->lane[i];
	w->a = r->a;
	w->slots = r->slots;
	w->extra = r->extra;
	w->random = 0x9e3779b97f4a7c15 + i;
}

int
run_open(struct run *r)
{
	unsigned char *stacks;
	unsigned i;
	int bad = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	r->size = lay_out(r, NULL, &stacks, &bad);
	if (bad)
		return 0;
	r->base = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->base == MAP_FAILED) {
		r->base = NULL;
		return 0;
	}
	(void)lay_out(r, r->base, &stacks, &bad);
	r->spin = cpus > 1 ? SPIN : 0;
	r->clock_ns = run_cpu_cost();
	r->board->own_first = (uintptr_t)r->base;
	r->board->own_size = r->size;
	for (i = 0; i < r->lanes && !bad; i++) {
		worker_set(r, i);
		bad = !run_wait_open(&r->workers[i]);
	}
	return !bad && threads_start(r, stacks);
}

void
run_close(struct run *r)
{
	unsigned i, j;

	if (r->base == NULL)
		return;
	r->stop = 1;
	for (i = 1; i < r->lanes; i++)
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
	for (i = 0; i < r->lanes; i++)
		run_wait_close(&r->workers[i]);
	if (r->barrier_made)
		pthread_barrier_destroy(&r->barrier);
	munmap(r->base, r->size);
}
