/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting: reading operands for numbers that are added up, on several threads.
 * Files are read side by side, and large ones in pieces.  What a thread finds
 * counts only if one thread would have found the same: otherwise, and where
 * anything fails, the operand is read again in the usual way, which reports
 * why.
 */
#ifndef COMMON_COUNTING_H
#define COMMON_COUNTING_H

#include "event_loop.h"

/* A command's counter. */
struct counting {
	void *arg;
	/* Only complete logs can be counted side by side. */
	int no_pieces;
	/*
	 * Makes a counter of its own for the log that a reader is at; NULL when
	 * that fails.  Called on any thread, as are the next two.
	 */
	void *(*open)(void *arg, tel_reader *r);
	/* Counts the selected events of a run.  1, or 0 when that fails. */
	int (*run)(void *counter, tel_run *events);
	void (*free)(void *counter);
	/*
	 * Adds what was counted of the next piece of a log.  Returns 1, or 0:
	 * one counter would have counted something else, or it failed.
	 */
	int (*join)(void *counter, const void *next);
	/*
	 * The log of a source has ended: adds its counter to the total.  Returns
	 * as event of a visitor does, or COUNT_AGAIN: nothing was added, and the
	 * log is to be read in the usual way.
	 */
	enum counted {
		COUNT_NEXT,
		COUNT_AGAIN,
		COUNT_STOP
	} (*take)(void *arg, void *counter, struct source *src);
};

/*
 * Reads all operands as sources_run() does, by the settings' threads; the
 * events of those that are read in the usual way go to the visitor.
 */
void counting_run(struct settings *s, const struct visitor *v,
    const struct counting *c);

#endif
