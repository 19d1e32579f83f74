/* SPDX-License-Identifier: BSD-2-Clause */
/* The format "inst": its schema, and its encoder. */
#include "encoder/relay.h"
#include "format/inst/inst.h"

/* Each log defines its own ids, so logs may only follow each other. */
static tel_status
encoder_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	tel_status st = tel__relay_check(w, ev);

	(void)changed;
	if (st != TEL_OK)
		return st;
	if (w->current->serial + 1 < w->nlogs)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: merged inst logs cannot be written as one; use "
		    "--no-merge or -f text",
		    tel__path_end(ev->log->name, 80));
	return tel__relay_put(w, ev->raw, ev->raw_size);
}

/*
 * Definitions, and records on the log itself: its version, what it lacks; also
 * those that a text or a native file has, of whatever log.  A record that has no
 * effect is needed where later ones have none because of it.
 */
static int
encoder_needed(const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	struct inst_binding b;
	size_t n;

	if (strcmp(t->kind, "Class") != 0 && strcmp(t->kind, "Log") != 0)
		return 0;
	if (!tel__inst_bind(t, &b))
		return 0;
	if (b.type != T_IGNORED)
		return 1;
	const char *record = tel_event_string(ev, (unsigned)b.fields[3], &n);
	return n > 1 && record[0] == 'C' && record[1] == ' ';
}

static const struct tel_encoder_ops encoder = {
	.what = "an inst log",
	.flags = ENCODER_TARGET | ENCODER_CONTEXT | ENCODER_VERBATIM,
	.write = encoder_write,
	.needed = encoder_needed,
	RELAY,
};

static tel_status
inst_schema_new(const char *name, struct tel_schema **out)
{
	if (strcmp(name, "inst") != 0 && strcmp(name, "inst-1") != 0)
		return TEL_EINVAL;
	struct tel_schema *s = tel__inst_schema();
	if (s == NULL)
		return TEL_ENOMEM;
	*out = s;
	return TEL_OK;
}

const struct tel_format_ops tel__format_inst = {
	.name = "inst",
	.schema_new = inst_schema_new,
	.probe = tel__inst_probe,
	.state_size = sizeof(struct inst),
	.open = tel__inst_open,
	.next = tel__inst_next,
	.close = tel__inst_close,
	.encoder = &encoder,
};
