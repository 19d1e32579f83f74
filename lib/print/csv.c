/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comma-separated values (RFC 4180), in one of three shapes:
 *	clock,kind,type,fields	all fields in one column, as in the text
 *	clock,type,a,b,...	the fields that were asked for
 *	clock,a,b,...		the fields of one type, or some of them
 * The column of all fields needs quotes when it holds a quote itself, which it
 * does with strings and with labels.  Whether an event has labels is known only
 * once its addresses are looked up: then the first quote is put before what was
 * printed of its fields.
 */

#include "base/array.h"
#include "render/escape.h"
#include "render/renderer.h"

/* A column that holds the value of the field called name, if there is one. */
static void
print_csv_add_column(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, unsigned number)
{
	const char *name = pr->names[number].text;
	int i = tel__render_find(type, name);

	tel__render_add(b, ",");
	if (type == NULL && strcmp(name, "bytes") == 0)
		tel__render_add_op(b, RENDER_BYTES);
	if (i < 0) {
		tel__render_add_value(pr, b, RENDER_VALUE_CSV, number);
		return;
	}
	enum render_op op = tel__render_text_op(&type->fields[i], 0);
	if (op == RENDER_STRING_TEXT)
		op = RENDER_STRING_CSV;
	if (op == RENDER_LIST_TEXT)
		op = RENDER_LIST_CSV;
	if (type->fields[i].space == TEL_SPACE_STACK)
		op = RENDER_STACK_CSV;
	tel__render_add_if(b, (unsigned)i, "");
	if (op == RENDER_HEX)
		tel__render_add(b, "0x");
	tel__render_add_field(b, op, (unsigned)i, SPACE_NONE);
	tel__render_end_if(b);
}

static void
print_csv_add_type(struct render_builder *b, const struct tel_type *type)
{
	if (type != NULL) {
		tel__render_add_csv(b, type->name, type->name_length);
		return;
	}
	tel__render_add(b, "0x");
	tel__render_add_op(b, RENDER_CODE_ZERO);
}

static struct render_program *
print_csv_compile(struct tel_printer *pr, const struct tel_type *type)
{
	const int quoted =
	    type != NULL && (type->has_string || type->has_names);
	struct render_builder b;
	const char *kind = type == NULL ? "Unknown" : type->kind;

	tel__render_start(&b, type, LABELS_DOUBLED);
	tel__render_add_op(&b,
	    pr->time == TEL_TIME_TICKS ? RENDER_CLOCK_DECIMAL : RENDER_TIME);
	if (pr->columns == NULL && pr->names == NULL) {
		tel__render_add(&b, ",");
		tel__render_add_csv(&b, kind, strlen(kind));
	}
	if (pr->columns == NULL) {
		tel__render_add(&b, ",");
		print_csv_add_type(&b, type);
	}
	if (pr->names != NULL || pr->columns != NULL) {
		for (unsigned i = 0; i < pr->nnames; i++)
			print_csv_add_column(pr, &b, type, i);
	} else {
		tel__render_add(&b, quoted ? ",\"" : ",");
		/* all since the clock is still to be put into a step */
		if (!b.failed && !quoted)
			b.program->lead = b.literal.used;
		tel__render_text_fields(pr, &b, type, "", quoted);
		if (quoted)
			tel__render_add(&b, "\"");
	}
	tel__render_add(&b, "\n");
	return tel__render_end(&b);
}

/* Nonzero when there is a column of that name. */
static int
has_column(const struct tel_printer *pr, const char *name)
{
	for (unsigned i = 0; i < pr->nnames; i++)
		if (strcmp(pr->names[i].text, name) == 0)
			return 1;
	return 0;
}

/* The fields of a type become columns, where no other type had the name. */
static tel_status
print_csv_add_columns(struct tel_printer *pr, const struct tel_type *type)
{
	for (unsigned i = 0; i < type->nfields; i++) {
		const char *name = type->fields[i].name;

		if (has_column(pr, name))
			continue;
		if (pr->wide && pr->nnames == TEL_WIDE_COLUMNS)
			return tel__render_fail(pr,
			    "more than %d columns; select types",
			    TEL_WIDE_COLUMNS);
		if (!TEL__RESERVE_ZEROED(pr->names, pr->names_room,
		        pr->nnames + 1) ||
		    (pr->names[pr->nnames].text = strdup(name)) == NULL)
			return TEL_ENOMEM;
		pr->nnames++;
	}
	return TEL_OK;
}

/* The same of all types that have the name requested, or that are selected. */
static tel_status
print_csv_schema(struct tel_printer *pr, const struct tel_schema *schema,
    const struct tel_filter *filter)
{
	tel_status st = TEL_OK;

	if (pr->started || pr->names_given ||
	    (pr->columns == NULL && !pr->wide))
		return TEL_OK;
	/* without a field, too, there is a list of them */
	if (!TEL__RESERVE_ZEROED(pr->names, pr->names_room, 1))
		return TEL_ENOMEM;
	for (unsigned i = 0; i < schema->ntypes && st == TEL_OK; i++) {
		const struct tel_type *type = &schema->types[i];

		if (pr->columns != NULL ?
		        strcmp(type->name, pr->columns) == 0 :
		        filter == NULL || tel_filter_type(filter, type))
			st = print_csv_add_columns(pr, type);
	}
	return st;
}

static const char *
clock_column(const struct tel_printer *pr)
{
	return pr->time == TEL_TIME_TICKS ? "clock" : "time";
}

/* Nonzero for a name that a column before those of fields has. */
static int
is_fixed_column(const struct tel_printer *pr, const char *name)
{
	return strcmp(name, clock_column(pr)) == 0 ||
	    (pr->columns == NULL && strcmp(name, "type") == 0);
}

static tel_status
csv_print_header(struct tel_printer *pr)
{
	render_put(pr, clock_column(pr));
	if (pr->columns == NULL)
		render_put(pr,
		    pr->names == NULL ? ",kind,type,fields" : ",type");
	for (unsigned i = 0; i < pr->nnames; i++) {
		const char *name = pr->names[i].text;
		size_t n = strlen(name);

		render_put(pr, is_fixed_column(pr, name) ? ",." : ",");
		unsigned char *p = tel_output_room(pr->out, TEL_ESCAPE_ROOM(n));
		if (p == NULL)
			break;
		p = tel__escape_csv(p, name, n, pr->terminal);
		pr->out->used = (size_t)(p - pr->out->buffer);
	}
	render_put(pr, "\n");
	return pr->out->status;
}

static tel_status
print_csv_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct tel_type *type;

	if (pr->columns != NULL) {
		type = tel_schema_find_type(ev->type->schema, pr->columns);
		if (type == NULL)
			return tel__render_fail(pr,
			    "the log has no event type with the name requested "
			    "for columns");
		tel_status st = print_csv_schema(pr, type->schema, NULL);
		if (st != TEL_OK)
			return st;
	}
	if (pr->started || !pr->header)
		return TEL_OK;
	return csv_print_header(pr);
}

static tel_status
print_csv_finish(struct tel_printer *pr)
{
	if (!pr->started && pr->header)
		return csv_print_header(pr);
	return TEL_OK;
}

const struct tel_renderer tel__renderer_csv = {
	.name = "csv",
	.apart = 1,
	.flags = TEL_PRINTER_FIELDS | TEL_PRINTER_HEADER | TEL_PRINTER_COLUMNS |
	    TEL_PRINTER_WIDE,
	.schema = print_csv_schema,
	.begin_log = print_csv_begin_log,
	.compile = print_csv_compile,
	.finish = print_csv_finish,
};
