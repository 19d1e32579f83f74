/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON (RFC 8259), an object a line. */
#include "render/escape.h"
#include "render/number.h"
#include "render/renderer.h"

/* The step's operation, and in *quote the quotes around its value. */
static enum render_op
choose(const struct tel_field *f, const char **quote)
{
	*quote = "";
	switch (f->datatype) {
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER: *quote = "\""; return RENDER_HEX;
	case TEL_STRING: *quote = "\""; return RENDER_STRING_JSON;
	case TEL_SIGNED:
		return f->width > 53 ? RENDER_EXACT_SIGNED : RENDER_SIGNED;
	case TEL_BOOLEAN: return RENDER_BOOLEAN;
	case TEL_DOUBLE: return RENDER_DOUBLE_JSON;
	case TEL_UNSIGNED: break;
	}
	return f->width > 53 ? RENDER_EXACT : RENDER_DECIMAL;
}

static void
add_field(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, unsigned i, const char *separator)
{
	const struct tel_field *f = &type->fields[i];
	const char *quote;
	enum render_op op = choose(f, &quote);

	tel__render_add(b, separator);
	tel__render_add(b, "\"");
	tel__render_add_json(b, f->name, f->name_length);
	tel__render_add(b, "\":");
	tel__render_add(b, quote);
	if (op == RENDER_HEX)
		tel__render_add(b, "0x");
	tel__render_add_field(b, op, i, tel__render_space_of(pr, f));
	tel__render_add(b, quote);
}

static void
add_fields(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type)
{
	unsigned i, n = pr->names == NULL ? type->nfields : pr->nnames;
	const char *separator = "";
	int at;

	for (i = 0; i < n; i++) {
		at = pr->names == NULL ? (int)i :
		                         tel__render_find(type, pr->names[i]);
		if (at < 0)
			continue;
		add_field(pr, b, type, (unsigned)at, separator);
		separator = ",";
	}
}

static void
add_unknown(struct tel_printer *pr, struct render_builder *b)
{
	unsigned i;

	tel__render_add(b, ",\"type\":\"0x");
	tel__render_add_op(b, RENDER_CODE_ZERO);
	tel__render_add(b, "\",\"kind\":\"Unknown\",\"code\":");
	tel__render_add_op(b, RENDER_CODE);
	tel__render_add(b, ",\"fields\":{");
	for (i = 0; i < pr->nnames; i++)
		if (strcmp(pr->names[i], "bytes") == 0)
			break;
	if (pr->names == NULL || i < pr->nnames) {
		tel__render_add(b, "\"bytes\":\"");
		tel__render_add_op(b, RENDER_BYTES);
		tel__render_add(b, "\"");
	}
}

static struct render_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum render_variant variant)
{
	struct render_builder b;
	unsigned char code[24];

	(void)variant;
	tel__render_start(&b, type, LABELS_COLLECT);
	if (pr->time == TEL_TIME_TICKS) {
		tel__render_add(&b, "{\"clock\":");
		tel__render_add_op(&b, RENDER_CLOCK_EXACT);
	} else {
		tel__render_add(&b, "{\"time\":");
		tel__render_add_op(&b, RENDER_TIME_JSON);
	}
	if (type == NULL) {
		add_unknown(pr, &b);
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
	add_fields(pr, &b, type);
	tel__render_add(&b, "}");
	tel__render_add_op(&b, RENDER_LABELS);
	tel__render_add(&b, "}\n");
	return tel__render_end(&b);
}

const struct tel_renderer tel__renderer_json = {
	.name = "json",
	.apart = 1,
	.flags = TEL_PRINTER_FIELDS | TEL_PRINTER_HEADER,
	.compile = compile,
};
