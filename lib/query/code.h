/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the compiler.  A place in code is its number from the end. */
#ifndef TEL_QUERY_CODE_H
#define TEL_QUERY_CODE_H

#include "query/program.h"

/* An op before all that there are; NULL when there is no memory. */
struct op *tel__code_put(struct compiler *c, enum op_code code);

/* Says where a test, the op put last, goes on.  Returns its place. */
uint32_t tel__code_test(struct compiler *c, struct op *op, uint32_t yes,
    uint32_t no);

/* An unsigned integer of an event, as a span op reads it. */
struct plain {
	enum op_code code; /* OP_SPAN_.. */
	int field;         /* of OP_SPAN_FIELD */
	uint64_t mask;
};

/* Tests whether it is from lo to hi.  Returns where that begins. */
uint32_t tel__code_span(struct compiler *c, const struct plain *what,
    uint64_t lo, uint64_t hi, uint32_t yes, uint32_t no);

/*
 * Tests whether a node is true (want) or false, for which "unknown" is
 * neither.  Returns where the code begins.
 */
uint32_t tel__code_condition(struct compiler *c, uint32_t node, int want,
    uint32_t yes, uint32_t no);

/*
 * The op of a comparison or of arithmetic: of the code with_k when the right
 * side is known, and then in the op itself.
 */
struct op *tel__code_operator(struct compiler *c, const struct node *n,
    enum op_code code, enum op_code with_k);

/* Puts the right side on the stack, unless it is known. */
void tel__code_right(struct compiler *c, const struct node *n);

/* Puts the value of a node on the stack. */
void tel__code_value(struct compiler *c, uint32_t node);

/* Whether a node compares the label of any field. */
int tel__code_of_labels(const struct compiler *c, const struct node *n);

/* Tests what a selection asks for, and goes on to yes or to no. */
uint32_t tel__code_selection(struct compiler *c, uint32_t yes, uint32_t no);

#endif
