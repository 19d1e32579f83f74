/* SPDX-License-Identifier: BSD-2-Clause */
/* The values in a line of text that are more than digits. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/text.h"

/* The longest floating-point number; "%.17g" needs 24 bytes. */
#define DOUBLE_MAX 63

int
tel__lines_unescape(const unsigned char **p)
{
	switch (*(*p)++) {
	case '"': return '"';
	case '\\': return '\\';
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	case 'x': break;
	default: return -1;
	}
	unsigned hi = tel__lines_digit[(*p)[0]];
	if (hi > 15)
		return -1;
	unsigned lo = tel__lines_digit[(*p)[1]];
	if (lo > 15)
		return -1;
	*p += 2;
	return (int)(hi << 4 | lo);
}

int
tel__lines_unquote(struct lines *s, const struct tel_field *f,
    const unsigned char **p, unsigned char **to, const unsigned char *limit)
{
	const unsigned char *q = *p, *start = q;
	unsigned char *out = *to;

	if (*q++ != '"')
		return tel__lines_wrong(s, start, "a string in quotes as",
		    f->name);
	for (;;) {
		if (q >= s->line.end) {
			s->open_string = 1;
			return tel__lines_wrong(s, s->line.end,
			    "the end of the string in", f->name);
		}
		int c = *q++;
		if (c == '"')
			break;
		if (c == '\\')
			c = tel__lines_unescape(&q);
		if (c <= 0 || q > s->line.end)
			return tel__lines_wrong(s, start, "a valid string in",
			    f->name);
		if (out == limit)
			return tel__lines_wrong(s, start,
			    "a string of 255 bytes in", f->name);
		*out++ = (unsigned char)c;
	}
	*p = q;
	*to = out;
	return 1;
}

int
tel__lines_string(struct lines *s, const struct lines_map *m,
    const struct tel_type *type, const struct tel_field *f,
    const unsigned char **p)
{
	const unsigned char *start = *p;
	unsigned char *out = s->data + f->offset;

	if (!tel__lines_unquote(s, f, p, &out, out + LINES_STRING_MAX + 16))
		return 0;
	size_t length = (size_t)(out - s->data) - f->offset;
	s->size = tel__encode_size(m->schema, type, f, length);
	if (!tel_size_fits(m->schema, type, s->size) ||
	    (s->joined && length > LINES_STRING_MAX))
		return tel__lines_wrong(s, start, "a string of 255 bytes in",
		    f->name);
	memset(out, 0, s->size - f->offset - length);
	return 1;
}

int
tel__lines_label(struct lines *s, unsigned i, const unsigned char **p)
{
	unsigned char *note = s->inline_labels + s->inline_size,
	              *out = note + 3;
	const unsigned char *limit =
	    s->inline_labels + sizeof(s->inline_labels);
	const unsigned char *q = *p + 1;

	if (limit - note < 4 || *q++ != '"')
		return tel__lines_wrong(s, *p, "a label in quotes", NULL);
	while (q < s->line.end && *q != '"') {
		int c = *q++;

		if (c == '\\')
			c = tel__lines_unescape(&q);
		if (c < 0 || q > s->line.end || out == limit)
			return tel__lines_wrong(s, *p, "a valid label", NULL);
		*out++ = (unsigned char)c;
	}
	if (s->line.end - q < 2 || q[1] != ']')
		return tel__lines_wrong(s, *p, "the end of a label", NULL);
	note[0] = (unsigned char)i;
	tel_store(note + 1, (uint64_t)(out - note - 3), 2, 0);
	s->inline_size = (uint32_t)(out - s->inline_labels);
	*p = q + 2;
	return 1;
}

/*
 * "inf", "nan" or "nan(0x..)", a NaN of these bits, in letters of either
 * case.  1, or 0 when it is none.
 */
