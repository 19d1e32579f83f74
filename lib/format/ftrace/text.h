/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of a line, from p to end: blanks, digits and words. */
#ifndef TEL_FTRACE_TEXT_H
#define TEL_FTRACE_TEXT_H

#include "base/digit.h"

static inline int
starts_with(const char *p, const char *end, const char *word)
{
	const size_t n = strlen(word);

	return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static inline const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* Where the text from p on ends without the blanks before end. */
static inline const char *
trim_blanks(const char *p, const char *end)
{
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return end;
}

static inline const char *
skip_digits(const char *p, const char *end, uint64_t *out)
{
	uint64_t v = 0;

	for (; p < end && tel_is_digit(*p); p++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return NULL;
	*out = v;
	return p;
}

/* Where the word before end starts. */
static inline const char *
word_start(const char *p, const char *end)
{
	while (end > p && end[-1] != ' ' && end[-1] != '\t')
		end--;
	return end;
}

/* Reads "12.345" as 12345.  Returns where it ends; NULL: it is something else. */
static inline const char *
read_thousandths(const char *p, const char *end, uint64_t *out)
{
	const char *point = skip_digits(p, end, out);
	uint64_t rest;

	if (point == NULL || point == p || end - point < 4 || *point != '.' ||
	    skip_digits(point + 1, point + 4, &rest) != point + 4 ||
	    __builtin_mul_overflow(*out, (uint64_t)1000, out) ||
	    __builtin_add_overflow(*out, rest, out))
		return NULL;
	return point + 4;
}

#endif
