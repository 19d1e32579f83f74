/* SPDX-License-Identifier: BSD-2-Clause */
/* The public face of expressions that have a value. */
#include "base/getter.h"
#include "tel/filter.h"
#include "query/bind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int
tel__expr_is_field(const tel_expr *x)
{
	const struct tree *t = x->binder.tree;
	const struct node *root = t == NULL ? NULL : &t->nodes[t->root];

	/* cpu, tid and pid are more than that, and need not be in the log */
	return root != NULL && root->op == N_FIELD &&
	    t->symbols[root->symbol].checked &&
	    strcmp(t->symbols[root->symbol].name, t->text) == 0;
}

const char *
tel__expr_unit(const tel_expr *x, const tel_schema *schema)
{
	const struct tree *t = x->binder.tree;
	const struct node *n = &t->nodes[t->root];
	unsigned unit = TEL_UNITS;

	n = n->op == N_START ? &t->nodes[n->a] : n;
	if (n->op != N_FIELD && n->op != N_DERIVED)
		return "";
	for (unsigned i = 0; i < schema->ntypes; i++) {
		const struct tel_type *type = &schema->types[i];
		const int at = tel__symbol_find(&t->symbols[n->symbol], type);

		if (at < 0)
			continue;
		if (unit != TEL_UNITS && type->fields[at].unit != unit)
			return "";
		unit = type->fields[at].unit;
	}
	if (unit == TEL_UNITS && n->op == N_DERIVED && n->builtin == D_DURATION)
		unit = TEL_UNIT_NS;
	return unit == TEL_UNIT_NS ? "ns" :
	    unit == TEL_UNIT_BYTES ? "bytes" :
	                             "";
}

/* The field that a program returns as it is; NULL: it does more. */
static inline const struct tel_field *
program_field(const struct program *p)
{
	return p->count == 1 && p->ops->code == OP_NATURAL_FIELD ?
	    p->ops->field :
	    NULL;
}

const struct tel_field *
tel__expr_field(tel_expr *x, const struct tel_type *type)
{
	if (x->binder.tree == NULL || binder_uses_before(&x->binder) ||
	    tel__binder_switch(&x->binder, type->schema) != TEL_OK)
		return NULL;
	return program_field(binding_program(x->binder.current, type));
}

tel_status
tel__expr_switch(tel_expr *x, const tel_schema *schema)
{
	return tel__binder_switch(&x->binder, schema);
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
	struct value v;

	if (x->binder.tree == NULL)
		return TEL_ESTATE;
	const struct program *p = binder_program(&x->binder, event);
	if (p == NULL)
		return x->binder.failed;
	/* most are a field alone */
	const struct tel_field *field = program_field(p);
	if (field != NULL) {
		*out = (tel_value){ .datatype = (enum tel_datatype)p->datatype,
			.as.u64 = tel_load(field, event->data) };
		return TEL_OK;
	}
	tel__program_value(p, &x->binder.machine, event, &v);
	hand_out(&v, (enum tel_datatype)p->datatype, out);
	return TEL_OK;
}

int
tel_expr_uses(const tel_expr *x, tel_use use)
{
	return tel__tree_uses(x->binder.tree, use);
}

TEL__GETTER(const char *, tel_expr_error, tel_expr, binder.fail.message)
TEL__GETTER(unsigned, tel_expr_error_column, tel_expr, binder.fail.column)

/* A double so that it reads back, by as few digits as that takes. */
static int
double_text(double d, char *buffer, size_t size)
{
	int digits, n = 0;

	if (d != d)
		return snprintf(buffer, size, "nan");
	for (digits = 15; digits <= 17; digits++) {
		n = snprintf(buffer, size, "%.*g", digits, d);
		if (strtod(buffer, NULL) == d)
			break;
	}
	/* whatever the locale of the program */
	char *point = strchr(buffer, ',');
	if (point != NULL)
		*point = '.';
	return n;
}

size_t
tel_value_text(const tel_value *v, char *buffer, size_t size)
{
	char text[64];
	const char *s = text;
	size_t n;

	if (v->missing) {
		n = (size_t)snprintf(text, sizeof(text), "-");
	} else {
		switch (v->datatype) {
		case TEL_STRING:
			s = v->as.string;
			n = v->length;
			break;
		case TEL_DOUBLE:
			n = (size_t)double_text(v->as.f64, text, sizeof(text));
			break;
		case TEL_BOOLEAN:
			s = v->as.u64 != 0 ? "true" : "false";
			n = strlen(s);
			break;
		case TEL_SIGNED:
			n = (size_t)snprintf(text, sizeof(text), "%" PRId64,
			    v->as.i64);
			break;
		case TEL_SET:
		case TEL_ADDRESS:
		case TEL_POINTER:
			n = (size_t)snprintf(text, sizeof(text), "0x%" PRIx64,
			    v->as.u64);
			break;
		default:
			n = (size_t)snprintf(text, sizeof(text), "%" PRIu64,
			    v->as.u64);
			break;
		}
	}
	if (size > 0) {
		memcpy(buffer, s, n < size ? n : size - 1);
		buffer[n < size ? n : size - 1] = '\0';
	}
	return n;
}
