/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of an inst log: its fields, and the values in them. */
#include "format/inst/inst.h"

#include <string.h>

#include "base/utf8.h"

/* For names of one letter the distance of their field before I_KEYS. */
static const unsigned char letters['z' + 1] = { ['b'] = I_KEYS - I_B,
	['c'] = I_KEYS - I_C,
	['d'] = I_KEYS - I_D,
	['k'] = I_KEYS - I_K,
	['n'] = I_KEYS - I_N,
	['p'] = I_KEYS - I_P,
	['s'] = I_KEYS - I_S,
	['v'] = I_KEYS - I_V,
	['w'] = I_KEYS - I_W };

/* The field of a name, I_KEYS for any other. */
static enum inst_key
inst_line_key_of(uint64_t name)
{
	/* those of events first: most are of one letter */
	if (name < sizeof(letters))
		return (enum inst_key)(I_KEYS - letters[name]);
	if (name == KEY2('o', 'p'))
		return I_OP;
	if (name == KEY3('t', 'a', 'g'))
		return I_TAG;
	switch (name) {
#define INST_KEY(key, letters) \
	case letters: return key;
		INST_KEYS(INST_KEY)
#undef INST_KEY
	default: return I_KEYS;
	}
}

/* The value at p, up to a blank or the line's end.  NULL: invalid. */
static const unsigned char *
take_value(const unsigned char *p, struct inst_value *v)
{
	uint64_t x = 0;
	unsigned d;

	v->quoted = v->escaped = v->decimal = 0;
	if (*p != '"') {
		v->p = p;
		for (; (d = (unsigned)*p - '0') <= 9; p++)
			x = x * 10 + d;
		v->number = x;
		v->n = (uint32_t)(p - v->p);
		/* it has not wrapped if it is this short */
		v->decimal = v->n - 1 < 19 && *p <= ' ';
		while (*p > ' ' && *p != '"')
			p++;
		v->n = (uint32_t)(p - v->p);
		return *p == '"' ? NULL : p;
	}
	v->p = ++p;
	v->quoted = 1;
	while (*p != '"') {
		if (*p < ' ')
			return NULL;
		if (*p == '\\') {
			v->escaped = 1;
			p++;
			if (*p < ' ')
				return NULL;
		}
		p++;
	}
	v->n = (uint32_t)(p - v->p);
	return p + 1;
}

/* Keeps the field of a name that no event is made of. */
static const unsigned char *
inst_line_take_extra(struct inst_line *l, const unsigned char *name,
    size_t length, const unsigned char *p)
{
	struct inst_extra *x = &l->extras[l->nextras];
	struct inst_value spare;

	if (l->nextras == INST_EXTRAS_MAX)
		return take_value(p, &spare);
	x->name = name;
	x->length = length;
	l->nextras++;
	return take_value(p, &x->value);
}

const char *
tel__inst_split(struct inst_line *l, const unsigned char *p,
    const unsigned char *end, const unsigned char **at)
{
	const unsigned char *q;
	uint64_t name, v = 0, low = 0;
	unsigned bad = 0, i;

	*at = p;
	if (end - p < 18 || p[16] != ' ')
		return "a clock of 16 hexadecimal digits and a record";
	/* two at once: neither waits for the other */
	for (i = 0; i < 8; i++) {
		bad |= tel__lines_digit[p[i]] | tel__lines_digit[p[i + 8]];
		v = v << 4 | tel__lines_digit[p[i]];
		low = low << 4 | tel__lines_digit[p[i + 8]];
	}
	if (bad > 15)
		return "a clock of 16 hexadecimal digits";
	l->clock = v << 32 | low;
	p += 17;
	l->record = *at = p;
	l->end = end;
	l->present = 0;
	l->nargs = 0;
	l->nextras = 0;
	l->code = 0;
	for (q = p; *q >= 'A' && *q <= 'Z'; q++)
		l->code = l->code << 8 | *q;
	l->code_length = (unsigned)(q - p);
	if (l->code_length > 4)
		l->code = 0;
	if (q == p || (q != end && *q != ' '))
		return "a code of capital letters";
	for (p = q; *p == ' '; p = q) {
		*at = q = ++p;
		name = 0;
		while ((*q >= 'a' && *q <= 'z') || (*q >= '0' && *q <= '9') ||
		    *q == '_') {
			/* a name that does not fit is unknown */
			name = name >> 56 ? 1 : name << 8 | *q;
			q++;
		}
		if (*q == '=' && q > p) {
			enum inst_key key = inst_line_key_of(name);

			if (key == I_KEYS || inst_has(l, key)) {
				q = inst_line_take_extra(l, p, (size_t)(q - p),
				    q + 1);
			} else {
				q = take_value(q + 1, &l->values[key]);
				l->present |= (uint64_t)1 << key;
			}
		} else {
			if (l->nargs == INST_ARGS_MAX)
				return "at most 256 values without names";
			q = take_value(p, &l->args[l->nargs]);
			if (q == p)
				return "a value after a blank";
			l->nargs++;
		}
		if (q == NULL)
			return "a value, or the end of the string";
	}
	*at = p;
	return p == end ? NULL : "a blank between fields";
}

