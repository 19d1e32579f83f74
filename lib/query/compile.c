/* SPDX-License-Identifier: BSD-2-Clause */
/* The compiler: values, selections, and whole programs. */
#include "query/code.h"

#include <stdlib.h>
#include <string.h>

int
tel__code_of_labels(const struct compiler *c, const struct node *n)
{
	return (n->op == N_COMPARE || n->op == N_MATCH || n->op == N_IN) &&
	    c->tree->nodes[n->a].op == N_LABELS;
}

static void
put_const(struct compiler *c, struct value v)
{
	struct op *op = tel__code_put(c, OP_CONST);

	if (op != NULL)
		op->u.value = v;
}

static void
put_with(struct compiler *c, enum op_code code, const struct node *n)
{
	struct op *op = tel__code_put(c, code);

	if (op == NULL)
		return;
	op->sub = (int8_t)n->opr;
	op->flag = (n->flags & NODE_ANY_CASE) != 0;
	op->u.node = n;
}

static void
put_field(struct compiler *c, const struct node *n)
{
	int at = c->fields[n->symbol];
	const struct tel_field *f = &c->type->fields[at];
	enum op_code code = OP_NATURAL_FIELD;
	struct op *op;

	if (n->op == N_LABEL)
		code = OP_LABEL_FIELD;
	else if (f->datatype == TEL_SIGNED)
		code = OP_SIGNED_FIELD;
	else if (f->datatype == TEL_DOUBLE)
		code = OP_DOUBLE_FIELD;
	else if (f->datatype == TEL_STRING)
		code = OP_STRING_FIELD;
	op = tel__code_put(c, code);
	if (op != NULL) {
		op->u.field = f;
		op->field = (uint8_t)at;
	}
}

/* A list, whose ops are put from its end. */
static void
put_list(struct compiler *c, const struct node *n)
{
	const struct item *item;
	uint32_t i;

	put_with(c, OP_IN_END, n);
	for (i = n->count; i > 0; i--) {
		item = &c->tree->items[n->first + i - 1];
		put_with(c, item->range ? OP_IN_RANGE : OP_IN_ITEM, n);
		if (item->range)
			tel__code_value(c, item->hi);
		tel__code_value(c, item->lo);
	}
	put_const(c, value_natural(0));
}

/* A list of plain integers; doubles lie between those, and go by items. */
static int
put_set(struct compiler *c, const struct node *n)
{
	struct op *op;

	if (n->set == NULL || c->folds[n->a].classes != C_INTEGER)
		return 0;
	op = tel__code_put(c, OP_IN_SET);
	if (op != NULL)
		op->u.set = n->set;
	return 1;
}

/* Puts a leaf; 0 when the node has operands. */
static int
put_leaf(struct compiler *c, const struct node *n)
{
	struct op *op;

	if (tel__code_of_labels(c, n)) {
		put_with(c, OP_LABELS_VALUE, n);
		return 1;
	}
	switch ((enum node_op)n->op) {
	case N_FIELD:
	case N_LABEL: put_field(c, n); return 1;
	case N_LABELS: put_with(c, OP_FIRST_LABEL, n); return 1;
	case N_BUILTIN:
		op = tel__code_put(c, OP_BUILTIN);
		if (op != NULL)
			op->sub = (int8_t)n->builtin;
		return 1;
	default: return 0;
	}
}

struct op *
tel__code_operator(struct compiler *c, const struct node *n, enum op_code code,
    enum op_code with_k)
{
	const struct fold *b = &c->folds[n->b];
	struct op *op = tel__code_put(c, b->known ? with_k : code);

	if (op != NULL) {
		op->sub = (int8_t)n->opr;
		op->flag = (n->flags & NODE_ANY_CASE) != 0;
		if (b->known)
			op->u.value = b->value;
	}
	return op;
}

void
tel__code_right(struct compiler *c, const struct node *n)
{
	if (!c->folds[n->b].known)
		tel__code_value(c, n->b);
}

