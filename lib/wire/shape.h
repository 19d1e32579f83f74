/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shape: how long the numbers are that a column may be stored as, from which the
 * one that is chosen follows.
 */
#ifndef TEL__WIRE_SHAPE_H
#define TEL__WIRE_SHAPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/varint.h"

/* Two values, which processors combine at once. */
typedef uint64_t two __attribute__((vector_size(16)));

struct column {
	const uint64_t *v;
	size_t n;
	uint64_t before;
	int fast;
	/* the values that are looked at */
	size_t runs, run, apart;
	uint64_t low, high; /* the least and the greatest value */
	int exact;          /* or what their bits allow, if not */
	uint64_t scale;     /* divides all differences: */
	unsigned shift; /* by 2^shift, and by the inverse of an odd number */
	uint64_t inverse;
};

/* How many units of a column, or steps, have so many bytes. */
struct shape {
	size_t bytes[9];
	unsigned widest; /* in bytes */
};

/* The bits of v; for 64 it may be 63, which take as many bytes. */
static inline unsigned
shape_length_of(uint64_t v)
{
	return 63 ^ (unsigned)__builtin_clzll((v | v >> 1) << 1 | 1);
}

/*
 * The same; small: v has 52 bits at most, which are found in the exponent of a
 * double: to find the highest bit takes some processors much longer (Zen 3).
 */
static inline __attribute__((always_inline)) unsigned
shape_bits_of(uint64_t v, int small)
{
	const double x = (double)(int64_t)(v << 1 | 1);
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return small ? (unsigned)(bits >> 52) - 1023 : shape_length_of(v);
}

/* What of the values is stored. */
enum unit {
	UNIT_VALUE,     /* the distance from the base, by a scale of 2^shift */
	UNIT_STEP,      /* from the value before it */
	UNIT_ODD_VALUE, /* the same by other scales */
	UNIT_ODD_STEP,
	UNIT_CHANGE /* of the step */
};

/* The unit of v[0].  By a power of 2, a zigzag number is what it is shifted. */
static inline __attribute__((always_inline)) uint64_t
shape_unit_of(const uint64_t *v, uint64_t base, unsigned shift,
    uint64_t inverse, enum unit unit)
{
	uint64_t d;

	switch (unit) {
	case UNIT_VALUE: return (v[0] - base) >> shift;
	case UNIT_STEP: return tel__zigzag(v[0] - v[-1]) >> shift;
	case UNIT_ODD_VALUE: return ((v[0] - base) >> shift) * inverse;
	case UNIT_ODD_STEP: d = v[0] - v[-1]; break;
	case UNIT_CHANGE:
	default: d = v[0] - v[-1] - (v[-1] - v[-2]);
	}
	return tel__zigzag((uint64_t)((int64_t)d >> shift) * inverse);
}

/*
 * Whether units of the column may have more than 52 bits: a step is at most two
 * times as large as the range.  One of 2^63 or more wraps, and the scale does not
 * divide what remains.
 */
static inline int
shape_is_wide(const struct column *c)
{
	const uint64_t range = c->high - c->low;

	return (range >> c->shift | range >> 13) >> 50 != 0;
}

/* Counts the units of the values, and of the steps, that are looked at. */
void tel__shape_measure(const struct column *c, struct shape *values,
    struct shape *steps);
/* Adds the changes of all steps. */
void tel__shape_add_changes(struct shape *s, const struct column *c);

#endif
