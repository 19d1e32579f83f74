/* SPDX-License-Identifier: BSD-2-Clause */
/* Result: figures of an allocator after its runs. */
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
	double p99;         /* nanoseconds, of all kinds; NaN: no samples */
	int remembers;      /* the next two are known */
	uint64_t peak, end; /* resident bytes, as in struct result */
	uint64_t minor_faults, major_faults;
	uint64_t counts[COUNTERS];
	int counted[COUNTERS]; /* that of .counts is known */
};

/* The figures that the reports have in common, those that are compared first. */
enum metric_kind {
	METRIC_COST, /* CPU nanoseconds an operation, net of telreplay's own */
	METRIC_P99,  /* latency that 99 % of all operations stay below */
	METRIC_PEAK, /* resident bytes; of the run that was watched, too */
	METRIC_END,
	METRIC_PROCESS, /* as METRIC_COST, of all threads of the process */
	METRIC_FAULTS,
	METRIC_WALL, /* real time, nanoseconds an operation */
	METRICS
};
struct metric {
	const char *name, *label; /* for programs, and for people */
};
extern const struct metric result_metrics[METRICS];

/* NaN: unknown. */
struct spread {
	double median, least, most;
};

/* An allocator and its results. */
struct result {
	struct allocator *allocator;
	const struct result *own; /* of the null allocator; NULL for itself */
	char path[4096], release[256], called[64];
	int plugin;
	int verified; /* its times have those of --verify, which .own has not */
	int has_delete, has_sized; /* of C++, and given the size */
	char settings[4096]; /* in its environment; see allocator_settings() */

	struct timing runs[RUNS_MAX];
	size_t nruns;
	uint64_t operations[RUN_KINDS]; /* of a run */
	uint64_t failures;              /* of all runs: NULL was returned */
	uint64_t errors;                /* of all runs: found by --verify */
	struct run_latency latency[RUN_KINDS];     /* of all runs */
	struct run_size_time size_time[RUN_SIZES]; /* of all runs */
	struct spread figures[METRICS];            /* the range over the runs */
	double own_cost; /* telreplay's share of METRIC_COST; NaN: unknown */
	double tick_ns;
	double empty_ns, noise_ns;
	struct run_times *threads; /* of the last run */

	int watched;
	struct sample baseline, end, idle, freed, freed_idle;
	struct sample samples[SAMPLES_MAX + 5]; /* in the order of time */
	size_t nsamples;
	int has_room;
	uint64_t asked, given;
	struct run_slack slack[RUN_SIZES];
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

/* The 99th percentile of samples; NaN: there are none. */
double result_p99_of(const struct run_latency latency[RUN_KINDS],
    double tick_ns);
/* A counter for each operation, the median; NaN: unknown. */
double result_counter(const struct result *r, enum counter which);
/* The sample that has the most resident, or NULL. */
const struct sample *result_largest(const struct result *r);
/* The peak of memory over that of the live bytes; NaN when unknown. */
double result_over_live(const struct result *r, const struct facts *facts);
/* Resident bytes of a sample, net of those of another one, ... */
uint64_t sample_above(const struct sample *s, const struct sample *baseline);
/* ... and of those before the run. */
uint64_t result_resident(const struct result *r, const struct sample *s);

#endif