void
tel__code_value(struct compiler *c, uint32_t node)
{
	static const uint8_t codes[] = { [N_HAS] = OP_HAS,
		[N_NOT] = OP_NOT,
		[N_UNARY] = OP_UNARY,
		[N_MATCH] = OP_MATCH,
		[N_AND] = OP_AND,
		[N_OR] = OP_OR };
	const struct node *n;

	for (; !c->failed; node = n->a) {
		n = &c->tree->nodes[node];
		if (c->folds[node].known) {
			put_const(c, c->folds[node].value);
			return;
		}
		if (put_leaf(c, n))
			return;
		if (n->op == N_ARITHMETIC) {
			tel__code_operator(c, n, OP_ARITHMETIC,
			    OP_ARITHMETIC_K);
			tel__code_right(c, n);
		} else if (n->op == N_COMPARE) {
			tel__code_operator(c, n, OP_COMPARE, OP_COMPARE_K);
			tel__code_right(c, n);
		} else if (n->op == N_IN) {
			if (!put_set(c, n))
				put_list(c, n);
		} else {
			put_with(c, (enum op_code)codes[n->op], n);
			if (n->op == N_AND || n->op == N_OR)
				tel__code_value(c, n->b);
		}
	}
}

static uint32_t
select_instant(struct compiler *c, const struct instant *at, int from,
    uint32_t yes, uint32_t no)
{
	struct plain what = { OP_SPAN_CLOCK, 0, UINT64_MAX };
	uint64_t v = at->value;

	if (at->base == INSTANT_NONE)
		return yes;
	if (at->base != INSTANT_CLOCK) {
		what.code = at->base == INSTANT_NS ? OP_SPAN_NS : OP_SPAN_TICKS;
		/* signed numbers, moved so that they are in order */
		v += (uint64_t)1 << 63;
	}
	return tel__code_span(c, &what, from ? v : 0, from ? UINT64_MAX : v,
	    yes, no);
}

static uint32_t
select_addresses(struct compiler *c, uint32_t yes, uint32_t no)
{
	const struct set *set = c->selection->address_set;
	unsigned i, count = c->type == NULL ? 0 : c->type->nfields;
	struct plain what = { OP_SPAN_FIELD, 0, UINT64_MAX };
	const struct tel_field *f;
	uint32_t other = no;
	struct op *op;

	for (i = count; i > 0; i--) {
		f = &c->type->fields[i - 1];
		if (f->datatype != TEL_ADDRESS && f->datatype != TEL_POINTER)
			continue;
		if (set->count == 1) {
			what.field = (int)i - 1;
			other = tel__code_span(c, &what, set->spans[0].lo,
			    set->spans[0].hi, yes, other);
			continue;
		}
		op = tel__code_put(c, OP_SET_FIELD);
		if (op != NULL) {
			op->u.set_test.field = f;
			op->u.set_test.set = set;
		}
		other = tel__code_test(c, op, yes, other);
	}
	return other;
}

static uint32_t
select_any_label(struct compiler *c, uint32_t yes, uint32_t no)
{
	unsigned i, count = c->type == NULL ? 0 : c->type->nfields;
	struct op *op;

	for (i = 0; i < count; i++)
		if (tel_field_labelled(&c->type->fields[i]))
			break;
	if (i == count)
		return no;
	op = tel__code_put(c, OP_LABEL_GLOB);
	if (op != NULL)
		op->u.pattern = &c->selection->label;
	return tel__code_test(c, op, yes, no);
}

/* Put from the dearest test to the cheapest, which will be run first. */
uint32_t
tel__code_selection(struct compiler *c, uint32_t yes, uint32_t no)
{
	const struct selection *s = c->selection;
	int wanted = tel__select_type(s, c->type);
	struct op *op;

	if (wanted == 0)
		return no;
	if (s->label_text != NULL)
		yes = select_any_label(c, yes, no);
	if (s->address_set != NULL)
		yes = select_addresses(c, yes, no);
	yes = select_instant(c, &s->to, 0, yes, no);
	yes = select_instant(c, &s->from, 1, yes, no);
	if (wanted < 0) {
		op = tel__code_put(c, OP_TYPE);
		if (op != NULL)
			op->u.selection = s;
		yes = tel__code_test(c, op, yes, no);
	}
	return yes;
}

