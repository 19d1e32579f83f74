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

#endif
