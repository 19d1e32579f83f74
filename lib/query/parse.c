/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser: precedence climbing over the grammar in tel-filter(7).  What
 * recurses is bounded by DEPTH_MAX parentheses and prefixes, times the levels
 * of precedence.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/tree.h"

/*
 * The state of the parser.  After a failure every function does nothing, and
 * returns node 0.
 */
struct parser {
	struct lexer lexer;
	struct token token; /* the next one */
	struct tree *tree;
	struct fail *fail;
	tel_status status; /* the first failure stays */
	unsigned depth;
};

/* The items of a list while it is read; free(list.items) in the end. */
struct list {
	struct item *items;
	uint32_t count;
	size_t room;
};

/* ---------------------------------------------------------------- tree */

/* Returns 0 on failure: see p->status. */
static int
start_parser(struct parser *p, const char *text, struct fail *fail)
{
	size_t length = strlen(text);

	memset(p, 0, sizeof(*p));
	p->fail = fail;
	if (length > TEXT_MAX) {
		p->status = tel__fail_set(fail, TEL_ELIMIT, text, 0,
		    "the expression is longer than %zu bytes", TEXT_MAX);
		return 0;
	}
	p->tree = calloc(1, sizeof(*p->tree));
	if (p->tree != NULL) {
		p->tree->text = tel__copy_string(text, length);
		p->tree->words = malloc(length + 2);
	}
	if (p->tree == NULL || p->tree->text == NULL ||
	    p->tree->words == NULL ||
	    !TEL__RESERVE(p->tree->nodes, p->tree->node_room, 1)) {
		p->status = TEL_ENOMEM;
		return 0;
	}
	memset(&p->tree->nodes[0], 0, sizeof(p->tree->nodes[0]));
	p->lexer.text = p->lexer.p = p->tree->text;
	p->lexer.words = p->tree->words;
	return 1;
}

__attribute__((format(printf, 4, 5))) static void
parse_fail(struct parser *p, tel_status status, unsigned column,
    const char *format, ...)
{
	char message[256];
	va_list ap;

	if (p->status != TEL_OK)
		return;
	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	p->status = tel__fail_set(p->fail, status, p->tree->text, column, "%s",
	    message);
}

static void
parse_next(struct parser *p)
{
	const char *why;

	if (p->status != TEL_OK)
		return;
	why = tel__lexer_next(&p->lexer, &p->token);
	if (why != NULL)
		parse_fail(p, TEL_EINVAL, p->lexer.error_column, "%s", why);
}

/* Steps over a token of that kind, if it is the next, and says whether. */
static int
parse_take(struct parser *p, enum token_kind kind)
{
	if (p->status != TEL_OK || p->token.kind != kind)
		return 0;
	parse_next(p);
	return 1;
}

/* Steps over a token of that kind, or fails with the message. */
static void
expect(struct parser *p, enum token_kind kind, const char *message)
{
	if (p->status == TEL_OK && !parse_take(p, kind))
		parse_fail(p, TEL_EINVAL, p->token.column, "%s", message);
}

/* A node with operands; fails past the limit. */
static uint32_t
add_node(struct parser *p, enum node_op op, uint32_t a, uint32_t b,
    unsigned column)
{
	struct tree *t = p->tree;
	struct node *n;

	if (p->status != TEL_OK)
		return 0;
	if (t->nnodes == NODES_MAX) {
		parse_fail(p, TEL_ELIMIT, column,
		    "the expression has more than %u parts", NODES_MAX);
		return 0;
	}
	if (!TEL__RESERVE(t->nodes, t->node_room, (size_t)t->nnodes + 1)) {
		p->status = TEL_ENOMEM;
		return 0;
	}
	n = &t->nodes[t->nnodes];
	memset(n, 0, sizeof(*n));
	n->op = (uint8_t)op;
	n->a = a;
	n->b = b;
	n->column = column;
	return t->nnodes++;
}

