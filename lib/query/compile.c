/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler: from a folded tree and a selection to a program.  Code is made
 * from its end to its start, and a place in it is its number from the end: so
 * a test knows where it goes on, and the left side of a long chain of
 * operators, which is the deep one, is a loop and no recursion.
 *
 * A condition is asked for as "is it true" or as "is it false"; when it is
 * unknown it is neither.  So each test has but two ways to go on, and the
 * rules of the three values are those by which the two questions pass
 * through && || and !.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/counter.h"
#include "query/program.h"

static const struct op no_op;

/* An unsigned integer of an event, as a span op reads it. */
struct plain {
	enum op_code code; /* OP_SPAN_.. */
	int field;         /* of OP_SPAN_FIELD and OP_SPAN_OPERATOR */
	uint8_t opr;       /* of the latter, */
	uint64_t mask;     /* and its right side */
};

/* The op that will be run before those that there are; NULL: no memory. */
static struct op *
compile_put(struct compiler *c, enum op_code code)
{
	if (!TEL__RESERVE(c->ops, c->room, (size_t)c->count + 1)) {
		c->failed = 1;
		return NULL;
	}
	struct op *op = &c->ops[c->count++];
	*op = no_op;
	op->code = (uint8_t)code;
	return op;
}

/* Sets where a test, the op put last, continues.  Returns its place. */
static uint32_t
put_test(struct compiler *c, struct op *op, uint32_t yes, uint32_t no)
{
	if (op == NULL)
		return no;
	op->yes = yes;
	op->no = no;
	return c->count - 1;
}

/* Nonzero when the number may be missing, for what it would be. */
static int
may_be_missing(const struct plain *what)
{
	return what->code == OP_SPAN_OPERATOR || what->code == OP_SPAN_NS;
}

/*
 * Tests whether it is from lo to hi, or is not (want).  Returns where that
 * starts.
 */
static uint32_t
compile_put_span(struct compiler *c, const struct plain *what, int want,
    uint64_t lo, uint64_t hi, uint32_t yes, uint32_t no)
{
	enum op_code code = what->code;
	const struct tel_field *f = NULL;

	if (!want && !may_be_missing(what))
		return compile_put_span(c, what, 1, lo, hi, no, yes);
	if ((lo > hi && want) || yes == no)
		return no;
	if (lo == 0 && hi == UINT64_MAX && !may_be_missing(what))
		return yes;
	if (code == OP_SPAN_FIELD || code == OP_SPAN_OPERATOR)
		f = &c->type->fields[what->field];
	if (code == OP_SPAN_FIELD && f->load == TEL_LOAD_LE64)
		code = OP_SPAN_LE64;
	else if (code == OP_SPAN_FIELD && f->load == TEL_LOAD_LE32)
		code = OP_SPAN_LE32;
	struct op *op = compile_put(c, code);
	if (op != NULL) {
		op->u.span.mask = what->mask;
		op->u.span.lo = lo;
		op->u.span.span = hi - lo;
		op->field = f;
		op->offset = f == NULL ? 0 : f->offset;
		op->sub = what->opr;
		op->want = (uint8_t)want;
	}
	return put_test(c, op, yes, no);
}

/* -------------------------------------------------------------- values */

/* Whether a node compares the label of any field. */
static int
is_of_labels(const struct compiler *c, const struct node *n)
{
	return (n->op == N_COMPARE || n->op == N_MATCH || n->op == N_IN) &&
	    c->tree->nodes[n->a].op == N_LABELS;
}

static void
put_const(struct compiler *c, struct value v)
{
	struct op *op = compile_put(c, OP_CONST);

	if (op != NULL)
		op->u.value = v;
}

static void
put_with(struct compiler *c, enum op_code code, const struct node *n)
{
	struct op *op = compile_put(c, code);

	if (op == NULL)
		return;
	op->sub = (uint8_t)n->opr;
	op->any_case = (n->flags & NODE_ANY_CASE) != 0;
	op->u.node = n;
}

static void
put_sub(struct compiler *c, enum op_code code, unsigned sub)
{
	struct op *op = compile_put(c, code);

	if (op != NULL)
		op->sub = (uint8_t)sub;
}

static void
put_cpi(struct compiler *c)
{
	struct op *op = compile_put(c, OP_CPI);

	if (op == NULL)
		return;
	op->field =
	    &c->type->fields[tel__counter_find(c->type, "instructions")];
	op->u.cycles = &c->type->fields[tel__counter_find(c->type, "cycles")];
}

