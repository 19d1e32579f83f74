/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a folded tree to a program.  Code is made from its end to its begin:
 * so a test knows where it goes on, and the left side of a long chain of
 * operators, which is the deep one, is a loop and no recursion.
 *
 * A condition is asked for as "is it true" or as "is it false"; when it is
 * unknown it is neither.  So each test has but two ways to go on, and the
 * rules of the three values are those by which the two questions pass
 * through && || and !.
 */
#include "query/code.h"

#include <stdlib.h>
#include <string.h>

static const struct op no_op;

/* The op that will be run before those that there are; NULL: no memory. */
struct op *
tel__code_put(struct compiler *c, enum op_code code)
{
	struct op *op;
	uint32_t room = c->room == 0 ? 64 : c->room * 2;

	if (c->count == c->room) {
		op = realloc(c->ops, room * sizeof(*op));
		if (op == NULL) {
			c->failed = 1;
			return NULL;
		}
		c->ops = op;
		c->room = room;
	}
	op = &c->ops[c->count++];
	*op = no_op;
	op->code = (uint8_t)code;
	return op;
}

uint32_t
tel__code_test(struct compiler *c, struct op *op, uint32_t yes, uint32_t no)
{
	if (op == NULL)
		return no;
	op->yes = yes;
	op->no = no;
	return c->count - 1;
}

uint32_t
tel__code_span(struct compiler *c, const struct plain *what, uint64_t lo,
    uint64_t hi, uint32_t yes, uint32_t no)
{
	enum op_code code = what->code;
	const struct tel_field *f = NULL;
	struct op *op;

	if (lo > hi || yes == no)
		return no;
	if (lo == 0 && hi == UINT64_MAX)
		return yes;
	if (code == OP_SPAN_FIELD) {
		f = &c->type->fields[what->field];
		if (f->load == TEL_LOAD_LE64)
			code = OP_SPAN_LE64;
		else if (f->load == TEL_LOAD_LE32)
			code = OP_SPAN_LE32;
	}
	op = tel__code_put(c, code);
	if (op != NULL) {
		op->u.span.mask = what->mask;
		op->u.span.lo = lo;
		op->u.span.span = hi - lo;
		op->field = (uint8_t)what->field;
		op->offset = f == NULL ? 0 : f->offset;
	}
	return tel__code_test(c, op, yes, no);
}

/* A field or builtin that a span op reads. */
static int
is_plain_leaf(const struct compiler *c, uint32_t node, struct plain *out)
{
	const struct node *n = &c->tree->nodes[node];
	enum tel_datatype datatype;

	if (c->folds[node].known)
		return 0;
	out->field = 0;
	out->mask = UINT64_MAX;
	if (n->op == N_BUILTIN) {
		out->code = n->builtin == B_CLOCK ? OP_SPAN_CLOCK :
		    n->builtin == B_INDEX         ? OP_SPAN_INDEX :
		                                    OP_SPAN_SIZE;
		return n->builtin == B_CLOCK || n->builtin == B_INDEX ||
		    n->builtin == B_SIZEOF;
	}
	if (n->op != N_FIELD)
		return 0;
	out->code = OP_SPAN_FIELD;
	out->field = c->fields[n->symbol];
	datatype = c->type->fields[out->field].datatype;
	return datatype != TEL_SIGNED && datatype != TEL_DOUBLE &&
	    datatype != TEL_STRING;
}

/* The same, or some bits of it. */
static int
is_plain(const struct compiler *c, uint32_t node, struct plain *out)
{
	const struct node *n = &c->tree->nodes[node];
	const struct fold *a = &c->folds[n->a], *b = &c->folds[n->b];
	uint32_t leaf = n->a;

	if (n->op != N_ARITHMETIC || n->opr != OPR_AND)
		return is_plain_leaf(c, node, out);
	if (a->known) {
		leaf = n->b;
		b = a;
	}
	if (!b->known ||
	    (b->value.tag != V_NATURAL && b->value.tag != V_NEGATIVE))
		return 0;
	if (!is_plain_leaf(c, leaf, out))
		return 0;
	out->mask = b->value.as.u;
	return 1;
}

static void
swap_unless(int want, uint32_t *yes, uint32_t *no)
{
	uint32_t t = *yes;

	if (!want) {
		*yes = *no;
		*no = t;
	}
}

