/* SPDX-License-Identifier: BSD-2-Clause */
/* From the text of an expression to tokens. */
#include "query/token.h"

#include <string.h>

struct sign {
	char text[3];
	enum token_kind kind;
	enum value_op op;
};

/* Longer ones come before those that they begin with. */
static const struct sign signs[] = {
	{ "&&", T_AND, OPR_AND },
	{ "||", T_OR, OPR_OR },
	{ "==", T_OPERATOR, OPR_EQ },
	{ "!=", T_OPERATOR, OPR_NE },
	{ "<=", T_OPERATOR, OPR_LE },
	{ ">=", T_OPERATOR, OPR_GE },
	{ "<<", T_OPERATOR, OPR_SHL },
	{ ">>", T_OPERATOR, OPR_SHR },
	{ "!~", T_MATCH_NOT, OPR_NE },
	{ "=*", T_GLOB, OPR_EQ },
	{ "!*", T_GLOB_NOT, OPR_NE },
	{ "..", T_RANGE, OPR_EQ },
	{ "<", T_OPERATOR, OPR_LT },
	{ ">", T_OPERATOR, OPR_GT },
	{ "!", T_NOT, OPR_NE },
	{ "~", T_TILDE, OPR_COMPLEMENT },
	{ "+", T_OPERATOR, OPR_ADD },
	{ "-", T_OPERATOR, OPR_SUB },
	{ "*", T_OPERATOR, OPR_MUL },
	{ "/", T_OPERATOR, OPR_DIV },
	{ "%", T_OPERATOR, OPR_MOD },
	{ "&", T_OPERATOR, OPR_AND },
	{ "|", T_OPERATOR, OPR_OR },
	{ "^", T_OPERATOR, OPR_XOR },
	{ "(", T_LPAREN, OPR_EQ },
	{ ")", T_RPAREN, OPR_EQ },
	{ ",", T_COMMA, OPR_EQ },
};

static int
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static unsigned
column_of(const struct lexer *l, const char *p)
{
	return (unsigned)(p - l->text) + 1;
}

static void
read_word(struct lexer *l, struct token *t)
{
	char *to = l->words;

	t->s = to;
	while (is_letter(*l->p) || is_digit(*l->p))
		*to++ = *l->p++;
	*to++ = '\0';
	l->words = to;
}

static int
hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* What stands behind a backslash, at l->p, into *out. */
static const char *
read_escape(struct lexer *l, char *out)
{
	int high, low;

	switch (*l->p) {
	case 'n': *out = '\n'; break;
	case 't': *out = '\t'; break;
	case 'r': *out = '\r'; break;
	case '\\':
	case '"':
	case '\'': *out = *l->p; break;
	case 'x':
		high = hex_digit(l->p[1]);
		low = high < 0 ? -1 : hex_digit(l->p[2]);
		if (low < 0)
			return "\\x takes two hexadecimal digits";
		if (high == 0 && low == 0)
			return "a string cannot hold a NUL";
		*out = (char)(high << 4 | low);
		l->p += 2;
		break;
	default:
		return "no such escape: there are \\\\ \\\" \\' \\n \\t "
		       "\\r \\xHH; in '...' a backslash is itself";
	}
	l->p++;
	return NULL;
}

static const char *
read_string(struct lexer *l, struct token *t)
{
	char quote = *l->p++, *to = l->words, c;
	const char *why;

	t->s = to;
	while (*l->p != quote) {
		c = *l->p;
		if (c == '\0')
			return "the string has no end";
		if (c == '\\' && quote == '"') {
			l->error_column = column_of(l, l->p);
			l->p++;
			why = read_escape(l, &c);
			if (why != NULL)
				return why;
			l->error_column = t->column;
		} else {
			l->p++;
		}
		*to++ = c;
	}
	l->p++;
	*to = '\0';
	t->value = value_string(t->s, (size_t)(to - t->s));
	l->words = to + 1;
	return NULL;
}

static const char *
read_sign(struct lexer *l, struct token *t)
{
	size_t i, n;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		n = strlen(signs[i].text);
		if (strncmp(l->p, signs[i].text, n) != 0)
			continue;
		t->kind = signs[i].kind;
		t->op = signs[i].op;
		l->p += n;
		return NULL;
	}
	if (l->p[0] == '=' && l->p[1] == '~')
		return "'=~' means nothing: '~' alone matches";
	if (*l->p == '=')
		return "'=' alone means nothing: '==' compares";
	if (*l->p == '.')
		return "a field's name is missing behind the '.'";
	return "this character has no meaning here";
}

const char *
tel__lexer_next(struct lexer *l, struct token *t)
{
	struct number number;
	const char *why;

	while (*l->p == ' ' || *l->p == '\t' || *l->p == '\n' || *l->p == '\r')
		l->p++;
	memset(t, 0, sizeof(*t));
	t->kind = T_END;
	t->column = column_of(l, l->p);
	l->error_column = t->column;
	if (*l->p == '\0')
		return NULL;
	if (is_letter(*l->p)) {
		t->kind = T_NAME;
		read_word(l, t);
		return NULL;
	}
	if (l->p[0] == '.' && is_letter(l->p[1])) {
		t->kind = T_FIELD;
		l->p++;
		read_word(l, t);
		return NULL;
	}
	if (is_digit(*l->p)) {
		t->kind = T_NUMBER;
		why = tel__number_read(l->p, &l->p, 0, &number);
		if (why == NULL)
			t->value = number.value;
		return why;
	}
	if (*l->p == '"' || *l->p == '\'') {
		t->kind = T_STRING;
		return read_string(l, t);
	}
	return read_sign(l, t);
}
