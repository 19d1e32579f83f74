/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ops: the table of what programs are made of.  The compiler places values by
 * how many an op takes and leaves; the evaluator (run.c) has a case for each;
 * prune.c runs the same programs on ranges of values, by the last column, and
 * listing.c prints them by the names and the operands.
 *
 *	OP(code, name, operand, takes, leaves, function on ranges)
 *
 * An operator with .constant has its right side in the op, and takes one less.
 */
#ifndef TEL_QUERY_OPS_H
#define TEL_QUERY_OPS_H

/* Tests continue at .yes or at .no. */
#define TEL__TESTS(OP) \
	/* an integer: x & mask is lo, or more by up to span */ \
	OP(SPAN_LE64, "span", SPAN, 0, 0, span_field) \
	OP(SPAN_LE32, "span", SPAN, 0, 0, span_field) \
	OP(SPAN_FIELD, "span", SPAN, 0, 0, span_field) \
	/* the same of what an operator makes of a field and a constant */ \
	OP(SPAN_OPERATOR, "span", SPAN_OPERATOR, 0, 0, prune_span_operator) \
	OP(SPAN_CLOCK, "span clock", SPAN, 0, 0, span_clock) \
	/* ticks, or nanoseconds, since the first event, plus 2^63 */ \
	OP(SPAN_TICKS, "span ticks", SPAN, 0, 0, any_outcome) \
	OP(SPAN_NS, "span time", SPAN, 0, 0, span_ns) \
	OP(SPAN_INDEX, "span index", SPAN, 0, 0, span_index) \
	OP(SPAN_SIZE, "span sizeof", SPAN, 0, 0, any_outcome) \
	OP(SET_FIELD, "set", SET, 0, 0, set_field) \
	/* a block that the event allocates or frees has one of the addresses */ \
	OP(BLOCK, "block", SET, 0, 0, any_outcome) \
	OP(TYPE, "type", NONE, 0, 0, any_outcome) \
	OP(LABEL, "label", LABEL, 0, 0, any_outcome) \
	OP(LABELS, "any label", NODE, 0, 0, any_outcome) \
	OP(TEST, "test", NONE, 1, 0, test) \
	OP(TEST_COMPARE, "test", OPERATOR, 2, 0, test_compare)

/* Values of an event, which take none. */
#define TEL__LEAVES(OP) \
	OP(CONST, "constant", VALUE, 0, 1, constant) \
	OP(NATURAL_FIELD, "load", NONE, 0, 1, prune_field) \
	OP(SIGNED_FIELD, "load signed", NONE, 0, 1, prune_field) \
	OP(DOUBLE_FIELD, "load double", NONE, 0, 1, prune_field) \
	OP(STRING_FIELD, "load string", NONE, 0, 1, any_value) \
	/* of an event that may lack it */ \
	OP(OPTIONAL_FIELD, "load optional", NONE, 0, 1, any_value) \
	OP(LENGTH, "length", NONE, 0, 1, any_value) \
	OP(ELEMENT, "element", VALUE, 0, 1, any_value) \
	OP(CONTAINS, "list has", VALUE, 0, 1, any_value) \
	/* .field cycles for each instruction, in .u.field */ \
	OP(CPI, "cycles for each", NONE, 0, 1, any_value) \
	OP(LABEL_FIELD, "label", NONE, 0, 1, any_value) \
	/* the same of an enum; "": its value has no name */ \
	OP(NAME_FIELD, "name of value", NONE, 0, 1, any_value) \
	OP(BUILTIN, "load", BUILTIN, 0, 1, builtin) \
	OP(DERIVED, "load", DERIVED, 0, 1, any_value) \
	/* of the event that began it; .offset: which leaf */ \
	OP(START, "of the start", NONE, 0, 1, any_value) \
	OP(FIRST_LABEL, "first label", NONE, 0, 1, any_value) \
	OP(LABELS_VALUE, "any label", NODE, 0, 1, any_value)

#define TEL__OPERATORS(OP) \
	OP(HAS, "has", NONE, 1, 1, any_value) \
	OP(NOT, "not", NONE, 1, 1, negation) \
	OP(AND, "and", NONE, 2, 1, and) \
	OP(OR, "or", NONE, 2, 1, or) \
	OP(UNARY, "compute", OPERATOR, 1, 1, any_value) \
	OP(ARITHMETIC, "compute", OPERATOR, 2, 1, prune_arithmetic) \
	OP(COMPARE, "compare", OPERATOR, 2, 1, prune_compare) \
	OP(MATCH, "match", NODE, 1, 1, any_value) \
	OP(IN_SET, "in set", SET, 1, 1, prune_in_set) \
	/* a list: the value, then false, then for each item ... */ \
	/* ... value, verdict, item: value, verdict */ \
	OP(IN_ITEM, "item", NONE, 3, 2, in_item) \
	/* ... or value, verdict, lo, hi: value, verdict */ \
	OP(IN_RANGE, "range", NONE, 4, 2, in_item) \
	OP(IN_END, "end of list", NONE, 2, 1, in_end)

enum op_code {
#define OP(code, name, operand, takes, leaves, ranges) OP_##code,
	TEL__TESTS(OP) TEL__LEAVES(OP) TEL__OPERATORS(OP)
#undef OP
};

#endif
