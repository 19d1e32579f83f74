/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The language of specs, "NAME=CLASS(ARGUMENTS) if CONDITION": its grammar is
 * in tel.h, at tel_stats_add().  Expressions are cut out here and understood
 * elsewhere.
 */
#include "stats/spec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/digit.h"
#include "model/name.h"
#include "query/suggest.h"
#include "stats/class.h"
#include "stats/lexer.h"
#include "stats/stat.h"

/* Value, and five parameters and a weight, or one and the shown values. */
#define ARGUMENTS_MAX (2u + TEL_SHOWN_MAX)

tel_status
tel__trouble_set(struct trouble *t, tel_status status, const char *text,
    unsigned column, const char *format, ...)
{
	char *copy = text == NULL ? NULL : strdup(text);
	va_list ap;

	free(t->text);
	t->text = copy;
	t->column = column;
	va_start(ap, format);
	vsnprintf(t->message, sizeof(t->message), format, ap);
	va_end(ap);
	tel__printable(t->message, sizeof(t->message));
	return status;
}

/* The text that is read, and where an error goes. */
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
spec_wrong(struct parser *p, const char *at, const char *why)
{
	return tel__trouble_set(p->trouble, TEL_EINVAL, p->text, column(p, at),
	    "%s", why);
}

static void
pieces_clear(struct piece *pieces, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		free(pieces[i].text);
		pieces[i].text = NULL;
	}
}

