/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a run share. */
#ifndef TELREPLAY_RUN_INSIDE_H
#define TELREPLAY_RUN_INSIDE_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include "telreplay/run/run.h"

#define RUN_PAGE 4096       /* bytes between those that --touch page writes */
#define RUN_STACK (1 << 20) /* of a thread; sanitizers need much of it */
#define RUN_SIGNAL_STACK (32 << 10)
#define UNLIKELY(x) __builtin_expect((x), 0)

/* What verifying and pool allocators need to know of a block. */
struct run_extra {
	size_t size;
	void *pool;  /* of a pool allocator */
	size_t gone; /* bytes of parts that were freed, */
	size_t from; /* of which so many at the start */
};

/* What the threads of a run share. */
struct run {
	struct program *program;
	const struct facts *facts;
	const struct alloc_functions *a;
	const struct run_options *options;
	struct run_shared_stats *shared_stats;
	struct worker *workers;
	unsigned threads;
	int check;         /* blocks in slots of which one in 64 is verified */
	int slow;          /* each operation needs run_careful() */
	int spin;          /* looks before a waiting thread sleeps */
	uint64_t clock_ns; /* what a call of run_cpu() takes */

	/* run_residency.c: a thread enters no operation while .looking is set */
	struct residency *residency; /* what a look needs, or NULL */
	_Atomic int looking, looked;

	void **slots;            /* blocks */
	struct run_extra *extra; /* by slot; NULL when not needed */
	void **pools;            /* of a pool allocator, from number 0 on */
	unsigned char *internal; /* by pool: left out, see tel_pool.h */
	void **buffers;
	uint64_t *room;                /* the words of the chunk */
	struct program_thread *thread; /* of the chunk */
	uint64_t chunk;

	/* paced: when, by our clock, the log's clock was at its first event */
	double tick_ns;
	uint64_t pace_start;

	/* Windows of the chunk: threads still to leave each; all before .low. */
	_Atomic uint32_t *inside;
	_Atomic uint64_t low;
	_Atomic uint64_t low_wanted; /* a thread sleeps until .low is this */
	pthread_mutex_t low_lock;
	pthread_cond_t low_moved;

	unsigned char *base; /* the mapping that has all of it */
	size_t size;
	/* What lock protects: chunks that were loaded, threads with words. */
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	pthread_cond_t finished;
	uint64_t generation;
	unsigned left;
	stack_t signal_stack; /* of the calling thread, before the run */
	int stop;             /* no more chunks */
	int opened;
	const char *wrong;
};

/* A thread. */
struct worker {
	_Alignas(128) struct run *run;
	struct run_thread *shared_stats;
	const struct alloc_functions *a;
	void **slots;
	struct run_extra *extra;
	const uint64_t *first; /* its words of the chunk */
	const uint64_t *last;  /* where these end */
	const uint64_t *next;  /* where the thread goes on, ... */
	const uint64_t *end;   /* ... up to here, where it may have to end */
	const uint64_t *next_sample;
	const uint64_t *times, *times_end; /* the next time to be kept */
	uint32_t *seen; /* words that each thread had done when last seen */
	void *pool;     /* of a pool allocator: the current one */
	void *buffer;   /* and buffer, or NULL */
	int left_out;   /* the pool is internal, and .buffer not NULL */
	uint64_t random;
	uint64_t think; /* steps of computing before an operation */
	unsigned number;
	uint32_t window;    /* that it is in, or 0 */
	int counted;        /* it has words left, in run.left */
	_Atomic int inside; /* an operation; for run_residency.c */
	unsigned char *stack;
	unsigned char *signal_stack;
	pthread_t thread;
	int joinable; /* .thread was started, and not joined */
	int opened;   /* the next two are there */
	pthread_mutex_t lock;
	pthread_cond_t cond;         /* for those that wait for this thread */
	uint64_t began_ns, ended_ns; /* of the chunk */
	uint64_t cpu_ns;
	uint64_t operations;         /* of the chunk */
	struct run_latency *latency; /* RUN_KINDS of them, or NULL */
	struct run_size_time *size_time;
};

/* An operation, taken apart.  Sizes fit: see replay_count() in run.c. */
struct step {
	const uint64_t *p;
	const struct operation *op;
	uint32_t slot;
	size_t size;
};

