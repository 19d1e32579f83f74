/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats of traces of allocators: one a dialect. */
#include "encoder/relay.h"
#include "format/alloc/alloc.h"

/* The numbers of backtraces, and of blocks, mean what their own trace says. */
static tel_status
alone_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	if (w->nlogs > 1)
		return tel__write_fail(w, TEL_EINVAL,
		    "%.80s: two traces of %s cannot be written as one trace; "
		    "use -f text",
		    ev->log->name, w->encoder->what);
	return tel__relay_write(w, ev, changed);
}

/* Backtraces and what is said of the trace itself. */
static int
heaptrack_needed(const struct tel_event *ev)
{
	return strcmp(ev->type->kind, "Trace") == 0 ||
	    strcmp(ev->type->kind, "Log") == 0;
}

#define DECODER \
	.schema_new = tel__al_schema_new, .probe = tel__al_probe, \
	.open = tel__al_open, .next = tel__al_next, .more = tel__al_more, \
	.close = tel__al_close

static const struct tel_encoder_ops encoder_android = {
	.what = "Android",
	.flags = ENCODER_VERBATIM,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_android = {
	.name = "android",
	.dialect = &tel__al_android,
	.encoder = &encoder_android,
	DECODER,
};

static const struct tel_encoder_ops encoder_heaptrack = {
	.what = "heaptrack",
	.flags = ENCODER_VERBATIM,
	.write = alone_write,
	.needed = heaptrack_needed,
	RELAY,
};

const struct tel_format_ops tel__format_heaptrack = {
	.name = "heaptrack",
	.dialect = &tel__al_heaptrack,
	.encoder = &encoder_heaptrack,
	DECODER,
};

static const struct tel_encoder_ops encoder_kdump = {
	.what = "kdump",
	.flags = ENCODER_VERBATIM,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_kdump = {
	.name = "kdump",
	.dialect = &tel__al_kdump,
	.encoder = &encoder_kdump,
	DECODER,
};

static const struct tel_encoder_ops encoder_logalloc = {
	.what = "LogAlloc",
	.flags = ENCODER_VERBATIM,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_logalloc = {
	.name = "logalloc",
	.dialect = &tel__al_logalloc,
	.encoder = &encoder_logalloc,
	DECODER,
};

static const struct tel_encoder_ops encoder_ltrace = {
	.what = "ltrace",
	.flags = ENCODER_VERBATIM,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_ltrace = {
	.name = "ltrace",
	.dialect = &tel__al_ltrace,
	.encoder = &encoder_ltrace,
	DECODER,
};

static const struct tel_encoder_ops encoder_mtrace = {
	.what = "mtrace",
	.flags = ENCODER_VERBATIM,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_mtrace = {
	.name = "mtrace",
	.dialect = &tel__al_mtrace,
	.encoder = &encoder_mtrace,
	DECODER,
};

static const struct tel_encoder_ops encoder_rep = {
	.what = "CS:APP",
	.flags = ENCODER_VERBATIM,
	.write = alone_write,
	RELAY,
};

const struct tel_format_ops tel__format_rep = {
	.name = "rep",
	.dialect = &tel__al_rep,
	.encoder = &encoder_rep,
	DECODER,
};

static const struct tel_encoder_ops encoder_valgrind = {
	.what = "valgrind",
	.flags = ENCODER_VERBATIM,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_valgrind = {
	.name = "valgrind",
	.dialect = &tel__al_valgrind,
	.encoder = &encoder_valgrind,
	DECODER,
};
