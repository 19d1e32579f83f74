/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inst logs: from lines to events.  An invalid line is damage by
 * itself, and the next one is read as if it had not been there.
 */
#include "format/inst/inst.h"

#include <stdlib.h>
#include <string.h>

/* Lines that are examined to detect an inst log. */
#define PROBE_LINES 8

/* The longest line: of what is read for its statistics it may be longer. */
static size_t
line_max(const struct tel_reader *r)
{
	return r->long_lines ? INST_LONG_LINE_MAX : INST_LINE_MAX;
}

/*
 * Finds the line at r->p: TEL_OK with its bytes without the end, and how many
 * to step over; TEL_END; a failure.  *p is NULL for a line that is too long,
 * of which all but *step bytes are gone.
 */
static tel_status
find_line(struct tel_reader *r, struct inst *s, const unsigned char **p,
    const unsigned char **end, size_t *step)
{
	const unsigned char *lf;
	size_t seen = 0, have;
	int over = 0;

	s->offset = r->offset;
	s->cut = 0;
	for (;;) {
		have = (size_t)(r->end - r->p);
		lf =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		if (lf != NULL || r->eof)
			break;
		seen = have;
		if (have >= line_max(r)) {
			over = 1;
			tel_reader_step(r, have);
			seen = 0;
		}
		tel__reader_fill(r, seen + 1);
	}
	if (lf == NULL && have == 0 && !over)
		return TEL_END;
	*step = lf != NULL ? (size_t)(lf + 1 - r->p) : have;
	*p = over || *step > line_max(r) - (lf == NULL) ? NULL : r->p;
	*end = lf;
	if (lf == NULL && *p != NULL) {
		s->cut = 1;
		if (s->copy == NULL)
			s->copy = malloc(line_max(r) + 1);
		if (s->copy == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		memcpy(s->copy, r->p, have);
		s->copy[have] = '\n';
		*p = s->copy;
		*end = s->copy + have;
	}
	if (*p != NULL && *end > *p && (*end)[-1] == '\r')
		--*end;
	return TEL_OK;
}

/* Steps over the line and says what was expected at. */
static tel_status
damaged(struct tel_reader *r, struct inst *s, size_t step, const char *want,
    const unsigned char *at, const unsigned char *end)
{
	char found[32];
	size_t n = 0, i;

	if (at != NULL && at < end) {
		n = (size_t)(end - at);
		if (n > sizeof(found) - 1)
			n = sizeof(found) - 1;
	}
	for (i = 0; i < n; i++)
		found[i] = (char)(at[i] < ' ' || at[i] > '~' ? '?' : at[i]);
	found[n] = '\0';
	tel_reader_step(r, step);
	if (n == 0)
		return tel__reader_damage(r, s->offset, r->offset - s->offset,
		    "a line that is no record%s: expected %s",
		    s->cut ? ", with no end" : "", want);
	return tel__reader_damage(r, s->offset, r->offset - s->offset,
	    "a line that is no record%s: expected %s, found \"%s\"",
	    s->cut ? ", with no end" : "", want, found);
}

/* A session ends here, without a record of its end. */
static tel_status
report_cut(struct tel_reader *r, const struct inst *s)
{
	return tel__reader_damage(r, s->offset, 0,
	    "the records end without one that says so (Z): the log was cut "
	    "off");
}

static tel_status
end_log(struct tel_reader *r, struct inst *s)
{
	if (s->lost > 0)
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "%llu records were lost before they came into the log",
		    (unsigned long long)s->lost);
	s->lost = 0;
	if (!s->headed || s->ended)
		return TEL_OK;
	s->headed = 0;
	return report_cut(r, s);
}

/* Hands out the event that the line is. */
static tel_status
emit(struct tel_reader *r, struct inst *s, size_t step, uint32_t size)
{
	struct tel_event *ev = &r->event;

	ev->type = &r->log.schema->types[s->type];
	ev->data = s->data;
	ev->size = size;
	ev->clock = s->line.clock;
	ev->offset = s->offset;
	ev->raw = r->p;
	ev->raw_size = (uint32_t)step;
	r->consumed = step;
	tel_reader_step(r, step);
	if (s->cut)
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "the last line has no end: it may have been cut off, and "
		    "is read as it stands");
	return TEL_OK;
}

/* 1 when the line says nothing: a comment, or blank. */
static int
is_silent(const unsigned char *p, const unsigned char *end)
{
	if (p < end && *p == '#')
		return 1;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p == end;
}

