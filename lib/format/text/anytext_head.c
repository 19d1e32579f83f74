/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What header lines and event lines tell of types.
 *
 *	# type: NAME CODE KIND FIELD:SORT FIELD?:SORT:BITS FIELD:list:SORT ...
 *	# role: NAME start PARTNER FIELD ...
 */
#include "format/text/anytext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of a line. */
struct word {
	const unsigned char *p;
	size_t n;
};

/* The next word of a line and a blank behind it; n is 0 at its end. */
static struct word
next_word(const unsigned char **p, const unsigned char *end)
{
	struct word w = { *p, 0 };

	while (*p < end && **p != ' ')
		++*p;
	w.n = (size_t)(*p - w.p);
	*p += *p < end;
	return w;
}

static int
anytext_head_is_word(struct word w, const char *text)
{
	return w.n == strlen(text) && memcmp(w.p, text, w.n) == 0;
}

/* Reads a decimal number up to limit. */
static int
anytext_head_number(struct word w, uint64_t limit, uint64_t *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < w.n; i++) {
		if (w.p[i] < '0' || w.p[i] > '9')
			return 0;
		v = v * 10 + (w.p[i] - '0');
		if (v > limit)
			return 0;
	}
	*out = v;
	return w.n > 0;
}

/* Nonzero when the name of a format or version may be shown to anybody. */
static int
is_printable(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] > '~')
			return 0;
	return 1;
}

/* A kind: a word, or a string in quotes.  NULL: neither; *failed: no memory. */
static char *
kind_at(const unsigned char **p, const unsigned char *end, int *failed)
{
	const unsigned char *q = *p;
	size_t n = 0;
	char *out = malloc((size_t)(end - q) + 1);

	if (out == NULL) {
		*failed = 1;
		return NULL;
	}
	if (q < end && *q == '"') {
		for (q++; q < end && *q != '"';) {
			int c = *q++;

			if (c == '\\')
				c = tel__lines_unescape(&q);
			if (c < ' ' || c == 0x7f || q > end) {
				q = end;
				break;
			}
			out[n++] = (char)c;
		}
		if (q == end) {
			free(out);
			return NULL;
		}
		q++;
	} else {
		while (q<end && * q> ' ' && *q <= '~')
			out[n++] = (char)*q++;
	}
	if ((q < end && *q != ' ') || q == *p) {
		free(out);
		return NULL;
	}
	out[n] = '\0';
	*p = q + (q < end);
	return out;
}

/* Cuts the part before the next colon off a word, and the colon. */
static struct word
cut_part(struct word *w)
{
	const unsigned char *colon = w->n > 0 ? memchr(w->p, ':', w->n) : NULL;
	struct word part = { w->p,
		colon != NULL ? (size_t)(colon - w->p) : w->n };

	w->p += part.n + (colon != NULL);
	w->n -= part.n + (colon != NULL);
	return part;
}

/* The data type of that name; TEL_LIST + 1: there is none. */
static unsigned
datatype_named(struct word w)
{
	unsigned i = TEL_UNSIGNED;

	while (i <= TEL_LIST &&
	    !anytext_head_is_word(w, tel_datatype_name((tel_datatype)i)))
		i++;
	return i;
}

/*
 * "FIELD:SORT" or "FIELD:SORT:BITS"; "FIELD?:..." may be absent, and the
 * elements of "FIELD:list:SORT:BITS" are of that data type.  Labels of a
 * "FIELD:enum:SORT:BITS" become a field, too.
 */
static int
anytext_head_add_field(struct any_type *type, struct word w)
{
	const int ends = w.n > 0 && w.p[w.n - 1] == ':';
	struct word name = cut_part(&w);
	struct any_field f = { 0 };
	uint64_t bits = 64;
	/* a name has at most 255 bytes */
	char label[264];

	if (ends)
		return 0;
	f.optional = name.n > 0 && name.p[name.n - 1] == '?';
	name.n -= f.optional;
	if (!tel__name_is(name.p, name.n))
		return 0;
	struct word part = cut_part(&w);
	int is_enum = anytext_head_is_word(part, "enum");
	unsigned values = datatype_named(is_enum ? cut_part(&w) : part);
	f.datatype = (uint8_t)values;
	if (values == TEL_LIST) {
		values = datatype_named(cut_part(&w));
		f.element = (uint8_t)values;
	}
	if (values > TEL_STRING)
		return 0;
	if (w.n > 0 &&
	    (!anytext_head_number(w, 64, &bits) || bits == 0 ||
	        (values == TEL_DOUBLE && bits != 64 && bits != 32)))
		return 0;
	f.width = values == TEL_STRING ? 0 : (uint8_t)bits;
	int status = tel__any_type_field(type, name.p, name.n, f);
	if (!is_enum || status <= 0)
		return status;
	int n = snprintf(label, sizeof(label), "%.*s.label", (int)name.n,
	    (const char *)name.p);
	return tel__any_type_field(type, (const unsigned char *)label,
	    (size_t)n,
	    (struct any_field){ .datatype = TEL_STRING,
	        .optional = 1,
	        .is_label = 1 });
}

