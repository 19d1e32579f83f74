/* SPDX-License-Identifier: BSD-2-Clause */
/* Contest: the runs of all allocators, and what came of them. */
#ifndef TELREPLAY_CONTEST_H
#define TELREPLAY_CONTEST_H

#include "telreplay/run/result.h"
#include "telreplay/run/spawn.h"
#include "telreplay/telreplay.h"
#include "telreplay/compile/trace.h"

struct contest {
	const struct telreplay *telreplay;
	const struct trace *trace;
	struct result *results; /* those that were asked for, */
	size_t n;
	struct result *own; /* and those that tell our own cost */
	size_t nown;
	struct candidate null[2];
	struct stage stage;
	uint64_t begun, shown; /* for the line of progress */
};

/*
 * Finds out that the allocators are there, and what they are.
 * Returns 1, or 0 after a message.
 */
int contest_open(struct contest *c, struct telreplay *t);

/* Runs them all.  Returns 1, or 0 after a message. */
int contest_run(struct contest *c, const struct trace *trace);

void contest_close(struct contest *c);

/* Live bytes at a sample, of the trace. */
double contest_live(const struct contest *c, const struct sample *s);

#endif
