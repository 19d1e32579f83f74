/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format "hpm": its schema, and its encoder, which writes the header, the
 * records and their padding as they were read.  The meta file of the trace is
 * valid for the copy, too.
 *
 * Of several traces one is made.  A counter record has its processor; a marker
 * is read as one of the trace's first, so from the first record of another
 * processor on padding of a length that no virtual machine wrote has the number
 * of the one whose records follow (HPM_SWITCH).  Where it goes depends on the
 * events alone: what was read of such a trace is written the same.
 */
#include "base/array.h"
#include "base/buffer.h"
#include "encoder/relay.h"
#include "format/hpm/hpm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct encoder {
	char *header; /* of the first trace */
	size_t header_size;
	int started;   /* it was written */
	int counters;  /* so was a counter record */
	int several;   /* and padding with a processor's number */
	int64_t cpu;   /* that the next marker would be read as one of, or -1 */
	uint64_t run;  /* of the first trace */
	unsigned only; /* the log that was written last, */
	char schema[48]; /* and the schema of all */
	int ended;       /* no log that was written so far has more events */
	/* markers before the first counter record */
	struct tel__buffer held;
};

static void
hpm_close(struct tel_writer *w)
{
	struct encoder *e = w->state;

	free(e->header);
	tel__buffer_clear(&e->held);
}

/* Keeps the header of the first trace, for when nothing is selected. */
static tel_status
hpm_begin(struct tel_writer *w, const struct tel_log *log)
{
	struct encoder *e = w->state;

	if (e->header != NULL)
		return TEL_OK;
	e->cpu = -1;
	e->header = tel__copy_string(log->preamble, log->preamble_size);
	if (e->header == NULL)
		return TEL_ENOMEM;
	e->header_size = log->preamble_size;
	return TEL_OK;
}

/* Another log than the last one: TEL_OK when one trace can hold both. */
static tel_status
check_log(struct tel_writer *w, const struct tel_log *log)
{
	struct encoder *e = w->state;
	const char *why = NULL;

	if (e->ended)
		why = "traces are one only as they merge, without --no-merge";
	else if (log->run != e->run)
		why = "traces of different runs have different meta files";
	else if (strcmp(log->schema->name, e->schema) != 0)
		why = "its records are of another size or byte order";
	if (why != NULL)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: not to be written to the same HPM trace: %s; text "
		    "can hold several (-f text)",
		    tel__path_end(log->name, 60), why);
	e->only = w->current->serial;
	return TEL_OK;
}

/* Writes the padding behind the record that was written before. */
static tel_status
put_padding(struct tel_writer *w)
{
	size_t size = w->lead_size;

	w->lead_size = 0;
	return tel_output_write(w->out, w->lead, size);
}

static void
store32(unsigned char *p, uint32_t value, int big)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> 8 * (big ? 3 - i : i));
}

/* Writes padding with the processor's number of the records that follow. */
static tel_status
hpm_put_switch(struct tel_writer *w, const struct tel_schema *schema,
    int64_t cpu)
{
	unsigned char record[8 + HPM_SWITCH + HPM_PROCESSORS] = { 0 };
	uint32_t n = HPM_SWITCH + (uint32_t)cpu % HPM_PROCESSORS;
	struct encoder *e = w->state;

	store32(record, HPM_PADDING, schema->abi.big);
	store32(record + 4, n, schema->abi.big);
	e->several = 1;
	e->cpu = cpu;
	return tel_output_write(w->out, record, 8 + n);
}

/* Writes the markers that were held until the first counter record came. */
static tel_status
put_held(struct tel_writer *w)
{
	struct encoder *e = w->state;
	const size_t size = e->held.used;

	e->held.used = 0;
	return size > 0 ? tel_output_write(w->out, e->held.bytes, size) :
	                  TEL_OK;
}

static tel_status
write_first(struct tel_writer *w, const struct tel_log *log)
{
	struct encoder *e = w->state;

	e->started = 1;
	e->only = w->current->serial;
	e->run = log->run;
	snprintf(e->schema, sizeof(e->schema), "%s", log->schema->name);
	return tel_output_write(w->out, log->preamble, log->preamble_size);
}

