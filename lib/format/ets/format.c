/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format "ets": its schema, and its encoder, which writes records as they
 * were read.  What SysInfo says of the system names things in all the others.
 */
#include "encoder/encoder.h"
#include "format/ets/ets.h"

static tel_status
ets_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
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

static const struct tel_encoder_ops encoder = {
	.what = "an ETS log",
	.flags = ENCODER_BINARY | ENCODER_TARGET,
	.write = ets_write,
	.needed = ets_needed,
};

static const char *
schema_name(unsigned i)
{
	return i == 0 ? "ets" : NULL;
}

static tel_status
schema_new(const char *name, struct tel_schema **out)
{
	(void)name;
	return tel__ets_schema_new(out);
}

const struct tel_format_ops tel__format_ets = {
	.name = "ets",
	.schema_name = schema_name,
	.schema_new = schema_new,
	.probe = tel__ets_probe,
	.open = tel__ets_open,
	.next = tel__ets_next,
	.close = tel__ets_close,
	.encoder = &encoder,
};
