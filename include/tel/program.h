/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/program.h - part of libtel, see tel.h for the rules that hold for all of it.
 *
 * Compiled programs of allocations.
 */
#ifndef TEL_TEL_PROGRAM_H
#define TEL_TEL_PROGRAM_H

#include "tel/event.h"
#include "tel/output.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A program is what a log of allocations is compiled to, so that it can be
 * run fast: for each thread a row of 64-bit words, in which blocks have
 * numbers, called slots, instead of addresses.
 *
 *	c = tel_compiler_new(out);
 *	... a window on r, unless tel_schema_ordered() ...
 *	while (tel_reader_next(r, &ev) == TEL_OK)
 *		if (tel_event_alloc(ev, &op))
 *			if (tel_compiler_add(c, &op, tel_event_index(ev)) < 0)
 *				... tell tel_compiler_error(c) ...
 *	tel_compiler_finish(c);
 *	tel_compiler_free(c);
 *
 *	tel_program_open_fd(fd, &p);
 *	for (i = 0; i < tel_program_chunk_count(p); i++) {
 *		tel_program_load(p, i, room, lanes);
 *		... run the lanes, each on a thread ...
 *	}
 *	tel_program_free(p);
 *
 * A lane is a row of operations that one thread runs, in order.  A program
 * is cut into chunks: all lanes of a chunk end before the next one begins.
 */

/*
 * The kinds of words.  The low three bits of a word are its kind; the next
 * one, TEL_WORD_PUBLISH, is set in an operation that another lane waits for;
 * then come 28 bits of a size and 32 bits of a slot.
 */
typedef enum tel_word {
	TEL_WORD_MALLOC = 1,  /* allocate size bytes, and keep it in slot */
	TEL_WORD_FREE = 2,    /* free slot, a block of size bytes */
	TEL_WORD_REALLOC = 3, /* make slot a block of size bytes */
	TEL_WORD_CALLOC = 4,  /* allocate size bytes, all zero */
	/*
	 * Wait until lane number slot has done the operation whose first word
	 * is number size, which has TEL_WORD_PUBLISH set.
	 */
	TEL_WORD_WAIT = 5,
	/*
	 * Allocations of this lane are from here on those of pool number
	 * slot, when size is 0, or of buffer number slot, when size is 1;
	 * frees are of that pool, or of the buffer's.  A chunk begins with
	 * pool 0, the one for operations that name none.
	 */
	TEL_WORD_USE = 6,
	/*
	 * What the size says, a tel_more.  As many words as its low three
	 * bits say follow; a publishing bit counts when they are done.
	 */
	TEL_WORD_MORE = 7
} tel_word;

#define TEL_WORD_KIND 0x7u           /* the bits that are the kind */
#define TEL_WORD_PUBLISH 0x8u        /* somebody waits for it */
#define TEL_WORD_SIZE_SHIFT 4        /* where the size begins */
#define TEL_WORD_SLOT_SHIFT 32       /* where the slot begins */
#define TEL_WORD_SIZE_MAX 0xfffffffu /* the most that it holds */
#define TEL_WORD_SIZE(w) \
	((uint32_t)((w) >> TEL_WORD_SIZE_SHIFT & TEL_WORD_SIZE_MAX))
#define TEL_WORD_SLOT(w) ((uint32_t)((w) >> TEL_WORD_SLOT_SHIFT))

