/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing ETS logs: the records as they stood.  What SysInfo says of the
 * system names things in all the others.
 */
#include "write/writer.h"

#include <string.h>

static tel_status
ets_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	(void)changed;
	/* an event that is laid out anew has its record beside it */
	if (ev->raw_size > 0)
		return tel_output_write(w->out, ev->raw, ev->raw_size);
	return tel_output_write(w->out, ev->data, ev->size);
}

/* Without a clock are the records that MonNet puts in front, and no others. */
static int
ets_needed(const struct tel_event *ev)
{
	return tel_event_timeless(ev);
}

const struct write_form tel__write_form_ets = {
	.name = "ets",
	.what = "an ETS log",
	.binary = 1,
	.target = 1,
	.write = ets_write,
	.needed = ets_needed,
};
