/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of an inst stream: tel-inst(5), "Lines". */
#include "stats/inst.h"

#include <string.h>

static const char *const class_names[] = {
	[TEL_CLASS_MAG] = "mag",
	[TEL_CLASS_GROWTH] = "growth",
	[TEL_CLASS_HIST] = "hist",
	[TEL_CLASS_SPLIT] = "split",
	[TEL_CLASS_TALLY] = "tally",
	[TEL_CLASS_DUR] = "strace",
	[TEL_CLASS_LOG2] = "log2",
	[TEL_CLASS_LOGLIN] = "loglin",
	[TEL_CLASS_QUANTILES] = "quantiles",
	[TEL_CLASS_RATIO] = "ratio",
};
#define CLASSES (sizeof(class_names) / sizeof(class_names[0]))

const char *
tel__inst_class_name(enum tel_class c)
{
	return class_names[c];
}

int
tel__inst_find_class(const char *name, enum tel_class *out)
{
	size_t i;

	for (i = 0; i < CLASSES; i++)
		if (strcmp(class_names[i], name) == 0) {
			*out = (enum tel_class)i;
			return 1;
		}
	return 0;
}

int
tel__inst_find_datatype(const char *name, enum tel_datatype *out)
{
	int i;

	for (i = TEL_UNSIGNED; i <= TEL_STRING; i++)
		if (strcmp(tel_datatype_name((enum tel_datatype)i), name) ==
		    0) {
			*out = (enum tel_datatype)i;
			return 1;
		}
	return 0;
}

static unsigned
hex(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

/* Four hexadecimal digits; UINT32_MAX when they are not. */
static uint32_t
hex4(const char *p)
{
	uint32_t v = 0;
	int i;

	for (i = 0; i < 4; i++) {
		if (hex(p[i]) > 15)
			return UINT32_MAX;
		v = v << 4 | hex(p[i]);
	}
	return v;
}

static char *
put_utf8(char *to, uint32_t v)
{
	if (v < 0x80) {
		*to++ = (char)v;
	} else if (v < 0x800) {
		*to++ = (char)(0xc0 | v >> 6);
		*to++ = (char)(0x80 | (v & 0x3f));
	} else if (v < 0x10000) {
		*to++ = (char)(0xe0 | v >> 12);
		*to++ = (char)(0x80 | (v >> 6 & 0x3f));
		*to++ = (char)(0x80 | (v & 0x3f));
	} else {
		*to++ = (char)(0xf0 | v >> 18);
		*to++ = (char)(0x80 | (v >> 12 & 0x3f));
		*to++ = (char)(0x80 | (v >> 6 & 0x3f));
		*to++ = (char)(0x80 | (v & 0x3f));
	}
	return to;
}

/*
 * The escape of four digits at *p, with a second one if it is half of a pair:
 * at most as many bytes as it took.  NULL: it is none.
 */
static char *
unescape(const char **p, char *to)
{
	uint32_t v = hex4(*p), low;

	if (v == UINT32_MAX || v == 0)
		return NULL;
	*p += 4;
	if (v >= 0xdc80 && v <= 0xdcff) {
		*to++ = (char)(v & 0xff);
		return to;
	}
	if (v >= 0xd800 && v <= 0xdbff) {
		if ((*p)[0] != '\\' || (*p)[1] != 'u')
			return NULL;
		low = hex4(*p + 2);
		if (low < 0xdc00 || low > 0xdfff)
			return NULL;
		*p += 6;
		v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
	} else if (v >= 0xdc00 && v <= 0xdfff) {
		return NULL;
	}
	return put_utf8(to, v);
}

/* Decodes a string behind its quote, in place.  Where it ends, or NULL. */
static char *
decode(char *at, struct inst_field *f)
{
	static const char plain[] = "\"\\/bfnrt";
	static const char means[] = "\"\\/\b\f\n\r\t";
	const char *p = at, *found;
	char *to = at;

	f->value = at;
	f->quoted = 1;
	while (*p != '"') {
		if (*p == '\0')
			return NULL;
		if (*p != '\\') {
			*to++ = *p++;
			continue;
		}
		p++;
		if (*p == 'u') {
			p++;
			to = unescape(&p, to);
			if (to == NULL)
				return NULL;
			continue;
		}
		found = *p == '\0' ? NULL : strchr(plain, *p);
		if (found == NULL)
			return NULL;
		*to++ = means[found - plain];
		p++;
	}
	f->length = (size_t)(to - f->value);
	at += p - at + 1;
	*to = '\0';
	return at;
}

/* Reads a field from p on.  Where it ends, or NULL. */
static char *
take_field(char *p, struct inst_field *f)
{
	char *q = p;

	f->name = "";
	f->quoted = 0;
	while (
	    (*q >= 'a' && *q <= 'z') || (*q >= '0' && *q <= '9') || *q == '_')
		q++;
	if (q > p && *q == '=') {
		*q = '\0';
		f->name = p;
		p = q + 1;
	}
	if (*p == '"')
		return decode(p + 1, f);
	f->value = p;
	while (*p != ' ' && *p != '\0') {
		if (*p == '"')
			return NULL;
		p++;
	}
	f->length = (size_t)(p - f->value);
	return p;
}

const char *
tel__inst_split(char *bytes, size_t size, struct inst_line *out)
{
	char *p = bytes;
	char end;
	int i;

	bytes[size] = '\0';
	if (memchr(bytes, '\0', size) != NULL)
		return "there is a NUL in the line";
	out->clock = 0;
	out->count = 0;
	for (i = 0; i < 16; i++, p++) {
		if (hex(*p) > 15 || (*p >= 'a' && *p <= 'f'))
			return "no clock of 16 digits begins the line";
		out->clock = out->clock << 4 | hex(*p);
	}
	if (*p++ != ' ')
		return "no clock of 16 digits begins the line";
	out->code = p;
	while (*p >= 'A' && *p <= 'Z')
		p++;
	if (p == out->code || (*p != ' ' && *p != '\0'))
		return "the code is missing";
	end = *p;
	*p = '\0';
	while (end == ' ') {
		p++;
		if (out->count == INST_FIELDS_MAX)
			return "there are more than 64 fields";
		p = take_field(p, &out->fields[out->count]);
		if (p == NULL || (*p != ' ' && *p != '\0'))
			return "a value is not closed, or not well formed";
		end = *p;
		*p = '\0';
		out->count++;
	}
	return NULL;
}

const struct inst_field *
tel__inst_find(const struct inst_line *l, const char *name)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (strcmp(l->fields[i].name, name) == 0)
			return &l->fields[i];
	return NULL;
}

