/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buckets of a histogram of numbers: by powers of two, or sixteen for each of
 * them.
 */
#ifndef TEL__BUCKET_H
#define TEL__BUCKET_H

#include <stdint.h>

/* The bits of a number: 0 of 0, else i where it is in [2^(i-1), 2^i). */
static inline unsigned
tel__bit_length(uint64_t v)
{
	return v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
}

/* Numbers below 32 have a bucket each; 976 buckets hold all numbers. */
static inline unsigned
tel__bucket(uint64_t v)
{
	const unsigned log = v < 16 ? 0 : tel__bit_length(v) - 5;

	return log * 16 + (unsigned)(v >> log);
}

/* The least number of a bucket; 0 of the one behind the last. */
static inline uint64_t
tel__bucket_start(unsigned i)
{
	return i < 16 ? i : (uint64_t)(16 + i % 16) << (i / 16 - 1);
}

#endif
