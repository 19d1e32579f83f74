/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format "hpm": its schema, and its encoder, which writes the header, the
 * records and their padding as they were read.  The meta file of the trace is
 * that of what is written.
 */
#include "encoder/relay.h"
#include "format/hpm/hpm.h"

#include <stdlib.h>

struct encoder {
	unsigned char *header; /* of the first trace */
	size_t header_size;
	int started;   /* it was written, */
	unsigned only; /* for the log of that serial */
};

static tel_status
hpm_open(struct tel_writer *w, const struct tel_log *log)
{
	(void)log;
	w->state = calloc(1, sizeof(struct encoder));
	return w->state != NULL ? TEL_OK : TEL_ENOMEM;
}

static void
hpm_close(struct tel_writer *w)
{
	struct encoder *e = w->state;

	if (e != NULL)
		free(e->header);
	free(e);
	w->state = NULL;
}

/* Keeps the header of the first trace, for when nothing is selected. */
static tel_status
hpm_begin(struct tel_writer *w, const struct tel_log *log)
{
	struct encoder *e = w->state;

	if (e->header != NULL)
		return TEL_OK;
	e->header = malloc(log->preamble_size + 1);
	if (e->header == NULL)
		return TEL_ENOMEM;
	if (log->preamble_size > 0)
		memcpy(e->header, log->preamble, log->preamble_size);
	e->header_size = log->preamble_size;
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
hpm_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	const struct tel_log *log = ev->log;
	struct encoder *e = w->state;
	tel_status st = tel__relay_check(w, ev);

	(void)changed;
	if (st != TEL_OK)
		return st;
	if (!e->started) {
		e->started = 1;
		e->only = w->current->serial;
		st =
		    tel_output_write(w->out, log->preamble, log->preamble_size);
	} else if (e->only != w->current->serial) {
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
	const struct encoder *e = w->state;

	if (e == NULL)
		return TEL_OK;
	if (!e->started)
		return tel_output_write(w->out, e->header, e->header_size);
	return w->lead_size > 0 ? put_padding(w) : TEL_OK;
}

static const struct tel_encoder_ops encoder = {
	.what = "an HPM trace",
	.flags = ENCODER_BINARY | ENCODER_TARGET | ENCODER_LEAD_FOLLOWS |
	    ENCODER_VERBATIM,
	.open = hpm_open,
	.begin = hpm_begin,
	.write = hpm_write,
	.finish = hpm_finish,
	.close = hpm_close,
};

static const char *
schema_name(unsigned i)
{
	return i == 0 ? "hpm" : NULL;
}

static tel_status
schema_new(const char *name, struct tel_schema **out)
{
	struct tel_schema *s = tel__hpm_schema_new();

	(void)name;
	if (s == NULL)
		return TEL_ENOMEM;
	*out = s;
	return TEL_OK;
}

const struct tel_format_ops tel__format_hpm = {
	.name = "hpm",
	.schema_name = schema_name,
	.schema_new = schema_new,
	.probe = tel__hpm_probe,
	.open = tel__hpm_open,
	.next = tel__hpm_next,
	.close = tel__hpm_close,
	.encoder = &encoder,
};
