/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grammar: precedence climbing over the grammar in tel-filter(7).  What
 * recurses is bounded by DEPTH_MAX parentheses and prefixes, times the levels
 * of precedence.
 */
#include "query/leaf.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digit.h"

/* The items of a list while it is read; free(list.items) in the end. */
struct list {
	struct item *items;
	uint32_t count;
	size_t room;
};

/* --------------------------------------------------------------- nodes */

/* A prefix operator; a literal takes it in. */
static uint32_t
add_unary(struct parser *p, enum value_op op, uint32_t a, unsigned column)
{
	struct value v;

	if (p->status != TEL_OK)
		return 0;
	struct node *n = &p->tree->nodes[a];
	if (n->op == N_CONST &&
	    (n->value.tag == V_NATURAL || n->value.tag == V_NEGATIVE)) {
		v = tel__value_unary(op, &n->value);
		if (v.tag == V_MISSING)
			tel__parser_fail(p, TEL_EINVAL, column,
			    "the number is less than -2^63");
		n->value = v;
		n->column = column;
		return a;
	}
	a = tel__parser_add(p, N_UNARY, a, 0, column);
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
	if (p->status != TEL_OK)
		return 0;
	struct node *nodes = p->tree->nodes;
	make_word(p, &nodes[a], b);
	make_word(p, &nodes[b], a);
	if (nodes[a].op == N_CONST && nodes[b].op != N_CONST) {
		/* a literal on the left goes right: fewer cases below */
		uint32_t c = a;
		a = b;
		b = c;
		op = mirrored(op);
	}
	uint32_t c = tel__parser_add(p, N_COMPARE, a, b, column);
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
	const char *why = glob ? tel__pattern_glob(made, v->as.s, v->length) :
	                         tel__pattern_regex(made, v->as.s, v->length,
	                             buffer, sizeof(buffer));
	if (why != NULL)
		tel__parser_fail(p, TEL_EINVAL, p->token.column, "%s", why);
	else if (made->kind == PATTERN_REGEX)
		tree->uses_regex = 1;
}

/* ~ !~ =* !*, which t is; the pattern is the next token. */
static uint32_t
add_match(struct parser *p, uint32_t a, const struct token *t)
{
	uint32_t node = tel__parser_add(p, N_MATCH, a, 0, t->column);

	if (p->status != TEL_OK)
		return 0;
	if (p->token.kind != T_STRING)
		tel__parser_fail(p, TEL_EINVAL, p->token.column,
		    "expected a pattern in quotes");
	else
		add_pattern(p, node, t);
	if (t->kind == T_MATCH_NOT || t->kind == T_GLOB_NOT)
		p->tree->nodes[node].flags |= NODE_NEGATE;
	tel__parser_next(p);
	return node;
}

