/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an event of LTTng-UST costs, as bench_emit.c measures those of
 * libtel-emit: nanoseconds of CPU of the program, without the loop around it.
 * What the consumer daemon of LTTng uses comes on top.
 *
 *	lttng NAME
 */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng.h"

#include <stdio.h>
#include <time.h>

#define TURNS 2000000ul
#define RUNS 5

static double
cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The nanoseconds of a turn, of the best of some runs. */
static double
turns(int events)
{
	double best = 1e9, start, each;
	unsigned long i;
	int run;

	for (run = 0; run < RUNS; run++) {
		start = cpu();
		for (i = 0; i < TURNS; i++) {
			if (events)
				lttng_ust_tracepoint(bench, turn, &best, &run,
				    i);
			__asm__ __volatile__("" : : "r"(i) : "memory");
		}
		each = (cpu() - start) / (double)TURNS;
		best = each < best ? each : best;
	}
	return best;
}

int
main(int argc, char **argv)
{
	double loop = turns(0);

	printf("%-26s %8.2f\n", argc > 1 ? argv[1] : "LTTng-UST",
	    turns(1) - loop);
	return 0;
}
