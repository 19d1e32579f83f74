/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The language of specs, "NAME=CLASS(ARGUMENTS) if CONDITION": its grammar is
 * in tel.h, at tel_stats_add().  Expressions are cut out here and understood
 * elsewhere.
 */
#include "stats/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/scan.h"
#include "stats/text.h"

/* Value, five parameters, weight. */
#define ARGUMENTS_MAX 7u

tel_status
tel__trouble_set(struct trouble *t, tel_status status, const char *text,
    unsigned column, const char *format, ...)
{
	char *copy = text == NULL ? NULL : tel__text_copy(text, strlen(text));
	va_list ap;
	char *p;

	free(t->text);
	t->text = copy;
	t->column = column;
	va_start(ap, format);
	vsnprintf(t->message, sizeof(t->message), format, ap);
	va_end(ap);
	for (p = t->message; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return status;
}

/* What is read, and where what is wrong goes. */
struct parser {
	const char *text;
	struct trouble *trouble;
	struct spec *spec;
	struct piece arguments[ARGUMENTS_MAX];
	unsigned count;
	unsigned columns[PARAMETERS_MAX];
};

static unsigned
column(const struct parser *p, const char *at)
{
	return (unsigned)(at - p->text) + 1;
}

static tel_status
wrong(struct parser *p, const char *at, const char *why)
{
	return tel__trouble_set(p->trouble, TEL_EINVAL, p->text, column(p, at),
	    "%s", why);
}

static void
pieces_clear(struct piece *pieces, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		free(pieces[i].text);
		pieces[i].text = NULL;
	}
}

