/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON (RFC 8259), an object a line. */
#include <stdio.h>

#include "model/name.h"
#include "render/number.h"
#include "render/renderer.h"

/* The step's operation, and in *quote the quotes around its value. */
static enum render_op
print_json_choose(const struct tel_field *f, const char **quote)
{
	*quote = "";
	if (f->space == TEL_SPACE_STACK)
		return RENDER_STACK_JSON;
	switch (f->datatype) {
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER: *quote = "\""; return RENDER_HEX;
	case TEL_STRING: *quote = "\""; return RENDER_STRING_JSON;
	case TEL_SIGNED:
		return f->width > 53 ? RENDER_EXACT_SIGNED : RENDER_SIGNED;
	case TEL_BOOLEAN: return RENDER_BOOLEAN;
	case TEL_DOUBLE:
		return f->load == TEL_LOAD_LEF32 ? RENDER_FLOAT_JSON :
		                                   RENDER_DOUBLE_JSON;
	case TEL_LIST: return RENDER_LIST_JSON;
	case TEL_UNSIGNED: break;
	}
	return f->width > 53 ? RENDER_EXACT : RENDER_DECIMAL;
}

/* Nonzero when a field has the name that the label of field f is called. */
static int
has_label_name(const struct tel_type *type, const struct tel_field *f)
{
	char name[TEL__NAME_SPELLING + sizeof("_label")];

	(void)snprintf(name, sizeof(name), "%s_label", f->name);
	return tel_type_find_field(type, name) >= 0;
}

/* Adds "NAME": without the first bytes of the name. */
static void
print_json_add_key(struct render_builder *b, const struct tel_type *type,
    unsigned i, size_t skip)
{
	const struct tel_field *f = &type->fields[i];

	tel__render_add(b, "\"");
	/* the label of an enum is "NAME_label", where no other field is */
	if (f->is_label && i > 0 && !has_label_name(type, f - 1)) {
		f--;
		tel__render_add_json(b, f->name + skip, f->name_length - skip);
		tel__render_add(b, "_label");
	} else {
		tel__render_add_json(b, f->name + skip, f->name_length - skip);
	}
	tel__render_add(b, "\":");
}

static void
print_json_add_field(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, unsigned i, size_t skip)
{
	const struct tel_field *f = &type->fields[i];
	const char *quote;
	enum render_op op = print_json_choose(f, &quote);

	print_json_add_key(b, type, i, skip);
	tel__render_add_if(b, i, "null");
	tel__render_add(b, quote);
	if (op == RENDER_HEX)
		tel__render_add(b, "0x");
	tel__render_add_field(b, op, i,
	    op == RENDER_STACK_JSON ? SPACE_NONE : tel__render_space_of(pr, f));
	tel__render_add(b, quote);
	tel__render_end_if(b);
}

/*
 * Nonzero when the first n bytes of a name can be the key of an object: no field
 * has that name, and the fields that are members of it are in one row.
 */
static int
is_struct(const struct tel_type *type, const char *name, size_t n)
{
	const struct tel_field *f = type->fields;
	unsigned rows = 0;
	int is, was = 0;

	for (; f < type->fields + type->nfields; f++, was = is) {
		is = strncmp(f->name, name, n) == 0;
		if (is && f->name_length == n)
			return 0;
		is = is && f->name[n] == '.';
		rows += is && !was;
	}
	return rows == 1;
}

/*
 * How many bytes of the name of field i, with the dot, are those of the structs
 * that it is a member of.
 */
static size_t
find_struct(const struct tel_type *type, unsigned i)
{
	const struct tel_field *f = &type->fields[i];
	size_t n = 0;

	if (!type->schema->nested)
		return 0;
	if (f->is_label && i > 0)
		return find_struct(type, i - 1);
	for (size_t k = 1; k < f->name_length; k++) {
		if (f->name[k] != '.')
			continue;
		if (!is_struct(type, f->name, k))
			break;
		n = k + 1;
	}
	return n;
}

