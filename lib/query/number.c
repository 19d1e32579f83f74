/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people write them: bases, suffixes, fractions. */
#include "query/token.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct suffix {
	const char *name;
	enum number_unit unit;
	uint64_t factor;
	int is_long; /* taken only where it cannot be mistaken */
};

static const struct suffix suffixes[] = {
	{ "k", NUMBER_SIZE, (uint64_t)1 << 10, 0 },
	{ "K", NUMBER_SIZE, (uint64_t)1 << 10, 0 },
	{ "M", NUMBER_SIZE, (uint64_t)1 << 20, 0 },
	{ "G", NUMBER_SIZE, (uint64_t)1 << 30, 0 },
	{ "T", NUMBER_SIZE, (uint64_t)1 << 40, 0 },
	{ "ns", NUMBER_TIME, 1, 0 },
	{ "us", NUMBER_TIME, 1000, 0 },
	{ "ms", NUMBER_TIME, 1000000, 0 },
	{ "s", NUMBER_TIME, 1000000000, 0 },
	{ "m", NUMBER_TIME, (uint64_t)60 * 1000000000, 1 },
	{ "h", NUMBER_TIME, (uint64_t)3600 * 1000000000, 1 },
	{ "", NUMBER_PLAIN, 1, 0 },
};

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '_';
}

/* The value of a digit; 99 for what is none in any base. */
static unsigned
digit(char c)
{
	if (is_digit(c))
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 99;
}

static const struct suffix *
find_suffix(const char *p, int long_units, const char **end)
{
	const char *q = p;
	const struct suffix *s;
	size_t n;

	while (is_word(*q))
		q++;
	n = (size_t)(q - p);
	for (s = suffixes;; s++) {
		if (strlen(s->name) == n && memcmp(s->name, p, n) == 0 &&
		    (long_units || !s->is_long)) {
			*end = q;
			return s;
		}
		if (s->unit == NUMBER_PLAIN)
			return NULL;
	}
}

/* Digits of a base into *out.  Returns where they end, NULL: too large. */
static const char *
read_digits(const char *p, unsigned base, uint64_t *out)
{
	uint64_t v = 0;

	for (; digit(*p) < base; p++)
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit(*p), &v))
			return NULL;
	*out = v;
	return p;
}

/* strtod() of the C locale, whatever locale the program is in. */
static double
to_double(const char *text)
{
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), old;
	double d;

	if (c == (locale_t)0)
		return strtod(text, NULL);
	old = uselocale(c);
	d = strtod(text, NULL);
	uselocale(old);
	freelocale(c);
	return d;
}

/* Where digits, fraction and exponent end; *whole: there are but digits. */
static const char *
skip_decimal(const char *p, int *whole, int *exponent)
{
	const char *q;

	*whole = 1;
	*exponent = 0;
	while (is_digit(*p))
		p++;
	if (p[0] == '.' && is_digit(p[1])) {
		*whole = 0;
		for (p++; is_digit(*p); p++)
			;
	}
	if (*p != 'e' && *p != 'E')
		return p;
	q = p + 1;
	if (*q == '+' || *q == '-')
		q++;
	if (!is_digit(*q))
		return p;
	while (is_digit(*q))
		q++;
	*whole = 0;
	*exponent = 1;
	return q;
}

/* A time: whole units, and a fraction rounded to a nanosecond. */
static const char *
read_time(const char *text, uint64_t factor, struct value *out)
{
	uint64_t whole, ns;
	double part = 0, scale = 1;
	const char *p = read_digits(text, 10, &whole);

	if (p == NULL || __builtin_mul_overflow(whole, factor, &ns))
		return "the time is too large";
	if (*p == '.')
		for (p++; is_digit(*p); p++) {
			scale /= 10;
			part += digit(*p) * scale;
		}
	if (__builtin_add_overflow(ns, (uint64_t)(part * (double)factor + 0.5),
	        &ns) ||
	    ns > INT64_MAX)
		return "the time is too large";
	*out = value_natural(ns);
	return NULL;
}

static const char *
read_integer(const char *text, unsigned base, const struct suffix *s,
    struct value *out)
{
	uint64_t v;

	if (read_digits(text, base, &v) == NULL ||
	    __builtin_mul_overflow(v, s->factor, &v))
		return "the number is over 2^64 - 1";
	*out = value_natural(v);
	return NULL;
}

/* The base that a prefix announces; *digits: where its digits begin. */
static unsigned
find_base(const char *text, const char **digits)
{
	*digits = text + 2;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return 16;
	if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
		return 2;
	if (text[0] == '0' && (text[1] == 'o' || text[1] == 'O'))
		return 8;
	*digits = text;
	return 10;
}

const char *
tel__number_read(const char *text, const char **end, int long_units,
    struct number *out)
{
	const char *digits, *p;
	const struct suffix *s;
	unsigned base = find_base(text, &digits);
	int whole = 1, exponent = 0;

	if (base == 10)
		p = skip_decimal(text, &whole, &exponent);
	else
		for (p = digits; digit(*p) < base; p++)
			;
	if (p == digits)
		return "a digit is missing";
	s = find_suffix(p, long_units, end);
	if (s == NULL)
		return long_units ?
		    "unknown suffix: there are k M G T, ns us ms s m h" :
		    "unknown suffix: there are k M G T, ns us ms s";
	out->unit = s->unit;
	if (s->unit == NUMBER_TIME) {
		if (base != 10 || exponent)
			return "a time is written in decimal";
		return read_time(text, s->factor, &out->value);
	}
	if (!whole) {
		out->value = value_double(to_double(text) * (double)s->factor);
		return out->value.as.d > DBL_MAX ? "the number is too large" :
		                                   NULL;
	}
	if (base == 10 && text[0] == '0' && p > text + 1) {
		base = 8;
		for (; digits < p; digits++)
			if (digit(*digits) > 7)
				return "8 and 9 are no octal digits";
		digits = text;
	}
	return read_integer(digits, base, s, &out->value);
}
