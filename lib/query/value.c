/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic and comparison of values.  Integers are those of mathematics,
 * from -2^63 to 2^64 - 1: a result outside is missing, never wrapped.
 */
#include "query/value.h"

#include <string.h>

#define HALF ((uint64_t)1 << 63)      /* 2^63 */
#define TWO_64 18446744073709551616.0 /* 2^64, exactly */

static int
is_integer(const struct value *v)
{
	return v->tag == V_NATURAL || v->tag == V_NEGATIVE;
}

static int
query_value_is_number(const struct value *v)
{
	return is_integer(v) || v->tag == V_DOUBLE;
}

/* An integer without its sign. */
static uint64_t
query_value_magnitude(const struct value *v)
{
	return v->tag == V_NEGATIVE ? 0 - v->as.u : v->as.u;
}

static struct value
from_magnitude(int negative, uint64_t m)
{
	if (!negative)
		return value_natural(m);
	if (m > HALF)
		return value_missing();
	return value_signed(0 - m);
}

static double
to_double(const struct value *v)
{
	if (v->tag == V_DOUBLE)
		return v->as.d;
	if (v->tag == V_NEGATIVE)
		return -(double)query_value_magnitude(v);
	return (double)v->as.u;
}

enum tribool
tel__value_truth(const struct value *v)
{
	switch (v->tag) {
	case V_NATURAL:
	case V_NEGATIVE: return v->as.u != 0 ? TRIBOOL_TRUE : TRIBOOL_FALSE;
	case V_DOUBLE:
		return v->as.d < 0 || v->as.d > 0 || v->as.d != v->as.d ?
		    TRIBOOL_TRUE :
		    TRIBOOL_FALSE;
	case V_MISSING:
	case V_STRING: break;
	}
	return TRIBOOL_UNKNOWN;
}

/* a + b, or a - b when the sign of b is turned. */
static struct value
query_value_add(const struct value *a, const struct value *b, int turn)
{
	uint64_t x = query_value_magnitude(a), y = query_value_magnitude(b),
	         sum;
	int neg_a = a->tag == V_NEGATIVE;
	int neg_b = (b->tag == V_NEGATIVE) != turn;

	if (neg_a == neg_b) {
		if (__builtin_add_overflow(x, y, &sum))
			return value_missing();
		return from_magnitude(neg_a, sum);
	}
	if (x >= y)
		return from_magnitude(neg_a, x - y);
	return from_magnitude(neg_b, y - x);
}

static struct value
query_value_integers(enum value_op op, const struct value *a,
    const struct value *b)
{
	uint64_t x = query_value_magnitude(a), y = query_value_magnitude(b),
	         product;
	int neg_a = a->tag == V_NEGATIVE, neg_b = b->tag == V_NEGATIVE;

	switch (op) {
	case OPR_ADD: return query_value_add(a, b, 0);
	case OPR_SUB: return query_value_add(a, b, 1);
	case OPR_MUL:
		if (__builtin_mul_overflow(x, y, &product))
			return value_missing();
		return from_magnitude(neg_a != neg_b, product);
	case OPR_DIV:
		if (y == 0)
			return value_missing();
		return from_magnitude(neg_a != neg_b, x / y);
	case OPR_MOD:
		if (y == 0)
			return value_missing();
		return from_magnitude(neg_a, x % y);
	case OPR_AND: return value_natural(a->as.u & b->as.u);
	case OPR_OR: return value_natural(a->as.u | b->as.u);
	case OPR_XOR: return value_natural(a->as.u ^ b->as.u);
	case OPR_SHL:
	case OPR_SHR:
		if (neg_b)
			return value_missing();
		if (y > 63)
			return value_natural(0);
		return value_natural(
		    op == OPR_SHL ? a->as.u << y : a->as.u >> y);
	default: return value_missing();
	}
}

