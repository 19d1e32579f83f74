/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people write them: digits of a base, and suffixes of units. */
#ifndef TEL_DIGIT_H
#define TEL_DIGIT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The value of a hexadecimal digit; 99 for any other character. */
static inline unsigned
tel_digit(int c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

/* Writes a byte as \xHH, four characters. */
static inline void
tel_digit_escape(void *to, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	const char escape[4] = { '\\', 'x', digits[c >> 4], digits[c & 15] };

	memcpy(to, escape, sizeof(escape));
}

/*
 * Reads the digits of a base at p, of which there may be none, into *out.
 * Returns where they end, or NULL: the number is over 2^64 - 1.
 */
const char *tel__digits(const char *p, unsigned base, uint64_t *out);

struct tel_suffix {
	const char *name;
	uint64_t factor; /* of a time, nanoseconds */
	int is_time;
	int is_long; /* m and h, which could be mistaken for others */
};

/*
 * The suffix of n bytes, "" (1), k K M G T, alone or as KiB, ns us ms s m h; or
 * NULL.
 */
const struct tel_suffix *tel__suffix_find(const char *p, size_t n);

#endif
