/* SPDX-License-Identifier: BSD-2-Clause */
/* The leaves of an expression: literals, and what an event has by name. */
#include "query/build.h"

#include <stdlib.h>
#include <string.h>

static const char *const builtins[B_COUNT] = { "kind", "name", "code", "time",
	"clock", "dt", "index", "cpu", "tid", "pid", "sizeof", "label" };

const char *
tel__builtin_name(enum builtin b)
{
	return builtins[b];
}

/* The symbol of a field, the same one for the same name and use. */
static uint32_t
add_symbol(struct parser *p, const char *name, int checked, int labelled,
    unsigned column)
{
	struct tree *t = p->tree;
	struct symbol *s;
	uint32_t i;
	void *v;

	for (i = 0; i < t->nsymbols; i++) {
		s = &t->symbols[i];
		if (s->checked == checked && s->labelled == labelled &&
		    strcmp(s->name, name) == 0)
			return i;
	}
	if (t->nsymbols % 16 == 0) {
		v = realloc(t->symbols, (t->nsymbols + 16) * sizeof(*s));
		if (v == NULL) {
			p->status = TEL_ENOMEM;
			return 0;
		}
		t->symbols = v;
	}
	s = &t->symbols[t->nsymbols];
	memset(s, 0, sizeof(*s));
	s->name = name;
	s->column = column;
	s->checked = (uint8_t)checked;
	s->labelled = (uint8_t)labelled;
	return t->nsymbols++;
}

static uint32_t
add_field(struct parser *p, enum node_op op, const struct token *t)
{
	uint32_t node = tel__parser_add(p, op, 0, 0, t->column), symbol;
	int checked = t->kind != T_STRING;
	const char *name = checked ? t->s : t->value.as.s;

	if (p->status != TEL_OK)
		return 0;
	symbol = add_symbol(p, name, checked, op == N_LABEL, t->column);
	p->tree->nodes[node].symbol = symbol;
	return node;
}

static uint32_t
add_const(struct parser *p, struct value v, unsigned column)
{
	uint32_t node = tel__parser_add(p, N_CONST, 0, 0, column);

	if (p->status == TEL_OK)
		p->tree->nodes[node].value = v;
	return node;
}

/* field(x), label(x): x is a name, .name or "name". */
static uint32_t
call_of_field(struct parser *p, enum node_op op, const char *called)
{
	struct token t;
	uint32_t node;

	tel__parser_expect(p, T_LPAREN, "'(' should be here");
	t = p->token;
	if (p->status == TEL_OK && t.kind != T_NAME && t.kind != T_FIELD &&
	    t.kind != T_STRING)
		tel__parser_fail(p, TEL_EINVAL, t.column,
		    "%s() takes the name of a field", called);
	tel__parser_next(p);
	node = add_field(p, op, &t);
	tel__parser_expect(p, T_RPAREN, "')' should be here");
	return node;
}

static uint32_t
call_has(struct parser *p)
{
	static const char wrong[] = "has() takes a field or a builtin name";
	struct token t;
	uint32_t node;

	tel__parser_expect(p, T_LPAREN, "'(' should be here");
	t = p->token;
	if (p->status != TEL_OK)
		return 0;
	/* has(has(...)) makes no sense, and would recurse without a bound */
	if (t.kind != T_STRING && t.kind != T_FIELD &&
	    (t.kind != T_NAME || strcmp(t.s, "has") == 0))
		tel__parser_fail(p, TEL_EINVAL, t.column, wrong);
	if (t.kind == T_STRING) {
		tel__parser_next(p);
		node = add_field(p, N_FIELD, &t);
	} else {
		node = tel__parser_leaf(p);
	}
	if (p->status == TEL_OK && p->tree->nodes[node].op == N_CONST)
		tel__parser_fail(p, TEL_EINVAL, t.column, wrong);
	tel__parser_expect(p, T_RPAREN, "')' should be here");
	return tel__parser_add(p, N_HAS, node, 0, t.column);
}

