/* SPDX-License-Identifier: BSD-2-Clause */
/* Page: its HTML around the data, and the JSON of its head. */
#include "print/page.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "io/gzip.h"
#include "render/list.h"
#include "render/number.h"
#include "tel/printer.h"

/* Bytes of the title that are shown. */
#define TITLE_MAX 200
/* Bytes that become base64 at once; a multiple of 3. */
#define PIECE 3072u

/* Where a page goes; out may be NULL, then its bytes are counted only. */
struct page_writer {
	struct tel_output *out;
	uint64_t size;
};

static void
print_page_put(struct page_writer *p, const void *bytes, size_t n)
{
	p->size += n;
	if (p->out != NULL)
		(void)tel_output_write(p->out, bytes, n);
}

static void
put_text(struct page_writer *p, const char *text)
{
	print_page_put(p, text, strlen(text));
}

static void
put_part(struct page_writer *p, const struct page_part *part)
{
	print_page_put(p, part->bytes, part->size);
}

/* ---------------------------------------------------------------- title */

/* Text as HTML; bytes that are not UTF-8, or that steer text, are replaced. */
static void
put_escaped(struct page_writer *p, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = strlen(text), i, length;

	if (n > TITLE_MAX)
		n = TITLE_MAX;
	for (i = 0; i < n; i += length) {
		length = tel__utf8_length(s + i, n - i);
		if (length == 0 || tel__utf8_steers(s + i, length)) {
			length = length == 0 ? 1 : length;
			put_text(p, "\xef\xbf\xbd");
		} else if (s[i] == '&') {
			put_text(p, "&amp;");
		} else if (s[i] == '<') {
			put_text(p, "&lt;");
		} else if (s[i] == '>') {
			put_text(p, "&gt;");
		} else {
			print_page_put(p, s + i, length);
		}
	}
}

/* --------------------------------------------------------------- base64 */

static void
put_base64(struct page_writer *p, const unsigned char *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                             "abcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char text[PIECE / 3 * 4];
	size_t i, used = 0;

	if (p->out == NULL) {
		p->size += (n + 2) / 3 * 4;
		return;
	}
	for (i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)bytes[i] << 16;

		if (i + 1 < n)
			v |= (uint32_t)bytes[i + 1] << 8;
		if (i + 2 < n)
			v |= bytes[i + 2];
		text[used] = (unsigned char)digits[v >> 18];
		text[used + 1] = (unsigned char)digits[v >> 12 & 63];
		text[used + 2] =
		    (unsigned char)(i + 1 < n ? digits[v >> 6 & 63] : '=');
		text[used + 3] =
		    (unsigned char)(i + 2 < n ? digits[v & 63] : '=');
		used += 4;
		if (used == sizeof(text)) {
			print_page_put(p, text, used);
			used = 0;
		}
	}
	print_page_put(p, text, used);
}

static void
put_data(struct page_writer *p, const char *id, const unsigned char *bytes,
    size_t n)
{
	put_text(p, "<script type=\"application/x-teltools\" id=\"");
	put_text(p, id);
	put_text(p, "\">");
	put_base64(p, bytes, n);
	put_text(p, "</script>\n");
}

/* ----------------------------------------------------------------- page */

static void
put_top(struct page_writer *p, const struct page_kind *kind, const char *title)
{
	put_text(p,
	    "<!doctype html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"");
	put_text(p, kind->policy);
	put_text(p,
	    "\">\n<meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"generator\" content=\"teltools " TEL_VERSION
	    "\">\n<title>");
	put_escaped(p, title);
	put_text(p, "</title>\n<style>");
	put_part(p, &tel__page_style);
	put_text(p, "</style>\n</head>\n<body>\n");
	put_part(p, &tel__page_shell);
}

static void
put_bottom(struct page_writer *p, const struct page_kind *kind)
{
	put_text(p, "<script>");
	put_part(p, &kind->script);
	put_text(p, "</script>\n</body>\n</html>\n");
}

static void
write_page(struct tel_output *out, const struct page_kind *kind,
    const char *title, const struct tel__buffer *head,
    const struct page_block *blocks, size_t n)
{
	struct page_writer p = { out, 0 };
	char id[32];

	put_top(&p, kind, title);
	put_data(&p, "head", head->bytes, head->used);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(id, sizeof(id), "b%zu", i);
		put_data(&p, id, blocks[i].bytes, blocks[i].size);
	}
	put_bottom(&p, kind);
}

void
tel__page_write(struct tel_output *out, const char *title,
    const struct tel__buffer *head, const struct page_block *blocks, size_t n)
{
	write_page(out, &tel__page_timeline, title, head, blocks, n);
}

tel_status
tel_page_write(tel_output *out, const char *title, const char *json, size_t n)
{
	struct tel__buffer head = { 0 };
	const char *why;

	if (!tel__gzip_load(&why))
		return TEL_EINVAL;
	int done = tel__gzip_put(&head, json, n, PAGE_LEVEL);
	if (done)
		write_page(out, &tel__page_report, title, &head, NULL, 0);
	tel__buffer_clear(&head);
	return done ? out->status : TEL_ENOMEM;
}

uint64_t
tel__page_size(const char *title, size_t head)
{
	struct page_writer p = { NULL, 0 };

	put_top(&p, &tel__page_timeline, title);
	put_data(&p, "head", NULL, head);
	put_bottom(&p, &tel__page_timeline);
	return p.size;
}

uint64_t
tel__page_block_size(size_t i, size_t size)
{
	struct page_writer p = { NULL, 0 };
	char id[32];

	(void)snprintf(id, sizeof(id), "b%zu", i);
	put_data(&p, id, NULL, size);
	return p.size;
}

size_t
tel__page_cut(const char *s, size_t n, size_t most)
{
	if (n <= most)
		return n;
	for (n = most; n > 0 && n + 3 > most; n--)
		if (((unsigned char)s[n] & 0xc0) != 0x80)
			break;
	return n;
}

/* ----------------------------------------------------------------- JSON */

void
tel__json_put(struct tel__buffer *b, const char *text)
{
	tel__buffer_put(b, text, strlen(text));
}

static void
json_separate(struct tel__buffer *b)
{
	const char last = b->used > 0 ? (char)b->bytes[b->used - 1] : '{';

	if (last != '{' && last != '[')
		tel__json_put(b, ",");
}

void
tel__json_item(struct tel__buffer *b, const char *format, ...)
{
	char text[160];
	va_list ap;

	json_separate(b);
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	tel__json_put(b, text);
}

void
tel__json_raw(struct tel__buffer *b, const char *key, const char *text)
{
	json_separate(b);
	tel__render_string(b, key, strlen(key), 1);
	tel__json_put(b, ":");
	tel__json_put(b, text);
}

void
tel__json_pair(struct tel__buffer *b, const char *key, uint64_t v)
{
	tel__json_raw(b, key, "");
	unsigned char *p = tel__buffer_room(b, TEL_PUT_MAX);
	if (p != NULL)
		b->used = (size_t)(tel_put_decimal(p, v) - b->bytes);
}

void
tel__json_text(struct tel__buffer *b, const char *key, const char *s, size_t n)
{
	tel__json_raw(b, key, "");
	tel__render_string(b, s, n, 1);
}

void
tel__json_word(struct tel__buffer *b, const char *key, const char *word)
{
	tel__json_text(b, key, word, strlen(word));
}
