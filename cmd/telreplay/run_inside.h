/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a run share. */
#ifndef TELREPLAY_RUN_INSIDE_H
#define TELREPLAY_RUN_INSIDE_H

#include <pthread.h>
#include <stddef.h>
#include "run.h"

#define RUN_PAGE 4096 /* apart, when a byte of each page is touched */
#define UNLIKELY(x) __builtin_expect((x), 0)

/* What is kept of a block where somebody asks for it. */
struct run_extra {
	uint64_t size;
	void *pool; /* of a pool allocator */
};

/* What all threads of a run have in common. */
struct run {
	tel_program *program;
	const tel_facts *facts;
	const struct allocator *a;
	const struct run_options *options;
	struct run_board *board;
	struct worker *workers;
	unsigned lanes;
	enum run_touch touch;
	int verify;
	unsigned sample;
	int spin;          /* times to look before it sleeps */
	uint64_t clock_ns; /* what a call of run_cpu() takes */

	void **slots;            /* blocks */
	struct run_extra *extra; /* by slot; NULL when nobody asks */
	void **pools;            /* of a pool allocator, from number 0 on */
	void **buffers;
	uint64_t *room; /* the words of a chunk */
	tel_lane *lane; /* of the chunk */
	uint64_t chunk;

	/* paced: nanoseconds of the clock when the log's time was 0 */
	double tick_ns;
	uint64_t pace_start;

	unsigned char *base; /* a mapping that has all of it */
	size_t size;
	pthread_barrier_t barrier;
	int barrier_made;
	int stop; /* no more chunks */
	const char *wrong;
};

/* A thread. */
struct worker {
	_Alignas(128) struct run *run;
	struct run_lane *board;
	const struct allocator *a;
	void **slots;
	struct run_extra *extra;
	const uint64_t *first; /* its words */
	const uint64_t *end;
	const uint64_t *next_sample;
	const uint64_t *times, *times_end; /* the next time to be kept */
	uint32_t
	    *seen;    /* words of each lane that were done, when last looked */
	void *pool;   /* of a pool allocator: the current one */
	void *buffer; /* and buffer, or NULL */
	uint64_t random;
	unsigned number;
	int started;
	pthread_t thread;
	int opened; /* the next two are there */
	pthread_mutex_t lock;
	pthread_cond_t moved;        /* for those that wait for this thread */
	uint64_t began_ns, ended_ns; /* of the chunk */
	uint64_t cpu_ns;
	uint64_t operations;         /* of the chunk */
	struct run_latency *latency; /* RUN_KINDS of them, or NULL */
};

/* An operation, taken apart. */
struct step {
	const uint64_t *p;
	enum run_kind kind;
	uint32_t slot;
	uint64_t size;
	uint64_t alignment;
};

/* run_room.c: all that a run needs, and the threads. */
int run_open(struct run *r);
void run_close(struct run *r);

/* run_lane.c: runs a chunk, as the calling thread. */
void run_chunk(struct worker *w);

/*
 * run_loop.c: runs the operations that begin between two words.  Returns
 * where the next one begins: the last may end behind the second.
 */
const uint64_t *run_words(struct worker *w, const uint64_t *p,
    const uint64_t *stop);

/* run_wait.c */
int run_wait_open(struct worker *w);
void run_wait_close(struct worker *w);
/* Before a chunk, when nobody waits. */
void run_wait_reset(struct worker *w);
/* Waits for what a word says. */
void run_wait(struct worker *w, uint64_t word);
/* Wakes those that sleep until this thread is where it is. */
void run_wake(struct worker *w);

/* Tells the others that the words before this one are done. */
static inline void
run_publish(struct worker *w, const uint64_t *p)
{
	uint64_t done = (uint64_t)(p - w->first);

	atomic_store_explicit(&w->board->published, done, memory_order_release);
	if (UNLIKELY(done >=
	        atomic_load_explicit(&w->board->wake_at, memory_order_relaxed)))
		run_wake(w);
}

/* run_step.c */
/* Runs a rare operation, or one with all that verifying asks for. */
void run_careful(struct worker *w, const uint64_t *p);
/* Runs one and notes how long it took. */
void run_timed(struct worker *w, const uint64_t *p);
/* Frees what is live, and the pools. */
void run_free_all(struct run *r);
/* Notes that something is wrong with the block in a slot. */
void run_error(struct worker *w, enum run_wrong what, const uint64_t *p,
    uint32_t slot, uint64_t offset, const void *block);

/* run_pools.c */
void run_pool_use(struct worker *w, uint64_t word);
/* Pools and buffers come and go, or blocks of them go with them. */
void run_pool_step(struct worker *w, const uint64_t *p);
/* What an operation is of a pool. */
void *run_pool_call(struct worker *w, const struct step *s, void *old);
/* Creates pool number 0.  Returns 1, or 0. */
int run_first_pool(struct run *r);
/* Destroys all that are left. */
void run_last_pools(struct run *r);

/* run_pattern.c */
/* Fills a block from one offset to another. */
void run_fill(unsigned char *block, uint32_t slot, uint64_t from, uint64_t to);
/* The offset of the first byte in that range that is not so, or to. */
uint64_t run_compare(const unsigned char *block, uint32_t slot, uint64_t from,
    uint64_t to);
/* The first byte that is not zero, or size. */
uint64_t run_zeros(const unsigned char *block, uint64_t size);

/* Lets a processor rest in a loop that waits. */
static inline void
run_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* run_time.c */
uint64_t run_now(void);      /* nanoseconds, that only go up */
uint64_t run_cpu(void);      /* nanoseconds of CPU time of this thread */
uint64_t run_cpu_cost(void); /* what calling that takes */
uint64_t run_ticks(void);
/* The ticks between two calls of run_ticks(). */
uint64_t run_empty(void);
void run_note(struct run_latency *l, uint64_t ticks);
void run_latency_add(struct run_latency *to, const struct run_latency *from);

#endif
