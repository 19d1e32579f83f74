/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arena: memory that telrec shares with the library that it preloads.
 *
 * Each thread of each recorded process writes records into a ring of its own;
 * telrec, alone, reads all rings.  What a thread has written is in the arena
 * whatever becomes of its process.  A forked child inherits the mapping, and
 * takes other rings of it.
 *
 * A record is words of 8 bytes.  Bits 0 to 3 of the first are its operation;
 * what the others mean depends on it, see below.  All have the time of the
 * CLOCK record before them in their ring.
 *
 * Order.  The time of a record is that of the last reading of the clock in its
 * thread, and so never later than what it records.  Each page of memory has an
 * owner, the ring that last had a record about it.  A thread that finds
 * another owner becomes the owner and then reads the clock.  So of two records
 * about the same block in different rings, the later one has the later time: a
 * reading lies between them.  A free is recorded before the block is freed, an
 * allocation after it was made.  The readings that a thread makes for a new
 * owner or a new epoch are in order with its memory accesses; others, after so
 * many records, may be too early, but not before the last one.
 *
 * telrec may pass over a time only when no record of it can come any more.  It
 * changes the epoch, upon which each thread reads the clock for its next
 * record.  A thread whose ring is open then may have missed that: it still
 * writes a record of the time that its ring shows.
 */
#ifndef TELREC_ARENA_H
#define TELREC_ARENA_H

#include <stddef.h>
#include <stdint.h>

#define ARENA_MAGIC UINT64_C(0x32616e6572616c74) /* "tlarena2" */
#define ARENA_ENV "TELREC_ARENA"                 /* the path of the arena */
#define ARENA_FD "fd:" /* or this, and the number of a descriptor */

/* as many as there is room for in the address space */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define ARENA_RINGS 4096u
#define ARENA_RING_BYTES ((size_t)1 << 19)
#else
#define ARENA_RINGS 512u
#define ARENA_RING_BYTES ((size_t)1 << 18)
#endif
#define ARENA_IMAGES 65536u
#define ARENA_RING_WORDS ((uint32_t)(ARENA_RING_BYTES / 8))
/* A thread whose ring has more words than these wakes telrec. */
#define ARENA_RING_HURRY (ARENA_RING_WORDS / 8 * 7)

/* What a record is about. */
enum arena_op {
	ARENA_CLOCK = 1, /* the other 60 bits: the clock */
	/*
	 * The address in bits 16 to 63.  Bits 4 to 15 are the size of malloc,
	 * and 0 for free.  Bit 0 tells these two apart.
	 */
	ARENA_MALLOC = 2,
	ARENA_FREE = 3,
	ARENA_MALLOC_LONG, /* as malloc, but the size is the next word */
	/* the address, as above; bits 4 to 15: 0xFFF, or the size */
	ARENA_VALLOC,
	ARENA_PVALLOC,
	/*
	 * The address, as above, and two words; if bits 4 to 15 are not 0,
	 * both are the halves of one word, the first one in the lower half.
	 */
	ARENA_CALLOC,         /* count, size */
	ARENA_REALLOC,        /* old, size; bits 4 to 15 as for valloc */
	ARENA_REALLOCARRAY,   /* old, count, size: three words */
	ARENA_MEMALIGN,       /* alignment, size */
	ARENA_POSIX_MEMALIGN, /* alignment, size */
	ARENA_ALIGNED_ALLOC,  /* alignment, size */
	/* calloc of one element: as malloc, but the size is never long */
	ARENA_CALLOC_ONE,
	/* bits 4 to 15 are an enum arena_more */
	ARENA_MORE
};

enum arena_more {
	ARENA_NAME,   /* of the thread: 2 words */
	ARENA_MMAP,   /* address, size */
	ARENA_MUNMAP, /* address, size */
	ARENA_MREMAP, /* address, old, old size, size */
	ARENA_BRK,    /* address, increment */
	ARENA_TRACE,  /* number and parent, ip: 2 words */
	ARENA_THREAD_END,
	/* bits 16 and up: words of text; start, bias, 0, then the text */
	ARENA_MODULE
};

/* Words of a record that is about a block, with its trace. */
#define ARENA_RECORD_MAX 8u
/* Words of the text of a module: its build identifier, a blank, its path. */
#define ARENA_TEXT_WORDS 56u
#define ARENA_SIZE_LONG 0xFFFu

