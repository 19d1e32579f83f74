/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The leaves of expressions: literals, and names, which are fields unless they
 * are predefined, derived, or the word that kind and name are compared with.
 */
#include "query/leaf.h"

#include <string.h>

#include "base/array.h"

/* The symbol of a field, the same one for the same name and use. */
static uint32_t
leaf_symbol(struct parser *p, const char *name, int checked,
    enum symbol_use use, unsigned column)
{
	struct tree *t = p->tree;

	for (uint32_t i = 0; i < t->nsymbols; i++) {
		struct symbol *s = &t->symbols[i];

		if (s->checked == checked && s->use == use &&
		    strcmp(s->name, name) == 0)
			return i;
	}
	if (!TEL__RESERVE(t->symbols, t->symbol_room,
	        (size_t)t->nsymbols + 1)) {
		p->status = TEL_ENOMEM;
		return 0;
	}
	struct symbol *s = &t->symbols[t->nsymbols];
	memset(s, 0, sizeof(*s));
	s->name = name;
	s->column = column;
	s->checked = (uint8_t)checked;
	s->use = (uint8_t)use;
	return t->nsymbols++;
}

static uint32_t
leaf_field(struct parser *p, enum node_op op, const struct token *t)
{
	uint32_t node = tel__parser_add(p, op, 0, 0, t->column), symbol;
	int checked = t->kind != T_STRING;
	const char *name = checked ? t->s : t->value.as.s;

	if (p->status != TEL_OK)
		return 0;
	symbol = leaf_symbol(p, name, checked,
	    op == N_LABEL ? USE_LABEL : USE_VALUE, t->column);
	p->tree->nodes[node].symbol = symbol;
	return node;
}

static uint32_t
leaf_const(struct parser *p, struct value v, unsigned column)
{
	uint32_t node = tel__parser_add(p, N_CONST, 0, 0, column);

	if (p->status == TEL_OK)
		p->tree->nodes[node].value = v;
	return node;
}

/* What a is worth for the event that began the one at hand. */
static uint32_t
leaf_start(struct parser *p, uint32_t a, unsigned column)
{
	const uint32_t node = tel__parser_add(p, N_START, a, 0, column);
	struct tree *t = p->tree;

	if (p->status != TEL_OK)
		return 0;
	struct node *n = &t->nodes[node];
	n->first = t->nstarts++;
	n->builtin =
	    t->nodes[a].op == N_BUILTIN ? t->nodes[a].builtin : B_COUNT;
	t->uses_before = t->uses_history = 1;
	return node;
}

static int
leaf_is_start(const struct parser *p, const struct token *t)
{
	return t->kind == T_NAME && strcmp(t->s, "start") == 0 &&
	    p->token.kind == T_FIELD;
}

/* field(x), label(x): x is a name, .name or "name"; label(start.x). */
static uint32_t
leaf_call(struct parser *p, enum node_op op, const char *called)
{
	const unsigned column = p->token.column;
	int of_start = 0;

	tel__parser_expect(p, T_LPAREN, "expected '('");
	struct token t = p->token;
	if (p->status == TEL_OK && t.kind != T_NAME && t.kind != T_FIELD &&
	    t.kind != T_STRING)
		tel__parser_fail(p, TEL_EINVAL, t.column,
		    "%s() requires the name of a field", called);
	tel__parser_next(p);
	if (op == N_LABEL && leaf_is_start(p, &t)) {
		of_start = 1;
		t = p->token;
		tel__parser_next(p);
	}
	uint32_t node = leaf_field(p, op, &t);
	tel__parser_expect(p, T_RPAREN, "expected ')'");
	return of_start ? leaf_start(p, node, column) : node;
}

static uint32_t
leaf_has(struct parser *p)
{
	static const char wrong[] =
	    "has() requires a field or a predefined name";
	uint32_t node;

	tel__parser_expect(p, T_LPAREN, "expected '('");
	struct token t = p->token;
	if (p->status != TEL_OK)
		return 0;
	/* has(has(...)) is invalid, and would recurse without a bound */
	if (t.kind != T_STRING && t.kind != T_FIELD &&
	    (t.kind != T_NAME || strcmp(t.s, "has") == 0))
		tel__parser_fail(p, TEL_EINVAL, t.column, wrong);
	if (t.kind == T_STRING) {
		tel__parser_next(p);
		node = leaf_field(p, N_FIELD, &t);
	} else {
		node = tel__leaf_parse(p);
	}
	if (p->status == TEL_OK && p->tree->nodes[node].op == N_CONST)
		tel__parser_fail(p, TEL_EINVAL, t.column, wrong);
	tel__parser_expect(p, T_RPAREN, "expected ')'");
	if (p->status == TEL_OK) {
		struct node *nodes = p->tree->nodes;

		nodes[nodes[node].op == N_START ? nodes[node].a : node].flags |=
		    NODE_HAS;
	}
	return tel__parser_add(p, N_HAS, node, 0, t.column);
}

