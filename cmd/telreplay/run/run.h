/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run: a program against an allocator, timed.
 *
 * All results are written to a shared_stats, which a parent process can share:
 * it has the progress of each thread when the allocator took the process down.
 * The run's own memory is mapped, never taken from malloc.
 */
#ifndef TELREPLAY_RUN_H
#define TELREPLAY_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include "base/bucket.h"
#include "tel_pool.h"
#include "telreplay/compile/program.h"

#define RUN_THREADS_MAX 1024

/* An allocator: malloc and its relatives, or pools. */
struct alloc_functions {
	/* pool is NULL: these five must be there */
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t count, size_t size);
	void *(*aligned)(size_t alignment, size_t size);
	void *(*realloc)(void *block, size_t size);
	void (*free)(void *block);
	/* operators of C++, and free_sized(); malloc and free without them */
	void *(*new)(size_t size);
	void (*delete)(void *block);
	void (*delete_sized)(void *block, size_t size);
	void (*free_sized)(void *block, size_t size);
	/* pool is not NULL: only its functions are called */
	const tel_pool_table *pool;
	void *state; /* set by the table's start */
	/* the usable bytes of a block of malloc, or NULL */
	size_t (*usable)(void *block);
	/* not NULL: taken around each call of .pool */
	pthread_mutex_t *lock;
};

/* What of a new block is written to. */
enum run_touch {
	RUN_TOUCH_NONE,
	RUN_TOUCH_FIRST,
	RUN_TOUCH_PAGE,
	RUN_TOUCH_ALL,
	RUN_TOUCH_SHARE /* the first part of it */
};

/*
 * Sizes of blocks: class i has sizes of 2^(i-1) to 2^i - 1 bytes, class 0 is
 * that of 0 bytes, and the last one has all larger sizes.
 */
#define RUN_SIZES 49
static inline size_t
run_size_class(uint64_t size)
{
	size_t i = tel__bit_length(size);

	return i < RUN_SIZES ? i : RUN_SIZES - 1;
}

/* Allocations of a class of sizes, see run_size_class(). */
struct run_slack {
	_Atomic uint64_t blocks;
	_Atomic uint64_t asked; /* bytes requested */
	_Atomic uint64_t given; /* usable bytes of them */
};

/* The phases of a run, passed to run_options.phase as each one starts. */
enum run_phase {
	RUN_READY,     /* its own memory is mapped and touched */
	RUN_CHUNK,     /* a chunk was loaded, the clock starts */
	RUN_PAUSE,     /* a chunk has ended, the clock is stopped */
	RUN_ALL_DONE,  /* the last event was run; what leaks is live */
	RUN_ALL_FREED, /* all is freed */
	RUN_NO_POOL,   /* a pool could not be created; should not return */
	RUN_NO_THREAD, /* errno: why one did not start; should not return */
	RUN_PEAK       /* run_options.residency was filled, threads wait */
};

/* Which pages hold the live blocks, by the requested size of these. */
struct run_residency {
	uint32_t known; /* the kernel reports which pages are resident */
	struct {
		uint64_t blocks;
		uint64_t asked; /* bytes requested */
		uint64_t pages; /* resident ones that hold a part of a block */
		/*
		 * Bytes of these pages.  One with blocks of several classes is
		 * divided between them, in proportion to their bytes in it.
		 */
		uint64_t resident;
	} size[RUN_SIZES];
};

struct run_options {
	enum run_touch touch;
	double touch_share; /* the part for RUN_TOUCH_SHARE, 0 to 1 */
	int touch_again;    /* the same before a block is freed or resized */
	double think_ns;    /* to compute for before each operation; or 0 */
	int think_log;     /* compute for as long as the log had between them */
	double think_rate; /* of run_think_rate(), for both */
	int verify;        /* fill each block with a pattern, and check it */
	int check;         /* the same of one in 64, where pages are touched */
	int count_live;    /* count live bytes, which takes its time */
	/*
	 * With .count_live: filled in when the live bytes come within 2 % of
	 * the peak in the log, or after the last event if they never do.  NULL:
	 * not wanted.
	 */
	struct run_residency *residency;
	unsigned sample; /* time one operation in so many; 0 none */
	double pace;     /* times as fast as recorded; 0: as fast as possible */
	unsigned repeat; /* how often it is run, 1 or more */
	void (*phase)(void *arg, enum run_phase phase); /* or NULL */
	void *arg;
};

/* What a thread is doing. */
enum run_state {
	RUN_ENDED, /* it has ended, or was not started */
	RUN_IDLE,  /* it has no words left in this chunk */
	RUN_WORKING,
	RUN_WAITING /* for another thread, or for its time */
};

/* What a thread took. */
struct run_times {
	uint64_t operations; /* without waits and the like */
	uint64_t cpu_ns;     /* CPU time */
	uint64_t wait_ns;    /* of it, in waits that blocked, and in waking */
	uint64_t blocked;    /* waits that blocked */
	uint64_t wall_ns;    /* from start to end */
	uint64_t late_ns;    /* paced: the furthest behind its time */
};

