/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of telcat, read back: a line "CLOCK NAME FIELD=VALUE ..." an
 * event, and lines that begin with '#' which say what was printed.
 *
 * The lines may come in any order and any choice.  The fields of a line may
 * come in any order, but all of them must be there, and once.  The labels
 * beside addresses are those of the event, whatever lines are missing.
 */
#include "base/digit.h"
#include "encoder/relay.h"
#include "format/text/anytext.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
negative(struct lines *s, const struct tel_field *f, const unsigned char **p,
    uint64_t *out)
{
	const unsigned char *start = *p;
	int minus = *start == '-';

	*p += minus;
	if (!lines_decimal(s, f, p, out))
		return 0;
	if (*out > (UINT64_MAX >> (64 - f->width) >> 1) + (unsigned)minus)
		return tel__lines_wrong(s, start, "a smaller number as",
		    f->name);
	if (minus)
		*out = 0 - *out;
	*out &= UINT64_MAX >> (64 - f->width);
	return 1;
}

static int
hexadecimal(struct lines *s, unsigned i, const struct tel_field *f,
    const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;

	if (q[0] != '0' || q[1] != 'x')
		return tel__lines_wrong(s, *p, "0x and digits as", f->name);
	q += 2;
	if (!lines_hex(&q, out))
		return tel__lines_wrong(s, *p, "0x and digits as", f->name);
	*p = q;
	if (*q == '[' &&
	    (f->datatype == TEL_ADDRESS || f->datatype == TEL_POINTER))
		return tel__lines_label(s, i, p);
	return 1;
}

int
tel__lines_boolean(struct lines *s, const struct tel_field *f,
    const unsigned char **p, const char *want, uint64_t *out)
{
	*out = (unsigned)lines_has_word(*p, s->line.end, want, 4);
	if (!*out && !lines_has_word(*p, s->line.end, want + 8, 5))
		return tel__lines_wrong(s, *p, want, f->name);
	*p += *out ? 4 : 5;
	return 1;
}

/* Steps over the name of an enum's value, which the schema has. */
static inline int
text_log_text_name(struct lines *s, const struct tel_field *f,
    const unsigned char **p)
{
	const uint32_t size = s->inline_size;

	if (f->names == NULL || **p != '[')
		return 1;
	if (!tel__lines_label(s, 0, p))
		return 0;
	s->inline_size = size;
	return 1;
}

static inline int
scalar(struct lines *s, const struct tel_type *t, const struct tel_field *f,
    const unsigned char **p, uint64_t *out)
{
	switch (f->datatype) {
	case TEL_UNSIGNED:
		return lines_decimal(s, f, p, out) &&
		    text_log_text_name(s, f, p);
	case TEL_SIGNED: return negative(s, f, p, out);
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER:
		return hexadecimal(s, (unsigned)(f - t->fields), f, p, out);
	case TEL_BOOLEAN:
		return tel__lines_boolean(s, f, p, "true or false as", out);
	case TEL_DOUBLE: return tel__lines_double(s, f, p, out);
	case TEL_LIST:
	case TEL_STRING: break;
	}
	return 0;
}

int
tel__lines_scalar(struct lines *s, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p, uint64_t *out)
{
	return scalar(s, t, f, p, out);
}

/* Reads the value of f at *p and encodes it. */
static inline int
text_value(struct lines *s, const struct lines_map *m, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p)
{
	const unsigned char *start = *p;
	uint64_t v = 0;

	if (f->datatype == TEL_STRING)
		return tel__lines_string(s, m, t, f, p);
	if (!scalar(s, t, f, p, &v))
		return 0;
	return lines_encode(s, f, start, v);
}

/*
 * The field that is named at *p, where field number i is due, and its bit in
 * seen; NULL when there is none by that name, or for the second time.
 */
static inline const struct tel_field *
named_field(const struct lines *s, const struct tel_type *t, unsigned i,
    uint64_t *seen, const unsigned char **p)
{
	const struct tel_field *f = &t->fields[i];
	size_t left = (size_t)(s->line.end - *p);

	if (left <= f->name_length || (*p)[f->name_length] != '=' ||
	    memcmp(*p, f->name, f->name_length) != 0) {
		for (i = 0; i < t->nfields; i++) {
			f = &t->fields[i];
			if (left > f->name_length &&
			    (*p)[f->name_length] == '=' &&
			    memcmp(*p, f->name, f->name_length) == 0)
				break;
		}
		if (i == t->nfields)
			return NULL;
	}
	if (seen[i / 64] >> i % 64 & 1)
		return NULL;
	seen[i / 64] |= (uint64_t)1 << i % 64;
	*p += f->name_length + 1u;
	return f;
}

