/* SPDX-License-Identifier: BSD-2-Clause */
/* The parser's state: the token at hand, the nodes of the tree, failures. */
#include "query/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int
tel__parser_start(struct parser *p, const char *text, struct fail *fail)
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

__attribute__((format(printf, 4, 5))) void
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
	if (p->status != TEL_OK)
		return;
	const char *why = tel__lexer_next(&p->lexer, &p->token);
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

uint32_t
tel__parser_add(struct parser *p, enum node_op op, uint32_t a, uint32_t b,
    unsigned column)
{
	struct tree *t = p->tree;

	if (p->status != TEL_OK)
		return 0;
	if (t->nnodes == NODES_MAX) {
		tel__parser_fail(p, TEL_ELIMIT, column,
		    "the expression has more than %u parts", NODES_MAX);
		return 0;
	}
	if (!TEL__RESERVE(t->nodes, t->node_room, (size_t)t->nnodes + 1)) {
		p->status = TEL_ENOMEM;
		return 0;
	}
	struct node *n = &t->nodes[t->nnodes];
	memset(n, 0, sizeof(*n));
	n->op = (uint8_t)op;
	n->a = a;
	n->b = b;
	n->column = column;
	return t->nnodes++;
}