int
tel__inst_parse_u64(const char *text, uint64_t *out)
{
	unsigned base = 10;
	uint64_t v = 0;

	if (text[0] == '0' && text[1] == 'x') {
		base = 16;
		text += 2;
	}
	if (*text == '\0')
		return 0;
	for (; *text != '\0'; text++)
		if (hex(*text) >= base ||
		    __builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)hex(*text), &v))
			return 0;
	*out = v;
	return 1;
}

int
tel__inst_u64(const struct inst_line *l, const char *name, uint64_t *out)
{
	const struct inst_field *f = tel__inst_find(l, name);

	if (f == NULL)
		return 0;
	return tel__inst_parse_u64(f->value, out) ? 1 : -1;
}

int
tel__inst_int128(const struct inst_line *l, const char *name, tel_int128 *out)
{
	const struct inst_field *f = tel__inst_find(l, name);
	uint64_t u;

	if (f == NULL)
		return 0;
	if (tel__inst_parse_u64(f->value, &u)) {
		*out = int128_u64(u);
		return 1;
	}
	return tel__int128_parse(f->value, f->value + f->length, out) ? 1 : -1;
}

/* How many bytes of a well-formed UTF-8 character are at s; 0: none. */
static size_t
utf8_length(const unsigned char *s, size_t n)
{
	size_t want = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2, i;

	if (s[0] < 0xc2 || s[0] > 0xf4 || want > n)
		return 0;
	for (i = 1; i < want; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	/* overlong forms, surrogates, and what is above U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return want;
}

void
tel__inst_put_string(struct text *t, const char *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)bytes;
	char escape[6] = { '\\', 'u', '0', '0', '0', '0' };
	size_t i = 0, n;

	tel__text_char(t, '"');
	while (i < length) {
		if (s[i] == '"' || s[i] == '\\') {
			tel__text_char(t, '\\');
			tel__text_put(t, bytes + i++, 1);
			continue;
		}
		n = s[i] >= 0x20 && s[i] < 0x7f ? 1 :
		    s[i] >= 0x80 ? utf8_length(s + i, length - i) :
		                   0;
		if (n > 0) {
			tel__text_put(t, bytes + i, n);
			i += n;
			continue;
		}
		escape[2] = s[i] >= 0x80 ? 'd' : '0';
		escape[3] = s[i] >= 0x80 ? 'c' : '0';
		escape[4] = digits[s[i] >> 4];
		escape[5] = digits[s[i] & 15];
		tel__text_put(t, escape, 6);
		i++;
	}
	tel__text_char(t, '"');
}
