/* SPDX-License-Identifier: BSD-2-Clause */
/* Schemas: making them, types of unknown codes, and the accessors. */
#include "model/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/getter.h"
#include "base/hash.h"
#include "model/name.h"

/* ------------------------------------------------- making step by step */

struct tel_schema *
tel__schema_make(const char *name, const char *version,
    const struct tel_abi *abi, uint32_t header, unsigned most)
{
	struct tel_schema *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->types = calloc(most + (most == 0), sizeof(*s->types));
	s->kinds = calloc(most + (most == 0), sizeof(*s->kinds));
	if (s->types == NULL || s->kinds == NULL) {
		tel_schema_free(s);
		return NULL;
	}
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->version, sizeof(s->version), "%s", version);
	s->abi = *abi;
	s->header = header;
	s->align = 1;
	s->most = most;
	s->described = 1;
	return s;
}

void
tel__schema_join(struct tel_schema *s, struct tel_schema *with)
{
	s->with = with != NULL ? with->with : s;
	if (with != NULL)
		with->with = s;
}

int
tel__schema_sets_clock(const struct tel_schema *s)
{
	for (unsigned i = 0; i < s->ntypes; i++)
		if (s->types[i].role == TEL_ROLE_SYNC &&
		    s->types[i].role_field[0] >= 0)
			return 1;
	return 0;
}

int
tel__schema_any(const struct tel_schema *s, tel__type_fn *wanted,
    const void *arg)
{
	const struct tel_schema *at = s;
	int any = -1, open = 0;

	do {
		open |= at->open;
		for (unsigned i = 0; i < at->ntypes; i++) {
			any = 0;
			if (wanted(&at->types[i], arg))
				return 1;
		}
		at = at->with;
	} while (at != NULL && at != s);
	return open ? -1 : any;
}

/* The number of the kind called name, made if need be; -1: no memory. */
static int
find_kind(struct tel_schema *s, const char *name)
{
	unsigned i;

	for (i = 0; i < s->nkinds; i++)
		if (strcmp(s->kinds[i], name) == 0)
			return (int)i;
	s->kinds[i] = strdup(name);
	if (s->kinds[i] == NULL)
		return -1;
	return (int)s->nkinds++;
}

/* A type without a role, or fields. */
static void
type_start(struct tel_type *t, struct tel_schema *s, uint32_t code,
    unsigned index, uint32_t size)
{
	memset(t, 0, sizeof(*t));
	t->code = code;
	t->index = index;
	t->schema = s;
	t->size = size;
	t->partner = -1;
	memset(t->role_field, -1, sizeof(t->role_field));
}

struct tel_type *
tel__schema_add(struct tel_schema *s, const char *name, uint32_t code,
    const char *kind, uint32_t size, unsigned nfields)
{
	struct tel_type *t = &s->types[s->ntypes];
	size_t length = strlen(name);
	int number;

	if (s->ntypes == s->most || nfields > 255 || length > UINT16_MAX ||
	    (number = find_kind(s, kind)) < 0)
		return NULL;
	type_start(t, s, code, s->ntypes, size);
	t->name = strdup(name);
	t->fields = calloc(nfields + (nfields == 0), sizeof(*t->fields));
	t->most = (uint8_t)nfields;
	t->name_length = (uint16_t)length;
	t->kind = s->kinds[number];
	t->kind_number = (uint16_t)number;
	/* from here on tel_schema_free() frees it */
	s->ntypes++;
	return t->name != NULL && t->fields != NULL ? t : NULL;
}

uint8_t
tel__load_width(enum tel_load load)
{
	switch (load) {
	case TEL_LOAD_U8: return 8;
	case TEL_LOAD_LE16:
	case TEL_LOAD_BE16:
	case TEL_LOAD_LE16S:
	case TEL_LOAD_BE16S: return 16;
	case TEL_LOAD_LE32:
	case TEL_LOAD_BE32:
	case TEL_LOAD_LE32S:
	case TEL_LOAD_BE32S:
	case TEL_LOAD_LEF32: return 32;
	case TEL_LOAD_LE64:
	case TEL_LOAD_BE64: return 64;
	case TEL_LOAD_BIT: return 1;
	case TEL_LOAD_STRING:
	case TEL_LOAD_STRING_AT:
	case TEL_LOAD_LIST: break;
	}
	return 0;
}

