/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer: events in the format they came in.  It sees all events of its
 * logs, those that are written and those that are passed over, and keeps
 * what the former need of the latter.
 */
#include "write/writer.h"
#include "reader/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The most bytes of lines that wait for an event. */
#define LEAD_MAX ((size_t)1 << 16)

tel_status
tel__write_fail(struct tel_writer *w, tel_status status, const char *format,
    ...)
{
	va_list args;
	size_t i;

	va_start(args, format);
	vsnprintf(w->error, sizeof(w->error), format, args);
	va_end(args);
	for (i = 0; w->error[i] != '\0'; i++)
		if (w->error[i] < ' ' || w->error[i] > '~')
			w->error[i] = '?';
	return status;
}

tel_writer *
tel_writer_new(tel_output *out)
{
	tel_writer *w = calloc(1, sizeof(*w));

	if (w != NULL) {
		w->out = out;
		w->max_labels = (size_t)1 << 18;
	}
	return w;
}

static void
free_log(struct write_log *log)
{
	tel__keep_free(log->keep);
	tel__labels_free(log->ids);
	tel__convert_log_free(log->convert);
	free(log);
}

static void
free_logs(struct tel_writer *w)
{
	struct write_log *log;

	while ((log = w->logs) != NULL) {
		w->logs = log->next;
		free_log(log);
	}
	w->current = NULL;
	w->named = NULL;
}

void
tel_writer_free(tel_writer *w)
{
	if (w == NULL)
		return;
	free_logs(w);
	tel__release_free(w);
	tel__ids_free(&w->ids);
	tel_printer_free(w->printer);
	tel__native_out_free(w->native);
	free(w->first_log);
	free(w->changed);
	free(w->lead);
	free(w->preamble);
	free(w);
}

tel_status
tel_writer_set_bare(tel_writer *w, int on)
{
	if (w->form != NULL)
		return TEL_ESTATE;
	w->bare = on;
	return TEL_OK;
}

tel_status
tel_writer_set_terminal(tel_writer *w, int on)
{
	if (w->form != NULL)
		return TEL_ESTATE;
	w->terminal = on;
	return TEL_OK;
}

tel_status
tel_writer_set_max_labels(tel_writer *w, size_t count)
{
	if (w->form != NULL)
		return TEL_ESTATE;
	if (count < 1 || count > (size_t)1 << 30)
		return TEL_EINVAL;
	w->max_labels = count;
	return TEL_OK;
}

const char *
tel_writer_error(const tel_writer *w)
{
	return w->error;
}

static struct write_log *
new_log(struct tel_writer *w, const struct tel_log *log)
{
	struct write_log *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->writer = w;
	l->log = log;
	l->number = log->number;
	l->serial = w->nlogs++;
	if (w->convert != NULL) {
		l->converted = *log;
		l->converted.form = "mps";
		l->converted.schema = w->to;
		l->converted.preamble = l->converted.tail = NULL;
		l->converted.preamble_size = l->converted.tail_size = 0;
	}
	if (!w->bare)
		l->keep = tel__keep_new(w->max_labels, tel__write_put, l);
	if (w->form->one_numbering)
		l->ids = tel__labels_new(w->max_labels);
	if ((w->bare || l->keep != NULL) &&
	    (!w->form->one_numbering || l->ids != NULL))
		return l;
	free_log(l);
	return NULL;
}

/* Makes the log that an event is of the current one. */
static tel_status
switch_log(struct tel_writer *w, const struct tel_log *log)
{
	struct write_log **link = &w->logs, *l;
	tel_status st = TEL_OK;

	w->current = NULL;
	for (; (l = *link) != NULL; link = &l->next) {
		if (l->log != log)
			continue;
		if (l->number == log->number) {
			w->current = l;
			return TEL_OK;
		}
		/* the reader has gone on to another member */
		*link = l->next;
		free_log(l);
		w->named = NULL;
		break;
	}
	st = w->form == NULL ? tel__write_begin_stream(w, log) :
	                       tel__write_check_stream(w, log);
	if (st != TEL_OK)
		return st;
	l = new_log(w, log);
	if (l == NULL)
		return TEL_ENOMEM;
	l->next = w->logs;
	w->logs = l;
	w->current = l;
	return w->form->begin != NULL ? w->form->begin(w, log) : TEL_OK;
}

static inline tel_status
set_log(struct tel_writer *w, const struct tel_event *ev)
{
	const struct write_log *l = w->current;

	if (__builtin_expect(l != NULL && l->log == ev->log &&
	            l->number == ev->log->number,
	        1))
		return TEL_OK;
	return switch_log(w, ev->log);
}

