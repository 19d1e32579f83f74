/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing an HPM trace, tel-hpm(5): the header, the records and their padding
 * as they stood.  The meta file of the trace is that of what is written.
 */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the header of the first trace, for when nothing is selected. */
static tel_status
hpm_begin(struct tel_writer *w, const struct tel_log *log)
{
	if (w->preamble != NULL)
		return TEL_OK;
	w->preamble = malloc(log->preamble_size + 1);
	if (w->preamble == NULL)
		return TEL_ENOMEM;
	memcpy(w->preamble, log->preamble, log->preamble_size);
	w->preamble_size = log->preamble_size;
	return TEL_OK;
}

/* What a record of another trace than the one that is written comes to. */
static tel_status
refuse(struct tel_writer *w, const struct tel_log *log)
{
	return tel__write_fail(w, TEL_EINVAL,
	    "%.60s: an HPM trace is of one processor, and records of another "
	    "trace were written: text can hold several (-f text)",
	    log->name);
}

/* Writes the padding behind the record that was written before. */
static tel_status
put_padding(struct tel_writer *w)
{
	size_t size = w->lead_size;

	w->lead_size = 0;
	return tel_output_write(w->out, w->lead, size);
}

static tel_status
hpm_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	const struct tel_log *log = ev->log;
	tel_status st = TEL_OK;

	(void)changed;
	if (!w->has_only) {
		w->has_only = 1;
		w->only = w->current->serial;
		st =
		    tel_output_write(w->out, log->preamble, log->preamble_size);
	} else if (w->only != w->current->serial) {
		return refuse(w, log);
	}
	if (st == TEL_OK && w->lead_size > 0)
		st = put_padding(w);
	return st == TEL_OK ? tel_output_write(w->out, ev->raw, ev->raw_size) :
	                      st;
}

static tel_status
hpm_finish(struct tel_writer *w)
{
	if (!w->has_only)
		return tel_output_write(w->out, w->preamble, w->preamble_size);
	return w->lead_size > 0 ? put_padding(w) : TEL_OK;
}

const struct write_form tel__write_form_hpm = {
	.name = "hpm",
	.what = "an HPM trace",
	.binary = 1,
	.target = 1,
	.lead_follows = 1,
	.begin = hpm_begin,
	.write = hpm_write,
	.finish = hpm_finish,
};