/* A prefix operator; a literal takes it in. */
static uint32_t
add_unary(struct parser *p, enum value_op op, uint32_t a, unsigned column)
{
	struct node *n;
	struct value v;

	if (p->status != TEL_OK)
		return 0;
	n = &p->tree->nodes[a];
	if (n->op == N_CONST &&
	    (n->value.tag == V_NATURAL || n->value.tag == V_NEGATIVE)) {
		v = tel__value_unary(op, &n->value);
		if (v.tag == V_MISSING)
			parse_fail(p, TEL_EINVAL, column,
			    "the number is less than -2^63");
		n->value = v;
		n->column = column;
		return a;
	}
	a = add_node(p, N_UNARY, a, 0, column);
	if (p->status == TEL_OK)
		p->tree->nodes[a].opr = (uint8_t)op;
	return a;
}

/* A bare name compared with kind or name is that of a kind or a type. */
static void
make_word(struct parser *p, const struct node *beside, uint32_t node)
{
	struct node *n = &p->tree->nodes[node];

	if ((beside->op != N_BUILTIN && beside->op != N_START) ||
	    (n->flags & NODE_BARE) == 0)
		return;
	if (beside->builtin != B_KIND && beside->builtin != B_NAME)
		return;
	n->op = N_CONST;
	n->flags = beside->builtin == B_KIND ? NODE_KIND_WORD : NODE_TYPE_WORD;
}

static int
is_kind(const struct node *n)
{
	return (n->op == N_BUILTIN || n->op == N_START) && n->builtin == B_KIND;
}

static enum value_op
mirrored(enum value_op op)
{
	switch (op) {
	case OPR_LT: return OPR_GT;
	case OPR_LE: return OPR_GE;
	case OPR_GT: return OPR_LT;
	case OPR_GE: return OPR_LE;
	default: return op;
	}
}

/* A comparison; bare words against kind and name are not fields. */
static uint32_t
add_compare(struct parser *p, enum value_op op, uint32_t a, uint32_t b,
    unsigned column)
{
	struct node *nodes;
	uint32_t c;

	if (p->status != TEL_OK)
		return 0;
	nodes = p->tree->nodes;
	make_word(p, &nodes[a], b);
	make_word(p, &nodes[b], a);
	if (nodes[a].op == N_CONST && nodes[b].op != N_CONST) {
		/* a literal on the left goes right: fewer cases below */
		c = a;
		a = b;
		b = c;
		op = mirrored(op);
	}
	c = add_node(p, N_COMPARE, a, b, column);
	if (p->status != TEL_OK)
		return 0;
	nodes = p->tree->nodes;
	nodes[c].opr = (uint8_t)op;
	if (is_kind(&nodes[a]) || is_kind(&nodes[b]))
		nodes[c].flags |= NODE_ANY_CASE;
	return c;
}

static void
add_pattern(struct parser *p, uint32_t node, const struct token *t)
{
	struct tree *tree = p->tree;
	const struct value *v = &p->token.value;
	int glob = t->kind == T_GLOB || t->kind == T_GLOB_NOT;
	char buffer[160];
	struct pattern *made;
	const char *why;

	made = calloc(1, sizeof(*made));
	if (made == NULL ||
	    !TEL__RESERVE(tree->patterns, tree->pattern_room,
	        (size_t)tree->npatterns + 1)) {
		free(made);
		p->status = TEL_ENOMEM;
		return;
	}
	tree->patterns[tree->npatterns] = made;
	tree->nodes[node].pattern = tree->npatterns++;
	why = glob ? tel__pattern_glob(made, v->as.s, v->length) :
	             tel__pattern_regex(made, v->as.s, v->length, buffer,
	                 sizeof(buffer));
	if (why != NULL)
		parse_fail(p, TEL_EINVAL, p->token.column, "%s", why);
	else if (made->kind == PATTERN_REGEX)
		tree->uses_regex = 1;
}

