/* SPDX-License-Identifier: BSD-2-Clause */
/* Selections: of kinds and types by name, and of time, address and label. */
#include "query/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digit.h"
#include "query/suggest.h"

/* -------------------------------------------------------------- names */

static int
is_gap(char c)
{
	return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

static void
names_clear(struct names *n)
{
	free(n->text);
	free(n->words);
	free(n->names);
	memset(n, 0, sizeof(*n));
}

static tel_status
read_name(struct names *n, char *word, unsigned column, struct fail *fail)
{
	struct name *name = &n->names[n->count++];
	struct number number;
	const char *end, *why;

	name->word = word;
	name->column = column;
	name->form = NAME_WORD;
	if (tel__glob_match("all", 3, word, strlen(word), 1))
		name->form = NAME_ALL;
	else if (strpbrk(word, "*?[") != NULL)
		name->form = NAME_GLOB;
	if (*word == '^')
		return tel__fail_set(fail, TEL_EINVAL, n->text, column,
		    "'^' is only valid at the start, and excludes the list");
	if (name->form == NAME_GLOB || *word < '0' || *word > '9')
		return TEL_OK;
	why = tel__number_read(word, &end, 0, &number);
	if (why == NULL &&
	    (*end != '\0' || number.value.tag != V_NATURAL ||
	        number.unit == NUMBER_TIME))
		why = "expected an integer";
	if (why != NULL)
		return tel__fail_set(fail, TEL_EINVAL, n->text, column, "%s",
		    why);
	name->form = NAME_NUMBER;
	name->number = number.value.as.u;
	return TEL_OK;
}

/* Splits text into names; out is to be cleared whatever comes. */
static tel_status
query_select_read_names(struct names *out, const char *text, struct fail *fail)
{
	size_t length = strlen(text), i, begin, phrase = SIZE_MAX;
	tel_status st = TEL_OK;

	memset(out, 0, sizeof(*out));
	if (length > TEXT_MAX)
		return tel__fail_set(fail, TEL_ELIMIT, text, 0,
		    "the list is longer than %zu bytes", TEXT_MAX);
	out->text = tel__copy_string(text, length);
	out->words = tel__copy_string(text, length);
	out->names = calloc(length / 2 + 1, sizeof(*out->names));
	if (out->text == NULL || out->words == NULL || out->names == NULL)
		return TEL_ENOMEM;
	for (i = 0; is_gap(text[i]); i++)
		;
	if (text[i] == '^') {
		out->negate = 1;
		i++;
	}
	while (i < length && st == TEL_OK) {
		if (is_gap(text[i])) {
			if (text[i++] == ',')
				phrase = SIZE_MAX;
			continue;
		}
		if (phrase == SIZE_MAX)
			phrase = i;
		for (begin = i; i < length && !is_gap(text[i]); i++)
			;
		out->words[i] = '\0';
		struct name *name = &out->names[out->count];
		name->phrase = out->text + phrase;
		name->length = strcspn(name->phrase, ",");
		while (is_gap(name->phrase[name->length - 1]))
			name->length--;
		st = read_name(out, out->words + begin, (unsigned)begin + 1,
		    fail);
	}
	if (st == TEL_OK && out->count == 0)
		return tel__fail_set(fail, TEL_EINVAL, text, 1,
		    "the list is empty");
	return st;
}

static tel_status
set_names(struct names *n, const char *text, struct fail *fail)
{
	struct names new;

	if (text == NULL) {
		names_clear(n);
		return TEL_OK;
	}
	tel_status st = query_select_read_names(&new, text, fail);
	if (st != TEL_OK) {
		fail->text = text;
		names_clear(&new);
		return st;
	}
	names_clear(n);
	*n = new;
	return TEL_OK;
}

tel_status
tel__select_kinds(struct selection *s, const char *text, struct fail *fail)
{
	return set_names(&s->kinds, text, fail);
}

tel_status
tel__select_types(struct selection *s, const char *text, struct fail *fail)
{
	return set_names(&s->types, text, fail);
}

/* tel__type_fns: whether a name, glob or number matches its kind, or the type. */
static int
names_phrase(const struct tel_type *t, const void *name)
{
	const struct name *n = name;

	return tel__glob_match(n->phrase, n->length, t->kind, strlen(t->kind),
	    1);
}

static int
names_kind(const struct tel_type *t, const void *name)
{
	const struct name *n = name;

	switch (n->form) {
	case NAME_ALL: return 1;
	case NAME_NUMBER:
		return t->kind_number < 64 &&
		    (n->number >> t->kind_number & 1) != 0;
	case NAME_PHRASE: return names_phrase(t, name);
	case NAME_WORD:
	case NAME_GLOB: break;
	}
	return tel__glob_match(n->word, strlen(n->word), t->kind,
	    strlen(t->kind), 1);
}

static int
names_type(const struct tel_type *t, const void *name)
{
	const struct name *n = name;

	switch (n->form) {
	case NAME_ALL: return 1;
	case NAME_NUMBER: return n->number == t->code;
	case NAME_WORD: return strcmp(n->word, t->name) == 0;
	case NAME_PHRASE: /* of kinds alone */
	case NAME_GLOB: break;
	}
	return tel__glob_match(n->word, strlen(n->word), t->name,
	    strlen(t->name), 0);
}

static int
wanted(const struct names *list, const struct tel_type *t, tel__type_fn *names)
{
	for (unsigned i = 0; i < list->count; i++)
		if (names(t, &list->names[i]))
			return !list->negate;
	return list->count == 0 || list->negate;
}

int
tel__select_type(const struct selection *s, const struct tel_type *type)
{
	static const struct tel_type unknown = { .name = "",
		.kind = "Unknown",
		.kind_number = UINT16_MAX };

	if (type == NULL) {
		if (!wanted(&s->kinds, &unknown, names_kind))
			return 0;
		return s->types.count == 0 ? 1 : -1;
	}
	return wanted(&s->kinds, type, names_kind) &&
	    wanted(&s->types, type, names_type);
}

/*
 * A name without wildcards must be one of the schema's, of one that is read
 * together with it, or of one before.
 */
static tel_status
check_name(const struct names *list, struct name *n, int kind,
    const struct tel_schema *schema, struct fail *fail)
{
	static const struct tel_type unknown = { .kind = "Unknown" };
	tel__type_fn *const names = kind ? names_kind : names_type;
	struct suggestion near;
	char text[200];

	if (n->known || n->form != NAME_WORD ||
	    (kind && names_kind(&unknown, n)))
		return TEL_OK;
	const int any = tel__schema_any(schema, names, n);
	n->known = any > 0;
	if (any != 0)
		return TEL_OK;
	tel__suggest_start(&near, n->word, strlen(n->word));
	for (unsigned i = 0; i < schema->ntypes; i++)
		tel__suggest_offer(&near,
		    kind ? schema->types[i].kind : schema->types[i].name);
	return tel__fail_set(fail, TEL_EINVAL, list->text, n->column,
	    "unknown %s '%.64s'%s", kind ? "kind" : "event type", n->word,
	    tel__suggest_text(&near, text, sizeof(text)));
}

/* Kinds may have blanks, as "Java Application". */
static void
find_phrases(struct names *list, const struct tel_schema *schema)
{
	for (unsigned i = 0; i < list->count; i++) {
		struct name *n = &list->names[i];

		if (n->length == strlen(n->word) ||
		    tel__schema_any(schema, names_phrase, n) <= 0)
			continue;
		n->form = NAME_PHRASE;
		n->known = 1;
	}
}

tel_status
tel__select_check(struct selection *s, const struct tel_schema *schema,
    struct fail *fail)
{
	tel_status st = TEL_OK;

	find_phrases(&s->kinds, schema);
	for (unsigned i = 0; i < s->kinds.count && st == TEL_OK; i++)
		st = check_name(&s->kinds, &s->kinds.names[i], 1, schema, fail);
	for (unsigned i = 0; i < s->types.count && st == TEL_OK; i++)
		st = check_name(&s->types, &s->types.names[i], 0, schema, fail);
	return st;
}

/* ------------------------------------------- time, address and label */

static const char *
query_select_skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* Sixteen hexadecimal digits without a unit: a clock as telcat prints it. */
static int
query_select_read_clock(const char *p, const char **end, uint64_t *out)
{
	uint64_t v;

	if (tel__digits(p, 16, &v) != p + 16 ||
	    tel_is_word((unsigned char)p[16]) || p[16] == '.')
		return 0;
	*end = p + 16;
	*out = v;
	return 1;
}

/* One end of a range of time.  Returns NULL, or a message. */
static const char *
read_instant(const char *p, const char **end, struct instant *out)
{
	struct number number;
	int negative = 0, clock;

	*end = p;
	out->base = INSTANT_NONE;
	out->value = 0;
	if (*p == ',' || *p == '\0')
		return NULL;
	out->base = INSTANT_CLOCK;
	if (query_select_read_clock(p, end, &out->value))
		return NULL;
	if (*p == '-' || *p == '+')
		negative = *p++ == '-';
	clock = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	const char *why = tel__number_read(p, end, 1, &number);
	if (why != NULL)
		return why;
	if (number.value.tag != V_NATURAL ||
	    (!clock && number.value.as.u > INT64_MAX) || (clock && negative))
		return "expected a number of ticks or a time";
	out->value = negative ? 0 - number.value.as.u : number.value.as.u;
	if (number.unit == NUMBER_TIME)
		out->base = INSTANT_NS;
	else if (!clock)
		out->base = INSTANT_TICKS;
	return NULL;
}

/* Nonzero when a range ends before it starts, whatever the log. */
static int
is_backward(const struct instant *from, const struct instant *to)
{
	if (from->base == INSTANT_NONE || from->base != to->base)
		return 0;
	if (from->base == INSTANT_CLOCK)
		return from->value > to->value;
	return (int64_t)from->value > (int64_t)to->value;
}

tel_status
tel__select_time(struct selection *s, const char *text, struct fail *fail)
{
	struct instant from = { INSTANT_NONE, 0 }, to = { INSTANT_NONE, 0 };
	const char *p, *end, *why;

	if (text != NULL) {
		p = query_select_skip_blanks(text);
		why = read_instant(p, &end, &from);
		if (why == NULL) {
			p = query_select_skip_blanks(end);
			if (*p++ != ',')
				return tel__fail_set(fail, TEL_EINVAL, text,
				    (unsigned)(end - text) + 1,
				    "expected a range FROM,TO");
			p = query_select_skip_blanks(p);
			why = read_instant(p, &end, &to);
		}
		if (why != NULL)
			return tel__fail_set(fail, TEL_EINVAL, text,
			    (unsigned)(p - text) + 1, "%s", why);
		end = query_select_skip_blanks(end);
		if (*end != '\0')
			return tel__fail_set(fail, TEL_EINVAL, text,
			    (unsigned)(end - text) + 1,
			    "expected the end of the range");
		if (is_backward(&from, &to))
			return tel__fail_set(fail, TEL_EINVAL, text, 0,
			    "the range ends before it starts");
	}
	s->from = from;
	s->to = to;
	return TEL_OK;
}

/* A whole number of a range of addresses. */
static const char *
read_address(const char **p, uint64_t *out)
{
	struct number number;

	*p = query_select_skip_blanks(*p);
	if (**p < '0' || **p > '9')
		return "expected a number";
	const char *why = tel__number_read(*p, p, 0, &number);
	if (why == NULL &&
	    (number.value.tag != V_NATURAL || number.unit == NUMBER_TIME))
		why = "expected an integer";
	if (why != NULL)
		return why;
	*p = query_select_skip_blanks(*p);
	*out = number.value.as.u;
	return NULL;
}

/* ADDRESS, ADDRESS,+LENGTH or FIRST,LAST. */
static const char *
read_span(const char **p, struct span *out)
{
	const char *why = read_address(p, &out->lo);
	uint64_t length;

	if (why != NULL)
		return why;
	out->hi = out->lo;
	if (**p != ',')
		return NULL;
	*p = query_select_skip_blanks(*p + 1);
	if (**p != '+') {
		why = read_address(p, &out->hi);
		if (why == NULL && out->hi < out->lo)
			why = "the range ends before it starts";
		return why;
	}
	++*p;
	why = read_address(p, &length);
	if (why != NULL)
		return why;
	if (length == 0)
		return "the range is empty";
	if (__builtin_add_overflow(out->lo, length - 1, &out->hi))
		return "the range exceeds the last address";
	return NULL;
}

tel_status
tel__select_address(struct selection *s, const char *text, struct fail *fail)
{
	const char *p = text, *why;
	struct span span;

	if (text == NULL) {
		free(s->addresses);
		s->addresses = NULL;
		s->naddresses = s->address_room = 0;
		free(s->address_set);
		s->address_set = NULL;
		return TEL_OK;
	}
	if (s->naddresses == LIST_MAX)
		return tel__fail_set(fail, TEL_ELIMIT, text, 0,
		    "more than %u ranges of addresses", LIST_MAX);
	why = read_span(&p, &span);
	if (why == NULL && *p != '\0')
		why = "expected the end of the range";
	if (why != NULL)
		return tel__fail_set(fail, TEL_EINVAL, text,
		    (unsigned)(p - text) + 1, "%s", why);
	if (!TEL__RESERVE(s->addresses, s->address_room, s->naddresses + 1))
		return TEL_ENOMEM;
	s->addresses[s->naddresses++] = span;
	free(s->address_set);
	s->address_set = tel__set_new(s->addresses, s->naddresses);
	return s->address_set == NULL ? TEL_ENOMEM : TEL_OK;
}

static void
clear_labels(struct selection *s)
{
	while (s->nlabels > 0)
		free(s->labels[--s->nlabels].text);
}

tel_status
tel__select_label(struct selection *s, const char *text, struct fail *fail)
{
	struct pattern glob = { 0 };

	if (text == NULL) {
		clear_labels(s);
		return TEL_OK;
	}
	if (s->nlabels == LIST_MAX)
		return tel__fail_set(fail, TEL_ELIMIT, text, 0,
		    "more than %u globs for labels", LIST_MAX);
	if (!TEL__RESERVE(s->labels, s->label_room, s->nlabels + 1))
		return TEL_ENOMEM;
	size_t length = strlen(text);
	char *copy = tel__copy_string(text, length);
	if (copy == NULL)
		return TEL_ENOMEM;
	const char *why = tel__pattern_glob(&glob, copy, length);
	if (why != NULL) {
		free(copy);
		return tel__fail_set(fail, TEL_ELIMIT, text, 0, "%s", why);
	}
	s->labels[s->nlabels].text = copy;
	s->labels[s->nlabels++].glob = glob;
	return TEL_OK;
}

void
tel__select_clear(struct selection *s)
{
	names_clear(&s->kinds);
	names_clear(&s->types);
	free(s->addresses);
	free(s->address_set);
	clear_labels(s);
	free(s->labels);
	memset(s, 0, sizeof(*s));
}
