/* SPDX-License-Identifier: BSD-2-Clause */
/* From the text of an expression to tokens; numbers as people write them. */
#include "query/token.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/digit.h"

/* ------------------------------------------------------------- numbers */

/* The suffix at p, and where it ends; NULL: none is there. */
static const struct tel_suffix *
find_suffix(const char *p, int long_units, const char **end)
{
	const char *q = p;

	while (tel_is_word(*q))
		q++;
	const struct tel_suffix *s = tel__suffix_find(p, (size_t)(q - p));
	if (s != NULL && s->is_long && !long_units)
		return NULL;
	*end = q;
	return s;
}

/* strtod() of the C locale, whatever locale the program is in. */
static double
token_to_double(const char *text)
{
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), old;

	if (c == (locale_t)0)
		return strtod(text, NULL);
	old = uselocale(c);
	double d = strtod(text, NULL);
	uselocale(old);
	freelocale(c);
	return d;
}

/* Where digits, fraction and exponent end; *whole: there are but digits. */
static const char *
skip_decimal(const char *p, int *whole, int *exponent)
{
	*whole = 1;
	*exponent = 0;
	while (tel_is_digit(*p))
		p++;
	if (p[0] == '.' && tel_is_digit(p[1])) {
		*whole = 0;
		for (p++; tel_is_digit(*p); p++)
			;
	}
	if (*p != 'e' && *p != 'E')
		return p;
	const char *q = p + 1;
	if (*q == '+' || *q == '-')
		q++;
	if (!tel_is_digit(*q))
		return p;
	while (tel_is_digit(*q))
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
	const char *p = tel__digits(text, 10, &whole);

	if (p == NULL || __builtin_mul_overflow(whole, factor, &ns))
		return "the time is too large";
	if (*p == '.')
		for (p++; tel_is_digit(*p); p++) {
			scale /= 10;
			part += tel_digit(*p) * scale;
		}
	if (__builtin_add_overflow(ns, (uint64_t)(part * (double)factor + 0.5),
	        &ns) ||
	    ns > INT64_MAX)
		return "the time is too large";
	*out = value_natural(ns);
	return NULL;
}

static const char *
read_integer(const char *text, unsigned base, const struct tel_suffix *s,
    struct value *out)
{
	uint64_t v;

	if (tel__digits(text, base, &v) == NULL ||
	    __builtin_mul_overflow(v, s->factor, &v))
		return "the number is greater than 2^64 - 1";
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
	unsigned base = find_base(text, &digits);
	int whole = 1, exponent = 0;

	if (base == 10)
		p = skip_decimal(text, &whole, &exponent);
	else
		for (p = digits; tel_digit(*p) < base; p++)
			;
	if (p == digits)
		return "expected a digit";
	const struct tel_suffix *s = find_suffix(p, long_units, end);
	if (s == NULL)
		return long_units ?
		    "unknown suffix; expected k M G T or ns us ms s m h" :
		    "unknown suffix; expected k M G T or ns us ms s";
	out->unit = s->is_time ? NUMBER_TIME :
	    s->name[0] != '\0' ? NUMBER_SIZE :
	                         NUMBER_PLAIN;
	if (s->is_time) {
		if (base != 10 || exponent)
			return "a time must be decimal";
		return read_time(text, s->factor, &out->value);
	}
	if (!whole) {
		out->value =
		    value_double(token_to_double(text) * (double)s->factor);
		return out->value.as.d > DBL_MAX ? "the number is too large" :
		                                   NULL;
	}
	if (base == 10 && text[0] == '0' && p > text + 1) {
		base = 8;
		for (; digits < p; digits++)
			if (tel_digit(*digits) > 7)
				return "8 and 9 are not octal digits";
		digits = text;
	}
	return read_integer(digits, base, s, &out->value);
}

/* -------------------------------------------------------------- tokens */