/* Parses the text behind "# type: ". */
static int
read_type(struct any_set *set, const unsigned char *p, const unsigned char *end)
{
	struct any_type type = { 0 };
	struct word name = next_word(&p, end), code = next_word(&p, end);
	int good, failed = 0;
	uint64_t v;

	if (!tel__name_is_type(name.p, name.n) ||
	    !anytext_head_number(code, UINT32_MAX, &v))
		return 0;
	type.code = (uint32_t)v;
	type.kind = kind_at(&p, end, &failed);
	type.name = strndup((const char *)name.p, name.n);
	good = failed || type.name == NULL ? -1 : type.kind != NULL;
	while (good > 0 && p < end)
		good = anytext_head_add_field(&type, next_word(&p, end));
	if (good > 0)
		return tel__any_set_add(set, &type);
	tel__any_type_clear(&type);
	return good;
}

int
tel__any_format(struct lines *s, const char *name)
{
	size_t n = strlen(name);
	struct any *a;

	if (n == 0 || n >= sizeof(a->said.name) ||
	    !is_printable((const unsigned char *)name, n))
		return 0;
	if (tel__any_make(s) != TEL_OK)
		return -1;
	a = s->any;
	/*
	 * In lines that were sorted backwards the types come first; in those
	 * of several texts that were sorted the name comes several times.
	 */
	if (!a->fresh ||
	    (a->said.name[0] != '\0' && strcmp(a->said.name, name) != 0)) {
		tel__any_set_clear(&a->said);
		a->limited = 0;
	}
	memcpy(a->said.name, name, n + 1);
	a->fresh = 1;
	return 1;
}

int
tel__any_header(struct lines *s, const unsigned char *p,
    const unsigned char *end)
{
	static const char *const keys[] = { "# version: ", "# type: ",
		"# role: ", "# untimed: 0" };
	size_t n, i;

	for (i = 0; i < 4; i++) {
		n = strlen(keys[i]);
		if ((size_t)(end - p) >= n && memcmp(p, keys[i], n) == 0)
			break;
	}
	/* the version of a format that is built in is known */
	if (i == 4 || (i != 1 && (s->any == NULL || !s->any->fresh)))
		return 0;
	if (tel__any_make(s) != TEL_OK)
		return -1;
	struct any_set *set = &s->any->said;
	p += n;
	if (i == 0) {
		n = (size_t)(end - p);
		int good = n < sizeof(set->version) && is_printable(p, n);
		if (good) {
			memcpy(set->version, p, n);
			set->version[n] = '\0';
		}
		return good;
	}
	if (i == 3) {
		set->untimed = p == end;
		return set->untimed;
	}
	/* what chooses the schema is read again, behind the format's name */
	struct any_role role = { NULL, s->line.offset,
		!s->any->on && set->name[0] != '\0' };
	int good = i == 1 ? read_type(set, p, end) :
	                    tel__any_set_role(set, p, (size_t)(end - p), role);
	/* the schema in force has types that are defined again */
	if (good == 1 || (good == 2 && !s->any->on))
		s->any->fresh = 1;
	return good;
}

/* ------------------------------------------------------- from a line */

/* The end of a string or label that begins with a quote at p, or NULL. */
static const unsigned char *
skip_quotes(const unsigned char *p, const unsigned char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p < end ? p + 1 : NULL;
}

/* Which data type of value the bytes from p to q are. */
static int
anytext_head_datatype_of(const unsigned char *p, const unsigned char *q)
{
	struct word w = { p, (size_t)(q - p) };
	uint64_t v = 0;

	if (anytext_head_is_word(w, "true") || anytext_head_is_word(w, "false"))
		return TEL_BOOLEAN;
	if (w.n > 2 && p[0] == '0' && p[1] == 'x')
		return TEL_ADDRESS;
	size_t i = w.n > 0 && *p == '-';
	if (i == w.n)
		return -1;
	for (; i < w.n && p[i] >= '0' && p[i] <= '9'; i++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v))
			return TEL_DOUBLE;
	if (i < w.n)
		return TEL_DOUBLE;
	if (*p != '-')
		return TEL_UNSIGNED;
	return v <= (uint64_t)1 << 63 ? TEL_SIGNED : TEL_DOUBLE;
}

