/* SPDX-License-Identifier: BSD-2-Clause */
/* telreplay - replay the allocations of telemetry logs. */
#include "telreplay/telreplay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "telreplay/run/child.h"
#include "common/message.h"
#include "report/export.h"
#include "report/show.h"

/* Checks that the trace can be run with these options. */
static int
can_run(const struct telreplay *t, const struct trace *trace)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const long memory = sysconf(_SC_PHYS_PAGES);
	uint64_t largest = trace->facts->largest;

	if ((t->run.pace > 0 || t->run.think_log) &&
	    trace->facts->tick_rate <= 0)
		return message_fail(STATUS_FAILED, NULL,
		    "%s: the log does not record the rate of its clock",
		    t->run.pace > 0 ? "--pace" : "--think");
	if ((size_t)largest != largest)
		return message_fail(STATUS_FAILED, NULL,
		    "a block of %" PRIu64 " bytes is larger than the address "
		    "space of this machine: only --dry-run is possible",
		    largest);
	/* to write to them would end the program, or others */
	if (memory > 0 && trace->facts->peak_bytes / (uint64_t)memory >= page &&
	    (t->run.touch > RUN_TOUCH_FIRST || t->run.verify))
		return message_fail(STATUS_FAILED, NULL,
		    "%" PRIu64 " bytes are live at the peak, more than this "
		    "machine has: --touch first, without --verify, writes to "
		    "the start of each block alone",
		    trace->facts->peak_bytes);
	return 1;
}

static void
replay(struct telreplay *t)
{
	struct benchmark benchmark;
	struct trace trace;
	int good = benchmark_open(&benchmark, t);

	if (good) {
		if (trace_open(&trace, t) && can_run(t, &trace) &&
		    benchmark_run(&benchmark, &trace))
			show_report(
			    &(struct show){ t, trace.facts, &benchmark });
		trace_close(&trace);
	}
	benchmark_close(&benchmark);
}

/* Writes what needs no run of an allocator. */
static void
show_trace_alone(struct telreplay *t)
{
	struct trace trace;

	if (trace_open(&trace, t)) {
		if (t->export != NULL)
			export_trace(t, &trace);
		else
			show_report(&(struct show){ t, trace.facts, NULL });
	}
	trace_close(&trace);
}

int
main(int argc, char **argv)
{
	struct telreplay *t;

	child_main();
	streams_begin();
	message_begin("telreplay");
	/* more than a small stack has */
	t = malloc(sizeof(*t));
	if (t == NULL)
		(void)message_no_memory();
	else if (telreplay_options(t, argc, argv)) {
		if (t->settings.count_only)
			trace_count(t);
		else if (t->export != NULL || t->check)
			show_trace_alone(t);
		else
			replay(t);
	}
	if (t != NULL) {
		allocators_free(&t->allocators);
		settings_free(&t->settings);
	}
	free(t);
	return (int)message_status();
}