/* Makes a piece of what lies from at to end, blanks at its ends left out. */
static tel_status
make_piece(struct parser *p, const char *at, const char *end, struct piece *out)
{
	at = scan_blanks(at);
	while (end > at && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	if (end <= at)
		return wrong(p, at, "something is missing here");
	out->column = column(p, at);
	out->text = tel__text_copy(at, (size_t)(end - at));
	return out->text == NULL ? TEL_ENOMEM : TEL_OK;
}

/*
 * Splits what begins at *at at its commas, up to a closing parenthesis if
 * closed, else to the end of the text; moves *at there.
 */
static tel_status
split(struct parser *p, const char **at, int closed, struct piece *pieces,
    unsigned max, unsigned *count)
{
	const char *from = *at, *end, *open = from;
	tel_status st;

	*count = 0;
	for (;;) {
		end = tel__scan_until(from, closed ? ",)" : ",", &open);
		if (end == NULL)
			return wrong(p, open, "this is not closed");
		if (closed && *end == '\0')
			return wrong(p, end, "a ')' is missing");
		if (*count == max)
			return tel__trouble_set(p->trouble, TEL_ELIMIT, p->text,
			    column(p, scan_blanks(from)),
			    "there are at most %u here", max);
		st = make_piece(p, from, end, &pieces[*count]);
		if (st != TEL_OK)
			return st;
		++*count;
		if (*end != ',')
			break;
		from = end + 1;
	}
	*at = end;
	return TEL_OK;
}

tel_status
tel__pieces_split(const char *text, struct piece *pieces, unsigned max,
    unsigned *count, struct trouble *trouble)
{
	struct parser p = { .text = text, .trouble = trouble };
	tel_status st;

	memset(pieces, 0, max * sizeof(*pieces));
	if (strlen(text) > SPEC_MAX)
		return tel__trouble_set(trouble, TEL_ELIMIT, NULL, 0,
		    "the text is longer than 65536 bytes");
	st = split(&p, &text, 0, pieces, max, count);
	if (st != TEL_OK)
		pieces_clear(pieces, max);
	return st;
}

static void
move_piece(struct piece *to, struct piece *from)
{
	*to = *from;
	from->text = NULL;
}

/* The names of types, and the key, of a pair. */
static tel_status
take_pairs(struct parser *p, struct piece *arguments, unsigned count)
{
	struct piece *to[4];
	const char *s;
	unsigned i;

	to[0] = &p->spec->start;
	to[1] = &p->spec->end;
	to[2] = &p->spec->key;
	to[3] = &p->spec->middle;
	for (i = 0; i < count; i++) {
		move_piece(to[i], &arguments[i]);
		for (s = to[i]->text; i != 2 && *s != '\0'; s++)
			if (!scan_word(*s))
				return wrong(p, p->text + to[i]->column - 1,
				    "the name of a type is wanted");
	}
	return TEL_OK;
}

/* Whether a text is "dur(...)" or "ticks(...)": where its arguments begin. */
static const char *
find_pairs(const char *text, enum pairing *pairs)
{
	size_t n = 0;
	const char *p;

	while (scan_word(text[n]))
		n++;
	p = scan_blanks(text + n);
	if (*p != '(')
		return NULL;
	if (n == 3 && memcmp(text, "dur", 3) == 0)
		*pairs = PAIRS_NS;
	else if (n == 5 && memcmp(text, "ticks", 5) == 0)
		*pairs = PAIRS_TICKS;
	else
		return NULL;
	return p + 1;
}

/* Reads the arguments of pairs from *at, and moves it behind the ')'. */
static tel_status
read_pairs(struct parser *p, const char **at)
{
	struct piece arguments[4] = { { NULL, 0 } };
	tel_status st = TEL_OK;
	unsigned count = 0;

	*at = scan_blanks(*at);
	if (**at != ')')
		st = split(p, at, 1, arguments, 4, &count);
	if (st == TEL_OK)
		st = take_pairs(p, arguments, count);
	pieces_clear(arguments, 4);
	if (st == TEL_OK)
		++*at;
	return st;
}

/* The value: an expression, or pairs. */
static tel_status
take_value(struct parser *p)
{
	struct piece *value = &p->arguments[0];
	const char *at = p->text + value->column - 1;
	tel_status st;

	at = find_pairs(at, &p->spec->pairs);
	if (at == NULL) {
		move_piece(&p->spec->value, value);
		return TEL_OK;
	}
	st = read_pairs(p, &at);
	if (st == TEL_OK && *(at = scan_blanks(at)) != ',' && *at != ')')
		return wrong(p, at,
		    "times of pairs cannot be part of an expression");
	return st;
}

static tel_status
take_parameters(struct parser *p, unsigned least)
{
	struct spec *s = p->spec;
	unsigned n = tel__class_parameters(s->class), i;
	struct piece *a;
	const char *why;

	if (p->count < 1 + least)
		return tel__trouble_set(p->trouble, TEL_EINVAL, p->text, 0,
		    "%s() needs %u more", tel_class_name(s->class),
		    1 + least - p->count);
	if (s->class == TEL_CLASS_QUANTILES)
		s->parameters[0] = QUANTILE_BITS;
	for (i = 0; i < n && i + 1 < p->count; i++) {
		a = &p->arguments[i + 1];
		p->columns[i] = a->column;
		why = tel__scan_integer(a->text, a->text + strlen(a->text),
		    &s->parameters[i]);
		if (why != NULL)
			return wrong(p, p->text + a->column - 1, why);
	}
	if (p->count == n + 2)
		move_piece(&s->weight, &p->arguments[n + 1]);
	return tel__spec_layout(s, p->text, p->columns, p->trouble);
}

tel_status
tel__spec_layout(struct spec *s, const char *text, const unsigned *columns,
    struct trouble *trouble)
{
	const char *why;
	unsigned which;
	tel_status st;

	st =
	    tel__layout_make(&s->layout, s->class, s->parameters, &why, &which);
	if (st == TEL_EINVAL || st == TEL_ELIMIT)
		return tel__trouble_set(trouble, st, text,
		    columns == NULL ? 0 : columns[which], "%s", why);
	return st;
}

static const struct form {
	const char *name;
	enum tel_class class;
	int delta;
	unsigned least; /* parameters that must be given */
	int weighted;
} forms[] = {
	{ "mag", TEL_CLASS_MAG, 0, 0, 0 },
	{ "magdelta", TEL_CLASS_MAG, 1, 0, 0 },
	{ "growth", TEL_CLASS_GROWTH, 0, 0, 0 },
	{ "hist", TEL_CLASS_HIST, 0, 3, 1 },
	{ "split", TEL_CLASS_SPLIT, 0, 5, 1 },
	{ "tally", TEL_CLASS_TALLY, 0, 1, 1 },
	{ "log2", TEL_CLASS_LOG2, 0, 0, 1 },
	{ "loglin", TEL_CLASS_LOGLIN, 0, 4, 1 },
	{ "quantiles", TEL_CLASS_QUANTILES, 0, 0, 1 },
	{ "ratio", TEL_CLASS_RATIO, 0, 1, 1 },
};

/* Reads "class(...)" and moves *at behind it. */
static tel_status
read_class(struct parser *p, const char **at)
{
	const char *word = *at, *open = find_pairs(word, &p->spec->pairs);
	size_t n = 0, i;
	tel_status st;

	if (open != NULL) {
		p->spec->class = TEL_CLASS_DUR;
		*at = open;
		return read_pairs(p, at);
	}
	while (scan_word(word[n]))
		n++;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strlen(forms[i].name) == n &&
		    memcmp(forms[i].name, word, n) == 0)
			break;
	if (i == sizeof(forms) / sizeof(forms[0]))
		return wrong(p, word,
		    "a class is wanted: mag, magdelta, growth, hist, split, "
		    "tally, log2, loglin, quantiles, ratio, dur or ticks");
	*at = scan_blanks(word + n);
	if (**at != '(')
		return wrong(p, *at, "a '(' is missing");
	++*at;
	p->spec->class = forms[i].class;
	p->spec->delta = forms[i].delta;
	st = split(p, at, 1, p->arguments,
	    1 + tel__class_parameters(p->spec->class) +
	        (unsigned)forms[i].weighted,
	    &p->count);
	if (st == TEL_OK)
		st = take_value(p);
	if (st == TEL_OK)
		st = take_parameters(p, forms[i].least);
	++*at;
	return st;
}

