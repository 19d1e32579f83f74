/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters, by perf_event_open(2). */
/* for syscall, which POSIX.1-2008 lacks */
#define _DEFAULT_SOURCE
#include "telreplay/run/counters.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE_MISSES(cache, what) \
	((cache) | PERF_COUNT_HW_CACHE_OP_##what << 8 | \
	    PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct {
	uint32_t type;
	uint64_t config;
} kinds[COUNTERS] = {
	[COUNTER_FAULTS] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	[COUNTER_TLB_LOADS] = { PERF_TYPE_HW_CACHE,
	    CACHE_MISSES(PERF_COUNT_HW_CACHE_DTLB, READ) },
	[COUNTER_TLB_STORES] = { PERF_TYPE_HW_CACHE,
	    CACHE_MISSES(PERF_COUNT_HW_CACHE_DTLB, WRITE) },
	[COUNTER_CACHE] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	[COUNTER_INSTRUCTIONS] = { PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_INSTRUCTIONS },
};

void
counters_open(struct counters *c)
{
	struct perf_event_attr about;

	for (unsigned i = 0; i < COUNTERS; i++) {
		memset(&about, 0, sizeof(about));
		about.size = sizeof(about);
		about.type = kinds[i].type;
		about.config = kinds[i].config;
		about.disabled = 1;
		about.inherit = 1;
		/* what unprivileged users may count */
		about.exclude_kernel = 1;
		about.exclude_hv = 1;
		about.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		    PERF_FORMAT_TOTAL_TIME_RUNNING;
		c->fd[i] = (int)syscall(SYS_perf_event_open, &about, 0, -1, -1,
		    PERF_FLAG_FD_CLOEXEC);
	}
}

void
counters_run(const struct counters *c, int on)
{
	for (unsigned i = 0; i < COUNTERS; i++)
		if (c->fd[i] >= 0)
			(void)ioctl(c->fd[i],
			    on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
			    0);
}

int
counters_read(const struct counters *c, enum counter which, uint64_t *out)
{
	uint64_t
	    v[3]; /* the count, and for how long it was enabled and running */

	if (c->fd[which] < 0 ||
	    read(c->fd[which], v, sizeof(v)) != (ssize_t)sizeof(v) || v[2] == 0)
		return 0;
	*out = v[2] < v[1] ?
	    (uint64_t)((double)v[0] * (double)v[1] / (double)v[2]) :
	    v[0];
	return 1;
}
