/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs: work that is done by several threads, in any order, and whose results
 * are taken in order.
 */
#ifndef COMMON_JOBS_H
#define COMMON_JOBS_H

#include <stddef.h>
#include <stdint.h>

struct jobs;

/* Does job number job; called on several threads at once. */
typedef void job_fn(void *arg, struct jobs *j, size_t job);

/* The processors that the program may use, at least 1. */
unsigned jobs_cores(void);

/*
 * Starts jobs 0 to n - 1 on threads, in order.  ahead: job i waits until job
 * i - ahead was taken, so that results do not pile up.
 * Returns NULL when out of memory, or when no thread could be started.
 */
struct jobs *jobs_begin(unsigned threads, size_t n, size_t ahead, job_fn *fn,
    void *arg);

/*
 * Waits until a job is done, and takes it and all those before it.
 * impatient: waits no longer than a tenth of a second.
 * Returns 1, or 0: it is not done yet.
 */
int jobs_take(struct jobs *j, size_t job, int impatient);

/* Adds to how much the jobs have done, for a progress line; and gives that. */
void jobs_add(struct jobs *j, uint64_t events, uint64_t input);
void jobs_added(struct jobs *j, uint64_t *events, uint64_t *input);

/* Waits for the jobs that run; those that were not started are left out. */
void jobs_end(struct jobs *j);

#endif
