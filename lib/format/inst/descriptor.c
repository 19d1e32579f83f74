/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data descriptors: formats like those of printf, which are interpreted here
 * and never handed to printf.  The width of a number is that of its value, so
 * the length in a conversion is ignored.
 */
#include "format/inst/inst.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A conversion. */
struct conversion {
	int left, plus, blank, alternate, zero;
	unsigned width;
	int precision; /* -1: none */
	unsigned char letter;
};

/* Where the text that is made may go on to. */
struct text {
	unsigned char *p;
	const unsigned char *limit;
	int full;
};

/* Digits up to the widest; 0 when they say more. */
static int
digits(const unsigned char **p, const unsigned char *end, unsigned *out)
{
	unsigned v = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		v = v * 10 + (unsigned)(**p - '0');
		if (v > INST_WIDTH_MAX)
			return 0;
	}
	*out = v;
	return 1;
}

/* The conversion behind a '%' at *p.  1, or 0 when it is refused. */
static int
descriptor_read_conversion(const unsigned char **p, const unsigned char *end,
    struct conversion *c)
{
	const unsigned char *q = *p;
	unsigned v;

	memset(c, 0, sizeof(*c));
	c->precision = -1;
	for (; q < end; q++) {
		if (*q == '-')
			c->left = 1;
		else if (*q == '+')
			c->plus = 1;
		else if (*q == ' ')
			c->blank = 1;
		else if (*q == '#')
			c->alternate = 1;
		else if (*q == '0')
			c->zero = 1;
		else
			break;
	}
	if (!digits(&q, end, &c->width))
		return 0;
	if (q < end && *q == '.') {
		q++;
		if (!digits(&q, end, &v))
			return 0;
		c->precision = (int)v;
	}
	if (end - q >= 2 && (*q == 'h' || *q == 'l') && q[0] == q[1])
		q += 2;
	else if (q < end && memchr("hljztL", *q, 6) != NULL)
		q++;
	if (q == end || memchr("diouxXcspfFeEgGaA%", *q, 18) == NULL)
		return 0;
	c->letter = *q;
	*p = q + 1;
	return 1;
}

/* Whether a format is one that is followed: see tel-inst(5). */
static int
descriptor_is_valid(const unsigned char *p, size_t n)
{
	const unsigned char *end = p + n;
	struct conversion c;

	while (p < end)
		if (*p++ == '%' && !descriptor_read_conversion(&p, end, &c))
			return 0;
	return 1;
}

static void
descriptor_put(struct text *t, const unsigned char *bytes, size_t n)
{
	if ((size_t)(t->limit - t->p) < n) {
		t->full = 1;
		return;
	}
	memcpy(t->p, bytes, n);
	t->p += n;
}

static void
descriptor_fill(struct text *t, unsigned char c, size_t n)
{
	if ((size_t)(t->limit - t->p) < n) {
		t->full = 1;
		return;
	}
	memset(t->p, c, n);
	t->p += n;
}

/* Puts a prefix, zeros and bytes into the conversion's width. */
static void
put_padded(struct text *t, const struct conversion *c, const char *prefix,
    size_t zeros, const unsigned char *bytes, size_t n)
{
	size_t m = strlen(prefix), all = m + zeros + n;
	size_t pad = c->width > all ? c->width - all : 0;

	if (!c->left)
		descriptor_fill(t, ' ', pad);
	descriptor_put(t, (const unsigned char *)prefix, m);
	descriptor_fill(t, '0', zeros);
	descriptor_put(t, bytes, n);
	if (c->left)
		descriptor_fill(t, ' ', pad);
}

