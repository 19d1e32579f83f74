/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partial evaluation: the value of each part of an expression when only the
 * type of the event is known.  A part is known, or its truth is, or neither.
 */
#include "model/pair.h"
#include "model/stacks.h"
#include "query/counter.h"
#include "query/program.h"

#include <string.h>

static unsigned
fold_class_of(const struct value *v)
{
	static const unsigned classes[] = { 0, C_INTEGER, C_INTEGER, C_DOUBLE,
		C_STRING };

	return classes[v->tag];
}

static void
set_known(struct fold *f, struct value v)
{
	enum tribool t = tel__value_truth(&v);

	f->known = 1;
	f->value = v;
	f->classes = fold_class_of(&v);
	f->t = t == TRIBOOL_TRUE;
	f->f = t == TRIBOOL_FALSE;
}

static void
set_open(struct fold *f, unsigned classes)
{
	f->known = 0;
	f->value = value_missing();
	f->classes = classes;
	f->t = f->f = -1;
}

/* A condition of which only t and f are known: perhaps that is all. */
static void
set_truth(struct fold *f, int t, int f_)
{
	set_open(f, C_INTEGER);
	if (t == 1 || f_ == 1 || (t == 0 && f_ == 0)) {
		set_known(f,
		    value_tribool(t == 1 ? TRIBOOL_TRUE :
		            f_ == 1      ? TRIBOOL_FALSE :
		                           TRIBOOL_UNKNOWN));
		return;
	}
	f->t = t;
	f->f = f_;
}

/* Both of two that are 1, 0 or -1. */
static int
both(int a, int b)
{
	if (a == 0 || b == 0)
		return 0;
	return a == 1 && b == 1 ? 1 : -1;
}

static int
either(int a, int b)
{
	if (a == 1 || b == 1)
		return 1;
	return a == 0 && b == 0 ? 0 : -1;
}

static void
fold_field(struct compiler *c, const struct node *n, struct fold *f)
{
	int at = c->fields[n->symbol];

	if (at == COUNTER_CPI) {
		set_open(f, C_DOUBLE);
		return;
	}
	if (at < 0) {
		set_known(f, value_missing());
		return;
	}
	const enum tel_datatype datatype = c->type->fields[at].datatype;
	if ((n->op == N_LENGTH && datatype != TEL_LIST &&
	        datatype != TEL_STRING) ||
	    (n->op == N_FIELD && datatype == TEL_LIST &&
	        (n->flags & NODE_HAS) == 0)) {
		set_known(f, value_missing());
		return;
	}
	if (n->op == N_LENGTH || n->op == N_CONTAINS) {
		set_open(f, C_INTEGER);
		return;
	}
	if (symbol_is_name(&c->tree->symbols[n->symbol],
	        &c->type->fields[at])) {
		set_open(f, C_STRING);
		return;
	}
	switch (tel_field_element(&c->type->fields[at])) {
	case TEL_STRING: set_open(f, C_STRING); break;
	case TEL_DOUBLE: set_open(f, C_DOUBLE); break;
	default: set_open(f, C_INTEGER); break;
	}
}

/* Whether all events of the type have the field. */
static int
is_always(const struct compiler *c, const struct node *n)
{
	const int at = c->fields[n->symbol];

	/* cycles per instruction are missing where there is none */
	return at >= 0 && c->type->fields[at].present == 0;
}

/* label(field), and label alone. */
static void
fold_label(struct compiler *c, const struct node *n, struct fold *f)
{
	int at = n->op == N_LABEL ? c->fields[n->symbol] : -1, found = 0;
	unsigned i, count = c->type == NULL ? 0 : c->type->nfields;

	if (n->op == N_LABEL)
		found = at >= 0 && node_labelled(&c->type->fields[at]);
	else
		for (i = 0; i < count; i++)
			found |= node_labelled(&c->type->fields[i]);
	if (found)
		set_open(f, C_STRING);
	else
		set_known(f, value_missing());
}

/* Whether events of a type end what earlier ones began. */
static int
type_ends(const struct tel_type *t)
{
	return t != NULL &&
	    (tel_type_is_alloc(t) ||
	        (tel_pair_of(t) >= 0 && t->role != TEL_ROLE_START));
}

static void
fold_derived(struct compiler *c, const struct node *n, struct fold *f)
{
	const struct tel_type *t = c->type;
	const int is_alloc = t != NULL && tel_type_is_alloc(t);

	if (c->fields[n->symbol] != COUNTER_NONE) {
		fold_field(c, n, f);
		return;
	}
	set_open(f, n->builtin == D_STACK ? C_STRING : C_INTEGER);
	switch ((enum derived)n->builtin) {
	case D_ALLOCATES:
	case D_FREES:
		if (!is_alloc)
			set_known(f, value_natural(0));
		break;
	case D_BYTES:
		if (!is_alloc)
			set_known(f, value_missing());
		break;
	case D_STACK:
		if (!is_alloc && (t == NULL || tel__stacks_field(t) < 0))
			set_known(f, value_missing());
		break;
	case D_DURATION:
		if (!type_ends(t))
			set_known(f, value_missing());
		break;
	default: break;
	}
}

static void
fold_builtin(struct compiler *c, const struct node *n, struct fold *f)
{
	const struct tel_type *t = c->type;

	switch ((enum builtin)n->builtin) {
	case B_KIND:
		if (t == NULL)
			set_known(f, value_string("Unknown", 7));
		else
			set_known(f, value_string(t->kind, strlen(t->kind)));
		break;
	case B_NAME:
		if (t == NULL)
			set_open(f, C_STRING);
		else
			set_known(f, value_string(t->name, strlen(t->name)));
		break;
	case B_CODE:
		if (t == NULL)
			set_open(f, C_INTEGER);
		else
			set_known(f, value_natural(t->code));
		break;
	case B_CPU:
	case B_TID:
	case B_PID: set_known(f, value_missing()); break;
	default: set_open(f, C_INTEGER); break;
	}
}

