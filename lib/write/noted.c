/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels that only a text shows, beside the addresses in its lines, as the
 * lines that gave them were left out of it: strings and labels are made for
 * them, so that a stream shows them too.
 */
#include "format/mps/frame.h"
#include "write/writer.h"

#include <stdlib.h>

/* Strings that are made are numbered from here down. */
#define FIRST_ID 0x7FFFFFFFu
/* The log that they are of, which is none. */
#define OWNER UINT32_MAX

struct noted {
	struct tel_labels *map;   /* their numbers, as tel__ids_map() has it */
	struct tel_labels *made;  /* the labels that were made */
	struct tel_labels *texts; /* their strings, by a hash: its number */
	uint64_t count;           /* strings */
};

void
tel__noted_free(struct noted *n)
{
	if (n == NULL)
		return;
	tel__labels_free(n->map);
	tel__labels_free(n->made);
	tel__labels_free(n->texts);
	free(n);
}

static tel_status
begin(struct tel_writer *w)
{
	struct noted *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return TEL_ENOMEM;
	n->map = tel__labels_new(w->max_labels);
	n->made = tel__labels_new(w->max_labels);
	n->texts = tel__labels_new(w->max_labels);
	if (n->map != NULL && n->made != NULL && n->texts != NULL) {
		w->noted = n;
		return TEL_OK;
	}
	tel__noted_free(n);
	return TEL_ENOMEM;
}

tel_status
tel__noted_number(struct tel_writer *w, const char *text, size_t n,
    uint64_t *id)
{
	const uint64_t limit = w->to->abi.word == 4 ? UINT32_MAX : UINT64_MAX;
	tel_status st = w->noted == NULL ? begin(w) : TEL_OK;
	int same;

	if (st != TEL_OK)
		return st;
	st = tel__ids_map(&w->ids, w->noted->map, OWNER, limit,
	    FIRST_ID - w->noted->count++ % FIRST_ID, text, n, id, &same);
	return st == TEL_ELIMIT ? TEL_OK : st;
}

/* Nonzero when a label is of these bytes. */
static int
is_same(const struct tel_label *label, const char *text, size_t n)
{
	return label->string != NULL && label->length == n &&
	    memcmp(label->string, text, n) == 0;
}

/* Writes an event that was made. */
static tel_status
put(struct tel_writer *w, struct tel_event *made)
{
	made->log = &w->current->converted;
	return w->form->write(w, made, 0);
}

/* FNV-1a, by Fowler, Noll and Vo. */
static uint64_t
hash_of(const char *text, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return hash;
}

/* The number of a string, which is written when it is new. */
static tel_status
string_of(struct tel_writer *w, uint64_t clock, const char *text, size_t n,
    uint64_t *id)
{
	const uint64_t hash = hash_of(text, n);
	struct tel_labels *texts = w->noted->texts;
	struct tel_label known;
	struct tel_event ev;
	tel_status st;

	if (tel__labels_find(texts, TEL_SPACE_ADDRESS, hash, 0, &known) &&
	    is_same(&known, text, n)) {
		*id = known.id;
		return TEL_OK;
	}
	st = tel__noted_number(w, text, n, id);
	if (st == TEL_OK)
		st = tel__labels_intern(texts, *id, text, n);
	if (st == TEL_OK)
		st = tel__labels_add(texts, TEL_SPACE_ADDRESS, hash, 0, *id);
	/* what cannot be held is made again each time */
	if (st != TEL_OK && st != TEL_ELIMIT)
		return st;
	tel__convert_make_string(w->convert, clock, *id, text, n, &ev);
	return put(w, &ev);
}

/* Makes the label of a value, and its string. */
static tel_status
make(struct tel_writer *w, uint64_t clock, enum tel_space space, uint64_t value,
    const char *text, size_t n)
{
	const int pointer = space == TEL_SPACE_POINTER;
	struct tel_labels *made = w->noted->made;
	struct tel_event ev;
	uint64_t id;
	tel_status st;

	/* the event that shows it will not be there either */
	if (!tel__convert_make_label(w->convert, clock, pointer, value, 0, &ev))
		return TEL_OK;
	st = string_of(w, clock, text, n, &id);
	if (st == TEL_OK)
		st = tel__labels_intern(made, id, text, n);
	if (st == TEL_OK)
		st = tel__labels_add(made, space, value, clock, id);
	if (st != TEL_OK && st != TEL_ELIMIT)
		return st;
	(void)tel__convert_make_label(w->convert, clock, pointer, value, id,
	    &ev);
	return put(w, &ev);
}

/* A label that is shown at a field. */
static tel_status
take(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *f, const char *text, size_t n)
{
	const uint64_t value = tel_load(f, ev->data);
	enum tel_space space = tel_field_space(ev->log->schema, f);
	struct tel_label label;

	if (tel__labels_find(ev->log->labels, space, value, ev->clock,
	        &label) &&
	    is_same(&label, text, n))
		return TEL_OK;
	space = f->datatype == TEL_POINTER && w->to->split_space ?
	    TEL_SPACE_POINTER :
	    TEL_SPACE_ADDRESS;
	if (tel__labels_find(w->noted->made, space, value, ev->clock, &label) &&
	    is_same(&label, text, n))
		return TEL_OK;
	return make(w, ev->clock, space, value, text, n);
}

tel_status
tel__noted_before(struct tel_writer *w, const struct tel_event *ev)
{
	const unsigned char *p = ev->inline_labels, *end = p + ev->inline_size;
	tel_status st = w->noted == NULL ? begin(w) : TEL_OK;
	const struct tel_field *f;
	size_t n;

	for (; st == TEL_OK && p < end; p += 3 + n) {
		n = tel_le16(p + 1);
		if (p[0] >= ev->type->nfields || n >= TEL_STRING_ROOM)
			continue;
		f = &ev->type->fields[p[0]];
		if (f->datatype == TEL_ADDRESS || f->datatype == TEL_POINTER)
			st = take(w, ev, f, (const char *)p + 3, n);
	}
	return st;
}
