/* SPDX-License-Identifier: BSD-2-Clause */
/* The schema's accessors, and the types that stand for unknown codes. */
#include "model/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of unknown codes are kept sorted by code, so that few are made. */
struct tel_type *
tel__schema_unknown(struct tel_schema *schema, uint32_t code)
{
	struct tel_type *t, **list;
	char *name;
	unsigned lo = 0, hi = schema->nunknown, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (schema->unknown[mid]->code < code)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < schema->nunknown && schema->unknown[lo]->code == code)
		return schema->unknown[lo];
	list = realloc(schema->unknown, (schema->nunknown + 1) * sizeof(*list));
	if (list == NULL)
		return NULL;
	schema->unknown = list;
	t = calloc(1, sizeof(*t));
	name = malloc(16);
	if (t == NULL || name == NULL) {
		free(t);
		free(name);
		return NULL;
	}
	t->name_length = (uint16_t)snprintf(name, 16, "0x%04X", code);
	t->name = name;
	t->kind = "Unknown";
	t->kind_number = UINT16_MAX;
	t->code = code;
	t->index = schema->ntypes + schema->nunknown;
	t->size = schema->header;
	t->unknown = 1;
	t->partner = -1;
	memset(t->role_field, -1, sizeof(t->role_field));
	memmove(list + lo + 1, list + lo,
	    (schema->nunknown - lo) * sizeof(*list));
	list[lo] = t;
	schema->nunknown++;
	return t;
}

static void
free_type(struct tel_type *t)
{
	union {
		const char *in;
		char *out;
	} name;
	unsigned i;

	for (i = 0; i < t->nfields; i++) {
		name.in = t->fields[i].name;
		free(name.out);
	}
	free(t->fields);
	name.in = t->name;
	free(name.out);
}

void
tel_schema_free(tel_schema *schema)
{
	unsigned i;

	if (schema == NULL)
		return;
	for (i = 0; i < schema->ntypes; i++)
		free_type(&schema->types[i]);
	for (i = 0; i < schema->nunknown; i++) {
		free_type(schema->unknown[i]);
		free(schema->unknown[i]);
	}
	for (i = 0; i < schema->nkinds; i++)
		free(schema->kinds[i]);
	free(schema->kinds);
	free(schema->unknown);
	free(schema->types);
	free(schema->by_code);
	free(schema);
}

const char *
tel_schema_name(const tel_schema *schema)
{
	return schema->name;
}

const char *
tel_schema_version(const tel_schema *schema)
{
	return schema->version;
}

unsigned
tel_schema_word(const tel_schema *schema)
{
	return schema->abi.word * 8u;
}

int
tel_schema_big_endian(const tel_schema *schema)
{
	return schema->abi.big;
}

int
tel_schema_ordered(const tel_schema *schema)
{
	return !schema->buffered;
}

unsigned
tel_schema_type_count(const tel_schema *schema)
{
	return schema->ntypes;
}

const tel_type *
tel_schema_type(const tel_schema *schema, unsigned i)
{
	return i < schema->ntypes ? &schema->types[i] : NULL;
}

const tel_type *
tel_schema_find_type(const tel_schema *schema, const char *name)
{
	unsigned i;

	for (i = 0; i < schema->ntypes; i++)
		if (strcmp(schema->types[i].name, name) == 0)
			return &schema->types[i];
	return NULL;
}

const char *
tel_type_name(const tel_type *type)
{
	return type->name;
}

uint32_t
tel_type_code(const tel_type *type)
{
	return type->code;
}

const char *
tel_type_kind(const tel_type *type)
{
	return type->kind;
}

unsigned
tel_type_kind_number(const tel_type *type)
{
	return type->kind_number;
}

unsigned
tel_type_field_count(const tel_type *type)
{
	return type->nfields;
}

const tel_field *
tel_type_field(const tel_type *type, unsigned i)
{
	return i < type->nfields ? &type->fields[i] : NULL;
}

int
tel_type_find_field(const tel_type *type, const char *name)
{
	int i;

	for (i = 0; i < type->nfields; i++)
		if (strcmp(type->fields[i].name, name) == 0)
			return i;
	return -1;
}

int
tel_type_unknown(const tel_type *type)
{
	return type->unknown;
}

const char *
tel_field_name(const tel_field *field)
{
	return field->name;
}

tel_datatype
tel_field_datatype(const tel_field *field)
{
	return field->datatype;
}

unsigned
tel_field_width(const tel_field *field)
{
	return field->width;
}