/* ~ !~ =* !*, which t is; the pattern is the next token. */
static uint32_t
add_match(struct parser *p, uint32_t a, const struct token *t)
{
	uint32_t node = add_node(p, N_MATCH, a, 0, t->column);

	if (p->status != TEL_OK)
		return 0;
	if (p->token.kind != T_STRING)
		parse_fail(p, TEL_EINVAL, p->token.column,
		    "expected a pattern in quotes");
	else
		add_pattern(p, node, t);
	if (t->kind == T_MATCH_NOT || t->kind == T_GLOB_NOT)
		p->tree->nodes[node].flags |= NODE_NEGATE;
	parse_next(p);
	return node;
}

/* Puts an item at the end of the list. */
static void
add_item(struct parser *p, struct list *list, const struct item *item)
{
	if (p->status != TEL_OK)
		return;
	if (list->count == LIST_MAX) {
		parse_fail(p, TEL_ELIMIT, p->tree->nodes[item->lo].column,
		    "the list has more than %u items", LIST_MAX);
		return;
	}
	if (TEL__RESERVE(list->items, list->room, (size_t)list->count + 1))
		list->items[list->count++] = *item;
	else
		p->status = TEL_ENOMEM;
}

/*
 * The plain integers of a list as a set: NULL when it holds anything else,
 * or there is no memory.
 */
static struct set *
plain_set(const struct tree *t, const struct list *list)
{
	struct span *spans = malloc(list->count * sizeof(*spans));
	const struct value *lo, *hi;
	struct set *set = NULL;
	uint32_t i;

	for (i = 0; spans != NULL && i < list->count; i++) {
		lo = &t->nodes[list->items[i].lo].value;
		hi = &t->nodes[list->items[i].hi].value;
		if (lo->tag != V_NATURAL || hi->tag != V_NATURAL)
			break;
		spans[i].lo = lo->as.u;
		spans[i].hi = hi->as.u;
	}
	if (spans != NULL && i == list->count)
		set = tel__set_new(spans, list->count);
	free(spans);
	return set;
}

/* The node of "a in list". */
static uint32_t
add_in(struct parser *p, uint32_t a, const struct list *list, unsigned column)
{
	uint32_t node = add_node(p, N_IN, a, 0, column), i;
	struct tree *t = p->tree;

	if (p->status != TEL_OK)
		return 0;
	t->nodes[node].first = t->nitems;
	t->nodes[node].count = list->count;
	for (i = 0; i < list->count && p->status == TEL_OK; i++) {
		make_word(p, &t->nodes[a], list->items[i].lo);
		make_word(p, &t->nodes[a], list->items[i].hi);
		if (TEL__RESERVE(t->items, t->item_room, (size_t)t->nitems + 1))
			t->items[t->nitems++] = list->items[i];
		else
			p->status = TEL_ENOMEM;
	}
	if (is_kind(&t->nodes[a]))
		t->nodes[node].flags |= NODE_ANY_CASE;
	t->nodes[node].set = plain_set(t, list);
	return node;
}

/* -------------------------------------------------------------- leaves */

/* The symbol of a field, the same one for the same name and use. */
static uint32_t
add_symbol(struct parser *p, const char *name, int checked, enum symbol_use use,
    unsigned column)
{
	struct tree *t = p->tree;
	struct symbol *s;
	uint32_t i;

	for (i = 0; i < t->nsymbols; i++) {
		s = &t->symbols[i];
		if (s->checked == checked && s->use == use &&
		    strcmp(s->name, name) == 0)
			return i;
	}
	if (!TEL__RESERVE(t->symbols, t->symbol_room,
	        (size_t)t->nsymbols + 1)) {
		p->status = TEL_ENOMEM;
		return 0;
	}
	s = &t->symbols[t->nsymbols];
	memset(s, 0, sizeof(*s));
	s->name = name;
	s->column = column;
	s->checked = (uint8_t)checked;
	s->use = (uint8_t)use;
	return t->nsymbols++;
}

