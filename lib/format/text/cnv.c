/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of mpseventcnv, read back: "CLOCK CODE PARAMETER ..." an event,
 * numbers in hexadecimal.  The MPS's own mpseventtxt and mpseventsql read
 * the same, but want the stream's events from the first on.
 *
 * A string is printed as it is except for quotes and backslashes, so it may go
 * on in the next line.  It is joined, up to 255 bytes, unless that line looks
 * like an event: after grep or sort it will be another event's.
 */
#include "encoder/relay.h"
#include "format/text/text.h"

#include <stdio.h>
#include <stdlib.h>

/* The code, in four columns with blanks before it, at *p. */
static int
code(struct lines *s, const unsigned char **p)
{
	const unsigned char *q = *p, *last;
	uint64_t v;

	if (s->line.end - q < 5 || *q != ' ')
		return tel__lines_wrong(s, q, "a code of four columns", NULL);
	last = q + 5;
	for (q++; q < last && *q == ' '; q++)
		continue;
	if (q == last || !lines_hex(&q, &v) || q != last)
		return tel__lines_wrong(s, *p, "a code of four columns", NULL);
	s->code = (uint32_t)v;
	*p = q;
	return 1;
}

/* Reads the value of f at *p and encodes it. */
static inline int
cnv_value(struct lines *s, const struct lines_map *m, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p)
{
	const unsigned char *start = *p;
	uint64_t v;

	if (f->datatype == TEL_STRING)
		return tel__lines_string(s, m, t, f, p);
	if (f->datatype == TEL_DOUBLE) {
		if (!tel__lines_double(s, f, p, &v))
			return 0;
	} else if (!lines_hex(p, &v)) {
		return tel__lines_wrong(s, start, "hexadecimal digits as",
		    f->name);
	}
	/* a release whose boolean is a signed bit prints true as all ones */
	if (f->datatype == TEL_BOOLEAN)
		v = v != 0;
	return lines_encode(s, f, start, v);
}

static int
cnv_parse(struct lines *s, const struct lines_map *m)
{
	const struct tel_schema *schema = m->schema;
	const unsigned char *p = s->line.p;
	const struct tel_type *t;

	if (!lines_clock(s, &p) || !code(s, &p))
		return 0;
	t = s->code < schema->ncodes ? schema->by_code[s->code] : NULL;
	s->type = t;
	s->size = t != NULL ? t->size : schema->header;
	memset(s->data, 0, s->size);
	for (unsigned i = 0; t != NULL && i < t->nfields; i++) {
		if (*p != ' ' || p == s->line.end)
			return tel__lines_wrong(s, p, "the value of",
			    t->fields[i].name);
		p++;
		if (!cnv_value(s, m, t, &t->fields[i], &p))
			return 0;
	}
	return lines_end(s, p, t);
}

/*
 * 1 when the line looks like an event: a clock, a code without leading
 * zeros, and a value if anything.
 */
static int
cnv_head(const unsigned char *p, const unsigned char *end)
{
	unsigned bad = 0, i;

	if (end - p < 21)
		return 0;
	for (i = 0; i < 16; i++)
		bad |= tel__lines_digit[p[i]];
	if (bad > 15 || p[16] != ' ')
		return 0;
	for (i = 17; i < 20 && p[i] == ' '; i++)
		continue;
	if (i < 20 && p[i] == '0')
		return 0;
	for (; i < 21; i++)
		if (tel__lines_digit[p[i]] > 15)
			return 0;
	p += 21;
	if (p == end)
		return 1;
	return end - p > 1 && p[0] == ' ' &&
	    (tel__lines_digit[p[1]] <= 15 || memchr("\"-IN", p[1], 4) != NULL);
}

int
tel__cnv_score(const unsigned char *p, const unsigned char *end)
{
	return cnv_head(p, end) ? 90 : 0;
}

static const struct lines_syntax syntax = {
	.score = tel__cnv_score,
	.parse = cnv_parse,
	.head = cnv_head,
	.multiline = 1,
};

/* ---------------------------------------------------------------- encoder */

/* Bytes before the first value of a line, and those of the longest number. */
#define BEFORE_VALUES 21u
#define NUMBER_MAX 17u

/* Writes the line of an event with the value that the field has now. */
static tel_status
cnv_put_changed(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	const unsigned char *p = ev->raw + BEFORE_VALUES;
	const unsigned char *end = ev->raw + ev->raw_size, *rest;
	const size_t i = (size_t)(changed - ev->type->fields);

	/* the values before it are numbers, with a blank before each */
	for (size_t n = 0; n < i; n++)
		for (p++; p < end && *p != ' ';)
			p++;
	for (rest = p + 1; rest < end && tel__lines_digit[*rest] < 16;)
		rest++;
	size_t before = (size_t)(p - ev->raw);
	unsigned char *line = malloc(ev->raw_size + NUMBER_MAX + 1);
	if (line == NULL)
		return TEL_ENOMEM;
	memcpy(line, ev->raw, before);
	size_t n = before +
	    (size_t)snprintf((char *)line + before, NUMBER_MAX + 1, " %llX",
	        (unsigned long long)tel_load(changed, ev->data));
	memcpy(line + n, rest, (size_t)(end - rest));
	tel_status st = tel__relay_put(w, line, n + (size_t)(end - rest));
	free(line);
	return st;
}

static tel_status
cnv_encoder_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	if (changed == NULL)
		return tel__relay_write(w, ev, NULL);
	tel_status st = tel__relay_check(w, ev);
	if (st == TEL_OK)
		st = tel__relay_lead(w);
	return st == TEL_OK ? cnv_put_changed(w, ev, changed) : st;
}

static const struct tel_encoder_ops encoder = {
	.what = "the text of mpseventcnv",
	.flags = ENCODER_ONE_SCHEMA | ENCODER_ONE_NUMBERING | ENCODER_VERBATIM,
	.write = cnv_encoder_write,
	RELAY,
};

const struct tel_format_ops tel__format_cnv = {
	.name = "cnv",
	LINES,
};
