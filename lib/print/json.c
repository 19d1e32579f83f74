/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON (RFC 8259), an object a line. */
#include "print/escape.h"
#include "print/number.h"
#include "print/printer.h"

static void
add_json(struct print_builder *b, const char *s, size_t n)
{
	unsigned char *p = tel__print_room(b, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->length += (size_t)(tel__escape_json(p, s, n, 0) - p);
}

/* The step's operation, and in *quote what stands around it. */
static enum print_op
choose(const struct tel_field *f, const char **quote)
{
	*quote = "";
	switch (f->datatype) {
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

	tel__print_literal(b, separator);
	tel__print_literal(b, "\"");
	add_json(b, f->name, f->name_length);
	tel__print_literal(b, "\":");
	tel__print_literal(b, quote);
	if (op == PRINT_HEX)
		tel__print_literal(b, "0x");
	tel__print_field(b, op, i, tel__print_space_of(pr, f));
	tel__print_literal(b, quote);
}

static void
add_fields(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type)
{
	unsigned i, n = pr->names == NULL ? type->nfields : pr->nnames;
	const char *separator = "";
	int at;

	for (i = 0; i < n; i++) {
		at = pr->names == NULL ? (int)i :
		                         tel__print_find(type, pr->names[i]);
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

	tel__print_literal(b, ",\"type\":\"0x");
	tel__print_op(b, PRINT_CODE_ZERO);
	tel__print_literal(b, "\",\"kind\":\"Unknown\",\"code\":");
	tel__print_op(b, PRINT_CODE);
	tel__print_literal(b, ",\"fields\":{");
	for (i = 0; i < pr->nnames; i++)
		if (strcmp(pr->names[i], "bytes") == 0)
			break;
	if (pr->names == NULL || i < pr->nnames) {
		tel__print_literal(b, "\"bytes\":\"");
		tel__print_op(b, PRINT_BYTES);
		tel__print_literal(b, "\"");
	}
}

static struct print_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_builder b;
	unsigned char code[24];

	(void)variant;
	tel__print_begin(&b, type, LABELS_COLLECT);
	if (pr->time == TEL_TIME_TICKS) {
		tel__print_literal(&b, "{\"clock\":");
		tel__print_op(&b, PRINT_CLOCK_EXACT);
	} else {
		tel__print_literal(&b, "{\"time\":");
		tel__print_op(&b, PRINT_TIME_JSON);
	}
	if (type == NULL) {
		add_unknown(pr, &b);
		tel__print_literal(&b, "}}\n");
		return tel__print_end(&b);
	}
	tel__print_literal(&b, ",\"type\":\"");
	add_json(&b, type->name, type->name_length);
	tel__print_literal(&b, "\",\"kind\":\"");
	add_json(&b, type->kind, strlen(type->kind));
	tel__print_literal(&b, "\",\"code\":");
	tel__print_bytes(&b, code,
	    (size_t)(tel_put_decimal(code, type->code) - code));
	tel__print_literal(&b, ",\"fields\":{");
	add_fields(pr, &b, type);
	tel__print_literal(&b, "}");
	tel__print_op(&b, PRINT_LABELS);
	tel__print_literal(&b, "}\n");
	return tel__print_end(&b);
}

const struct print_style tel__print_style_json = {
	.compile = compile,
};