static uint32_t
add_field(struct parser *p, enum node_op op, const struct token *t)
{
	uint32_t node = add_node(p, op, 0, 0, t->column), symbol;
	int checked = t->kind != T_STRING;
	const char *name = checked ? t->s : t->value.as.s;

	if (p->status != TEL_OK)
		return 0;
	symbol = add_symbol(p, name, checked,
	    op == N_LABEL ? USE_LABEL : USE_VALUE, t->column);
	p->tree->nodes[node].symbol = symbol;
	return node;
}

static uint32_t
add_const(struct parser *p, struct value v, unsigned column)
{
	uint32_t node = add_node(p, N_CONST, 0, 0, column);

	if (p->status == TEL_OK)
		p->tree->nodes[node].value = v;
	return node;
}

static uint32_t parse_leaf(struct parser *p);

/* What a is worth for the event that began the one at hand. */
static uint32_t
add_start(struct parser *p, uint32_t a, unsigned column)
{
	const uint32_t node = add_node(p, N_START, a, 0, column);
	struct tree *t = p->tree;
	struct node *n;

	if (p->status != TEL_OK)
		return 0;
	n = &t->nodes[node];
	n->first = t->nstarts++;
	n->builtin =
	    t->nodes[a].op == N_BUILTIN ? t->nodes[a].builtin : B_COUNT;
	t->uses_before = t->uses_history = 1;
	return node;
}

static int
is_start(const struct parser *p, const struct token *t)
{
	return t->kind == T_NAME && strcmp(t->s, "start") == 0 &&
	    p->token.kind == T_FIELD;
}

/* field(x), label(x): x is a name, .name or "name"; label(start.x). */
static uint32_t
call_of_field(struct parser *p, enum node_op op, const char *called)
{
	const unsigned column = p->token.column;
	int of_start = 0;
	struct token t;
	uint32_t node;

	expect(p, T_LPAREN, "expected '('");
	t = p->token;
	if (p->status == TEL_OK && t.kind != T_NAME && t.kind != T_FIELD &&
	    t.kind != T_STRING)
		parse_fail(p, TEL_EINVAL, t.column,
		    "%s() requires the name of a field", called);
	parse_next(p);
	if (op == N_LABEL && is_start(p, &t)) {
		of_start = 1;
		t = p->token;
		parse_next(p);
	}
	node = add_field(p, op, &t);
	expect(p, T_RPAREN, "expected ')'");
	return of_start ? add_start(p, node, column) : node;
}

static uint32_t
call_has(struct parser *p)
{
	static const char wrong[] =
	    "has() requires a field or a predefined name";
	struct token t;
	uint32_t node;

	expect(p, T_LPAREN, "expected '('");
	t = p->token;
	if (p->status != TEL_OK)
		return 0;
	/* has(has(...)) is invalid, and would recurse without a bound */
	if (t.kind != T_STRING && t.kind != T_FIELD &&
	    (t.kind != T_NAME || strcmp(t.s, "has") == 0))
		parse_fail(p, TEL_EINVAL, t.column, wrong);
	if (t.kind == T_STRING) {
		parse_next(p);
		node = add_field(p, N_FIELD, &t);
	} else {
		node = parse_leaf(p);
	}
	if (p->status == TEL_OK && p->tree->nodes[node].op == N_CONST)
		parse_fail(p, TEL_EINVAL, t.column, wrong);
	expect(p, T_RPAREN, "expected ')'");
	return add_node(p, N_HAS, node, 0, t.column);
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
		name.value = value_string(tel__builtin_name(b),
		    strlen(tel__builtin_name(b)));
		return add_field(p, N_FIELD, &name);
	}
	if (b == B_LABEL && p->token.kind == T_LPAREN)
		return call_of_field(p, N_LABEL, "label");
	node = add_node(p, b == B_LABEL ? N_LABELS : N_BUILTIN, 0, 0, column);
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
parse_derive(struct tree *t, struct node *n, enum derived d)
{
	n->op = N_DERIVED;
	n->builtin = (uint8_t)d;
	t->uses_before = t->uses_history = 1;
	t->uses_rate |= d == D_DURATION;
}

