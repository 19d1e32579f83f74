/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns over strings: globs and POSIX extended regular expressions. */
#ifndef TEL_QUERY_PATTERN_H
#define TEL_QUERY_PATTERN_H

#include <regex.h>
#include <stddef.h>

/* The longest pattern, in bytes. */
#define PATTERN_MAX 1024
/*
 * The most that the counts of a regular expression may multiply to:
 * implementations expand them, and "((a{255}){255}){255}" fills any memory.
 */
#define PATTERN_REPEAT_MAX 1024
/* The longest string that a regular expression is matched with. */
#define SUBJECT_MAX ((size_t)1 << 16)

struct pattern {
	enum { PATTERN_GLOB, PATTERN_LITERAL, PATTERN_REGEX } kind;
	const char *text; /* borrowed; without the anchors of a literal */
	size_t length;
	int at_begin; /* a literal: anchored there */
	int at_end;
	regex_t regex;
};

/*
 * Make a pattern of text[0..length-1], which is followed by a NUL and lives
 * as long.  Return NULL, or a message; buffer is room for that.
 */
const char *tel__pattern_glob(struct pattern *p, const char *text,
    size_t length);
const char *tel__pattern_regex(struct pattern *p, const char *text,
    size_t length, char *buffer, size_t size);
void tel__pattern_clear(struct pattern *p);

/*
 * Whether the string matches.  scratch: SUBJECT_MAX + 1 bytes, which regular
 * expressions need for a copy.  Returns 1, 0, or -1 when the string is too
 * long.
 */
int tel__pattern_match(const struct pattern *p, const char *s, size_t length,
    char *scratch);

/* Whether s matches a glob, all of it. */
int tel__glob_match(const char *glob, size_t glob_length, const char *s,
    size_t length, int any_case);

#endif
