/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters: what the kernel and the processor count of a process while it
 * runs, where they do and it is permitted.
 */
#ifndef TELREPLAY_COUNTERS_H
#define TELREPLAY_COUNTERS_H

#include <stdint.h>

enum counter {
	COUNTER_FAULTS, /* of pages */
	COUNTER_TLB_LOADS,
	COUNTER_TLB_STORES,
	COUNTER_CACHE, /* misses of the last level */
	COUNTER_INSTRUCTIONS,
	COUNTERS
};

/*
 * Opens them for this thread and those that it starts; .fd is -1 for one that
 * is not available.  They do not count until counters_run(1).
 */
struct counters {
	int fd[COUNTERS];
};
void counters_open(struct counters *c);
/* Starts or pauses them. */
void counters_run(const struct counters *c, int on);
/*
 * Reads one.  Returns 1 with its count so far, scaled up when it had to share
 * the processor's counters with others; or 0.
 */
int counters_read(const struct counters *c, enum counter which, uint64_t *out);

#endif