static uint32_t
add_derived(struct parser *p, enum derived d, const char *name, unsigned column)
{
	const uint32_t node = add_node(p, N_DERIVED, 0, 0, column);
	const uint32_t symbol = add_symbol(p, name, 0, USE_VALUE, column);

	if (p->status != TEL_OK)
		return 0;
	p->tree->nodes[node].symbol = symbol;
	parse_derive(p->tree, &p->tree->nodes[node], d);
	return node;
}

/* start.x, where the next token is .x. */
static uint32_t
parse_start(struct parser *p, unsigned column)
{
	static const char *const not_of_start[] = { "allocates", "bytes", "dt",
		"duration", "frees", "label", "live" };
	struct token t = p->token;
	unsigned i;
	uint32_t node;

	parse_next(p);
	for (i = 0; i < sizeof(not_of_start) / sizeof(not_of_start[0]); i++)
		if (strcmp(t.s, not_of_start[i]) == 0)
			parse_fail(p, TEL_EINVAL, t.column, "start has no %s%s",
			    t.s,
			    not_of_start[i][0] == 'l' &&
			            not_of_start[i][1] == 'a' ?
			        "; expected label(start.field)" :
			        "");
	for (i = 0; i < B_COUNT; i++)
		if (strcmp(t.s, tel__builtin_name((enum builtin)i)) == 0)
			break;
	if (i < B_COUNT)
		node = add_builtin(p, (enum builtin)i, t.column);
	else if (tel__derived_find(t.s) != D_COUNT)
		node = add_derived(p, tel__derived_find(t.s), t.s, t.column);
	else
		node = add_field(p, N_FIELD, &t);
	return add_start(p, node, column);
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
	/* len and has may be fields as well */
	if (strcmp(t->s, "len") == 0 && p->token.kind == T_LPAREN)
		return call_of_field(p, N_LENGTH, "len");
	for (b = 0; b < B_COUNT; b++)
		if (strcmp(t->s, tel__builtin_name((enum builtin)b)) == 0)
			return add_builtin(p, (enum builtin)b, t->column);
	if (is_start(p, t))
		return parse_start(p, t->column);
	if (p->token.kind == T_LPAREN) {
		parse_fail(p, TEL_EINVAL, t->column,
		    "unknown function '%.64s'; expected has, label or field",
		    t->s);
		return 0;
	}
	/* a field, unless it turns out to be compared with kind or name */
	node = add_const(p, value_string(t->s, strlen(t->s)), t->column);
	if (p->status == TEL_OK) {
		p->tree->nodes[node].op = N_FIELD;
		p->tree->nodes[node].flags = NODE_BARE;
	}
	return node;
}

/* A field that is named bare, or as .NAME, in a place where only one can be. */
static uint32_t
add_named(struct parser *p, enum node_op op, const struct token *t)
{
	const uint32_t node =
	    add_const(p, value_string(t->s, strlen(t->s)), t->column);

	if (p->status != TEL_OK)
		return 0;
	p->tree->nodes[node].op = (uint8_t)op;
	p->tree->nodes[node].symbol =
	    add_symbol(p, t->s, 1, USE_VALUE, t->column);
	return node;
}

/* "[NUMBER]" behind the name of a list. */
static uint32_t
parse_element(struct parser *p, const struct token *t)
{
	const uint32_t node = add_named(p, N_ELEMENT, t);
	struct token i;

	parse_next(p);
	i = p->token;
	if (i.kind != T_NUMBER || i.value.tag != V_NATURAL ||
	    i.value.as.u > UINT32_MAX) {
		parse_fail(p, TEL_EINVAL, i.column,
		    "expected the number of an element, from 0");
		return 0;
	}
	parse_next(p);
	expect(p, T_RBRACKET, "expected ']'");
	if (p->status == TEL_OK)
		p->tree->nodes[node].first = (uint32_t)i.value.as.u;
	return node;
}

