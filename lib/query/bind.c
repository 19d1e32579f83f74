/* SPDX-License-Identifier: BSD-2-Clause */
/* Schemas and the programs that belong to them. */
#include "query/bind.h"

#include "base/array.h"
#include "model/clock.h"

#include <stdlib.h>
#include <string.h>

static void
binding_free(struct binding *b)
{
	if (b == NULL)
		return;
	for (uint32_t i = 0; b->programs != NULL && i <= b->unknown; i++)
		tel__program_clear(&b->programs[i]);
	free(b->programs);
	free(b->starts);
	free(b);
}

void
tel__binder_forget(struct binder *b)
{
	for (unsigned i = 0; i < b->count; i++)
		binding_free(b->bindings[i]);
	b->count = b->oldest = 0;
	b->current = NULL;
}

void
tel__binder_clear(struct binder *b)
{
	tel__binder_forget(b);
	tel__tree_free(b->tree);
	tel__select_clear(&b->selection);
	free(b->machine.stack);
	free(b->machine.scratch);
	free(b->fail_text);
}

tel_status
tel__binder_failed(struct binder *b, tel_status status)
{
	b->failed = status;
	if (status == TEL_ENOMEM)
		tel__fail_set(&b->fail, status, NULL, 0, "out of memory");
	free(b->fail_text);
	b->fail_text = NULL;
	if (b->fail.text == NULL)
		return status;
	b->fail_text = strdup(b->fail.text);
	b->fail.text = NULL;
	return status;
}

tel_status
tel__binder_set_expression(struct binder *b, const char *text)
{
	struct machine m = { .dt = value_missing() };
	struct tree *tree = NULL;

	if (text != NULL) {
		tel_status st = tel__tree_parse(text, 0, &b->fail, &tree);

		if (st != TEL_OK)
			return tel__binder_failed(b, st);
		m.tree = tree;
		if (tree->uses_regex)
			m.scratch = malloc(SUBJECT_MAX + 1);
		if (tree->uses_regex && m.scratch == NULL) {
			tel__tree_free(tree);
			return tel__binder_failed(b, TEL_ENOMEM);
		}
	}
	tel__binder_forget(b);
	free(b->machine.stack);
	free(b->machine.scratch);
	tel__tree_free(b->tree);
	b->tree = tree;
	b->machine = m;
	return TEL_OK;
}

/*
 * Parses the expression anew where the first schema lacks the field "type" that
 * it names: it means the type of an event then.
 */
static tel_status
binder_resolve_type(struct binder *b, const struct tel_schema *schema)
{
	const struct symbol *s = b->tree->symbols;
	size_t left = b->tree->nsymbols;
	struct tree *tree;

	for (; left > 0 && (!s->checked || strcmp(s->name, "type") != 0);
	     left--)
		s++;
	if (left == 0 || b->count > 0)
		return TEL_OK;
	for (unsigned i = 0; i < schema->ntypes; i++)
		if (tel_type_find_field(&schema->types[i], "type") >= 0)
			return TEL_OK;
	tel_status st = tel__tree_parse(b->tree->text, 1, &b->fail, &tree);
	if (st != TEL_OK)
		return st;
	tel__tree_free(b->tree);
	b->machine.tree = b->tree = tree;
	return TEL_OK;
}

/* A string is neither true nor false. */
static tel_status
check_condition(struct binder *b)
{
	const struct node *root = &b->tree->nodes[b->tree->root];

	if (b->for_value || root->classes != C_STRING)
		return TEL_OK;
	return tel__fail_set(&b->fail, TEL_EINVAL, b->tree->text, root->column,
	    "expected a condition, found a string");
}

static tel_status
query_bind_compile_all(struct binder *b, struct binding *to)
{
	struct compiler c = { .tree = b->tree,
		.selection = b->for_value ? NULL : &b->selection,
		.invert = b->invert };
	tel_status st = tel__compiler_begin(&c);
	const struct tel_type *type;

	for (uint32_t i = 0; i <= to->unknown && st == TEL_OK; i++) {
		type = i < to->unknown ? &to->schema->types[i] : NULL;
		st = b->for_value ?
		    tel__compile_value(&c, type, &to->programs[i]) :
		    tel__compile_filter(&c, type, &to->programs[i]);
		if (st == TEL_OK && to->starts != NULL)
			st = tel__compile_starts(&c, type,
			    &to->starts[(size_t)i * b->tree->nstarts]);
		if (st == TEL_OK &&
		    !TEL__RESERVE(b->machine.stack, b->machine.stack_room,
		        (size_t)to->programs[i].stack + 1))
			st = TEL_ENOMEM;
	}
	tel__compiler_end(&c);
	return st;
}

