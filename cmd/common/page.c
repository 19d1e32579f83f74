/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes put into an output, and escaping. */
#include "page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
put(tel_output *out, const char *text)
{
	(void)tel_output_write(out, text, strlen(text));
}

void
put_many(tel_output *out, const char *text, size_t times)
{
	while (times-- > 0)
		put(out, text);
}

void
putf(tel_output *out, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	put(out, text);
}

size_t
page_utf8(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;
	size_t i, n;

	if (p[0] < 0x80)
		return p[0] != 0;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	c = p[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	/* overlong forms, surrogates, and what is past the last one */
	if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) ||
	    (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return 0;
	return n;
}

/* The code of a well-formed character of n bytes, 1 to 3. */
static unsigned
code_of(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	return n == 3 ? (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u) :
	    n == 2    ? (p[0] & 31u) << 6 | (p[1] & 63u) :
	                p[0];
}

/*
 * Characters that steer a terminal: U+0000 to U+001F, U+007F to U+009F, and
 * those that change the direction of text.
 */
static int
is_control(const char *text, size_t n)
{
	const unsigned c = n <= 3 ? code_of(text, n) : 0x10000;

	return c < 0x20 || (c >= 0x7f && c < 0xa0 && n > 0) || c == 0x61c ||
	    c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069);
}

void
put_json(tel_output *out, const char *text)
{
	put(out, "\"");
	while (*text != '\0') {
		const char *start = text;
		size_t n = page_utf8(text);
		unsigned char c;

		/* what needs no escape is written at once */
		while (n > 0 && !is_control(text, n) && *text != '"' &&
		    *text != '\\') {
			text += n;
			n = page_utf8(text);
		}
		(void)tel_output_write(out, start, (size_t)(text - start));
		c = (unsigned char)*text;
		if (c == '\0')
			break;
		if (c == '"' || c == '\\')
			putf(out, "\\%c", c);
		else
			putf(out, "\\u%04x", n > 0 ? code_of(text, n) : c);
		text += n > 0 ? n : 1;
	}
	put(out, "\"");
}

void
put_csv(tel_output *out, const char *text)
{
	if (strpbrk(text, "\",\r\n") == NULL && text[0] != ' ') {
		put(out, text);
		return;
	}
	put(out, "\"");
	for (; *text != '\0'; text++) {
		if (*text == '"')
			put(out, "\"");
		(void)tel_output_write(out, text, 1);
	}
	put(out, "\"");
}

/* U+FFFE and U+FFFF, which XML does not have. */
static int
is_no_character(const char *text, size_t n)
{
	return n == 3 &&
	    (memcmp(text, "\xef\xbf\xbe", 3) == 0 ||
	        memcmp(text, "\xef\xbf\xbf", 3) == 0);
}

size_t
put_xml_part(tel_output *out, const char *text, size_t most)
{
	const char *start = text;

	for (; *text != '\0' && most > 0; most--) {
		size_t n = page_utf8(text);
		unsigned char c = (unsigned char)*text;

		if (is_control(text, n) || is_no_character(text, n))
			n = 0;
		if (c == '&')
			put(out, "&amp;");
		else if (c == '<')
			put(out, "&lt;");
		else if (c == '>')
			put(out, "&gt;");
		else if (c == '"')
			put(out, "&quot;");
		else if (n == 0)
			putf(out, "\\x%02x", c);
		else
			(void)tel_output_write(out, text, n);
		text += n > 0 ? n : 1;
	}
	return (size_t)(text - start);
}

void
put_xml(tel_output *out, const char *text)
{
	(void)put_xml_part(out, text, SIZE_MAX);
}

static void
put_escaped(tel_output *out, const char *text, int quotes)
{
	while (*text != '\0') {
		size_t n = page_utf8(text);
		unsigned char c = (unsigned char)*text;

		if (c == '\\')
			put(out, "\\\\");
		else if (c == '\n')
			put(out, "\\n");
		else if (c == '"' && quotes)
			put(out, "\\\"");
		else if (n == 0 || is_control(text, n))
			putf(out, "\\\\x%02x", c);
		else
			(void)tel_output_write(out, text, n);
		text += n == 0 || is_control(text, n) ? 1 : n;
	}
}

void
put_label(tel_output *out, const char *text)
{
	put_escaped(out, text, 1);
}

void
put_help(tel_output *out, const char *text)
{
	put_escaped(out, text, 0);
}

char *
page_escape(char *buffer, size_t columns, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	size_t used = 0, cut = 0;

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		size_t need = c >= 0x20 && c <= 0x7e ? 1 : 4;

		/* where the dots go if what follows does not fit */
		if (used + 3 <= columns)
			cut = used;
		if (used + need > columns)
			break;
		if (need == 1) {
			buffer[used++] = (char)c;
			continue;
		}
		buffer[used++] = '\\';
		buffer[used++] = 'x';
		buffer[used++] = digits[c >> 4];
		buffer[used++] = digits[c & 15];
	}
	if (*text != '\0' && columns >= 3) {
		memcpy(buffer + cut, "...", 3);
		used = cut + 3;
	}
	buffer[used] = '\0';
	return buffer;
}
