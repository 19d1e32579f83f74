/* SPDX-License-Identifier: BSD-2-Clause */
/* Contest: the runs of all allocators, and their results. */
#ifndef TELREPLAY_CONTEST_H
#define TELREPLAY_CONTEST_H

#include "telreplay/compile/trace.h"
#include "telreplay/run/result.h"
#include "telreplay/run/spawn.h"
#include "telreplay/run/verdict.h"
#include "telreplay/telreplay.h"

struct contest {
	const struct telreplay *telreplay;
	const struct trace *trace;
	struct result *results; /* of the allocators of -a */
	size_t n;
	struct result *own; /* of null allocators: telreplay's own cost */
	size_t nown;
	struct candidate null[2];
	struct stage stage;
	struct verdict *verdicts; /* of METRICS for each of .pairs */
	size_t pairs;
	uint64_t rounds;       /* timed ones */
	uint64_t begun, shown; /* for the progress line */
};

/* Finds the allocators.  Returns 1, or 0 after a message. */
int contest_open(struct contest *c, struct telreplay *t);

/* Runs them all.  Returns 1, or 0 after a message. */
int contest_run(struct contest *c, const struct trace *trace);

void contest_close(struct contest *c);

/* Compares the allocators, from the runs so far. */
void contest_judge(struct contest *c);
/* Of allocators i and j, where j is before i. */
const struct verdict *contest_verdict(const struct contest *c,
    enum metric_kind m, size_t i, size_t j);

/* The bytes that the trace has live at a sample. */
double contest_live(const struct contest *c, const struct sample *s);

#endif