static void
compile_put_field(struct compiler *c, const struct node *n)
{
	int at = c->fields[n->symbol];
	enum op_code code = OP_NATURAL_FIELD;

	if (at == COUNTER_CPI) {
		put_cpi(c);
		return;
	}
	const struct tel_field *f = &c->type->fields[at];
	if (n->op == N_LABEL)
		code = OP_LABEL_FIELD;
	else if (symbol_is_name(&c->tree->symbols[n->symbol], f))
		code = OP_NAME_FIELD;
	else if (n->op == N_LENGTH)
		code = OP_LENGTH;
	else if (n->op == N_ELEMENT || n->op == N_CONTAINS)
		code = n->op == N_ELEMENT ? OP_ELEMENT : OP_CONTAINS;
	else if (f->present != 0)
		code = OP_OPTIONAL_FIELD;
	else if (f->datatype == TEL_SIGNED)
		code = OP_SIGNED_FIELD;
	else if (f->datatype == TEL_DOUBLE)
		code = OP_DOUBLE_FIELD;
	else if (f->datatype == TEL_STRING)
		code = OP_STRING_FIELD;
	struct op *op = compile_put(c, code);
	if (op == NULL)
		return;
	op->field = f;
	if (code == OP_OPTIONAL_FIELD)
		/* the name of an enum's value that has none is empty */
		op->u.decides = f -
		    (f->is_label && at > 0 &&
		        c->tree->symbols[n->symbol].use != USE_VALUE &&
		        c->tree->symbols[n->symbol].use != USE_DERIVED);
	else
		op->u.value =
		    n->op == N_ELEMENT ? value_natural(n->first) : n->value;
}

static void compile_put_value(struct compiler *c, uint32_t node);

/* A list, whose ops are put from its end. */
static void
compile_put_list(struct compiler *c, const struct node *n)
{
	put_with(c, OP_IN_END, n);
	for (uint32_t i = n->count; i > 0; i--) {
		const struct item *item = &c->tree->items[n->first + i - 1];

		put_with(c, item->range ? OP_IN_RANGE : OP_IN_ITEM, n);
		if (item->range)
			compile_put_value(c, item->hi);
		compile_put_value(c, item->lo);
	}
	put_const(c, value_natural(0));
}

/* A list of plain integers.  Doubles may be between those: item by item. */
static int
put_set(struct compiler *c, const struct node *n)
{
	if (n->set == NULL || c->folds[n->a].classes != C_INTEGER)
		return 0;
	struct op *op = compile_put(c, OP_IN_SET);
	if (op != NULL)
		op->u.set = n->set;
	return 1;
}

/* Puts a leaf; 0 when the node has operands. */
static int
put_leaf(struct compiler *c, const struct node *n)
{
	struct op *op;

	if (is_of_labels(c, n)) {
		put_with(c, OP_LABELS_VALUE, n);
		return 1;
	}
	switch ((enum node_op)n->op) {
	case N_DERIVED:
		if (c->fields[n->symbol] == COUNTER_NONE) {
			put_sub(c, OP_DERIVED, n->builtin);
			return 1;
		}
		/* fallthrough */
	case N_FIELD:
	case N_LENGTH:
	case N_ELEMENT:
	case N_CONTAINS:
	case N_LABEL: compile_put_field(c, n); return 1;
	case N_START:
		op = compile_put(c, OP_START);
		if (op != NULL)
			op->offset = (uint16_t)n->first;
		return 1;
	case N_LABELS: put_with(c, OP_FIRST_LABEL, n); return 1;
	case N_BUILTIN: put_sub(c, OP_BUILTIN, n->builtin); return 1;
	default: return 0;
	}
}

/* A comparison or arithmetic, which has its right side if that is known. */
static struct op *
put_operator(struct compiler *c, const struct node *n, enum op_code code)
{
	const struct fold *b = &c->folds[n->b];
	struct op *op = compile_put(c, code);

	if (op != NULL) {
		op->sub = n->opr;
		op->any_case = (n->flags & NODE_ANY_CASE) != 0;
		op->constant = b->known != 0;
		if (b->known)
			op->u.value = b->value;
	}
	return op;
}

/* Puts the right side on the stack, unless it is known. */
static void
put_right(struct compiler *c, const struct node *n)
{
	if (!c->folds[n->b].known)
		compile_put_value(c, n->b);
}