/* The clock and the name of an event at *p, which is then behind it. */
static inline int
name_at(struct lines *s, const unsigned char **p, const unsigned char **name,
    uint64_t *hash)
{
	const unsigned char *q;
	uint64_t h = TEL__FNV;

	if (!lines_clock(s, p))
		return 0;
	if (**p != ' ')
		return tel__lines_wrong(s, *p, "a blank", NULL);
	for (*name = q = *p + 1; q < s->line.end && *q != ' '; q++)
		h = tel__fnv_byte(h, *q);
	*hash = h;
	*p = q;
	return 1;
}

/*
 * An event that libtel did not know, "0x01F4 bytes=0a0b", at p; its bytes go to
 * start, up to limit.
 */
static int
unknown(struct lines *s, const struct tel_schema *schema,
    const unsigned char *p, unsigned char *start)
{
	unsigned char *out = start + schema->header;
	const unsigned char *limit =
	    start + (schema->described ? LINES_MAX : (size_t)TEL_SIZE_MAX);
	const unsigned char *q = p + 2;
	unsigned hi, lo;
	uint64_t code;

	if (!lines_hex(&q, &code) || q - p < 6 ||
	    code > (schema->described ? UINT32_MAX : 0xFFFF))
		return tel__lines_wrong(s, p, "a code of four digits", NULL);
	if (!lines_has_word(q, s->line.end, " bytes=", 7))
		return tel__lines_wrong(s, q, "the field", "bytes");
	q += 7;
	while ((hi = tel__lines_digit[q[0]]) <= 15 &&
	    (lo = tel__lines_digit[q[1]]) <= 15) {
		if (out == limit)
			return tel__lines_wrong(s, q, "less than 64 KiB", NULL);
		*out++ = (unsigned char)(hi << 4 | lo);
		q += 2;
	}
	if (q != s->line.end)
		return tel__lines_wrong(s, q, "pairs of digits as", "bytes");
	s->size = (uint32_t)(out - start);
	if (s->size % schema->align != 0)
		return tel__lines_wrong(s, p, "whole words as", "bytes");
	s->type = NULL;
	s->inline_size = 0;
	s->code = (uint32_t)code;
	return 1;
}

/* Nonzero when fields of a type that a text describes may be absent. */
static inline int
has_optional(const struct tel_type *t)
{
	return t->size > ANY_HEADER + 8u * t->nfields;
}

/* Reads the fields of such a type at p, behind its name. */
static int
present_fields(struct lines *s, const struct tel_type *t,
    const unsigned char *p)
{
	unsigned char *const data = s->any->data;
	const struct tel_field *f;
	uint64_t seen[4] = { 0 };
	unsigned i = 0;

	memset(data + ANY_HEADER, 0, t->size - ANY_HEADER);
	while (p != s->line.end) {
		if (*p != ' ')
			return tel__lines_wrong(s, p, "a blank", NULL);
		p++;
		f = named_field(s, t, i < t->nfields ? i : 0, seen, &p);
		if (f == NULL)
			return tel__lines_wrong(s, p, "a field of", t->name);
		if (!tel__any_value(s, t, f, &p))
			return 0;
		if (f->present)
			data[f->present_at] |= f->present;
		i = (unsigned)(f - t->fields) + 1;
	}
	for (i = 0; i < t->nfields; i++)
		if (!t->fields[i].present && !(seen[i / 64] >> i % 64 & 1))
			return tel__lines_wrong(s, p, "the field",
			    t->fields[i].name);
	return 1;
}

/* Reads the fields of a type at p, behind its name. */
static inline int
fields(struct lines *s, const struct lines_map *m, const struct tel_type *t,
    const unsigned char *p)
{
	uint64_t seen[4] = { 0 };

	s->type = t;
	s->code = t->code;
	s->size = t->size;
	s->inline_size = 0;
	s->open_string = 0;
	if (m == NULL && has_optional(t))
		return present_fields(s, t, p);
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel_field *f = NULL;

		if (*p == ' ' && p != s->line.end) {
			p++;
			f = named_field(s, t, i, seen, &p);
		}
		if (f == NULL)
			return tel__lines_wrong(s, p, "the field",
			    t->fields[i].name);
		if (!(m != NULL ? text_value(s, m, t, f, &p) :
		                  tel__any_value(s, t, f, &p)))
			return 0;
	}
	if (p != s->line.end)
		return tel__lines_wrong(s, p, "the end of the line", NULL);
	return 1;
}

int
tel__any_parse(struct lines *s)
{
	const struct lines_map *m = &s->any->map->map;
	const unsigned char *p = s->line.p, *name;
	const struct tel_type *t;
	int found = 0;
	uint64_t at;

	if (!name_at(s, &p, &name, &at))
		return 0;
	while (
	    (t = tel__lines_find(m, name, (size_t)(p - name), &at)) != NULL) {
		if (fields(s, NULL, t, p))
			return 1;
		found = 1;
	}
	if (found)
		return 0;
	if (lines_has_word(name, s->line.end, "0x", 2))
		return unknown(s, m->schema, name, s->any->data);
	return tel__lines_wrong(s, name, "the name of an event in",
	    m->schema->name);
}

