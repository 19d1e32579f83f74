/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue: jobs with numbers, which threads start in order, and whose results
 * their owner takes in order.  What job i makes is in place i % room of an array
 * of the owner's, until it is taken.
 *
 * All but the function of the jobs is called on the owner's thread.
 */
#ifndef TEL__QUEUE_H
#define TEL__QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct tel__queue;

/*
 * Does a job.  thread: 0 is the owner's, others count from 1.  Returns nonzero;
 * or 0 to drop the jobs that no thread has started yet.
 */
typedef int tel__queue_fn(void *arg, unsigned thread, uint64_t job);

/*
 * room: a job is started when the one so many before it was taken.  wake: a
 * thread that waits for that sleeps until there is room for so many.
 * NULL: out of memory.
 */
struct tel__queue *tel__queue_new(size_t room, size_t wake, tel__queue_fn *fn,
    void *arg);
/* Ends the threads, once the jobs that they do are done. */
void tel__queue_free(struct tel__queue *q);

/*
 * Starts threads, up to so many, as many as can be; they take no signals.
 * Returns how many there are.
 */
unsigned tel__queue_start(struct tel__queue *q, unsigned threads);

/*
 * Jobs before end may be started.  wake: whether a thread wakes up, if there is
 * more than one.  Returns how many there are.
 */
uint64_t tel__queue_submit(struct tel__queue *q, uint64_t end, int wake);
/* Does the next job on this thread.  0: there is none. */
int tel__queue_run(struct tel__queue *q);

enum tel__queue_result {
	TEL__QUEUE_NONE,  /* nobody has started it, or nobody will */
	TEL__QUEUE_DONE,  /* it was */
	TEL__QUEUE_WAITED /* it is now */
};
/*
 * Waits until a job, which was not taken, is done.  ms: at most so many
 * milliseconds, or, if negative, as long as it takes; TEL__QUEUE_NONE then.
 */
enum tel__queue_result tel__queue_wait(struct tel__queue *q, uint64_t job,
    int ms);
/* Nonzero when neither that job nor a later one will be started. */
int tel__queue_ended(struct tel__queue *q, uint64_t job);
/* Jobs before end are taken, or not wanted. */
void tel__queue_take(struct tel__queue *q, uint64_t end);

/*
 * Starts no job until the next tel__queue_submit(), and waits for those that
 * were.  Returns the number of the next one.
 */
uint64_t tel__queue_pause(struct tel__queue *q);

#endif