/* Puts the value of a node on the stack. */
static void
compile_put_value(struct compiler *c, uint32_t node)
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
			put_operator(c, n, OP_ARITHMETIC);
			put_right(c, n);
		} else if (n->op == N_COMPARE) {
			put_operator(c, n, OP_COMPARE);
			put_right(c, n);
		} else if (n->op == N_IN) {
			if (!put_set(c, n))
				compile_put_list(c, n);
		} else {
			put_with(c, (enum op_code)codes[n->op], n);
			if (n->op == N_AND || n->op == N_OR)
				compile_put_value(c, n->b);
		}
	}
}

/* ---------------------------------------------------------- conditions */

/* A field or builtin that a span op reads. */
static int
is_plain_leaf(const struct compiler *c, uint32_t node, struct plain *out)
{
	const struct node *n = &c->tree->nodes[node];

	if (c->folds[node].known)
		return 0;
	out->field = 0;
	out->mask = UINT64_MAX;
	if (n->op == N_BUILTIN) {
		out->code = n->builtin == B_CLOCK ? OP_SPAN_CLOCK :
		    n->builtin == B_INDEX         ? OP_SPAN_INDEX :
		    n->builtin == B_TIME          ? OP_SPAN_NS :
		                                    OP_SPAN_SIZE;
		return out->code != OP_SPAN_SIZE || n->builtin == B_SIZEOF;
	}
	if (n->op != N_FIELD || c->fields[n->symbol] < 0)
		return 0;
	out->code = OP_SPAN_FIELD;
	out->field = c->fields[n->symbol];
	enum tel_datatype datatype = c->type->fields[out->field].datatype;
	return c->folds[node].classes == C_INTEGER &&
	    c->type->fields[out->field].present == 0 &&
	    datatype != TEL_SIGNED && datatype != TEL_DOUBLE &&
	    datatype != TEL_STRING;
}

/*
 * The same, or some bits of it, or what an operator makes of a field and a
 * constant, which must not be negative.
 */
static int
compile_is_plain(const struct compiler *c, uint32_t node, struct plain *out)
{
	const struct node *n = &c->tree->nodes[node];
	const struct fold *a = &c->folds[n->a], *b = &c->folds[n->b];
	uint32_t leaf = n->a;

	if (n->op != N_ARITHMETIC)
		return is_plain_leaf(c, node, out);
	if (a->known &&
	    (n->opr == OPR_AND || n->opr == OPR_ADD || n->opr == OPR_MUL ||
	        n->opr == OPR_OR)) {
		leaf = n->b;
		b = a;
	}
	if (!b->known || !is_plain_leaf(c, leaf, out))
		return 0;
	out->mask = b->value.as.u;
	out->opr = n->opr;
	if (n->opr == OPR_AND)
		return out->code != OP_SPAN_NS &&
		    (b->value.tag == V_NATURAL || b->value.tag == V_NEGATIVE);
	if (out->code != OP_SPAN_FIELD || b->value.tag != V_NATURAL)
		return 0;
	out->code = OP_SPAN_OPERATOR;
	return n->opr == OPR_ADD || n->opr == OPR_MUL || n->opr == OPR_OR ||
	    n->opr == OPR_DIV || n->opr == OPR_MOD || n->opr == OPR_SHR;
}

/* A plain integer against one that is known; 0 when it is another case. */
static int
compare_span(struct compiler *c, const struct node *n, int want, uint32_t yes,
    uint32_t no, uint32_t *entry)
{
	const struct fold *b = &c->folds[n->b];
	uint64_t k = b->value.as.u, lo = 0, hi = UINT64_MAX;
	struct plain what;
	int empty = 0;

	if (!b->known || !compile_is_plain(c, n->a, &what))
		return 0;
	if (what.code == OP_SPAN_NS) {
		if (b->value.tag != V_NEGATIVE &&
		    (b->value.tag != V_NATURAL || k > INT64_MAX))
			return 0;
		k ^= (uint64_t)1 << 63;
	} else if (b->value.tag != V_NATURAL) {
		return 0;
	}
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
	if (empty && may_be_missing(&what))
		return 0;
	*entry = empty ? (want ? no : yes) :
	                 compile_put_span(c, &what, want, lo, hi, yes, no);
	return 1;
}

