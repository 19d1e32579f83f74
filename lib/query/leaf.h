/* SPDX-License-Identifier: BSD-2-Clause */
/* The leaves of expressions: literals and names. */
#ifndef TEL_QUERY_LEAF_H
#define TEL_QUERY_LEAF_H

#include "query/parser.h"

/* Parses a literal, a name, has(), field(), label(). */
uint32_t tel__leaf_parse(struct parser *p);
/* A field that is named bare, or as .NAME, in a place where only one can be. */
uint32_t tel__leaf_named(struct parser *p, enum node_op op,
    const struct token *t);
/* The end: what names mean. */
void tel__leaf_settle(struct parser *p);

#endif
