/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the compiler share: blocks, threads, pools, words. */
#ifndef TELREPLAY_COMPILER_INSIDE_H
#define TELREPLAY_COMPILER_INSIDE_H

#include "base/array.h"
#include "model/lifetimes.h"
#include "model/live.h"
#include "telreplay/compile/compiler.h"
#include "telreplay/compile/program.h"

#define NO_SLOT UINT32_MAX
/* Out of line: what nearly all operations do needs no frame for it then. */
#define RARE __attribute__((noinline, cold))

/* What the program has of a live block, by its place in .live. */
struct block {
	uint64_t start; /* its address when it was allocated */
	uint64_t full;  /* its size then; more than it has: parts were freed */
	uint64_t birth; /* the operation that allocated it, from 1 */
	uint32_t where; /* the word that made it: number, flags */
	uint32_t chunk; /* of that word: its number, and the thread */
	uint32_t pool;  /* its number */
};
#define WHERE_MASK 0xfffffffu
#define BLOCK_UNSIZED 0x40000000u /* aligned or resized; see free_word() */
#define CHUNK_SHIFT 10            /* low bits of .chunk: the thread */
#define THREAD_MASK 0x3ffu
#define CHUNKS_MAX (UINT32_C(1) << (32 - CHUNK_SHIFT))

/* The bits of a thread above these are the number of its process. */
#define TAG_SHIFT 48
#define TAGS (1u << (64 - TAG_SHIFT))

#define SNAPSHOTS 8
/* A thread's vector clock, saved after a wait. */
struct snapshot {
	uint32_t position; /* the thread's word after the wait */
	uint32_t *vector;
};

/* Room for an operation and the words that go before it. */
#define THREAD_SLACK 8
#define ORIGIN_SLACK 32

struct thread {
	uint64_t *words;
	uint32_t count, room;
	uint32_t spare;      /* operations that there is room for */
	uint32_t last;       /* the first word of the last operation */
	uint32_t operations; /* in this chunk */
	unsigned char *origins;
	size_t origins_used, origins_room;
	uint64_t event; /* of the last operation */
	uint64_t log;
	uint64_t *times;               /* pairs */
	size_t times_used, times_room; /* numbers */
	uint32_t time_due; /* the word before which is one at last */
	uint64_t time_clock;
	uint32_t *free; /* slots that this thread freed */
	size_t free_used, free_room;
	uint32_t fresh, fresh_end;     /* slots never used */
	uint32_t use;                  /* pool or buffer number */
	int use_buffer;                /* .use is a buffer */
	int started;                   /* a word starts it */
	int ended;                     /* a word ended it once: */
	uint32_t end_where, end_chunk; /* this one, as of a block */
	struct tel__lifetimes_thread clock;
	unsigned hosted; /* threads of the log that it runs, and not ended */
	uint32_t window; /* the last one it entered in this chunk, or 0 */
	/* Vector clock: how many words of each thread are done at least. */
	uint32_t *vector;
	struct snapshot snapshots[SNAPSHOTS];
	unsigned snapshot_count; /* of all that were taken */
};

/* A pool, or a buffer. */
struct pool {
	uint64_t address;      /* 0: it is destroyed */
	uint32_t where, chunk; /* the word that creates it, as of a block */
	uint32_t buffer;       /* of a pool: a buffer, or NO_SLOT */
	uint32_t pool;         /* of a buffer */
	uint32_t next;         /* of a buffer: another one of the pool */
	int reserved;          /* of a buffer: it has reserved */
	uint64_t at;           /* the reserved address */
	int used;              /* used, but not created so far */
	char *text;            /* of a pool: what describes it, or NULL */
	struct anomaly_event first_use; /* of one that is only used */
};
/* What describes addresses that are no pool so far: of pools, or of arenas. */
struct descriptions {
	char **texts; /* NULL for one that a pool has taken */
	size_t count, room;
	struct tel__table by_address;
};
struct pools {
	struct pool *all; /* number 0 is for operations that name none */
	size_t count, room;
	struct tel__table by_address;
};

/*
 * Reorder buffer: operations that do not fit, and may have been recorded out of
 * order by a racing thread.
 */
struct reorder_entry {
	uint64_t key;                 /* of the address; settled if not .open */
	uint64_t when;                /* the operation, from 1 */
	struct anomaly_event anomaly; /* what it is unless it was a race */
	struct tel__live_block older; /* for REORDER_DOUBLE */
	struct block block;           /* of it */
	uint32_t thread;              /* that freed, or that allocated anew */
	int what;
	int open;
};
enum {
	REORDER_FREE,       /* a free of an unknown address */
	REORDER_EARLY_FREE, /* ... which another thread allocated since */
	REORDER_DOUBLE      /* an allocation of a live address */
};
#define REORDER_ENTRIES 1024
#define REORDER_OPERATIONS 4096 /* the longest race */

