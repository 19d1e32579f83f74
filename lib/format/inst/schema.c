/* SPDX-License-Identifier: BSD-2-Clause */
/* The event types of inst logs, and how an event is made of a line. */
#include "format/inst/inst.h"
#include "model/row.h"

#include <string.h>

#define HEADER 16u

static const struct tel_type_row rows[T_TYPES] = {
#define INST_TYPE(type, name, kind, fields, role) \
	[type] = { (type) + 1, name, kind, fields, role },
	INST_TYPES(INST_TYPE)
#undef INST_TYPE
};

/* clang-format off */
const struct inst_class_row tel__inst_classes[CLASS_TYPES] = {
#define INST_CLASS(class, ...) [class] = { __VA_ARGS__ },
	INST_CLASSES(INST_CLASS)
#undef INST_CLASS
};

/* Values that are not of a field of the record. */
static const struct {
	const char *name;
	enum inst_from from;
} sources[] = {
	{ "path", FROM_PATH }, { "class", FROM_CLASS },
	{ "range", FROM_RANGE }, { "text", FROM_TEXT },
	{ "reason", FROM_REASON }, { "record", FROM_RECORD },
	{ "major", FROM_MAJOR }, { "median", FROM_MEDIAN },
	{ "minor", FROM_MINOR }, { "outside", FROM_OUTSIDE },
	{ "component", FROM_COMPONENT },
};
/* clang-format on */

/* A stable schema: new types come last, existing ones do not change. */
struct tel_schema *
tel__inst_schema(void)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_schema *s =
	    tel__schema_make("inst-1", "1.0.0", &abi, HEADER, T_TYPES);

	for (unsigned i = 0; s != NULL && i < T_TYPES; i++) {
		if (tel__schema_add_row(s, &rows[i], 0) == NULL) {
			tel_schema_free(s);
			s = NULL;
		}
	}
	for (unsigned i = 0; s != NULL && i < T_TYPES; i++)
		tel__schema_pair_row(s, &rows[i]);
	if (s != NULL)
		s->stable = 1;
	return s;
}

const struct tel_type_row *
tel__inst_row(enum inst_type type)
{
	return &rows[type];
}

const struct inst_class_row *
tel__inst_class_row(enum inst_type type)
{
	const struct inst_class_row *row = tel__inst_classes;

	for (; row < tel__inst_classes + CLASS_TYPES; row++)
		if (row->definition == type ||
		    (row->snapshot == type && type != T_OTHER &&
		        type != T_IGNORED))
			return row;
	return NULL;
}

static uint8_t
source_of(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strlen(sources[i].name) == n &&
		    memcmp(sources[i].name, name, n) == 0)
			return (uint8_t)sources[i].from;
	return (uint8_t)tel__inst_key(name, n);
}

void
tel__inst_sources(uint8_t from[T_TYPES][INST_FIELDS])
{
	const char *p, *name;
	unsigned i, j;

	for (i = 0; i < T_TYPES; i++) {
		for (p = rows[i].fields, j = 0; *p != '\0'; j++) {
			size_t n = strcspn(p, " ");

			name = memchr(p, '=', n);
			name = name != NULL ? name + 1 : p + 2;
			from[i][j] = source_of(name, n - (size_t)(name - p));
			p += n;
			p += strspn(p, " ");
		}
	}
}

/* ------------------------------------------------------------- events */

/* The number in a field, as far as 64 bits hold it; 0 where it is missing. */
static const char *
inst_schema_number(struct tel_reader *r, struct inst *s,
    const struct tel_field *f, enum inst_key key, uint64_t *out)
{
	uint64_t most = UINT64_MAX;
	struct inst_number n;

	*out =
	    key == I_N && s->type >= T_UPDATE_SET && s->type <= T_UPDATE_TALLY;
	if (f->datatype == TEL_BOOLEAN)
		*out = 1;
	if (!inst_has(&s->line, key))
		return NULL;
	if (s->line.values[key].decimal && f->datatype == TEL_UNSIGNED) {
		*out = s->line.values[key].number;
		return NULL;
	}
	if (!tel__inst_integer(&s->line.values[key], &n))
		return f->name;
	if (n.negative && f->datatype == TEL_UNSIGNED && key != I_TAG)
		return f->name;
	if (f->datatype == TEL_BOOLEAN)
		n.magnitude = n.magnitude != 0;
	if (f->datatype == TEL_SIGNED)
		most = INT64_MAX + (uint64_t)n.negative;
	if (n.over || n.magnitude > most) {
		/* the statistics have room for it, and take it from the line */
		if (!(s->reported & 1) && !r->long_lines)
			tel__reader_notice(r, TEL_WARNING, s->text.offset,
			    "a number is too large for the field %s of %s, "
			    "and is shown as the largest",
			    f->name, rows[s->type].name);
		s->reported |= 1;
		n.magnitude = most;
	}
	*out = n.negative ? 0 - n.magnitude : n.magnitude;
	return NULL;
}

