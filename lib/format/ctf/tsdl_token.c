/* SPDX-License-Identifier: BSD-2-Clause */
/* What all of TSDL is made of: tokens, names, and integers. */
#include "format/ctf/tsdl.h"

#include <string.h>

void
tel__tsdl_advance(struct tsdl *t)
{
	tel__ctf_token(&t->lexer, &t->token);
}

int
tel__tsdl_fail(struct tsdl *t, const char *expected)
{
	const struct ctf_token *k = &t->token;
	int n = k->length < 40 ? (int)k->length : 40;

	if (t->error->text[0] != '\0')
		return 0;
	if (k->kind == TOKEN_END)
		return tel__ctf_error(t->error, k->line,
		    "expected %s, found the end", expected);
	if (k->kind == TOKEN_WORD || k->kind == TOKEN_STRING)
		return tel__ctf_error(t->error, k->line,
		    "expected %s, found %.*s", expected, n, k->text);
	if (k->kind == TOKEN_PUNCTUATION)
		return tel__ctf_error(t->error, k->line,
		    "expected %s, found '%c'", expected, k->character);
	return tel__ctf_error(t->error, k->line, "expected %s, found %s",
	    expected,
	    k->kind == TOKEN_INTEGER ? "a number" : "an invalid token");
}

int
tel__tsdl_no_memory(struct tsdl *t)
{
	return tel__ctf_error(t->error, t->token.line,
	    "out of memory, or metadata of too many types");
}

int
tel__tsdl_at(const struct tsdl *t, char c)
{
	return t->token.kind == TOKEN_PUNCTUATION && t->token.character == c;
}

int
tel__tsdl_accept(struct tsdl *t, char c)
{
	if (!tel__tsdl_at(t, c))
		return 0;
	tel__tsdl_advance(t);
	return 1;
}

int
tel__tsdl_expect(struct tsdl *t, char c)
{
	char text[4] = { '\'', c, '\'', '\0' };

	return tel__tsdl_accept(t, c) || tel__tsdl_fail(t, text);
}

int
tel__tsdl_is(const struct ctf_token *k, const char *word)
{
	return k->kind == TOKEN_WORD && strlen(word) == k->length &&
	    memcmp(k->text, word, k->length) == 0;
}

int
tel__tsdl_accept_word(struct tsdl *t, const char *word)
{
	if (!tel__tsdl_is(&t->token, word))
		return 0;
	tel__tsdl_advance(t);
	return 1;
}

const char *
tel__tsdl_copy(struct tsdl *t, const char *text, size_t n)
{
	const char *copy = tel__arena_string(&t->m->arena, text, n);

	if (copy == NULL)
		tel__tsdl_no_memory(t);
	return copy;
}

const char *
tel__tsdl_name(struct tsdl *t)
{
	if (t->token.kind != TOKEN_WORD && t->token.kind != TOKEN_STRING) {
		tel__tsdl_fail(t, "a name");
		return NULL;
	}
	const char *name = tel__tsdl_copy(t, t->token.text, t->token.length);
	tel__tsdl_advance(t);
	return name;
}

const char *
tel__tsdl_dotted(struct tsdl *t)
{
	char text[256];
	size_t used = 0;

	for (;;) {
		if (t->token.kind != TOKEN_WORD ||
		    used + t->token.length + 2 > sizeof(text)) {
			tel__tsdl_fail(t, "a name");
			return NULL;
		}
		memcpy(text + used, t->token.text, t->token.length);
		used += t->token.length;
		tel__tsdl_advance(t);
		if (!tel__tsdl_at(t, '.') && t->token.kind != TOKEN_ARROW)
			break;
		tel__tsdl_advance(t);
		text[used++] = '.';
	}
	return tel__tsdl_copy(t, text, used);
}

int
tel__tsdl_integer(struct tsdl *t, uint64_t *value)
{
	int negative = 0, open = 0;

	while (tel__tsdl_at(t, '(') && open < 8) {
		tel__tsdl_advance(t);
		open++;
	}
	if (tel__tsdl_accept(t, '-'))
		negative = 1;
	else
		(void)tel__tsdl_accept(t, '+');
	if (t->token.kind != TOKEN_INTEGER)
		return tel__tsdl_fail(t, "a number");
	*value = negative ? 0 - t->token.value : t->token.value;
	tel__tsdl_advance(t);
	while (open-- > 0)
		if (!tel__tsdl_expect(t, ')'))
			return 0;
	return 1;
}