/* Literals, names, has(), field(), label(). */
static uint32_t
parse_leaf(struct parser *p)
{
	struct token t = p->token;

	if (p->status != TEL_OK)
		return 0;
	if (t.kind == T_END) {
		parse_fail(p, TEL_EINVAL, t.column,
		    "expected an operand at the end of the expression");
		return 0;
	}
	if (t.kind != T_NUMBER && t.kind != T_STRING && t.kind != T_FIELD &&
	    (t.kind != T_NAME || strcmp(t.s, "in") == 0)) {
		parse_fail(p, TEL_EINVAL, t.column, "expected an operand");
		return 0;
	}
	parse_next(p);
	if (p->status != TEL_OK)
		return 0;
	if ((t.kind == T_FIELD || t.kind == T_NAME) &&
	    p->token.kind == T_LBRACKET)
		return parse_element(p, &t);
	if (t.kind == T_FIELD)
		return add_field(p, N_FIELD, &t);
	if (t.kind == T_NAME)
		return leaf_of_name(p, &t);
	return add_const(p, t.value, t.column);
}

/* A name that is still bare becomes a field, or what is derived. */
static void
settle_name(struct parser *p, uint32_t node)
{
	struct tree *t = p->tree;
	const struct node n = t->nodes[node];
	const enum derived d = tel__derived_find(n.value.as.s);
	const uint32_t symbol =
	    add_symbol(p, n.value.as.s, d == D_COUNT, USE_VALUE, n.column);

	t->nodes[node].symbol = symbol;
	if (d == D_COUNT)
		return;
	parse_derive(t, &t->nodes[node], d);
}

/* A field beside a string is its label, if it is an enum. */
static void
settle_text(struct parser *p, const struct node *test)
{
	struct tree *t = p->tree;
	const struct node *right =
	    &t->nodes[test->op == N_IN ? t->items[test->first].lo : test->b];
	uint32_t at = test->a, symbol;
	const struct symbol *s;

	if (t->nodes[at].op == N_START)
		at = t->nodes[at].a;
	if (t->nodes[at].op != N_FIELD ||
	    (test->op != N_MATCH &&
	        (right->op != N_CONST || right->value.tag != V_STRING)))
		return;
	s = &t->symbols[t->nodes[at].symbol];
	symbol = add_symbol(p, s->name, s->checked, USE_TEXT, s->column);
	t->nodes[at].symbol = symbol;
}

/* The end: what names mean. */
static void
parse_settle(struct parser *p)
{
	struct tree *t = p->tree;
	struct node *n;
	uint32_t i;

	for (i = 0; i < t->nnodes && p->status == TEL_OK; i++) {
		n = &t->nodes[i];
		if (n->op == N_FIELD && (n->flags & NODE_BARE) != 0)
			settle_name(p, i);
		else if (n->op == N_COMPARE || n->op == N_MATCH ||
		    n->op == N_IN)
			settle_text(p, n);
	}
}

/* ------------------------------------------------------------- grammar */

/* Levels of precedence, loosest first. */
enum level {
	LEVEL_NONE,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_COMPARE, /* does not chain */
	LEVEL_BIT_OR,
	LEVEL_BIT_XOR,
	LEVEL_BIT_AND,
	LEVEL_SHIFT,
	LEVEL_ADD,
	LEVEL_MULTIPLY,
	LEVEL_OPERAND
};

static uint32_t parse_binary(struct parser *p, enum level least);

static enum level
level_of_operator(enum value_op op)
{
	switch (op) {
	case OPR_MUL:
	case OPR_DIV:
	case OPR_MOD: return LEVEL_MULTIPLY;
	case OPR_ADD:
	case OPR_SUB: return LEVEL_ADD;
	case OPR_SHL:
	case OPR_SHR: return LEVEL_SHIFT;
	case OPR_AND: return LEVEL_BIT_AND;
	case OPR_XOR: return LEVEL_BIT_XOR;
	case OPR_OR: return LEVEL_BIT_OR;
	default: return LEVEL_COMPARE;
	}
}

