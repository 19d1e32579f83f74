/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/ctf/lexer.h"

#include <string.h>

#include "base/digit.h"

static int
lexer_is_word(char c, int first)
{
	return tel_is_letter(c) || (!first && tel_is_digit(c));
}

/* Skips blanks and comments.  0: a comment has no end. */
static int
lexer_skip(struct ctf_lexer *l)
{
	while (l->p < l->end) {
		if (*l->p == '\n')
			l->line++;
		if (strchr(" \t\r\n\f\v", *l->p) != NULL) {
			/* NUL, which pads packets, is found, too */
			l->p++;
		} else if (l->end - l->p >= 2 && memcmp(l->p, "//", 2) == 0) {
			while (l->p < l->end && *l->p != '\n')
				l->p++;
		} else if (l->end - l->p >= 2 && memcmp(l->p, "/*", 2) == 0) {
			for (l->p += 2;
			     l->end - l->p >= 2 && memcmp(l->p, "*/", 2) != 0;
			     l->p++)
				if (*l->p == '\n')
					l->line++;
			if (l->end - l->p < 2)
				return 0;
			l->p += 2;
		} else {
			return 1;
		}
	}
	return 1;
}

static void
lexer_integer(struct ctf_lexer *l, struct ctf_token *t)
{
	unsigned base = 10, suffix = 0;

	t->kind = TOKEN_INTEGER;
	if (*l->p == '0' && l->end - l->p >= 2 && (l->p[1] | 0x20) == 'x') {
		base = 16;
		l->p += 2;
	} else if (*l->p == '0' && l->end - l->p >= 2 &&
	    (l->p[1] | 0x20) == 'b') {
		base = 2;
		l->p += 2;
	} else if (*l->p == '0') {
		base = 8;
	}
	const char *start = l->p;
	for (; l->p < l->end && tel_digit(*l->p) < base; l->p++)
		if (__builtin_mul_overflow(t->value, base, &t->value) ||
		    __builtin_add_overflow(t->value, tel_digit(*l->p),
		        &t->value))
			t->kind = TOKEN_INVALID;
	if (l->p == start)
		t->kind = TOKEN_INVALID;
	while (l->p < l->end && suffix < 3 && strchr("uUlL", *l->p) != NULL &&
	    *l->p != '\0') {
		l->p++;
		suffix++;
	}
	if (l->p < l->end && lexer_is_word(*l->p, 0))
		t->kind = TOKEN_INVALID;
}

/* One character behind a backslash. */
static char
lexer_escape(struct ctf_lexer *l)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	unsigned value = 0, digits = 0, base;
	char c = *l->p++;
	const char *known = c != '\0' ? strchr(from, c) : NULL;

	if (known != NULL)
		return to[known - from];
	if (c != 'x' && !(c >= '0' && c <= '7'))
		return c;
	base = c == 'x' ? 16 : 8;
	if (base == 8)
		l->p--;
	/* C has no limit for 'x': these are those of babeltrace */
	for (; l->p < l->end && digits < 3 && tel_digit(*l->p) < base; digits++)
		value = value * base + tel_digit(*l->p++);
	return (char)(value & 0xff);
}

/* A string or a character, from its quote on. */
static void
lexer_string(struct ctf_lexer *l, struct ctf_token *t)
{
	const char quote = *l->p++;
	const char *close = l->p;
	char *to;

	while (close < l->end && *close != quote && *close != '\n')
		close += *close == '\\' && l->end - close >= 2 ? 2 : 1;
	t->kind = TOKEN_INVALID;
	if (close >= l->end || *close != quote)
		return;
	t->text = to = tel__arena_alloc(l->arena, (size_t)(close - l->p) + 1);
	if (to == NULL)
		return;
	while (l->p < close)
		if (*l->p != '\\') {
			*to++ = *l->p++;
		} else {
			l->p++;
			*to++ = lexer_escape(l);
		}
	l->p = close + 1;
	t->length = (size_t)(to - t->text);
	t->kind = TOKEN_STRING;
	if (quote == '\'') {
		t->kind = t->length == 1 ? TOKEN_INTEGER : TOKEN_INVALID;
		t->value = (unsigned char)t->text[0];
	}
}

static void
lexer_punctuation(struct ctf_lexer *l, struct ctf_token *t)
{
	static const struct {
		char text[4];
		enum ctf_token_kind kind;
	} longer[] = { { "...", TOKEN_ELLIPSIS }, { ":=", TOKEN_ASSIGN_TYPE },
		{ "->", TOKEN_ARROW } };

	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++) {
		size_t n = strlen(longer[i].text);

		if ((size_t)(l->end - l->p) >= n &&
		    memcmp(l->p, longer[i].text, n) == 0) {
			t->kind = longer[i].kind;
			l->p += n;
			return;
		}
	}
	t->kind = *l->p != '\0' && strchr("[](){}*+-<>:;.=,", *l->p) != NULL ?
	    TOKEN_PUNCTUATION :
	    TOKEN_INVALID;
	t->character = *l->p++;
}

void
tel__ctf_token(struct ctf_lexer *l, struct ctf_token *t)
{
	int ended = lexer_skip(l);

	memset(t, 0, sizeof(*t));
	t->line = l->line;
	if (!ended) {
		t->kind = TOKEN_INVALID;
	} else if (l->p == l->end) {
		t->kind = TOKEN_END;
	} else if (*l->p == '"' || *l->p == '\'') {
		lexer_string(l, t);
	} else if (*l->p == 'L' && l->end - l->p >= 2 && l->p[1] == '"') {
		l->p++;
		lexer_string(l, t);
	} else if (lexer_is_word(*l->p, 1)) {
		t->kind = TOKEN_WORD;
		t->text = l->p;
		while (l->p < l->end && lexer_is_word(*l->p, 0))
			l->p++;
		t->length = (size_t)(l->p - t->text);
	} else if (*l->p >= '0' && *l->p <= '9') {
		lexer_integer(l, t);
	} else {
		lexer_punctuation(l, t);
	}
}
