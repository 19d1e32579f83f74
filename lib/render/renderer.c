/* SPDX-License-Identifier: BSD-2-Clause */
/* What the renderers share: programs on demand, and fields as text. */
#include "render/renderer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/escape.h"

tel_status
tel__render_fail(struct tel_printer *pr, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(pr->error, sizeof(pr->error), format, ap);
	va_end(ap);
	pr->misnamed = 0;
	return TEL_EINVAL;
}

int
tel__render_find(const struct tel_type *type, const char *name)
{
	return type == NULL ? -1 : tel_type_find_field(type, name);
}

enum render_space
tel__render_space_of(const struct tel_printer *pr, const struct tel_field *f)
{
	if (!tel_field_labelled(f))
		return SPACE_NONE;
	return (enum render_space)(tel_field_space(pr->schema, f) + 1);
}

struct render_program *
tel__render_make(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_program **place;

	if (type->unknown || type->index >= pr->cache->nprograms) {
		place = &pr->cache->unknown;
		type = NULL;
	} else {
		place = &pr->cache->programs[type->index];
	}
	if (*place == NULL || (*place)->type != type) {
		tel__render_free(*place);
		*place = pr->renderer->compile(pr, type);
	}
	return *place;
}

void
tel__render_add_csv(struct render_builder *b, const char *s, size_t n)
{
	unsigned char *p = tel__buffer_room(&b->literal, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->literal.used += (size_t)(tel__escape_csv(p, s, n, 0) - p);
}

void
tel__render_add_json(struct render_builder *b, const char *s, size_t n)
{
	unsigned char *p = tel__buffer_room(&b->literal, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->literal.used += (size_t)(tel__escape_json(p, s, n, 1) - p);
}

/* -------------------------------------------------------- text fields */

enum render_op
tel__render_text_op(const struct tel_field *f, int doubled)
{
	switch (f->datatype) {
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER: return RENDER_HEX;
	case TEL_SIGNED: return RENDER_SIGNED;
	case TEL_BOOLEAN: return RENDER_BOOLEAN;
	case TEL_DOUBLE:
		return f->load == TEL_LOAD_LEF32 ? RENDER_FLOAT : RENDER_DOUBLE;
	case TEL_LIST: return doubled ? RENDER_LIST_DOUBLED : RENDER_LIST_TEXT;
	case TEL_STRING:
		return doubled ? RENDER_STRING_DOUBLED : RENDER_STRING_TEXT;
	case TEL_UNSIGNED: break;
	}
	return RENDER_DECIMAL;
}

/* The quotes around the value of f. */
static const char *
quotes(const struct tel_field *f, int doubled)
{
	if (f->datatype != TEL_STRING)
		return "";
	return doubled ? "\"\"" : "\"";
}

void
tel__render_text_field(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, unsigned i, int doubled)
{
	const struct tel_field *f = &type->fields[i];
	enum render_op op = tel__render_text_op(f, doubled);

	tel__render_add_bytes(b, f->name, f->name_length);
	tel__render_add(b, op == RENDER_HEX ? "=0x" : "=");
	tel__render_add(b, quotes(f, doubled));
	tel__render_add_field(b, op, i, tel__render_space_of(pr, f));
	tel__render_add(b, quotes(f, doubled));
}

/* Adds the label in field i, in brackets. */
static void
renderer_add_label(struct render_builder *b, unsigned i, int doubled)
{
	tel__render_add_if(b, i, "");
	tel__render_add(b, doubled ? "[\"\"" : "[\"");
	tel__render_add_field(b,
	    doubled ? RENDER_STRING_DOUBLED : RENDER_STRING_TEXT, i,
	    SPACE_NONE);
	tel__render_add(b, doubled ? "\"\"]" : "\"]");
	tel__render_end_if(b);
}

int
tel__render_add_value(const struct tel_printer *pr, struct render_builder *b,
    enum render_op op, unsigned name)
{
	/* that of an unknown type is its raw bytes */
	if (pr->names[name].expr == NULL ||
	    (b->program != NULL && b->program->type == NULL &&
	        strcmp(pr->names[name].text, "bytes") == 0))
		return 0;
	tel__render_add_name(b, op, name);
	return 1;
}

/* The only field that an event of an unknown type has. */
static void
renderer_add_unknown(struct tel_printer *pr, struct render_builder *b,
    const char *first)
{
	for (unsigned i = 0; i < pr->nnames || pr->names == NULL; i++) {
		if (pr->names != NULL &&
		    strcmp(pr->names[i].text, "bytes") != 0) {
			tel__render_add_value(pr, b, RENDER_VALUE_TEXT, i);
			continue;
		}
		tel__render_add(b, first);
		tel__render_add(b, "bytes=");
		tel__render_add_op(b, RENDER_BYTES);
		if (pr->names == NULL)
			return;
	}
}

void
tel__render_text_fields(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, const char *first, int doubled)
{
	if (type == NULL) {
		renderer_add_unknown(pr, b, first);
		return;
	}
	for (unsigned i = 0; i < render_count(pr, type); i++) {
		int at = render_field(pr, type, i);

		if (at < 0)
			tel__render_add_value(pr, b, RENDER_VALUE_TEXT, i);
		if (at < 0 || (pr->names == NULL && type->fields[at].is_label))
			continue;
		tel__render_add_if(b, (unsigned)at, "");
		tel__render_add(b, first);
		tel__render_text_field(pr, b, type, (unsigned)at, doubled);
		tel__render_end_if(b);
		if (at + 1 < type->nfields && type->fields[at + 1].is_label)
			renderer_add_label(b, (unsigned)at + 1, doubled);
		first = " ";
	}
}

void
tel__render_free_caches(struct tel_printer *pr)
{
	struct render_cache *c;

	while ((c = pr->caches) != NULL) {
		pr->caches = c->next;
		for (unsigned i = 0; i < c->nprograms; i++)
			tel__render_free(c->programs[i]);
		tel__render_free(c->unknown);
		free(c->programs);
		free(c);
	}
	tel__table_clear(&pr->by_schema);
	pr->cache = NULL;
	pr->schema = NULL;
}

tel_status
tel__render_set_schema(struct tel_printer *pr, const struct tel_schema *schema)
{
	struct tel__entry *e;
	int fresh;

	pr->schema = schema;
	if (pr->by_schema.entries == NULL)
		tel__table_init(&pr->by_schema);
	e = tel__table_put(&pr->by_schema, (uintptr_t)schema, &fresh);
	if (e == NULL)
		return TEL_ENOMEM;
	struct render_cache *c = (struct render_cache *)(uintptr_t)e->value;
	/* a schema that was freed may have left its address to another */
	if (c == NULL || strcmp(c->name, schema->name) != 0) {
		c = calloc(1, sizeof(*c));
		if (c == NULL)
			return TEL_ENOMEM;
		c->programs = calloc(schema->ntypes + 1u, sizeof(*c->programs));
		if (c->programs == NULL) {
			free(c);
			return TEL_ENOMEM;
		}
		c->nprograms = schema->ntypes;
		memcpy(c->name, schema->name, sizeof(c->name));
		if (schema->described)
			c->digest = tel__schema_digest(schema, schema->ntypes);
		c->next = pr->caches;
		pr->caches = c;
		e->value = (uintptr_t)c;
	}
	pr->cache = c;
	return TEL_OK;
}
