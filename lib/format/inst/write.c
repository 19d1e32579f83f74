/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing the records of an inst log: tel-inst(5), "Lines". */
#include "format/inst/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void
tel__inst_put_text(struct inst_writer *w, const char *text)
{
	tel__buffer_put(&w->line, text, strlen(text));
}

void
tel__inst_put_u64(struct inst_writer *w, uint64_t v)
{
	char digits[24], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	tel__buffer_put(&w->line, p, (size_t)(digits + sizeof(digits) - p));
}

void
tel__inst_put_record(struct inst_writer *w, const char *code)
{
	char clock[24];

	w->line.used = 0;
	snprintf(clock, sizeof(clock), "%016" PRIX64 " ", w->clock);
	tel__inst_put_text(w, clock);
	tel__inst_put_text(w, code);
}

void
tel__inst_put_end(struct inst_writer *w)
{
	tel__inst_put_text(w, "\n");
	if (w->line.failed && w->status == TEL_OK)
		w->status = TEL_ENOMEM;
	if (w->status == TEL_OK)
		w->status =
		    tel_output_write(w->out, w->line.bytes, w->line.used);
}

void
tel__inst_put_name(struct inst_writer *w, const char *field)
{
	tel__inst_put_text(w, " ");
	tel__inst_put_text(w, field);
	tel__inst_put_text(w, "=");
}

void
tel__inst_put_word(struct inst_writer *w, const char *field, const char *word)
{
	tel__inst_put_name(w, field);
	tel__inst_put_text(w, word);
}

void
tel__inst_put_count(struct inst_writer *w, const char *field, uint64_t v)
{
	tel__inst_put_name(w, field);
	tel__inst_put_u64(w, v);
}

void
tel__inst_put_number(struct inst_writer *w, const char *field, tel_int128 v)
{
	char text[TEL_INT128_TEXT];

	tel__inst_put_word(w, field, tel_int128_text(v, text));
}

void
tel__inst_put_string(struct inst_writer *w, const char *field, const char *s)
{
	if (s == NULL)
		return;
	tel__inst_put_name(w, field);
	tel__inst_put_quoted(w, s, strlen(s));
}

void
tel__inst_put_quoted(struct inst_writer *w, const char *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)bytes, *end = s + n;
	char escape[6] = { '\\', 'u', '0', '0', '0', '0' };
	size_t length;

	tel__buffer_put(&w->line, "\"", 1);
	for (; s < end; s += length) {
		if (*s == '"' || *s == '\\')
			tel__buffer_put(&w->line, "\\", 1);
		length = *s < ' ' || *s == 0x7f ? 0 :
		    *s < 0x80                   ? 1 :
		                tel__utf8_length(s, (size_t)(end - s));
		if (length > 0) {
			tel__buffer_put(&w->line, s, length);
			continue;
		}
		escape[2] = *s >= 0x80 ? 'd' : '0';
		escape[3] = *s >= 0x80 ? 'c' : '0';
		escape[4] = digits[*s >> 4];
		escape[5] = digits[*s & 15];
		tel__buffer_put(&w->line, escape, sizeof(escape));
		length = 1;
	}
	tel__buffer_put(&w->line, "\"", 1);
}
