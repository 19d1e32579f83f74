/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table that Singularity's mag_ets prints when it is asked for the layout
 * of tracerpt: a row an event, in which the fields of the event follow as
 * NAME=VALUE, each in a column of its own, in the order in which mag_ets had them.
 */
#include <stdio.h>
#include <strings.h>

#include "format/ets/ets.h"
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
	for (size_t i = 0; i < NCONTEXT; i++)
		if (strcmp(context[i].name, name) == 0)
			return 1;
	return 0;
}

/* The type of events that nothing describes, as ets/schema.c makes it. */
static int
is_undescribed(const struct tel_type *type)
{
	return type->code == ETS_UNKNOWN_CODE &&
	    strcmp(type->kind, "Unknown") == 0 &&
	    type->nfields > NCONTEXT + 2 &&
	    strcmp(type->fields[NCONTEXT].name, "provider") == 0;
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

/* Nonzero when name is base with "_" and a number behind. */
static int
is_numbered(const char *name, const char *base)
{
	size_t n = strlen(base);

	if (strncmp(name, base, n) != 0 || name[n] != '_')
		return 0;
	name += n + 1;
	return *name != '\0' && name[strspn(name, "0123456789")] == '\0';
}

/*
 * The name as it was declared.  Where several types have one name, the schema
 * puts the provider's in front of each, and a number behind those of one
 * provider; here the provider has a column of its own.
 */
static void
ets_print_add_type(const struct tel_schema *s, struct render_builder *b,
    const struct tel_type *type)
{
	const char *bare = bare_name(type), *name = type->name;
	size_t n;

	for (unsigned i = 0; bare != type->name && i < s->ntypes; i++) {
		const struct tel_type *t = &s->types[i];

		if (t == type)
			continue;
		if (strcmp(t->kind, type->kind) != 0) {
			if (strcasecmp(bare_name(t), bare) == 0)
				name = bare;
		} else if (is_numbered(t->name, type->name)) {
			name = bare;
		} else if (is_numbered(type->name, t->name)) {
			n = strlen(t->name) - (size_t)(bare - type->name);
			tel__render_add_csv(b, bare, n);
			return;
		}
	}
	tel__render_add_csv(b, name, strlen(name));
}

/* The name of a field without what tells it from a field of the context. */
static size_t
declared_length(const struct tel_field *f)
{
	for (size_t i = 0; i < NCONTEXT; i++) {
		size_t n = strlen(context[i].name);

		if (strncasecmp(f->name, context[i].name, n) == 0 &&
		    strcmp(f->name + n, "_2") == 0)
			return n;
	}
	return f->name_length;
}

static void
ets_print_add_field(struct render_builder *b, const struct tel_type *type,
    unsigned i)
{
	const struct tel_field *f = &type->fields[i];
	enum render_op op = tel__render_text_op(f, 0);

	tel__render_add(b, ",");
	if (f->datatype == TEL_STRING) {
		tel__render_add_field(b, RENDER_STRING_CELL, i, SPACE_NONE);
		return;
	}
	tel__render_add_bytes(b, f->name, declared_length(f));
	tel__render_add(b, op == RENDER_HEX ? "=0x" : "=");
	tel__render_add_field(b, op, i, SPACE_NONE);
}

/* ------------------------------------------------------ order of columns */

/* Slots for as many fields as a type has, with a third of them free. */
#define SLOTS 1024u

/*
 * mag_ets was a Python 2 program for 32-bit Windows, and printed the fields of
 * an event in the order of a dictionary: that of the hashes of their names.
 * A slot holds 1 + the number of a field, or 0.
 */
static uint32_t
ets_print_hash_name(const char *name, size_t n)
{
	uint32_t h = n > 0 ? (uint32_t)(unsigned char)name[0] << 7 : 0;

	for (size_t i = 0; i < n; i++)
		h = h * 1000003u ^ (unsigned char)name[i];
	return h ^ (uint32_t)n;
}

static void
ets_print_insert(uint16_t *slots, unsigned size, const struct tel_type *type,
    unsigned i)
{
	const struct tel_field *f = &type->fields[i];
	uint32_t h = ets_print_hash_name(f->name, declared_length(f)), at = h;
	uint32_t perturb = h;

	while (slots[at & (size - 1)] != 0) {
		at = at * 5 + perturb + 1;
		perturb >>= 5;
	}
	slots[at & (size - 1)] = (uint16_t)(i + 1);
}

/* Moves all to a table with four times as many slots as there are fields. */
static unsigned
ets_print_grow(uint16_t *slots, unsigned size, unsigned used,
    const struct tel_type *type)
{
	uint16_t old[SLOTS];
	unsigned i, bigger = 8;

	memcpy(old, slots, size * sizeof(*old));
	while (bigger <= used * 4 && bigger < SLOTS)
		bigger *= 2;
	memset(slots, 0, bigger * sizeof(*slots));
	for (i = 0; i < size; i++)
		if (old[i] != 0)
			ets_print_insert(slots, bigger, type, old[i] - 1u);
	return bigger;
}

static void
ets_print_add_fields(struct render_builder *b, const struct tel_type *type)
{
	uint16_t slots[SLOTS] = { 0 };
	unsigned i, size = 8, used = 0;

	for (i = 0; i < type->nfields; i++) {
		if (is_context(type->fields[i].name))
			continue;
		ets_print_insert(slots, size, type, i);
		if (++used * 3 >= size * 2)
			size = ets_print_grow(slots, size, used, type);
	}
	for (i = 0; i < size; i++)
		if (slots[i] != 0)
			ets_print_add_field(b, type, slots[i] - 1u);
}

/* The numbers of a provider and a type that nothing describes, and the rest. */
static void
add_undescribed(struct render_builder *b, const struct tel_type *type)
{
	unsigned i;

	for (i = NCONTEXT; i < NCONTEXT + 2; i++) {
		tel__render_add(b, ",");
		tel__render_add_field(b, RENDER_DECIMAL, i, SPACE_NONE);
	}
	for (; i < type->nfields; i++)
		ets_print_add_field(b, type, i);
}

static struct render_program *
ets_print_compile(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_builder b;

	(void)pr;
	tel__render_start(&b, type, LABELS_TEXT);
	tel__render_add_op(&b, RENDER_CLOCK_DECIMAL);
	for (unsigned i = 0; i < NCONTEXT; i++) {
		tel__render_add(&b, ",");
		int at = tel__render_find(type, context[i].name);
		if (at >= 0 && type->fields[at].datatype != TEL_STRING)
			tel__render_add_field(&b, context[i].op, (unsigned)at,
			    SPACE_NONE);
	}
	if (type == NULL) {
		tel__render_add(&b, ",unknown,0x");
		tel__render_add_op(&b, RENDER_CODE_ZERO);
		tel__render_add(&b, ",bytes=");
		tel__render_add_op(&b, RENDER_BYTES);
	} else if (is_undescribed(type)) {
		add_undescribed(&b, type);
	} else {
		tel__render_add(&b, ",");
		add_provider(&b, type);
		tel__render_add(&b, ",");
		ets_print_add_type(pr->schema, &b, type);
		ets_print_add_fields(&b, type);
	}
	tel__render_add(&b, "\n");
	return tel__render_end(&b);
}

static tel_status
ets_print_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	(void)ev;
	if (pr->started || !pr->header)
		return TEL_OK;
	return render_put(pr, HEADER);
}

static tel_status
ets_print_finish(struct tel_printer *pr)
{
	return pr->started || !pr->header ? TEL_OK : render_put(pr, HEADER);
}

const struct tel_renderer tel__renderer_tracerpt = {
	.name = "tracerpt",
	.apart = 1,
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_WHOLE,
	.begin_log = ets_print_begin_log,
	.compile = ets_print_compile,
	.finish = ets_print_finish,
};
