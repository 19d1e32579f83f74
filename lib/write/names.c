/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several logs in one stream must agree on: its version, which is said
 * once, and the numbers of strings.
 */
#include "model/encode.h"
#include "write/writer.h"

#include <stdlib.h>

/* 1 when a later log begins as the first one did, and needs not say so. */
static int
is_known_init(struct tel_writer *w, const struct tel_event *ev)
{
	size_t header = ev->log->schema->header, size = ev->size - header;

	if (size > sizeof(w->init))
		return 0;
	if (w->init_size == 0) {
		memcpy(w->init, ev->data + header, size);
		w->init_size = size;
		return 0;
	}
	return (w->current->serial > 0 || w->hold.made) &&
	    size == w->init_size &&
	    memcmp(w->init, ev->data + header, size) == 0;
}

/* Writes a copy of ev with another number in field f. */
static tel_status
put_changed(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *f, uint64_t id)
{
	struct tel_event copy = *ev;

	if (w->changed == NULL)
		w->changed = malloc(TEL_SIZE_MAX);
	if (w->changed == NULL)
		return TEL_ENOMEM;
	memcpy(w->changed, ev->data, ev->size);
	copy.data = w->changed;
	tel_encode_field(f, id, w->changed);
	return w->form->write(w, &copy, 1);
}

/* Writes a string or a label, with a number that no other log's string has. */
static tel_status
put_name(struct write_log *l, const struct tel_event *ev)
{
	struct tel_writer *w = l->writer;
	const struct tel_type *t = ev->type;
	int intern = t->role == TEL_ROLE_INTERN;
	const struct tel_field *f;
	const char *text = NULL;
	uint64_t id, to;
	size_t n = 0;
	int same;
	tel_status st;

	if (t->role_field[0] < 0 || t->role_field[1] < 0)
		return w->form->write(w, ev, 0);
	f = &t->fields[t->role_field[intern ? 0 : 1]];
	id = tel_load(f, ev->data);
	if (intern)
		text = tel_load_string(ev, &t->fields[t->role_field[1]], &n);
	st = tel__ids_map(&w->ids, l->ids, l->serial,
	    f->width < 64 ? ((uint64_t)1 << f->width) - 1 : UINT64_MAX, id,
	    text, n, &to, &same);
	if (st == TEL_ELIMIT && w->nlogs > 1)
		return tel__write_fail(w, st,
		    "more than %zu strings: their numbers cannot be told apart",
		    w->max_labels);
	if (st != TEL_OK && st != TEL_ELIMIT)
		return st;
	/* the release is the same, and was named */
	if (intern && l->serial > 0 && same && to == id &&
	    tel__keep_is_build(text, n))
		return TEL_OK;
	if (to != id)
		return put_changed(w, ev, f, to);
	return w->form->write(w, ev, 0);
}

tel_status
tel__write_put(void *arg, const struct tel_event *ev)
{
	struct write_log *l = arg;
	struct tel_writer *w = l->writer;

	if (w->form->one_numbering) {
		switch ((enum tel_role)ev->type->role) {
		case TEL_ROLE_INIT:
			return is_known_init(w, ev) ? TEL_OK :
			                              w->form->write(w, ev, 0);
		case TEL_ROLE_INTERN:
		case TEL_ROLE_LABEL:
		case TEL_ROLE_LABEL_P: return put_name(l, ev);
		default: break;
		}
	}
	return w->form->write(w, ev, 0);
}
