/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace events of classes, and descriptors of their data. */
#include "class.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONVERSION_MAX 32u /* bytes of one */
#define WIDTH_MAX 4095

struct tel_class_descriptor {
	char *format;
};

/* --------------------------------------------------------------- events */

/* Indices of values of an event. */
enum { V_PATH, V_CLASS, V_TAG, V_RANGE };

/* Builds an event with a text, but without a tag.  Returns its size. */
static size_t
build(const tel_emit_class *c, unsigned phase, const char *text,
    uint64_t *event)
{
	const struct tel__emit_typed *t = tel__class_typed(E_PHASE + phase);
	tel_emit_value v[6];
	unsigned n = V_RANGE;

	v[V_PATH].s = c->path;
	v[V_CLASS].u = c->index + 1;
	v[V_TAG].u = 0;
	if (phase != TEL_CLASS_SINGLE)
		v[n++].u = 0;
	v[n++].s = c->component;
	v[n++].s = text;
	return tel__emit_build(t, v, n, event);
}

int
tel__class_make_events(tel_emit_class *c)
{
	uint64_t event[TEL_EMIT_EVENT_MAX / 8];

	for (unsigned phase = 0; phase <= TEL_CLASS_MIDDLE; phase++) {
		size_t bytes = build(c, phase, "", event);

		c->event[phase] = tel__class_room(bytes);
		if (c->event[phase] == NULL)
			return -1;
		memcpy(c->event[phase], event, bytes);
		c->event_words[phase] = (uint32_t)(bytes / 8);
	}
	return 0;
}

/* Positions in a trace event, in words. */
enum { WORD_TAG = 4, WORD_RANGE };

/* Whether an event of a class is recorded; a summary counts it instead. */
static int
records(tel_emit_class *c, uint32_t tag, unsigned phase)
{
	if (c == NULL || c == TEL_CLASS_ROOT || !TEL__NOW(c->on) ||
	    phase > TEL_CLASS_MIDDLE)
		return 0;
	if (c->type == CLASS_SUMMARY)
		tel__class_update_summary(c, phase, tag);
	return c->type == CLASS_TRACE &&
	    (TEL__NOW(PAGE->record) >> KIND_TRACE & 1) != 0;
}

static void
emit_trace_put(const tel_emit_class *c, unsigned phase, const uint64_t *event,
    uint32_t words, uint32_t tag)
{
	struct tel__emit_open open = tel__emit_begin(KIND_TRACE,
	    CODE_CLASS + E_PHASE + phase, words * sizeof(uint64_t));

	if (open.words == NULL)
		return;
	for (uint32_t i = 2; i < words; i++)
		SET(open.words[i], event[i]);
	SET(open.words[WORD_TAG], tag);
	if (phase != TEL_CLASS_SINGLE)
		SET(open.words[WORD_RANGE],
		    (uint64_t)(c->index + 1) << 32 ^ tag);
	tel__emit_publish(open);
}

void
tel_class_log(tel_emit_class *c, uint32_t tag, unsigned phase)
{
	if (records(c, tag, phase))
		emit_trace_put(c, phase, c->event[phase], c->event_words[phase],
		    tag);
}

static void
log_text(const tel_emit_class *c, uint32_t tag, unsigned phase,
    const char *text)
{
	uint64_t event[TEL_EMIT_EVENT_MAX / 8];
	size_t bytes = build(c, phase, text, event);

	emit_trace_put(c, phase, event, (uint32_t)(bytes / 8), tag);
}

uint32_t
tel_class_create_tag(void)
{
	static uint32_t last;
	uint32_t tag;

	do
		tag = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	while (tag == TEL_CLASS_NO_TAG);
	return tag;
}

/* ---------------------------------------------------------- descriptors */

/* A conversion of a format. */
struct conversion {
	char text[CONVERSION_MAX + 4]; /* without the length */
	size_t flags;                  /* bytes of it before the length */
	char length[3], type;
};

/* A number of at most WIDTH_MAX. */
static const char *
skip_number(const char *p)
{
	long n = 0;

	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (*p - '0');
		if (n > WIDTH_MAX)
			return NULL;
	}
	return p;
}