/* A record.  TEL_OK with *size set, or 0 where it was damaged; a failure. */
static tel_status
record(struct tel_reader *r, struct inst *s, const unsigned char *p,
    const unsigned char *end, size_t step, uint32_t *size)
{
	const unsigned char *at;
	const char *why;
	tel_status st;
	int open;

	*size = 0;
	why = tel__inst_split(&s->line, p, end, &at);
	if (why != NULL)
		return damaged(r, s, step, why, at, end);
	open = s->headed && !s->ended;
	st = tel__inst_follow(r, s, &why);
	if (st == TEL_EDAMAGED)
		return damaged(r, s, step, why, s->line.record, end);
	if (st == TEL_OK && open && s->type == T_HEADER)
		st = report_cut(r, s);
	if (st != TEL_OK)
		return st;
	s->ended = s->type == T_FINISH;
	why = tel__inst_build(r, s, size);
	if (why == NULL)
		return TEL_OK;
	*size = 0;
	return damaged(r, s, step, why, s->line.record, end);
}

tel_status
tel__inst_next(struct tel_reader *r)
{
	const unsigned char *p = NULL, *end = NULL;
	struct inst *s = r->state;
	uint32_t size;
	size_t step;
	tel_status st;

	r->event.index += r->event.data != NULL;
	for (;;) {
		st = find_line(r, s, &p, &end, &step);
		if (st == TEL_END) {
			st = end_log(r, s);
			return st == TEL_OK ? TEL_END : st;
		}
		if (st != TEL_OK)
			return st;
		if (p == NULL) {
			st = damaged(r, s, step, "at most 65535 bytes", NULL,
			    NULL);
		} else if (is_silent(p, end)) {
			tel_reader_step(r, step);
		} else {
			st = record(r, s, p, end, step, &size);
			if (st == TEL_OK && size > 0)
				return emit(r, s, step, size);
		}
		if (st != TEL_OK)
			return st;
	}
}

/* 1 when the text at p starts with word. */
static int
starts_with(const unsigned char *p, const unsigned char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

/* How surely a line is a record: 100 for a header, 95 for another. */
static int
score(const unsigned char *p, const unsigned char *end)
{
	static const char *const codes[] = { "C id=", "D id=", "E c=", "U c=",
		"S c=", "SB c=", "X c=", "L n=", "K wall=" };
	unsigned bad = 0, i;

	if (end - p < 18 || p[16] != ' ')
		return 0;
	for (i = 0; i < 16; i++)
		bad |= tel__lines_digit[p[i]];
	if (bad > 15)
		return 0;
	p += 17;
	if (starts_with(p, end, "H inst "))
		return 100;
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (starts_with(p, end, codes[i]))
			return 95;
	return 0;
}

/* 1 when no byte from p to end speaks against text. */
static int
is_plain(const unsigned char *p, const unsigned char *end)
{
	for (; p < end; p++)
		if (*p < ' ' && *p != '\t' && *p != '\r')
			return 0;
	return 1;
}

/*
 * The first line that is no comment tells, or the next few where it does not,
 * as it may have been cut.
 */
int
tel__inst_probe(struct tel_reader *r)
{
	const unsigned char *line, *lf, *end;
	size_t at = 0, seen = 0, have;
	int found, i;

	for (i = 0; i < PROBE_LINES; i++) {
		for (;;) {
			have = (size_t)(r->end - r->p);
			if (have > TEL_PROBE_SIZE)
				have = TEL_PROBE_SIZE;
			line = r->p + at;
			lf = have > seen ?
			    memchr(r->p + seen, '\n', have - seen) :
			    NULL;
			end = lf != NULL ? lf : r->p + have;
			/* do not wait for more of what is not text */
			if (lf != NULL || r->eof || have == TEL_PROBE_SIZE ||
			    score(line, end) > 0 || !is_plain(r->p + seen, end))
				break;
			seen = have;
			tel__reader_fill(r, have + 1);
		}
		found = score(line, end);
		if (found > 0)
			return i == 0 || *r->p == '#' ? found : found - 10;
		if (lf == NULL || !is_plain(line, end) ||
		    (line < end && *line != '#' && i > 0))
			return 0;
		at = seen = (size_t)(lf + 1 - r->p);
	}
	return 0;
}

tel_status
tel__inst_open(struct tel_reader *r, const char *as)
{
	struct inst *s = calloc(1, sizeof(*s));
	struct tel_schema *schema;

	(void)as;
	r->state = s;
	if (s == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	tel__table_init(&s->tree.ids);
	tel__index_init(&s->tree.by_path);
	tel__table_init(&s->descriptor_ids);
	tel__inst_sources(s->from);
	s->tree.generation = 1;
	s->data = malloc(INST_EVENT_SIZE(line_max(r)));
	s->c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	schema = tel__inst_schema();
	if (s->data == NULL || s->c_locale == (locale_t)0 || schema == NULL) {
		tel_schema_free(schema);
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	if (tel__reader_adopt(r, schema) != TEL_OK)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	return TEL_OK;
}

const struct inst *
tel__inst_record(const struct tel_reader *r)
{
	return r->state;
}

void
tel__inst_close(struct tel_reader *r)
{
	struct inst *s = r->state;

	if (s == NULL)
		return;
	tel__inst_clear(s);
	if (s->c_locale != (locale_t)0)
		freelocale(s->c_locale);
	free(s->data);
	free(s->copy);
	free(s);
	r->state = NULL;
}
