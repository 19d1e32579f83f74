/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Value: what a part of an expression is worth for one event, and the
 * arithmetic of the language.  tel-filter(7) states the rules.
 */
#ifndef TEL_QUERY_VALUE_H
#define TEL_QUERY_VALUE_H

#include <stddef.h>
#include <stdint.h>

enum value_tag {
	V_MISSING,  /* the event has no such thing */
	V_NATURAL,  /* an integer from 0 to 2^64 - 1 */
	V_NEGATIVE, /* an integer from -2^63 to -1, in two's complement */
	V_DOUBLE,
	V_STRING
};

struct value {
	enum value_tag tag;
	union {
		uint64_t u;
		double d;
		const char *s;
	} as;
	size_t length; /* of a string */
};

/* What a part of an expression may be worth, as a set of bits. */
enum value_class { C_INTEGER = 1, C_DOUBLE = 2, C_STRING = 4, C_LIST = 8 };
#define C_NUMBER (C_INTEGER | C_DOUBLE)

/* Operators, of arithmetic and of comparison. */
enum value_op {
	OPR_ADD,
	OPR_SUB,
	OPR_MUL,
	OPR_DIV,
	OPR_MOD,
	OPR_AND,
	OPR_OR,
	OPR_XOR,
	OPR_SHL,
	OPR_SHR,
	OPR_NEGATE,
	OPR_COMPLEMENT,
	OPR_EQ,
	OPR_NE,
	OPR_LT,
	OPR_LE,
	OPR_GT,
	OPR_GE
};

/* The order of two values; UNORDERED: one is a NaN; UNLIKE: of other classes. */
enum order {
	ORDER_LESS,
	ORDER_EQUAL,
	ORDER_GREATER,
	ORDER_UNORDERED,
	ORDER_UNLIKE
};

/* Whether one of OPR_EQ to OPR_GE is true of two values in an order. */
static inline int
value_holds(enum value_op op, enum order o)
{
	static const uint8_t holds[] = {
		1 << ORDER_EQUAL,
		1 << ORDER_LESS | 1 << ORDER_GREATER | 1 << ORDER_UNORDERED,
		1 << ORDER_LESS,
		1 << ORDER_LESS | 1 << ORDER_EQUAL,
		1 << ORDER_GREATER,
		1 << ORDER_GREATER | 1 << ORDER_EQUAL,
	};

	return holds[op - OPR_EQ] >> o & 1;
}

/* A verdict of three values. */
enum tribool { TRIBOOL_UNKNOWN = -1, TRIBOOL_FALSE = 0, TRIBOOL_TRUE = 1 };

static inline struct value
value_missing(void)
{
	struct value v = { V_MISSING, { 0 }, 0 };

	return v;
}

static inline struct value
value_natural(uint64_t u)
{
	struct value v = { V_NATURAL, { 0 }, 0 };

	v.as.u = u;
	return v;
}

static inline struct value
value_signed(uint64_t bits)
{
	struct value v = { bits >> 63 ? V_NEGATIVE : V_NATURAL, { 0 }, 0 };

	v.as.u = bits;
	return v;
}

/* A signed integer of some width, of which the bits above are anything. */
static inline struct value
value_of_width(uint64_t bits, unsigned width)
{
	const uint64_t sign = (uint64_t)1 << (width - 1);

	/* the sign bit is copied to all that are above */
	return value_signed(((bits & (sign | (sign - 1))) ^ sign) - sign);
}

static inline struct value
value_double(double d)
{
	struct value v = { V_DOUBLE, { 0 }, 0 };

	v.as.d = d;
	return v;
}

static inline struct value
value_string(const char *s, size_t length)
{
	struct value v = { V_STRING, { 0 }, length };

	v.as.s = s;
	return v;
}

static inline struct value
value_tribool(enum tribool t)
{
	return t == TRIBOOL_UNKNOWN ? value_missing() :
	                              value_natural((uint64_t)t);
}

/* Whether v is true as a condition. */
enum tribool tel__value_truth(const struct value *v);

/* One of OPR_ADD to OPR_SHR. */
struct value tel__value_arithmetic(enum value_op op, const struct value *a,
    const struct value *b);

/* OPR_NEGATE or OPR_COMPLEMENT. */
struct value tel__value_unary(enum value_op op, const struct value *a);

/*
 * One of OPR_EQ to OPR_GE.  any_case: strings are compared without regard
 * to the case of ASCII letters.
 */
enum tribool tel__value_compare(enum value_op op, const struct value *a,
    const struct value *b, int any_case);

static inline enum tribool
tribool_and(enum tribool a, enum tribool b)
{
	if (a == TRIBOOL_FALSE || b == TRIBOOL_FALSE)
		return TRIBOOL_FALSE;
	return a == TRIBOOL_TRUE && b == TRIBOOL_TRUE ? TRIBOOL_TRUE :
	                                                TRIBOOL_UNKNOWN;
}

static inline enum tribool
tribool_or(enum tribool a, enum tribool b)
{
	if (a == TRIBOOL_TRUE || b == TRIBOOL_TRUE)
		return TRIBOOL_TRUE;
	return a == TRIBOOL_FALSE && b == TRIBOOL_FALSE ? TRIBOOL_FALSE :
	                                                  TRIBOOL_UNKNOWN;
}

static inline enum tribool
tribool_not(enum tribool a)
{
	if (a == TRIBOOL_UNKNOWN)
		return TRIBOOL_UNKNOWN;
	return a == TRIBOOL_TRUE ? TRIBOOL_FALSE : TRIBOOL_TRUE;
}

/* A letter of ASCII in lower case, any other byte as it is. */
static inline unsigned char
lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

#endif
