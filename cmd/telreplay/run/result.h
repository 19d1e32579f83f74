/* SPDX-License-Identifier: BSD-2-Clause */
/* Result: what is known of an allocator after its runs. */
#ifndef TELREPLAY_RESULT_H
#define TELREPLAY_RESULT_H

#include "telreplay/run/shared.h"
#include "telreplay/telreplay.h"

/* Of one run. */
struct timing {
	double cpu;  /* nanoseconds of all threads, without long waits */
	double wall; /* nanoseconds */
	uint64_t operations;
	uint64_t minor_faults, major_faults;
};

/* Of one thread of the last run. */
struct thread_timing {
	uint64_t operations;
	uint64_t cpu, wait, wall, late; /* nanoseconds */
	uint64_t blocked;               /* waits that took longer */
};

/* What is known of an allocator in the end. */
struct result {
	struct candidate *candidate;
	const struct result *own; /* the one that does nothing; NULL: it is */
	char path[4096], release[256], called[64];
	int plugin;
	char **settings; /* what steers it, of its environment; NULL-ended */
	size_t nsettings;

	struct timing runs[RUNS_MAX];
	size_t nruns;
	uint64_t operations[RUN_KINDS]; /* of a run */
	uint64_t failures;              /* of all runs: it returned NULL */
	uint64_t errors;                /* of all runs: by --verify */
	struct run_latency latency[RUN_KINDS]; /* of all runs */
	double tick_ns;
	double empty_ns;
	struct thread_timing *threads;

	int watched;
	struct sample baseline, end, freed, samples[SAMPLES_MAX];
	size_t nsamples;
	int has_room;
	uint64_t asked, given;
	uint64_t peak; /* resident bytes */
	int calls_known;
	uint64_t calls[CALLS];

	int failed; /* it is not run any more */
	char why[1024];
};

/* The figures that the reports have in common. */
struct spread {
	double median, least, most;
};

/* CPU nanoseconds an operation, our own cost included. */
struct spread result_cost(const struct result *r);
/* The same of the clock on the wall, all threads together. */
struct spread result_wall(const struct result *r);
struct spread result_faults(const struct result *r);
/* What of the cost is our own; 0 when it is not known. */
double result_own(const struct result *r);

/* Bytes above what was there before the run. */
uint64_t result_resident(const struct result *r, const struct sample *s);

#endif
