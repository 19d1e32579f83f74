/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Varint: an integer of 7 bits a byte, the lowest first; the top bit of a byte
 * is set if another one follows (LEB128).
 */
#ifndef TEL__VARINT_H
#define TEL__VARINT_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes of one. */
#define TEL__VARINT_MAX 10u

/* Writes v to p, where TEL__VARINT_MAX bytes fit.  Returns where it ends. */
static inline unsigned char *
tel__varint_put(unsigned char *p, uint64_t v)
{
	for (; v > 127; v >>= 7)
		*p++ = (unsigned char)(v | 128);
	*p++ = (unsigned char)v;
	return p;
}

/*
 * Reads one from the bytes before end.  Returns where it ends; NULL when it
 * does not, or has more than 64 bits.
 */
static inline const unsigned char *
tel__varint_get(const unsigned char *p, const unsigned char *end, uint64_t *out)
{
	uint64_t v = 0;
	unsigned shift = 0;

	for (; p < end; shift += 7) {
		const unsigned char c = *p++;

		if (shift > 63 || (shift == 63 && c > 1))
			return NULL;
		v |= (uint64_t)(c & 127) << shift;
		if (c < 128) {
			*out = v;
			return p;
		}
	}
	return NULL;
}

/* Small differences of either sign as small numbers, and back. */
static inline uint64_t
tel__zigzag(uint64_t d)
{
	return d << 1 ^ (0 - (d >> 63));
}

static inline uint64_t
tel__unzigzag(uint64_t z)
{
	return z >> 1 ^ (0 - (z & 1));
}

#endif