struct compiler {
	tel_output *out;
	struct compiler_settings set;

	struct facts facts;
	uint64_t event; /* of the operation being added */
	uint64_t thread_id;
	uint64_t clock;
	struct thread *thread; /* of the program, that runs it */
	uint32_t resized;      /* the slot of the block it resizes; NO_SLOT */
	struct block resized_block; /* which this was */
	uint32_t resized_pool;  /* of a block that is freed and made anew; 0 */
	tel_alloc_call call;    /* of a free */
	uint64_t now;           /* operations so far */
	uint64_t samples;       /* of them: each stands for others, too */
	struct tel__table logs; /* to a number from 0 on */
	uint64_t operands;      /* that were read one after the other */
	uint64_t log_key;       /* of the last operation's log */
	uint64_t log_tag;       /* see tel__live_tag(); 0 for the first log */
	int entered;            /* this is of the last operation of the log: */
	uint64_t process;       /* the process, */
	uint64_t tag;           /* xored to its threads, pools and buffers, */
	uint64_t key_tag;       /* and to its addresses, as keys of live */
	struct tel__table processes; /* to a number below TAGS */
	/* by that number: the key of the process; the low bit: it runs */
	uint64_t process_of[TAGS];
	uint32_t next_process;
	struct tel__table images; /* by process of the system, to ours */
	int leaving; /* a process has ended, but may execute a program: */
	uint64_t leaving_thread;
	uint64_t log;
	uint64_t live_blocks, live_bytes;
	/* blocks by classes of sizes; see struct facts */
	uint64_t class_blocks[SIZE_CLASSES];
	uint64_t point_peak; /* most bytes since the last point of the curve */
	uint64_t point_left, point_step; /* operations to the next one */

	struct tel_clock *log_clock; /* of the log of the operation; or NULL */
	struct tel__lifetimes *lifetimes;
	struct tel__lifetimes_clock resolution;

	struct tel__live live; /* .owner of a block is its slot */
	struct block *blocks;
	size_t blocks_room;
	uint32_t slots;
	uint32_t *shared_free; /* slots that any thread may take */
	size_t shared_used, shared_room;

	struct tel__table thread_by_id; /* numbers of threads */
	uint64_t thread_looks;          /* at them, for those of processes */
	uint64_t last_thread_id;
	struct thread *last_thread;
	struct thread *total_thread; /* of the last operation in the program */
	struct thread *threads;
	unsigned thread_count;
	unsigned idle_count; /* of .threads: they run no thread of the log */
	size_t used;         /* words in this chunk */
	uint64_t time_ticks; /* the time is recorded so often */
	uint64_t base;       /* where in the output the program starts */
	uint64_t *index;     /* offset and size of each chunk */
	size_t index_used, index_room;

	int ordered; /* each operation needs emit_order() */
	/* Run-ahead is bounded by windows; see emit_window(). */
	int windows_on;          /* there are several threads */
	uint32_t window;         /* the current one, from 1 in each chunk */
	unsigned window_threads; /* that entered it */
	uint64_t window_moved;   /* bytes or operations so far */
	uint64_t window_max;     /* so many end it */

	struct pools pools, buffers;
	struct descriptions descriptions;

	struct reorder_entry *reorder; /* a ring of REORDER_ENTRIES */
	struct tel__table reorder_by_key;
	unsigned reorder_first, reorder_used;

	unsigned anomalies_kept_of[ANOMALIES];
	int idle; /* not started, or failed, or ended */
	int ended, named;
	tel_status failed;
	char error[192];
};

static inline uint64_t
word_make(enum word kind, uint32_t slot, uint32_t size)
{
	return (uint64_t)kind | (uint64_t)size << WORD_SIZE_SHIFT |
	    (uint64_t)slot << WORD_SLOT_SHIFT;
}

/* block.chunk for words of a thread in this chunk. */
static inline uint32_t
thread_place(const struct compiler *c, const struct thread *t)
{
	return (uint32_t)c->facts.chunks << CHUNK_SHIFT |
	    (uint32_t)(t - c->threads);
}

/* Sets the error, unless there is one.  Returns its status. */
tel_status compiler_fail(struct compiler *c, tel_status st, const char *format,
    ...) __attribute__((format(printf, 3, 4)));
/* The same for what fails most. */
tel_status compiler_no_memory(struct compiler *c);

/* The current operation, as an anomaly of the given kind. */
struct anomaly_event anomaly_here(const struct compiler *c,
    enum anomaly anomaly, uint64_t address);
