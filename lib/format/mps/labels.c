/* SPDX-License-Identifier: BSD-2-Clause */
/* Synthesised labels: those that only a text shows. */
#include "base/hash.h"
#include "format/mps/convert.h"
#include "format/mps/frame.h"

#include <stdlib.h>

/* Strings that are made are numbered from here down. */
#define FIRST_ID 0x7FFFFFFFu

struct synth {
	struct tel_writer *w;
	struct convert *convert;
	const struct tel_schema *to;
	struct tel__table map;    /* as tel__numbering_map() has it */
	struct tel_labels *made;  /* the labels that were made */
	struct tel_labels *texts; /* their strings, by a hash: its number */
	uint64_t count;           /* strings */
	struct tel_log *log;      /* of the event at hand */
};

void
tel__synth_free(struct synth *n)
{
	if (n == NULL)
		return;
	tel__table_clear(&n->map);
	tel__labels_free(n->made);
	tel__labels_free(n->texts);
	free(n);
}

struct synth *
tel__synth_new(struct tel_writer *w, struct convert *c,
    const struct tel_schema *to)
{
	struct synth *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->w = w;
	n->convert = c;
	n->to = to;
	tel__table_init(&n->map);
	n->made = tel__labels_new(w->max_labels);
	n->texts = tel__labels_new(w->max_labels);
	if (n->made != NULL && n->texts != NULL)
		return n;
	tel__synth_free(n);
	return NULL;
}

tel_status
tel__synth_number(struct synth *n, const char *text, size_t length,
    uint64_t *id)
{
	const uint64_t limit = n->to->abi.word == 4 ? UINT32_MAX : UINT64_MAX;
	int same;
	tel_status st = tel__numbering_map(&n->w->numbering, &n->map, limit,
	    FIRST_ID - n->count++ % FIRST_ID, text, length, id, &same);

	return st == TEL_ELIMIT ? TEL_OK : st;
}

/* Nonzero when a label is of these bytes. */
static int
mps_labels_is_same(const struct tel_label *label, const char *text, size_t n)
{
	return label->string != NULL && label->length == n &&
	    memcmp(label->string, text, n) == 0;
}

/* Writes an event that was made. */
static tel_status
mps_labels_put(struct synth *n, struct tel_event *made)
{
	made->log = n->log;
	return n->w->encoder->write(n->w, made, NULL);
}

/* The number of a string, which is written when it is new. */
static tel_status
mps_labels_string_of(struct synth *s, uint64_t clock, const char *text,
    size_t n, uint64_t *id)
{
	const uint64_t hash = tel__fnv(TEL__FNV, text, n);
	struct tel_labels *texts = s->texts;
	struct tel_label known;
	struct tel_event ev;

	if (tel__labels_find(texts, TEL_SPACE_ADDRESS, hash, 0, &known) &&
	    mps_labels_is_same(&known, text, n)) {
		*id = known.id;
		return TEL_OK;
	}
	tel_status st = tel__synth_number(s, text, n, id);
	if (st == TEL_OK)
		st = tel__labels_intern(texts, *id, text, n);
	if (st == TEL_OK)
		st = tel__labels_add(texts, TEL_SPACE_ADDRESS, hash, 0, *id);
	/* what cannot be held is made again each time */
	if (st != TEL_OK && st != TEL_ELIMIT)
		return st;
	tel__convert_make_string(s->convert, clock, *id, text, n, &ev);
	return mps_labels_put(s, &ev);
}

/* Makes the label of a value, and its string. */
static tel_status
mps_labels_make(struct synth *s, uint64_t clock, enum tel_space space,
    uint64_t value, const char *text, size_t n)
{
	const int pointer = space == TEL_SPACE_POINTER;
	struct tel_labels *made = s->made;
	struct tel_event ev;
	uint64_t id;

	/* the event that shows it will not be there either */
	if (!tel__convert_make_label(s->convert, clock, pointer, value, 0, &ev))
		return TEL_OK;
	tel_status st = mps_labels_string_of(s, clock, text, n, &id);
	if (st == TEL_OK)
		st = tel__labels_intern(made, id, text, n);
	if (st == TEL_OK)
		st = tel__labels_add(made, space, value, clock, id);
	if (st != TEL_OK && st != TEL_ELIMIT)
		return st;
	(void)tel__convert_make_label(s->convert, clock, pointer, value, id,
	    &ev);
	return mps_labels_put(s, &ev);
}

/* A label that is shown at a field. */
static tel_status
mps_labels_take(struct synth *s, const struct tel_event *ev,
    const struct tel_field *f, const char *text, size_t n)
{
	const uint64_t value = tel_load(f, ev->data);
	enum tel_space space = tel_field_space(ev->type->schema, f);
	struct tel_label label;

	if (tel__labels_find(ev->log->labels, space, value, ev->clock,
	        &label) &&
	    mps_labels_is_same(&label, text, n))
		return TEL_OK;
	space = f->datatype == TEL_POINTER && s->to->split_space ?
	    TEL_SPACE_POINTER :
	    TEL_SPACE_ADDRESS;
	if (tel__labels_find(s->made, space, value, ev->clock, &label) &&
	    mps_labels_is_same(&label, text, n))
		return TEL_OK;
	return mps_labels_make(s, ev->clock, space, value, text, n);
}

tel_status
tel__synth_before(struct synth *s, const struct tel_event *ev,
    struct tel_log *converted)
{
	const unsigned char *p = ev->inline_labels, *end = p + ev->inline_size;
	tel_status st = TEL_OK;
	size_t n;

	s->log = converted;
	for (; st == TEL_OK && p < end; p += 3 + n) {
		n = tel_le16(p + 1);
		if (p[0] >= ev->type->nfields || n >= TEL_STRING_ROOM)
			continue;
		const struct tel_field *f = &ev->type->fields[p[0]];
		if (f->datatype == TEL_ADDRESS || f->datatype == TEL_POINTER)
			st = mps_labels_take(s, ev, f, (const char *)p + 3, n);
	}
	return st;
}