/* run_thread.c */
/* What threads share, and give each other: 1, or 0 when it cannot be had. */
int run_threads_open(struct run *r);
void run_threads_close(struct run *r);
/* Lets the threads that run have the chunk that was loaded, and runs it. */
void run_threads_chunk(struct run *r);
/* Ends all threads but the calling one, which have no words left. */
void run_threads_end(struct run *r);
/* A word that controls the thread itself, or another one. */
void run_control(struct worker *w, uint64_t word);
void run_wait_close(struct worker *w);
/* Before a chunk, when no thread waits. */
void run_wait_reset(struct run *r);
/* Waits for the position that a word names. */
void run_wait(struct worker *w, uint64_t word);
/* Wakes the threads that sleep until this one is where it is. */
void run_wake(struct worker *w);

/* A condition by the monotonic clock, and its lock: 1, or 0. */
int run_cond_open(pthread_cond_t *cond, pthread_mutex_t *lock);
/* Waits until a window may be entered, and leaves the one before. */
void run_window_enter(struct worker *w, uint32_t window);
void run_window_leave(struct worker *w);
/* run_pace.c: runs the words up to the end of the chunk, or of the thread. */
void run_paced(struct worker *w);

static inline void
run_set_state(struct worker *w, enum run_state state)
{
	atomic_store_explicit(&w->shared_stats->state, state,
	    memory_order_relaxed);
}

/* Publishes that the words before this one are done. */
static inline void
run_publish(struct worker *w, const uint64_t *p)
{
	uint64_t done = (uint64_t)(p - w->first);

	atomic_store_explicit(&w->shared_stats->published, done,
	    memory_order_release);
	if (UNLIKELY(done >= atomic_load_explicit(&w->shared_stats->wake_at,
	                         memory_order_relaxed)))
		run_wake(w);
}

/*
 * run_loop.c: runs the operations that start between two words.  Returns
 * where the next one starts: the operands of the last one may lie behind the
 * second word.
 */
const uint64_t *run_words(struct worker *w, const uint64_t *p,
    const uint64_t *stop);

/* run_step.c */
/* Runs a rarer operation, or one that is verified. */
void run_careful(struct worker *w, const uint64_t *p);
/* Writes to a new block, as --touch requests. */
void run_touch(const struct worker *w, unsigned char *block, size_t size);
/* Runs one and records its latency. */
void run_timed(struct worker *w, const uint64_t *p);
/* Frees the live blocks, and the pools. */
void run_free_all(struct run *r);
/* Records an error of a block, or with none. */
void run_error(struct worker *w, enum run_wrong what, const uint64_t *p,
    uint64_t offset, const void *block);

/* run_residency.c */
/* The bytes of the run's own memory that a look needs. */
size_t run_residency_size(const struct facts *f);
void run_residency_open(struct run *r, void *memory);
void run_residency_close(struct run *r);
/* Before and after an operation, while .residency is set and not .looked. */
void run_residency_enter(struct worker *w);
void run_residency_leave(struct worker *w);
/* After the last event. */
void run_residency_end(struct run *r);

/* run_pools.c */
/* The thread uses another pool or buffer. */
void run_pool_use(struct worker *w, uint64_t word);
/* Creates or destroys a pool or a buffer. */
void run_pool_step(struct worker *w, const uint64_t *p);
/* An operation of a pool.  Returns its block, or NULL. */
void *run_pool_call(struct worker *w, const struct step *s, void *old);
/* Nonzero for an allocator that has more than one pool. */
int run_has_pools(const tel_pool_table *t);
/* Creates pool number 0.  Returns 1, or 0. */
int run_first_pool(struct run *r);
/* Destroys the pools and buffers that are left. */
void run_last_pools(struct run *r);

/* run_clock.c */
/* Computes for so many steps, with nothing but registers. */
void run_think(struct worker *w);
uint64_t run_now(void);      /* monotonic, in nanoseconds */
uint64_t run_cpu(void);      /* CPU time of this thread, in nanoseconds */
uint64_t run_cpu_cost(void); /* what calling that takes */
uint64_t run_ticks(void);    /* for latency */
/* The ticks between two calls of run_ticks(); noise: by how much they vary. */
uint64_t run_empty(uint64_t *noise);
/* Records a latency; by_size: RUN_COARSE buckets, for the same. */
void run_note(struct run_latency *l, uint32_t *by_size, uint64_t ticks);

/* Waiting is not work: its time is subtracted, and that of the clock calls. */
static inline void
run_account_wait(struct worker *w, uint64_t began)
{
	w->shared_stats->times.wait_ns += run_cpu() - began + w->run->clock_ns;
}

#endif
