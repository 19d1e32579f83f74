/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the MPS's EventDump() prints in a debugger of the events that are in its
 * buffers: "CLOCK NAME VALUE ..." an event, of each kind the newest first.
 * Words are in hexadecimal, filled up to their width, unsigned integers and
 * booleans in decimal, and a string is all that is left of the line.
 *
 * The clock is two words, its upper half and all of it: 32 digits where a word
 * has 64 bits, of which the upper half is there twice.  Where a fast clock is
 * missing it is one word.
 */
#include "base/hash.h"
#include "encoder/relay.h"
#include "format/text/text.h"

/* Digits of a clock that is one word of 64 bits, or two of 32; and of two. */
#define ONE_CLOCK 16
#define TWO_CLOCKS 32

static int
is_hex(const unsigned char *p, size_t n)
{
	unsigned bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= tel__lines_digit[p[i]];
	return bad <= 15;
}

/* Digits before the blank behind the clock at p; 0: there is none. */
static size_t
clock_length(const unsigned char *p, const unsigned char *end)
{
	const size_t left = (size_t)(end - p);

	if (left > TWO_CLOCKS && p[TWO_CLOCKS] == ' ' &&
	    is_hex(p, TWO_CLOCKS) && memcmp(p, "00000000", 8) == 0 &&
	    memcmp(p + 8, p + 16, 8) == 0)
		return TWO_CLOCKS;
	if (left > ONE_CLOCK && p[ONE_CLOCK] == ' ' && is_hex(p, ONE_CLOCK))
		return ONE_CLOCK;
	return 0;
}

static size_t
name_length(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *q = p;

	while (
	    q < end && ((*q >= 'A' && *q <= 'Z') || (*q >= 'a' && *q <= 'z')))
		q++;
	return (size_t)(q - p);
}

static const char unknown[] = "<unknown code ";

static int
dump_head(const unsigned char *p, const unsigned char *end)
{
	const size_t n = clock_length(p, end);
	const unsigned char *name = p + n + 1;

	return n > 0 &&
	    (name_length(name, end) > 2 ||
	        lines_has_word(name, end, unknown, sizeof(unknown) - 1));
}

/*
 * A line of telcat begins in the same way when the clock is short: then a word
 * must follow, with as many digits as the clock has.
 */
int
tel__dump_score(const unsigned char *p, const unsigned char *end)
{
	const size_t n = clock_length(p, end);

	if (!dump_head(p, end))
		return 0;
	if (n == TWO_CLOCKS)
		return 90;
	p += n + 1;
	if (*p == '<')
		return 80;
	p += name_length(p, end);
	return end - p >= 9 && *p == ' ' && is_hex(p + 1, 8) &&
	        (end - p == 9 || p[9] == ' ' ||
	            (end - p >= 17 && is_hex(p + 9, 8))) ?
	    80 :
	    0;
}

/* ------------------------------------------------------------------ values */

static int
dump_word(struct lines *s, const struct tel_field *f, const unsigned char **p,
    uint64_t *out)
{
	const unsigned char *start = *p;

	if (!lines_hex(p, out))
		return tel__lines_wrong(s, start, "hexadecimal digits as",
		    f->name);
	/* as wide as a word of the machine, whatever it holds */
	if (*p - start == 8)
		s->narrow = 1;
	return 1;
}

static int
floating(struct lines *s, const struct tel_field *f, const unsigned char **p,
    uint64_t *out)
{
	if (!lines_has_word(*p, s->line.end, "Infinity", 8))
		return tel__lines_double(s, f, p, out);
	*p += 8;
	*out = (uint64_t)0x7ff << 52;
	return 1;
}

/* The rest of the line, as it is. */
static int
dump_string(struct lines *s, const struct lines_map *m,
    const struct tel_type *t, const struct tel_field *f,
    const unsigned char **p)
{
	const size_t n = (size_t)(s->line.end - *p);

	if (n > LINES_STRING_MAX || memchr(*p, '\0', n) != NULL)
		return tel__lines_wrong(s, *p, "a string of 255 bytes in",
		    f->name);
	s->size = tel__encode_size(m->schema, t, f, n);
	memset(s->data + f->offset, 0, s->size - f->offset);
	memcpy(s->data + f->offset, *p, n);
	*p = s->line.end;
	return 1;
}

/* Reads the value of f at *p and encodes it. */
static int
dump_value(struct lines *s, const struct lines_map *m, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p)
{
	const unsigned char *start = *p;
	uint64_t v = 0;
	int ok;

	if (f->datatype == TEL_STRING)
		return dump_string(s, m, t, f, p);
	if (f->datatype == TEL_DOUBLE)
		ok = floating(s, f, p, &v);
	else if (f->datatype == TEL_BOOLEAN || f->letter == 'U')
		ok = lines_decimal(s, f, p, &v);
	else
		ok = dump_word(s, f, p, &v);
	if (!ok)
		return 0;
	/* a release whose boolean is a signed bit prints true as all ones */
	if (f->datatype == TEL_BOOLEAN)
		v = v != 0;
	return lines_encode(s, f, start, v);
}

/* ------------------------------------------------------------------- lines */

/* "<unknown code 123>": the MPS itself did not know it. */
static int
parse_unknown(struct lines *s, const struct lines_map *m,
    const unsigned char *p)
{
	static const struct tel_field code = { .name = "the code" };
	uint64_t v = 0;

	p += strlen(unknown);
	if (!lines_decimal(s, &code, &p, &v))
		return 0;
	if (v > 0xFFFF || *p != '>' || p + 1 != s->line.end)
		return tel__lines_wrong(s, p, "the end of a code", NULL);
	s->code = (uint32_t)v;
	s->type = NULL;
	s->size = m->schema->header;
	memset(s->data, 0, s->size);
	return 1;
}

static int
dump_parse(struct lines *s, const struct lines_map *m)
{
	const unsigned char *p = s->line.p;
	const size_t digits = clock_length(p, s->line.end);
	unsigned i;

	if (digits == 0)
		return tel__lines_wrong(s, p, "a clock of 16 or 32 digits",
		    NULL);
	p += digits - ONE_CLOCK;
	(void)lines_clock(s, &p);
	p++;
	s->inline_size = 0;
	if (lines_has_word(p, s->line.end, unknown, sizeof(unknown) - 1))
		return parse_unknown(s, m, p);
	size_t n = name_length(p, s->line.end);
	uint64_t hash = tel__fnv(TEL__FNV, p, n);
	const struct tel_type *t = tel__lines_find(m, p, n, &hash);
	if (t == NULL)
		return tel__lines_wrong(s, p, "the name of an event in",
		    m->schema->name);
	s->type = t;
	s->code = t->code;
	s->size = t->size;
	memset(s->data, 0, s->size);
	for (p += n, i = 0; i < t->nfields; i++) {
		if (p == s->line.end || *p != ' ')
			return tel__lines_wrong(s, p, "the value of",
			    t->fields[i].name);
		p++;
		if (!dump_value(s, m, t, &t->fields[i], &p))
			return 0;
	}
	return lines_end(s, p, t);
}

static const struct lines_syntax syntax = {
	.score = tel__dump_score,
	.parse = dump_parse,
	.head = dump_head,
};

static const struct tel_encoder_ops encoder = {
	.what = "the text of EventDump",
	.flags = ENCODER_ONE_SCHEMA,
	.write = tel__relay_write,
	RELAY,
};

const struct tel_format_ops tel__format_mpsdump = {
	.name = "mpsdump",
	LINES,
};
