/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program: a log of allocations, compiled so that it can be run fast.  For
 * each thread it has a row of 64-bit words, in which blocks have numbers,
 * called slots, instead of addresses.
 *
 *	program_open_fd(fd, &p);
 *	for (i = 0; i < program_facts(p)->chunks; i++) {
 *		program_load(p, i, room, threads);
 *		... run the words, each row on a thread ...
 *	}
 *	program_free(p);
 *
 * A program is cut into chunks: all threads end a chunk before the next one
 * starts.  A run starts with thread 0 alone, which never ends; the others are
 * started by words of threads that run, and end with such a word or with the
 * last word they have.
 */
#ifndef TELREPLAY_PROGRAM_H
#define TELREPLAY_PROGRAM_H

#include "telreplay/compile/facts.h"

/*
 * The kinds of words, the two most frequent ones first, so that one test finds
 * them.  The low three bits of a word are its kind; the next
 * one, WORD_PUBLISH, is set in an operation that another thread waits for;
 * then come 28 bits of a size and 32 bits of a slot.
 */
enum word {
	WORD_MALLOC = 0,  /* allocate size bytes, and keep the block in slot */
	WORD_FREE = 1,    /* free slot, a block of size bytes */
	WORD_REALLOC = 2, /* make slot a block of size bytes */
	WORD_CALLOC = 3,  /* allocate size bytes, all zero */
	/*
	 * Wait until thread number slot has done the operation whose first
	 * word is number size, which has WORD_PUBLISH set.
	 */
	WORD_WAIT = 4,
	/*
	 * Allocations of this thread are from here on those of pool number
	 * slot, when size is 0, or of buffer number slot, when size is 1;
	 * frees are of that pool, or of the buffer's.  A chunk starts with
	 * pool 0, the one for operations that name none.
	 */
	WORD_USE = 5,
	/*
	 * The operation, an enum extended, in place of the size.  As many
	 * operands, of a word each, as its low three bits count, follow; a
	 * publishing bit counts when the operation is done.
	 */
	WORD_EXTENDED = 6,
	/*
	 * The control, an enum control, in place of the size; no operation of
	 * the log.
	 */
	WORD_CONTROL = 7
};

#define WORD_KIND 0x7u           /* the bits that are the kind */
#define WORD_PUBLISH 0x8u        /* another thread waits for it */
#define WORD_SIZE_SHIFT 4        /* where the size starts */
#define WORD_SLOT_SHIFT 32       /* where the slot starts */
#define WORD_SIZE_MAX 0xfffffffu /* the largest size in a word */
#define WORD_SIZE(w) ((uint32_t)(w) >> WORD_SIZE_SHIFT)
#define WORD_SLOT(w) ((uint32_t)((w) >> WORD_SLOT_SHIFT))

/* The rarer operations; the low three bits: operands that follow. */
enum extended {
	/* As the words of these names, with the size in the 1st operand. */
	EXTENDED_MALLOC = 0x09,
	EXTENDED_FREE = 0x11,
	EXTENDED_REALLOC = 0x19,
	EXTENDED_CALLOC = 0x21,
	/* Allocate, size (1st) aligned to a power of 2 (2nd), to slot. */
	EXTENDED_ALIGNED = 0x2a,
	/*
	 * Free a part of slot: offset (1st) from the block's first byte, size
	 * (2nd).  The 3rd is 0, or for the last part the full size of the
	 * block, which then is gone.
	 */
	EXTENDED_FREE_PART = 0x33,
	/*
	 * The block in slot, of size (1st) bytes, goes with its pool, which
	 * is about to be destroyed: free it where there are no pools.
	 */
	EXTENDED_FREE_WITH_POOL = 0x39,
	/* Create pool number slot, known to the log by its address (1st). */
	EXTENDED_POOL_CREATE = 0x41,
	EXTENDED_POOL_DESTROY = 0x48, /* destroy pool number slot */
	/* Create buffer number slot in pool number (1st). */
	EXTENDED_BUFFER_CREATE = 0x51,
	EXTENDED_BUFFER_DESTROY = 0x58, /* destroy buffer number slot */
	/* As malloc and free, by the operators of C++, of size (1st) bytes. */
	EXTENDED_NEW = 0x61,
	EXTENDED_DELETE = 0x69,
	/* A free by the function that is given the size, too. */
	EXTENDED_DELETE_SIZED = 0x71,
	EXTENDED_FREE_SIZED = 0x79
};

/* What an operation does, or a word between operations. */
enum effect {
	EFFECT_ALLOCATE,
	EFFECT_FREE,
	EFFECT_RESIZE,
	EFFECT_FREE_PART,
	EFFECT_FREE_WITH_POOL,
	EFFECT_CREATE_POOL,
	EFFECT_DESTROY_POOL,
	EFFECT_CREATE_BUFFER,
	EFFECT_DESTROY_BUFFER,
	EFFECT_NONE, /* no such word; those below are no operations either */
	EFFECT_WAIT,
	EFFECT_USE,
	EFFECT_CONTROL
};

/* Kinds of operations, as their latency is sampled. */
enum run_kind {
	RUN_MALLOC,
	RUN_CALLOC,
	RUN_ALIGNED,
	RUN_REALLOC,
	RUN_FREE,
	RUN_NEW,
	RUN_DELETE, /* by delete, or by a free that is given the size */
	RUN_KINDS   /* none of them */
};

/* An operation: what it does, as what it is timed. */
struct operation {
	enum effect effect;
	enum run_kind kind;
	enum extended word; /* of a WORD_EXTENDED */
};
/* Those of a word alone by enum word, then the others by enum extended. */
#define OPERATIONS_EXTENDED 8
#define OPERATIONS (OPERATIONS_EXTENDED + 16)
extern const struct operation operation_rows[OPERATIONS];

