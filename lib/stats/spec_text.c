/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be told from a spec: its text, its unit, what is in it. */
#include "stats/spec.h"

#include <string.h>

#include "stats/scan.h"
#include "stats/text.h"

static void
put_pairs(struct text *t, const struct spec *s)
{
	const struct piece *pieces[4];
	int i;

	pieces[0] = &s->start;
	pieces[1] = &s->end;
	pieces[2] = &s->key;
	pieces[3] = &s->middle;
	tel__text_string(t, s->pairs == PAIRS_NS ? "dur(" : "ticks(");
	for (i = 0; i < 4 && pieces[i]->text != NULL; i++) {
		if (i > 0)
			tel__text_char(t, ',');
		tel__text_string(t, pieces[i]->text);
	}
	tel__text_char(t, ')');
}

static void
put_class(struct text *t, const struct spec *s)
{
	unsigned i;

	tel__text_string(t, s->delta ? "magdelta" : tel_class_name(s->class));
	tel__text_char(t, '(');
	if (s->pairs != PAIRS_NONE)
		put_pairs(t, s);
	else if (s->value.text != NULL)
		tel__text_string(t, s->value.text);
	for (i = 0; i < tel__class_parameters(s->class); i++) {
		tel__text_char(t, ',');
		tel__text_i64(t, s->parameters[i]);
	}
	if (s->weight.text != NULL) {
		tel__text_char(t, ',');
		tel__text_string(t, s->weight.text);
	}
	tel__text_char(t, ')');
}

char *
tel__spec_text(const struct spec *s)
{
	struct text t = { NULL, 0, 0, 0 };

	if (s->pairs == PAIRS_NONE && s->value.text == NULL)
		return tel__text_copy("", 0);
	if (s->class == TEL_CLASS_DUR)
		put_pairs(&t, s);
	else
		put_class(&t, s);
	if (s->condition.text != NULL) {
		tel__text_string(&t, " if ");
		tel__text_string(&t, s->condition.text);
	}
	if (t.failed)
		tel__text_clear(&t);
	return t.bytes;
}

const char *
tel__spec_unit(const struct spec *s)
{
	static const char *const units[][2] = { { "time", "ns" },
		{ "dt", "ns" }, { "clock", "ticks" }, { "sizeof", "bytes" },
		{ "size", "bytes" }, { ".size", "bytes" } };
	size_t i;

	if (s->pairs != PAIRS_NONE)
		return s->pairs == PAIRS_NS ? "ns" : "ticks";
	if (s->value.text != NULL && s->class != TEL_CLASS_TALLY &&
	    s->class != TEL_CLASS_RATIO)
		for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (strcmp(s->value.text, units[i][0]) == 0)
				return units[i][1];
	return "";
}

/* Different where both are known; where must_both, where one is not, too. */
static int
differ(const struct piece *a, const struct piece *b, int must_both)
{
	if (a->text != NULL && b->text != NULL)
		return strcmp(a->text, b->text) != 0;
	return must_both && a->text != b->text;
}

const char *
tel__spec_difference(const struct spec *a, const struct spec *b)
{
	int known;

	if (a->class != b->class || a->delta != b->delta)
		return "their classes differ";
	if (memcmp(a->parameters, b->parameters,
	        tel__class_parameters(a->class) * sizeof(a->parameters[0])) !=
	    0)
		return "their parameters differ";
	known = (a->value.text != NULL || a->pairs != PAIRS_NONE) &&
	    (b->value.text != NULL || b->pairs != PAIRS_NONE);
	if (!known)
		return NULL;
	if (a->pairs != b->pairs || differ(&a->value, &b->value, 1))
		return "their values differ";
	if (differ(&a->start, &b->start, 1) || differ(&a->end, &b->end, 1) ||
	    differ(&a->key, &b->key, 1) || differ(&a->middle, &b->middle, 1))
		return "their pairs differ";
	if (differ(&a->weight, &b->weight, 1))
		return "their weights differ";
	if (differ(&a->condition, &b->condition, 1))
		return "their conditions differ";
	return NULL;
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
	if (!scan_word(*s) || (*s >= '0' && *s <= '9'))
		return NULL;
	for (q = s; *q != '\0'; q++)
		if (!scan_word(*q))
			return NULL;
	for (i = 0; i < sizeof(others) / sizeof(others[0]) && !dotted; i++)
		if (strcmp(s, others[i]) == 0)
			return NULL;
	return s;
}

int
tel__piece_has_word(const struct piece *p, const char *word)
{
	const char *s = p->text;
	size_t n, length = strlen(word);

	while (s != NULL && *s != '\0') {
		if (*s == '"' || *s == '\'') {
			s = tel__scan_quoted(s);
			continue;
		}
		for (n = 0; scan_word(s[n]); n++)
			;
		if (n == length && memcmp(s, word, n) == 0)
			return 1;
		s += n > 0 ? n : 1;
	}
	return 0;
}
