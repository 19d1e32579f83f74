/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON (RFC 8259), an object a line. */
#include "print/escape.h"
#include "print/number.h"
#include "print/printer.h"

static void
add_json(struct print_builder *b, const char *s, size_t n)
{
	unsigned char *p = print_room(b, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->length += (size_t)(tel_escape_json(p, s, n, 0) - p);
}

/* The step's operation, and in *quote what stands around it. */
static enum print_op
choose(const struct tel_field *f, const char **quote)
{
	*quote = "";
	switch (f->sort) {
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER: *quote = "\""; return PRINT_HEX;
	case TEL_STRING: *quote = "\""; return PRINT_STRING_JSON;
	case TEL_SIGNED:
		return f->width > 53 ? PRINT_EXACT_SIGNED : PRINT_SIGNED;
	case TEL_BOOLEAN: return PRINT_BOOLEAN;
	case TEL_DOUBLE: return PRINT_DOUBLE_JSON;
	case TEL_UNSIGNED: break;
	}
	return f->width > 53 ? PRINT_EXACT : PRINT_DECIMAL;
}

static void
add_field(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type, unsigned i, const char *separator)
{
	const struct tel_field *f = &type->fields[i];
	const char *quote;
	enum print_op op = choose(f, &quote);

	print_literal(b, separator);
	print_literal(b, "\"");
	add_json(b, f->name, f->name_length);
	print_literal(b, "\":");
	print_literal(b, quote);
	if (op == PRINT_HEX)
		print_literal(b, "0x");
	print_field(b, op, i, print_space_of(pr, f));
	print_literal(b, quote);
}

static void
add_fields(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type)
{
	unsigned i, n = pr->names == NULL ? type->nfields : pr->nnames;
	const char *separator = "";
	int at;

	for (i = 0; i < n; i++) {
		at =
		    pr->names == NULL ? (int)i : print_find(type, pr->names[i]);
		if (at < 0)
			continue;
		add_field(pr, b, type, (unsigned)at, separator);
		separator = ",";
	}
}

static void
add_unknown(struct tel_printer *pr, struct print_builder *b)
{
	unsigned i;

	print_literal(b, ",\"type\":\"0x");
	print_op(b, PRINT_CODE_ZERO);
	print_literal(b, "\",\"kind\":\"Unknown\",\"code\":");
	print_op(b, PRINT_CODE);
	print_literal(b, ",\"fields\":{");
	for (i = 0; i < pr->nnames; i++)
		if (strcmp(pr->names[i], "bytes") == 0)
			break;
	if (pr->names == NULL || i < pr->nnames) {
		print_literal(b, "\"bytes\":\"");
		print_op(b, PRINT_BYTES);
		print_literal(b, "\"");
	}
}

static struct print_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_builder b;
	unsigned char code[24];

	(void)variant;
	print_begin(&b, type, LABELS_COLLECT);
	if (pr->time == TEL_TIME_TICKS) {
		print_literal(&b, "{\"clock\":");
		print_op(&b, PRINT_CLOCK_EXACT);
	} else {
		print_literal(&b, "{\"time\":");
		print_op(&b, PRINT_TIME_JSON);
	}
	if (type == NULL) {
		add_unknown(pr, &b);
		print_literal(&b, "}}\n");
		return print_end(&b);
	}
	print_literal(&b, ",\"type\":\"");
	add_json(&b, type->name, type->name_length);
	print_literal(&b, "\",\"kind\":\"");
	add_json(&b, type->kind, strlen(type->kind));
	print_literal(&b, "\",\"code\":");
	print_bytes(&b, code,
	    (size_t)(tel_put_decimal(code, type->code) - code));
	print_literal(&b, ",\"fields\":{");
	add_fields(pr, &b, type);
	print_literal(&b, "}");
	print_op(&b, PRINT_LABELS);
	print_literal(&b, "}\n");
	return print_end(&b);
}

const struct print_style print_style_json = {
	.compile = compile,
};