static int
text_parse(struct lines *s, const struct lines_map *m)
{
	const unsigned char *p = s->line.p, *name;
	const struct tel_type *t;
	uint64_t hash;

	if (s->any != NULL && s->any->on && m == &s->map)
		return tel__any_parse(s);
	if (!name_at(s, &p, &name, &hash))
		return 0;
	t = tel__lines_find(m, name, (size_t)(p - name), &hash);
	if (t == NULL) {
		if (lines_has_word(name, s->line.end, "0x", 2))
			return unknown(s, m->schema, name, s->data);
		return tel__lines_wrong(s, name, "the name of an event in",
		    m->schema->name);
	}
	memset(s->data, 0, t->size);
	return fields(s, m, t, p);
}

/* "# tick rate: 2995200123.4", unless the user knows better. */
static void
tick_rate(struct tel_reader *r, struct lines *s, const unsigned char *p)
{
	static const struct tel_field none = { .name = "the tick rate" };
	uint64_t bits;

	if (tel__lines_double(s, &none, &p, &bits) && p == s->line.end &&
	    r->tick_rate <= 0)
		tel__clock_set_rate(r->log.clock, tel_bits_double(bits));
}

/* The format that a header names holds from here on. */
static tel_status
use_format(struct tel_reader *r, struct lines *s, const char *name)
{
	tel_status st = TEL_OK;

	/* other schemas of that name may differ: the text's header decides */
	if (tel__format_of_schema(r->formats, name) == NULL)
		st = TEL_EINVAL;
	else if (strcmp(name, r->log.schema->name) != 0 ||
	    r->log.schema->described)
		st = tel__lines_use(r, s, name);
	if (st == TEL_OK) {
		s->inferred = 0;
		return TEL_OK;
	}
	if (st == TEL_EINVAL &&
	    tel__format_of_schema(r->formats, name) == NULL) {
		if (tel__any_format(s, name) >= 0)
			return TEL_OK;
		st = TEL_ENOMEM;
	}
	if (st == TEL_ENOMEM)
		return st;
	tel__reader_notice(r, TEL_WARNING, s->line.offset,
	    "%s: %s; still read as %s", name,
	    st == TEL_ELIMIT ? "too many formats in one text" :
	                       "not a known format",
	    r->log.schema->name);
	return TEL_OK;
}

/* Nanoseconds from 1970 to tick 0. */
static void
take_origin(struct tel_reader *r, struct lines *s, const unsigned char *p)
{
	char text[24], *end;
	const size_t n = (size_t)(s->line.end - p);

	if (n == 0 || n >= sizeof(text))
		return;
	memcpy(text, p, n);
	text[n] = '\0';
	errno = 0;
	long long ns = strtoll(text, &end, 10);
	if (errno == 0 && *end == '\0')
		tel__clock_set_epoch(r->log.clock, ns);
}

/* "KEY VALUE", the value being a word or a string; else it is a comment. */
static tel_status
take_metadata(struct tel_reader *r, struct lines *s, const unsigned char *p)
{
	const unsigned char *blank = memchr(p, ' ', (size_t)(s->line.end - p));
	const unsigned char *value = blank != NULL ? blank + 1 : NULL;
	char *word;

	if (blank == NULL)
		return TEL_OK;
	tel_status st = tel__any_word(&value, s->line.end, &word);
	if (st != TEL_OK || word == NULL)
		return st;
	if (value == s->line.end)
		st = tel__metadata_set(&r->metadata, (const char *)p,
		    (size_t)(blank - p), word, strlen(word));
	free(word);
	return st == TEL_ENOMEM ? st : TEL_OK;
}

/*
 * A line that begins with '#'.  One that names a format holds from there on:
 * texts may follow each other.  An unknown one is a comment.
 */
static tel_status
text_header(struct tel_reader *r, struct lines *s)
{
	static const char first[] = "# teltools text ",
	                  rate[] = "# tick rate: ", meta[] = "# meta: ",
	                  origin[] = "# origin: ";
	const unsigned char *p = s->line.p;
	size_t n = sizeof(first) - 1;
	char name[64];

	if (lines_has_word(p, s->line.end, rate, sizeof(rate) - 1)) {
		tick_rate(r, s, p + sizeof(rate) - 1);
	} else if (lines_has_word(p, s->line.end, meta, sizeof(meta) - 1)) {
		if (take_metadata(r, s, p + sizeof(meta) - 1) == TEL_ENOMEM)
			return TEL_ENOMEM;
	} else if (lines_has_word(p, s->line.end, origin, sizeof(origin) - 1)) {
		take_origin(r, s, p + sizeof(origin) - 1);
	} else if (lines_has_word(p, s->line.end, first, n)) {
		if ((s->line.end - p == (ptrdiff_t)n + 1 && p[n] == '1') ||
		    s->warned)
			return TEL_OK;
		s->warned = 1;
		tel__reader_notice(r, TEL_WARNING, s->line.offset,
		    "text of another version than 1: it may be read "
		    "incorrectly");
	} else if (!s->fixed &&
	    tel__lines_format(p, s->line.end, name, sizeof(name))) {
		return use_format(r, s, name);
	} else if (!s->fixed && tel__any_header(s, p, s->line.end) < 0) {
		return TEL_ENOMEM;
	}
	return TEL_OK;
}