/*
 * The end of a list that begins with a bracket at p, NULL if it is none; and the
 * data type of its elements.
 */
static const unsigned char *
skip_list(const unsigned char *p, const unsigned char *end, uint8_t *element)
{
	int datatype = -1, next;
	const unsigned char *q;

	for (p++; p < end && *p != ']'; p += *p == ',') {
		if (*p == '"') {
			next = TEL_STRING;
			q = skip_quotes(p, end);
		} else {
			q = p;
			while (q < end && *q != ',' && *q != ']' && *q != ' ')
				q++;
			next = anytext_head_datatype_of(p, q);
		}
		if (next < 0 || q == NULL || q == end || q == p ||
		    (*q != ',' && *q != ']') ||
		    (*q == ',' && (end - q < 2 || q[1] == ']')))
			return NULL;
		datatype = datatype < 0 ?
		    next :
		    tel__any_join((unsigned)datatype, (unsigned)next);
		if (datatype < 0)
			return NULL;
		p = q;
	}
	*element = (uint8_t)(datatype < 0 ? ANY_NO_ELEMENT : datatype);
	return p < end ? p + 1 : NULL;
}

/* The field at *p, up to a blank or the end. */
static int
learn_field(struct lines *s, struct any_type *type, const unsigned char **p,
    const unsigned char *end)
{
	static const struct tel_field none = { .name = "" };
	const unsigned char *name = *p, *q, *number;
	const unsigned char *value = memchr(name, '=', (size_t)(end - name));
	struct any_field like = { 0 };
	uint64_t bits;
	int datatype;

	if (value == NULL || !tel__name_is(name, (size_t)(value - name)))
		return 0;
	q = number = ++value;
	if (q < end && *q == '"') {
		datatype = TEL_STRING;
		q = skip_quotes(q, end);
	} else if (q < end && *q == '[') {
		datatype = TEL_LIST;
		q = skip_list(q, end, &like.element);
	} else {
		while (q < end && *q != ' ' && *q != '[')
			q++;
		datatype = anytext_head_datatype_of(value, q);
		if (end - q >= 2 && q[0] == '[' && q[1] == '"') {
			q = skip_quotes(q + 1, end);
			q = q != NULL && q < end && *q == ']' ? q + 1 : NULL;
		}
	}
	/* a line that cannot be read afterwards must not change a type */
	if (datatype == TEL_DOUBLE &&
	    !tel__lines_double(s, &none, &number, &bits))
		return 0;
	if (datatype < 0 || q == NULL || (q < end && *q != ' '))
		return 0;
	/* telcat never ends a line with a blank */
	if (q < end && ++q == end)
		return 0;
	*p = q;
	like.datatype = (uint8_t)datatype;
	if (datatype == TEL_LIST)
		datatype = like.element;
	like.width = datatype == TEL_STRING ? 0 :
	    datatype == TEL_BOOLEAN         ? 1 :
	                                      64;
	return tel__any_type_field(type, name, (size_t)(value - 1 - name),
	    like);
}

int
tel__any_learn(struct lines *s)
{
	const unsigned char *p = s->line.p;
	struct any_type type = { 0 };
	int good = 1;

	if (!lines_clock(s, &p) || *p != ' ')
		return 0;
	p++;
	struct word name = next_word(&p, s->line.end);
	if (!tel__name_is_type(name.p, name.n) ||
	    (p == s->line.end && p[-1] == ' '))
		return 0;
	if (tel__any_make(s) != TEL_OK)
		return -1;
	type.name = strndup((const char *)name.p, name.n);
	type.kind = strdup("Text");
	type.code = s->any->inferred.ntypes;
	if (type.name == NULL || type.kind == NULL)
		good = -1;
	while (good > 0 && p < s->line.end)
		good = learn_field(s, &type, &p, s->line.end);
	if (good > 0)
		return tel__any_set_add(&s->any->inferred, &type);
	tel__any_type_clear(&type);
	return good;
}

tel_status
tel__any_word(const unsigned char **p, const unsigned char *end, char **out)
{
	int failed = 0;

	*out = kind_at(p, end, &failed);
	return failed ? TEL_ENOMEM : TEL_OK;
}