/*
 * Parses the conversion at p.  Returns its end; NULL: it is not allowed in a
 * descriptor.
 */
static const char *
read_conversion(const char *p, struct conversion *out)
{
	static const char *const lengths[] = { "hh", "h", "ll", "l", "j", "z",
		"t", "L" };
	const char *start = p++;

	p += strspn(p, "-+ #0");
	p = skip_number(p);
	if (p != NULL && *p == '.')
		p = skip_number(p + 1);
	if (p == NULL || (size_t)(p - start) > CONVERSION_MAX - 4)
		return NULL;
	out->flags = (size_t)(p - start);
	memcpy(out->text, start, out->flags);
	out->length[0] = '\0';
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = strlen(lengths[i]);

		if (strncmp(p, lengths[i], n) == 0) {
			memcpy(out->length, lengths[i], n + 1);
			p += n;
			break;
		}
	}
	out->type = *p;
	if (*p == '\0' || strchr("diouxXcspfFeEgGaA%", *p) == NULL ||
	    /* wide characters, and a % with a length */
	    (strchr("csp%", *p) != NULL && out->length[0] != '\0') ||
	    (strchr("fFeEgGaA", *p) == NULL && out->length[0] == 'L'))
		return NULL;
	return p + 1;
}

tel_class_descriptor *
tel_class_create_descriptor(const char *format)
{
	tel_class_descriptor *d;
	struct conversion unused;
	const char *p = format;

	while (p != NULL && *p != '\0')
		p = *p == '%' ? read_conversion(p, &unused) : p + 1;
	if (p == NULL) {
		errno = EINVAL;
		return NULL;
	}
	d = malloc(sizeof(*d));
	if (d == NULL)
		return NULL;
	d->format = strdup(format);
	if (d->format != NULL)
		return d;
	free(d);
	return NULL;
}

int
tel_class_create_descriptors(const char *const *formats, unsigned count,
    tel_class_descriptor **descriptors)
{
	for (unsigned i = 0; i < count; i++) {
		descriptors[i] = tel_class_create_descriptor(formats[i]);
		if (descriptors[i] == NULL) {
			int kept = errno;

			tel_class_dispose_descriptors(descriptors, i);
			errno = kept;
			return -1;
		}
	}
	return 0;
}

void
tel_class_dispose_descriptor(tel_class_descriptor *d)
{
	if (d == NULL)
		return;
	free(d->format);
	free(d);
}

void
tel_class_dispose_descriptors(tel_class_descriptor **descriptors,
    unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		tel_class_dispose_descriptor(descriptors[i]);
		descriptors[i] = NULL;
	}
}

/* ----------------------------------------------------------------- data */

/* The formats are those of descriptors, which have been checked. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

void
tel_class_log_data_list(tel_emit_class *c, uint32_t tag, unsigned phase,
    const tel_class_descriptor *d, va_list values)
{
	char text[TEL_STRING_MAX] = "";
	int kept = errno;

	if (!records(c, tag, phase))
		return;
	if (d != NULL)
		(void)vsnprintf(text, sizeof(text), d->format, values);
	log_text(c, tag, phase, text);
	errno = kept;
}

void
tel_class_log_data(tel_emit_class *c, uint32_t tag, unsigned phase,
    const tel_class_descriptor *d, ...)
{
	va_list values;

	va_start(values, d);
	tel_class_log_data_list(c, tag, phase, d, values);
	va_end(values);
}

/* Values in a structure, one after the other. */
struct members {
	const unsigned char *p;
	size_t size, at;
};

/* Reads the next member.  0: the structure ends before it. */
static int
emit_trace_take(struct members *m, void *value, size_t n, size_t alignment)
{
	const size_t at = (m->at + alignment - 1) / alignment * alignment;

	if (at > m->size || n > m->size - at)
		return 0;
	memcpy(value, m->p + at, n);
	m->at = at + n;
	return 1;
}
#define TAKE(m, v, type) emit_trace_take(m, &(v), sizeof(type), _Alignof(type))

