/* SPDX-License-Identifier: BSD-2-Clause */
/* telfilter - filter events, preserving the format. */
#include "telfilter.h"

#include "common/message.h"
#include "common/sandbox.h"

int
main(int argc, char **argv)
{
	struct telfilter telfilter;
	struct sink sink;
	uint64_t found = 0;
	int begun = 0;

	streams_begin();
	message_begin("telfilter");
	if (telfilter_options(&telfilter, argc, argv) &&
	    output_open(&sink, &telfilter.settings)) {
		begun = 1;
		sandbox_enter(&telfilter.settings, &sink,
		    telfilter.settings.folder);
		found = filtering_run(&telfilter.filtering, &sink);
		sink_close(&sink);
	}
	settings_free(&telfilter.settings);
	/* as with grep, what was found counts for more than what went wrong */
	if (begun && telfilter.filtering.any && found > 0)
		return (int)STATUS_OK;
	if (begun && telfilter.filtering.any && message_status() == STATUS_OK)
		return (int)STATUS_FAILED;
	return (int)message_status();
}