enum inst_key
tel__inst_key(const char *name, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n && n <= 8; i++)
		v = v << 8 | (unsigned char)name[i];
	return n <= 8 ? inst_line_key_of(v) : I_KEYS;
}

const struct inst_value *
tel__inst_find(const struct inst_line *l, const char *name)
{
	size_t n = strlen(name), i;
	enum inst_key key = tel__inst_key(name, n);

	if (key != I_KEYS)
		return inst_has(l, key) ? &l->values[key] : NULL;
	for (i = 0; i < l->nextras; i++)
		if (l->extras[i].length == n &&
		    memcmp(l->extras[i].name, name, n) == 0)
			return &l->extras[i].value;
	return NULL;
}

int
tel__inst_integer(const struct inst_value *v, struct inst_number *out)
{
	const unsigned char *p = v->p, *end = p + v->n;
	uint64_t x = 0;

	out->over = 0;
	out->negative = 0;
	out->magnitude = v->number;
	if (v->decimal)
		return 1;
	if (v->quoted || p == end)
		return 0;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		for (p += 2; p < end; p++) {
			unsigned d = tel__lines_digit[*p];

			if (d > 15)
				return 0;
			out->over |= x >> 60 != 0;
			x = x << 4 | d;
		}
		out->magnitude = x;
		return 1;
	}
	out->negative = *p == '-';
	p += *p == '-';
	if (p == end)
		return 0;
	for (; p < end; p++) {
		unsigned d = (unsigned)*p - '0';

		if (d > 9)
			return 0;
		out->over |= x > (UINT64_MAX - d) / 10;
		x = x * 10 + d;
	}
	out->magnitude = x;
	return 1;
}

int
tel__inst_int128(const struct inst_value *v, tel_int128 *out)
{
	struct inst_number n;

	if (!tel__inst_integer(v, &n))
		return 0;
	if (n.over)
		return tel__int128_parse((const char *)v->p,
		    (const char *)v->p + v->n, out);
	*out = int128_u64(n.magnitude);
	if (n.negative)
		*out = tel__int128_negate(*out);
	return 1;
}

uint64_t
tel__inst_unsigned(const struct inst_line *l, enum inst_key key)
{
	struct inst_number n;

	if (inst_has(l, key) && l->values[key].decimal)
		return l->values[key].number;
	if (!inst_has(l, key) || !tel__inst_integer(&l->values[key], &n) ||
	    n.over)
		return 0;
	return n.negative ? 0 - n.magnitude : n.magnitude;
}

/* Four hexadecimal digits; UINT32_MAX when they are not. */
static uint32_t
hex4(const unsigned char *p, const unsigned char *end)
{
	uint32_t v = 0;

	if (end - p < 4)
		return UINT32_MAX;
	for (int i = 0; i < 4; i++) {
		if (tel__lines_digit[p[i]] > 15)
			return UINT32_MAX;
		v = v << 4 | tel__lines_digit[p[i]];
	}
	return v;
}

/*
 * A character of four digits at *p, with another four where it is the first
 * half of a pair.  U+DC80 to U+DCFF alone represent a byte that was not UTF-8.
 */
static unsigned char *
put_escape(const unsigned char **p, const unsigned char *end, unsigned char *to)
{
	uint32_t v = hex4(*p, end), low;

	if (v == UINT32_MAX || v == 0)
		return NULL;
	*p += 4;
	if (v >= 0xdc80 && v <= 0xdcff) {
		*to++ = (unsigned char)(v & 0xff);
		return to;
	}
	if (v >= 0xd800 && v <= 0xdbff) {
		if (end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
			return NULL;
		low = hex4(*p + 2, end);
		if (low < 0xdc00 || low > 0xdfff)
			return NULL;
		*p += 6;
		v = tel__utf16_pair(v, low);
	} else if (v >= 0xdc00 && v <= 0xdfff) {
		return NULL;
	}
	return tel__utf8_put(to, v);
}

unsigned char *
tel__inst_decode(const struct inst_value *v, unsigned char *out)
{
	static const char plain[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const unsigned char *p = v->p, *end = p + v->n;

	if (!v->escaped) {
		memcpy(out, p, v->n);
		return out + v->n;
	}
	while (p < end) {
		if (*p != '\\') {
			*out++ = *p++;
			continue;
		}
		p++;
		if (*p == 'u') {
			p++;
			out = put_escape(&p, end, out);
			if (out == NULL)
				return NULL;
			continue;
		}
		const char *found = strchr(plain, *p);
		if (found == NULL || *found == '\0')
			return NULL;
		*out++ = (unsigned char)means[found - plain];
		p++;
	}
	return out;
}
