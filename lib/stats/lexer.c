/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding commas and parentheses, and reading numbers. */
#include "stats/lexer.h"

#include <stddef.h>
#include <string.h>

#include "base/digit.h"

const char *
tel__lex_quoted(const char *p)
{
	char quote = *p++;

	for (; *p != '\0'; p++) {
		if (*p == quote)
			return p + 1;
		/* only double quotes know escapes: tel-filter(7) */
		if (*p == '\\' && quote == '"' && p[1] != '\0')
			p++;
	}
	return NULL;
}

const char *
tel__lex_until(const char *p, const char *stop, const char **open)
{
	const char *outer = p;
	size_t depth = 0;

	while (*p != '\0') {
		if (depth == 0 && strchr(stop, *p) != NULL)
			return p;
		if (*p == '"' || *p == '\'') {
			*open = p;
			p = tel__lex_quoted(p);
			if (p == NULL)
				return NULL;
			continue;
		}
		if (*p == '(') {
			if (depth++ == 0)
				outer = p;
		} else if (*p == ')' && depth > 0) {
			depth--;
		}
		p++;
	}
	*open = outer;
	return depth == 0 ? p : NULL;
}

/* Adds a fraction of factor to *v: from behind the point to end. */
static const char *
add_fraction(const char *p, const char *end, uint64_t factor, uint64_t *v)
{
	if (p == end)
		return "expected a digit";
	for (; p < end; p++) {
		if (factor % 10 != 0) {
			if (*p != '0')
				return "the number has too many decimals";
			continue;
		}
		factor /= 10;
		if (__builtin_add_overflow(*v, tel_digit(*p) * factor, v))
			return "the number is too large";
	}
	return NULL;
}

const char *
tel__lex_number(const char *p, const char *end, unsigned decimals, int64_t *out)
{
	const int negative = p < end && *p == '-';
	const struct tel_suffix *suffix;
	const char *digits, *point = NULL, *point_end, *why;
	unsigned base = 10, i;
	uint64_t v, factor;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	digits = p;
	p = tel__digits(p, base, &v);
	if (p == NULL)
		return "the number is too large";
	if (p == digits && (decimals == 0 || p == end || *p != '.'))
		return "expected a number";
	if (p < end && *p == '.' && base == 10)
		for (point = ++p; p < end && tel_digit(*p) < 10; p++)
			;
	point_end = p;
	suffix = tel__suffix_find(p, (size_t)(end - p));
	if (suffix == NULL || suffix->is_long)
		return "expected a number, optionally followed by k M G T or "
		       "ns us ms s";
	factor = suffix->factor;
	for (i = 0; i < decimals; i++)
		if (__builtin_mul_overflow(factor, (uint64_t)10, &factor))
			return "the number is too large";
	if (__builtin_mul_overflow(v, factor, &v))
		return "the number is too large";
	if (point != NULL && !suffix->is_time && decimals == 0)
		return "expected an integer";
	if (point != NULL &&
	    (why = add_fraction(point, point_end, factor, &v)) != NULL)
		return why;
	if (v > (uint64_t)INT64_MAX + (uint64_t)negative)
		return "the number is too large";
	*out = negative ? (int64_t)-v : (int64_t)v;
	return NULL;
}
