/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes put into an output, and escaping. */
#include "page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"
#include "render/escape.h"

/* Bytes that are escaped at once. */
#define PART 256u

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
put_ascii(tel_output *out, const char *text, size_t n)
{
	char escaped[4];
	size_t i, plain = 0;

	for (i = 0; i < n; i++) {
		if (text[i] >= ' ' && text[i] <= '~')
			continue;
		(void)tel_output_write(out, text + plain, i - plain);
		tel_digit_escape(escaped, (unsigned char)text[i]);
		(void)tel_output_write(out, escaped, sizeof(escaped));
		plain = i + 1;
	}
	(void)tel_output_write(out, text + plain, n - plain);
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
	/* a character ends before the NUL of the text */
	return *text == '\0' ?
	    0 :
	    tel__utf8_length((const unsigned char *)text, TEL__UTF8_MAX);
}

static int
is_control(const char *text, size_t n)
{
	return tel__utf8_steers((const unsigned char *)text, n);
}

/* Escapes a text, in parts that end between characters. */
void
put_json(tel_output *out, const char *text)
{
	unsigned char escaped[TEL_ESCAPE_ROOM(PART)], *end;
	size_t left = strlen(text), n, i;

	put(out, "\"");
	for (; left > 0; text += n, left -= n) {
		n = left < PART ? left : PART;
		for (i = 0; n < left && i < 3 && (text[n] & 0xc0) == 0x80; i++)
			n--;
		end = tel__escape_json(escaped, text, n, 1);
		(void)tel_output_write(out, escaped, (size_t)(end - escaped));
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
common_page_put_escaped(tel_output *out, const char *text, int quotes)
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
	common_page_put_escaped(out, text, 1);
}

void
put_help(tel_output *out, const char *text)
{
	common_page_put_escaped(out, text, 0);
}

/* Columns of a byte, which is \xHH unless it is printable ASCII. */
static size_t
common_page_columns(unsigned char c)
{
	return c >= 0x20 && c <= 0x7e ? 1 : 4;
}

char *
page_escape(char *buffer, size_t columns, const char *text)
{
	size_t used = 0, cut = 0;

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		size_t need = common_page_columns(c);

		/* where the dots go if what follows does not fit */
		if (used + 3 <= columns)
			cut = used;
		if (used + need > columns)
			break;
		if (need == 1) {
			buffer[used++] = (char)c;
			continue;
		}
		tel_digit_escape(buffer + used, c);
		used += need;
	}
	if (*text != '\0' && columns >= 3) {
		memcpy(buffer + cut, "...", 3);
		used = cut + 3;
	}
	buffer[used] = '\0';
	return buffer;
}

char *
page_shorten(char *buffer, size_t columns, const char *text)
{
	const size_t head = columns / 3 + 3;
	size_t used = 0;
	const char *end = text;

	for (; *end != '\0'; end++)
		used += common_page_columns((unsigned char)*end);
	if (used <= columns || columns < 16)
		return page_escape(buffer, columns, text);
	(void)page_escape(buffer, head, text);
	const size_t n = strlen(buffer);
	for (used = n; used <= columns; end--)
		used += common_page_columns((unsigned char)end[-1]);
	(void)page_escape(buffer + n, columns - n, end + 1);
	return buffer;
}
