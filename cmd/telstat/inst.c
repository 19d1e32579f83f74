/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "inst": records that telstat reads again; the library has it. */
#include "telstat.h"

#include "common/message.h"

static void
show_moment(const struct show *show)
{
	tel_status st =
	    tel_stats_write_inst(show->stats, show->out, show->at.final);

	if (st != TEL_OK && st != TEL_EIO)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
}

const struct form form_inst = { "inst", 0, NULL, show_moment, NULL };
