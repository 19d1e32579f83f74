/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running: on which processor each thread was last, to see one that runs on
 * two at once.
 */
#ifndef TEL_RUNNING_H
#define TEL_RUNNING_H

#include <stdint.h>

/* Threads that are followed, by their number's low bits. */
#define TEL_RUNNING 1024u

/* All zero: nothing has run. */
struct tel_running {
	struct {
		int64_t thread;
		/* when it last ended on two processors, the latest first */
		uint64_t end[2];
		uint32_t cpu[2];
	} threads[TEL_RUNNING];
};

/*
 * Takes a period that a thread ran on cpu, up to end.  Periods come in order of
 * their starts.  Returns the end of those that the thread ran elsewhere: a
 * period that starts before it overlaps them.
 */
static inline uint64_t
tel_running_take(struct tel_running *r, int64_t thread, uint32_t cpu,
    uint64_t end)
{
	unsigned i = (unsigned)((uint64_t)thread % TEL_RUNNING);
	uint64_t *ends = r->threads[i].end, elsewhere;
	uint32_t *cpus = r->threads[i].cpu;
	unsigned place;

	if (r->threads[i].thread != thread) {
		r->threads[i].thread = thread;
		ends[0] = ends[1] = 0;
	}
	elsewhere = ends[cpus[0] == cpu];
	if (end >= elsewhere) {
		/* of all others it is the latest now */
		if (cpus[0] != cpu) {
			ends[1] = ends[0];
			cpus[1] = cpus[0];
		}
		place = 0;
	} else {
		if (cpus[0] == cpu) {
			ends[0] = ends[1];
			cpus[0] = cpus[1];
		} else if (cpus[1] != cpu && end < ends[1]) {
			return elsewhere;
		}
		place = 1;
	}
	ends[place] = end;
	cpus[place] = cpu;
	return elsewhere;
}

#endif
