/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table that Singularity's mag_ets prints when it is asked for the layout
 * of tracerpt: a row an event, in which the fields of the event follow as
 * NAME=VALUE, each in a column of its own, in the order of their declaration.
 */
#include <stdio.h>
#include <strings.h>

#include "print/escape.h"
#include "print/number.h"
#include "print/printer.h"

#define HEADER "#timestamp,EIP,CPU,TID,PID,Provider,Type,UserData\n"

/* What an event of any type may have; columns of their own. */
static const struct {
	const char *name;
	enum print_op op;
} context[] = { { "instruction", PRINT_HEX }, { "cpu", PRINT_DECIMAL },
	{ "tid", PRINT_HEX }, { "pid", PRINT_HEX } };
#define NCONTEXT (sizeof(context) / sizeof(context[0]))

static int
is_context(const char *name)
{
	size_t i;

	for (i = 0; i < NCONTEXT; i++)
		if (strcmp(context[i].name, name) == 0)
			return 1;
	return 0;
}

/* A name as a field of CSV. */
static void
add_csv(struct print_builder *b, const char *s, size_t n)
{
	unsigned char *p = tel__print_room(b, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->length += (size_t)(tel__escape_csv(p, s, n, 0) - p);
}

/* The provider's name in lower case. */
static void
add_provider(struct print_builder *b, const struct tel_type *type)
{
	char name[256];
	size_t n;

	snprintf(name, sizeof(name), "%s", type->kind);
	for (n = 0; name[n] != '\0'; n++)
		if (name[n] >= 'A' && name[n] <= 'Z')
			name[n] = (char)(name[n] - 'A' + 'a');
	add_csv(b, name, n);
}

/* The type's name without its kind's in front and "_", if that is there. */
static const char *
bare_name(const struct tel_type *type)
{
	size_t n = strlen(type->kind);

	return strncmp(type->name, type->kind, n) == 0 && type->name[n] == '_' ?
	    type->name + n + 1 :
	    type->name;
}

/*
 * The name as it was declared: where several providers declare one name, the
 * provider's is in front of each, which here has a column of its own.
 */
static void
add_type(const struct tel_schema *s, struct print_builder *b,
    const struct tel_type *type)
{
	const char *bare = bare_name(type), *name = type->name;
	unsigned i;

	for (i = 0; bare != name && i < s->ntypes; i++)
		if (&s->types[i] != type &&
		    strcasecmp(bare_name(&s->types[i]), bare) == 0)
			name = bare;
	add_csv(b, name, strlen(name));
}

static void
add_field(struct print_builder *b, const struct tel_type *type, unsigned i)
{
	const struct tel_field *f = &type->fields[i];
	enum print_op op = tel__print_text_op(f, 0);

	tel__print_literal(b, ",");
	if (f->datatype == TEL_STRING) {
		tel__print_field(b, PRINT_STRING_CELL, i, SPACE_NONE);
		return;
	}
	tel__print_bytes(b, f->name, f->name_length);
	tel__print_literal(b, op == PRINT_HEX ? "=0x" : "=");
	tel__print_field(b, op, i, SPACE_NONE);
}

static struct print_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_builder b;
	unsigned i;
	int at;

	(void)pr;
	(void)variant;
	tel__print_begin(&b, type, LABELS_TEXT);
	tel__print_op(&b, PRINT_CLOCK_DECIMAL);
	for (i = 0; i < NCONTEXT; i++) {
		tel__print_literal(&b, ",");
		at = tel__print_find(type, context[i].name);
		if (at >= 0 && type->fields[at].datatype != TEL_STRING)
			tel__print_field(&b, context[i].op, (unsigned)at,
			    SPACE_NONE);
	}
	tel__print_literal(&b, ",");
	if (type == NULL) {
		tel__print_literal(&b, "unknown,0x");
		tel__print_op(&b, PRINT_CODE_ZERO);
		tel__print_literal(&b, ",bytes=");
		tel__print_op(&b, PRINT_BYTES);
	} else {
		add_provider(&b, type);
		tel__print_literal(&b, ",");
		add_type(pr->schema, &b, type);
		for (i = 0; i < type->nfields; i++)
			if (!is_context(type->fields[i].name))
				add_field(&b, type, i);
	}
	tel__print_literal(&b, "\n");
	return tel__print_end(&b);
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	(void)ev;
	(void)same;
	if (pr->started || !pr->header)
		return TEL_OK;
	return print_put(pr, HEADER);
}

static tel_status
finish(struct tel_printer *pr)
{
	return pr->started || !pr->header ? TEL_OK : print_put(pr, HEADER);
}

const struct print_style tel__print_style_tracerpt = {
	.begin_log = begin_log,
	.compile = compile,
	.finish = finish,
};