struct sign {
	char text[3];
	enum token_kind kind;
	enum value_op op;
};

/* Longer ones come before their prefixes. */
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
	{ "[", T_LBRACKET, OPR_EQ },
	{ "]", T_RBRACKET, OPR_EQ },
	{ ",", T_COMMA, OPR_EQ },
};

const char *
tel__operator_text(enum value_op op)
{
	size_t i = 0;

	if (op == OPR_NEGATE)
		op = OPR_SUB;
	while (signs[i].op != op ||
	    (signs[i].kind != T_OPERATOR && op != OPR_COMPLEMENT))
		i++;
	return signs[i].text;
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
	while (tel_is_letter(*l->p) || tel_is_digit(*l->p) ||
	    /* a member of a struct; but start.x is x of another event */
	    (l->p[0] == '.' && tel_is_letter(l->p[1]) &&
	        (t->kind == T_FIELD || to - t->s != 5 ||
	            memcmp(t->s, "start", 5) != 0)))
		*to++ = *l->p++;
	*to++ = '\0';
	l->words = to;
}

/* Reads the escape after a backslash, at l->p, into *out. */
static const char *
read_escape(struct lexer *l, char *out)
{
	unsigned high, low;

	switch (*l->p) {
	case 'n': *out = '\n'; break;
	case 't': *out = '\t'; break;
	case 'r': *out = '\r'; break;
	case '\\':
	case '"':
	case '\'': *out = *l->p; break;
	case 'x':
		high = tel_digit(l->p[1]);
		low = high > 15 ? high : tel_digit(l->p[2]);
		if (low > 15)
			return "\\x requires two hexadecimal digits";
		if (high == 0 && low == 0)
			return "a string cannot contain a NUL";
		*out = (char)(high << 4 | low);
		l->p += 2;
		break;
	default:
		return "unknown escape; expected \\\\ \\\" \\' \\n \\t \\r "
		       "\\xHH; in '...' a backslash is literal";
	}
	l->p++;
	return NULL;
}

static const char *
read_string(struct lexer *l, struct token *t)
{
	char quote = *l->p++, *to = l->words, c;

	t->s = to;
	while (*l->p != quote) {
		c = *l->p;
		if (c == '\0')
			return "the string is not terminated";
		if (c == '\\' && quote == '"') {
			l->error_column = column_of(l, l->p);
			l->p++;
			const char *why = read_escape(l, &c);
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
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t n = strlen(signs[i].text);

		if (strncmp(l->p, signs[i].text, n) != 0)
			continue;
		t->kind = signs[i].kind;
		t->op = signs[i].op;
		l->p += n;
		return NULL;
	}
	if (l->p[0] == '=' && l->p[1] == '~')
		return "unknown operator '=~'; '~' matches";
	if (*l->p == '=')
		return "unknown operator '='; '==' compares";
	if (*l->p == '.')
		return "expected the name of a field after '.'";
	if (*l->p == ':')
		return "unexpected character ':'; a name that has one is "
		       "written in quotes";
	return "unexpected character";
}

const char *
tel__lexer_next(struct lexer *l, struct token *t)
{
	struct number number;

	while (*l->p == ' ' || *l->p == '\t' || *l->p == '\n' || *l->p == '\r')
		l->p++;
	memset(t, 0, sizeof(*t));
	t->kind = T_END;
	t->column = column_of(l, l->p);
	l->error_column = t->column;
	if (*l->p == '\0')
		return NULL;
	if (tel_is_letter(*l->p)) {
		t->kind = T_NAME;
		read_word(l, t);
		return NULL;
	}
	if (l->p[0] == '.' && tel_is_letter(l->p[1])) {
		t->kind = T_FIELD;
		l->p++;
		read_word(l, t);
		return NULL;
	}
	if (tel_is_digit(*l->p)) {
		t->kind = T_NUMBER;
		const char *why = tel__number_read(l->p, &l->p, 0, &number);
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
