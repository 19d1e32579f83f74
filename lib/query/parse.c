/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser: precedence climbing over the grammar in tel-filter(7).  What
 * recurses is bounded by DEPTH_MAX parentheses and prefixes, times the levels
 * of precedence.
 */
#include "query/build.h"

#include <stdlib.h>
#include <string.h>

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

/* How tight the operator that stands next binds; NONE: it is none. */
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
	struct list list = { NULL, 0 };
	struct item item;
	uint32_t node;
	int more;

	tel__parser_expect(p, T_LPAREN, "'in' takes a list in parentheses");
	more = deeper(p, column);
	while (more) {
		item.lo = parse_binary(p, LEVEL_BIT_OR);
		item.range = tel__parser_take(p, T_RANGE);
		item.hi = item.range ? parse_binary(p, LEVEL_BIT_OR) : item.lo;
		tel__parser_item(p, &list, &item);
		more = tel__parser_take(p, T_COMMA) && p->status == TEL_OK;
	}
	tel__parser_expect(p, T_RPAREN, "',' or ')' should be here");
	p->depth--;
	node = tel__parser_in(p, left, &list, column);
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
		    "'!' belongs to the next operand alone: use "
		    "parentheses");
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

/* The comparison that t, which was taken, begins behind left. */
static uint32_t
parse_comparison(struct parser *p, uint32_t left, const struct token *t)
{
	uint32_t right;

	refuse_not(p, left);
	refuse_chain(p, left, t->column);
	if (t->kind == T_NAME)
		return parse_in(p, left, t->column);
	if (t->kind != T_OPERATOR)
		return tel__parser_match(p, left, t);
	right = parse_binary(p, LEVEL_BIT_OR);
	refuse_not(p, right);
	return tel__parser_compare(p, t->op, left, right, t->column);
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
		tel__parser_expect(p, T_RPAREN, "')' should be here");
		if (p->status == TEL_OK)
			p->tree->nodes[node].flags |= NODE_PAREN;
	} else {
		node = parse_binary(p, LEVEL_OPERAND);
		if (t.kind == T_MATCH_NOT) /* "!~x" is "!" and "~x" */
			node = tel__parser_unary(p, OPR_COMPLEMENT, node,
			    t.column + 1);
		if (t.kind == T_OPERATOR)
			refuse_not(p, node);
		if (t.kind == T_NOT || t.kind == T_MATCH_NOT)
			node = tel__parser_add(p, N_NOT, node, 0, t.column);
		else
			node = tel__parser_unary(p, t.op, node, t.column);
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
	return tel__parser_leaf(p);
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

tel_status
tel__tree_parse(const char *text, struct fail *fail, struct tree **out)
{
	struct parser p;

	if (!tel__parser_begin(&p, text, fail)) {
		tel__tree_free(p.tree);
		return p.status;
	}
	tel__parser_next(&p);
	p.tree->root = parse_binary(&p, LEVEL_OR);
	if (p.status == TEL_OK && p.token.kind != T_END)
		tel__parser_fail(&p, TEL_EINVAL, p.token.column,
		    p.token.kind == T_RPAREN ? "')' closes nothing" :
		                               "an operator should be here");
	tel__parser_settle(&p);
	if (p.status != TEL_OK) {
		/* the caller holds the text that the message speaks of */
		fail->text = text;
		tel__tree_free(p.tree);
		return p.status;
	}
	*out = p.tree;
	return TEL_OK;
}
