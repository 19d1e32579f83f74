/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parser puts into a tree, but for the leaves. */
#include "query/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
tel__parser_begin(struct parser *p, const char *text, struct fail *fail)
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
		p->tree->text = malloc(length + 1);
		p->tree->words = malloc(length + 2);
		p->tree->nodes = malloc(16 * sizeof(*p->tree->nodes));
	}
	if (p->tree == NULL || p->tree->text == NULL ||
	    p->tree->words == NULL || p->tree->nodes == NULL) {
		p->status = TEL_ENOMEM;
		return 0;
	}
	memset(&p->tree->nodes[0], 0, sizeof(p->tree->nodes[0]));
	memcpy(p->tree->text, text, length + 1);
	p->lexer.text = p->lexer.p = p->tree->text;
	p->lexer.words = p->tree->words;
	return 1;
}

void
tel__parser_fail(struct parser *p, tel_status status, unsigned column,
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

void
tel__parser_next(struct parser *p)
{
	const char *why;

	if (p->status != TEL_OK)
		return;
	why = tel__lexer_next(&p->lexer, &p->token);
	if (why != NULL)
		tel__parser_fail(p, TEL_EINVAL, p->lexer.error_column, "%s",
		    why);
}

int
tel__parser_take(struct parser *p, enum token_kind kind)
{
	if (p->status != TEL_OK || p->token.kind != kind)
		return 0;
	tel__parser_next(p);
	return 1;
}

void
tel__parser_expect(struct parser *p, enum token_kind kind, const char *message)
{
	if (p->status == TEL_OK && !tel__parser_take(p, kind))
		tel__parser_fail(p, TEL_EINVAL, p->token.column, "%s", message);
}

/* Makes room for one more of size bytes behind the count there are. */
static void *
grow(struct parser *p, void *old, uint32_t count, size_t size)
{
	void *v;

	/* at 16, 32, 64, ... */
	if (count > 0 && (count < 16 || (count & (count - 1)) != 0))
		return old;
	v = realloc(old, (count == 0 ? 16 : count * (size_t)2) * size);
	if (v == NULL) {
		p->status = TEL_ENOMEM;
		return old;
	}
	return v;
}

uint32_t
tel__parser_add(struct parser *p, enum node_op op, uint32_t a, uint32_t b,
    unsigned column)
{
	struct tree *t = p->tree;
	struct node *n;

	if (p->status != TEL_OK)
		return 0;
	if (t->nnodes == NODES_MAX) {
		tel__parser_fail(p, TEL_ELIMIT, column,
		    "the expression has more than %u parts", NODES_MAX);
		return 0;
	}
	t->nodes = grow(p, t->nodes, t->nnodes, sizeof(*t->nodes));
	if (p->status != TEL_OK)
		return 0;
	n = &t->nodes[t->nnodes];
	memset(n, 0, sizeof(*n));
	n->op = (uint8_t)op;
	n->a = a;
	n->b = b;
	n->column = column;
	return t->nnodes++;
}

uint32_t
tel__parser_unary(struct parser *p, enum value_op op, uint32_t a,
    unsigned column)
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
			tel__parser_fail(p, TEL_EINVAL, column,
			    "the number is under -2^63");
		n->value = v;
		n->column = column;
		return a;
	}
	a = tel__parser_add(p, N_UNARY, a, 0, column);
	if (p->status == TEL_OK)
		p->tree->nodes[a].opr = (uint8_t)op;
	return a;
}

/* A bare name beside kind or name is the name of a kind or a type. */
static void
make_word(struct parser *p, const struct node *beside, uint32_t node)
{
	struct node *n = &p->tree->nodes[node];

	if (beside->op != N_BUILTIN || (n->flags & NODE_BARE) == 0)
		return;
	if (beside->builtin != B_KIND && beside->builtin != B_NAME)
		return;
	n->op = N_CONST;
	n->flags = beside->builtin == B_KIND ? NODE_KIND_WORD : NODE_TYPE_WORD;
}

static int
is_kind(const struct node *n)
{
	return n->op == N_BUILTIN && n->builtin == B_KIND;
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

uint32_t
tel__parser_compare(struct parser *p, enum value_op op, uint32_t a, uint32_t b,
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
	c = tel__parser_add(p, N_COMPARE, a, b, column);
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

	tree->patterns =
	    grow(p, tree->patterns, tree->npatterns, sizeof(*tree->patterns));
	made = p->status == TEL_OK ? calloc(1, sizeof(*made)) : NULL;
	if (made == NULL) {
		p->status = TEL_ENOMEM;
		return;
	}
	tree->patterns[tree->npatterns] = made;
	tree->nodes[node].pattern = tree->npatterns++;
	why = glob ? tel__pattern_glob(made, v->as.s, v->length) :
	             tel__pattern_regex(made, v->as.s, v->length, buffer,
	                 sizeof(buffer));
	if (why != NULL)
		tel__parser_fail(p, TEL_EINVAL, p->token.column, "%s", why);
	else if (made->kind == PATTERN_REGEX)
		tree->uses_regex = 1;
}

uint32_t
tel__parser_match(struct parser *p, uint32_t a, const struct token *t)
{
	uint32_t node = tel__parser_add(p, N_MATCH, a, 0, t->column);

	if (p->status != TEL_OK)
		return 0;
	if (p->token.kind != T_STRING)
		tel__parser_fail(p, TEL_EINVAL, p->token.column,
		    "a pattern in quotes should be here");
	else
		add_pattern(p, node, t);
	if (t->kind == T_MATCH_NOT || t->kind == T_GLOB_NOT)
		p->tree->nodes[node].flags |= NODE_NEGATE;
	tel__parser_next(p);
	return node;
}

void
tel__parser_item(struct parser *p, struct list *list, const struct item *item)
{
	if (p->status != TEL_OK)
		return;
	if (list->count == LIST_MAX) {
		tel__parser_fail(p, TEL_ELIMIT, p->tree->nodes[item->lo].column,
		    "the list has more than %u items", LIST_MAX);
		return;
	}
	list->items = grow(p, list->items, list->count, sizeof(*list->items));
	if (p->status == TEL_OK)
		list->items[list->count++] = *item;
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

uint32_t
tel__parser_in(struct parser *p, uint32_t a, const struct list *list,
    unsigned column)
{
	uint32_t node = tel__parser_add(p, N_IN, a, 0, column), i;
	struct tree *t = p->tree;

	if (p->status != TEL_OK)
		return 0;
	t->nodes[node].first = t->nitems;
	t->nodes[node].count = list->count;
	for (i = 0; i < list->count && p->status == TEL_OK; i++) {
		make_word(p, &t->nodes[a], list->items[i].lo);
		make_word(p, &t->nodes[a], list->items[i].hi);
		t->items = grow(p, t->items, t->nitems, sizeof(*t->items));
		if (p->status == TEL_OK)
			t->items[t->nitems++] = list->items[i];
	}
	if (is_kind(&t->nodes[a]))
		t->nodes[node].flags |= NODE_ANY_CASE;
	t->nodes[node].set = plain_set(t, list);
	return node;
}