static uint32_t
add_builtin(struct parser *p, enum builtin b, unsigned column)
{
	struct token name = { 0 };
	uint32_t node;

	/* where a format has these they are fields like any other */
	if (b == B_CPU || b == B_TID || b == B_PID) {
		name.kind = T_STRING;
		name.column = column;
		name.value = value_string(builtins[b], strlen(builtins[b]));
		return add_field(p, N_FIELD, &name);
	}
	if (b == B_LABEL && p->token.kind == T_LPAREN)
		return call_of_field(p, N_LABEL, "label");
	node = tel__parser_add(p, b == B_LABEL ? N_LABELS : N_BUILTIN, 0, 0,
	    column);
	if (p->status != TEL_OK)
		return 0;
	p->tree->nodes[node].builtin = (uint8_t)b;
	if (b == B_DT)
		p->tree->uses_dt = 1;
	if (b == B_DT || b == B_TIME)
		p->tree->uses_rate = 1;
	return node;
}

static uint32_t
leaf_of_name(struct parser *p, const struct token *t)
{
	uint32_t node;
	unsigned b;

	if (strcmp(t->s, "true") == 0 || strcmp(t->s, "false") == 0)
		return add_const(p, value_natural(t->s[0] == 't'), t->column);
	if (strcmp(t->s, "has") == 0)
		return call_has(p);
	if (strcmp(t->s, "field") == 0)
		return call_of_field(p, N_FIELD, "field");
	for (b = 0; b < B_COUNT; b++)
		if (strcmp(t->s, builtins[b]) == 0)
			return add_builtin(p, (enum builtin)b, t->column);
	if (p->token.kind == T_LPAREN) {
		tel__parser_fail(p, TEL_EINVAL, t->column,
		    "there is no function '%.64s': there are has, label and "
		    "field",
		    t->s);
		return 0;
	}
	/* a field, unless it turns out to stand beside kind or name */
	node = add_const(p, value_string(t->s, strlen(t->s)), t->column);
	if (p->status == TEL_OK) {
		p->tree->nodes[node].op = N_FIELD;
		p->tree->nodes[node].flags = NODE_BARE;
	}
	return node;
}

uint32_t
tel__parser_leaf(struct parser *p)
{
	struct token t = p->token;

	if (p->status != TEL_OK)
		return 0;
	if (t.kind == T_END) {
		tel__parser_fail(p, TEL_EINVAL, t.column,
		    "the expression ends where an operand should be");
		return 0;
	}
	if (t.kind != T_NUMBER && t.kind != T_STRING && t.kind != T_FIELD &&
	    (t.kind != T_NAME || strcmp(t.s, "in") == 0)) {
		tel__parser_fail(p, TEL_EINVAL, t.column,
		    "an operand should be here");
		return 0;
	}
	tel__parser_next(p);
	if (p->status != TEL_OK)
		return 0;
	if (t.kind == T_FIELD)
		return add_field(p, N_FIELD, &t);
	if (t.kind == T_NAME)
		return leaf_of_name(p, &t);
	return add_const(p, t.value, t.column);
}

static uint32_t
most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* How many values are on the stack at once while a node is evaluated. */
static uint32_t
stack_of(const struct tree *t, const struct node *n)
{
	const struct item *item;
	uint32_t need = most(1, t->nodes[n->a].stack), i;

	switch ((enum node_op)n->op) {
	case N_ARITHMETIC:
	case N_COMPARE:
	case N_AND:
	case N_OR: return most(need, 1 + t->nodes[n->b].stack);
	case N_IN:
		/* below an item lie the value and the verdict so far */
		for (i = 0; i < n->count; i++) {
			item = &t->items[n->first + i];
			need = most(need, 2 + t->nodes[item->lo].stack);
			need = most(need, 3 + t->nodes[item->hi].stack);
		}
		return need;
	case N_HAS:
	case N_NOT:
	case N_UNARY:
	case N_MATCH: return need;
	default: return 1;
	}
}

void
tel__parser_settle(struct parser *p)
{
	struct tree *t = p->tree;
	struct node *n;
	uint32_t i;

	for (i = 0; i < t->nnodes && p->status == TEL_OK; i++) {
		n = &t->nodes[i];
		if (n->op == N_FIELD && (n->flags & NODE_BARE) != 0)
			n->symbol =
			    add_symbol(p, n->value.as.s, 1, 0, n->column);
		n->stack = stack_of(t, n);
	}
}
