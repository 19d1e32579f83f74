/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of a log as the formats write them. */
#include "render/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"

static const char lower[] = "0123456789abcdef";

static int
escape_is_plain(unsigned char c)
{
	return c >= 0x20 && c <= 0x7e;
}

static unsigned char *
escape_put_byte(unsigned char *p, unsigned char c)
{
	tel_digit_escape(p, c);
	return p + 4;
}

/*
 * Whether none of the eight bytes of x has to be escaped: each is from 0x20 to
 * 0x7e and neither quote nor backslash.  The top bit of each byte of the terms
 * is the result for it; a borrow or carry starts only in a byte that fails
 * already.
 */
static int
eight_plain(uint64_t x)
{
	const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
	uint64_t quote = x ^ ones * '"', back = x ^ ones * '\\';

	return ((x | (x - ones * 0x20) | (x + ones) | (quote - ones) |
	            (back - ones)) &
	           tops) == 0;
}

/*
 * How many bytes of s, by eights, can be copied to p as they are; copies.  The
 * last ones make an eight with some that were copied already; four to seven
 * are two halves of one.
 */
static size_t
escape_copy_plain(unsigned char *p, const char *s, size_t n)
{
	uint32_t half[2];
	uint64_t x;
	size_t i;

	if (n < 8 && n >= 4) {
		memcpy(&half[0], s, 4);
		memcpy(&half[1], s + n - 4, 4);
		memcpy(&x, half, 8);
		if (!eight_plain(x))
			return 0;
		memcpy(p, &half[0], 4);
		memcpy(p + n - 4, &half[1], 4);
		return n;
	}
	for (i = 0; n - i >= 8; i += 8) {
		memcpy(&x, s + i, 8);
		if (!eight_plain(x))
			break;
		memcpy(p + i, &x, 8);
	}
	if (n - i < 8 && i > 0) {
		memcpy(&x, s + n - 8, 8);
		if (eight_plain(x)) {
			memcpy(p + n - 8, &x, 8);
			return n;
		}
	}
	return i;
}

/* The letter behind the backslash of a character that has one, or 0. */
static unsigned char
escape_letter(unsigned char c)
{
	switch (c) {
	case '"':
	case '\\': return c;
	case '\n': return 'n';
	case '\t': return 't';
	case '\r': return 'r';
	default: return 0;
	}
}

unsigned char *
tel__escape_text(unsigned char *p, const char *s, size_t n, int doubled)
{
	size_t i = escape_copy_plain(p, s, n);

	for (p += i; i < n; i++) {
		unsigned char c = (unsigned char)s[i],
		              letter = escape_letter(c);

		if (letter != 0) {
			*p++ = '\\';
			*p++ = letter;
			if (doubled && c == '"')
				*p++ = '"';
		} else if (escape_is_plain(c)) {
			*p++ = c;
		} else {
			p = escape_put_byte(p, c);
		}
	}
	return p;
}

unsigned char *
tel__escape_quoted(unsigned char *p, const char *s, size_t n, int safe)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = c;
		} else if (safe && !escape_is_plain(c)) {
			p = escape_put_byte(p, c);
		} else {
			*p++ = c;
		}
	}
	return p;
}

/* A character up to U+FFFF. */
static unsigned char *
put_unicode(unsigned char *p, unsigned c)
{
	*p++ = '\\';
	*p++ = 'u';
	*p++ = (unsigned char)lower[c >> 12 & 15];
	*p++ = (unsigned char)lower[c >> 8 & 15];
	*p++ = (unsigned char)lower[c >> 4 & 15];
	*p++ = (unsigned char)lower[c & 15];
	return p;
}

/* An ASCII character. */
static unsigned char *
put_json(unsigned char *p, unsigned char c)
{
	const unsigned char letter = escape_letter(c);

	if (letter != 0)
		*p++ = '\\';
	else if (!escape_is_plain(c))
		return put_unicode(p, c);
	*p++ = letter != 0 ? letter : c;
	return p;
}

/* The character of two or three bytes. */
static unsigned
character(const unsigned char *s, size_t length)
{
	return length == 2 ?
	    (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu) :
	    (s[0] & 15u) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
}

/*
 * Puts a surrogate of modified UTF-8, with the next one if they are a pair; one
 * that is not of a pair becomes U+FFFD, as many readers refuse it.  Returns how
 * many bytes it was.
 */