static int
special(char *text, int negative, uint64_t *bits)
{
	const unsigned char *p;

	for (size_t i = 0; text[i] != '\0'; i++)
		if (text[i] >= 'A' && text[i] <= 'Z')
			text[i] = (char)(text[i] + ('a' - 'A'));
	if (strcmp(text, "inf") == 0)
		*bits = (uint64_t)0x7ff << 52;
	else if (strcmp(text, "nan") == 0)
		*bits = (uint64_t)0xfff << 51;
	else if (strncmp(text, "nan(0x", 6) != 0)
		return 0;
	else {
		p = (const unsigned char *)text + 6;
		if (!lines_hex(&p, bits) || p[0] != ')' || p[1] != '\0' ||
		    !isnan(tel_bits_double(*bits)))
			return 0;
	}
	if (negative)
		*bits |= (uint64_t)1 << 63;
	return 1;
}

/* A decimal number in parts: digits * 10^exponent. */
struct decimal {
	uint64_t digits;
	int exponent;
	int exact; /* digits holds all of them */
};

/* Splits text, "123.456e-7".  1, or 0 when it is not such a number. */
static int
text_value_split(const char *text, struct decimal *d)
{
	int point = 0, any = 0, e = 0, negative, count = 0;

	d->digits = 0;
	d->exponent = 0;
	for (;; text++) {
		if (*text == '.' && !point) {
			point = 1;
			continue;
		}
		if (*text < '0' || *text > '9')
			break;
		any = 1;
		count += count > 0 || *text != '0';
		if (count <= 19)
			d->digits = d->digits * 10 + (unsigned)(*text - '0');
		d->exponent -= point;
	}
	d->exact = count <= 19;
	if (*text == 'e' || *text == 'E') {
		text++;
		negative = *text == '-';
		text += *text == '-' || *text == '+';
		if (*text < '0' || *text > '9')
			return 0;
		for (; *text >= '0' && *text <= '9'; text++)
			if (e < 10000)
				e = e * 10 + (*text - '0');
		d->exponent += negative ? -e : e;
	}
	return any && *text == '\0';
}

/*
 * Where the digits and the power of ten are exact doubles, one operation
 * gives the correctly rounded result (W. D. Clinger, "How to read floating
 * point numbers accurately", 1990).  That is most numbers; strtod() has the
 * others.
 */
static int
quick(const struct decimal *d, double *out)
{
	static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
		1e19, 1e20, 1e21, 1e22 };

	if (FLT_EVAL_METHOD != 0 || !d->exact || d->digits >> 53 != 0 ||
	    d->exponent < -22 || d->exponent > 22)
		return 0;
	*out = (double)d->digits;
	if (d->exponent < 0)
		*out /= powers[-d->exponent];
	else
		*out *= powers[d->exponent];
	return 1;
}

int
tel__lines_double(struct lines *s, const struct tel_field *f,
    const unsigned char **p, uint64_t *bits)
{
	const unsigned char *q = *p;
	char text[DOUBLE_MAX + 1];
	struct decimal d;
	size_t n = 0;
	double v;
	int negative = *q == '-';

	q += negative;
	while (n < DOUBLE_MAX && q < s->line.end && *q != ' ' && *q != ',' &&
	    *q != ']')
		text[n++] = (char)*q++;
	text[n] = '\0';
	if (n == DOUBLE_MAX)
		return tel__lines_wrong(s, *p, "a shorter number as", f->name);
	if (text_value_split(text, &d)) {
		if (!quick(&d, &v)) {
			/* the decimal point is that of the C locale */
			locale_t old = uselocale(s->c_locale);
			v = strtod(text, NULL);
			uselocale(old);
		}
		if (isinf(v))
			return tel__lines_wrong(s, *p, "a number that fits in",
			    f->name);
		*bits = tel_double_bits(negative ? -v : v);
	} else if (!special(text, negative, bits)) {
		return tel__lines_wrong(s, *p, "a floating-point number as",
		    f->name);
	}
	*p = q;
	return 1;
}