static tel_status
read_name(struct parser *p, const char **at)
{
	const char *from = scan_blanks(*at), *end = from;

	while (scan_word(*end) || *end == '.' || *end == '-')
		end++;
	*at = scan_blanks(end);
	if (end == from || **at != '=')
		return wrong(p, end == from ? from : *at,
		    "a spec is NAME=CLASS(...), the name of letters, digits "
		    "and _ . -");
	if ((size_t)(end - from) > NAME_MAX_LENGTH)
		return tel__trouble_set(p->trouble, TEL_ELIMIT, p->text,
		    column(p, from), "the name is longer than 200 bytes");
	++*at;
	p->spec->name = tel__text_copy(from, (size_t)(end - from));
	return p->spec->name == NULL ? TEL_ENOMEM : TEL_OK;
}

static tel_status
read_condition(struct parser *p, const char *at)
{
	at = scan_blanks(at);
	if (*at == '\0')
		return TEL_OK;
	if (at[0] != 'i' || at[1] != 'f' || scan_word(at[2]))
		return wrong(p, at, "behind a class comes \"if\" or nothing");
	return make_piece(p, at + 2, at + strlen(at), &p->spec->condition);
}

tel_status
tel__spec_parse(const char *text, struct spec *out, struct trouble *trouble)
{
	struct parser p = { .text = text, .trouble = trouble, .spec = out };
	const char *at = text;
	tel_status st;

	memset(out, 0, sizeof(*out));
	if (strlen(text) > SPEC_MAX)
		return tel__trouble_set(trouble, TEL_ELIMIT, NULL, 0,
		    "the spec is longer than 65536 bytes");
	st = read_name(&p, &at);
	if (st == TEL_OK) {
		at = scan_blanks(at);
		st = read_class(&p, &at);
	}
	if (st == TEL_OK)
		st = read_condition(&p, at);
	pieces_clear(p.arguments, ARGUMENTS_MAX);
	if (st != TEL_OK)
		tel__spec_clear(out);
	return st;
}

void
tel__spec_clear(struct spec *s)
{
	free(s->name);
	tel__layout_clear(&s->layout);
	free(s->value.text);
	free(s->weight.text);
	free(s->condition.text);
	free(s->start.text);
	free(s->end.text);
	free(s->key.text);
	free(s->middle.text);
	memset(s, 0, sizeof(*s));
}