struct tel_field *
tel__type_add(struct tel_type *t, const char *name, enum tel_datatype datatype,
    enum tel_load load, uint32_t offset)
{
	struct tel_field *f = &t->fields[t->nfields];
	size_t length = strlen(name);

	if (t->nfields == t->most || offset > UINT16_MAX || length > UINT16_MAX)
		return NULL;
	f->name = strdup(name);
	if (f->name == NULL)
		return NULL;
	f->name_length = (uint16_t)length;
	f->datatype = datatype;
	f->load = load;
	f->offset = (uint16_t)offset;
	f->width = tel__load_width(load);
	t->nfields++;
	t->has_string |= load == TEL_LOAD_STRING ||
	    load == TEL_LOAD_STRING_AT || load == TEL_LOAD_LIST;
	return f;
}

struct tel_field *
tel__type_add_list(struct tel_type *t, const char *name,
    enum tel_datatype element, enum tel_load load, uint32_t offset)
{
	struct tel_field *f =
	    tel__type_add(t, name, TEL_LIST, TEL_LOAD_LIST, offset);

	if (f != NULL) {
		f->element = (uint8_t)element;
		f->list_load = load;
		f->width = tel__load_width(load);
	}
	return f;
}

/* FNV-1a over n bytes, and a byte that ends them. */
static uint64_t
digest(uint64_t h, const void *bytes, size_t n)
{
	return tel__fnv_byte(tel__fnv(h, bytes, n), 0xff);
}

uint64_t
tel__schema_digest(const struct tel_schema *s, unsigned n)
{
	uint64_t h = TEL__FNV;
	const struct tel_field *f;
	const struct tel_type *t;

	h = digest(h, s->name, strlen(s->name));
	h = digest(h, s->version, strlen(s->version));
	h = digest(h, &s->untimed, sizeof(s->untimed));
	for (unsigned i = 0; i < n; i++) {
		t = &s->types[i];
		h = digest(h, t->name, t->name_length);
		h = digest(h, t->kind, strlen(t->kind));
		h = digest(h, &t->code, sizeof(t->code));
		h = digest(h, &t->role, sizeof(t->role));
		h = digest(h, t->role_field, sizeof(t->role_field));
		h = digest(h, &t->partner, sizeof(t->partner));
		for (unsigned j = 0; j < t->nfields; j++) {
			f = &t->fields[j];
			h = digest(h, f->name, f->name_length);
			h = digest(h, &f->datatype, sizeof(f->datatype));
			h = digest(h, &f->width, sizeof(f->width));
			h = digest(h, &f->present, sizeof(f->present));
			h = digest(h, &f->is_label, sizeof(f->is_label));
			h = digest(h, &f->element, sizeof(f->element));
		}
	}
	return h;
}

/* -------------------------------------------------------- other names */

__attribute__((format(printf, 3, 4))) static void
model_schema_append(char *text, size_t size, const char *format, ...)
{
	size_t n = strlen(text);
	va_list args;

	va_start(args, format);
	if ((size_t)vsnprintf(text + n, size - n, format, args) >= size - n)
		text[n] = '\0';
	va_end(args);
}

void
tel__schema_other_names(const struct tel_schema *a, const struct tel_schema *b,
    const struct tel_codes *codes, char *text, size_t size)
{
	const size_t base = strcspn(b->name, "/");
	const struct tel_type *s, *t;
	unsigned i, j, found = 0;

	for (i = 0; i < a->ntypes; i++) {
		s = &a->types[i];
		t = s->code < b->ncodes ? b->by_code[s->code] : NULL;
		if (!tel_codes_has(codes, s->code) || t == NULL)
			continue;
		if (strcmp(s->name, t->name) != 0 && found++ < 3)
			model_schema_append(text, size, "; %s is %s in %.*s",
			    s->name, t->name, (int)base, b->name);
		for (j = 0; j < s->nfields && j < t->nfields; j++)
			if (strcmp(s->fields[j].name, t->fields[j].name) != 0 &&
			    found++ < 3)
				model_schema_append(text, size,
				    "; %s.%s is %s in %.*s", s->name,
				    s->fields[j].name, t->fields[j].name,
				    (int)base, b->name);
	}
	if (found > 3)
		model_schema_append(text, size, "; and %u more in that",
		    found - 3);
}

