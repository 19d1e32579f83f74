/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Range: what an expression may be worth for any of many events, when only the
 * least and the greatest value of each field are known.
 */
#ifndef TEL_QUERY_RANGE_H
#define TEL_QUERY_RANGE_H

#include "query/value.h"

struct tel_bound;
struct tel_field;

struct range {
	int known;           /* 0: it may be anything */
	int missing;         /* it may be missing */
	struct value lo, hi; /* if it is not, it is a number between these */
};

/* Truth values that are possible, as a set of bits. */
enum { MAY_BE_FALSE = 1, MAY_BE_TRUE = 2, MAY_BE_MISSING = 4 };
#define MAY_BE_ANY (MAY_BE_FALSE | MAY_BE_TRUE | MAY_BE_MISSING)

/* Anything. */
static inline struct range
range_any(void)
{
	const struct range r = { 0, 1, { V_MISSING, { 0 }, 0 },
		{ V_MISSING, { 0 }, 0 } };

	return r;
}

/* From one integer to another; low is not above high. */
static inline struct range
range_naturals(uint64_t low, uint64_t high)
{
	struct range r = { 1, 0, value_natural(low), value_natural(high) };

	return r;
}

/* One value. */
struct range tel__range_value(const struct value *v);
/* A field whose bounds are known, or not. */
struct range tel__range_field(const struct tel_field *f,
    const struct tel_bound *b);
/* One of OPR_ADD to OPR_SHR. */
struct range tel__range_arithmetic(enum value_op op, const struct range *a,
    const struct range *b);

/* Whether it is true as a condition. */
unsigned tel__range_truth(const struct range *r);
/* One of OPR_EQ to OPR_GE. */
unsigned tel__range_compare(enum value_op op, const struct range *a,
    const struct range *b);
/* A truth value as a range. */
struct range tel__range_verdict(unsigned truth);

/* Conditions of truth values. */
unsigned tel__range_not(unsigned a);
unsigned tel__range_and(unsigned a, unsigned b);
unsigned tel__range_or(unsigned a, unsigned b);

#endif