/* A plain integer against one that is known; 0 when it is no such case. */
static int
compare_span(struct compiler *c, const struct node *n, int want, uint32_t yes,
    uint32_t no, uint32_t *entry)
{
	const struct fold *b = &c->folds[n->b];
	uint64_t k = b->value.as.u, lo = 0, hi = UINT64_MAX;
	struct plain what;
	int empty = 0;

	if (!b->known || b->value.tag != V_NATURAL || !is_plain(c, n->a, &what))
		return 0;
	switch ((enum value_op)n->opr) {
	case OPR_NE: want = !want; /* fall through */
	case OPR_EQ: lo = hi = k; break;
	case OPR_LT:
		empty = k == 0;
		hi = k - 1;
		break;
	case OPR_LE: hi = k; break;
	case OPR_GT:
		empty = k == UINT64_MAX;
		lo = k + 1;
		break;
	default: lo = k; break;
	}
	swap_unless(want, &yes, &no);
	*entry = empty ? no : tel__code_span(c, &what, lo, hi, yes, no);
	return 1;
}

/* A plain integer in a list of plain integers; 0 when it is no such case. */
static int
in_set(struct compiler *c, const struct node *n, int want, uint32_t yes,
    uint32_t no, uint32_t *entry)
{
	const struct set *set = n->set;
	struct plain what;
	struct op *op;

	if (set == NULL || !is_plain(c, n->a, &what))
		return 0;
	if (set->count > 1 &&
	    (what.code != OP_SPAN_FIELD || what.mask != UINT64_MAX))
		return 0;
	swap_unless(want, &yes, &no);
	if (set->count <= 1) {
		*entry = set->count == 0 ?
		    no :
		    tel__code_span(c, &what, set->spans[0].lo, set->spans[0].hi,
		        yes, no);
		return 1;
	}
	op = tel__code_put(c, OP_SET_FIELD);
	if (op != NULL) {
		op->u.set_test.field = &c->type->fields[what.field];
		op->u.set_test.set = set;
	}
	*entry = tel__code_test(c, op, yes, no);
	return 1;
}

/* A condition that is neither && nor || nor !. */
static uint32_t
put_leaf(struct compiler *c, uint32_t node, int want, uint32_t yes, uint32_t no)
{
	const struct node *n = &c->tree->nodes[node];
	struct plain what;
	uint32_t entry;
	struct op *op;

	if (n->op == N_COMPARE && compare_span(c, n, want, yes, no, &entry))
		return entry;
	if (n->op == N_IN && in_set(c, n, want, yes, no, &entry))
		return entry;
	if (is_plain(c, node, &what)) {
		swap_unless(want, &yes, &no);
		return tel__code_span(c, &what, 1, UINT64_MAX, yes, no);
	}
	if (tel__code_of_labels(c, n)) {
		op = tel__code_put(c, OP_LABELS);
		if (op != NULL) {
			op->u.node = n;
			op->want = (uint8_t)want;
		}
		return tel__code_test(c, op, yes, no);
	}
	if (n->op == N_COMPARE) {
		op = tel__code_operator(c, n, OP_TEST_COMPARE,
		    OP_TEST_COMPARE_K);
	} else {
		op = tel__code_put(c, OP_TEST);
	}
	if (op != NULL)
		op->want = (uint8_t)want;
	tel__code_test(c, op, yes, no);
	if (n->op == N_COMPARE) {
		tel__code_right(c, n);
		node = n->a;
	}
	tel__code_value(c, node);
	return c->count - 1;
}

uint32_t
tel__code_condition(struct compiler *c, uint32_t node, int want, uint32_t yes,
    uint32_t no)
{
	const struct node *n;
	const struct fold *f;
	int known;

	while (!c->failed) {
		n = &c->tree->nodes[node];
		f = &c->folds[node];
		known = want ? f->t : f->f;
		if (known >= 0)
			return known ? yes : no;
		if (n->op == N_NOT) {
			want = !want;
		} else if (n->op == (want ? N_AND : N_OR)) {
			yes = tel__code_condition(c, n->b, want, yes, no);
		} else if (n->op == (want ? N_OR : N_AND)) {
			no = tel__code_condition(c, n->b, want, yes, no);
		} else {
			return put_leaf(c, node, want, yes, no);
		}
		node = n->a;
	}
	return no;
}