/* ----------------------------------------------------- unknown types */

/* Types of unknown codes are kept sorted by code, so that few are made. */
struct tel_type *
tel__schema_unknown(struct tel_schema *schema, uint32_t code)
{
	struct tel_type *t, **list;
	unsigned lo = 0, hi = schema->nunknown, mid;

	TEL__BISECT(lo, hi, mid, schema->unknown[mid]->code < code);
	if (lo < schema->nunknown && schema->unknown[lo]->code == code)
		return schema->unknown[lo];
	if (!TEL__RESERVE(schema->unknown, schema->unknown_room,
	        (size_t)schema->nunknown + 1))
		return NULL;
	list = schema->unknown;
	t = malloc(sizeof(*t));
	char *name = malloc(16);
	if (t == NULL || name == NULL) {
		free(t);
		free(name);
		return NULL;
	}
	type_start(t, schema, code, schema->ntypes + schema->nunknown,
	    schema->header);
	t->name_length = (uint16_t)snprintf(name, 16, "0x%04X", code);
	t->name = name;
	t->kind = "Unknown";
	t->kind_number = UINT16_MAX;
	t->unknown = 1;
	memmove(list + lo + 1, list + lo,
	    (schema->nunknown - lo) * sizeof(*list));
	list[lo] = t;
	schema->nunknown++;
	return t;
}

static void
model_schema_free_type(struct tel_type *t)
{
	for (unsigned i = 0; i < t->nfields; i++) {
		free((void *)(uintptr_t)t->fields[i].name);
		free((void *)(uintptr_t)t->fields[i].unit_name);
		free((void *)(uintptr_t)t->fields[i].doc);
	}
	free(t->fields);
	free((void *)(uintptr_t)t->name);
	free((void *)(uintptr_t)t->doc);
}

void
tel_schema_free(tel_schema *schema)
{
	if (schema == NULL)
		return;
	for (unsigned i = 0; i < schema->ntypes; i++)
		model_schema_free_type(&schema->types[i]);
	for (unsigned i = 0; i < schema->nunknown; i++) {
		model_schema_free_type(schema->unknown[i]);
		free(schema->unknown[i]);
	}
	for (unsigned i = 0; i < schema->nkinds; i++)
		free(schema->kinds[i]);
	free(schema->kinds);
	free(schema->unknown);
	free(schema->types);
	free(schema->by_code);
	free(schema);
}

TEL__GETTER(const char *, tel_schema_name, tel_schema, name)
TEL__GETTER(const char *, tel_schema_version, tel_schema, version)

int
tel_schema_ordered(const tel_schema *schema)
{
	return !schema->buffered;
}

TEL__GETTER(unsigned, tel_schema_type_count, tel_schema, ntypes)

const tel_type *
tel_schema_type(const tel_schema *schema, unsigned i)
{
	return i < schema->ntypes ? &schema->types[i] : NULL;
}

const tel_type *
tel_schema_find_type(const tel_schema *schema, const char *name)
{
	for (unsigned i = 0; i < schema->ntypes; i++)
		if (strcmp(schema->types[i].name, name) == 0)
			return &schema->types[i];
	return NULL;
}

TEL__GETTER(const char *, tel_type_name, tel_type, name)
TEL__GETTER(uint32_t, tel_type_code, tel_type, code)
TEL__GETTER(const char *, tel_type_kind, tel_type, kind)
TEL__GETTER(unsigned, tel_type_kind_number, tel_type, kind_number)
TEL__GETTER(unsigned, tel_type_field_count, tel_type, nfields)

