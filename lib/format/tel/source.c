/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources: a block may state the process, the thread and the processor that
 * all its events are of.  Such events get them as fields behind their own, so
 * that they are shown, selected and written like any other.  The values are in
 * front of the event's own bytes, 8 bytes each.
 */
#include "format/tel/wire.h"

#include <stdio.h>
#include <stdlib.h>

/* The fields, in the order of their bits in native_head.source. */
static const struct {
	const char *name;
	enum tel_space space;
	int part; /* of an allocator's operation; or -1 */
} contexts[] = {
	{ "pid", TEL_SPACE_PROCESS, TEL_PART_PROCESS },
	{ "tid", TEL_SPACE_THREAD, TEL_PART_THREAD },
	{ "cpu", 0, -1 },
};
#define NCONTEXTS (sizeof(contexts) / sizeof(contexts[0]))

uint32_t
tel__native_source_size(unsigned source)
{
	uint32_t size = 0;

	for (; source != 0; source &= source - 1)
		size += 8;
	return size;
}

void
tel__native_source_put(const struct native_head *head, unsigned char *to)
{
	const uint64_t values[NCONTEXTS] = { head->process, head->thread,
		head->cpu };

	for (unsigned i = 0; i < NCONTEXTS; i++)
		if (head->source & 1u << i) {
			tel_store_le64(to, values[i]);
			to += 8;
		}
}

/* A range ends on the thread that it started on. */
static void
add_key(struct tel_type *t, int field)
{
	for (unsigned i = 0; i < TEL_ROLE_PARTS; i++)
		if (t->role_field[i] < 0) {
			t->role_field[i] = (int8_t)field;
			return;
		}
}

/* Adds the fields of the source that the type does not have itself. */
static tel_status
add_contexts(struct tel_type *t, unsigned source)
{
	struct tel_field *f;
	uint32_t offset = 0;

	for (unsigned i = 0; i < NCONTEXTS; i++) {
		if (!(source & 1u << i))
			continue;
		if (t->nfields < t->most &&
		    tel_type_find_field(t, contexts[i].name) < 0) {
			f = tel__type_add(t, contexts[i].name, TEL_UNSIGNED,
			    TEL_LOAD_LE64, offset);
			if (f == NULL)
				return TEL_ENOMEM;
			f->space = (uint8_t)contexts[i].space;
			if (t->nfields - 1 > INT8_MAX)
				continue;
			if ((tel_type_is_alloc(t) ||
			        (t->role == TEL_ROLE_FRAME &&
			            contexts[i].part == TEL_PART_PROCESS)) &&
			    contexts[i].part >= 0 &&
			    t->role_field[contexts[i].part] < 0)
				t->role_field[contexts[i].part] =
				    (int8_t)(t->nfields - 1);
			else if (contexts[i].part == TEL_PART_THREAD &&
			    (t->role == TEL_ROLE_START ||
			        t->role == TEL_ROLE_FINISH ||
			        t->role == TEL_ROLE_MIDDLE))
				add_key(t, t->nfields - 1);
		}
		offset += 8;
	}
	return TEL_OK;
}

static tel_status
copy_type(struct tel_schema *to, const struct tel_type *from, unsigned source)
{
	const uint32_t size = tel__native_source_size(source);
	struct tel_field *copy;
	struct tel_type *t;
	unsigned i, most = from->nfields + (unsigned)NCONTEXTS;

	t = tel__schema_add(to, from->name, from->code, from->kind,
	    from->size + size, most < 255 ? most : 255);
	if (t == NULL)
		return TEL_ENOMEM;
	t->kind_number = from->kind_number;
	t->has_names = from->has_names;
	for (i = 0; i < from->nfields; i++) {
		const struct tel_field *f = &from->fields[i];

		if (f->offset + size > UINT16_MAX ||
		    f->present_at + size > UINT16_MAX)
			return TEL_EFORMAT;
		copy = tel__type_add(t, f->name, f->datatype, f->load,
		    f->offset + size);
		if (copy == NULL)
			return TEL_ENOMEM;
		copy->width = f->width;
		copy->bit = f->bit;
		copy->space = f->space;
		copy->names = f->names;
		copy->letter = f->letter;
		copy->unit = f->unit;
		copy->element = f->element;
		copy->list_load = f->list_load;
		copy->is_label = f->is_label;
		copy->present = f->present;
		copy->present_at = (uint16_t)(f->present_at + size);
	}
	if (!tel__type_copy_docs(t, from))
		return TEL_ENOMEM;
	t->range = from->range;
	t->collection = from->collection;
	t->role = from->role;
	t->partner = from->partner;
	memcpy(t->role_field, from->role_field, sizeof(t->role_field));
	return add_contexts(t, source);
}

tel_status
tel__native_source_schema(const struct tel_schema *from, unsigned source,
    struct tel_schema **out)
{
	struct tel_schema *s;
	char name[sizeof(s->name)];
	tel_status st = TEL_OK;

	/* "tid+cpu+app": schemas of different fields have different names */
	if (snprintf(name, sizeof(name), "%s%s%s%.*s",
	        source & NATIVE_PROCESS ? "pid+" : "",
	        source & NATIVE_THREAD ? "tid+" : "",
	        source & NATIVE_CPU ? "cpu+" : "", (int)sizeof(name) - 13,
	        from->name) < 0)
		return TEL_EFORMAT;
	s = tel__schema_make(name, from->version, &from->abi,
	    from->header + tel__native_source_size(source), from->ntypes);
	if (s == NULL)
		return TEL_ENOMEM;
	memcpy(s->platform, from->platform, sizeof(s->platform));
	s->split_space = from->split_space;
	s->nested = from->nested;
	s->untimed = from->untimed;
	s->buffered = from->buffered;
	for (unsigned i = 0; i < from->ntypes && st == TEL_OK; i++)
		st = copy_type(s, &from->types[i], source);
	if (st != TEL_OK)
		tel_schema_free(s);
	else
		*out = s;
	return st;
}

tel_status
tel__native_source_plans(const struct native_schema *from,
    struct tel_schema *schema, unsigned source, struct native_schema *to)
{
	const uint32_t size = tel__native_source_size(source);

	*to = *from;
	to->schema = schema;
	to->source = (uint8_t)source;
	to->plans = calloc(schema->ntypes + 1u, sizeof(*to->plans));
	if (to->plans == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; i < schema->ntypes; i++) {
		const struct native_plan *base = &from->plans[i];
		struct native_plan *plan = &to->plans[i];

		*plan = *base;
		plan->fixed += size;
		plan->cells =
		    malloc((base->ncells + 1u) * sizeof(*plan->cells));
		if (plan->cells == NULL) {
			tel__native_schema_end(to);
			return TEL_ENOMEM;
		}
		for (unsigned k = 0; k < base->ncells; k++) {
			plan->cells[k] = base->cells[k];
			plan->cells[k].offset += size;
		}
	}
	return TEL_OK;
}
