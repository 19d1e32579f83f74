/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of records: that of the processor, or of the system. */
#ifndef TELREC_CLOCK_H
#define TELREC_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "telrec/preload/ring.h"

static inline uint64_t
ring_clock(void)
{
	struct timespec now;
#if defined(__x86_64__) || defined(__i386__)
	uint64_t ticks;

	if (ring_shared.arena->clock == ARENA_CLOCK_CPU) {
		/*
		 * After all that this thread did before, and before all that
		 * it does afterwards: who owns a page depends on it.
		 */
		__asm__ __volatile__("lfence" ::: "memory");
		ticks = __builtin_ia32_rdtsc();
		__asm__ __volatile__("lfence" ::: "memory");
		return ticks;
	}
#elif defined(__aarch64__)
	uint64_t ticks;

	if (ring_shared.arena->clock == ARENA_CLOCK_CPU) {
		__asm__ __volatile__("isb; mrs %0, cntvct_el0; isb"
		                     : "=r"(ticks)
		                     :
		                     : "memory");
		return ticks;
	}
#endif
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * A clock that may be read somewhat before what this thread did last, in less
 * time.  It is not late: others see what the thread stores afterwards after
 * that.
 */
static inline uint64_t
ring_clock_early(void)
{
#if defined(__x86_64__) || defined(__i386__)
	if (ring_shared.arena->clock == ARENA_CLOCK_CPU)
		return __builtin_ia32_rdtsc();
#endif
	return ring_clock();
}

#endif
