/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of text into events of a schema that is not built in.
 *
 * An event's bytes are its code and its size, four bytes each, its clock and
 * then eight bytes a field, all little-endian.  A string's first four say
 * where in the event it is: behind the fields.
 */
#include "format/text/anytext.h"

#include <stdlib.h>
#include <string.h>

tel_status
tel__any_make(struct lines *s)
{
	struct any *a = s->any;

	if (a != NULL)
		return TEL_OK;
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return TEL_ENOMEM;
	/*
	 * Eight bytes for each field, and bits; the length of a line bounds the
	 * strings, and lists: an element has two letters at least.
	 */
	a->data = malloc(4 * LINES_MAX + ANY_HEADER + 256 * 9);
	if (a->data == NULL) {
		free(a);
		return TEL_ENOMEM;
	}
	s->any = a;
	return TEL_OK;
}

void
tel__any_free(struct any *a)
{
	if (a == NULL)
		return;
	tel__any_set_clear(&a->said);
	tel__any_set_clear(&a->inferred);
	for (unsigned i = 0; i < a->nknown; i++)
		free(a->known[i].map.slot);
	free(a->data);
	free(a);
}

/* ------------------------------------------------------------ schemas */

/* The newest schema of that name that a header described, or NULL. */
static const struct any_map *
find_said(const struct any *a, const char *name)
{
	for (unsigned i = a->nknown; i-- > 0;)
		if (!a->known[i].inferred &&
		    strcmp(a->known[i].map.schema->name, name) == 0)
			return &a->known[i];
	return NULL;
}

/*
 * Has the reader own a schema, unless another log had the same: then that one
 * replaces it.
 */
static tel_status
adopt_described(struct tel_reader *r, struct tel_schema **schema,
    uint64_t digest)
{
	struct lines_kept *k = tel__reader_keep(r, r->format, sizeof(*k));
	unsigned i;

	for (i = 0; k != NULL && i < k->ndescribed; i++)
		if (k->described[i].digest == digest) {
			tel_schema_free(*schema);
			*schema = k->described[i].schema;
			return TEL_OK;
		}
	tel_status st = tel__reader_adopt(r, *schema);
	if (st != TEL_OK || k == NULL ||
	    i == sizeof(k->described) / sizeof(k->described[0]))
		return st;
	k->described[i].schema = *schema;
	k->described[k->ndescribed++].digest = digest;
	return TEL_OK;
}

/* Makes a schema of a set, unless an equal one exists. */
static tel_status
know(struct tel_reader *r, struct any *a, const struct any_set *set,
    int inferred)
{
	struct any_map *m = &a->known[a->nknown];
	struct tel_schema *schema = tel__any_set_schema(r, set);

	if (schema == NULL)
		return TEL_ENOMEM;
	uint64_t digest = tel__schema_digest(schema, schema->ntypes);
	for (unsigned i = 0; i < a->nknown; i++) {
		if (a->known[i].digest == digest) {
			tel_schema_free(schema);
			a->map = &a->known[i];
			return TEL_OK;
		}
	}
	if (a->nknown == ANY_SCHEMAS_MAX ||
	    a->ntypes + schema->ntypes > ANY_TYPES_TOTAL ||
	    a->nfields + set->nfields > ANY_FIELDS_TOTAL) {
		tel_schema_free(schema);
		a->full |= inferred;
		a->limited |= !inferred;
		return TEL_ELIMIT;
	}
	tel_status st = adopt_described(r, &schema, digest);
	if (st != TEL_OK)
		return st;
	m->digest = digest;
	m->inferred = inferred;
	st = tel__lines_map(&m->map, schema);
	if (st != TEL_OK)
		return st;
	a->ntypes += schema->ntypes;
	a->nfields += set->nfields;
	a->nknown++;
	a->map = m;
	return TEL_OK;
}

tel_status
tel__any_settle(struct tel_reader *r, struct lines *s)
{
	struct any *a = s->any;
	struct any_set *set = &a->said;
	const struct any_map *said = NULL;
	tel_status st = TEL_OK;

	if (set->name[0] == '\0')
		memcpy(set->name, "text", 5);
	if (set->ntypes == 0)
		said = find_said(a, set->name);
	if (said != NULL) {
		a->map = said;
	} else if (set->ntypes > 0) {
		st = a->limited ? TEL_ELIMIT : know(r, a, set, 0);
	} else {
		memcpy(a->inferred.name, set->name, sizeof(set->name));
		memcpy(a->inferred.version, set->version, sizeof(set->version));
		st = know(r, a, &a->inferred, 1);
	}
	a->fresh = 0;
	if (a->map == NULL || st == TEL_ENOMEM)
		return st == TEL_OK ? TEL_ELIMIT : st;
	a->on = 1;
	s->inferred = a->map->inferred;
	r->log.schema = a->map->map.schema;
	/* another header may come, behind much, or to a pipe */
	r->log.schema->grows = !r->eof &&
	    ((size_t)(r->end - r->p) >= LINES_WINDOW ||
	        tel__input_is_pipe(r->in));
	return st;
}

