/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/heap.h - part of libtel, see tel.h for the general rules.
 *
 * Heaps: what each stack of callers allocated, and what of it was live.
 */
#ifndef TEL_TEL_HEAP_H
#define TEL_TEL_HEAP_H

#ifndef TEL_EXPERIMENTAL
#error "tel/heap.h may still change: define TEL_EXPERIMENTAL"
#endif

#include "tel/printer.h"
#include "tel/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A heap adds up the allocations of logs by stack, for logs that record the
 * stacks of allocations, the callers, or the pools:
 *
 *	h = tel_heap_new();
 *	while (tel_reader_next(r, &ev) == TEL_OK)
 *		if (tel_heap_event(h, ev) != TEL_OK)
 *			... out of memory ...
 *	tel_heap_end(h);
 *	tel_heap_sort(h, TEL_HEAP_LEAKED);
 *	for (i = 0; i < tel_heap_count(h) && tel_heap_stack_at(h, i, &s); i++)
 *		... s, and tel_heap_frames(h, i) ...
 *	tel_heap_free(h);
 *
 * A stack is the names of its frames: those of equal names are one, also if
 * they are of several logs, processes or addresses.  The frames of a pool are
 * what it was created as and its own name; its blocks end with it.
 */
typedef struct tel_heap tel_heap;

/* Makes an empty heap; NULL when out of memory. */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_heap *tel_heap_new(void);
TEL_SINCE_EXPERIMENTAL void tel_heap_free(tel_heap *h);
/*
 * Distinguishes frames by file and line as well (nonzero), or by function (0,
 * the default).  Returns TEL_OK; TEL_ESTATE after the first event.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_heap_set_lines(tel_heap *h, int on);
/*
 * Adds up by the value of an expression for the event that allocates, instead of
 * by stack; it belongs to the heap then, also after a failure.
 * Returns TEL_OK; TEL_ESTATE after the first event.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_heap_set_key(tel_heap *h, tel_expr *key);
/*
 * Counts samples of stacks instead of allocations (nonzero): events of the role
 * "sample", also those of allocations.  Of a stack, "allocations" is then the
 * number of samples, and "allocated_bytes" their weight, which is 1 of a sample
 * without one.  Samples of different types are different stacks.
 * Returns TEL_OK; TEL_ESTATE after the first event.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_heap_set_samples(tel_heap *h, int on);
/*
 * Leaves blocks out of those live at the end that were allocated less than ns
 * nanoseconds before the last event; where the rate of the clock is unknown, so
 * many ticks.  Returns TEL_OK; TEL_ESTATE after the first event.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_heap_set_min_age(tel_heap *h,
    uint64_t ns);

/*
 * Counts an event.  Events that are not operations of an allocator, nor samples
 * of allocations, are ignored; so are samples where operations came first, and
 * the other way round.  What samples allocate is never live.
 * The frames are found by the log of the event, whose reader must still exist.
 * Returns TEL_OK, TEL_ENOMEM, and as tel_expr_eval() of the key.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_heap_event(tel_heap *h,
    const tel_event *event);
/*
 * A set of statistics counts each of its events in a heap as well, so that live
 * blocks are followed once; NULL: no longer.  samples: 0 leaves samples out.
 * Must come before tel_stats_begin(); tel_heap_end() must come after
 * tel_stats_end().  What tel_heap_event() fails with is then what the set fails
 * with, without a text of tel_stats_error().
 * Returns TEL_OK; TEL_ESTATE while logs are read.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_stats_set_heap(tel_stats *s, tel_heap *h,
    int samples);
/*
 * Ends the logs so far, whose live blocks stay live.  Must come before their
 * readers are freed and events of others follow.
 */
TEL_SINCE_EXPERIMENTAL void tel_heap_end(tel_heap *h);

/* What stacks are compared by. */
typedef enum tel_heap_weight {
	TEL_HEAP_ALLOCATED, /* bytes that were allocated */
	TEL_HEAP_PEAK,      /* bytes live when the live bytes of all stacks
	                     * were the most, for the first time */
	TEL_HEAP_LEAKED,    /* bytes live at the end, or of their process */
	TEL_HEAP_COUNT      /* allocations */
} tel_heap_weight;
/*
 * The weight of that name: "allocated", "peak", "leaked" or "count".
 * out: set to it.  Returns 1, or 0 when there is no such weight.
 */
TEL_SINCE_EXPERIMENTAL int tel_heap_find_weight(const char *name,
    tel_heap_weight *out);

