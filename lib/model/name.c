/* SPDX-License-Identifier: BSD-2-Clause */
/* The spelling of names. */
#include "model/name.h"

#include <stdlib.h>
#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"

static int
name_is_hex(unsigned char c)
{
	return tel_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* Bytes of \xHH, or 0. */
static size_t
escape_at(const unsigned char *p, size_t n)
{
	return n >= 4 && p[0] == '\\' && p[1] == 'x' && name_is_hex(p[2]) &&
	        name_is_hex(p[3]) ?
	    4 :
	    0;
}

/* Bytes of a character that is not ASCII and does not steer a terminal. */
static size_t
character_at(const unsigned char *p, size_t n)
{
	const size_t size = *p >= 0x80 ? tel__utf8_length(p, n) : 0;

	return tel__utf8_steers(p, size) ? 0 : size;
}

/* Bytes that need no escape in a spelling, or 0. */
static size_t
plain_at(const unsigned char *p, size_t n, int first, int words)
{
	if (tel_is_letter(*p) || (!first && (tel_is_digit(*p) || *p == '.')))
		return 1;
	size_t size = escape_at(p, n);
	if (size == 0)
		size = character_at(p, n);
	if (size == 0 && words && *p >= ' ' && *p <= '~' && *p != '\\')
		size = 1;
	return size;
}

/* colons: those behind the first byte are part of the name. */
static int
is_spelling(const unsigned char *p, size_t n, int colons)
{
	size_t at = 0, size;

	if (n == 0 || n > TEL__NAME_SPELLING)
		return 0;
	for (; at < n; at += size) {
		size = plain_at(p + at, n - at, at == 0, 0);
		if (size == 0 && colons && at > 0 && p[at] == ':')
			size = 1;
		if (size == 0)
			return 0;
	}
	return 1;
}

int
tel__name_is(const unsigned char *p, size_t n)
{
	return is_spelling(p, n, 0);
}

int
tel__name_is_type(const unsigned char *p, size_t n)
{
	return is_spelling(p, n, 1);
}

char *
tel__name_spell(const unsigned char *p, size_t n, int words)
{
	char *out = malloc(4 * n + 1), *q = out;
	size_t at = 0, size, i;

	if (out == NULL)
		return NULL;
	for (; at < n; at += size) {
		size = plain_at(p + at, n - at, at == 0, words == 1);
		if (size == 0 && words == 2 && at > 0 && p[at] == ':')
			size = 1;
		for (i = 0; i < size; i++)
			*q++ = (char)p[at + i];
		if (size > 0)
			continue;
		size = 1;
		tel_digit_escape(q, p[at]);
		q += 4;
	}
	*q = '\0';
	return out;
}

char *
tel__name_cut(const char *name, int words)
{
	unsigned char *p =
	    (unsigned char *)tel__name_spell((const unsigned char *)name,
	        strlen(name), words);
	const size_t n = p != NULL ? strlen((char *)p) : 0;
	size_t at = 0, size;

	for (; at < n; at += size) {
		size = plain_at(p + at, n - at, at == 0, words == 1);
		size += size == 0; /* a colon */
		if (at + size > TEL__NAME_MAX) {
			p[at] = '\0';
			break;
		}
	}
	return (char *)p;
}
