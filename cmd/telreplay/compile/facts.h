/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts on a trace that has been compiled: totals, peaks, histograms, the curve
 * of live bytes, and the anomalies that were found.
 */
#ifndef TELREPLAY_FACTS_H
#define TELREPLAY_FACTS_H

#include <stddef.h>
#include "base/bucket.h"
#include "tel/event.h"
#include "tel/output.h"

/* Operations that do not fit; those from ANOMALY_FREE on are damage. */
enum anomaly {
	ANOMALY_FREE_NULL,    /* free(NULL): nothing to do */
	ANOMALY_REALLOC_NULL, /* realloc(NULL, n): an allocation */
	ANOMALY_REALLOC_ZERO, /* realloc(p, 0): a free if it returned NULL */
	ANOMALY_FAILED,       /* an allocation that failed, or a pool */
	ANOMALY_RESERVED,     /* reserved, but not committed: left out */
	ANOMALY_RECLAIMED,    /* committed over a block: that is freed first */
	ANOMALY_POOL,         /* a pool or buffer never created: created */
	ANOMALY_ALIGNMENT,    /* not a power of 2: rounded up to one */
	ANOMALY_INHERITED,    /* of a block from before a child: as the next */
	ANOMALY_FREE,         /* a free of an unknown address: left out */
	ANOMALY_REALLOC,      /* a realloc of one: made an allocation */
	ANOMALY_DOUBLE,       /* the address is live: freed first */
	ANOMALY_RACE,         /* a free recorded out of order: moved */
	ANOMALY_SIZE,         /* a free of more than the block: of the block */
	ANOMALY_ARGUMENT,     /* an impossible size: left out */
	ANOMALY_IMPOSSIBLE    /* an impossible alignment: left out */
};
#define ANOMALIES 16

/* A few words for an anomaly, "free of an unknown address"; static. */
const char *anomaly_text(enum anomaly anomaly);
/* Nonzero for damage: something is missing in the log, or wrong. */
int anomaly_is_damage(enum anomaly anomaly);
struct facts;
/*
 * The same in a log: one without the commits of its buffers, which programs make
 * by macros, has frees of their blocks; a part of one, of those before it.
 */
int facts_damage(const struct facts *f, enum anomaly anomaly);

/* One operation that does not fit. */
struct anomaly_event {
	enum anomaly anomaly;
	uint32_t log;     /* the log it is in: facts.log_names */
	uint64_t event;   /* the number of its event in the log */
	uint64_t address; /* the address in question */
	uint64_t thread;  /* the thread, as the log has it */
};

/* What was live at one time: a point of a curve. */
struct live_point {
	uint64_t done;   /* words of all threads up to here */
	uint64_t clock;  /* of the last event */
	uint64_t blocks; /* live blocks */
	uint64_t bytes;  /* their bytes */
	uint64_t peak;   /* the most live bytes since the previous point */
};

/* A thread of the program. */
struct thread_life {
	uint64_t id;     /* of the first thread of the log that it runs */
	uint64_t hosted; /* threads of the log that it runs */
};

#define FACTS_THREADS 1024    /* the most threads of a program */
#define ALLOC_KINDS 13        /* values of tel_alloc_kind that are counted */
#define ANOMALY_EVENTS 128    /* anomalies kept, up to 10 of a kind */
#define CURVE_POINTS 512      /* the most points of a curve */
#define POOL_TEXT 511         /* the most bytes that describe a pool */
#define POOLS_DESCRIBED 65536 /* the last number of a described pool, + 1 */
#define LOG_NAMES 16          /* the most logs that are distinguished */
#define LOG_NAME 128          /* bytes of a name, with its NUL */

/*
 * Classes of sizes, sixteen for each power of two: so many bytes and less, but
 * more than those of the class before.
 */
#define SIZE_CLASSES 704
static inline unsigned
size_class(uint64_t size)
{
	return tel__bucket(size > 0 ? size - 1 : 0);
}
/* The largest size of a class. */
static inline uint64_t
size_class_max(unsigned class)
{
	return tel__bucket_start(class + 1);
}

/*
 * Bytes that threads may run ahead however few are live.  Memory is measured in
 * pages; with less than a few of them, threads would meet at each operation.
 */
#define WINDOW_MIN 16384

/* The order between threads that a program keeps. */
enum program_order {
	ORDER_EDGES, /* a block is allocated before another thread frees it */
	ORDER_TOTAL, /* the order of the log */
	ORDER_NONE   /* none: each thread frees the blocks it allocates */
};