/* Ends and starts structs between two fields that are in those named so. */
static void
change_struct(struct render_builder *b, const char *from, size_t from_size,
    const char *to, size_t to_size, const char *separator)
{
	size_t same = 0, i;

	for (i = 0; i < from_size && i < to_size && from[i] == to[i]; i++)
		if (from[i] == '.')
			same = i + 1;
	for (i = same; i < from_size; i++)
		if (from[i] == '.')
			tel__render_add(b, "}");
	if (to != NULL)
		tel__render_add(b, separator);
	for (i = same; i < to_size; i++) {
		if (to[i] != '.')
			continue;
		tel__render_add(b, "\"");
		tel__render_add_json(b, to + same, i - same);
		tel__render_add(b, "\":{");
		same = i + 1;
	}
}

/* Adds the value of a name that is an expression.  1, or 0: it is none. */
static int
print_json_add_value(struct tel_printer *pr, struct render_builder *b,
    const char *separator, unsigned name)
{
	const char *text = pr->names[name].text;

	if (pr->names[name].expr == NULL)
		return 0;
	tel__render_add(b, separator);
	tel__render_add(b, "\"");
	tel__render_add_json(b, text, strlen(text));
	tel__render_add(b, "\":");
	return tel__render_add_value(pr, b, RENDER_VALUE_JSON, name);
}

static void
print_json_add_fields(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type)
{
	const char *separator = "", *from = NULL;
	size_t from_size = 0, size;

	for (unsigned i = 0; i < render_count(pr, type); i++) {
		int at = render_field(pr, type, i);

		if (at < 0) {
			if (print_json_add_value(pr, b, separator, i))
				separator = ",";
			continue;
		}
		size = pr->names == NULL ? find_struct(type, (unsigned)at) : 0;
		change_struct(b, from, from_size, type->fields[at].name, size,
		    separator);
		print_json_add_field(pr, b, type, (unsigned)at, size);
		separator = ",";
		from = type->fields[at].name;
		from_size = size;
	}
	change_struct(b, from, from_size, NULL, 0, "");
}

static void
print_json_add_unknown(struct tel_printer *pr, struct render_builder *b)
{
	const char *separator = "";

	tel__render_add(b, ",\"type\":\"0x");
	tel__render_add_op(b, RENDER_CODE_ZERO);
	tel__render_add(b, "\",\"kind\":\"Unknown\",\"code\":");
	tel__render_add_op(b, RENDER_CODE);
	tel__render_add(b, ",\"fields\":{");
	for (unsigned i = 0; i < pr->nnames || pr->names == NULL; i++) {
		if (pr->names != NULL &&
		    strcmp(pr->names[i].text, "bytes") != 0) {
			if (print_json_add_value(pr, b, separator, i))
				separator = ",";
			continue;
		}
		tel__render_add(b, separator);
		tel__render_add(b, "\"bytes\":\"");
		tel__render_add_op(b, RENDER_BYTES);
		tel__render_add(b, "\"");
		separator = ",";
		if (pr->names == NULL)
			return;
	}
}

static struct render_program *
print_json_compile(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_builder b;
	unsigned char code[24];

	tel__render_start(&b, type, LABELS_COLLECT);
	if (pr->time == TEL_TIME_TICKS) {
		tel__render_add(&b, "{\"clock\":");
		tel__render_add_op(&b, RENDER_CLOCK_EXACT);
	} else {
		tel__render_add(&b, "{\"time\":");
		tel__render_add_op(&b, RENDER_TIME_JSON);
	}
	if (type == NULL) {
		print_json_add_unknown(pr, &b);
		tel__render_add(&b, "}}\n");
		return tel__render_end(&b);
	}
	tel__render_add(&b, ",\"type\":\"");
	tel__render_add_json(&b, type->name, type->name_length);
	tel__render_add(&b, "\",\"kind\":\"");
	tel__render_add_json(&b, type->kind, strlen(type->kind));
	tel__render_add(&b, "\",\"code\":");
	tel__render_add_bytes(&b, code,
	    (size_t)(tel_put_decimal(code, type->code) - code));
	tel__render_add(&b, ",\"fields\":{");
	print_json_add_fields(pr, &b, type);
	tel__render_add(&b, "}");
	tel__render_add_op(&b, RENDER_LABELS);
	tel__render_add(&b, "}\n");
	return tel__render_end(&b);
}

const struct tel_renderer tel__renderer_json = {
	.name = "json",
	.apart = 1,
	.flags = TEL_PRINTER_FIELDS | TEL_PRINTER_HEADER,
	.compile = print_json_compile,
};
