/* SPDX-License-Identifier: BSD-2-Clause */
/* telstat - count the events of telemetry logs. */
#include "telstat.h"

#include <string.h>

#include "common/message.h"
#include "common/sandbox.h"
#include "common/total.h"
#include "interrupt.h"
#include "trace.h"

/* Starts the trace of --self-trace, in a file of its own.  1, or 0. */
static int
start_self_trace(const struct telstat *t)
{
	if (t->self_trace == NULL)
		return 1;
	if (output_is(t->self_trace, &t->settings))
		return message_fail(STATUS_USAGE, t->self_trace,
		    "--self-trace: the report would overwrite the trace");
	return output_check(t->self_trace, -1, &t->settings) &&
	    trace_start(t->self_trace);
}

int
main(int argc, char **argv)
{
	struct telstat telstat;
	struct sink sink;

	streams_begin();
	message_begin("telstat");
	if (argc > 1 && strcmp(argv[1], "diff") == 0) {
		telstat_diff(argc - 1, argv + 1);
		return (int)message_status();
	}
	if (telstat_options(&telstat, argc, argv) &&
	    operands_select(&telstat.settings) && start_self_trace(&telstat)) {
		if (output_open(&sink, &telstat.settings)) {
			interrupt_hold(&telstat.settings);
			sandbox_enter(&telstat.settings, &sink, NULL);
			if (telstat.settings.count_only)
				(void)total_run(&telstat.settings, &sink);
			else
				telstat_run(&telstat, &sink);
			TEL_EVENT1(Written, tel_output_bytes(sink.out));
			sink_close(&sink);
		}
		if (telstat.self_trace != NULL)
			trace_end(telstat.self_trace);
	}
	telstat_free(&telstat);
	interrupt_end();
	return (int)message_status();
}
