/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binding: an expression and a selection meet the schemas of the logs that
 * are read.  For each schema there is a table with a program for each type.
 */
#ifndef TEL_QUERY_BIND_H
#define TEL_QUERY_BIND_H

#include "query/program.h"
#include "tel/filter.h"

/* Schemas that are remembered; when there are more the oldest one goes. */
#define BINDINGS_MAX 256u

struct binding {
	const struct tel_schema *schema;
	/* one a type in the schema's order, then one for unknown types */
	struct program *programs;
	uint32_t unknown;  /* the number of that last one */
	struct op *starts; /* machine.starts; or NULL */
};

struct binder {
	struct tree *tree; /* NULL: no expression */
	struct selection selection;
	int invert;
	int for_value; /* an expression for its value, not a filter */
	struct binding *bindings[BINDINGS_MAX];
	unsigned count;
	unsigned oldest;
	struct binding *current;
	struct machine machine;
	/* the event before, for dt, and the origin of its clock */
	int has_previous;
	uint64_t previous, origin;
	struct fail fail;
	char *fail_text;   /* our copy of fail.text */
	tel_status failed; /* the status that went with it */
};

/* Frees what the binder holds. */
void tel__binder_clear(struct binder *b);

/* Takes a new expression, NULL for none: as tel__tree_parse(). */
tel_status tel__binder_set_expression(struct binder *b, const char *text);

/* Forgets all schemas, as something that programs depend on has changed. */
void tel__binder_forget(struct binder *b);

/* Keeps a copy of the text of a failure.  Returns status. */
tel_status tel__binder_failed(struct binder *b, tel_status status);

/* Makes the programs for a schema, anew if there are some already. */
tel_status tel__binder_bind(struct binder *b, const struct tel_schema *schema);

/* Finds or makes them. */
tel_status tel__binder_switch(struct binder *b,
    const struct tel_schema *schema);

/* Has a reader leave out events of which it knows that they do not match. */
void tel__binder_attach(struct binder *b, struct tel_reader *r);

/*
 * Sets what the machine knows of events before, and remembers the event for
 * the next.  1, or 0 when out of memory.
 */
int tel__binder_step(struct binder *b, const struct tel_event *ev);

/* Whether its text is nothing but the name of a field. */
int tel__expr_is_field(const struct tel_expr *x);

/*
 * The field of unsigned integers that alone is the value for events of a type;
 * NULL: there is none.
 */
const struct tel_field *tel__expr_field(struct tel_expr *x,
    const struct tel_type *type);

/* tel__binder_switch() of an expression. */
tel_status tel__expr_switch(struct tel_expr *x,
    const struct tel_schema *schema);

/* Whether an expression may be a double in the schema that was bound last. */
int tel__expr_is_double(const struct tel_expr *x);
/*
 * The unit of an expression that is a field alone, or a duration, in the types
 * of a schema: "ns", "bytes", or "".  Static.
 */
const char *tel__expr_unit(const struct tel_expr *x,
    const struct tel_schema *schema);

/* Whether it tells what an event does by the blocks that live before it. */
static inline int
binder_uses_history(const struct binder *b)
{
	return b->selection.naddresses > 0 ||
	    (b->tree != NULL && b->tree->uses_history);
}

/* Whether it has to see all events, as one may depend on those before it. */
static inline int
binder_uses_before(const struct binder *b)
{
	return b->selection.naddresses > 0 ||
	    (b->tree != NULL && b->tree->uses_before);
}

static inline const struct program *
binding_program(const struct binding *b, const struct tel_type *type)
{
	uint32_t i = type->index;

	return &b->programs[i < b->unknown && !type->unknown ? i : b->unknown];
}

/* The program for an event; NULL: its schema cannot be bound, see fail. */
static inline const struct program *
binder_program(struct binder *b, const struct tel_event *ev)
{
	if (b->current == NULL || b->current->schema != ev->type->schema)
		if (tel__binder_switch(b, ev->type->schema) != TEL_OK)
			return NULL;
	if (binder_uses_before(b) && !tel__binder_step(b, ev))
		return NULL;
	return binding_program(b->current, ev->type);
}

#endif
