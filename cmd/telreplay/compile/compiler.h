/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiler: turns the operations of a log into a program, in bounded memory.
 *
 *	c = compiler_new(out, &compiler_defaults);
 *	... for each event, in the order of time ...
 *		if (tel_event_alloc(ev, &op, sizeof(op)))
 *			if (compiler_add(c, &op, tel_event_index(ev)) < 0)
 *				... show compiler_error(c) ...
 *	compiler_finish(c);
 *	compiler_free(c);
 */
#ifndef TELREPLAY_COMPILER_H
#define TELREPLAY_COMPILER_H

#include "telreplay/compile/facts.h"

struct compiler;
struct tel_log;

/* How it compiles; see compiler_defaults. */
struct compiler_settings {
	enum program_order order; /* between threads */
	/*
	 * The lead that threads may have on each other with ORDER_EDGES: until
	 * they have allocated or freed a share of the live bytes, 0 to 1, and
	 * at least so many bytes, or done so many operations; 0 for no such
	 * bound.
	 */
	double window_share;
	uint64_t window_min;
	uint64_t window_operations;
	/*
	 * The most threads, 1 to 1024.  Those of a log that has more share
	 * them; one thread runs the log in its order.
	 */
	unsigned threads;
	int strict;   /* the first damage ends it with TEL_EDAMAGED */
	int selected; /* not all events of the logs are given */
	/* The most blocks that may be live at a time, 1 to 2^31. */
	uint64_t max_live;
	size_t chunk; /* the most words of a chunk, 2^10 to 2^27 */
};
extern const struct compiler_settings compiler_defaults;

/*
 * Makes a compiler.
 * out: the output for the program; NULL when only the facts are needed.  It
 *	stays the caller's, and must live as long.
 * Returns NULL when out of memory.
 */
TEL_MUST_USE struct compiler *compiler_new(tel_output *out,
    const struct compiler_settings *set);
/* Frees a compiler. */
void compiler_free(struct compiler *c);

/*
 * Sets the ticks in a second; at any time before the end.  Returns TEL_OK,
 * TEL_EINVAL (less than 0, or not a number), TEL_ESTATE.
 */
tel_status compiler_set_tick_rate(struct compiler *c, double hertz);
/*
 * Names the log that the next operations come from, for messages.
 * name: copied, and cut when it is long; of more than LOG_NAMES logs the
 *	others all get the name of the last one.
 * Returns TEL_OK, TEL_ESTATE.
 */
tel_status compiler_set_log(struct compiler *c, const char *name);
/* A log is a part: see facts.selected. */
void compiler_set_part(struct compiler *c);
/*
 * Sets the log of the next operations, whose blocks and threads are not those
 * of other logs, and whose clock measures lifetimes; without one they are in
 * ticks.  It must live until the next call of this or of compiler_leave().
 * *fresh: whether it has had no operations yet.
 * Returns TEL_OK, TEL_ENOMEM.
 */
TEL_MUST_USE tel_status compiler_enter(struct compiler *c,
    const struct tel_log *log, int *fresh);
void compiler_leave(struct compiler *c);
/*
 * Adds an operation.
 * op: is changed.
 * event: the number of its event in the log.
 * Returns TEL_OK; TEL_ENOMEM; TEL_EIO, the output failed; TEL_ELIMIT, more
 * is live than may be, or the program is too large; TEL_EDAMAGED (strict
 * only); TEL_ESTATE, it has ended, or failed before.
 */
TEL_MUST_USE tel_status compiler_add(struct compiler *c, tel_alloc *op,
    uint64_t event);
/* Nonzero for an operation whose event describes a pool. */
static inline int
alloc_describes(tel_alloc_kind kind)
{
	return kind == TEL_ALLOC_POOL_CREATE || kind == TEL_ALLOC_POOL_DESCRIBE;
}
/*
 * Adds the operations of a run from event *i on, up to one that describes a
 * pool.
 * i: set to the event behind the last one that was taken.
 * kind: set to the last operation.
 * Returns as compiler_add().
 */
TEL_MUST_USE tel_status compiler_add_run(struct compiler *c, const tel_run *run,
    size_t *i, tel_alloc_kind *kind);
/* The operations so far, and those that are samples. */
uint64_t compiler_operations(const struct compiler *c);
uint64_t compiler_samples(const struct compiler *c);
/*
 * Adds to the description of a pool, or of an object that pools refer to, such
 * as an arena, in the process of the operation that was added last.  What
 * describes an address again by the same first word replaces the former
 * description, unless it is a pool.
 * text: words, copied; of an address, POOL_TEXT bytes are kept.
 * Returns TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_MUST_USE tel_status compiler_describe(struct compiler *c, uint64_t address,
    const char *text);
/* The description of an address other than a pool, or "", until the next call. */
const char *compiler_description(const struct compiler *c, uint64_t address);
/*
 * Ends the program and flushes the output.  Returns what compiler_add() may
 * return; TEL_ESTATE when it was called before.
 */
TEL_MUST_USE tel_status compiler_finish(struct compiler *c);
/* Facts on the trace; complete when it has ended.  Lives as c. */
const struct facts *compiler_facts(const struct compiler *c);
/* The last failure, in words; good until the next call. */
const char *compiler_error(const struct compiler *c);

#endif
