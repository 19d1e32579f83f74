/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building a tree: the state of the parser, and what it puts into the tree.
 * After a failure every call does nothing, and returns node 0.
 */
#ifndef TEL_QUERY_BUILD_H
#define TEL_QUERY_BUILD_H

#include "query/tree.h"

struct parser {
	struct lexer lexer;
	struct token token; /* the next one */
	struct tree *tree;
	struct fail *fail;
	tel_status status; /* the first failure stays */
	unsigned depth;
};

/* Returns 0 on failure: see p->status. */
int tel__parser_begin(struct parser *p, const char *text, struct fail *fail);

__attribute__((format(printf, 4, 5))) void tel__parser_fail(struct parser *p,
    tel_status status, unsigned column, const char *format, ...);

void tel__parser_next(struct parser *p);

/* Steps over a token of that kind, if it is the next, and says whether. */
int tel__parser_take(struct parser *p, enum token_kind kind);

/* Steps over a token of that kind, or fails with the message. */
void tel__parser_expect(struct parser *p, enum token_kind kind,
    const char *message);

/* A node with operands; fails past the limit. */
uint32_t tel__parser_add(struct parser *p, enum node_op op, uint32_t a,
    uint32_t b, unsigned column);

/* A prefix operator; a literal takes it in. */
uint32_t tel__parser_unary(struct parser *p, enum value_op op, uint32_t a,
    unsigned column);

/* A comparison; words beside kind and name are told apart from fields. */
uint32_t tel__parser_compare(struct parser *p, enum value_op op, uint32_t a,
    uint32_t b, unsigned column);

/* ~ !~ =* !*, which t is; the pattern is the next token. */
uint32_t tel__parser_match(struct parser *p, uint32_t a, const struct token *t);

/* Literals, names, has(), field(), label(). */
uint32_t tel__parser_leaf(struct parser *p);

/* The items of a list while it is read; free(list.items) in the end. */
struct list {
	struct item *items;
	uint32_t count;
};

/* Puts an item at the end of the list. */
void tel__parser_item(struct parser *p, struct list *list,
    const struct item *item);

/* The node of "a in list". */
uint32_t tel__parser_in(struct parser *p, uint32_t a, const struct list *list,
    unsigned column);

/* The end: names that are still bare become fields. */
void tel__parser_settle(struct parser *p);

#endif