/* What a name is predefined as; B_COUNT: nothing. */
static enum builtin
leaf_find_builtin(const struct parser *p, const char *name)
{
	unsigned b = 0;

	if (p->type_is_name && strcmp(name, "type") == 0)
		return B_NAME;
	while (b < B_COUNT &&
	    strcmp(name, tel__builtin_name((enum builtin)b)) != 0)
		b++;
	return (enum builtin)b;
}

static uint32_t
leaf_builtin(struct parser *p, enum builtin b, unsigned column)
{
	struct token name = { 0 };
	uint32_t node;

	/* where a format has these they are fields like any other */
	if (b == B_CPU || b == B_TID || b == B_PID) {
		name.kind = T_STRING;
		name.column = column;
		name.value = value_string(tel__builtin_name(b),
		    strlen(tel__builtin_name(b)));
		return leaf_field(p, N_FIELD, &name);
	}
	if (b == B_LABEL && p->token.kind == T_LPAREN)
		return leaf_call(p, N_LABEL, "label");
	node = tel__parser_add(p, b == B_LABEL ? N_LABELS : N_BUILTIN, 0, 0,
	    column);
	if (p->status != TEL_OK)
		return 0;
	p->tree->nodes[node].builtin = (uint8_t)b;
	if (b == B_DT)
		p->tree->uses_before = 1;
	if (b == B_DT || b == B_TIME)
		p->tree->uses_rate = 1;
	return node;
}

/* Makes a node that has its symbol one that is derived. */
static void
leaf_derive(struct tree *t, struct node *n, enum derived d)
{
	n->op = N_DERIVED;
	n->builtin = (uint8_t)d;
	t->uses_before = t->uses_history = 1;
	t->uses_rate |= d == D_DURATION;
}

static uint32_t
leaf_derived(struct parser *p, enum derived d, const char *name,
    unsigned column)
{
	const uint32_t node = tel__parser_add(p, N_DERIVED, 0, 0, column);
	const uint32_t symbol = leaf_symbol(p, name, 0, USE_DERIVED, column);

	if (p->status != TEL_OK)
		return 0;
	p->tree->nodes[node].symbol = symbol;
	leaf_derive(p->tree, &p->tree->nodes[node], d);
	return node;
}

/* start.x, where the next token is .x. */
static uint32_t
leaf_of_start(struct parser *p, unsigned column)
{
	static const char *const not_of_start[] = { "allocates", "bytes", "dt",
		"duration", "frees", "label", "live" };
	struct token t = p->token;
	uint32_t node;
	unsigned i;

	tel__parser_next(p);
	for (i = 0; i < sizeof(not_of_start) / sizeof(not_of_start[0]); i++)
		if (strcmp(t.s, not_of_start[i]) == 0)
			tel__parser_fail(p, TEL_EINVAL, t.column,
			    "start has no %s%s", t.s,
			    not_of_start[i][0] == 'l' &&
			            not_of_start[i][1] == 'a' ?
			        "; expected label(start.field)" :
			        "");
	enum builtin b = leaf_find_builtin(p, t.s);
	if (b < B_COUNT)
		node = leaf_builtin(p, b, t.column);
	else if (tel__derived_find(t.s) != D_COUNT)
		node = leaf_derived(p, tel__derived_find(t.s), t.s, t.column);
	else
		node = leaf_field(p, N_FIELD, &t);
	return leaf_start(p, node, column);
}

static uint32_t
leaf_of_name(struct parser *p, const struct token *t)
{
	uint32_t node;

	if (strcmp(t->s, "true") == 0 || strcmp(t->s, "false") == 0)
		return leaf_const(p, value_natural(t->s[0] == 't'), t->column);
	if (strcmp(t->s, "has") == 0)
		return leaf_has(p);
	if (strcmp(t->s, "field") == 0)
		return leaf_call(p, N_FIELD, "field");
	/* len and has may be fields as well */
	if (strcmp(t->s, "len") == 0 && p->token.kind == T_LPAREN)
		return leaf_call(p, N_LENGTH, "len");
	enum builtin b = leaf_find_builtin(p, t->s);
	if (b < B_COUNT)
		return leaf_builtin(p, b, t->column);
	if (leaf_is_start(p, t))
		return leaf_of_start(p, t->column);
	if (p->token.kind == T_LPAREN) {
		tel__parser_fail(p, TEL_EINVAL, t->column,
		    "unknown function '%.64s'; expected has, label or field",
		    t->s);
		return 0;
	}
	/* a field, unless it turns out to be compared with kind or name */
	node = leaf_const(p, value_string(t->s, strlen(t->s)), t->column);
	if (p->status == TEL_OK) {
		p->tree->nodes[node].op = N_FIELD;
		p->tree->nodes[node].flags = NODE_BARE;
	}
	return node;
}

