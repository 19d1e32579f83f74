/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of mpseventtxt, read back: "CLOCK CODE NAME FIELD:VALUE ..." an
 * event.  Words are in hexadecimal, unsigned integers in decimal, and floating
 * point numbers have three digits, as the tool prints them.  Labels beside
 * addresses are skipped: the events that say them are in the text, too.
 */
#include "encoder/relay.h"
#include "format/text/text.h"

/* Where the code and the name begin, behind the clock. */
#define AT_CODE 17
#define AT_NAME 22

/* Steps over the label at *p, in brackets: a string, or "unknown label 5". */
static int
mpstxt_label(struct lines *s, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p)
{
	const unsigned char *q = *p;

	s->inline_size = 0;
	if (q[1] == '"') {
		if (!tel__lines_label(s, (unsigned)(f - t->fields), p))
			return 0;
		s->inline_size = 0;
		return 1;
	}
	while (q < s->line.end && *q != ']')
		q++;
	if (q == s->line.end)
		return tel__lines_wrong(s, *p, "the end of a label", NULL);
	*p = q + 1;
	return 1;
}

/* Reads the value of f at *p and encodes it. */
static int
mpstxt_value(struct lines *s, const struct lines_map *m,
    const struct tel_type *t, const struct tel_field *f,
    const unsigned char **p)
{
	const unsigned char *start = *p;
	uint64_t v;
	int good;

	if (f->datatype == TEL_STRING)
		return tel__lines_string(s, m, t, f, p);
	while (*p < s->line.end && **p == ' ')
		(*p)++;
	if (f->datatype == TEL_DOUBLE)
		good = tel__lines_double(s, f, p, &v);
	else if (f->datatype == TEL_BOOLEAN)
		good = tel__lines_boolean(s, f, p, "True or False as", &v);
	else if (f->letter == 'U')
		good = lines_decimal(s, f, p, &v);
	else if (!lines_hex(p, &v))
		return tel__lines_wrong(s, start, "hexadecimal digits as",
		    f->name);
	else
		good =
		    *p == s->line.end || **p != '[' || mpstxt_label(s, t, f, p);
	if (!good)
		return 0;
	return lines_encode(s, f, start, v);
}

/* The name behind the code, filled up with blanks; *p moves to the fields. */
static int
mpstxt_is_name(const struct lines *s, const struct tel_type *t,
    const unsigned char **p)
{
	const unsigned char *q = *p + t->name_length;

	if ((size_t)(s->line.end - *p) < t->name_length ||
	    memcmp(*p, t->name, t->name_length) != 0 ||
	    (q < s->line.end && *q != ' '))
		return 0;
	while (q < s->line.end && *q == ' ')
		q++;
	*p = q;
	return 1;
}

static int
mpstxt_field(struct lines *s, const struct lines_map *m,
    const struct tel_type *t, const struct tel_field *f,
    const unsigned char **p)
{
	const size_t left = (size_t)(s->line.end - *p), n = f->name_length;

	if (left <= n || memcmp(*p, f->name, n) != 0 || (*p)[n] != ':')
		return tel__lines_wrong(s, *p, "the field", f->name);
	*p += n + 1;
	if (!mpstxt_value(s, m, t, f, p))
		return 0;
	if (*p < s->line.end && **p == ' ')
		(*p)++;
	return 1;
}

static int
mpstxt_head(const unsigned char *p, const unsigned char *end)
{
	unsigned bad = 0, i;

	if (end - p <= AT_NAME || p[AT_CODE - 1] != ' ' ||
	    p[AT_NAME - 1] != ' ' || p[AT_CODE] > '9')
		return 0;
	for (i = 0; i < AT_NAME - 1; i++)
		if (i != AT_CODE - 1)
			bad |= tel__lines_digit[p[i]];
	return bad <= 15 &&
	    ((p[AT_NAME] >= 'A' && p[AT_NAME] <= 'Z') || p[AT_NAME] == '[');
}

int
tel__mpstxt_score(const unsigned char *p, const unsigned char *end)
{
	return mpstxt_head(p, end) ? 90 : 0;
}

static int
mpstxt_parse(struct lines *s, const struct lines_map *m)
{
	const struct tel_schema *schema = m->schema;
	const unsigned char *p = s->line.p;
	const struct tel_type *t;
	uint64_t code = 0;

	if (!lines_clock(s, &p))
		return 0;
	if (!mpstxt_head(s->line.p, s->line.end))
		return tel__lines_wrong(s, p, "a code and a name", NULL);
	p++;
	(void)lines_hex(&p, &code);
	p++;
	s->code = (uint32_t)code;
	t = code < schema->ncodes ? schema->by_code[code] : NULL;
	s->type = t;
	s->inline_size = 0;
	s->size = t != NULL ? t->size : schema->header;
	memset(s->data, 0, s->size);
	/* "[Unknown]": the tool did not know the type, and prints no fields */
	if (t == NULL && *p == '[')
		return 1;
	if (t == NULL || !mpstxt_is_name(s, t, &p))
		return tel__lines_wrong(s, p, "the name of an event in",
		    schema->name);
	for (unsigned i = 0; i < t->nfields; i++)
		if (!mpstxt_field(s, m, t, &t->fields[i], &p))
			return 0;
	while (p < s->line.end && *p == ' ')
		p++;
	return lines_end(s, p, t);
}

static const struct lines_syntax syntax = {
	.score = tel__mpstxt_score,
	.parse = mpstxt_parse,
	.head = mpstxt_head,
	.multiline = 1,
};

static const struct tel_encoder_ops encoder = {
	.what = "the text of mpseventtxt",
	.flags = ENCODER_ONE_SCHEMA,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_mpstxt = {
	.name = "mpstxt",
	LINES,
};