/* A plain integer in a list of plain integers; 0 when it is another case. */
static int
in_set(struct compiler *c, const struct node *n, int want, uint32_t yes,
    uint32_t no, uint32_t *entry)
{
	const struct set *set = n->set;
	struct plain what;

	if (set == NULL || !compile_is_plain(c, n->a, &what))
		return 0;
	if (what.code == OP_SPAN_NS)
		return 0;
	if (set->count == 1) {
		*entry = compile_put_span(c, &what, want, set->spans[0].lo,
		    set->spans[0].hi, yes, no);
		return 1;
	}
	if (what.code != OP_SPAN_FIELD || what.mask != UINT64_MAX)
		return 0;
	struct op *op = compile_put(c, OP_SET_FIELD);
	if (op != NULL) {
		op->field = &c->type->fields[what.field];
		op->u.set = set;
	}
	*entry = put_test(c, op, want ? yes : no, want ? no : yes);
	return 1;
}

/* Whether a node compares the label of a field with constants. */
static int
compares_label(const struct compiler *c, const struct node *n)
{
	return (n->op == N_MATCH ||
	           (n->op == N_COMPARE &&
	               (n->opr == OPR_EQ || n->opr == OPR_NE) &&
	               c->tree->nodes[n->b].op == N_CONST)) &&
	    c->tree->nodes[n->a].op == N_LABEL;
}

static struct op *
compile_put_label(struct compiler *c, int field, const struct node *n,
    const struct pattern *glob, int want)
{
	struct op *op = compile_put(c, OP_LABEL);

	if (op == NULL)
		return NULL;
	op->field = &c->type->fields[field];
	op->sub = (uint8_t)tel_field_space(c->type->schema, op->field);
	op->u.label.node = n;
	op->u.label.glob = glob;
	op->want = (uint8_t)want;
	return op;
}

/* Whether the label of any field is what a node or a glob wants. */
static uint32_t
compile_put_labels(struct compiler *c, const struct node *n,
    const struct pattern *glob, uint32_t yes, uint32_t no)
{
	unsigned i = c->type == NULL ? 0 : c->type->nfields;

	for (; i > 0; i--)
		if (node_labelled(&c->type->fields[i - 1]))
			no = put_test(c,
			    compile_put_label(c, (int)i - 1, n, glob, 1), yes,
			    no);
	return no;
}

/* A condition that is neither && nor || nor !. */
static uint32_t
put_condition(struct compiler *c, uint32_t node, int want, uint32_t yes,
    uint32_t no)
{
	const struct node *n = &c->tree->nodes[node];
	struct plain what;
	uint32_t entry;
	struct op *op;

	if (n->op == N_COMPARE && compare_span(c, n, want, yes, no, &entry))
		return entry;
	if (n->op == N_IN && in_set(c, n, want, yes, no, &entry))
		return entry;
	if (compile_is_plain(c, node, &what) && what.code != OP_SPAN_NS)
		return compile_put_span(c, &what, want, 1, UINT64_MAX, yes, no);
	if (compares_label(c, n)) {
		op =
		    compile_put_label(c, c->fields[c->tree->nodes[n->a].symbol],
		        n, NULL, want != negates(n));
		return put_test(c, op, yes, no);
	}
	if (is_of_labels(c, n) && want != negates(n))
		return compile_put_labels(c, n, NULL, yes, no);
	if (is_of_labels(c, n)) {
		op = compile_put(c, OP_LABELS);
		if (op != NULL) {
			op->u.node = n;
			op->want = (uint8_t)want;
		}
		return put_test(c, op, yes, no);
	}
	op = n->op == N_COMPARE ? put_operator(c, n, OP_TEST_COMPARE) :
	                          compile_put(c, OP_TEST);
	if (op != NULL)
		op->want = (uint8_t)want;
	put_test(c, op, yes, no);
	if (n->op == N_COMPARE) {
		put_right(c, n);
		node = n->a;
	}
	compile_put_value(c, node);
	return c->count - 1;
}

/*
 * Tests whether a node is true (want) or false; "unknown" is neither.  Returns
 * where the code starts.
 */
static uint32_t
put_node(struct compiler *c, uint32_t node, int want, uint32_t yes, uint32_t no)
{
	while (!c->failed) {
		const struct node *n = &c->tree->nodes[node];
		const struct fold *f = &c->folds[node];
		int known = want ? f->t : f->f;

		if (known >= 0)
			return known ? yes : no;
		if (n->op == N_NOT) {
			want = !want;
		} else if (n->op == (want ? N_AND : N_OR)) {
			yes = put_node(c, n->b, want, yes, no);
		} else if (n->op == (want ? N_OR : N_AND)) {
			no = put_node(c, n->b, want, yes, no);
		} else {
			return put_condition(c, node, want, yes, no);
		}
		node = n->a;
	}
	return no;
}