/* Makes a piece of what lies from at to end, blanks at its ends left out. */
static tel_status
make_piece(struct parser *p, const char *at, const char *end, struct piece *out)
{
	at = lex_blanks(at);
	while (end > at && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	if (end <= at)
		return spec_wrong(p, at, "expected an expression");
	out->column = column(p, at);
	out->text = tel__copy_string(at, (size_t)(end - at));
	return out->text == NULL ? TEL_ENOMEM : TEL_OK;
}

/*
 * Splits what begins at *at at its commas, up to a closing parenthesis if
 * closed, else to the end of the text; moves *at there.
 */
static tel_status
spec_split(struct parser *p, const char **at, int closed, struct piece *pieces,
    unsigned max, unsigned *count)
{
	const char *from = *at, *end, *open = from;

	*count = 0;
	for (;;) {
		end = tel__lex_until(from, closed ? ",)" : ",", &open);
		if (end == NULL)
			return spec_wrong(p, open,
			    "unterminated string or parenthesis");
		if (closed && *end == '\0')
			return spec_wrong(p, end, "expected ')'");
		if (*count == max)
			return tel__trouble_set(p->trouble, TEL_ELIMIT, p->text,
			    column(p, lex_blanks(from)),
			    "at most %u arguments are allowed", max);
		tel_status st = make_piece(p, from, end, &pieces[*count]);
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

	memset(pieces, 0, max * sizeof(*pieces));
	if (strlen(text) > SPEC_MAX)
		return tel__trouble_set(trouble, TEL_ELIMIT, NULL, 0,
		    "the text is longer than 65536 bytes");
	tel_status st = spec_split(&p, &text, 0, pieces, max, count);
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
	struct piece *to = &p->spec->pieces[PIECE_START];

	for (unsigned i = 0; i < count; i++, to++) {
		move_piece(to, &arguments[i]);
		if (i == 2)
			continue;
		size_t n = strlen(to->text);
		/* a name in quotes, as in an expression */
		if (n > 2 && (*to->text == '"' || *to->text == '\'') &&
		    to->text[n - 1] == *to->text) {
			n -= 2;
			memmove(to->text, to->text + 1, n);
			to->text[n] = '\0';
		}
		if (!tel__name_is_type((unsigned char *)to->text, n))
			return spec_wrong(p, p->text + to->column - 1,
			    "expected the name of a type");
	}
	return TEL_OK;
}

/* Where the arguments of "dur(...)" and its like start; NULL: it is none. */
static const char *
find_pairs(const char *text, enum pairing *pairs)
{
	size_t n = 0;

	while (tel_is_word(text[n]))
		n++;
	const char *p = lex_blanks(text + n);
	if (*p != '(')
		return NULL;
	for (int i = PAIRS_NS; i < PAIRS_COUNT; i++)
		if (strlen(tel__pair_words[i]) == n &&
		    memcmp(text, tel__pair_words[i], n) == 0) {
			*pairs = (enum pairing)i;
			return p + 1;
		}
	return NULL;
}

/* Reads the arguments of pairs from *at, and moves it behind the ')'. */
static tel_status
read_pairs(struct parser *p, const char **at)
{
	struct piece arguments[4] = { { NULL, 0 } };
	tel_status st = TEL_OK;
	unsigned count = 0;

	*at = lex_blanks(*at);
	if (**at != ')')
		st = spec_split(p, at, 1, arguments, 4, &count);
	if (st == TEL_OK)
		st = take_pairs(p, arguments, count);
	pieces_clear(arguments, 4);
	if (st == TEL_OK)
		++*at;
	return st;
}

/* "real(EXPRESSION, decimals)", as the arguments from *at on. */
static tel_status
read_real(struct parser *p, const char **at)
{
	struct piece arguments[2] = { { NULL, 0 } };
	unsigned count = 0;
	const char *text, *why = NULL;
	int64_t decimals = DECIMALS;
	tel_status st = spec_split(p, at, 1, arguments, 2, &count);

	text = count > 1 ? arguments[1].text : "6";
	if (st == TEL_OK)
		why = tel__lex_number(text, text + strlen(text), 0, &decimals);
	if (why == NULL && (decimals < 1 || decimals > DECIMALS_MAX))
		why = "the number of decimals must be from 1 to 9";
	if (st == TEL_OK && why != NULL)
		st = spec_wrong(p, p->text + arguments[1].column - 1, why);
	if (st == TEL_OK) {
		p->spec->decimals = (unsigned)decimals;
		move_piece(&p->spec->value, &arguments[0]);
		++*at;
	}
	pieces_clear(arguments, 2);
	return st;
}

/* Where the arguments of "real(...)" start; NULL: it is not that. */
static const char *
find_real(const char *text)
{
	if (strncmp(text, "real", 4) != 0)
		return NULL;
	text = lex_blanks(text + 4);
	return *text == '(' ? text + 1 : NULL;
}

/* Nonzero when an expression has decimals whatever the log is. */
static int
is_real(const struct piece *value)
{
	return tel__piece_has_word(value, "cpi") ||
	    tel__piece_has_word(value, ".cpi");
}

/* The value: an expression, one with decimals, or pairs. */
static tel_status
spec_take_value(struct parser *p)
{
	const struct stat_class *class = tel__stat_class(p->spec->class);
	struct piece *value = &p->arguments[0];
	const char *text = p->text + value->column - 1, *at;
	const char *real = find_real(text);

	at = real != NULL ? real : find_pairs(text, &p->spec->pairs);
	if (at == NULL) {
		if (class->real && is_real(value))
			p->spec->decimals = DECIMALS;
		move_piece(&p->spec->value, value);
		return TEL_OK;
	}
	if (real != NULL && !class->real)
		return tel__trouble_set(p->trouble, TEL_EINVAL, p->text,
		    value->column, "%s() takes no real()", class->name);
	if (real != NULL) {
		tel_status st = read_real(p, &at);

		if (st == TEL_OK && *(at = lex_blanks(at)) != ',' && *at != ')')
			return spec_wrong(p, at,
			    "real() cannot be part of an expression");
		return st;
	}
	tel_status st = read_pairs(p, &at);
	if (st == TEL_OK && *(at = lex_blanks(at)) != ',' && *at != ')')
		return spec_wrong(p, at,
		    "times of pairs cannot be part of an expression");
	return st;
}

static tel_status
take_parameters(struct parser *p, const struct stat_class *class)
{
	struct spec *s = p->spec;
	unsigned n = class->nparameters, i, which;
	const char *why;
	tel_status st;

	if (p->count < 1 + class->required)
		return tel__trouble_set(p->trouble, TEL_EINVAL, p->text, 0,
		    "%s() requires %u more", class->name,
		    1 + class->required - p->count);
	s->parameters[0] = class->preset;
	for (i = 0; i < n && i + 1 < p->count; i++) {
		struct piece *a = &p->arguments[i + 1];

		p->columns[i] = a->column;
		why = tel__lex_number(a->text, a->text + strlen(a->text),
		    class->valued ? s->decimals : 0, &s->parameters[i]);
		if (why != NULL)
			return spec_wrong(p, p->text + a->column - 1, why);
	}
	if (p->count >= n + 2) {
		struct piece *a = &p->arguments[p->count - 1];

		st = make_piece(p, p->text + p->arguments[n + 1].column - 1,
		    p->text + a->column - 1 + strlen(a->text), &s->weight);
		if (st != TEL_OK)
			return st;
	}
	st = tel__layout_make(&s->layout, class->layout, s->parameters, &why,
	    &which);
	if (st == TEL_EINVAL || st == TEL_ELIMIT)
		return tel__trouble_set(p->trouble, st, p->text,
		    p->columns[which], "%s", why);
	return st;
}

/* Reports a word that does not name a class, and suggests similar ones. */
static tel_status
wrong_class(struct parser *p, const char *word, size_t n)
{
	/* what other tools call them */
	static const char *const synonyms[][2] = { { "average", "mean" },
		{ "avg", "mean" }, { "cardinality", "distinct" },
		{ "median", "quantiles" }, { "p50", "quantiles" },
		{ "p90", "quantiles" }, { "p99", "quantiles" },
		{ "percentile", "quantiles" }, { "std", "var" },
		{ "stddev", "var" }, { "unique", "distinct" } };
	struct suggestion near;
	char meant[96], names[200], why[320];

	tel__suggest_start(&near, word, n);
	tel__stat_class_list(names, sizeof(names), &near);
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (strlen(synonyms[i][0]) == n &&
		    memcmp(word, synonyms[i][0], n) == 0)
			near = (struct suggestion){ .best[0] = synonyms[i][1] };
	(void)snprintf(why, sizeof(why),
	    "expected a class: %s, ticks or queue%s", names,
	    n > 0 ? tel__suggest_text(&near, meant, sizeof(meant)) : "");
	return spec_wrong(p, word, why);
}

/* Reads "class(...)" and moves *at behind it. */
static tel_status
read_class(struct parser *p, const char **at)
{
	const char *word = *at, *open = find_pairs(word, &p->spec->pairs);
	size_t n = 0;

	if (open != NULL) {
		p->spec->class = TEL_CLASS_DUR;
		*at = open;
		return read_pairs(p, at);
	}
	while (tel_is_word(word[n]))
		n++;
	if (!tel__stat_class_find(word, n, &p->spec->class))
		return wrong_class(p, word, n);
	const struct stat_class *class = tel__stat_class(p->spec->class);
	if (class->pairs)
		return wrong_class(p, word, n);
	*at = lex_blanks(word + n);
	if (**at != '(')
		return spec_wrong(p, *at, "expected '('");
	++*at;
	/* of no value in particular, events are counted */
	if (class->bare && *lex_blanks(*at) == ')') {
		*at = lex_blanks(*at) + 1;
		p->spec->value.text = tel__copy_string("1", 1);
		return p->spec->value.text == NULL ? TEL_ENOMEM : TEL_OK;
	}
	tel_status st = spec_split(p, at, 1, p->arguments,
	    1 + class->nparameters + (unsigned)class->weighted, &p->count);
	if (st == TEL_OK)
		st = spec_take_value(p);
	if (st == TEL_OK)
		st = take_parameters(p, class);
	++*at;
	return st;
}

static tel_status
spec_read_name(struct parser *p, const char **at)
{
	const char *from = lex_blanks(*at), *end = from;

	while (tel_is_word(*end) || *end == '.' || *end == '-')
		end++;
	*at = lex_blanks(end);
	if (end == from || **at != '=')
		return spec_wrong(p, end == from ? from : *at,
		    "expected NAME=CLASS(...), with a NAME of letters, digits "
		    "and _ . -");
	if ((size_t)(end - from) > NAME_MAX_LENGTH)
		return tel__trouble_set(p->trouble, TEL_ELIMIT, p->text,
		    column(p, from), "the name is longer than 200 bytes");
	++*at;
	p->spec->name = tel__copy_string(from, (size_t)(end - from));
	return p->spec->name == NULL ? TEL_ENOMEM : TEL_OK;
}

static tel_status
read_condition(struct parser *p, const char *at)
{
	at = lex_blanks(at);
	if (*at == '\0')
		return TEL_OK;
	if (at[0] != 'i' || at[1] != 'f' || tel_is_word(at[2]))
		return spec_wrong(p, at,
		    "expected \"if\" or the end after the class");
	return make_piece(p, at + 2, at + strlen(at), &p->spec->condition);
}

tel_status
tel__spec_parse(const char *text, struct spec *out, struct trouble *trouble)
{
	struct parser p = { .text = text, .trouble = trouble, .spec = out };
	const char *at = text;

	memset(out, 0, sizeof(*out));
	if (strlen(text) > SPEC_MAX)
		return tel__trouble_set(trouble, TEL_ELIMIT, NULL, 0,
		    "the spec is longer than 65536 bytes");
	tel_status st = spec_read_name(&p, &at);
	if (st == TEL_OK) {
		at = lex_blanks(at);
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
	pieces_clear(s->pieces, PIECES);
	memset(s, 0, sizeof(*s));
}

/* ----------------------------------------------------- values of a spec */

static void
spec_put_text(struct tel__buffer *t, const char *text)
{
	tel__buffer_put(t, text, strlen(text));
}

static void
put_pairs(struct tel__buffer *t, const struct spec *s)
{
	const struct piece *piece = &s->pieces[PIECE_START];

	spec_put_text(t, tel__pair_words[s->pairs]);
	spec_put_text(t, "(");
	for (; piece < s->pieces + PIECES && piece->text != NULL; piece++) {
		if (piece != &s->start)
			spec_put_text(t, ",");
		spec_put_text(t, piece->text);
	}
	spec_put_text(t, ")");
}

/* A value, and that it has decimals where it does not say so itself. */
static void
spec_put_value(struct tel__buffer *t, const struct spec *s)
{
	char end[8] = ")";
	int real =
	    s->decimals > 0 && (s->decimals != DECIMALS || !is_real(&s->value));

	spec_put_text(t, real ? "real(" : "");
	spec_put_text(t, s->value.text);
	if (real && s->decimals != DECIMALS)
		snprintf(end, sizeof(end), ",%u)", s->decimals);
	spec_put_text(t, real ? end : "");
}

/* A number of 10^-decimals. */
static void
spec_put_number(struct tel__buffer *t, int64_t v, unsigned decimals)
{
	char text[48];
	uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v, unit = 1;

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	int n = snprintf(text, sizeof(text), "%s%" PRIu64, v < 0 ? "-" : "",
	    size / unit);
	if (size % unit != 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ".%0*" PRIu64,
		    (int)decimals, size % unit);
	while (size % unit != 0 && text[n - 1] == '0')
		text[--n] = '\0';
	spec_put_text(t, text);
}

static void
spec_put_class(struct tel__buffer *t, const struct spec *s)
{
	const struct stat_class *class = tel__stat_class(s->class);

	spec_put_text(t, class->name);
	spec_put_text(t, "(");
	if (s->pairs != PAIRS_NONE)
		put_pairs(t, s);
	else if (s->value.text != NULL)
		spec_put_value(t, s);
	for (unsigned i = 0; i < class->nparameters; i++) {
		spec_put_text(t, ",");
		spec_put_number(t, s->parameters[i],
		    class->valued ? s->decimals : 0);
	}
	if (s->weight.text != NULL) {
		spec_put_text(t, ",");
		spec_put_text(t, s->weight.text);
	}
	spec_put_text(t, ")");
}

char *
tel__spec_text(const struct spec *s)
{
	struct tel__buffer t = { NULL, 0, 0, 0 };

	/* a class of an inst log need not say what it counts */
	if (s->class == TEL_CLASS_DUR && s->pairs != PAIRS_NONE)
		put_pairs(&t, s);
	else if (s->pairs != PAIRS_NONE || s->value.text != NULL)
		spec_put_class(&t, s);
	if (t.used > 0 && s->condition.text != NULL) {
		spec_put_text(&t, " if ");
		spec_put_text(&t, s->condition.text);
	}
	char *text = t.failed ? NULL : tel__copy_string(t.bytes, t.used);
	tel__buffer_clear(&t);
	return text;
}

const char *
tel__spec_unit(const struct spec *s)
{
	static const char *const units[][2] = { { "time", "ns" },
		{ "dt", "ns" }, { "clock", "ticks" }, { "sizeof", "bytes" },
		{ "size", "bytes" }, { ".size", "bytes" }, { "bytes", "bytes" },
		{ "live", "bytes" }, { "start.size", "bytes" },
		{ "start.time", "ns" }, { "start.clock", "ticks" } };

	if (s->pairs != PAIRS_NONE)
		return s->pairs == PAIRS_TICKS ? "ticks" : "ns";
	if (s->value.text != NULL && !tel__stat_class(s->class)->unitless)
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (strcmp(s->value.text, units[i][0]) == 0)
				return units[i][1];
	return "";
}

const char *
tel__spec_difference(const struct spec *a, const struct spec *b)
{
	/* of the pieces, in the order of which the first is reported */
	static const struct {
		unsigned piece;
		const char *text;
	} rows[PIECES] = { { 0, "their values differ" },
		{ 3, "their pairs differ" }, { 4, "their pairs differ" },
		{ 5, "their pairs differ" }, { 6, "their pairs differ" },
		{ 1, "their weights differ" },
		{ 2, "their conditions differ" } };

	if (a->class != b->class)
		return "their classes differ";
	if (memcmp(a->parameters, b->parameters,
	        tel__stat_class(a->class)->nparameters *
	            sizeof(a->parameters[0])) != 0)
		return "their parameters differ";
	if (a->decimals != b->decimals)
		return "their decimals differ";
	if ((a->value.text == NULL && a->pairs == PAIRS_NONE) ||
	    (b->value.text == NULL && b->pairs == PAIRS_NONE))
		return NULL;
	if (a->pairs != b->pairs)
		return rows[0].text;
	for (unsigned i = 0; i < PIECES; i++) {
		const char *x = a->pieces[rows[i].piece].text;
		const char *y = b->pieces[rows[i].piece].text;

		if (x != y && (x == NULL || y == NULL || strcmp(x, y) != 0))
			return rows[i].text;
	}
	return NULL;
}

tel_status
tel__piece_halve(const struct piece *p, struct piece halves[2])
{
	const char *open, *colon = tel__lex_until(p->text, ":", &open);
	const size_t n =
	    colon != NULL ? (size_t)(colon - p->text) : strlen(p->text);

	halves[0].column = p->column;
	halves[0].text = tel__copy_string(p->text, n);
	if (halves[0].text == NULL)
		return TEL_ENOMEM;
	if (p->text[n] == '\0')
		return TEL_OK;
	halves[1].column = p->column + (unsigned)n + 1;
	halves[1].text = strdup(p->text + n + 1);
	return halves[1].text == NULL ? TEL_ENOMEM : TEL_OK;
}

const char *
tel__piece_field(const struct piece *p)
{
	static const char *const others[] = { "kind", "name", "code", "time",
		"clock", "dt", "index", "cpu", "tid", "pid", "sizeof", "label",
		"has", "true", "false", "in", "field" };
	const char *s = p->text, *q;
	int dotted = *s == '.';
	size_t i;

	s += dotted;
	if (!tel_is_word(*s) || (*s >= '0' && *s <= '9'))
		return NULL;
	for (q = s; *q != '\0'; q++)
		if (!tel_is_word(*q))
			return NULL;
	for (i = 0; i < sizeof(others) / sizeof(others[0]) && !dotted; i++)
		if (strcmp(s, others[i]) == 0)
			return NULL;
	return s;
}

int
tel__piece_label(const struct piece *p, char *name, size_t size)
{
	const char *s = p->text, *from;
	char quote = '\0';
	size_t n = 0;

	if (s == NULL || strncmp(s, "label", 5) != 0)
		return 0;
	s = lex_blanks(s + 5);
	if (*s != '(')
		return 0;
	s = lex_blanks(s + 1);
	if (*s == '"' || *s == '\'')
		quote = *s++;
	else
		s += *s == '.';
	for (from = s; tel_is_word(*s); s++)
		n++;
	if (quote != '\0' && *s++ != quote)
		return 0;
	s = lex_blanks(s);
	if (n == 0 || n >= size || *s != ')' || *lex_blanks(s + 1) != '\0')
		return 0;
	memcpy(name, from, n);
	name[n] = '\0';
	return 1;
}

int
tel__piece_has_word(const struct piece *p, const char *word)
{
	const char *s = p->text;
	size_t n, length = strlen(word);

	while (s != NULL && *s != '\0') {
		if (*s == '"' || *s == '\'') {
			s = tel__lex_quoted(s);
			continue;
		}
		/* a range, and not a field */
		if (*s == '.' && s[1] == '.') {
			s += 2;
			continue;
		}
		for (n = *s == '.'; tel_is_word(s[n]); n++)
			;
		if (n == length && memcmp(s, word, n) == 0)
			return 1;
		s += n > 0 ? n : 1;
	}
	return 0;
}