/* The operations that are rare; the low three bits: words that follow. */
typedef enum tel_more {
	/* As the words of these names, with the size in the 1st word. */
	TEL_MORE_MALLOC = 0x09,
	TEL_MORE_FREE = 0x11,
	TEL_MORE_REALLOC = 0x19,
	TEL_MORE_CALLOC = 0x21,
	/* Allocate, size (1st word) aligned to a power of 2 (2nd), to slot. */
	TEL_MORE_ALIGNED = 0x2a,
	/*
	 * Free a part of slot: offset (1st) from the block's first byte, size
	 * (2nd).  The 3rd is 0, or for the last part the size of the whole
	 * block, which then is gone.
	 */
	TEL_MORE_FREE_PART = 0x33,
	/*
	 * The block in slot, of size (1st) bytes, goes with its pool, which
	 * is about to be destroyed: free it where there are no pools.
	 */
	TEL_MORE_FREE_WITH_POOL = 0x39,
	/* Create pool number slot, known to the log by its address (1st). */
	TEL_MORE_POOL_CREATE = 0x41,
	TEL_MORE_POOL_DESTROY = 0x48, /* destroy pool number slot */
	/* Create buffer number slot in pool number (1st). */
	TEL_MORE_BUFFER_CREATE = 0x51,
	TEL_MORE_BUFFER_DESTROY = 0x58 /* destroy buffer number slot */
} tel_more;

/* What is odd about operations; those from TEL_ODD_FREE on are damage. */
typedef enum tel_odd {
	TEL_ODD_FREE_NULL,    /* free(NULL): nothing to do */
	TEL_ODD_REALLOC_NULL, /* realloc(NULL, n): an allocation */
	TEL_ODD_REALLOC_ZERO, /* realloc(p, 0): a free if it gave NULL */
	TEL_ODD_FAILED,       /* an allocation that failed: left out */
	TEL_ODD_RESERVED,     /* reserved, but not committed: left out */
	TEL_ODD_RECLAIMED, /* committed over a block: that was freed before */
	TEL_ODD_POOL,      /* a pool or buffer without creation: created */
	TEL_ODD_FREE,      /* a free of what is not allocated: left out */
	TEL_ODD_REALLOC,   /* a realloc of such: made an allocation */
	TEL_ODD_DOUBLE,    /* the address is allocated: freed before */
	TEL_ODD_RACE,      /* a free that stands in a wrong place: moved */
	TEL_ODD_SIZE,      /* a free of more than there is: of the block */
	TEL_ODD_ARGUMENT   /* a size that cannot be: left out */
} tel_odd;
#define TEL_ODD_KINDS 13

/* A few words for a tel_odd, "free of an unknown address"; static. */
TEL_SINCE_0_1 const char *tel_odd_text(tel_odd odd);
/* Nonzero when it is damage: something is missing in the log, or wrong. */
TEL_SINCE_0_1 int tel_odd_damage(tel_odd odd);

/* An operation that is odd. */
typedef struct tel_odd_one {
	tel_odd odd;
	uint32_t log;     /* the log it is in: tel_facts.logs */
	uint64_t event;   /* the number of its event in the log */
	uint64_t address; /* the address in question */
	uint64_t thread;  /* the thread, as the log has it */
} tel_odd_one;

/* How much was live at a time: a point of a curve. */
typedef struct tel_live {
	uint64_t done;   /* words of all lanes up to here */
	uint64_t clock;  /* of the last event */
	uint64_t blocks; /* live blocks */
	uint64_t bytes;  /* and bytes of them */
	uint64_t peak;   /* the most bytes since the point before this one */
} tel_live;

#define TEL_ALLOC_KINDS 13   /* values of tel_alloc_kind */
#define TEL_ODD_KEPT 128     /* odd operations kept, up to 10 of a kind */
#define TEL_CURVE_POINTS 512 /* the most points of a curve */
#define TEL_LOG_NAMES 16     /* the most logs that are told apart */
#define TEL_LOG_NAME 128     /* bytes of a name, with a NUL */

/*
 * The order between lanes that a program keeps.
 */
typedef enum tel_lane_order {
	TEL_LANES_EDGES, /* a block is allocated before another lane frees it */
	TEL_LANES_TOTAL, /* the order of the log */
	TEL_LANES_NONE /* none: each lane frees the blocks that it allocates */
} tel_lane_order;

/*
 * What a trace holds.  Sizes are in bytes; a histogram's element i counts
 * values from 2^(i-1) to 2^i - 1, its element 0 counts zeros.
 */
