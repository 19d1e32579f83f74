/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table that Singularity's mag_ets prints when it is asked for the layout
 * of tracerpt: a row an event, in which the fields of the event follow as
 * NAME=VALUE, each in a column of its own, in the order of their declaration.
 */
#include <stdio.h>
#include <strings.h>

#include "render/escape.h"
#include "render/number.h"
#include "render/renderer.h"

#define HEADER "#timestamp,EIP,CPU,TID,PID,Provider,Type,UserData\n"

/* What an event of any type may have; columns of their own. */
static const struct {
	const char *name;
	enum render_op op;
} context[] = { { "instruction", RENDER_HEX }, { "cpu", RENDER_DECIMAL },
	{ "tid", RENDER_HEX }, { "pid", RENDER_HEX } };
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

/* The provider's name in lower case. */
static void
add_provider(struct render_builder *b, const struct tel_type *type)
{
	char name[256];
	size_t n;

	snprintf(name, sizeof(name), "%s", type->kind);
	for (n = 0; name[n] != '\0'; n++)
		if (name[n] >= 'A' && name[n] <= 'Z')
			name[n] = (char)(name[n] - 'A' + 'a');
	tel__render_add_csv(b, name, n);
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
add_type(const struct tel_schema *s, struct render_builder *b,
    const struct tel_type *type)
{
	const char *bare = bare_name(type), *name = type->name;
	unsigned i;

	for (i = 0; bare != name && i < s->ntypes; i++)
		if (&s->types[i] != type &&
		    strcasecmp(bare_name(&s->types[i]), bare) == 0)
			name = bare;
	tel__render_add_csv(b, name, strlen(name));
}

static void
add_field(struct render_builder *b, const struct tel_type *type, unsigned i)
{
	const struct tel_field *f = &type->fields[i];
	enum render_op op = tel__render_text_op(f, 0);

	tel__render_add(b, ",");
	if (f->datatype == TEL_STRING) {
		tel__render_add_field(b, RENDER_STRING_CELL, i, SPACE_NONE);
		return;
	}
	tel__render_add_bytes(b, f->name, f->name_length);
	tel__render_add(b, op == RENDER_HEX ? "=0x" : "=");
	tel__render_add_field(b, op, i, SPACE_NONE);
}

static struct render_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum render_variant variant)
{
	struct render_builder b;
	unsigned i;
	int at;

	(void)pr;
	(void)variant;
	tel__render_start(&b, type, LABELS_TEXT);
	tel__render_add_op(&b, RENDER_CLOCK_DECIMAL);
	for (i = 0; i < NCONTEXT; i++) {
		tel__render_add(&b, ",");
		at = tel__render_find(type, context[i].name);
		if (at >= 0 && type->fields[at].datatype != TEL_STRING)
			tel__render_add_field(&b, context[i].op, (unsigned)at,
			    SPACE_NONE);
	}
	tel__render_add(&b, ",");
	if (type == NULL) {
		tel__render_add(&b, "unknown,0x");
		tel__render_add_op(&b, RENDER_CODE_ZERO);
		tel__render_add(&b, ",bytes=");
		tel__render_add_op(&b, RENDER_BYTES);
	} else {
		add_provider(&b, type);
		tel__render_add(&b, ",");
		add_type(pr->schema, &b, type);
		for (i = 0; i < type->nfields; i++)
			if (!is_context(type->fields[i].name))
				add_field(&b, type, i);
	}
	tel__render_add(&b, "\n");
	return tel__render_end(&b);
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	(void)ev;
	(void)same;
	if (pr->started || !pr->header)
		return TEL_OK;
	return render_put(pr, HEADER);
}

static tel_status
finish(struct tel_printer *pr)
{
	return pr->started || !pr->header ? TEL_OK : render_put(pr, HEADER);
}

const struct tel_renderer tel__renderer_tracerpt = {
	.name = "tracerpt",
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_WHOLE,
	.begin_log = begin_log,
	.compile = compile,
	.finish = finish,
};
