/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lexer of specs: finds the ends of expressions, whose own syntax
 * lib/query knows, and reads numbers.
 */
#ifndef TEL_STATS_LEXER_H
#define TEL_STATS_LEXER_H

#include <stdint.h>

static inline const char *
lex_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
		p++;
	return p;
}

/*
 * The position of the first of the characters in stop outside parentheses and
 * quotes; the end of the text when there is none.  NULL: a quote or a
 * parenthesis, at *open, is not closed.
 */
const char *tel__lex_until(const char *p, const char *stop, const char **open);

/* The string that begins at p, with a quote: where it ends; NULL: nowhere. */
const char *tel__lex_quoted(const char *p);

/*
 * A number, all of p up to end: [+-] digits or 0x.., with k M G T, or ns us ms
 * s, behind it.  out: in units of 10^-decimals (0 to 9); a fraction must be a
 * multiple of that, or of times of a nanosecond.  Returns NULL, or a message.
 */
const char *tel__lex_number(const char *p, const char *end, unsigned decimals,
    int64_t *out);

#endif
