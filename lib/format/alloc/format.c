/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats of traces of allocators: one a dialect. */
#include "encoder/relay.h"
#include "format/alloc/alloc.h"

/* Backtraces and blocks are numbered within their trace. */
static tel_status
alone_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	if (w->nlogs > 1)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: two traces of %s cannot be written as one trace; "
		    "use -f text",
		    tel__path_end(ev->log->name, 80), w->encoder->what);
	return tel__relay_write(w, ev, changed);
}

/* Backtraces and lines on the trace itself. */
static int
heaptrack_needed(const struct tel_event *ev)
{
	return strcmp(ev->type->kind, "Trace") == 0 ||
	    strcmp(ev->type->kind, "Log") == 0;
}

/* A format: its dialect and name, that for messages, how it is written, what it needs. */
#define FORMATS(F) \
	F(android, "android", "Android", tel__relay_write, NULL) \
	F(heaptrack, "heaptrack", "heaptrack", alone_write, heaptrack_needed) \
	F(heaptrack_data, "heaptrack-data", "heaptrack", alone_write, \
	    heaptrack_needed) \
	F(kdump, "kdump", "kdump", tel__relay_write, NULL) \
	F(logalloc, "logalloc", "LogAlloc", tel__relay_write, NULL) \
	F(ltrace, "ltrace", "ltrace", tel__relay_write, NULL) \
	F(mtrace, "mtrace", "mtrace", tel__relay_write, NULL) \
	F(rep, "rep", "CS:APP", alone_write, NULL) \
	F(valgrind, "valgrind", "valgrind", tel__relay_write, NULL)

#define DEFINE(dialect_, name_, what_, write_, needed_) \
	static const struct tel_encoder_ops encoder_##dialect_ = { \
		.what = what_, \
		.flags = ENCODER_VERBATIM, \
		.write = write_, \
		.needed = needed_, \
		RELAY, \
	}; \
	const struct tel_format_ops tel__format_##dialect_ = { \
		.name = name_, \
		.dialect = &tel__al_##dialect_, \
		.schema_new = tel__al_schema_new, \
		.probe = tel__al_probe, \
		.state_size = sizeof(struct al), \
		.open = tel__al_open, \
		.keeps_schema = 1, \
		.next = tel__al_next, \
		.decode_batch = tel__al_decode_batch, \
		.close = tel__al_close, \
		.encoder = &encoder_##dialect_, \
	};

FORMATS(DEFINE)
