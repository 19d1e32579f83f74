/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer: events in the format they came in, or the one that was asked
 * for.  It sees all events of its logs, those that are written and those that
 * are passed over, and keeps what the former need of the latter.
 */
#include "base/array.h"
#include "base/getter.h"
#include "base/sized.h"
#include "encoder/encoder.h"
#include "format/registry.h"
#include "reader/reader.h"
#include "tel/run.h"

#include <stdio.h>
#include <stdlib.h>

/* The most bytes of lines that wait for an event. */
#define LEAD_MAX ((size_t)1 << 16)

tel_writer *
tel_writer_new(tel_output *out)
{
	tel_writer *w = calloc(1, sizeof(*w));

	if (w != NULL) {
		w->formats = &tel__formats;
		w->sink = w->out = out;
		w->max_labels = (size_t)1 << 18;
		tel__table_init(&w->by_log);
	}
	return w;
}

static void
free_log(struct write_log *log)
{
	const struct tel_encoder_ops *encoder = log->writer->encoder;

	if (encoder->close_log != NULL)
		encoder->close_log(log);
	tel__tracker_free(log->tracker);
	tel__table_clear(&log->ids);
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
	tel__table_clear(&w->by_log);
	w->current = NULL;
}

/* One of a target has no state if no log has come. */
static void
close_encoder(struct tel_writer *w, const struct tel_encoder_ops *encoder)
{
	if (w->state != NULL && encoder->close != NULL)
		encoder->close(w);
	free(w->state);
	w->state = NULL;
}

void
tel_writer_free(tel_writer *w)
{
	if (w == NULL)
		return;
	free_logs(w);
	if (w->encoder != NULL)
		close_encoder(w, w->encoder);
	tel__numbering_free(&w->numbering);
	tel__losses_free(&w->losses);
	tel__metadata_clear(&w->metadata);
	free(w->target_name);
	free(w->folder);
	free(w->first_log);
	free(w->lead);
	free(w);
}

/* -------------------------------------------------- choosing the encoder */

/* Nonzero when events of the log can be written in the form. */
static int
writer_takes(const struct tel_writer *w, const struct tel_encoder_ops *encoder,
    const struct tel_log *log)
{
	const struct tel_format_ops *f = tel__write_origin(w, log);

	return (encoder->flags & ENCODER_ANY) != 0 ||
	    (f != NULL && f->encoder == encoder);
}

/* The encoder of the format of that name; NULL: it is not written. */
static const struct tel_encoder_ops *
find_encoder(const struct tel_writer *w, const char *name)
{
	const struct tel_format_ops *f = tel__format_find(w->formats, name);

	if (f != NULL && f->written_as != NULL)
		f = tel__format_find(w->formats, f->written_as);
	return f != NULL ? f->encoder : NULL;
}

/* The encoder that may be asked for by that name; or NULL. */
static const struct tel_encoder_ops *
writer_find_target(const struct tel_writer *w, const char *name)
{
	const struct tel_encoder_ops *encoder;

	for (unsigned i = 0; i < w->formats->count; i++) {
		encoder = w->formats->rows[i].format->converter;
		if (encoder != NULL && encoder->target(name) == TEL_OK)
			return encoder;
		encoder = w->formats->rows[i].format->encoder;
		if (encoder != NULL && encoder->target != NULL &&
		    encoder->target(name) == TEL_OK)
			return encoder;
	}
	encoder = find_encoder(w, name);
	return encoder != NULL && encoder->flags & ENCODER_TARGET ? encoder :
	                                                            NULL;
}

tel_status
tel_writer_set_target(tel_writer *w, const char *name)
{
	const struct tel_encoder_ops *encoder = NULL;
	char *copy = NULL;

	if (w->encoder != NULL)
		return TEL_ESTATE;
	if (name != NULL) {
		encoder = writer_find_target(w, name);
		if (encoder == NULL)
			return TEL_EINVAL;
		copy = strdup(name);
		if (copy == NULL)
			return TEL_ENOMEM;
	}
	free(w->target_name);
	w->target_name = copy;
	w->target = encoder;
	return TEL_OK;
}