/* The precedence of the next token; NONE: not an operator. */
static enum level
level_of(const struct token *t)
{
	switch (t->kind) {
	case T_OR: return LEVEL_OR;
	case T_AND: return LEVEL_AND;
	case T_TILDE:
	case T_MATCH_NOT:
	case T_GLOB:
	case T_GLOB_NOT: return LEVEL_COMPARE;
	case T_NAME:
		return strcmp(t->s, "in") == 0 ? LEVEL_COMPARE : LEVEL_NONE;
	case T_OPERATOR: return level_of_operator(t->op);
	default: return LEVEL_NONE;
	}
}

static int
deeper(struct parser *p, unsigned column)
{
	if (++p->depth > DEPTH_MAX)
		parse_fail(p, TEL_ELIMIT, column,
		    "the expression is nested more than %u deep", DEPTH_MAX);
	return p->status == TEL_OK;
}

/* The list of "in": ( item, lo..hi, ... ) */
static uint32_t
parse_in(struct parser *p, uint32_t left, unsigned column)
{
	struct list list = { NULL, 0, 0 };
	struct item item;
	struct token t = p->token;
	struct value value;
	uint32_t node;
	int more;

	if (p->status == TEL_OK && (t.kind == T_FIELD || t.kind == T_NAME)) {
		/* the list is a field */
		value = p->tree->nodes[left].value;
		if (p->tree->nodes[left].op != N_CONST)
			parse_fail(p, TEL_EINVAL, column,
			    "only a number or a string can be looked for in a "
			    "field");
		parse_next(p);
		node = add_named(p, N_CONTAINS, &t);
		if (p->status == TEL_OK)
			p->tree->nodes[node].value = value;
		return node;
	}
	expect(p, T_LPAREN, "'in' requires a list in parentheses");
	more = deeper(p, column);
	while (more) {
		item.lo = parse_binary(p, LEVEL_BIT_OR);
		item.range = parse_take(p, T_RANGE);
		item.hi = item.range ? parse_binary(p, LEVEL_BIT_OR) : item.lo;
		add_item(p, &list, &item);
		more = parse_take(p, T_COMMA) && p->status == TEL_OK;
	}
	expect(p, T_RPAREN, "expected ',' or ')'");
	p->depth--;
	node = add_in(p, left, &list, column);
	free(list.items);
	return node;
}

/* "!" holds for one operand: what it was meant for must be clear. */
static void
refuse_not(struct parser *p, uint32_t node)
{
	const struct node *n = &p->tree->nodes[node];

	if (p->status == TEL_OK && n->op == N_NOT &&
	    (n->flags & NODE_PAREN) == 0)
		parse_fail(p, TEL_EINVAL, n->column,
		    "'!' applies to the next operand only: use parentheses");
}

static void
refuse_chain(struct parser *p, uint32_t node, unsigned column)
{
	const struct node *n = &p->tree->nodes[node];

	if (p->status == TEL_OK && (n->flags & NODE_PAREN) == 0 &&
	    (n->op == N_COMPARE || n->op == N_MATCH || n->op == N_IN))
		parse_fail(p, TEL_EINVAL, column,
		    "comparisons do not chain: use && or parentheses");
}

/* Parses a comparison after its left side; t, its operator, was taken. */
static uint32_t
parse_comparison(struct parser *p, uint32_t left, const struct token *t)
{
	uint32_t right;

	refuse_not(p, left);
	refuse_chain(p, left, t->column);
	if (t->kind == T_NAME)
		return parse_in(p, left, t->column);
	if (t->kind != T_OPERATOR)
		return add_match(p, left, t);
	right = parse_binary(p, LEVEL_BIT_OR);
	refuse_not(p, right);
	return add_compare(p, t->op, left, right, t->column);
}

