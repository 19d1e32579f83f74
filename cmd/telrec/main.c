/* SPDX-License-Identifier: BSD-2-Clause */
/* telrec - record what programs do; control the telemetry of a program. */
#include "telrec.h"

#include "common/message.h"
#include "common/streams.h"
#include "telrec/symbols.h"

int
main(int argc, char **argv)
{
	struct telrec telrec;

	streams_begin();
	message_begin("telrec");
	if (!telrec_options(&telrec, argc, argv))
		return (int)message_status();
	if (telrec.control == NULL && telrec.symbols == NULL)
		return telrec_run(&telrec);
	if (telrec.control != NULL) {
		telrec_control(&telrec);
		streams_end();
	} else {
		telrec_symbols_copy(telrec.symbols, telrec.operands[0]);
	}
	return (int)message_status();
}