/* ---------------------------------------------------------- selections */

static uint32_t
select_instant(struct compiler *c, const struct instant *at, int from,
    uint32_t yes, uint32_t no)
{
	struct plain what = { .code = OP_SPAN_CLOCK, .mask = UINT64_MAX };
	uint64_t v = at->value;

	if (at->base == INSTANT_NONE)
		return yes;
	if (at->base != INSTANT_CLOCK) {
		what.code = at->base == INSTANT_NS ? OP_SPAN_NS : OP_SPAN_TICKS;
		/* signed numbers, moved so that they are in order */
		v += (uint64_t)1 << 63;
	}
	return compile_put_span(c, &what, 1, from ? v : 0,
	    from ? UINT64_MAX : v, yes, no);
}

/* Whether events of a type allocate or free blocks at addresses. */
static int
compile_has_blocks(const struct tel_type *t)
{
	const int i = t->role_field[TEL_PART_ADDRESS];

	return tel_type_is_alloc(t) && i >= 0 &&
	    (t->fields[i].datatype == TEL_ADDRESS ||
	        t->fields[i].datatype == TEL_POINTER);
}

static uint32_t
select_addresses(struct compiler *c, uint32_t yes, uint32_t no)
{
	const struct set *set = c->selection->address_set;
	unsigned i, count = c->type == NULL ? 0 : c->type->nfields;
	struct plain what = { .code = OP_SPAN_FIELD, .mask = UINT64_MAX };
	uint32_t other = no;

	if (c->type != NULL && compile_has_blocks(c->type)) {
		struct op *op = compile_put(c, OP_BLOCK);

		if (op != NULL)
			op->u.set = set;
		other = put_test(c, op, yes, other);
	}
	for (i = count; i > 0; i--) {
		const struct tel_field *f = &c->type->fields[i - 1];

		if (f->datatype != TEL_ADDRESS && f->datatype != TEL_POINTER)
			continue;
		if (set->count == 1) {
			what.field = (int)i - 1;
			other = compile_put_span(c, &what, 1, set->spans[0].lo,
			    set->spans[0].hi, yes, other);
			continue;
		}
		struct op *op = compile_put(c, OP_SET_FIELD);
		if (op != NULL) {
			op->field = f;
			op->u.set = set;
		}
		other = put_test(c, op, yes, other);
	}
	return other;
}

static uint32_t
select_any_label(struct compiler *c, uint32_t yes, uint32_t no)
{
	for (size_t n = c->selection->nlabels; n > 0; n--)
		no = compile_put_labels(c, NULL,
		    &c->selection->labels[n - 1].glob, yes, no);
	return no;
}

