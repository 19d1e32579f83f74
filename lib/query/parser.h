/* SPDX-License-Identifier: BSD-2-Clause */
/* The parser's state: the token at hand, the nodes of the tree, failures. */
#ifndef TEL_QUERY_PARSER_H
#define TEL_QUERY_PARSER_H

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
	int type_is_name; /* "type" is the type of an event, not a field */
};

/* Returns 0 on failure: see p->status. */
int tel__parser_start(struct parser *p, const char *text, struct fail *fail);
/* Fails, unless it has already. */
__attribute__((format(printf, 4, 5))) void tel__parser_fail(struct parser *p,
    tel_status status, unsigned column, const char *format, ...);
/* Steps to the next token. */
void tel__parser_next(struct parser *p);
/* Steps over a token of that kind, if it is the next.  Returns 1, or 0. */
int tel__parser_take(struct parser *p, enum token_kind kind);
/* Steps over a token of that kind, or fails with the message. */
void tel__parser_expect(struct parser *p, enum token_kind kind,
    const char *message);
/* A node with operands; fails past the limit. */
uint32_t tel__parser_add(struct parser *p, enum node_op op, uint32_t a,
    uint32_t b, unsigned column);

#endif