tel_status
tel_writer_set(tel_writer *w, tel_writer_option option, int64_t value)
{
	int *const values[] = {
		[TEL_WRITE_STRICT] = &w->strict,
		[TEL_WRITE_BARE] = &w->bare,
		[TEL_WRITE_TERMINAL] = &w->terminal,
		[TEL_WRITE_PART] = &w->part,
	};

	if (w->encoder != NULL)
		return TEL_ESTATE;
	if ((size_t)option < sizeof(values) / sizeof(*values))
		*values[option] = value != 0;
	else if (option == TEL_WRITE_MAX_LABELS && value >= 1 &&
	    value <= 1 << 30)
		w->max_labels = (size_t)value;
	else
		return TEL_EINVAL;
	return TEL_OK;
}

int
tel_writer_loss(const tel_writer *w, size_t i, tel_loss *out, size_t size)
{
	tel_loss loss;

	if (i >= w->losses.count)
		return 0;
	const struct loss *row = w->losses.rows[i];
	loss = (tel_loss){ row->kind, row->schema, w->losses.to, row->type,
		row->field, row->events };
	tel__sized_copy(out, size, &loss, sizeof(loss));
	return 1;
}

int
tel_writer_binary(const tel_writer *w, const tel_reader *r)
{
	const struct tel_format_ops *f =
	    tel__format_find(w->formats, r->log.format);
	const struct tel_encoder_ops *encoder =
	    w->target != NULL ? w->target : find_encoder(w, r->log.format);

	if (encoder == NULL || (encoder->flags & ENCODER_BINARY) == 0)
		return 0;
	return w->target == NULL && f->written_as != NULL ? 2 : 1;
}

/* The encoder whose events need others in whatever format; or NULL. */
static const struct tel_encoder_ops *
writer_find_context(const struct tel_writer *w)
{
	for (unsigned i = 0; i < w->formats->count; i++) {
		const struct tel_format_ops *f = w->formats->rows[i].format;

		if (f->encoder != NULL && f->encoder->flags & ENCODER_CONTEXT)
			return f->encoder;
	}
	return NULL;
}

/*
 * The first log's format is written, unless another was set.  TEL_OK,
 * TEL_EINVAL, TEL_ENOMEM.
 */
static tel_status
writer_start(struct tel_writer *w, const struct tel_log *log)
{
	const struct tel_encoder_ops *encoder =
	    w->target != NULL ? w->target : find_encoder(w, log->format);
	tel_status st = TEL_OK;

	if (encoder == NULL)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: %s cannot be written", tel__path_end(log->name, 120),
		    log->format);
	if (!writer_takes(w, encoder, log))
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: %s cannot be written as %s",
		    tel__path_end(log->name, 120),
		    log->origin != NULL ? log->origin : log->format,
		    encoder->what);
	if (encoder->state_size > 0 &&
	    (w->state = calloc(1, encoder->state_size)) == NULL)
		return TEL_ENOMEM;
	if (encoder->open != NULL)
		st = encoder->open(w, log);
	if (encoder->flags & ENCODER_ONE_NUMBERING)
		tel__numbering_begin(&w->numbering, w->max_labels);
	if (st == TEL_OK && (w->first_log = strdup(log->name)) == NULL)
		st = TEL_ENOMEM;
	if (st != TEL_OK) {
		close_encoder(w, encoder);
		return st;
	}
	if (encoder->flags & ENCODER_ONE_SCHEMA) {
		snprintf(w->schema, sizeof(w->schema), "%s", log->schema->name);
		w->abi = log->schema->abi;
	}
	w->encoder = encoder;
	w->convert = encoder->convert;
	w->context = writer_find_context(w);
	return TEL_OK;
}

