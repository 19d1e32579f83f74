/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/ctf/json.h"

#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"

struct parser {
	struct tel__arena *arena;
	const char *p, *end;
	const char *why;
	unsigned depth;
};

static struct json *json_value(struct parser *j);

static void
json_blanks(struct parser *j)
{
	while (j->p < j->end &&
	    (*j->p == ' ' || *j->p == '\t' || *j->p == '\r' || *j->p == '\n'))
		j->p++;
}

static int
json_accept(struct parser *j, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(j->end - j->p) < n || memcmp(j->p, text, n) != 0)
		return 0;
	j->p += n;
	return 1;
}

/* Four hexadecimal digits. */
static int
json_hex(struct parser *j, uint32_t *out)
{
	unsigned i;

	*out = 0;
	for (i = 0; i < 4 && j->p < j->end && tel_digit(*j->p) < 16; i++)
		*out = *out << 4 | tel_digit(*j->p++);
	return i == 4;
}

/* An escape behind its backslash.  Returns where it ends; NULL: invalid. */
static char *
json_escape(struct parser *j, char *to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	uint32_t c, low;

	if (j->p == j->end)
		return NULL;
	if (*j->p != 'u') {
		const char *known = *j->p != '\0' ? strchr(from, *j->p) : NULL;

		if (known == NULL)
			return NULL;
		j->p++;
		*to++ = into[known - from];
		return to;
	}
	j->p++;
	if (!json_hex(j, &c) || c == 0)
		return NULL;
	if (c >= 0xd800 && c < 0xdc00) {
		if (!json_accept(j, "\\u") || !json_hex(j, &low) ||
		    low < 0xdc00 || low > 0xdfff)
			return NULL;
		c = tel__utf16_pair(c, low);
	}
	return (char *)tel__utf8_put((unsigned char *)to, c);
}

/* A string behind its quote.  NULL: invalid. */
static const char *
json_string(struct parser *j)
{
	const char *close = j->p;
	char *text, *to;

	while (close < j->end && *close != '"')
		close += *close == '\\' && j->end - close >= 2 ? 2 : 1;
	/* no escape is shorter than what it stands for */
	text = to = close < j->end ?
	    tel__arena_alloc(j->arena, (size_t)(close - j->p) + 1) :
	    NULL;
	while (to != NULL && j->p < close)
		if ((unsigned char)*j->p < 0x20) {
			to = NULL;
		} else if (*j->p != '\\') {
			*to++ = *j->p++;
		} else {
			j->p++;
			to = json_escape(j, to);
		}
	if (to == NULL) {
		j->why = "an invalid string";
		return NULL;
	}
	j->p = close + 1;
	return text;
}

/* Steps over digits.  0: there are none. */
static int
json_digits(struct parser *j)
{
	const char *start = j->p;

	while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
		j->p++;
	return j->p > start;
}

/* Steps over what a real number has behind its integer.  0: invalid. */
static int
json_real(struct parser *j, int *is_real)
{
	if (json_accept(j, ".") && (*is_real = 1, !json_digits(j)))
		return 0;
	if (!json_accept(j, "e") && !json_accept(j, "E"))
		return 1;
	*is_real = 1;
	(void)(json_accept(j, "+") || json_accept(j, "-"));
	return json_digits(j);
}

static int
json_number(struct parser *j, struct json *v)
{
	int overflow = 0, negative = json_accept(j, "-");
	const char *start = j->p;

	v->kind = JSON_INTEGER;
	for (; j->p < j->end && *j->p >= '0' && *j->p <= '9'; j->p++)
		if (__builtin_mul_overflow(v->number, 10u, &v->number) ||
		    __builtin_add_overflow(v->number, (unsigned)(*j->p - '0'),
		        &v->number))
			overflow = 1;
	if (j->p == start || (*start == '0' && j->p - start > 1) ||
	    !json_real(j, &overflow)) {
		j->why = "an invalid number";
		return 0;
	}
	if (negative && v->number > (uint64_t)1 << 63)
		overflow = 1;
	if (negative)
		v->number = 0 - v->number;
	v->negative = negative && v->number != 0;
	if (overflow)
		v->kind = JSON_REAL;
	return 1;
}

/* The elements of an array or an object, up to its end. */
static int
json_elements(struct parser *j, struct json *v)
{
	const char *const close = v->kind == JSON_ARRAY ? "]" : "}";
	struct json **last = &v->first;
	const char *name = NULL;

	json_blanks(j);
	if (json_accept(j, close))
		return 1;
	for (;;) {
		json_blanks(j);
		if (v->kind == JSON_OBJECT) {
			if (!json_accept(j, "\"")) {
				j->why = "a member without a name";
				return 0;
			}
			name = json_string(j);
			json_blanks(j);
			if (name == NULL || !json_accept(j, ":")) {
				j->why = "a member without a value";
				return 0;
			}
		}
		*last = json_value(j);
		if (*last == NULL)
			return 0;
		(*last)->name = name;
		last = &(*last)->next;
		v->count++;
		if (json_accept(j, close))
			return 1;
		if (!json_accept(j, ",")) {
			j->why = "an array or object without an end";
			return 0;
		}
	}
}

/* A value and the blanks around it. */
static struct json *
json_value(struct parser *j)
{
	struct json *v = tel__arena_alloc(j->arena, sizeof(*v));
	int good = 1;

	if (v == NULL || j->depth == JSON_DEPTH_MAX) {
		j->why = v == NULL ? "out of memory" :
		                     "values that are nested too deep";
		return NULL;
	}
	j->depth++;
	json_blanks(j);
	if (json_accept(j, "{")) {
		v->kind = JSON_OBJECT;
		good = json_elements(j, v);
	} else if (json_accept(j, "[")) {
		v->kind = JSON_ARRAY;
		good = json_elements(j, v);
	} else if (json_accept(j, "\"")) {
		v->kind = JSON_STRING;
		v->text = json_string(j);
		good = v->text != NULL;
	} else if (json_accept(j, "true")) {
		v->kind = JSON_TRUE;
	} else if (json_accept(j, "false")) {
		v->kind = JSON_FALSE;
	} else if (!json_accept(j, "null")) {
		good = json_number(j, v);
	}
	json_blanks(j);
	j->depth--;
	return good ? v : NULL;
}

struct json *
tel__json_parse(struct tel__arena *arena, const char **p, const char *end,
    const char **why)
{
	struct parser j = { arena, *p, end, "an invalid value", 0 };
	struct json *v = json_value(&j);

	*p = j.p;
	*why = j.why;
	return v;
}

const struct json *
tel__json_member(const struct json *object, const char *name)
{
	const struct json *m, *found = NULL;

	if (object == NULL || object->kind != JSON_OBJECT)
		return NULL;
	for (m = object->first; m != NULL; m = m->next)
		if (strcmp(m->name, name) == 0)
			found = m;
	return found;
}