/* field: NULL for the type itself. */
static const char *
doc_of(const tel_type *type, const tel_field *field)
{
	const tel_schema *s = type->schema;
	const char *doc = field != NULL ? field->doc : type->doc;

	if (doc == NULL && s->doc != NULL && !type->unknown)
		doc = s->doc(type->name, field != NULL ? field->name : NULL);
	return doc == NULL ? "" : doc;
}

const char *
tel_type_doc(const tel_type *type)
{
	return doc_of(type, NULL);
}

const char *
tel_type_field_doc(const tel_type *type, unsigned i)
{
	return i < type->nfields ? doc_of(type, &type->fields[i]) : "";
}

const tel_field *
tel_type_field(const tel_type *type, unsigned i)
{
	return i < type->nfields ? &type->fields[i] : NULL;
}

int
tel_type_find_field(const tel_type *type, const char *name)
{
	for (int i = 0; i < type->nfields; i++)
		if (strcmp(type->fields[i].name, name) == 0)
			return i;
	return -1;
}

TEL__GETTER(int, tel_type_unknown, tel_type, unknown)
TEL__GETTER(const char *, tel_field_name, tel_field, name)
TEL__GETTER(tel_datatype, tel_field_datatype, tel_field, datatype)
TEL__GETTER(unsigned, tel_field_width, tel_field, width)

tel_datatype
tel_field_element(const tel_field *field)
{
	return field->datatype == TEL_LIST ? (tel_datatype)field->element :
	                                     field->datatype;
}

int
tel_field_optional(const tel_field *field)
{
	return field->present != 0;
}

static const char *const units[TEL_UNITS] = {
	[TEL_UNIT_NONE] = "",
	[TEL_UNIT_NS] = "ns",
	[TEL_UNIT_TIME] = "time",
	[TEL_UNIT_BYTES] = "bytes",
	[TEL_UNIT_BITS] = "bits",
	[TEL_UNIT_FRACTION] = "fraction",
	[TEL_UNIT_HERTZ] = "Hz",
	[TEL_UNIT_BITS_A_SECOND] = "bits/s",
	[TEL_UNIT_BYTES_A_SECOND] = "bytes/s",
};

const char *
tel_field_unit(const tel_field *field)
{
	return field->unit_name != NULL ? field->unit_name : units[field->unit];
}

/* ------------------------------------------------------- documentation */

static size_t
length_of(const char *text)
{
	return text != NULL ? strlen(text) : 0;
}

/* Keeps a copy of a text at *kept in place of that before; NULL if it is empty. */
static int
keep_words(const char **kept, const void *text, size_t n)
{
	char *spelling = n == 0 ? NULL : tel__name_spell(text, n, 1);

	if (n > 0 && spelling == NULL)
		return 0;
	free((void *)(uintptr_t)*kept);
	*kept = spelling;
	return 1;
}

int
tel__type_document(struct tel_type *t, struct tel_field *f, const void *text,
    size_t n)
{
	return keep_words(f != NULL ? &f->doc : &t->doc, text, n);
}

int
tel__field_set_unit(struct tel_field *f, const void *text, size_t n)
{
	uint8_t unit;

	for (unit = 1; unit < TEL_UNITS && f->unit == TEL_UNIT_NONE; unit++)
		if (strlen(units[unit]) == n &&
		    memcmp(units[unit], text, n) == 0)
			f->unit = unit;
	return f->unit != TEL_UNIT_NONE || keep_words(&f->unit_name, text, n);
}

int
tel__type_copy_docs(struct tel_type *t, const struct tel_type *from)
{
	int kept = keep_words(&t->doc, from->doc, length_of(from->doc));

	for (unsigned i = 0; kept && i < from->nfields; i++) {
		const struct tel_field *f = &from->fields[i];

		kept =
		    keep_words(&t->fields[i].doc, f->doc, length_of(f->doc)) &&
		    keep_words(&t->fields[i].unit_name, f->unit_name,
		        length_of(f->unit_name));
	}
	return kept;
}