/* Whether another log can go into the same stream: TEL_OK or TEL_EINVAL. */
static tel_status
writer_check(struct tel_writer *w, const struct tel_log *log)
{
	const struct tel_schema *s = log->schema;

	if (!writer_takes(w, w->encoder, log))
		return tel__write_fail(w, TEL_EINVAL,
		    "%s is not %s like %s; they cannot be written as one "
		    "log",
		    tel__path_end(log->name, 60), w->encoder->what,
		    tel__path_end(w->first_log, 60));
	if (!(w->encoder->flags & ENCODER_ONE_SCHEMA) ||
	    (strcmp(w->schema, s->name) == 0 &&
	        memcmp(&w->abi, &s->abi, sizeof(w->abi)) == 0))
		return TEL_OK;
	return tel__write_fail(w, TEL_EINVAL,
	    "%s is %s and %s is %s: %s cannot hold both; -f tel "
	    "can, and -f mps converts them to one",
	    tel__path_end(w->first_log, 40), w->schema,
	    tel__path_end(log->name, 40), s->name, w->encoder->what);
}

/* ----------------------------------------------------------------- options */

tel_status
tel_writer_set_folder(tel_writer *w, const char *path)
{
	if (w->encoder != NULL)
		return TEL_ESTATE;
	char *copy = strdup(path);
	if (copy == NULL)
		return TEL_ENOMEM;
	free(w->folder);
	w->folder = copy;
	return TEL_OK;
}

tel_status
tel_writer_set_metadata(tel_writer *w, const char *key, const char *value)
{
	if (w->encoder != NULL)
		return TEL_ESTATE;
	return value != NULL ? tel__metadata_set(&w->metadata, key, strlen(key),
	                           value, strlen(value)) :
	                       tel__metadata_remove(&w->metadata, key);
}

TEL__GETTER(const char *, tel_writer_error, tel_writer, error)

/* -------------------------------------------------------------------- logs */

static int
writer_is_build(void *arg, const struct tel_schema *schema, const char *string,
    size_t n)
{
	const struct write_log *l = arg;

	return tel__write_is_build(l->writer, schema, string, n);
}

static struct write_log *
writer_new_log(struct tel_writer *w, const struct tel_log *log)
{
	struct write_log *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->writer = w;
	l->log = log;
	l->number = log->number;
	l->serial = w->nlogs++;
	if (!w->bare)
		l->tracker = tel__tracker_new(w->max_labels, tel__write_put,
		    writer_is_build, l);
	tel__table_init(&l->ids);
	if (w->bare || l->tracker != NULL)
		return l;
	free_log(l);
	return NULL;
}

static struct write_log *
writer_find_log(const struct tel_writer *w, const struct tel_log *log)
{
	const struct tel__entry *e =
	    tel__table_find(&w->by_log, (uintptr_t)log);

	return e != NULL ? (struct write_log *)(uintptr_t)e->value : NULL;
}

/* The reader has gone on to another member.  Few readers do. */
static void
remove_log(struct tel_writer *w, struct write_log *log)
{
	struct write_log **link = &w->logs;

	while (*link != log)
		link = &(*link)->next;
	*link = log->next;
	free_log(log);
}

/* The log has ended, and is closed. */
static void
free_tracker(struct write_log *log)
{
	tel__tracker_free(log->tracker);
	log->tracker = NULL;
}

/* Makes the log that an event is of the current one. */
static tel_status
switch_log(struct tel_writer *w, const struct tel_log *log)
{
	struct write_log *l = writer_find_log(w, log), *before = w->current;
	struct tel__entry *e;
	tel_status st;
	int fresh;

	if (w->finished)
		return TEL_ESTATE;
	w->current = NULL;
	if (l != NULL && l->number == log->number) {
		w->current = l;
		return TEL_OK;
	}
	if (l != NULL)
		remove_log(w, l);
	else if (before != NULL && before->log->labels == NULL)
		free_tracker(before);
	st = w->encoder == NULL ? writer_start(w, log) : writer_check(w, log);
	if (st != TEL_OK)
		return st;
	l = writer_new_log(w, log);
	e = l != NULL ? tel__table_put(&w->by_log, (uintptr_t)log, &fresh) :
	                NULL;
	if (e == NULL) {
		if (l != NULL)
			free_log(l);
		return TEL_ENOMEM;
	}
	e->value = (uintptr_t)l;
	l->next = w->logs;
	w->logs = l;
	w->current = l;
	return w->encoder->begin != NULL ? w->encoder->begin(w, log) : TEL_OK;
}

