/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comma-separated values (RFC 4180), in one of three shapes:
 *
 *	clock,kind,type,fields	all fields in one column, as in the text
 *	clock,type,a,b,...	the fields that were asked for
 *	clock,a,b,...		the fields of one type, or some of them
 *
 * The column of all fields needs quotes when it holds a quote itself, which
 * it does with strings, and with labels, of which nothing is known until the
 * event's addresses are looked up: then the event is begun again with a
 * program that quotes.
 */
#include <stdlib.h>

#include "print/escape.h"
#include "print/printer.h"

static void
add_csv(struct print_builder *b, const char *s, size_t n)
{
	unsigned char *p = tel__print_room(b, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->length += (size_t)(tel__escape_csv(p, s, n, 0) - p);
}

/* A column that holds the value of the field called name, if there is one. */
static void
add_column(struct print_builder *b, const struct tel_type *type,
    const char *name)
{
	int i = tel__print_find(type, name);
	enum print_op op;

	tel__print_literal(b, ",");
	if (type == NULL && strcmp(name, "bytes") == 0)
		tel__print_op(b, PRINT_BYTES);
	if (i < 0)
		return;
	op = tel__print_text_op(&type->fields[i], 0);
	if (op == PRINT_STRING_TEXT)
		op = PRINT_STRING_CSV;
	if (op == PRINT_HEX)
		tel__print_literal(b, "0x");
	tel__print_field(b, op, (unsigned)i, SPACE_NONE);
}

static void
add_type(struct print_builder *b, const struct tel_type *type)
{
	if (type != NULL) {
		add_csv(b, type->name, type->name_length);
		return;
	}
	tel__print_literal(b, "0x");
	tel__print_op(b, PRINT_CODE_ZERO);
}

static struct print_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	int quoted = variant == PRINT_OTHER;
	struct print_builder b;
	const char *kind = type == NULL ? "Unknown" : type->kind;
	unsigned i;

	tel__print_begin(&b, type, quoted ? LABELS_DOUBLED : LABELS_STOP);
	tel__print_op(&b,
	    pr->time == TEL_TIME_TICKS ? PRINT_CLOCK : PRINT_TIME);
	if (pr->columns == NULL && pr->names == NULL) {
		tel__print_literal(&b, ",");
		add_csv(&b, kind, strlen(kind));
	}
	if (pr->columns == NULL) {
		tel__print_literal(&b, ",");
		add_type(&b, type);
	}
	if (pr->names != NULL || pr->columns != NULL) {
		for (i = 0; i < pr->nnames; i++)
			add_column(&b, type, pr->names[i]);
	} else {
		tel__print_literal(&b, quoted ? ",\"" : ",");
		tel__print_text_fields(pr, &b, type, "", quoted);
		tel__print_literal(&b, quoted ? "\"" : "");
	}
	tel__print_literal(&b, "\r\n");
	return tel__print_end(&b);
}

/* The names of the type's fields become those of the columns. */
static tel_status
take_columns(struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	if (pr->names != NULL || type->nfields == 0)
		return TEL_OK;
	pr->names = calloc(type->nfields, sizeof(*pr->names));
	if (pr->names == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < type->nfields; i++) {
		pr->names[i] = strdup(type->fields[i].name);
		if (pr->names[i] == NULL)
			return TEL_ENOMEM;
		pr->nnames++;
	}
	return TEL_OK;
}

static tel_status
print_header(struct tel_printer *pr)
{
	unsigned char *p;
	size_t n;
	unsigned i;

	print_put(pr, pr->time == TEL_TIME_TICKS ? "clock" : "time");
	if (pr->columns == NULL)
		print_put(pr,
		    pr->names == NULL ? ",kind,type,fields" : ",type");
	for (i = 0; i < pr->nnames; i++) {
		n = strlen(pr->names[i]);
		print_put(pr, ",");
		p = tel_output_room(pr->out, TEL_ESCAPE_ROOM(n));
		if (p == NULL)
			break;
		p = tel__escape_csv(p, pr->names[i], n, pr->terminal);
		pr->out->used = (size_t)(p - pr->out->buffer);
	}
	print_put(pr, "\r\n");
	return pr->out->status;
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	const struct tel_type *type;
	tel_status st;

	(void)same;
	if (pr->columns != NULL) {
		type = tel_schema_find_type(ev->log->schema, pr->columns);
		if (type == NULL)
			return tel__print_fail(pr,
			    "the log has no event type of the name that the "
			    "columns are asked for");
		st = pr->started ? TEL_OK : take_columns(pr, type);
		if (st != TEL_OK)
			return st;
	}
	if (pr->started || !pr->header)
		return TEL_OK;
	return print_header(pr);
}

static tel_status
event(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct tel_type *type = ev->type;
	int all = pr->names == NULL && pr->columns == NULL;
	struct print_program *g;
	tel_status st;

	if (pr->columns != NULL &&
	    (type->unknown || strcmp(type->name, pr->columns) != 0))
		return TEL_OK;
	if (!all || !type->has_string) {
		g = print_program_for(pr, type, PRINT_ROW);
		st = g == NULL ? TEL_ENOMEM : tel__print_run(pr, g, ev);
		if (st != TEL_END)
			return st;
	}
	g = print_program_for(pr, type, PRINT_OTHER);
	return g == NULL ? TEL_ENOMEM : tel__print_run(pr, g, ev);
}

static tel_status
finish(struct tel_printer *pr)
{
	if (!pr->started && pr->header)
		return print_header(pr);
	return TEL_OK;
}

const struct print_style tel__print_style_csv = {
	.begin_log = begin_log,
	.compile = compile,
	.event = event,
	.finish = finish,
};
