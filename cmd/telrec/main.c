/* SPDX-License-Identifier: BSD-2-Clause */
/* telrec - record what programs do; control the telemetry of a program. */
#include "telrec.h"

#include "common/message.h"
#include "common/streams.h"

int
main(int argc, char **argv)
{
	struct telrec telrec;

	streams_begin();
	message_begin("telrec");
	if (!telrec_options(&telrec, argc, argv))
		return (int)message_status();
	if (telrec.control == NULL)
		return telrec_run(&telrec);
	telrec_control(&telrec);
	streams_end();
	return (int)message_status();
}