static inline tel_status
writer_set_log(struct tel_writer *w, const struct tel_event *ev)
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

	if ((w->encoder->flags & ENCODER_LEAD_FOLLOWS) && !l->written)
		return TEL_OK;
	if (size > LEAD_MAX) {
		w->lead_lost = 1;
		return TEL_OK;
	}
	if (!TEL__RESERVE(w->lead, w->lead_room, size))
		return TEL_ENOMEM;
	memcpy(w->lead + w->lead_size, lead, n);
	w->lead_size = size;
	return TEL_OK;
}

/* ------------------------------------------------------------------ events */

/* Notes that there was no memory for an event.  Returns st. */
static tel_status
writer_note(struct tel_writer *w, tel_status st)
{
	w->no_memory |= st == TEL_ENOMEM;
	return st;
}

static inline tel_status
write_event(struct tel_writer *w, const struct tel_event *event)
{
	tel_status st = writer_set_log(w, event);

	if (st == TEL_OK && w->convert != NULL)
		return w->convert(w, event, 1);
	if (st == TEL_OK && event->lead_size > 0)
		st = take_lead(w, w->current, event->lead, event->lead_size);
	return st == TEL_OK ? tel__write_wanted(w, event) : st;
}

tel_status
tel_writer_event(tel_writer *w, const tel_event *event)
{
	const tel_status st = write_event(w, event);

	return __builtin_expect(st == TEL_OK, 1) ? st : writer_note(w, st);
}

/*
 * How many events of a run, from one on, the encoder takes at once: no other
 * event has to be written before any of them.
 */
static size_t
simple_events(struct tel_writer *w, const struct tel_run *run, size_t from)
{
	const struct tel_event *ev = run->event;
	const struct tel_schema *s = run->first->schema;
	size_t i;

	if (w->convert != NULL || w->lead_size > 0 || ev->raw_size > 0 ||
	    ev->lead_size > 0 || ev->inline_size > 0)
		return 0;
	if (w->current->tracker != NULL)
		return tel__tracker_take(w->current->tracker, run, from);
	for (i = from; i < run->count; i++)
		if (run->types[i] >= s->ntypes ||
		    tel_type_is_followed(&s->types[run->types[i]]))
			break;
	return i - from;
}

/* Writes the events of a run from one on, those together that may be. */
__attribute__((noinline)) static tel_status
write_together(struct tel_writer *w, struct tel_run *run, size_t i)
{
	tel_status st = TEL_OK;

	while (i < run->count && st == TEL_OK) {
		size_t n = simple_events(w, run, i);

		if (n > 0)
			st = w->encoder->write_run(w, run, i, n);
		i += n;
		if (st == TEL_OK && i < run->count)
			st = write_event(w, run_event(run, i++));
	}
	return st;
}

tel_status
tel_writer_run(tel_writer *w, tel_run *run)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < run->count && st == TEL_OK; i++) {
		/* the first one by itself, as it may be of another log */
		if (i == 1 && w->encoder->write_run != NULL) {
			st = write_together(w, run, i);
			break;
		}
		st = write_event(w, run_event(run, i));
	}
	return __builtin_expect(st == TEL_OK, 1) ? st : writer_note(w, st);
}

/* Nonzero when other events need this one. */
static int
writer_is_needed(const struct tel_writer *w, const struct tel_event *ev)
{
	const struct tel_encoder_ops *encoder = w->encoder;

	if (encoder->needed != NULL)
		return encoder->needed(ev);
	return w->context != NULL && w->context->needed(ev);
}