/* The value of a field that is not a part of the line. */
static uint64_t
derived(const struct inst *s, enum inst_from from)
{
	switch (from) {
	case FROM_CLASS: return s->class_id;
	case FROM_RANGE:
		return s->class_id << 32 ^ tel__inst_unsigned(&s->line, I_TAG);
	case FROM_MAJOR: return s->version[0];
	case FROM_MEDIAN: return s->version[1];
	case FROM_MINOR: return s->version[2];
	case FROM_OUTSIDE:
		if (inst_has(&s->line, I_OVF))
			return tel__inst_unsigned(&s->line, I_OVF);
		return tel__inst_unsigned(&s->line, I_UNDER) +
		    tel__inst_unsigned(&s->line, I_OVER);
	case FROM_PATH:
	case FROM_TEXT:
	case FROM_REASON:
	case FROM_COMPONENT:
	case FROM_RECORD: break;
	}
	return 0;
}

/* The text of a trace event. */
static unsigned char *
inst_schema_put_text(const struct inst *s, unsigned char *out)
{
	const struct inst_line *l = &s->line;
	static const struct inst_descriptor none = { NULL, 0, 1 };
	const struct inst_descriptor *d = &none;

	if (inst_has(l, I_S))
		return tel__inst_decode(&l->values[I_S], out);
	if (inst_has(l, I_D)) {
		const struct tel__entry *e = tel__table_find(&s->descriptor_ids,
		    tel__inst_unsigned(l, I_D));

		if (e != NULL)
			d = &s->descriptors[e->value];
	} else if (l->nargs == 0) {
		return out;
	}
	return tel__inst_format(d, l, s->c_locale, out);
}

/* A string at out, without a NUL; NULL when an escape is wrong. */
static unsigned char *
inst_schema_put_string(const struct inst *s, unsigned from, unsigned char *out)
{
	const struct inst_line *l = &s->line;
	const char *word;
	size_t n;

	switch (from) {
	case FROM_PATH:
		memcpy(out, s->path, s->path_length);
		return out + s->path_length;
	case FROM_TEXT: return inst_schema_put_text(s, out);
	case FROM_COMPONENT:
		if (s->class_at >= INST_BAD_CLASS)
			return out;
		word = s->tree.classes[s->class_at].component;
		n = word == NULL ? 0 : strlen(word);
		memcpy(out, n > 0 ? word : "", n);
		return out + n;
	case FROM_REASON:
		n = strlen(s->reason);
		memcpy(out, s->reason, n);
		return out + n;
	case FROM_RECORD:
		n = (size_t)(l->end - l->record);
		memcpy(out, l->record, n);
		return out + n;
	default: break;
	}
	if (!inst_has(l, (enum inst_key)from))
		return out;
	return tel__inst_decode(&l->values[from], out);
}

const char *
tel__inst_build(struct tel_reader *r, struct inst *s, uint32_t *size)
{
	const struct tel_type *t = &r->log.schema->types[s->type];
	const uint8_t *from = s->from[s->type];
	const struct tel_field *f = t->fields;
	unsigned char *p = s->data + HEADER, *out = s->data + t->size;
	uint64_t v;

	for (unsigned i = 0; i < t->nfields; i++, f++, from++, p += 8) {
		if (f->datatype == TEL_STRING) {
			tel_store_le64(p, (uint64_t)(out - s->data));
			out = inst_schema_put_string(s, *from, out);
			if (out == NULL)
				return f->name;
			*out++ = '\0';
			continue;
		}
		if (*from < I_KEYS) {
			const char *why = inst_schema_number(r, s, f,
			    (enum inst_key) * from, &v);

			if (why != NULL)
				return why;
		} else {
			v = derived(s, (enum inst_from) * from);
		}
		tel_store_le64(p, v);
	}
	*size = (uint32_t)(out - s->data);
	tel_store_le64(s->data, (uint64_t)*size << 32 | t->code);
	tel_store_le64(s->data + 8, s->line.clock);
	return NULL;
}