/* Put from the dearest test to the cheapest, which will be run first. */
static uint32_t
put_selection(struct compiler *c, uint32_t yes, uint32_t no)
{
	const struct selection *s = c->selection;
	int wanted = tel__select_type(s, c->type);

	if (wanted == 0)
		return no;
	if (s->nlabels > 0)
		yes = select_any_label(c, yes, no);
	if (s->address_set != NULL)
		yes = select_addresses(c, yes, no);
	yes = select_instant(c, &s->to, 0, yes, no);
	yes = select_instant(c, &s->from, 1, yes, no);
	if (wanted < 0) {
		struct op *op = compile_put(c, OP_TYPE);

		if (op != NULL)
			op->u.selection = s;
		yes = put_test(c, op, yes, no);
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
	c->type = type;
	c->count = 0;
	c->failed = 0;
	if (c->tree == NULL)
		return;
	for (uint32_t i = 0; i < c->tree->nsymbols; i++)
		c->fields[i] = type == NULL ?
		    -1 :
		    tel__symbol_find(&c->tree->symbols[i], type);
	tel__fold_nodes(c);
}

/* Where an op finds its values, if so many are there.  Returns how many then. */
static uint32_t
place_values(struct op *op, uint32_t count)
{
	static const uint8_t leaves[] = {
#define OP(code, name, operand, takes, leaves, ranges) leaves,
		TEL__TESTS(OP) TEL__LEAVES(OP) TEL__OPERATORS(OP)
#undef OP
	};

	op->at = count - op_takes(op);
	return op->at + leaves[op->code];
}

/* Turns the code round, so that it runs forward. */
static tel_status
finish_type(struct compiler *c, uint32_t entry, struct program *out)
{
	uint32_t i, count = 0, n = c->count;

	memset(out, 0, sizeof(*out));
	if (c->failed)
		return TEL_ENOMEM;
	out->entry = entry;
	if (entry >= GO_ACCEPT)
		return TEL_OK;
	out->ops = malloc(n * sizeof(*out->ops));
	if (out->ops == NULL)
		return TEL_ENOMEM;
	out->count = n;
	out->entry = n - 1 - entry;
	for (i = out->entry; i < n; i++) {
		struct op *op = &out->ops[i];

		*op = c->ops[n - 1 - i];
		if (!op_is_test(op))
			op->yes = op->no = n - 2 - i;
		if (op->yes < GO_ACCEPT)
			op->yes = n - 1 - op->yes;
		if (op->no < GO_ACCEPT)
			op->no = n - 1 - op->no;
		count = place_values(op, count);
		if (count > out->stack)
			out->stack = count;
		out->placed |= op->code == OP_SPAN_INDEX ||
		    op->code == OP_SPAN_SIZE || op->code == OP_BUILTIN;
	}
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
		entry = put_node(c, c->tree->root, 1, yes, no);
	if (c->selection != NULL && entry != no)
		entry = put_selection(c, entry, no);
	return finish_type(c, entry, out);
}

/* The data type of a leaf's value in events of a type, if it is a number. */
static enum tel_datatype
leaf_datatype(const struct compiler *c, const struct tel_type *t,
    const struct node *n)
{
	int at = COUNTER_NONE;

	if (t != NULL && (n->op == N_FIELD || n->op == N_DERIVED))
		at = tel__counter_find(t, c->tree->symbols[n->symbol].name);
	if (at >= 0)
		return t->fields[at].datatype;
	if (at == COUNTER_CPI)
		return TEL_DOUBLE;
	return n->op == N_DERIVED &&
	        (n->builtin == D_ALLOCATES || n->builtin == D_FREES) ?
	    TEL_BOOLEAN :
	    TEL_UNSIGNED;
}

/* The same of start.x: as the first type has it in which x is a field. */
static enum tel_datatype
start_datatype(const struct compiler *c, const struct node *n)
{
	const struct tel_schema *s = c->type != NULL ? c->type->schema : NULL;
	enum tel_datatype datatype = TEL_UNSIGNED;
	uint32_t i;

	for (i = 0; s != NULL && i < s->ntypes && datatype == TEL_UNSIGNED; i++)
		datatype = leaf_datatype(c, &s->types[i], n);
	return datatype;
}

tel_status
tel__compile_value(struct compiler *c, const struct tel_type *type,
    struct program *out)
{
	const struct node *root = &c->tree->nodes[c->tree->root];
	enum tel_datatype datatype = TEL_UNSIGNED;

	begin_type(c, type);
	compile_put_value(c, c->tree->root);
	if (root->op == N_FIELD || root->op == N_DERIVED)
		datatype = leaf_datatype(c, type, root);
	else if (root->op == N_START)
		datatype = start_datatype(c, &c->tree->nodes[root->a]);
	else if (root->op >= N_CONTAINS && root->op != N_UNARY &&
	    root->op != N_ARITHMETIC)
		datatype = TEL_BOOLEAN;
	tel_status st = finish_type(c, c->count - 1, out);
	if (st == TEL_OK)
		out->ops[out->count - 1].yes = out->ops[out->count - 1].no =
		    GO_ACCEPT;
	out->datatype = (uint8_t)datatype;
	return st;
}

tel_status
tel__compile_starts(struct compiler *c, const struct tel_type *type,
    struct op *out)
{
	begin_type(c, type);
	for (uint32_t i = 0; i < c->tree->nnodes && !c->failed; i++) {
		const struct node *n = &c->tree->nodes[i];

		if (n->op != N_START)
			continue;
		/* a leaf is one op */
		c->count = 0;
		compile_put_value(c, n->a);
		if (!c->failed)
			out[n->first] = c->ops[0];
	}
	return c->failed ? TEL_ENOMEM : TEL_OK;
}

void
tel__program_clear(struct program *p)
{
	free(p->ops);
	p->ops = NULL;
}