static int
text_is_letter(unsigned char c)
{
	return tel_is_letter(c) || c == '\\' || c >= 0x80;
}

/* Steps over letters, digits and points. */
static const unsigned char *
text_identifier(const unsigned char *p, const unsigned char *end)
{
	while (p < end && (text_is_letter(*p) || tel_is_digit(*p) || *p == '.'))
		p++;
	return p;
}

/* 1 when the line looks like an event: "CLOCK NAME" or "CLOCK NAME FIELD=". */
static int
text_head(const unsigned char *p, const unsigned char *end)
{
	unsigned bad = 0, i;

	if (end - p < 18)
		return 0;
	for (i = 0; i < 16; i++)
		bad |= tel__lines_digit[p[i]];
	p += 17;
	if (bad > 15 || p[-1] != ' ' ||
	    !(text_is_letter(*p) || lines_has_word(p, end, "0x", 2)))
		return 0;
	/* the names of types of some formats have colons */
	for (p = text_identifier(p, end); end - p > 1 && *p == ':';)
		p = text_identifier(p + 1, end);
	if (p == end)
		return 1;
	const unsigned char *q = text_identifier(p + 1, end);
	return *p == ' ' && q > p + 1 && q < end && *q == '=';
}

int
tel__text_score(const unsigned char *p, const unsigned char *end)
{
	if (lines_has_word(p, end, "# teltools text ", 16))
		return 100;
	if (lines_has_word(p, end, "# format: ", 10))
		return 90;
	/* four digits and no more are a code that mpseventcnv prints */
	if (end - p == 21 && tel__lines_digit[p[17]] <= 15 &&
	    tel__lines_digit[p[18]] <= 15 && tel__lines_digit[p[19]] <= 15 &&
	    tel__lines_digit[p[20]] <= 15)
		return 0;
	return text_head(p, end) ? 90 : 0;
}

static const struct lines_syntax syntax = {
	.score = tel__text_score,
	.parse = text_parse,
	.header = text_header,
	.head = text_head,
	.named = 1,
};

/* ---------------------------------------------------------------- encoder */

struct text_encoder {
	struct relay relay;
	const struct tel_schema *last; /* of the last event; NULL: not known */
	char name[48];                 /* and how it is called */
};

/* Another schema may be in the place of that of the log. */
static void
encoder_close_log(struct write_log *l)
{
	struct text_encoder *e = l->writer->state;

	e->last = NULL;
}

/*
 * The lines of several logs may alternate, and each must be read as what it
 * is.
 */
static tel_status
put_format(struct tel_writer *w, struct text_encoder *e,
    const struct tel_schema *schema)
{
	char line[80];
	int same = e->name[0] == '\0' ? w->nlogs == 1 :
	                                strcmp(e->name, schema->name) == 0;

	e->last = schema;
	snprintf(e->name, sizeof(e->name), "%s", schema->name);
	if (same || (w->nlogs == 1 && !w->lead_lost))
		return TEL_OK;
	int n = snprintf(line, sizeof(line), "# format: %s\n", schema->name);
	return tel__relay_put(w, (const unsigned char *)line, (size_t)n);
}

static tel_status
text_log_encoder_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	struct text_encoder *e = w->state;
	tel_status st = tel__relay_check(w, ev);

	(void)changed;
	if (st == TEL_OK)
		st = tel__relay_lead(w);
	if (st == TEL_OK && e->last != ev->type->schema)
		st = put_format(w, e, ev->type->schema);
	return st == TEL_OK ? tel__relay_put(w, ev->raw, ev->raw_size) : st;
}

static const struct tel_encoder_ops encoder = {
	.what = "the text of telcat",
	.flags = ENCODER_VERBATIM,
	.state_size = sizeof(struct text_encoder),
	.begin = tel__relay_begin,
	.write = text_log_encoder_write,
	.gap = tel__relay_gap,
	.finish = tel__relay_lead,
	.close_log = encoder_close_log,
	.close = tel__relay_close,
};

const struct tel_format_ops tel__format_text = {
	.name = "text",
	LINES,
};