/* Puts an item at the end of the list. */
static void
add_item(struct parser *p, struct list *list, const struct item *item)
{
	if (p->status != TEL_OK)
		return;
	if (list->count == LIST_MAX) {
		tel__parser_fail(p, TEL_ELIMIT, p->tree->nodes[item->lo].column,
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
	struct set *set = NULL;
	uint32_t i;

	for (i = 0; spans != NULL && i < list->count; i++) {
		const struct node *lo = &t->nodes[list->items[i].lo];
		const struct node *hi = &t->nodes[list->items[i].hi];

		if (lo->op != N_CONST || lo->value.tag != V_NATURAL ||
		    hi->op != N_CONST || hi->value.tag != V_NATURAL)
			break;
		spans[i].lo = lo->value.as.u;
		spans[i].hi = hi->value.as.u;
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
	uint32_t node = tel__parser_add(p, N_IN, a, 0, column), i;
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
		tel__parser_fail(p, TEL_ELIMIT, column,
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

	if (p->status == TEL_OK && (t.kind == T_FIELD || t.kind == T_NAME)) {
		/* the list is a field */
		value = p->tree->nodes[left].value;
		if (p->tree->nodes[left].op != N_CONST)
			tel__parser_fail(p, TEL_EINVAL, column,
			    "only a number or a string can be looked for in a "
			    "field");
		tel__parser_next(p);
		uint32_t node = tel__leaf_named(p, N_CONTAINS, &t);
		if (p->status == TEL_OK)
			p->tree->nodes[node].value = value;
		return node;
	}
	tel__parser_expect(p, T_LPAREN, "'in' requires a list in parentheses");
	int more = deeper(p, column);
	while (more) {
		item.lo = parse_binary(p, LEVEL_BIT_OR);
		item.range = tel__parser_take(p, T_RANGE);
		item.hi = item.range ? parse_binary(p, LEVEL_BIT_OR) : item.lo;
		add_item(p, &list, &item);
		more = tel__parser_take(p, T_COMMA) && p->status == TEL_OK;
	}
	tel__parser_expect(p, T_RPAREN, "expected ',' or ')'");
	p->depth--;
	uint32_t node = add_in(p, left, &list, column);
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
		tel__parser_fail(p, TEL_EINVAL, n->column,
		    "'!' applies to the next operand only: use parentheses");
}

static void
refuse_chain(struct parser *p, uint32_t node, unsigned column)
{
	const struct node *n = &p->tree->nodes[node];

	if (p->status == TEL_OK && (n->flags & NODE_PAREN) == 0 &&
	    (n->op == N_COMPARE || n->op == N_MATCH || n->op == N_IN))
		tel__parser_fail(p, TEL_EINVAL, column,
		    "comparisons do not chain: use && or parentheses");
}

/* Parses a comparison after its left side; t, its operator, was taken. */
static uint32_t
parse_comparison(struct parser *p, uint32_t left, const struct token *t)
{
	refuse_not(p, left);
	refuse_chain(p, left, t->column);
	if (t->kind == T_NAME)
		return parse_in(p, left, t->column);
	if (t->kind != T_OPERATOR)
		return add_match(p, left, t);
	uint32_t right = parse_binary(p, LEVEL_BIT_OR);
	refuse_not(p, right);
	return add_compare(p, t->op, left, right, t->column);
}

static uint32_t
parse_prefix(struct parser *p)
{
	struct token t = p->token;
	uint32_t node;

	tel__parser_next(p);
	if (!deeper(p, t.column))
		return 0;
	if (t.kind == T_LPAREN) {
		node = parse_binary(p, LEVEL_OR);
		tel__parser_expect(p, T_RPAREN, "expected ')'");
		if (p->status == TEL_OK)
			p->tree->nodes[node].flags |= NODE_PAREN;
	} else {
		node = parse_binary(p, LEVEL_OPERAND);
		if (t.kind == T_MATCH_NOT) /* "!~x" is "!" and "~x" */
			node = add_unary(p, OPR_COMPLEMENT, node, t.column + 1);
		if (t.kind == T_OPERATOR)
			refuse_not(p, node);
		if (t.kind == T_NOT || t.kind == T_MATCH_NOT)
			node = tel__parser_add(p, N_NOT, node, 0, t.column);
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
	return tel__leaf_parse(p);
}

static uint32_t
parse_binary(struct parser *p, enum level least)
{
	uint32_t left = parse_operand(p), right;
	struct token t;

	while (p->status == TEL_OK) {
		t = p->token;
		enum level level = level_of(&t);
		if (level == LEVEL_NONE || level < least)
			break;
		tel__parser_next(p);
		if (level == LEVEL_COMPARE) {
			left = parse_comparison(p, left, &t);
			continue;
		}
		right = parse_binary(p, (enum level)(level + 1));
		if (level > LEVEL_COMPARE) {
			refuse_not(p, left);
			refuse_not(p, right);
			left = tel__parser_add(p, N_ARITHMETIC, left, right,
			    t.column);
			if (p->status == TEL_OK)
				p->tree->nodes[left].opr = (uint8_t)t.op;
		} else {
			left =
			    tel__parser_add(p, level == LEVEL_OR ? N_OR : N_AND,
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
		tel__parser_fail(p, TEL_EINVAL, t->column,
		    "expected an operator: '%s' is written %s", words[i][0],
		    words[i][1]);
	else if (t->kind == T_NAME && before < word && before > text &&
	    tel_is_digit((unsigned char)before[-1]) &&
	    tel__suffix_find(t->s, strlen(t->s)) != NULL)
		tel__parser_fail(p, TEL_EINVAL, t->column,
		    "expected an operator: '%.8s' is written right behind "
		    "its number",
		    t->s);
	else
		tel__parser_fail(p, TEL_EINVAL, t->column,
		    "expected an operator");
}

tel_status
tel__tree_parse(const char *text, int type_is_name, struct fail *fail,
    struct tree **out)
{
	struct parser p;

	if (!tel__parser_start(&p, text, fail)) {
		tel__tree_free(p.tree);
		return p.status;
	}
	p.type_is_name = type_is_name;
	tel__parser_next(&p);
	p.tree->root = parse_binary(&p, LEVEL_OR);
	if (p.status == TEL_OK && p.token.kind == T_RPAREN)
		tel__parser_fail(&p, TEL_EINVAL, p.token.column,
		    "')' without '('");
	else if (p.status == TEL_OK && p.token.kind != T_END)
		parse_fail_operator(&p, &p.token);
	tel__leaf_settle(&p);
	if (p.status != TEL_OK) {
		/* the caller owns the text that the column counts in */
		fail->text = text;
		tel__tree_free(p.tree);
		return p.status;
	}
	*out = p.tree;
	return TEL_OK;
}