typedef struct tel_heap_stack {
	uint64_t allocations;
	uint64_t allocated_bytes;
	uint64_t peak_blocks; /* live at the peak of all */
	uint64_t peak_bytes;
	uint64_t live_blocks; /* live now */
	uint64_t live_bytes;
	/* and those that were live when their process ended */
	uint64_t leaked_blocks;
	uint64_t leaked_bytes;
	uint64_t freed; /* blocks whose lifetime is known */
	/* blocks freed, not resized, before the thread that allocated them
	 * allocated again; 0 of samples, which do not tell */
	uint64_t temporary;
} tel_heap_stack;

/* How many stacks have allocated. */
TEL_SINCE_EXPERIMENTAL size_t tel_heap_count(const tel_heap *h);
/*
 * Sorts them by a weight, the largest first; of equal ones that which occurred
 * first.  Before, and after further events, they are in order of occurrence.
 * Returns TEL_OK, TEL_ENOMEM.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_heap_sort(tel_heap *h,
    tel_heap_weight weight);
/* Stack i.  out: set.  Returns 1, or 0 when i is out of range. */
TEL_SINCE_EXPERIMENTAL int tel_heap_stack_at(const tel_heap *h, size_t i,
    tel_heap_stack *out);
/* All of them together. */
TEL_SINCE_EXPERIMENTAL void tel_heap_total(const tel_heap *h,
    tel_heap_stack *out);
/* The weight of a stack. */
TEL_SINCE_EXPERIMENTAL uint64_t tel_heap_weight_of(const tel_heap_stack *s,
    tel_heap_weight weight);
/*
 * The frames of stack i, the outermost first, with ';' between them; in a name
 * ';' is ':', and bytes that are not printable are '?'.
 * Where samples are of several types, the type is the outermost frame.
 * Returns NULL when out of memory or of range.  Valid until the next call.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_heap_frames(tel_heap *h, size_t i);
/*
 * The name of the type of the samples of stack i, see tel_heap_set_samples(); ""
 * in other heaps.  The stack of all beyond the limit has its own name.
 * Returns NULL when out of range.  Valid until the next event.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_heap_type(const tel_heap *h, size_t i);
/* Nonzero when samples are of several types. */
TEL_SINCE_EXPERIMENTAL int tel_heap_several(const tel_heap *h);
/*
 * The same up to the holder: the innermost frame that is of no allocator, nor of
 * a container that asks one, by its name.  All of them, if all are.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_heap_holder(tel_heap *h, size_t i);
/*
 * The time that a share, in parts of 10^9, of the freed blocks of stack i lived
 * at most: 0 gives the shortest time, 10^9 the longest; others are at most a
 * sixteenth too long.
 * out: set to it, in ns, or in ticks when tel_heap_ticks().
 * Returns 1, or 0 when none was freed, or times of some logs are ticks and of
 * others ns.
 */
TEL_SINCE_EXPERIMENTAL int tel_heap_lifetime(const tel_heap *h, size_t i,
    uint32_t share, uint64_t *out);
/* The same of all stacks together. */
TEL_SINCE_EXPERIMENTAL int tel_heap_lifetime_of_all(const tel_heap *h,
    uint32_t share, uint64_t *out);
/*
 * How exact these are, where most blocks have the clock of the one that their
 * thread allocated before, as clocks are read less often: nine of ten were
 * allocated so soon before another clock at most.
 * out: set to that time, in the same unit.
 * Returns 1, or 0 when a clock was read for each, or for none.
 */
TEL_SINCE_EXPERIMENTAL int tel_heap_resolution(const tel_heap *h,
    uint64_t *out);
/*
 * When the live bytes were the most, for the first time.
 * out: set to the time since the first event of the log, as
 *	tel_heap_lifetime().
 * Returns 1, or 0 when nothing was allocated, or as tel_heap_lifetime().
 */
TEL_SINCE_EXPERIMENTAL int tel_heap_peak_time(const tel_heap *h, uint64_t *out);
/* How many threads have allocated. */
TEL_SINCE_EXPERIMENTAL size_t tel_heap_threads(const tel_heap *h);
/* Nonzero when the rate of a log's clock was unknown: times are ticks. */
TEL_SINCE_EXPERIMENTAL int tel_heap_ticks(const tel_heap *h);
/* Nonzero when an event recorded its stack, its caller or its pool. */
TEL_SINCE_EXPERIMENTAL int tel_heap_recorded(const tel_heap *h);
/*
 * Blocks that found no room when 2^24 were live: they are counted as allocated,
 * but never as live.
 */
TEL_SINCE_EXPERIMENTAL uint64_t tel_heap_untracked(const tel_heap *h);

/*
 * Has the format "folded" show the stacks that allocated, with this weight,
 * instead of ranges and their time.  Without it, stacks are shown by allocated
 * bytes if no event starts or ends a range.
 * TEL_OK, TEL_EINVAL (another format), TEL_ESTATE.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_printer_set_weight(tel_printer *p,
    tel_heap_weight weight);

#ifdef __cplusplus
}
#endif

#endif
