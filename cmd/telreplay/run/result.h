/* SPDX-License-Identifier: BSD-2-Clause */
/* Result: what is known of an allocator after its runs. */
#ifndef TELREPLAY_RESULT_H
#define TELREPLAY_RESULT_H

#include "telreplay/run/shared.h"
#include "telreplay/telreplay.h"

/* The times of one run. */
struct timing {
	double cpu;  /* nanoseconds of all threads, net of waits that blocked */
	double wall; /* nanoseconds */
	double
	    process; /* CPU nanoseconds of the process, other threads included */
	uint64_t operations;
	double p99;    /* nanoseconds, of all kinds; negative: no samples */
	int remembers; /* the next two are known */
	uint64_t peak, end; /* resident bytes, as in struct result */
	uint64_t minor_faults, major_faults;
	uint64_t counts[COUNTERS];
	int counted[COUNTERS]; /* that of .counts is known */
};

/* A thread of the last run. */
struct thread_timing {
	uint64_t operations;
	uint64_t cpu, wait, wall, late; /* nanoseconds */
	uint64_t blocked;               /* waits that blocked */
};

/* An allocator and its results. */
struct result {
	struct candidate *candidate;
	const struct result *own; /* of the null allocator; NULL for itself */
	char path[4096], release[256], called[64];
	int plugin;
	int has_delete, has_sized; /* of C++, and given the size */
	char **settings; /* its settings in the environment; NULL-ended */
	size_t nsettings;

	struct timing runs[RUNS_MAX];
	size_t nruns;
	uint64_t operations[RUN_KINDS]; /* of a run */
	uint64_t failures;              /* of all runs: NULL was returned */
	uint64_t errors;                /* of all runs: found by --verify */
	struct run_latency latency[RUN_KINDS]; /* of all runs */
	double tick_ns;
	double empty_ns;
	struct thread_timing *threads;

	int watched;
	struct sample baseline, end, idle, freed, freed_idle;
	struct sample samples[SAMPLES_MAX + 4]; /* in the order of time */
	size_t nsamples;
	int has_room;
	uint64_t asked, given;
	struct slack slack[RUN_SIZES];
	struct sample at_peak;
	struct run_residency residency; /* then */
	uint64_t peak;                  /* resident bytes */
	uint64_t live_peak; /* bytes that the run had live, at most */
	uint64_t left_out;  /* allocations of a run, in internal pools */
	int calls_known;
	uint64_t calls[CALLS];

	char said[512]; /* its last line on standard error, or "" */
	int failed;     /* it is not run again */
	char why[1536];
};

/* The figures that the reports have in common. */
struct spread {
	double median, least, most;
};

/* CPU nanoseconds an operation, telreplay's own cost included. */
struct spread result_cost(const struct result *r);
/* The same in real time, all threads together. */
struct spread result_wall(const struct result *r);
/* CPU nanoseconds an operation of the whole process. */
struct spread result_process(const struct result *r);
struct spread result_faults(const struct result *r);
/*
 * The latency that 99 % of all operations stay below, in nanoseconds: of all
 * runs together, and the least and the most of single ones.  Negative: unknown.
 */
struct spread result_p99(const struct result *r);
/* The same of samples; negative: there are none. */
double result_p99_of(const struct run_latency latency[RUN_KINDS],
    double tick_ns);
/*
 * Resident bytes at the peak and at the end: of the run that was watched, and
 * the least and the most of all runs.
 */
struct spread result_peak(const struct result *r);
struct spread result_end(const struct result *r);
/* A counter for each operation, the median; *known: set to whether it is. */
double result_counter(const struct result *r, enum counter which, int *known);
/* The sample that has the most resident, or NULL. */
const struct sample *result_largest(const struct result *r);
/* telreplay's own share of the cost; 0 when unknown. */
double result_own(const struct result *r);
/* Nonzero when that is known: the null allocator was run. */
int result_own_known(const struct result *r);

/* The peak of memory over that of the live bytes; 0 when unknown. */
double result_over_live(const struct result *r, const struct facts *facts);
/* Resident bytes, net of what was resident before the run. */
uint64_t result_resident(const struct result *r, const struct sample *s);

#endif