/* The value of a field that may have come from a native file.  0: none. */
static int
hpm_load(const struct tel_event *ev, const char *name, uint64_t *value)
{
	int i = tel_type_find_field(ev->type, name);

	if (i < 0)
		return 0;
	*value = tel_load(&ev->type->fields[i], ev->data);
	return 1;
}

/* Nonzero when the event is of another processor than would be read. */
static int
is_switch(const struct encoder *e, const struct tel_event *ev, int64_t cpu,
    int counter)
{
	uint64_t flags;

	if (e->cpu < 0 || e->cpu == cpu)
		return 0;
	if (!counter)
		return 1;
	/* one that was strange in its own trace is so in this one */
	return !e->several &&
	    (!hpm_load(ev, "flags", &flags) ||
	        (flags & HPM_FLAG_PROCESSOR) == 0);
}

static tel_status
hpm_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	const struct tel_schema *schema = ev->type->schema;
	struct encoder *e = w->state;
	tel_status st = tel__relay_check(w, ev);
	uint64_t value = 0;

	(void)changed;
	if (st == TEL_OK && !e->started)
		st = write_first(w, ev->log);
	if (st == TEL_OK && e->only != w->current->serial)
		st = check_log(w, ev->log);
	if (st != TEL_OK)
		return st;
	int counter = ev->raw_size >= 4 &&
	    hpm_load32(ev->raw, schema->abi.big) % 16 == HPM_COUNTER;
	int64_t cpu = hpm_load(ev, "cpu", &value) ? (int64_t)value : e->cpu;
	if (is_switch(e, ev, cpu, counter)) {
		/* the held records are of the processor before */
		if (e->held.used > 0 && !e->several)
			st = hpm_put_switch(w, schema, e->cpu);
		if (st == TEL_OK)
			st = put_held(w);
		if (st == TEL_OK && w->lead_size > 0)
			st = put_padding(w);
		if (st == TEL_OK)
			st = hpm_put_switch(w, schema, cpu);
	} else if (counter) {
		st = put_held(w);
	}
	if (e->cpu < 0 || (counter && e->several))
		e->cpu = cpu;
	e->counters |= counter;
	if (!e->counters && !e->several && st == TEL_OK) {
		tel__buffer_put(&e->held, w->lead, w->lead_size);
		tel__buffer_put(&e->held, ev->raw, ev->raw_size);
		w->lead_size = 0;
		return e->held.failed ? TEL_ENOMEM : TEL_OK;
	}
	if (st == TEL_OK && w->lead_size > 0)
		st = put_padding(w);
	return st == TEL_OK ? tel_output_write(w->out, ev->raw, ev->raw_size) :
	                      st;
}

static tel_status
hpm_end_file(struct tel_writer *w)
{
	struct encoder *e = w->state;

	if (e != NULL)
		e->ended = e->started;
	return TEL_OK;
}

static tel_status
hpm_finish(struct tel_writer *w)
{
	const struct encoder *e = w->state;

	if (e == NULL)
		return TEL_OK;
	if (!e->started)
		return tel_output_write(w->out, e->header, e->header_size);
	tel_status st = put_held(w);
	return st == TEL_OK && w->lead_size > 0 ? put_padding(w) : st;
}

static const struct tel_encoder_ops encoder = {
	.what = "an HPM trace",
	.flags = ENCODER_BINARY | ENCODER_TARGET | ENCODER_LEAD_FOLLOWS |
	    ENCODER_VERBATIM,
	.state_size = sizeof(struct encoder),
	.begin = hpm_begin,
	.write = hpm_write,
	.flush = put_held,
	.end_file = hpm_end_file,
	.finish = hpm_finish,
	.close = hpm_close,
};

static tel_status
hpm_schema_new(const char *name, struct tel_schema **out)
{
	return tel__hpm_schema_new(strcmp(name, "hpm") == 0 ? NULL : name, out);
}

const struct tel_format_ops tel__format_hpm = {
	.name = "hpm",
	.schema_new = hpm_schema_new,
	.probe = tel__hpm_probe,
	.state_size = sizeof(struct hpm),
	.open = tel__hpm_open,
	.next = tel__hpm_next,
	.decode_batch = tel__hpm_decode_batch,
	.close = tel__hpm_close,
	.encoder = &encoder,
};