static tel_status
binding_new(struct binder *b, const struct tel_schema *schema,
    struct binding **out)
{
	tel_status st = TEL_OK;
	struct binding *new;

	if (!b->for_value)
		st = tel__select_check(&b->selection, schema, &b->fail);
	if (st == TEL_OK && b->tree != NULL) {
		st = binder_resolve_type(b, schema);
		if (st == TEL_OK)
			st = tel__tree_check(b->tree, schema, &b->fail);
		if (st == TEL_OK)
			st = check_condition(b);
	}
	if (st != TEL_OK)
		return st;
	new = calloc(1, sizeof(*new));
	if (new == NULL)
		return TEL_ENOMEM;
	new->schema = schema;
	new->unknown = schema->ntypes;
	new->programs =
	    calloc((size_t)schema->ntypes + 1, sizeof(*new->programs));
	if (b->tree != NULL && b->tree->nstarts > 0)
		new->starts = calloc((size_t)schema->ntypes + 1,
		    b->tree->nstarts * sizeof(*new->starts));
	st = new->programs == NULL ||
	        (new->starts == NULL && b->tree != NULL &&
	            b->tree->nstarts > 0) ?
	    TEL_ENOMEM :
	    query_bind_compile_all(b, new);
	if (st != TEL_OK) {
		binding_free(new);
		return st;
	}
	*out = new;
	return TEL_OK;
}

/* Forgets one schema: another may get its address. */
static void
forget_schema(struct binder *b, const struct tel_schema *schema)
{
	for (unsigned i = 0; i < b->count; i++)
		if (b->bindings[i]->schema == schema) {
			binding_free(b->bindings[i]);
			b->bindings[i] = b->bindings[--b->count];
			break;
		}
	b->current = NULL;
}

tel_status
tel__binder_bind(struct binder *b, const struct tel_schema *schema)
{
	struct binding *new;

	forget_schema(b, schema);
	tel_status st = binding_new(b, schema, &new);
	if (st != TEL_OK)
		return tel__binder_failed(b, st);
	if (b->count == BINDINGS_MAX) {
		binding_free(b->bindings[b->oldest]);
		b->bindings[b->oldest] = new;
		b->oldest = (b->oldest + 1) % BINDINGS_MAX;
	} else {
		b->bindings[b->count++] = new;
	}
	b->current = new;
	return TEL_OK;
}

tel_status
tel__binder_switch(struct binder *b, const struct tel_schema *schema)
{
	for (unsigned i = 0; i < b->count; i++)
		if (b->bindings[i]->schema == schema) {
			b->current = b->bindings[i];
			return TEL_OK;
		}
	return tel__binder_bind(b, schema);
}

/*
 * Whether the event before is of the same log, or of one that is merged with it,
 * and so has its origin.  Another log may have that, too: it starts there.
 */
static int
binder_continues(const struct binder *b, const struct tel_event *ev,
    uint64_t origin)
{
	return b->has_previous && origin == b->origin &&
	    (ev->clock != origin || ev->clock >= b->previous) &&
	    (b->previous != 0 || !ev->type->schema->untimed);
}

int
tel__binder_step(struct binder *b, const struct tel_event *ev)
{
	struct binding *to = b->current;
	struct tel_clock *clock = ev->log->clock;
	uint64_t origin = clock == NULL ? 0 : tel__clock_origin(clock);
	int64_t dt;

	b->machine.dt = value_missing();
	if (binder_continues(b, ev, origin) &&
	    tel__clock_between(clock, b->previous, ev->clock, &dt))
		b->machine.dt = value_signed((uint64_t)dt);
	b->has_previous = 1;
	b->origin = origin;
	b->previous = ev->clock;
	b->machine.starts = to->starts;
	b->machine.schema = to->schema;
	b->machine.ntypes = to->unknown;
	if (binder_uses_history(b) && tel_event_remember(ev) != TEL_OK) {
		(void)tel__binder_failed(b, TEL_ENOMEM);
		return 0;
	}
	return 1;
}
