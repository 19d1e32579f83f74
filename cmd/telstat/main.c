/* SPDX-License-Identifier: BSD-2-Clause */
/* telstat - count the events of telemetry logs. */
#include "telstat.h"

#include "common/message.h"

int
main(int argc, char **argv)
{
	struct telstat telstat;
	struct sink sink;

	streams_begin();
	message_begin("telstat");
	if (telstat_options(&telstat, argc, argv) &&
	    sink_open(&sink, &telstat.settings)) {
		telstat_run(&telstat, &sink);
		sink_close(&sink);
	}
	tel_stats_free(telstat.stats);
	settings_free(&telstat.settings);
	return (int)message_status();
}