/* Whether values of these classes can never meet in a comparison. */
static int
unlike(const struct fold *a, const struct fold *b)
{
	return ((a->classes & C_STRING) != 0) != ((b->classes & C_STRING) != 0);
}

static void
fold_compare(const struct node *n, const struct fold *a, const struct fold *b,
    struct fold *f)
{
	if ((a->known && a->value.tag == V_MISSING) ||
	    (b->known && b->value.tag == V_MISSING) || unlike(a, b))
		set_known(f, value_missing());
	else if (a->known && b->known)
		set_known(f,
		    value_tribool(tel__value_compare((enum value_op)n->opr,
		        &a->value, &b->value, n->flags & NODE_ANY_CASE)));
	else
		set_open(f, C_INTEGER);
}

/* A pattern with a known string; a regex is left to the run. */
static void
fold_match(struct compiler *c, const struct node *n, struct fold *f)
{
	const struct fold *a = &c->folds[n->a];
	const struct pattern *p = c->tree->patterns[n->pattern];
	char scratch[512];
	int hit = -1;

	if ((a->classes & C_STRING) == 0) {
		set_known(f, value_missing());
		return;
	}
	if (a->known && a->value.length < sizeof(scratch))
		hit = tel__pattern_match(p, a->value.as.s, a->value.length,
		    scratch);
	if (hit < 0)
		set_open(f, C_INTEGER);
	else
		set_known(f,
		    value_natural(
		        (uint64_t)(hit != ((n->flags & NODE_NEGATE) != 0))));
}

/* A list is known when all of it is, or when its value is missing. */
static void
fold_in(struct compiler *c, const struct node *n, struct fold *f)
{
	const struct item *items = c->tree->items + n->first;
	const struct fold *a = &c->folds[n->a], *lo, *hi;
	int fold_case = n->flags & NODE_ANY_CASE;
	enum tribool verdict = TRIBOOL_FALSE, one;

	set_open(f, C_INTEGER);
	if (a->known && a->value.tag == V_MISSING)
		set_known(f, value_missing());
	if (!a->known)
		return;
	for (uint32_t i = 0; i < n->count; i++) {
		lo = &c->folds[items[i].lo];
		hi = &c->folds[items[i].hi];
		if (!lo->known || !hi->known)
			return;
		one = tel__value_compare(items[i].range ? OPR_GE : OPR_EQ,
		    &a->value, &lo->value, fold_case);
		if (items[i].range)
			one = tribool_and(one,
			    tel__value_compare(OPR_LE, &a->value, &hi->value,
			        fold_case));
		verdict = tribool_or(verdict, one);
	}
	set_known(f, value_tribool(verdict));
}

static void
fold_operation(const struct node *n, const struct fold *a, const struct fold *b,
    struct fold *f)
{
	int unary = n->op == N_UNARY;
	unsigned classes = unary ? a->classes : a->classes | b->classes;

	if ((a->known && a->value.tag == V_MISSING) ||
	    (!unary && b->known && b->value.tag == V_MISSING))
		set_known(f, value_missing());
	else if (unary && a->known)
		set_known(f,
		    tel__value_unary((enum value_op)n->opr, &a->value));
	else if (!unary && a->known && b->known)
		set_known(f,
		    tel__value_arithmetic((enum value_op)n->opr, &a->value,
		        &b->value));
	else
		set_open(f, classes & C_NUMBER);
}

void
tel__fold_nodes(struct compiler *c)
{
	for (uint32_t i = 0; i < c->tree->nnodes; i++) {
		const struct node *n = &c->tree->nodes[i];
		struct fold *f = &c->folds[i];
		struct fold *a = &c->folds[n->a];
		struct fold *b = &c->folds[n->b];

		switch ((enum node_op)n->op) {
		case N_CONST: set_known(f, n->value); break;
		case N_FIELD:
		case N_LENGTH:
		case N_ELEMENT:
		case N_CONTAINS: fold_field(c, n, f); break;
		case N_BUILTIN: fold_builtin(c, n, f); break;
		case N_LABEL:
		case N_LABELS: fold_label(c, n, f); break;
		case N_DERIVED: fold_derived(c, n, f); break;
		case N_START:
			set_open(f, n->classes);
			if (!type_ends(c->type))
				set_known(f, value_missing());
			break;
		case N_HAS:
			set_open(f, C_INTEGER);
			if (a->known)
				set_known(f,
				    value_natural(a->value.tag != V_MISSING));
			else if (c->tree->nodes[n->a].op == N_FIELD &&
			    is_always(c, &c->tree->nodes[n->a]))
				set_known(f, value_natural(1));
			break;
		case N_NOT: set_truth(f, a->f, a->t); break;
		case N_UNARY:
		case N_ARITHMETIC: fold_operation(n, a, b, f); break;
		case N_COMPARE: fold_compare(n, a, b, f); break;
		case N_MATCH: fold_match(c, n, f); break;
		case N_AND:
			set_truth(f, both(a->t, b->t), either(a->f, b->f));
			break;
		case N_OR:
			set_truth(f, either(a->t, b->t), both(a->f, b->f));
			break;
		case N_IN: fold_in(c, n, f); break;
		}
	}
}