uint32_t
tel__leaf_named(struct parser *p, enum node_op op, const struct token *t)
{
	const uint32_t node =
	    leaf_const(p, value_string(t->s, strlen(t->s)), t->column);

	if (p->status != TEL_OK)
		return 0;
	p->tree->nodes[node].op = (uint8_t)op;
	p->tree->nodes[node].symbol =
	    leaf_symbol(p, t->s, 1, USE_VALUE, t->column);
	return node;
}

/* "[NUMBER]" behind the name of a list. */
static uint32_t
leaf_element(struct parser *p, const struct token *t)
{
	const uint32_t node = tel__leaf_named(p, N_ELEMENT, t);

	tel__parser_next(p);
	struct token i = p->token;
	if (i.kind != T_NUMBER || i.value.tag != V_NATURAL ||
	    i.value.as.u > UINT32_MAX) {
		tel__parser_fail(p, TEL_EINVAL, i.column,
		    "expected the number of an element, from 0");
		return 0;
	}
	tel__parser_next(p);
	tel__parser_expect(p, T_RBRACKET, "expected ']'");
	if (p->status == TEL_OK)
		p->tree->nodes[node].first = (uint32_t)i.value.as.u;
	return node;
}

uint32_t
tel__leaf_parse(struct parser *p)
{
	struct token t = p->token;

	if (p->status != TEL_OK)
		return 0;
	if (t.kind == T_END) {
		tel__parser_fail(p, TEL_EINVAL, t.column,
		    "expected an operand at the end of the expression");
		return 0;
	}
	if (t.kind != T_NUMBER && t.kind != T_STRING && t.kind != T_FIELD &&
	    (t.kind != T_NAME || strcmp(t.s, "in") == 0)) {
		tel__parser_fail(p, TEL_EINVAL, t.column,
		    "expected an operand");
		return 0;
	}
	tel__parser_next(p);
	if (p->status != TEL_OK)
		return 0;
	if ((t.kind == T_FIELD || t.kind == T_NAME) &&
	    p->token.kind == T_LBRACKET)
		return leaf_element(p, &t);
	if (t.kind == T_FIELD)
		return leaf_field(p, N_FIELD, &t);
	if (t.kind == T_NAME)
		return leaf_of_name(p, &t);
	return leaf_const(p, t.value, t.column);
}

/* A name that is still bare becomes a field, or a derived value. */
static void
leaf_settle_name(struct parser *p, uint32_t node)
{
	struct tree *t = p->tree;
	const struct node n = t->nodes[node];
	const enum derived d = tel__derived_find(n.value.as.s);
	const uint32_t symbol = leaf_symbol(p, n.value.as.s, d == D_COUNT,
	    d == D_COUNT ? USE_VALUE : USE_DERIVED, n.column);

	t->nodes[node].symbol = symbol;
	if (d == D_COUNT)
		return;
	leaf_derive(t, &t->nodes[node], d);
}

/* A field beside a string is its label, if it is an enum. */
static void
leaf_settle_text(struct parser *p, const struct node *test)
{
	struct tree *t = p->tree;
	const struct node *right =
	    &t->nodes[test->op == N_IN ? t->items[test->first].lo : test->b];
	uint32_t at = test->a, symbol;

	if (t->nodes[at].op == N_START)
		at = t->nodes[at].a;
	if (t->nodes[at].op != N_FIELD ||
	    (test->op != N_MATCH &&
	        (right->op != N_CONST || right->value.tag != V_STRING)))
		return;
	const struct symbol *s = &t->symbols[t->nodes[at].symbol];
	symbol = leaf_symbol(p, s->name, s->checked, USE_TEXT, s->column);
	t->nodes[at].symbol = symbol;
}

void
tel__leaf_settle(struct parser *p)
{
	struct tree *t = p->tree;

	for (uint32_t i = 0; i < t->nnodes && p->status == TEL_OK; i++) {
		struct node *n = &t->nodes[i];

		if (n->op == N_FIELD && (n->flags & NODE_BARE) != 0)
			leaf_settle_name(p, i);
		else if (n->op == N_COMPARE || n->op == N_MATCH ||
		    n->op == N_IN)
			leaf_settle_text(p, n);
	}
}
