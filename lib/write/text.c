/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing lines, as they stood in the text that was read: tel-text(5), whose
 * lines with '#' are passed on too, and the text of mpseventcnv.
 */
#include "reader/lines.h"
#include "write/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the last line, which may have been the last of an input. */
static tel_status
close_line(struct tel_writer *w)
{
	if (!w->open_line)
		return TEL_OK;
	w->open_line = 0;
	return tel_output_write(w->out, "\n", 1);
}

/* Writes a line that was read; a terminal is shown no control character. */
static tel_status
put_raw(struct tel_writer *w, const unsigned char *p, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char *q;
	size_t i;

	if (close_line(w) != TEL_OK)
		return w->out->status;
	w->open_line = p[size - 1] != '\n';
	if (!w->terminal)
		return tel_output_write(w->out, p, size);
	for (i = 0; i < size; i++) {
		q = tel_output_room(w->out, 4);
		if (q == NULL)
			return w->out->status;
		if ((p[i] >= ' ' && p[i] <= '~') || p[i] == '\n' ||
		    p[i] == '\t') {
			*q = p[i];
			w->out->used++;
		} else {
			q[0] = '\\';
			q[1] = 'x';
			q[2] = (unsigned char)digits[p[i] >> 4];
			q[3] = (unsigned char)digits[p[i] & 15];
			w->out->used += 4;
		}
	}
	return TEL_OK;
}

/* What stands before the first event of a log; once when all have the same. */
static tel_status
lines_begin(struct tel_writer *w, const struct tel_log *log)
{
	size_t size = log->preamble_size;
	unsigned char *copy;

	if (size == 0)
		return TEL_OK;
	if (w->preamble != NULL && size == w->preamble_size &&
	    memcmp(w->preamble, log->preamble, size) == 0)
		return TEL_OK;
	if (w->preamble == NULL) {
		copy = malloc(size);
		if (copy == NULL)
			return TEL_ENOMEM;
		memcpy(copy, log->preamble, size);
		w->preamble = copy;
		w->preamble_size = size;
	}
	return put_raw(w, log->preamble, size);
}

/* Writes the lines that wait for the next event. */
static tel_status
put_lead(struct tel_writer *w)
{
	size_t size = w->lead_size;

	w->lead_size = 0;
	return size > 0 ? put_raw(w, w->lead, size) : TEL_OK;
}

/*
 * The lines of several logs may alternate, and each must be read as what it
 * is.
 */
static tel_status
put_format(struct tel_writer *w, const struct tel_schema *schema)
{
	char line[80];
	int n, same;

	same = w->schema[0] == '\0' ? w->nlogs == 1 :
	                              strcmp(w->schema, schema->name) == 0;
	w->named = schema;
	snprintf(w->schema, sizeof(w->schema), "%s", schema->name);
	if (same || (w->nlogs == 1 && !w->lead_lost))
		return TEL_OK;
	n = snprintf(line, sizeof(line), "# format: %s\n", schema->name);
	return put_raw(w, (const unsigned char *)line, (size_t)n);
}

static tel_status
text_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	tel_status st = put_lead(w);

	(void)changed;
	if (st == TEL_OK && w->named != ev->log->schema)
		st = put_format(w, ev->log->schema);
	return st == TEL_OK ? put_raw(w, ev->raw, ev->raw_size) : st;
}

/* A line is as good as another that says the same. */
static tel_status
cnv_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	tel_status st = put_lead(w);

	if (st != TEL_OK || !changed)
		return st != TEL_OK ? st : put_raw(w, ev->raw, ev->raw_size);
	if (w->printer == NULL) {
		w->printer = tel_printer_new(w->out, TEL_FORMAT_MPSCNV);
		if (w->printer == NULL)
			return TEL_ENOMEM;
		tel_printer_set_terminal(w->printer, w->terminal);
	}
	st = close_line(w);
	return st == TEL_OK ? tel_printer_event(w->printer, ev) : st;
}

static tel_status
lines_gap(struct tel_writer *w)
{
	return put_raw(w, (const unsigned char *)"--\n", 3);
}

const struct write_form tel__write_form_text = {
	.name = "text",
	.what = "the text of telcat",
	.begin = lines_begin,
	.write = text_write,
	.gap = lines_gap,
	.finish = put_lead,
};
const struct write_form tel__write_form_cnv = {
	.name = "cnv",
	.what = "the text of mpseventcnv",
	.one_schema = 1,
	.one_numbering = 1,
	.begin = lines_begin,
	.write = cnv_write,
	.gap = lines_gap,
	.finish = put_lead,
};

/* Ids mean what their own log says, so logs may follow each other only. */
static tel_status
inst_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	(void)changed;
	if (w->current->serial + 1 < w->nlogs)
		return tel__write_fail(w, TEL_EINVAL,
		    "%.80s: inst logs that are merged cannot be written as "
		    "one; they can one after the other (--no-merge), and as "
		    "text (-f text)",
		    ev->log->name);
	return put_raw(w, ev->raw, ev->raw_size);
}

/*
 * Definitions, and what says of the log what it is and lacks.  A record that
 * has no effect is needed where later ones have none because of it.
 */
static int
inst_needed(const struct tel_event *ev)
{
	int at;
	const char *record;
	size_t n;

	if (strcmp(ev->type->kind, "Class") == 0)
		return 1;
	if (strcmp(ev->type->kind, "Log") != 0)
		return 0;
	at = tel_type_find_field(ev->type, "reason");
	if (at < 0)
		return 1;
	record = tel_event_string(ev, (unsigned)at + 1, &n);
	return n > 1 && record[0] == 'C' && record[1] == ' ';
}

const struct write_form tel__write_form_inst = {
	.name = "inst",
	.what = "an inst log",
	.target = 1,
	.write = inst_write,
	.needed = inst_needed,
};

static tel_status
alloc_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	tel_status st = put_lead(w);

	(void)changed;
	return st == TEL_OK ? put_raw(w, ev->raw, ev->raw_size) : st;
}

/* The numbers of backtraces, and of blocks, mean what their own trace says. */
static tel_status
alone_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	if (w->nlogs > 1)
		return tel__write_fail(w, TEL_EINVAL,
		    "%.80s: two traces of %s cannot be written as one; they "
		    "can as text (-f text)",
		    ev->log->name, w->form->what);
	return alloc_write(w, ev, changed);
}

/* Backtraces and what is said of the trace itself. */
static int
heaptrack_needed(const struct tel_event *ev)
{
	return strcmp(ev->type->kind, "Trace") == 0 ||
	    strcmp(ev->type->kind, "Log") == 0;
}

#define ALLOC_FORM .begin = lines_begin, .gap = lines_gap, .finish = put_lead

const struct write_form tel__write_forms_alloc[WRITE_FORMS_ALLOC] = {
	{ "android", "Android", .write = alloc_write, ALLOC_FORM },
	{ "heaptrack", "heaptrack", .write = alone_write, ALLOC_FORM,
	    .needed = heaptrack_needed },
	{ "kdump", "kdump", .write = alloc_write, ALLOC_FORM },
	{ "logalloc", "LogAlloc", .write = alloc_write, ALLOC_FORM },
	{ "ltrace", "ltrace", .write = alloc_write, ALLOC_FORM },
	{ "mtrace", "mtrace", .write = alloc_write, ALLOC_FORM },
	{ "rep", "CS:APP", .write = alone_write, ALLOC_FORM },
	{ "valgrind", "valgrind", .write = alloc_write, ALLOC_FORM },
};