/* What controls the threads themselves. */
enum control {
	/*
	 * The thread enters window number slot, and leaves the one it was in.
	 * It waits until all threads have left all windows up to slot - 2.
	 */
	CONTROL_WINDOW,
	CONTROL_START, /* start thread number slot, which is not running */
	CONTROL_END    /* end this thread; later words need another start */
};

/* How many operands follow a word. */
static inline unsigned
word_operands(uint64_t w)
{
	return (w & WORD_KIND) == WORD_EXTENDED ? WORD_SIZE(w) & 7 : 0;
}

/* The row of a word; that of no operation for one that a program never has. */
static inline const struct operation *
word_operation(uint64_t w)
{
	uint32_t i = (uint32_t)(w & WORD_KIND);

	if (i == WORD_EXTENDED && WORD_SIZE(w) < 16 << 3)
		i = OPERATIONS_EXTENDED + (WORD_SIZE(w) >> 3);
	return &operation_rows[i];
}

/* Nonzero for operations of the log. */
static inline int
word_is_operation(uint64_t w)
{
	return word_operation(w)->effect < EFFECT_NONE;
}

/* The size of an operation, which is in the word or behind it. */
static inline uint64_t
word_size(const uint64_t *p)
{
	return (*p & WORD_KIND) == WORD_EXTENDED ? p[1] : WORD_SIZE(*p);
}

/* Nonzero for the entry to a window. */
static inline int
word_is_window(uint64_t w)
{
	return (w & WORD_KIND) == WORD_CONTROL &&
	    WORD_SIZE(w) == CONTROL_WINDOW;
}

/* Nonzero for the end of a thread. */
static inline int
word_is_end(uint64_t w)
{
	return (w & WORD_KIND) == WORD_CONTROL && WORD_SIZE(w) == CONTROL_END;
}

/* The largest block. */
#define BLOCK_MAX (UINT64_C(1) << 47)
/* The most threads. */
#define PROGRAM_THREADS FACTS_THREADS

/* A thread's part of a chunk. */
struct program_thread {
	const uint64_t *words; /* the operations */
	/*
	 * Times, in pairs: the number of a word, and the clock at which its
	 * operation was recorded.  Numbers rise, and are those of first words
	 * of operations or the count of all words.
	 */
	const uint64_t *times;
	uint32_t word_count;
	uint32_t time_count; /* pairs */
};

struct program;

/* Nonzero when the size bytes at data, 8 or more, start a program. */
int program_probe(const void *data, size_t size);
/*
 * Opens a program.
 * fd: a file that can be read at any offset; it stays the caller's, and must
 *	stay open and unchanged until program_free().
 * Returns TEL_OK; TEL_EFORMAT, not a program; TEL_EVERSION, one of another
 * version; TEL_EDAMAGED; TEL_EIO with errno set; TEL_ENOMEM.
 */
TEL_MUST_USE tel_status program_open_fd(int fd, struct program **out);
/* The same for size bytes at data, which must stay as they are. */
TEL_MUST_USE tel_status program_open_memory(const void *data, size_t size,
    struct program **out);
/* Closes and frees a program. */
void program_free(struct program *p);
/* What the program's trace holds; lives as the program. */
const struct facts *program_facts(const struct program *p);
/*
 * The log's description of a pool: words, the types of the events that describe
 * it and their fields, as "PoolInitMFS extendBy=4096 unitSize=48"; "" for
 * nothing.
 * number: as words have it.
 */
const char *program_pool(const struct program *p, uint64_t number);
/*
 * Loads a chunk, and checks it as far as the loop needs to stay inside of its
 * arrays: the numbers of slots, threads, pools and buffers are below their
 * counts, and the operands of each word are there.  Allocates nothing.
 * chunk: its number, below facts.chunks.
 * room: for facts.largest_chunk words.
 * threads: facts.threads elements, set to point into room.
 * Returns TEL_OK, TEL_EINVAL, TEL_EIO, TEL_EDAMAGED.
 */
TEL_MUST_USE tel_status program_load(struct program *p, uint64_t chunk,
    uint64_t *room, struct program_thread *threads);
/*
 * Simulates a run of the whole program: each block must be allocated before
 * it is used and be freed once, and the waits must not deadlock.  For
 * programs from an unknown source.
 * Returns TEL_OK, TEL_EDAMAGED, TEL_EIO, TEL_ENOMEM.
 */
TEL_MUST_USE tel_status program_check(struct program *p);
/* The offset of the part of the file at which program_check() stopped. */
uint64_t program_offset(const struct program *p);
/* Takes a word of a thread; its operands follow it. */
typedef void program_visit(void *arg, unsigned thread, const uint64_t *word);
/*
 * The same, with each word passed on as it is run: in the order of the log for
 * a program of ORDER_TOTAL or of one thread, else in one that the waits allow.
 */
TEL_MUST_USE tel_status program_walk(struct program *p, program_visit *visit,
    void *arg);
/*
 * Finds the event that an operation comes from.
 * position: the number of the operation's first word.
 * log: set to the name of the log, which lives as the program.
 * event: set to the number of the event.
 * Returns TEL_OK, TEL_EINVAL (no such operation), TEL_EIO, TEL_EDAMAGED,
 * TEL_ENOMEM.
 */
TEL_MUST_USE tel_status program_origin(struct program *p, uint64_t chunk,
    unsigned thread, uint32_t position, const char **log, uint64_t *event);

#endif