static inline tel_status
pass_event(struct tel_writer *w, const struct tel_event *event)
{
	tel_status st = writer_set_log(w, event);

	if (st == TEL_OK && w->convert != NULL)
		return w->bare ? TEL_OK : w->convert(w, event, 0);
	if (st == TEL_OK && event->lead_size > 0)
		st = take_lead(w, w->current, event->lead, event->lead_size);
	if (st == TEL_OK)
		w->current->written = 0;
	if (st == TEL_OK && !w->bare && writer_is_needed(w, event))
		return w->encoder->write(w, event, NULL);
	return st == TEL_OK ? tel__write_unwanted(w, event) : st;
}

tel_status
tel_writer_pass(tel_writer *w, const tel_event *event)
{
	const tel_status st = pass_event(w, event);

	return __builtin_expect(st == TEL_OK, 1) ? st : writer_note(w, st);
}

/* 1 when the writer needs, of events passed over, only those on the log. */
static int
has_bare_events(const struct tel_writer *w)
{
	if (w->encoder == NULL || w->encoder->convert != NULL)
		return 0;
	if (w->encoder->flags & ENCODER_BARE_EVENTS)
		return 1;
	/* one that writes any events keeps what these have besides */
	if (!(w->encoder->flags & ENCODER_ANY))
		return 0;
	for (const struct write_log *l = w->logs; l != NULL; l = l->next) {
		const struct tel_format_ops *f = tel__write_origin(w, l->log);

		if (f == NULL || f->encoder == NULL ||
		    !(f->encoder->flags & ENCODER_BARE_EVENTS))
			return 0;
	}
	return 1;
}

int
tel_writer_needs(const tel_writer *w, const tel_type *type)
{
	if (!has_bare_events(w))
		return 1;
	return !w->bare && tel_type_is_followed(type);
}

tel_status
tel_writer_gap(tel_writer *w)
{
	if (w->encoder == NULL || w->encoder->gap == NULL)
		return TEL_OK;
	return w->encoder->gap(w);
}

tel_status
tel_writer_flush(tel_writer *w)
{
	tel_status st = TEL_OK;

	if (w->encoder != NULL && w->encoder->flush != NULL)
		st = w->encoder->flush(w);
	if (st != TEL_OK)
		return st;
	return tel_output_flush(w->sink);
}

tel_status
tel_writer_end_file(tel_writer *w, const tel_reader *r)
{
	const struct write_log *l;
	tel_status st = w->no_memory ? TEL_ENOMEM : TEL_OK;

	/* a text without an event still has its header, a trace its metadata */
	if (st == TEL_OK && r != NULL && w->encoder == NULL &&
	    (r->log.tail_size > 0 ||
	        (w->folder != NULL && r->log.files != NULL)))
		st = switch_log(w, &r->log);
	/* so does one of which all is filtered out, except for what was lost */
	if (st == TEL_OK && r != NULL && r->log.schema != NULL &&
	    r->log.lost > 0)
		st = switch_log(w, &r->log);

	for (l = w->logs; l != NULL && st == TEL_OK; l = l->next)
		if (l->log->tail_size > 0 && w->encoder->convert == NULL)
			st = take_lead(w, l, l->log->tail, l->log->tail_size);
	if (st == TEL_OK && w->encoder != NULL && w->encoder->end_file != NULL)
		st = w->encoder->end_file(w);
	free_logs(w);
	return st;
}

tel_status
tel_writer_schema(tel_writer *w, tel_schema *schema)
{
	const struct tel_encoder_ops *encoder =
	    w->encoder != NULL ? w->encoder : w->target;

	if (encoder == NULL || encoder->describe == NULL)
		return TEL_EINVAL;
	w->encoder = encoder;
	return writer_note(w, encoder->describe(w, schema));
}

tel_status
tel_writer_finish(tel_writer *w)
{
	if (w->no_memory)
		return TEL_ENOMEM;
	if (w->encoder == NULL)
		w->encoder = w->target;
	const tel_status st = w->encoder != NULL && w->encoder->finish != NULL ?
	    w->encoder->finish(w) :
	    TEL_OK;
	w->finished = 1;
	w->current = NULL;
	return st;
}