/* An integer, by the rules of ISO C for its conversion. */
static int
descriptor_put_integer(struct text *t, const struct conversion *c,
    const struct inst_value *v)
{
	const char *set =
	    c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	int is_signed = c->letter == 'd' || c->letter == 'i';
	unsigned base = 10;
	unsigned char buffer[24], *p = buffer + sizeof(buffer);
	const char *prefix = "";
	struct inst_number n;
	size_t zeros = 0, have;

	if (!tel__inst_integer(v, &n) || n.over)
		return 0;
	uint64_t x = n.magnitude;
	if (is_signed)
		prefix = n.negative ? "-" : c->plus ? "+" : c->blank ? " " : "";
	else if (n.negative)
		x = 0 - x;
	if (c->letter == 'o')
		base = 8;
	else if (c->letter == 'x' || c->letter == 'X' || c->letter == 'p')
		base = 16;
	if (c->letter == 'p' || (c->alternate && base == 16 && x != 0))
		prefix = c->letter == 'X' ? "0X" : "0x";
	for (; x != 0; x /= base)
		*--p = (unsigned char)set[x % base];
	have = (size_t)(buffer + sizeof(buffer) - p);
	if (c->precision >= 0)
		zeros = (size_t)c->precision > have ?
		    (size_t)c->precision - have :
		    0;
	else if (have == 0)
		zeros = 1;
	if (c->alternate && base == 8 && zeros == 0)
		zeros = 1;
	if (c->zero && !c->left && c->precision < 0 &&
	    c->width > strlen(prefix) + zeros + have)
		zeros = c->width - strlen(prefix) - have;
	put_padded(t, c, prefix, zeros, p, have);
	return 1;
}

/* A floating-point number; with formats of our own. */
static int
descriptor_put_double(struct text *t, const struct conversion *c,
    const struct inst_value *v, locale_t c_locale)
{
	int precision = c->precision < 0 ? 6 : c->precision, n;
	char number[64], buffer[320 + INST_WIDTH_MAX + 16], *end;
	const char letter = (char)(c->letter | 0x20);
	size_t zeros = 0, sign, have;

	if (v->quoted || v->n == 0 || v->n >= sizeof(number))
		return 0;
	memcpy(number, v->p, v->n);
	number[v->n] = '\0';
	locale_t old = uselocale(c_locale);
	double d = strtod(number, &end);
	if (letter == 'f' && c->alternate)
		n = snprintf(buffer, sizeof(buffer), "%#.*f", precision, d);
	else if (letter == 'f')
		n = snprintf(buffer, sizeof(buffer), "%.*f", precision, d);
	else if (letter == 'e' && c->alternate)
		n = snprintf(buffer, sizeof(buffer), "%#.*e", precision, d);
	else if (letter == 'e')
		n = snprintf(buffer, sizeof(buffer), "%.*e", precision, d);
	else if (letter == 'a' && c->precision < 0)
		n = snprintf(buffer, sizeof(buffer), "%a", d);
	else if (letter == 'a')
		n = snprintf(buffer, sizeof(buffer), "%.*a", precision, d);
	else if (c->alternate)
		n = snprintf(buffer, sizeof(buffer), "%#.*g", precision, d);
	else
		n = snprintf(buffer, sizeof(buffer), "%.*g", precision, d);
	uselocale(old);
	if (*end != '\0' || n < 0 || (size_t)n >= sizeof(buffer))
		return 0;
	if (letter != c->letter)
		for (int i = 0; i < n; i++)
			if (buffer[i] >= 'a' && buffer[i] <= 'z')
				buffer[i] = (char)(buffer[i] - 0x20);
	sign = buffer[0] == '-';
	const char *prefix = sign ? "-" : c->plus ? "+" : c->blank ? " " : "";
	have = (size_t)n - sign + strlen(prefix);
	if (c->zero && !c->left && isfinite(d) && letter != 'a' &&
	    c->width > have)
		zeros = c->width - have;
	put_padded(t, c, prefix, zeros, (unsigned char *)buffer + sign,
	    (size_t)n - sign);
	return 1;
}

/* A string or character. */
static int
descriptor_put_bytes(struct text *t, const struct conversion *c,
    const struct inst_value *v)
{
	unsigned char one, *end;
	struct inst_number n;

	if (c->letter == 'c' && tel__inst_integer(v, &n)) {
		one = (unsigned char)n.magnitude;
		if (n.negative || n.over || n.magnitude == 0 ||
		    n.magnitude > UINT8_MAX)
			return 0;
		put_padded(t, c, "", 0, &one, 1);
		return 1;
	}
	/* there is room for a line behind the longest text */
	unsigned char *bytes = t->p + (t->limit - t->p);
	end = tel__inst_decode(v, bytes);
	if (end == NULL)
		return 0;
	size_t length = (size_t)(end - bytes);
	if (c->letter == 'c' && length != 1)
		return 0;
	if (c->letter == 's' && c->precision >= 0 &&
	    length > (size_t)c->precision)
		length = (size_t)c->precision;
	put_padded(t, c, "", 0, bytes, length);
	return 1;
}

