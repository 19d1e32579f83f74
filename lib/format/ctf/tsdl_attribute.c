/* SPDX-License-Identifier: BSD-2-Clause */
/* The attributes of integers, numbers with a point, enumerations and strings. */
#include "format/ctf/tsdl.h"

#include <string.h>

/* The most bits of an integer: of its bytes, if they are more than 64. */
#define WIDE_MAX 4096u

int
tel__tsdl_value(struct tsdl *t, struct attribute *a)
{
	a->word = NULL;
	a->number = 0;
	if (!tel__tsdl_expect(t, '='))
		return 0;
	if (t->token.kind == TOKEN_STRING)
		a->word = tel__tsdl_name(t);
	else if (t->token.kind == TOKEN_WORD)
		a->word = tel__tsdl_dotted(t);
	else if (!tel__tsdl_integer(t, &a->number))
		return 0;
	return t->error->text[0] == '\0' && tel__tsdl_expect(t, ';');
}

static int
is_one_of(const char *word, const char *const *list)
{
	for (; word != NULL && *list != NULL; list++)
		if (strcmp(word, *list) == 0)
			return 1;
	return 0;
}

static int
attribute_truth(const struct attribute *a)
{
	static const char *const yes[] = { "true", "TRUE", "1", NULL };

	return a->word != NULL ? is_one_of(a->word, yes) : a->number != 0;
}

static uint8_t
attribute_base(const struct attribute *a)
{
	static const char *const hex[] = { "hexadecimal", "hex", "x", "X", "p",
		NULL };
	static const char *const bits[] = { "octal", "oct", "o", "binary", "b",
		NULL };

	if (is_one_of(a->word, hex) || (a->word == NULL && a->number == 16))
		return 16;
	if (is_one_of(a->word, bits) ||
	    (a->word == NULL && (a->number == 8 || a->number == 2)))
		return 8;
	return 10;
}

int
tel__tsdl_order(struct tsdl *t, const struct attribute *a,
    enum ctf_order *order)
{
	static const char *const big[] = { "be", "network", NULL };
	static const char *const little[] = { "le", NULL };
	static const char *const native[] = { "native", NULL };

	if (is_one_of(a->word, big))
		*order = CTF_BIG;
	else if (is_one_of(a->word, little))
		*order = CTF_LITTLE;
	else if (is_one_of(a->word, native))
		*order = CTF_NATIVE;
	else
		return tel__ctf_error(t->error, t->token.line,
		    "unknown byte order; expected le, be, network or native");
	return 1;
}

int
tel__tsdl_align(struct tsdl *t, const struct attribute *a, uint32_t *align)
{
	if (a->word != NULL || a->number == 0 || a->number > 1u << 20 ||
	    (a->number & (a->number - 1)) != 0)
		return tel__ctf_error(t->error, t->token.line,
		    "invalid alignment; expected a power of two");
	*align = (uint32_t)a->number;
	return 1;
}

/* "clock.NAME.value": the clock of that name. */
static int
attribute_map(struct tsdl *t, const struct attribute *a,
    const struct ctf_clock **out)
{
	if (a->word == NULL || strncmp(a->word, "clock.", 6) != 0)
		return 1;
	for (const struct ctf_clock *c = t->m->clocks; c != NULL; c = c->next) {
		size_t n = strlen(c->name);

		if (strncmp(a->word + 6, c->name, n) == 0 &&
		    (a->word[6 + n] == '.' || a->word[6 + n] == '\0')) {
			*out = c;
			return 1;
		}
	}
	return tel__ctf_error(t->error, t->token.line,
	    "unknown clock in map = %.60s", a->word);
}

int
tel__tsdl_set(struct tsdl *t, struct ctf_class *c, const struct attribute *a,
    uint64_t digits[2])
{
	static const char *const none[] = { "none", "NONE", NULL };

	if (strcmp(a->name, "size") == 0) {
		if (a->word != NULL || a->number == 0 ||
		    (a->number > 64 &&
		        (a->number % 8 != 0 || a->number > WIDE_MAX)))
			return tel__ctf_error(t->error, t->token.line,
			    "invalid size of an integer; expected 1 to 64, or "
			    "a multiple of 8 up to 4096");
		c->size = (uint16_t)a->number;
	} else if (strcmp(a->name, "signed") == 0) {
		c->is_signed = (uint8_t)attribute_truth(a);
	} else if (strcmp(a->name, "byte_order") == 0) {
		return tel__tsdl_order(t, a, &c->order);
	} else if (strcmp(a->name, "align") == 0) {
		return tel__tsdl_align(t, a, &c->align);
	} else if (strcmp(a->name, "base") == 0) {
		c->base = attribute_base(a);
	} else if (strcmp(a->name, "encoding") == 0) {
		c->is_text = !is_one_of(a->word, none);
	} else if (strcmp(a->name, "map") == 0) {
		return attribute_map(t, a, &c->clock);
	} else if (strcmp(a->name, "exp_dig") == 0) {
		digits[0] = a->number;
	} else if (strcmp(a->name, "mant_dig") == 0) {
		digits[1] = a->number;
	}
	return 1;
}
