/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of values.  Arithmetic is that of integers where it keeps an order:
 * then the result lies between those of the ends.  Everything else, and what
 * leaves the integers at an end, may be anything.
 */
#include "query/range.h"

#include "reader/reader.h"

#define INFINITE ((uint64_t)0x7ff << 52) /* the bits of a double */

static int
is_natural(const struct range *r)
{
	return r->known && r->lo.tag == V_NATURAL && r->hi.tag == V_NATURAL;
}

static int
query_range_is_integer(const struct range *r)
{
	return r->known && r->lo.tag != V_DOUBLE && r->hi.tag != V_DOUBLE;
}

static int
is_below(const struct value *a, const struct value *b)
{
	return tel__value_compare(OPR_LT, a, b, 0) == TRIBOOL_TRUE;
}

/* ---------------------------------------------------------------- leaves */

struct range
tel__range_value(const struct value *v)
{
	struct range r = { 1, 0, *v, *v };

	if (v->tag == V_NATURAL || v->tag == V_NEGATIVE ||
	    (v->tag == V_DOUBLE && v->as.d == v->as.d))
		return r;
	return range_any();
}

/*
 * Doubles by their bits, which are in order where none is negative, and in
 * reverse where all are; NaNs are beyond infinity.
 */
static struct range
doubles(uint64_t low, uint64_t high)
{
	const uint64_t sign = (uint64_t)1 << 63;
	struct range r = { 1, 0, value_double(tel_bits_double(low)),
		value_double(tel_bits_double(high)) };
	const struct value least = r.hi;

	if (high <= INFINITE)
		return r;
	if (low < sign || high > (sign | INFINITE))
		return range_any();
	r.hi = r.lo;
	r.lo = least;
	return r;
}

/* Signed numbers of some width, of which all or none are negative. */
static struct range
query_range_integers(uint64_t low, uint64_t high, unsigned width)
{
	const uint64_t sign = (uint64_t)1 << (width - 1);
	struct range r = { 1, 0, value_of_width(low, width),
		value_of_width(high, width) };

	if ((low & sign) != (high & sign) || high - low >= sign)
		return range_any();
	return r;
}

struct range
tel__range_field(const struct tel_field *f, const struct tel_bound *b)
{
	if (!b->known)
		return range_any();
	switch (f->datatype) {
	case TEL_STRING: return range_any();
	case TEL_DOUBLE: return doubles(b->low, b->high);
	case TEL_SIGNED: return query_range_integers(b->low, b->high, f->width);
	default: return range_naturals(b->low, b->high);
	}
}

/* ------------------------------------------------------------ arithmetic */

/*
 * Results of the ends; one that is missing at an end may be missing between
 * them.
 */
static struct range
query_range_between(enum value_op op, const struct range *a,
    const struct value *b_of_lo, const struct value *b_of_hi)
{
	struct range r = { 1, a->missing,
		tel__value_arithmetic(op, &a->lo, b_of_lo),
		tel__value_arithmetic(op, &a->hi, b_of_hi) };

	if (r.lo.tag == V_MISSING || r.hi.tag == V_MISSING)
		return range_any();
	return r;
}

/* Bits that both have are as much as either of them, at the most. */
static struct range
common_bits(const struct range *a, const struct range *b)
{
	if (a->lo.as.u == a->hi.as.u && b->lo.as.u == b->hi.as.u)
		return range_naturals(a->lo.as.u & b->lo.as.u,
		    a->lo.as.u & b->lo.as.u);
	return range_naturals(0,
	    a->hi.as.u < b->hi.as.u ? a->hi.as.u : b->hi.as.u);
}

/* The remainder of a division by a divisor that is not 0. */
static struct range
remainders(const struct range *a, const struct range *b)
{
	if (a->hi.as.u < b->lo.as.u)
		return *a;
	return range_naturals(0,
	    a->hi.as.u < b->hi.as.u ? a->hi.as.u : b->hi.as.u - 1);
}

/* Of natural numbers. */
static struct range
naturals(enum value_op op, const struct range *a, const struct range *b)
{
	switch (op) {
	case OPR_MUL: return query_range_between(op, a, &b->lo, &b->hi);
	case OPR_AND: return common_bits(a, b);
	case OPR_SHR:
	case OPR_DIV: return query_range_between(op, a, &b->hi, &b->lo);
	case OPR_MOD:
		if (b->lo.as.u > 0)
			return remainders(a, b);
		return range_any();
	default: return range_any();
	}
}

struct range
tel__range_arithmetic(enum value_op op, const struct range *a,
    const struct range *b)
{
	struct range r = range_any();

	if (op == OPR_ADD && query_range_is_integer(a) &&
	    query_range_is_integer(b))
		r = query_range_between(op, a, &b->lo, &b->hi);
	else if (op == OPR_SUB && query_range_is_integer(a) &&
	    query_range_is_integer(b))
		r = query_range_between(op, a, &b->hi, &b->lo);
	else if (is_natural(a) && is_natural(b))
		r = naturals(op, a, b);
	r.missing |= a->missing | b->missing;
	return r;
}

/* ---------------------------------------------------------------- truth */

unsigned
tel__range_truth(const struct range *r)
{
	const struct value zero = value_natural(0);

	if (!r->known)
		return MAY_BE_ANY;
	unsigned truth = r->missing ? MAY_BE_MISSING : 0;
	if (is_below(&r->lo, &zero) || is_below(&zero, &r->hi))
		truth |= MAY_BE_TRUE;
	if (!is_below(&zero, &r->lo) && !is_below(&r->hi, &zero))
		truth |= MAY_BE_FALSE;
	return truth;
}

unsigned
tel__range_compare(enum value_op op, const struct range *a,
    const struct range *b)
{
	if (!a->known || !b->known)
		return MAY_BE_ANY;
	unsigned truth = a->missing || b->missing ? MAY_BE_MISSING : 0;
	if (is_below(&a->lo, &b->hi))
		truth |=
		    value_holds(op, ORDER_LESS) ? MAY_BE_TRUE : MAY_BE_FALSE;
	if (is_below(&b->lo, &a->hi))
		truth |=
		    value_holds(op, ORDER_GREATER) ? MAY_BE_TRUE : MAY_BE_FALSE;
	if (!is_below(&a->hi, &b->lo) && !is_below(&b->hi, &a->lo))
		truth |=
		    value_holds(op, ORDER_EQUAL) ? MAY_BE_TRUE : MAY_BE_FALSE;
	return truth;
}

struct range
tel__range_verdict(unsigned truth)
{
	struct range r =
	    range_naturals(!(truth & MAY_BE_FALSE), (truth & MAY_BE_TRUE) != 0);

	if (!(truth & (MAY_BE_FALSE | MAY_BE_TRUE)))
		return range_any();
	r.missing = (truth & MAY_BE_MISSING) != 0;
	return r;
}

unsigned
tel__range_not(unsigned a)
{
	return (a & MAY_BE_MISSING) | (a & MAY_BE_FALSE ? MAY_BE_TRUE : 0) |
	    (a & MAY_BE_TRUE ? MAY_BE_FALSE : 0);
}

unsigned
tel__range_and(unsigned a, unsigned b)
{
	unsigned truth = (a | b) & MAY_BE_FALSE;

	if (a & b & MAY_BE_TRUE)
		truth |= MAY_BE_TRUE;
	if ((a | b) & MAY_BE_MISSING)
		truth |= MAY_BE_MISSING;
	return truth;
}

unsigned
tel__range_or(unsigned a, unsigned b)
{
	return tel__range_not(
	    tel__range_and(tel__range_not(a), tel__range_not(b)));
}
