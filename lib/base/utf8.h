/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8 (RFC 3629). */
#ifndef TEL__UTF8_H
#define TEL__UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes of a character. */
#define TEL__UTF8_MAX 4u

/*
 * The length of the well-formed character that the n bytes at s start with, 1
 * to 4; 0 when there is none.
 */
size_t tel__utf8_length(const unsigned char *s, size_t n);

/*
 * Writes the character c, which is at most U+10FFFF, to p, where
 * TEL__UTF8_MAX bytes fit.  Returns where it ends.
 */
unsigned char *tel__utf8_put(unsigned char *p, uint32_t c);

/* The character of a surrogate pair of UTF-16. */
static inline uint32_t
tel__utf16_pair(uint32_t high, uint32_t low)
{
	return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
}

#endif
