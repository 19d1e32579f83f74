/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signed integers of 128 bits, in two words.  Sums of 64-bit values do not
 * overflow them in practice; each operation reports when it wrapped.
 */
#ifndef TEL_BASE_INT128_H
#define TEL_BASE_INT128_H

#include "tel/base.h"

static inline tel_int128
int128_u64(uint64_t v)
{
	tel_int128 w = { 0, v };

	return w;
}

static inline tel_int128
int128_i64(int64_t v)
{
	tel_int128 w = { v < 0 ? -1 : 0, (uint64_t)v };

	return w;
}

/* Whether v lies in the range of an int64_t. */
static inline int
int128_is_i64(tel_int128 v)
{
	return v.high == (v.low >> 63 ? -1 : 0);
}

/* Whether v lies in the range of a uint64_t. */
static inline int
int128_is_u64(tel_int128 v)
{
	return v.high == 0;
}

/* Negative, 0 or positive as a is less than, equal to or more than b. */
static inline int
int128_compare(tel_int128 a, tel_int128 b)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return (a.low > b.low) - (a.low < b.low);
}

static inline int
int128_less(tel_int128 a, tel_int128 b)
{
	return a.high < b.high || (a.high == b.high && a.low < b.low);
}

/* *to += v, modulo 2^128.  Returns 1 when it wrapped, else 0. */
static inline int
int128_add(tel_int128 *to, tel_int128 v)
{
	int carry = __builtin_add_overflow(to->low, v.low, &to->low);
	uint64_t high = (uint64_t)to->high + (uint64_t)v.high + (uint64_t)carry;
	int negative = to->high < 0;

	to->high = (int64_t)high;
	return negative == (v.high < 0) && negative != (to->high < 0);
}

/* The product of two words as two words. */
void tel__multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low);

/* The two's complement. */
tel_int128 tel__int128_negate(tel_int128 v);

/* *to += v * times, modulo 2^128.  Returns 1 when it wrapped, else 0. */
int tel__int128_add_times(tel_int128 *to, tel_int128 v, uint64_t times);

/*
 * Reads a decimal number, all of text up to end, into *out.  Returns 1, or 0
 * when it is invalid or too large.
 */
int tel__int128_parse(const char *text, const char *end, tel_int128 *out);

/* *to += v, modulo 2^64.  Returns 1 when it wrapped, else 0. */
static inline int
count_add(uint64_t *to, uint64_t v)
{
	return __builtin_add_overflow(*to, v, to);
}

#endif