/* Counts an anomaly, and keeps it if it is one of the first. */
tel_status anomaly_add(struct compiler *c, const struct anomaly_event *one);
/* The same for the operation being added. */
tel_status anomaly_count(struct compiler *c, enum anomaly anomaly,
    uint64_t address);

/* thread.c */
/*
 * The program's thread for one of the log, started when it is new; NULL when
 * out of memory.
 */
struct thread *thread_find(struct compiler *c, uint64_t id);
/* The log names a thread otherwise from here on.  1; 0: out of memory. */
int thread_rename(struct compiler *c, uint64_t id, uint64_t to);
/* Handles the end of a thread in the log: 0, or -1 when out of memory. */
int thread_end(struct compiler *c, uint64_t id);
/* Ends those of the same process. */
int threads_end(struct compiler *c, uint64_t id);
/* Thread number n, or thread 0 in place of one that does not run any more. */
struct thread *thread_running(struct compiler *c, uint32_t number);
void threads_close(struct compiler *c);
/* Makes room for an operation and the words that go before it: 0 or -1. */
RARE int thread_grow(struct thread *t);
/* Gets slots for a thread without any: 0, or -1 when out of memory. */
RARE int slots_fetch(struct compiler *c, struct thread *t);

/* A slot for an operation of a thread; NO_SLOT when out of memory. */
static inline uint32_t
slot_new(struct compiler *c, struct thread *t)
{
	if (t->free_used == 0 && t->fresh == t->fresh_end &&
	    slots_fetch(c, t) != 0)
		return NO_SLOT;
	return t->free_used > 0 ? t->free[--t->free_used] : t->fresh++;
}

static inline int
slot_free(struct thread *t, uint32_t slot)
{
	if (!TEL__RESERVE(t->free, t->free_room, t->free_used + 1))
		return -1;
	t->free[t->free_used++] = slot;
	return 0;
}

/* program_write.c */
void program_start(struct compiler *c);
tel_status chunk_end(struct compiler *c);
tel_status program_end(struct compiler *c);

/* block.c */
/* Takes a change of the live blocks: a tel__live_fn. */
tel_status block_change(void *arg, enum tel__live_what what,
    struct tel__live_block *b, const tel_alloc *op);
/* How a block is freed. */
enum block_end {
	BLOCK_FREED,
	BLOCK_FREED_WITH_POOL, /* its pool is being destroyed */
	BLOCK_REPLACED         /* its end was counted when it was replaced */
};
tel_status block_free(struct compiler *c, struct thread *t,
    const struct tel__live_block *live, struct block *b, enum block_end end);
/* Counts the end of a block that is no more live. */
void block_count_end(struct compiler *c, const struct tel__live_block *live,
    const struct block *b);

/* What the program has of a block that is in .live. */
static inline struct block *
block_of(const struct compiler *c, const struct tel__live_block *live)
{
	return &c->blocks[live - c->live.blocks];
}
/* Counts the blocks that are live at the end. */
void blocks_finish(struct compiler *c);

/* reorder.c */
/* A free of an unknown address, which is that anomaly if it is in order. */
tel_status reorder_free(struct compiler *c, struct thread *t,
    enum anomaly which, uint64_t address);
/* An allocation at the address of a block, which it replaces. */
tel_status reorder_double(struct compiler *c, struct thread *t,
    const struct tel__live_block *b);
/* An allocation at an address, which may have an entry. */
tel_status reorder_allocated(struct compiler *c, struct thread *t,
    uint64_t address);
/*
 * The block at an address is about to be freed, or to be resized.  *done: the
 * free was that of an older block, and has been emitted.
 */
tel_status reorder_freed(struct compiler *c, struct thread *t, uint64_t address,
    int freed, int *done);
/* Settles the entries that are too old, or all. */
tel_status reorder_expire(struct compiler *c, int all);

/* pools.c */
/* 1, or 0 when out of memory. */
int pools_open(struct compiler *c);
void pools_close(struct compiler *c);
/* Counts pools and buffers that were used and never created. */
tel_status pools_finish(struct compiler *c);
/* Creates or destroys a pool or a buffer. */
tel_status pool_operation(struct compiler *c, struct thread *t,
    const tel_alloc *op);
/* The number of a buffer, created when it is unknown; NO_SLOT: failed. */
uint32_t buffer_find(struct compiler *c, struct thread *t, const tel_alloc *op);
/* Has the thread use the pool of an allocation: its number, or NO_SLOT. */
uint32_t pool_use(struct compiler *c, struct thread *t, const tel_alloc *op);

#endif
