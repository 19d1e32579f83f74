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
enum value_class { C_INTEGER = 1, C_DOUBLE = 2, C_STRING = 4 };
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

/* A verdict of three values. */
enum trit { TRIT_UNKNOWN = -1, TRIT_FALSE = 0, TRIT_TRUE = 1 };

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
value_trit(enum trit t)
{
	return t == TRIT_UNKNOWN ? value_missing() : value_natural((uint64_t)t);
}

/* Whether v is true as a condition. */
enum trit tel__value_truth(const struct value *v);

/* One of OPR_ADD to OPR_SHR. */
struct value tel__value_arithmetic(enum value_op op, const struct value *a,
    const struct value *b);

/* OPR_NEGATE or OPR_COMPLEMENT. */
struct value tel__value_unary(enum value_op op, const struct value *a);

/*
 * One of OPR_EQ to OPR_GE.  any_case: strings are compared without regard
 * to the case of ASCII letters.
 */
enum trit tel__value_compare(enum value_op op, const struct value *a,
    const struct value *b, int any_case);

static inline enum trit
trit_and(enum trit a, enum trit b)
{
	if (a == TRIT_FALSE || b == TRIT_FALSE)
		return TRIT_FALSE;
	return a == TRIT_TRUE && b == TRIT_TRUE ? TRIT_TRUE : TRIT_UNKNOWN;
}

static inline enum trit
trit_or(enum trit a, enum trit b)
{
	if (a == TRIT_TRUE || b == TRIT_TRUE)
		return TRIT_TRUE;
	return a == TRIT_FALSE && b == TRIT_FALSE ? TRIT_FALSE : TRIT_UNKNOWN;
}

static inline enum trit
trit_not(enum trit a)
{
	if (a == TRIT_UNKNOWN)
		return TRIT_UNKNOWN;
	return a == TRIT_TRUE ? TRIT_FALSE : TRIT_TRUE;
}

/* A letter of ASCII in lower case, any other byte as it is. */
static inline unsigned char
lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

#endif