/*
 * Sizes are in bytes.  Element i of a histogram counts values from 2^(i-1) to
 * 2^i - 1, its element 0 counts zeros.
 */
#define LIFETIMES 4
struct facts {
	uint64_t operations[ALLOC_KINDS]; /* given, by tel_alloc_kind */
	uint64_t anomalies[ANOMALIES];    /* by enum anomaly */
	uint64_t by_new;                  /* of them: by operator new of C++, */
	uint64_t by_delete;               /* by delete, */
	uint64_t by_sized;    /* and those that are given the size */
	uint64_t compiled;    /* operations in the program, waits apart */
	uint64_t requests;    /* allocations and reallocs */
	uint64_t requested;   /* bytes that they asked for, in all */
	uint64_t largest;     /* the largest request */
	uint64_t live_blocks; /* live after the last event: leaks, maybe */
	uint64_t live_bytes;
	uint64_t peak_blocks; /* the most live at a time */
	uint64_t peak_bytes;  /* the most bytes; the next three say when */
	uint64_t peak_event;
	uint64_t peak_log;
	uint64_t peak_of_blocks; /* the blocks that were live then */
	/* the live blocks by class, when they were within 2 % of the peak */
	uint64_t class_blocks[SIZE_CLASSES];
	uint64_t class_asked; /* their bytes */
	uint64_t first_clock; /* of the first operation */
	double tick_rate;     /* ticks in a second, 0 when unknown */
	uint64_t sizes[65];   /* requests by size */
	uint64_t leaked[65];  /* blocks that are live at the end, by size */
	uint64_t lived[65];   /* frees by lifetime, in operations */
	/* lifetimes in ns, or in ticks if they have no rate: ends of blocks */
	uint64_t lived_ns[65];
	uint64_t lifetimes[LIFETIMES]; /* quantiles, see report_lifetimes */
	uint64_t lifetimes_clock; /* below this they are unknown; 0: none is */
	uint64_t log_threads;     /* threads in the log */
	uint64_t threads;         /* threads of the program, 1 to 1024 */
	uint64_t order;           /* an enum program_order */
	uint64_t selected;        /* not all events of the logs were given */
	uint64_t unpooled;        /* blocks that are in no pool */
	uint64_t crossing_frees;  /* of a block that another thread made */
	uint64_t crossing_reallocs; /* the same */
	uint64_t waits;             /* waits in the program */
	uint64_t implied;           /* waits that others made needless */
	uint64_t parts;             /* partial frees */
	uint64_t pools;             /* pools that were created by name */
	uint64_t buffers;           /* buffers that were */
	uint64_t described;         /* bytes of the descriptions of pools */
	uint64_t slots;             /* slots that the program needs */
	uint64_t words;             /* words in all chunks */
	uint64_t largest_chunk;     /* what program_load() needs, in words */
	uint64_t chunks;
	uint64_t windows;             /* the most windows of a chunk */
	uint64_t anomaly_event_count; /* elements of anomaly_events */
	uint64_t curve_points;        /* elements of curve */
	uint64_t logs;                /* elements of log_names */
	struct thread_life lives[FACTS_THREADS]; /* .threads of them */
	struct anomaly_event anomaly_events[ANOMALY_EVENTS];
	struct live_point curve[CURVE_POINTS];
	char log_names[LOG_NAMES][LOG_NAME];
};

/* In a program's file: the numbers of facts, one word each, ... */
#define FACTS_NUMBERS (offsetof(struct facts, lives) / 8)
#define FACTS_LIFE 2    /* ... words of a thread's life, ... */
#define FACTS_ANOMALY 4 /* ... of an anomaly, ... */
#define FACTS_POINT 5   /* ... of a point */
#define FACTS_MAX \
	((FACTS_NUMBERS + FACTS_THREADS * FACTS_LIFE + \
	     ANOMALY_EVENTS * FACTS_ANOMALY + CURVE_POINTS * FACTS_POINT) * \
	        8 + \
	    LOG_NAMES * LOG_NAME)

/* Writes facts to room for FACTS_MAX bytes; returns how many. */
size_t facts_store(const struct facts *f, unsigned char *room);
/*
 * Reads them.  used: set to how many bytes they took.  Returns 0, or -1 for
 * bytes that no facts_store() wrote.
 */
int facts_load(struct facts *f, const unsigned char *p, size_t size,
    size_t *used);

#endif