/* Keeps n bytes of lines without an event for whatever is written next. */
static tel_status
take_lead(struct tel_writer *w, const struct write_log *l,
    const unsigned char *lead, size_t n)
{
	size_t size = w->lead_size + n;
	unsigned char *bigger;

	if (w->form->lead_follows && !l->written)
		return TEL_OK;
	if (size > LEAD_MAX) {
		w->lead_lost = 1;
		return TEL_OK;
	}
	if (size > w->lead_room) {
		bigger = realloc(w->lead, size * 2);
		if (bigger == NULL)
			return TEL_ENOMEM;
		w->lead = bigger;
		w->lead_room = size * 2;
	}
	memcpy(w->lead + w->lead_size, lead, n);
	w->lead_size = size;
	return TEL_OK;
}

tel_status
tel__write_wanted(struct tel_writer *w, const struct tel_event *ev)
{
	tel_status st = TEL_OK;

	if (w->current->keep != NULL)
		st = tel__keep_before(w->current->keep, ev);
	if (st != TEL_OK)
		return st;
	w->current->written = 1;
	if (!tel_type_is_followed(ev->type))
		return w->form->write(w, ev, 0);
	return tel__write_put(w->current, ev);
}

tel_status
tel__write_unwanted(struct tel_writer *w, const struct tel_event *ev)
{
	if (!tel_type_is_followed(ev->type) || w->current->keep == NULL)
		return TEL_OK;
	return tel__keep_pass(w->current->keep, ev);
}

tel_status
tel_writer_event(tel_writer *w, const tel_event *event)
{
	tel_status st = set_log(w, event);

	if (st == TEL_OK && w->convert != NULL)
		return tel__release_event(w, event, 1);
	if (st == TEL_OK && event->lead_size > 0)
		st = take_lead(w, w->current, event->lead, event->lead_size);
	return st == TEL_OK ? tel__write_wanted(w, event) : st;
}

tel_status
tel_writer_pass(tel_writer *w, const tel_event *event)
{
	tel_status st = set_log(w, event);

	if (st == TEL_OK && w->convert != NULL)
		return w->bare ? TEL_OK : tel__release_event(w, event, 0);
	if (st == TEL_OK && event->lead_size > 0)
		st = take_lead(w, w->current, event->lead, event->lead_size);
	if (st == TEL_OK)
		w->current->written = 0;
	if (st == TEL_OK && !w->bare && w->form->needed != NULL &&
	    w->form->needed(event))
		return w->form->write(w, event, 0);
	return st == TEL_OK ? tel__write_unwanted(w, event) : st;
}

/* 1 when all that is written is of MPS streams. */
static int
mps_only(const struct tel_writer *w)
{
	const struct write_log *l;
	const char *form;

	if (w->form == &tel__write_form_mps)
		return 1;
	for (l = w->logs; l != NULL && w->form == &tel__write_form_tel;
	     l = l->next) {
		form = l->log->origin;
		if (strcmp(form != NULL ? form : l->log->form,
		        tel__write_form_mps.name) != 0)
			return 0;
	}
	return w->form == &tel__write_form_tel;
}

int
tel_writer_needs(const tel_writer *w, const tel_type *type)
{
	/* the lines before an event are told with it */
	if (!mps_only(w))
		return 1;
	return !w->bare && tel_type_is_followed(type);
}

tel_status
tel_writer_gap(tel_writer *w)
{
	if (w->form == NULL || w->form->gap == NULL)
		return TEL_OK;
	return w->form->gap(w);
}

tel_status
tel_writer_flush(tel_writer *w)
{
	tel_status st = TEL_OK;

	if (w->form != NULL && w->form->flush != NULL)
		st = w->form->flush(w);
	if (st != TEL_OK)
		return st;
	return tel_output_flush(w->hold.out != NULL ? w->hold.out : w->out);
}

tel_status
tel_writer_end_file(tel_writer *w, const tel_reader *r)
{
	const struct write_log *l;
	tel_status st = TEL_OK;

	/* a text without an event still says what it is of */
	if (r != NULL && w->form == NULL && r->log.tail_size > 0)
		st = switch_log(w, &r->log);

	for (l = w->logs; l != NULL && st == TEL_OK; l = l->next)
		if (l->log->tail_size > 0 && w->convert == NULL)
			st = take_lead(w, l, l->log->tail, l->log->tail_size);
	if (st == TEL_OK && w->form != NULL && w->form->end_file != NULL)
		st = w->form->end_file(w);
	free_logs(w);
	if (w->printer != NULL)
		tel_printer_set_file(w->printer, 0, 0);
	return st;
}

tel_status
tel_writer_finish(tel_writer *w)
{
	if (w->form == NULL)
		w->form = w->target;
	if (w->form == NULL || w->form->finish == NULL)
		return TEL_OK;
	return w->form->finish(w);
}
