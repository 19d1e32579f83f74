/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace of telstat itself, by libtel-emit. */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "common/message.h"

TEL_EVENTS_DEFINE(TELSTAT, "telstat", 1, 0, 0)

int
trace_start(const char *path)
{
	/* what the variable of other programs has on is not for this one */
	const tel_emit_options options = { .control_env = "TELSTAT_CONTROL",
		.flags = TEL_EMIT_BLOCK };

	if (tel_emit_open(&options, &tel_list_TELSTAT) == 0 &&
	    (tel_control_read() != 0 || tel_control_text("all") == 0) &&
	    tel_emit_to_file(path, ~0u, TEL_SINK_WAIT) != NULL)
		return 1;
	message_fail(STATUS_FAILED, path, "%s",
	    errno == EINVAL ? tel_emit_error() : strerror(errno));
	tel_emit_close();
	return 0;
}

void
trace_end(const char *path)
{
	(void)tel_emit_flush();
	uint64_t lost = tel_emit_lost();
	tel_emit_close();
	if (lost > 0)
		message_fail(STATUS_FAILED, path,
		    "%" PRIu64 " events of the trace were lost", lost);
}