typedef struct tel_facts {
	uint64_t operations[TEL_ALLOC_KINDS]; /* given, by tel_alloc_kind */
	uint64_t odd[TEL_ODD_KINDS];          /* odd ones, by tel_odd */
	uint64_t compiled;    /* operations in the program, waits apart */
	uint64_t requests;    /* allocations and reallocs */
	uint64_t requested;   /* bytes that they asked for, in all */
	uint64_t largest;     /* the most that one did */
	uint64_t live_blocks; /* live after the last event: leaks, maybe */
	uint64_t live_bytes;
	uint64_t peak_blocks; /* the most that were live at a time */
	uint64_t peak_bytes;  /* the most bytes; the next four say when */
	uint64_t peak_event;
	uint64_t peak_log;
	uint64_t peak_clock;
	uint64_t peak_of_blocks; /* the blocks that were live then */
	uint64_t first_clock;    /* of the first and the last operation */
	uint64_t last_clock;
	double tick_rate;         /* ticks in a second, 0 when not known */
	uint64_t sizes[65];       /* requests by size */
	uint64_t leaked[65];      /* blocks that are live at the end, by size */
	uint64_t lived[65];       /* frees by lifetime, in operations */
	uint64_t lived_ticks[65]; /* frees by lifetime, in ticks */
	uint64_t threads;         /* threads in the log */
	uint64_t lanes;           /* threads of the program, 1 to 1024 */
	uint64_t order;           /* a tel_lane_order */
	uint64_t crossing_frees;  /* of a block that another lane made */
	uint64_t crossing_reallocs; /* the same */
	uint64_t waits;             /* waits in the program */
	uint64_t implied;           /* waits that others made needless */
	uint64_t parts;             /* partial frees */
	uint64_t pools;         /* pools that were created, 0 unless named */
	uint64_t buffers;       /* buffers that were */
	uint64_t slots;         /* slots that the program needs */
	uint64_t words;         /* words in all chunks */
	uint64_t largest_chunk; /* what tel_program_load() needs, in words */
	uint64_t chunks;
	uint64_t odd_kept;     /* elements of odd_ones */
	uint64_t curve_points; /* elements of curve */
	uint64_t logs;         /* elements of log_names */
	tel_odd_one odd_ones[TEL_ODD_KEPT];
	tel_live curve[TEL_CURVE_POINTS];
	char log_names[TEL_LOG_NAMES][TEL_LOG_NAME];
} tel_facts;

/* A compiler makes a program of operations, in bounded memory. */
typedef struct tel_compiler tel_compiler;

/*
 * Makes a compiler.
 * out: where the program goes; NULL for nowhere, when only the facts are of
 *	interest.  It stays the caller's, and must live as long.
 * Returns NULL when there is no memory.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_compiler *tel_compiler_new(tel_output *out);
/* Frees a compiler. */
TEL_SINCE_0_1 void tel_compiler_free(tel_compiler *c);

/*
 * The setters come before the first operation; afterwards they return
 * TEL_ESTATE and change nothing.  Return TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */

/* The order between lanes; TEL_LANES_EDGES unless set. */
TEL_SINCE_0_1 tel_status tel_compiler_set_order(tel_compiler *c,
    tel_lane_order order);
/*
 * The most lanes, 1 to 1024; 256 unless set.  A log with more threads has
 * several of them in a lane; with 1 it is run in the order of the log.
 */
TEL_SINCE_0_1 tel_status tel_compiler_set_lanes(tel_compiler *c,
    unsigned lanes);
/* Nonzero: the first damage ends it with TEL_EDAMAGED. */
TEL_SINCE_0_1 tel_status tel_compiler_set_strict(tel_compiler *c, int on);
/*
 * The most blocks that may be live at a time, 1 to 2^31; 2^26 unless set.
 * They take about 80 bytes each.
 */
TEL_SINCE_0_1 tel_status tel_compiler_set_max_live(tel_compiler *c,
    uint64_t blocks);
/* The most words of a chunk, 2^10 to 2^27; 2^20 unless set. */
TEL_SINCE_0_1 tel_status tel_compiler_set_chunk(tel_compiler *c, size_t words);

