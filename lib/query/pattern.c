/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Globs are matched here and not by fnmatch(3), as strings of a log are bytes
 * without a NUL and without a locale.  Regular expressions go to regcomp(3),
 * except for those that are a plain word.
 */
#include "query/pattern.h"
#include "query/value.h"

#include <string.h>

/*
 * Matches c with the set that starts after the '[' at *at, and moves *at past
 * its ']'.  Returns 1, 0, or -1 when the set does not end.
 */
static int
match_set(const char *glob, size_t n, size_t *at, unsigned char c, int fold)
{
	size_t i = *at, first;
	int negate = 0, hit = 0;
	unsigned char lo, hi;

	if (i < n && (glob[i] == '!' || glob[i] == '^')) {
		negate = 1;
		i++;
	}
	for (first = i; i < n && (glob[i] != ']' || i == first); i++) {
		if (glob[i] == '\\' && i + 1 < n)
			i++;
		lo = hi = (unsigned char)glob[i];
		if (i + 2 < n && glob[i + 1] == '-' && glob[i + 2] != ']') {
			i += 2;
			if (glob[i] == '\\' && i + 1 < n)
				i++;
			hi = (unsigned char)glob[i];
		}
		if (c >= lo && c <= hi)
			hit = 1;
		if (fold && lo == hi && lower((char)lo) == lower((char)c))
			hit = 1;
	}
	if (i >= n)
		return -1;
	*at = i + 1;
	return hit != negate;
}

/* Matches one byte with the item at glob[*at], and moves *at past it. */
static int
match_one(const char *glob, size_t n, size_t *at, char c, int fold)
{
	size_t i = *at;

	if (glob[i] == '?') {
		*at = i + 1;
		return 1;
	}
	if (glob[i] == '[') {
		i++;
		int hit = match_set(glob, n, &i, (unsigned char)c, fold);
		if (hit >= 0) {
			*at = i;
			return hit;
		}
		i = *at; /* a '[' without an end means itself */
	}
	if (glob[i] == '\\' && i + 1 < n)
		i++;
	*at = i + 1;
	return fold ? lower(glob[i]) == lower(c) : glob[i] == c;
}

/*
 * When what follows a star fails, only the last star need be tried again
 * one byte later: an earlier one could gain nothing.
 */
int
tel__glob_match(const char *glob, size_t n, const char *s, size_t length,
    int any_case)
{
	size_t g = 0, i = 0, star = 0, from = 0;
	int starred = 0;

	while (i < length) {
		if (g < n && glob[g] == '*') {
			starred = 1;
			star = ++g;
			from = i;
		} else if (g < n && match_one(glob, n, &g, s[i], any_case)) {
			i++;
		} else if (starred) {
			g = star;
			i = ++from;
		} else {
			return 0;
		}
	}
	while (g < n && glob[g] == '*')
		g++;
	return g == n;
}

const char *
tel__pattern_glob(struct pattern *p, const char *text, size_t length)
{
	if (length > PATTERN_MAX)
		return "the pattern is longer than 1024 bytes";
	p->kind = PATTERN_GLOB;
	p->text = text;
	p->length = length;
	return NULL;
}

/* A word, perhaps anchored, that needs no regular expression. */
static int
take_literal(struct pattern *p, const char *text, size_t length)
{
	p->at_begin = length > 0 && text[0] == '^';
	text += p->at_begin;
	length -= (size_t)p->at_begin;
	p->at_end = length > 0 && text[length - 1] == '$';
	length -= (size_t)p->at_end;
	for (size_t i = 0; i < length; i++)
		if (strchr(".[]\\()*+?{}|^$", text[i]) != NULL ||
		    (unsigned char)text[i] >= 0x80)
			return 0;
	/* an empty expression is not POSIX's, but implementations agree */
	p->kind = PATTERN_LITERAL;
	p->text = text;
	p->length = length;
	return 1;
}

/* What regcomp() would take, but should not be given. */
static const char *
dangers(const char *text, size_t length)
{
	unsigned long count, most, product = 1;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\' && i + 1 < length) {
			i++;
			if (text[i] >= '1' && text[i] <= '9')
				return "back references are not supported";
			continue;
		}
		if (text[i] != '{')
			continue;
		most = 1;
		count = 0;
		for (i++; i < length && text[i] != '}'; i++) {
			if (text[i] >= '0' && text[i] <= '9')
				count =
				    count * 10 + (unsigned long)(text[i] - '0');
			else
				count = 0;
			if (count > PATTERN_REPEAT_MAX)
				break;
			most = count > most ? count : most;
		}
		product *= most;
		if (count > PATTERN_REPEAT_MAX || product > PATTERN_REPEAT_MAX)
			return "the product of the counts in { } exceeds 1024";
	}
	return NULL;
}

const char *
tel__pattern_regex(struct pattern *p, const char *text, size_t length,
    char *buffer, size_t size)
{
	if (length > PATTERN_MAX)
		return "the pattern is longer than 1024 bytes";
	if (take_literal(p, text, length))
		return NULL;
	const char *why = dangers(text, length);
	if (why != NULL)
		return why;
	int error = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
	if (error != 0) {
		regerror(error, &p->regex, buffer, size);
		return buffer;
	}
	p->kind = PATTERN_REGEX;
	return NULL;
}

void
tel__pattern_clear(struct pattern *p)
{
	if (p->kind == PATTERN_REGEX)
		regfree(&p->regex);
	p->kind = PATTERN_GLOB;
}

static int
match_literal(const struct pattern *p, const char *s, size_t length)
{
	size_t n = p->length, last;

	if (length < n)
		return 0;
	last = length - n;
	if (p->at_begin)
		return (!p->at_end || last == 0) && memcmp(s, p->text, n) == 0;
	if (p->at_end)
		return memcmp(s + last, p->text, n) == 0;
	if (n == 0)
		return 1;
	const char *end = s + last + 1;
	for (const char *at = s; at < end; at++) {
		at = memchr(at, p->text[0], (size_t)(end - at));
		if (at == NULL)
			return 0;
		if (memcmp(at, p->text, n) == 0)
			return 1;
	}
	return 0;
}

int
tel__pattern_match(const struct pattern *p, const char *s, size_t length,
    char *scratch)
{
	switch (p->kind) {
	case PATTERN_GLOB:
		return tel__glob_match(p->text, p->length, s, length, 0);
	case PATTERN_LITERAL: return match_literal(p, s, length);
	case PATTERN_REGEX: break;
	}
	if (length > SUBJECT_MAX)
		return -1;
	memcpy(scratch, s, length);
	scratch[length] = '\0';
	return regexec(&p->regex, scratch, 0, NULL, 0) == 0;
}