/* Values as they are: "[1, 2]". */
static unsigned char *
put_raw(unsigned char *out, const struct inst_line *l, unsigned i)
{
	unsigned first = i;

	*out++ = '[';
	for (; i < l->nargs; i++) {
		if (i > first) {
			*out++ = ',';
			*out++ = ' ';
		}
		unsigned char *end = tel__inst_decode(&l->args[i], out);
		if (end == NULL)
			return NULL;
		out = end;
	}
	*out++ = ']';
	return out;
}

static int
descriptor_convert(struct text *t, const struct conversion *c,
    const struct inst_value *v, locale_t c_locale)
{
	switch (c->letter) {
	case 'c':
	case 's': return descriptor_put_bytes(t, c, v);
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
	case 'a':
	case 'A': return descriptor_put_double(t, c, v, c_locale);
	default: return descriptor_put_integer(t, c, v);
	}
}

unsigned char *
tel__inst_format(const struct inst_descriptor *d, const struct inst_line *l,
    locale_t c_locale, unsigned char *out)
{
	struct text t = { out, out + INST_TEXT_MAX, 0 };
	const unsigned char *p = d->format, *end, *q;
	struct conversion c;
	unsigned used = 0;

	if (d->refused)
		return put_raw(out, l, 0);
	end = p + d->length;
	while (p < end && !t.full) {
		q = memchr(p, '%', (size_t)(end - p));
		descriptor_put(&t, p, (size_t)((q != NULL ? q : end) - p));
		if (q == NULL)
			break;
		p = q + 1;
		(void)descriptor_read_conversion(&p, end, &c);
		if (c.letter == '%') {
			descriptor_fill(&t, '%', 1);
			continue;
		}
		if (used == l->nargs ||
		    !descriptor_convert(&t, &c, &l->args[used++], c_locale))
			return put_raw(out, l, 0);
	}
	if (t.full)
		return put_raw(out, l, 0);
	if (used < l->nargs) {
		*t.p++ = ' ';
		return put_raw(t.p, l, used);
	}
	return t.p;
}

tel_status
tel__inst_describe(struct tel_reader *r, struct inst *s, const char **why)
{
	const struct inst_line *l = &s->line;
	const struct inst_value *format = &l->values[I_FMT];
	uint64_t id = tel__inst_unsigned(l, I_ID);

	if (id == 0 || !inst_has(l, I_FMT)) {
		*why = "id= and fmt=";
		return TEL_EDAMAGED;
	}
	s->type = T_DESCRIPTOR;
	if (tel__table_find(&s->descriptor_ids, id) != NULL)
		return inst_ignore(s, "the id is in use");
	if (s->descriptor_bytes + format->n > INST_POOL_MAX ||
	    s->ndescriptors == INST_IDS_MAX)
		return inst_ignore(s, "there are too many descriptors");
	if (!TEL__RESERVE(s->descriptors, s->descriptor_room,
	        (size_t)s->ndescriptors + 1))
		return TEL_ENOMEM;
	struct inst_descriptor *d = &s->descriptors[s->ndescriptors];
	d->format = malloc(format->n + 1u);
	if (d->format == NULL)
		return TEL_ENOMEM;
	unsigned char *end = tel__inst_decode(format, d->format);
	if (end == NULL ||
	    tel__inst_id_add(&s->descriptor_ids, id, s->ndescriptors) !=
	        TEL_OK) {
		free(d->format);
		*why = "a valid string";
		if (end == NULL)
			return TEL_EDAMAGED;
		return TEL_ENOMEM;
	}
	d->length = (uint32_t)(end - d->format);
	d->refused = !descriptor_is_valid(d->format, d->length);
	if (d->refused)
		tel__reader_notice(r, TEL_WARNING, s->text.offset,
		    "the format of descriptor %llu is invalid: values are "
		    "shown unformatted",
		    (unsigned long long)id);
	s->ndescriptors++;
	s->descriptor_bytes += format->n;
	return TEL_OK;
}
