/* SPDX-License-Identifier: BSD-2-Clause */
/* Characters of numbers and names: digits of a base, letters, suffixes of units. */
#ifndef TEL_DIGIT_H
#define TEL_DIGIT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int
tel_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

/* A letter of ASCII or an underscore, in any locale. */
static inline int
tel_is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline int
tel_is_word(int c)
{
	return tel_is_letter(c) || tel_is_digit(c);
}

/* The value of a hexadecimal digit; 99 for any other character. */
static inline unsigned
tel_digit(int c)
{
	if (tel_is_digit(c))
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

/* How many characters of a message a byte takes: itself, or \xHH. */
static inline size_t
tel_digit_width(char c)
{
	return c >= ' ' && c <= '~' ? 1 : 4;
}

/*
 * Makes a text printable ASCII: any other byte becomes \xHH. Where size bytes
 * have no room for that, it ends at a whole character.
 */
void tel__printable(char *text, size_t size);

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