static uint32_t
parse_prefix(struct parser *p)
{
	struct token t = p->token;
	uint32_t node;

	parse_next(p);
	if (!deeper(p, t.column))
		return 0;
	if (t.kind == T_LPAREN) {
		node = parse_binary(p, LEVEL_OR);
		expect(p, T_RPAREN, "expected ')'");
		if (p->status == TEL_OK)
			p->tree->nodes[node].flags |= NODE_PAREN;
	} else {
		node = parse_binary(p, LEVEL_OPERAND);
		if (t.kind == T_MATCH_NOT) /* "!~x" is "!" and "~x" */
			node = add_unary(p, OPR_COMPLEMENT, node, t.column + 1);
		if (t.kind == T_OPERATOR)
			refuse_not(p, node);
		if (t.kind == T_NOT || t.kind == T_MATCH_NOT)
			node = add_node(p, N_NOT, node, 0, t.column);
		else
			node = add_unary(p, t.op, node, t.column);
	}
	p->depth--;
	return node;
}

static uint32_t
parse_operand(struct parser *p)
{
	switch (p->token.kind) {
	case T_LPAREN:
	case T_NOT:
	case T_TILDE:
	case T_MATCH_NOT: return parse_prefix(p);
	case T_OPERATOR:
		if (p->token.op == OPR_SUB) {
			p->token.op = OPR_NEGATE;
			return parse_prefix(p);
		}
		break;
	default: break;
	}
	return parse_leaf(p);
}

static uint32_t
parse_binary(struct parser *p, enum level least)
{
	uint32_t left = parse_operand(p), right;
	enum level level;
	struct token t;

	while (p->status == TEL_OK) {
		t = p->token;
		level = level_of(&t);
		if (level == LEVEL_NONE || level < least)
			break;
		parse_next(p);
		if (level == LEVEL_COMPARE) {
			left = parse_comparison(p, left, &t);
			continue;
		}
		right = parse_binary(p, (enum level)(level + 1));
		if (level > LEVEL_COMPARE) {
			refuse_not(p, left);
			refuse_not(p, right);
			left = add_node(p, N_ARITHMETIC, left, right, t.column);
			if (p->status == TEL_OK)
				p->tree->nodes[left].opr = (uint8_t)t.op;
		} else {
			left = add_node(p, level == LEVEL_OR ? N_OR : N_AND,
			    left, right, t.column);
		}
	}
	return left;
}

/* An operator is missing before a token: for words of other languages, ours. */
static void
parse_fail_operator(struct parser *p, const struct token *t)
{
	static const char *const words[][2] = { { "and", "&&" }, { "or", "||" },
		{ "not", "!" } };
	const char *text = p->lexer.text, *word = text + t->column - 1;
	const char *before = word;
	size_t i, n;

	while (before > text && before[-1] == ' ')
		before--;
	for (i = 0; i < 3; i++) {
		n = strlen(words[i][0]);
		if ((t->kind == T_NAME && strcmp(t->s, words[i][0]) == 0) ||
		    ((size_t)(before - text) >= n &&
		        memcmp(before - n, words[i][0], n) == 0 &&
		        (before - n == text ||
		            strchr(" (!&|", before[-1 - (ptrdiff_t)n]) !=
		                NULL)))
			break;
	}
	if (i < 3)
		parse_fail(p, TEL_EINVAL, t->column,
		    "expected an operator: '%s' is written %s", words[i][0],
		    words[i][1]);
	else
		parse_fail(p, TEL_EINVAL, t->column, "expected an operator");
}

tel_status
tel__tree_parse(const char *text, struct fail *fail, struct tree **out)
{
	struct parser p;

	if (!start_parser(&p, text, fail)) {
		tel__tree_free(p.tree);
		return p.status;
	}
	parse_next(&p);
	p.tree->root = parse_binary(&p, LEVEL_OR);
	if (p.status == TEL_OK && p.token.kind == T_RPAREN)
		parse_fail(&p, TEL_EINVAL, p.token.column, "')' without '('");
	else if (p.status == TEL_OK && p.token.kind != T_END)
		parse_fail_operator(&p, &p.token);
	parse_settle(&p);
	if (p.status != TEL_OK) {
		/* the caller owns the text that the column counts in */
		fail->text = text;
		tel__tree_free(p.tree);
		return p.status;
	}
	*out = p.tree;
	return TEL_OK;
}