static size_t
put_surrogates(unsigned char **p, const unsigned char *s, size_t n)
{
	const unsigned first = character(s, 3);

	if (first < 0xdc00 && tel__utf8_modified(s + 3, n - 3) == 3 &&
	    character(s + 3, 3) >= 0xdc00) {
		*p = put_unicode(*p, first);
		*p = put_unicode(*p, character(s + 3, 3));
		return 6;
	}
	*p = put_unicode(*p, 0xfffd);
	return 3;
}

unsigned char *
tel__escape_json(unsigned char *p, const char *s, size_t n, int safe)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t i = escape_copy_plain(p, s, n), length, modified;

	for (p += i; i < n; i += length) {
		if (u[i] < 0x80) {
			p = put_json(p, u[i]);
			length = 1;
			continue;
		}
		length = tel__utf8_length(u + i, n - i);
		modified = length > 0 ? 0 : tel__utf8_modified(u + i, n - i);
		if (modified == 3) {
			length = put_surrogates(&p, u + i, n - i);
		} else if (modified > 0 ||
		    (length > 0 && safe && tel__utf8_steers(u + i, length))) {
			length += modified;
			p = put_unicode(p, character(u + i, length));
		} else if (length == 0) {
			p = put_unicode(p, u[i]);
			length = 1;
		} else {
			memcpy(p, u + i, length);
			p += length;
		}
	}
	return p;
}

unsigned char *
tel__escape_utf8(unsigned char *p, const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t i = escape_copy_plain(p, s, n), length;

	for (p += i; i < n; i += length) {
		length = u[i] < 0x80 ? 1 : tel__utf8_length(u + i, n - i);
		if (length > 1) {
			memcpy(p, u + i, length);
			p += length;
		} else if (length == 1) {
			*p++ = u[i];
		} else {
			/* two bytes: a NUL in Java's strings */
			length = tel__utf8_modified(u + i, n - i) == 2 ? 2 : 1;
			p = tel__utf8_put(p, length == 2 ? 0 : u[i]);
		}
	}
	return p;
}

/* Nonzero when a CSV field of these bytes must be quoted. */
static int
csv_quotes(const char *s, size_t n, int safe)
{
	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (s[i] == ',' || s[i] == '"' ||
		    (!safe && (s[i] == '\r' || s[i] == '\n')))
			return 1;
	/* blanks at the ends are what some readers drop */
	return s[0] == ' ' || s[n - 1] == ' ' ||
	    (!safe && (s[0] == '\t' || s[n - 1] == '\t'));
}

unsigned char *
tel__escape_cell(unsigned char *p, const char *name, size_t name_length,
    const char *s, size_t n, int safe)
{
	int quotes = csv_quotes(s, n, safe);

	if (quotes)
		*p++ = '"';
	if (name_length > 0) {
		memcpy(p, name, name_length);
		p += name_length;
		*p++ = '=';
	}
	if (safe) {
		p = tel__escape_text(p, s, n, quotes);
	} else {
		for (size_t i = 0; i < n; i++) {
			if (s[i] == '"')
				*p++ = '"';
			*p++ = (unsigned char)s[i];
		}
	}
	if (quotes)
		*p++ = '"';
	return p;
}

unsigned char *
tel__escape_csv(unsigned char *p, const char *s, size_t n, int safe)
{
	return tel__escape_cell(p, "", 0, s, n, safe);
}

unsigned char *
tel__escape_sql(unsigned char *p, const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t i, length;

	for (i = 0; i < n; i += length) {
		length = tel__utf8_length(u + i, n - i);
		if (length == 0 || tel__utf8_steers(u + i, length)) {
			memcpy(p, "CAST(X'", 7);
			p = tel__escape_hex(p + 7, u, n);
			memcpy(p, "' AS TEXT)", 10);
			return p + 10;
		}
	}
	*p++ = '\'';
	for (i = 0; i < n; i++) {
		if (s[i] == '\'')
			*p++ = '\'';
		*p++ = u[i];
	}
	*p++ = '\'';
	return p;
}

unsigned char *
tel__escape_hex(unsigned char *p, const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*p++ = (unsigned char)lower[s[i] >> 4];
		*p++ = (unsigned char)lower[s[i] & 15];
	}
	return p;
}
