/* SPDX-License-Identifier: BSD-2-Clause */
/* telcat - show the events of telemetry logs. */
#include "telcat.h"

#include <stdlib.h>

#include "common/message.h"
#include "common/sandbox.h"
#include "common/total.h"

int
main(int argc, char **argv)
{
	struct telcat telcat;
	struct sink sink;

	streams_begin();
	message_begin("telcat");
	if (!telcat_options(&telcat, argc, argv)) {
		/* a message was printed, or there is nothing to do */
	} else if (telcat.split != NULL) {
		sandbox_enter(&telcat.settings, NULL, telcat.settings.output);
		telcat_split(&telcat);
	} else if (output_open(&sink, &telcat.settings)) {
		sandbox_enter(&telcat.settings, &sink, telcat.database);
		if (telcat.settings.count_only)
			(void)total_run(&telcat.settings, &sink);
		else if (telcat.types && telcat.format.shown == NULL)
			telcat_annex(&telcat, &sink);
		else if (telcat.types)
			telcat_types(&telcat, &sink);
		else if (telcat.format.shown == NULL)
			telcat_write(&telcat, &sink);
		else
			telcat_show(&telcat, &sink);
		sink_close(&sink);
	}
	free(telcat.fields);
	free(telcat.index);
	free(telcat.allocators);
	settings_free(&telcat.settings);
	return (int)message_status();
}