/* Reads an integer of that length, sign-extended. */
static int
take_integer(struct members *m, const char *length, intmax_t *out)
{
	long long wide;
	long word;
	int narrow;

	if (length[0] == '\0' || length[0] == 'h') {
		if (!TAKE(m, narrow, int))
			return 0;
		*out = length[0] == '\0' ? narrow :
		    length[1] == 'h'     ? (signed char)narrow :
		                           (short)narrow;
		return 1;
	}
	if (strcmp(length, "l") == 0 || length[0] == 'z' || length[0] == 't') {
		if (!TAKE(m, word, long))
			return 0;
		*out = word;
		return 1;
	}
	if (!TAKE(m, wide, long long))
		return 0;
	*out = wide;
	return 1;
}

/* Converts back to the unsigned type of that length. */
static uintmax_t
as_unsigned(const char *length, intmax_t v)
{
	switch (length[0]) {
	case '\0': return (unsigned)v;
	case 'h':
		return length[1] == 'h' ? (unsigned char)v : (unsigned short)v;
	case 'l': return length[1] == 'l' ? (uintmax_t)v : (unsigned long)v;
	default: return (uintmax_t)v;
	}
}

/* Formats the next member.  Returns as snprintf(3); -1: there is none. */
static int
emit_trace_put_value(struct members *m, struct conversion *c, char *to,
    size_t room)
{
	char *end = c->text + c->flags;
	long double extended;
	const void *pointer;
	intmax_t integer;
	double number;
	int narrow;

	snprintf(end, sizeof(c->text) - c->flags, "%c", c->type);
	switch (c->type) {
	case '%': return snprintf(to, room, "%%");
	case 's':
		if (!TAKE(m, pointer, const void *))
			return -1;
		return snprintf(to, room, c->text,
		    pointer != NULL ? (const char *)pointer : "(null)");
	case 'p':
		return TAKE(m, pointer, const void *) ?
		    snprintf(to, room, c->text, pointer) :
		    -1;
	case 'c':
		return TAKE(m, narrow, int) ?
		    snprintf(to, room, c->text, narrow) :
		    -1;
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		if (!take_integer(m, c->length, &integer))
			return -1;
		snprintf(end, sizeof(c->text) - c->flags, "j%c", c->type);
		return c->type == 'd' || c->type == 'i' ?
		    snprintf(to, room, c->text, integer) :
		    snprintf(to, room, c->text,
		        as_unsigned(c->length, integer));
	default: break;
	}
	if (c->length[0] != 'L')
		return TAKE(m, number, double) ?
		    snprintf(to, room, c->text, number) :
		    -1;
	snprintf(end, sizeof(c->text) - c->flags, "L%c", c->type);
	return TAKE(m, extended, long double) ?
	    snprintf(to, room, c->text, extended) :
	    -1;
}

/* Formats a structure. */
static void
put_structure(struct members *m, const char *p, char *text, size_t size)
{
	struct conversion conversion;
	size_t used = 0, n;

	while (p != NULL && *p != '\0' && used + 1 < size) {
		n = strcspn(p, "%");
		n = n < size - 1 - used ? n : size - 1 - used;
		memcpy(text + used, p, n);
		used += n;
		p += n;
		text[used] = '\0';
		if (*p != '%')
			continue;
		p = read_conversion(p, &conversion);
		int put = emit_trace_put_value(m, &conversion, text + used,
		    size - used);
		if (put < 0) {
			text[used] = '\0';
			return;
		}
		n = (size_t)put;
		used += n < size - 1 - used ? n : size - 1 - used;
	}
}

void
tel_class_log_structure(tel_emit_class *c, uint32_t tag, unsigned phase,
    const tel_class_descriptor *d, const void *structure, size_t size)
{
	struct members members = { structure, size, 0 };
	char text[TEL_STRING_MAX] = "";
	int kept = errno;

	if (!records(c, tag, phase))
		return;
	if (d != NULL)
		put_structure(&members, d->format, text, sizeof(text));
	log_text(c, tag, phase, text);
	errno = kept;
}