enum arena_ring_state {
	ARENA_RING_FREE,
	ARENA_RING_CLAIMED, /* a thread is preparing it */
	ARENA_RING_USED,
	ARENA_RING_ENDED /* its thread ended: free when it is drained */
};

struct arena_ring {
	/* written by the thread */
	uint32_t head; /* words written, modulo 2^32 */
	uint32_t open; /* a record is being written */
	__attribute__((aligned(8))) uint64_t ticks; /* of the last CLOCK */
	uint64_t lost; /* records for which there was no room */
	uint32_t pid, tid;
	uint32_t image;  /* number of the process, in images */
	uint32_t claim;  /* how often the ring was taken */
	char name[16];   /* of the thread, when it took the ring */
	uint32_t hidden; /* the process has other numbers for telrec */
	/* written by telrec */
	__attribute__((aligned(64))) uint32_t tail; /* words drained */
	/* by both */
	uint32_t state;
	__attribute__((aligned(64))) char end[1];
};

#define ARENA_NAME_MAX 55u

/* A process, from fork or exec to exec or its end. */
struct arena_image {
	uint32_t pid; /* with ARENA_IMAGE_EXECUTED: of a program that started */
	uint32_t parent;               /* process */
	char name[ARENA_NAME_MAX + 1]; /* of the program */
};

#define ARENA_IMAGE_EXECUTED 0x80000000u

/*
 * A program that is executed, until its library has started; or to the end, one
 * whose allocator does not come to the library.
 */
#define ARENA_EXECS 1024u
enum arena_exec_state {
	ARENA_EXEC_FREE,
	ARENA_EXEC_CLAIMED, /* it is being written */
	ARENA_EXEC_STARTED
};
struct arena_exec {
	uint32_t state;
	uint32_t pid;
	uint16_t has_environment; /* with the variables of telrec */
	uint16_t has_allocator;   /* its own */
	char path[116];
};

/* Options of the recording. */
enum {
	ARENA_MAPS = 1,    /* mmap, munmap, mremap, sbrk */
	ARENA_STACKS = 2,  /* each allocation has the number of a trace */
	ARENA_SAMPLES = 4, /* only some allocations, and frees of these */
	ARENA_EXACT = 8    /* each record has a reading of the clock */
};

enum arena_clock { ARENA_CLOCK_CPU, ARENA_CLOCK_MONOTONIC };

struct arena {
	uint64_t magic;
	uint32_t options;
	uint32_t clock;
	uint32_t unwind;  /* enum telrec_unwind */
	uint32_t drainer; /* telrec's process */
	uint64_t sample;  /* bytes between two samples, on average */
	uint64_t seed;    /* of their random numbers */
	/* read by each event */
	__attribute__((aligned(64))) uint32_t epoch;
	uint32_t on; /* recording */
	/* changed by all */
	__attribute__((aligned(64))) uint32_t rings_used; /* ever */
	uint32_t images_used;
	uint32_t images_skipped; /* of them: of processes that still ran */
	uint64_t lost;           /* of threads without a ring */
	uint64_t rounds;         /* of telrec over the rings */
	uint32_t frames; /* a process lacks libunwind: by frame pointers */
	uint32_t hurry;  /* a ring is nearly full: telrec waits for this */
	uint32_t execs_missed; /* programs that had no room in execs */
	struct arena_exec execs[ARENA_EXECS];
	__attribute__((aligned(4096))) struct arena_ring rings[ARENA_RINGS];
	__attribute__((aligned(4096))) struct arena_image images[ARENA_IMAGES];
};

/* The events of ring i begin here, from the start of the arena. */
static inline uint64_t *
arena_words(struct arena *a, uint32_t i)
{
	return (uint64_t *)(void *)((char *)a +
	    ((sizeof(struct arena) + 4095) & ~(size_t)4095) +
	    (size_t)i * ARENA_RING_BYTES);
}

static inline uint64_t
arena_bytes(void)
{
	return ((sizeof(struct arena) + 4095) & ~(size_t)4095) +
	    (uint64_t)ARENA_RINGS * ARENA_RING_BYTES;
}

#define ARENA_NOW(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define ARENA_SET(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)

#endif