/*
 * Says how many ticks make a second; at any time before the end.
 * Returns TEL_OK, TEL_EINVAL (less than 0, or no number), TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_compiler_set_tick_rate(tel_compiler *c,
    double hertz);
/*
 * Says in which log the operations are from now on, for messages.
 * name: copied, shortened when it is long; of more than TEL_LOG_NAMES logs
 *	the others are all called as the last one.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_compiler_set_log(tel_compiler *c,
    const char *name);
/*
 * Adds an operation.
 * event: the number of its event in the log.
 * Returns TEL_OK; TEL_ENOMEM; TEL_EIO, the output failed; TEL_ELIMIT, more
 * is live than may be, or the program is too large; TEL_EDAMAGED (strict
 * only); TEL_ESTATE, it has ended, or failed before.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_compiler_add(tel_compiler *c,
    const tel_alloc *op, uint64_t event);
/*
 * Ends the program and flushes the output.  Returns what tel_compiler_add()
 * may return; TEL_ESTATE when it was called before.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_compiler_finish(tel_compiler *c);
/* What is known of the trace; complete when it has ended.  Lives as c. */
TEL_SINCE_0_1 const tel_facts *tel_compiler_facts(const tel_compiler *c);
/* What the last failure was, in words; good until the next call. */
TEL_SINCE_0_1 const char *tel_compiler_error(const tel_compiler *c);

/* A program that was written. */
typedef struct tel_program tel_program;

/* A lane of a chunk. */
typedef struct tel_lane {
	const uint64_t *words; /* the operations */
	/*
	 * Times, in pairs: the number of a word, and the clock at which its
	 * operation was recorded.  Numbers rise, and are those of first words
	 * of operations or the count of all words.
	 */
	const uint64_t *times;
	uint32_t word_count;
	uint32_t time_count; /* pairs */
} tel_lane;

/* Nonzero when the size bytes at data, 8 or more, begin a program. */
TEL_SINCE_0_1 int tel_program_probe(const void *data, size_t size);
/*
 * Opens a program.
 * fd: a file that can be read at any place; it stays the caller's, and must
 *	stay open and as it is until the free.
 * Returns TEL_OK; TEL_EFORMAT, it is no program; TEL_EVERSION, one of
 * another version; TEL_EDAMAGED; TEL_EIO with errno set; TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_program_open_fd(int fd,
    tel_program **out);
/* The same of size bytes at data, which must stay as they are. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_program_open_memory(const void *data,
    size_t size, tel_program **out);
/* Closes and frees a program. */
TEL_SINCE_0_1 void tel_program_free(tel_program *p);
/* What the program's trace holds; lives as the program. */
TEL_SINCE_0_1 const tel_facts *tel_program_facts(const tel_program *p);
/*
 * Goes through all of it: each block is allocated before it is used and
 * freed once, and there is an order in which no lane waits for ever.  For
 * programs of whom nobody knows where they are from.
 * Returns TEL_OK, TEL_EDAMAGED, TEL_EIO, TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_program_check(tel_program *p);
/*
 * Loads a chunk.  What it holds is checked so far that a number of a slot, a
 * lane, a pool or a buffer is under its count, and what a word is followed
 * by is there.  It allocates nothing.
 * chunk: its number, under tel_facts.chunks.
 * room: for tel_facts.largest_chunk words.
 * lanes: for tel_facts.lanes elements, that are set to point into room.
 * Returns TEL_OK, TEL_EINVAL, TEL_EIO, TEL_EDAMAGED.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_program_load(tel_program *p,
    uint64_t chunk, uint64_t *room, tel_lane *lanes);
/*
 * Finds the event that an operation comes from.
 * position: the number of the first word of it.
 * log: set to the name of the log, which lives as the program.
 * event: set to the number of the event.
 * Returns TEL_OK, TEL_EINVAL (no such operation), TEL_EIO, TEL_EDAMAGED,
 * TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_program_origin(tel_program *p,
    uint64_t chunk, unsigned lane, uint32_t position, const char **log,
    uint64_t *event);

#ifdef __cplusplus
}
#endif

#endif