tel_status
tel__compiler_begin(struct compiler *c)
{
	size_t nodes = c->tree == NULL ? 0 : c->tree->nnodes;
	size_t symbols = c->tree == NULL ? 0 : c->tree->nsymbols;

	c->folds = calloc(nodes + 1, sizeof(*c->folds));
	c->fields = calloc(symbols + 1, sizeof(*c->fields));
	return c->folds == NULL || c->fields == NULL ? TEL_ENOMEM : TEL_OK;
}

void
tel__compiler_end(struct compiler *c)
{
	free(c->folds);
	free(c->fields);
	free(c->ops);
}

static void
begin_type(struct compiler *c, const struct tel_type *type)
{
	uint32_t i;

	c->type = type;
	c->count = 0;
	c->failed = 0;
	if (c->tree == NULL)
		return;
	for (i = 0; i < c->tree->nsymbols; i++)
		c->fields[i] = type == NULL ?
		    -1 :
		    tel_type_find_field(type, c->tree->symbols[i].name);
	tel__fold_nodes(c);
}

/* Turns the code round, so that it runs forward. */
static tel_status
finish_type(struct compiler *c, uint32_t entry, struct program *out)
{
	uint32_t i, n = c->count;
	struct op *op;

	memset(out, 0, sizeof(*out));
	if (c->failed)
		return TEL_ENOMEM;
	if (entry >= GO_ACCEPT) {
		out->verdict =
		    entry == GO_ACCEPT ? VERDICT_ALWAYS : VERDICT_NEVER;
		return TEL_OK;
	}
	out->ops = malloc(n * sizeof(*out->ops));
	if (out->ops == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < n; i++) {
		op = &out->ops[n - 1 - i];
		*op = c->ops[i];
		if (op->yes < GO_ACCEPT)
			op->yes = n - 1 - op->yes;
		if (op->no < GO_ACCEPT)
			op->no = n - 1 - op->no;
	}
	out->verdict = VERDICT_RUN;
	out->entry = n - 1 - entry;
	return TEL_OK;
}

tel_status
tel__compile_filter(struct compiler *c, const struct tel_type *type,
    struct program *out)
{
	uint32_t yes = c->invert ? GO_REJECT : GO_ACCEPT;
	uint32_t no = c->invert ? GO_ACCEPT : GO_REJECT;
	uint32_t entry = yes;

	begin_type(c, type);
	if (c->tree != NULL)
		entry = tel__code_condition(c, c->tree->root, 1, yes, no);
	if (c->selection != NULL && entry != no)
		entry = tel__code_selection(c, entry, no);
	return finish_type(c, entry, out);
}

tel_status
tel__compile_value(struct compiler *c, const struct tel_type *type,
    struct program *out)
{
	const struct node *root = &c->tree->nodes[c->tree->root];
	enum tel_datatype datatype = TEL_UNSIGNED;
	tel_status st;

	begin_type(c, type);
	tel__code_put(c, OP_RESULT);
	tel__code_value(c, c->tree->root);
	if (root->op == N_FIELD && c->fields[root->symbol] >= 0)
		datatype = type->fields[c->fields[root->symbol]].datatype;
	else if (root->op >= N_HAS && root->op != N_UNARY &&
	    root->op != N_ARITHMETIC)
		datatype = TEL_BOOLEAN;
	st = finish_type(c, c->count - 1, out);
	out->datatype = (uint8_t)datatype;
	return st;
}

void
tel__program_clear(struct program *p)
{
	free(p->ops);
	p->ops = NULL;
}