/* -------------------------------------------------------------- lines */

/* A string in quotes, which is put at the end of the event. */
static int
anytext_string(struct lines *s, const struct tel_field *f,
    const unsigned char **p)
{
	unsigned char *data = s->any->data, *out = data + s->size;

	/* the line bounds the strings, and the buffer holds those of a line */
	if (!tel__lines_unquote(s, f, p, &out, NULL))
		return 0;
	*out++ = '\0';
	tel_store_le64(data + f->offset, s->size);
	s->size = (uint32_t)(out - data);
	return 1;
}

/* A list in brackets, whose elements are put at the end of the event. */
static int
anytext_list(struct lines *s, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p)
{
	unsigned char *const data = s->any->data;
	const uint32_t start = s->size;
	const unsigned char *q = *p;
	struct tel_field item = *f;
	uint64_t count = 0, v;

	/* addresses have no labels in a list */
	item.datatype = f->element == TEL_ADDRESS || f->element == TEL_POINTER ?
	    TEL_SET :
	    (enum tel_datatype)f->element;
	item.load = f->list_load;
	item.offset = 0;
	if (*q != '[')
		return tel__lines_wrong(s, q, "a list in brackets as", f->name);
	for (q++; *q != ']'; count++) {
		if (count > 0 && *q++ != ',')
			return tel__lines_wrong(s, q - 1,
			    "a comma or a bracket in", f->name);
		if (f->element == TEL_STRING) {
			unsigned char *out = data + s->size;

			if (!tel__lines_unquote(s, f, &q, &out, NULL))
				return 0;
			*out++ = '\0';
			s->size = (uint32_t)(out - data);
			continue;
		}
		if (!tel__lines_scalar(s, t, &item, &q, &v))
			return 0;
		if (!tel_encode_fits(&item, v))
			return tel__lines_wrong(s, q, "smaller numbers in",
			    f->name);
		tel_encode_field(&item, v, data + s->size);
		s->size += item.width > 8 ? item.width / 8u : 1;
	}
	*p = q + 1;
	tel_store_le64(data + f->offset, count << 32 | start);
	return 1;
}

/* The label of a value, which of an enum is a field of its own. */
static int
anytext_label(struct lines *s, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p)
{
	const struct tel_field *label = f + 1;

	if (label == t->fields + t->nfields || !label->is_label)
		return tel__lines_label(s, (unsigned)(f - t->fields), p);
	++*p;
	if (!anytext_string(s, label, p))
		return 0;
	if (**p != ']')
		return tel__lines_wrong(s, *p, "the end of a label", NULL);
	++*p;
	s->any->data[label->present_at] |= label->present;
	return 1;
}

int
tel__any_value(struct lines *s, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p)
{
	const unsigned char *start = *p;
	uint64_t v, sign;

	if (f->datatype == TEL_STRING)
		return anytext_string(s, f, p);
	if (f->datatype == TEL_LIST)
		return anytext_list(s, t, f, p);
	if (!tel__lines_scalar(s, t, f, p, &v))
		return 0;
	if (!tel_encode_fits(f, v))
		return tel__lines_wrong(s, start, "a smaller number as",
		    f->name);
	if (f->datatype == TEL_SIGNED && f->width < 64) {
		sign = (uint64_t)1 << (f->width - 1);
		v = (v ^ sign) - sign;
	}
	if (**p == '[' && f->datatype != TEL_DOUBLE &&
	    !anytext_label(s, t, f, p))
		return 0;
	if (f->load == TEL_LOAD_LEF32)
		tel_encode_field(f, v, s->any->data);
	else
		tel_store_le64(s->any->data + f->offset, v);
	return 1;
}

int
tel__any_switch(struct tel_reader *r, struct lines *s)
{
	struct any *a = s->any;
	const struct any_map *old = a->map;

	for (unsigned i = 0; i < a->nknown; i++) {
		a->map = &a->known[i];
		if (a->map != old && !a->map->inferred &&
		    strcmp(a->map->map.schema->name, old->map.schema->name) ==
		        0 &&
		    tel__any_parse(s)) {
			r->log.schema = a->map->map.schema;
			return 1;
		}
	}
	a->map = old;
	return 0;
}

void
tel__any_finish(struct lines *s, uint32_t code)
{
	unsigned char *data = s->any->data;

	tel_store_le64(data, (uint64_t)s->size << 32 | code);
	tel_store_le64(data + 8, s->clock);
}
