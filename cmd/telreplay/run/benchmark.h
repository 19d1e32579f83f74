/* SPDX-License-Identifier: BSD-2-Clause */
/* Benchmark: the runs of all allocators, and their results. */
#ifndef TELREPLAY_BENCHMARK_H
#define TELREPLAY_BENCHMARK_H

#include "telreplay/compile/trace.h"
#include "telreplay/run/result.h"
#include "telreplay/run/spawn.h"
#include "telreplay/run/verdict.h"
#include "telreplay/telreplay.h"

struct benchmark {
	const struct telreplay *telreplay;
	const struct trace *trace;
	struct result *results; /* of the allocators of -a */
	size_t n;
	struct result *own; /* of null allocators: telreplay's own cost */
	size_t nown;
	struct allocator null[2];
	struct stage stage;
	struct verdict *verdicts; /* of METRICS for each of .pairs */
	size_t pairs;
	uint64_t rounds;       /* timed ones */
	uint64_t begun, shown; /* for the progress line */
};

/* Finds the allocators.  Returns 1, or 0 after a message. */
int benchmark_open(struct benchmark *c, struct telreplay *t);

/* Runs them all.  Returns 1, or 0 after a message. */
int benchmark_run(struct benchmark *c, const struct trace *trace);

void benchmark_close(struct benchmark *c);

/* How often they are compared, at most. */
static inline unsigned
benchmark_looks(const struct benchmark *c)
{
	return c->telreplay->runs == RUNS_AUTO ? VERDICT_LOOKS : 1;
}
/* Compares the allocators, from the runs so far. */
void benchmark_judge(struct benchmark *c);
/* Of allocators i and j, where j is before i. */
const struct verdict *benchmark_verdict(const struct benchmark *c,
    enum metric_kind m, size_t i, size_t j);

/* y at x, on the line from one point to another that is not left of it. */
double result_between(double x0, double y0, double x1, double y1, double x);
/* The bytes that the trace has live at a sample. */
double benchmark_live(const struct benchmark *c, const struct sample *s);

#endif