/* Of a thread; what it shares with other threads has cache lines of its own. */
struct run_thread {
	/* Address of the word being executed; see run_position(). */
	_Alignas(128) _Atomic(const uint64_t *) word;
	_Atomic(const uint64_t *) first; /* the first of its words */
	_Atomic uint64_t chunk;
	_Atomic uint32_t state; /* an enum run_state */
	/* The words that are done, as far as that was published. */
	_Alignas(128) _Atomic uint64_t published;
	_Atomic uint64_t wake_at; /* a thread sleeps until so many are done */
	/* Set when a chunk has ended, sums over all chunks and repeats. */
	struct run_times times;
};

/* Latency: buckets of 1/16 of a power of 2, in clock ticks. */
#define RUN_BUCKETS 640
/* buckets: see tel__bucket(); the last one has all that is more */
struct run_latency {
	uint64_t count;
	uint64_t max;
	uint64_t buckets[RUN_BUCKETS];
};

/*
 * Of the sampled operations on blocks of a size, see run_size_class(): buckets
 * of 1/4 of a power of 2, four of those of a latency.
 */
#define RUN_COARSE (RUN_BUCKETS / 4)
struct run_size_time {
	uint32_t allocated[RUN_COARSE], freed[RUN_COARSE];
};

enum run_wrong {
	RUN_NULL,      /* the allocator returned NULL */
	RUN_CONTENT,   /* a block does not hold what was written */
	RUN_NOT_ZERO,  /* calloc returned bytes that are not zero */
	RUN_ALIGNMENT, /* an address is not aligned as it must be */
	RUN_POOL,      /* a pool or buffer was not created, or not committed */
	RUN_OVERLAP,   /* another block overlaps it: .other */
	RUN_WRONGS
};
struct run_error {
	uint64_t chunk;
	uint32_t thread;
	uint32_t position; /* the operation that found it; ~0: at the end */
	_Atomic uint32_t count; /* of this kind, of which this is the first */
	/* in the block; or the size, or alignment, that it should have */
	uint64_t offset;
	uint64_t address;
	uint64_t other; /* the address of another block */
};

struct run_shared_stats {
	_Atomic uint32_t phase;         /* enum run_phase */
	_Atomic uint32_t repeats;       /* complete ones */
	uint64_t operations[RUN_KINDS]; /* of all repeats, by kind */
	_Atomic uint64_t left_out;      /* allocations in internal pools */
	_Atomic uint64_t failures;      /* allocations that returned NULL */
	_Atomic uint64_t errors;        /* what --verify found, and RUN_POOL */
	struct run_error wrong[RUN_WRONGS]; /* by enum run_wrong */
	uint64_t wall_ns;     /* of all chunks, clock stopped between */
	uint64_t cpu_ns;      /* of all threads in them */
	double tick_ns;       /* nanoseconds of a latency tick */
	uint64_t empty_ticks; /* of an empty sample; subtracted */
	uint64_t noise_ticks; /* by which such a sample varies, 1 or more */
	struct run_latency latency[RUN_KINDS];
	struct run_size_time size_time[RUN_SIZES];
	/* run_options.count_live: bytes that the trace asked for */
	_Atomic uint64_t live_bytes, live_peak;
	_Atomic uint64_t room;         /* usable bytes of the live blocks, */
	_Atomic uint64_t asked, given; /* and of all: requested and usable */
	struct run_slack slack[RUN_SIZES];
	_Atomic uint64_t words; /* done in chunks that have ended */
	uint32_t threads;
	struct run_thread thread[]; /* aligned to 128 */
};

/* The bytes that the statistics of so many threads take. */
size_t run_shared_stats_size(unsigned threads);

/*
 * Runs a program.
 * shared_stats: run_shared_stats_size() bytes of zeros, aligned to a page; in
 *	shared memory where a parent watches.
 * Returns NULL, or why the run itself failed: no memory for it, no threads,
 * or a program that cannot be read.  Valid until the next call.
 */
const char *run_program(struct program *p, const struct alloc_functions *a,
    const struct run_options *options, struct run_shared_stats *shared_stats);

/*
 * The latency in ticks under which a share of the samples lies, 0 to 1; 0 when
 * there are none.
 */
double run_quantile(const struct run_latency *latency, double share);

/* Adds the samples of one to another; those of RUN_SIZES classes. */
void run_size_time_add(struct run_size_time *to,
    const struct run_size_time *from);
/* The median of such buckets in ticks, and their sum; NaN: there are none. */
double run_coarse_median(const uint32_t *buckets, uint64_t *sum);
void run_latency_add(struct run_latency *to, const struct run_latency *from);

/*
 * What a thread is executing, or executed last: the number of a chunk, and in
 * it of the thread's word.  They may be those of another process.
 */
void run_position(const struct run_shared_stats *shared_stats, unsigned thread,
    uint64_t *chunk, uint32_t *position);

/* The time of a clock of the system, in nanoseconds. */
uint64_t run_clock(clockid_t id);

/* Steps of computing in a nanosecond, for run_options.think_rate. */
double run_think_rate(void);

/* The number of the calling thread in the program, or RUN_OUTSIDE. */
#define RUN_OUTSIDE 0xffffffffu
unsigned run_thread_here(void);

/*
 * The progress of a run, 0 to 1.  They may be those of another process.
 * words: set to the words that are done, as in facts.curve; may be NULL.
 */
double run_progress(const struct run_shared_stats *shared_stats,
    const struct facts *facts, uint64_t *words);
/* The words that are done, of all repeats. */
uint64_t run_words_done(const struct run_shared_stats *shared_stats,
    const struct facts *facts, unsigned repeat);

#endif
