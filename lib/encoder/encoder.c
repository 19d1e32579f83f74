/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handing events to an encoder.  What several logs in one stream must agree
 * on is its version, which is said once, and the numbers of strings.
 */
#include "encoder/encoder.h"
#include "base/digit.h"
#include "model/encode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

tel_status
tel__write_fail(struct tel_writer *w, tel_status status, const char *format,
    ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->error, sizeof(w->error), format, args);
	va_end(args);
	tel__printable(w->error, sizeof(w->error));
	return status;
}

const struct tel_format_ops *
tel__write_origin(const struct tel_writer *w, const struct tel_log *log)
{
	return tel__format_find(w->formats,
	    log->origin != NULL ? log->origin : log->format);
}

int
tel__write_is_build(const struct tel_writer *w, const struct tel_schema *schema,
    const char *string, size_t n)
{
	const struct tel_format_ops *f =
	    tel__format_of_schema(w->formats, schema->name);

	return f != NULL && f->match_build_string != NULL &&
	    f->match_build_string(string, n);
}

/* 1 when a later log starts as the first one did: it is not repeated. */
static int
is_known_init(struct tel_writer *w, const struct tel_event *ev)
{
	size_t header = ev->type->schema->header, size = ev->size - header;

	if (size > sizeof(w->numbering.init))
		return 0;
	if (w->numbering.init_size == 0) {
		memcpy(w->numbering.init, ev->data + header, size);
		w->numbering.init_size = size;
		return 0;
	}
	return (w->current->serial > 0 || w->numbering.init_made) &&
	    size == w->numbering.init_size &&
	    memcmp(w->numbering.init, ev->data + header, size) == 0;
}

/* Writes a copy of ev with another number in field f. */
static tel_status
put_changed(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *f, uint64_t id)
{
	struct tel_event copy = *ev;

	if (w->numbering.changed == NULL)
		w->numbering.changed = malloc(TEL_SIZE_MAX);
	if (w->numbering.changed == NULL)
		return TEL_ENOMEM;
	memcpy(w->numbering.changed, ev->data, ev->size);
	copy.data = w->numbering.changed;
	tel_encode_field(f, id, w->numbering.changed);
	return w->encoder->write(w, &copy, f);
}

/* Writes a string or a label, with a number that no other log's string has. */
static tel_status
encoder_put_name(struct write_log *l, const struct tel_event *ev)
{
	struct tel_writer *w = l->writer;
	const struct tel_type *t = ev->type;
	int intern = t->role == TEL_ROLE_INTERN;
	const char *text = NULL;
	uint64_t id, to;
	size_t n = 0;
	int same;

	const struct tel_field *f = &t->fields[t->role_field[intern ? 0 : 1]];
	id = tel_load(f, ev->data);
	if (intern)
		text = tel_load_string(ev, &t->fields[t->role_field[1]], &n);
	tel_status st = tel__numbering_map(&w->numbering, &l->ids,
	    f->width < 64 ? ((uint64_t)1 << f->width) - 1 : UINT64_MAX, id,
	    text, n, &to, &same);
	if (st == TEL_ELIMIT && w->nlogs > 1)
		return tel__write_fail(w, st,
		    "more than %zu strings: their numbers would be ambiguous",
		    w->max_labels);
	if (st != TEL_OK && st != TEL_ELIMIT)
		return st;
	/* the release is the same, and was named */
	if (intern && l->serial > 0 && same && to == id &&
	    tel__write_is_build(w, ev->type->schema, text, n))
		return TEL_OK;
	if (to != id)
		return put_changed(w, ev, f, to);
	return w->encoder->write(w, ev, NULL);
}

tel_status
tel__write_put(void *arg, const struct tel_event *ev)
{
	struct write_log *l = arg;
	struct tel_writer *w = l->writer;

	if (w->encoder->flags & ENCODER_ONE_NUMBERING) {
		if (ev->type->role == TEL_ROLE_INIT && is_known_init(w, ev))
			return TEL_OK;
		if (tel_type_is_name(ev->type))
			return encoder_put_name(l, ev);
	}
	return w->encoder->write(w, ev, NULL);
}

tel_status
tel__write_wanted(struct tel_writer *w, const struct tel_event *ev)
{
	tel_status st = TEL_OK;

	if (w->current->tracker != NULL)
		st = tel__tracker_before(w->current->tracker, ev);
	if (st != TEL_OK)
		return st;
	w->current->written = 1;
	if (!tel_type_is_followed(ev->type))
		return w->encoder->write(w, ev, NULL);
	return tel__write_put(w->current, ev);
}

tel_status
tel__write_unwanted(struct tel_writer *w, const struct tel_event *ev)
{
	if (!tel_type_is_followed(ev->type) || w->current->tracker == NULL)
		return TEL_OK;
	return tel__tracker_pass(w->current->tracker, ev);
}
