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
 * The same of what modified UTF-8 has beyond that (The Java Virtual Machine
 * Specification, 4.4.7): NUL in 2 bytes, a surrogate in 3; or 0.
 */
size_t tel__utf8_modified(const unsigned char *s, size_t n);

/*
 * Writes the character c, which is at most U+10FFFF, to p, where
 * TEL__UTF8_MAX bytes fit.  Returns where it ends.
 */
unsigned char *tel__utf8_put(unsigned char *p, uint32_t c);

/*
 * Whether a character of n bytes steers a terminal: it is a control character,
 * U+0000 to U+001F and U+007F to U+009F, or changes the direction of the text
 * (Unicode Standard Annex 9, section 2): U+061C, U+200E, U+200F, U+202A to
 * U+202E and U+2066 to U+2069.
 */
static inline int
tel__utf8_steers(const unsigned char *s, size_t n)
{
	switch (n) {
	case 1: return s[0] < 0x20 || s[0] == 0x7f;
	case 2:
		return (s[0] == 0xc2 && s[1] < 0xa0) ||
		    (s[0] == 0xd8 && s[1] == 0x9c);
	case 3:
		return s[0] == 0xe2 &&
		    ((s[1] == 0x80 &&
		         (s[2] == 0x8e || s[2] == 0x8f ||
		             (s[2] >= 0xaa && s[2] <= 0xae))) ||
		        (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
	default: return 0;
	}
}

/* The character of a surrogate pair of UTF-16. */
static inline uint32_t
tel__utf16_pair(uint32_t high, uint32_t low)
{
	return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
}

#endif
