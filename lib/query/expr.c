/* SPDX-License-Identifier: BSD-2-Clause */
/* The public face of expressions that have a value. */
#include "tel.h"
#include "query/bind.h"

#include <stdlib.h>

struct tel_expr {
	struct binder binder;
};

tel_expr *
tel_expr_new(void)
{
	struct tel_expr *x = calloc(1, sizeof(*x));

	if (x != NULL)
		x->binder.for_value = 1;
	return x;
}

void
tel_expr_free(tel_expr *x)
{
	if (x == NULL)
		return;
	tel__binder_clear(&x->binder);
	free(x);
}

tel_status
tel_expr_set(tel_expr *x, const char *text)
{
	if (text == NULL)
		return TEL_EINVAL;
	return tel__binder_set_expression(&x->binder, text);
}

tel_status
tel_expr_bind(tel_expr *x, const tel_schema *schema)
{
	if (x->binder.tree == NULL)
		return TEL_ESTATE;
	return tel__binder_bind(&x->binder, schema);
}

int
tel__expr_is_double(const tel_expr *x)
{
	const struct tree *t = x->binder.tree;

	return t != NULL && (t->nodes[t->root].classes & C_DOUBLE) != 0;
}

static void
hand_out(const struct value *v, enum tel_datatype datatype, tel_value *out)
{
	out->missing = v->tag == V_MISSING;
	out->datatype = datatype;
	out->as.u64 = 0;
	out->length = 0;
	switch (v->tag) {
	case V_MISSING: break;
	case V_NATURAL:
		/* a signed field that is not negative stays signed */
		out->as.u64 = v->as.u;
		break;
	case V_NEGATIVE:
		out->datatype = TEL_SIGNED;
		out->as.u64 = v->as.u;
		break;
	case V_DOUBLE:
		out->datatype = TEL_DOUBLE;
		out->as.f64 = v->as.d;
		break;
	case V_STRING:
		out->datatype = TEL_STRING;
		out->as.string = v->as.s;
		out->length = v->length;
		break;
	}
}

tel_status
tel_expr_eval(tel_expr *x, const tel_event *event, tel_value *out)
{
	const struct program *p;
	struct value v;

	if (x->binder.tree == NULL)
		return TEL_ESTATE;
	p = binder_program(&x->binder, event);
	if (p == NULL)
		return x->binder.failed;
	tel__program_value(p, &x->binder.machine, event, &v);
	hand_out(&v, (enum tel_datatype)p->datatype, out);
	return TEL_OK;
}

int
tel_expr_uses_rate(const tel_expr *x)
{
	return x->binder.tree != NULL && x->binder.tree->uses_rate;
}

int
tel_expr_uses_history(const tel_expr *x)
{
	return x->binder.tree != NULL && x->binder.tree->uses_history;
}

int
tel_expr_uses_others(const tel_expr *x)
{
	return x->binder.tree != NULL && tel__tree_uses_others(x->binder.tree);
}

const char *
tel_expr_error(const tel_expr *x)
{
	return x->binder.fail.message;
}

unsigned
tel_expr_error_column(const tel_expr *x)
{
	return x->binder.fail.column;
}