struct value
tel__value_arithmetic(enum value_op op, const struct value *a,
    const struct value *b)
{
	if (is_integer(a) && is_integer(b))
		return query_value_integers(op, a, b);
	if (!query_value_is_number(a) || !query_value_is_number(b))
		return value_missing();
	double x = to_double(a);
	double y = to_double(b);
	switch (op) {
	case OPR_ADD: return value_double(x + y);
	case OPR_SUB: return value_double(x - y);
	case OPR_MUL: return value_double(x * y);
	case OPR_DIV:
		if (y < 0 || y > 0 || y != y)
			return value_double(x / y);
		return value_missing();
	default: return value_missing();
	}
}

struct value
tel__value_unary(enum value_op op, const struct value *a)
{
	if (op == OPR_NEGATE && a->tag == V_DOUBLE)
		return value_double(-a->as.d);
	if (!is_integer(a))
		return value_missing();
	if (op == OPR_COMPLEMENT)
		return value_natural(~a->as.u);
	return from_magnitude(a->tag == V_NATURAL, query_value_magnitude(a));
}

/* An integer against a double, exactly: neither is rounded. */
static enum order
order_mixed(const struct value *i, double d)
{
	if (d != d)
		return ORDER_UNORDERED;
	if (i->tag == V_NATURAL) {
		if (d < 0)
			return ORDER_GREATER;
		if (d >= TWO_64)
			return ORDER_LESS;
		uint64_t whole = (uint64_t)d;
		if (i->as.u != whole)
			return i->as.u < whole ? ORDER_LESS : ORDER_GREATER;
		return (double)whole < d ? ORDER_LESS : ORDER_EQUAL;
	}
	if (d >= 0)
		return ORDER_LESS;
	if (d < -(TWO_64 / 2))
		return ORDER_GREATER;
	int64_t low = (int64_t)d;
	int64_t mine = -(int64_t)(query_value_magnitude(i) - 1) - 1;
	if (mine != low)
		return mine < low ? ORDER_LESS : ORDER_GREATER;
	return (double)low > d ? ORDER_GREATER : ORDER_EQUAL;
}

static enum order
order_strings(const struct value *a, const struct value *b, int any_case)
{
	size_t n = a->length < b->length ? a->length : b->length, i;
	int c = 0;

	if (any_case) {
		for (i = 0; i < n && c == 0; i++)
			c = lower(a->as.s[i]) - lower(b->as.s[i]);
	} else if (n > 0) {
		c = memcmp(a->as.s, b->as.s, n);
	}
	if (c != 0)
		return c < 0 ? ORDER_LESS : ORDER_GREATER;
	if (a->length == b->length)
		return ORDER_EQUAL;
	return a->length < b->length ? ORDER_LESS : ORDER_GREATER;
}

static enum order
order_numbers(const struct value *a, const struct value *b)
{
	if (is_integer(a) && is_integer(b)) {
		if (a->tag != b->tag)
			return a->tag == V_NEGATIVE ? ORDER_LESS :
			                              ORDER_GREATER;
		/* two's complement keeps the order among negatives */
		if (a->as.u == b->as.u)
			return ORDER_EQUAL;
		return a->as.u < b->as.u ? ORDER_LESS : ORDER_GREATER;
	}
	if (is_integer(a))
		return order_mixed(a, b->as.d);
	if (is_integer(b)) {
		enum order o = order_mixed(b, a->as.d);

		if (o == ORDER_LESS)
			return ORDER_GREATER;
		return o == ORDER_GREATER ? ORDER_LESS : o;
	}
	if (a->as.d < b->as.d)
		return ORDER_LESS;
	if (a->as.d > b->as.d)
		return ORDER_GREATER;
	return a->as.d == b->as.d ? ORDER_EQUAL : ORDER_UNORDERED;
}

enum tribool
tel__value_compare(enum value_op op, const struct value *a,
    const struct value *b, int any_case)
{
	enum order o = ORDER_UNLIKE;

	if (query_value_is_number(a) && query_value_is_number(b))
		o = order_numbers(a, b);
	else if (a->tag == V_STRING && b->tag == V_STRING)
		o = order_strings(a, b, any_case);
	if (o == ORDER_UNLIKE)
		return TRIBOOL_UNKNOWN;
	return value_holds(op, o) ? TRIBOOL_TRUE : TRIBOOL_FALSE;
}
