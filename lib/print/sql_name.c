/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and strings in a script for sqlite3. */
#include "print/sql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "print/escape.h"

void
tel__sql_put(struct tel_printer *pr, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	print_put(pr, text);
}

void
tel__sql_value(struct tel_printer *pr, const char *s)
{
	size_t n = strlen(s);
	unsigned char *p = tel_output_room(pr->out, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		pr->out->used =
		    (size_t)(tel__escape_sql(p, s, n) - pr->out->buffer);
}

void
tel__sql_add_name(struct print_builder *b, const char *before, const char *name)
{
	tel__print_literal(b, "\"");
	tel__print_literal(b, before);
	for (; *name != '\0'; name++)
		tel__print_bytes(b, *name == '"' ? "\"\"" : name,
		    *name == '"' ? 2 : 1);
	tel__print_literal(b, "\"");
}

/*
 * Columns differ in more than the case of letters, and two have names of
 * their own: the further ones of a name get a number behind it.  out has room
 * for the name and COLUMN_MORE bytes.
 */
#define COLUMN_MORE 16

static int
is_reserved(const char *name)
{
	return strcasecmp(name, "time") == 0 ||
	    strcasecmp(name, "log_serial") == 0;
}

static void
name_column(const struct tel_type *type, unsigned field, char *out)
{
	const struct tel_field *f = &type->fields[field];
	unsigned i, n = 1 + (unsigned)is_reserved(f->name), taken;

	for (i = 0; i < field; i++)
		n += strcasecmp(type->fields[i].name, f->name) == 0;
	memcpy(out, f->name, f->name_length + 1u);
	for (taken = n > 1; taken; n++) {
		snprintf(out + f->name_length, COLUMN_MORE, "_%u", n);
		taken = (unsigned)is_reserved(out);
		for (i = 0; i < type->nfields; i++)
			taken |= strcasecmp(type->fields[i].name, out) == 0;
	}
}

/* The name of a column; NULL when there is no memory. */
static char *
column(const struct tel_type *type, unsigned field)
{
	char *name = malloc(type->fields[field].name_length + COLUMN_MORE);

	if (name != NULL)
		name_column(type, field, name);
	return name;
}

void
tel__sql_add_column(struct print_builder *b, const struct tel_type *type,
    unsigned i)
{
	char *name = column(type, i);

	if (name != NULL)
		tel__sql_add_name(b, "", name);
	else
		b->failed = 1;
	free(name);
}

void
tel__sql_column(struct tel_printer *pr, const struct tel_type *type, unsigned i)
{
	char *name = column(type, i);

	if (name != NULL)
		tel__sql_value(pr, name);
	else
		pr->out->status = TEL_ENOMEM;
	free(name);
}
