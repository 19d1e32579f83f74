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

static tel_status
find_line(struct tel_reader *r, struct inst *s)
{
	s->text.offset = r->offset;
	s->text.cut = s->text.over = 0;
	return tel__line_find(r, &s->text, 0, 0, line_max(r));
}

/* Steps over the line and says what was expected at. */
static tel_status
damaged(struct tel_reader *r, struct inst *s, const char *want,
    const unsigned char *at)
{
	char found[LINE_FOUND];

	tel__line_found(found, at, s->text.end);
	tel_reader_step(r, s->text.step);
	if (s->text.over)
		return tel__reader_damage(r, s->text.offset,
		    r->offset - s->text.offset,
		    "a line of %llu bytes: at most %zu are allowed",
		    (unsigned long long)(r->offset - s->text.offset),
		    line_max(r));
	return tel__reader_damage(r, s->text.offset, r->offset - s->text.offset,
	    "invalid record%s: expected %s, found %s",
	    s->text.cut ? ", with no end" : "", want, found);
}

/* A session ends here, without a record of its end. */
static tel_status
report_cut(struct tel_reader *r, const struct inst *s)
{
	return tel__reader_damage(r, s->text.offset, 0,
	    "the log is truncated: it has no end record (Z)");
}

static tel_status
end_log(struct tel_reader *r, struct inst *s)
{
	if (s->lost > 0)
		tel__reader_notice(r, TEL_WARNING, s->text.offset,
		    "%llu records were lost before they reached the log",
		    (unsigned long long)s->lost);
	s->lost = 0;
	if (!s->headed || s->ended)
		return TEL_OK;
	s->headed = 0;
	return report_cut(r, s);
}

/* Hands out the event that the line is. */
static tel_status
emit(struct tel_reader *r, struct inst *s, uint32_t size)
{
	struct tel_event *ev = &r->event;
	size_t step = s->text.step;

	ev->type = &r->log.schema->types[s->type];
	ev->data = s->data;
	ev->size = size;
	ev->clock = s->line.clock;
	ev->offset = s->text.offset;
	ev->raw = r->p;
	ev->raw_size = (uint32_t)step;
	r->consumed = step;
	tel_reader_step(r, step);
	if (s->text.cut)
		tel__line_report_cut(r, &s->text);
	return TEL_OK;
}

/* A record.  TEL_OK with *size set, or 0 where it was damaged; a failure. */
static tel_status
record(struct tel_reader *r, struct inst *s, uint32_t *size)
{
	const unsigned char *at;
	const char *why;
	tel_status st;
	int open;

	*size = 0;
	why = tel__inst_split(&s->line, s->text.p, s->text.end, &at);
	if (why != NULL)
		return damaged(r, s, why, at);
	open = s->headed && !s->ended;
	st = tel__inst_follow(r, s, &why);
	if (st == TEL_EDAMAGED)
		return damaged(r, s, why, s->line.record);
	if (st == TEL_OK && open && s->type == T_HEADER)
		st = report_cut(r, s);
	if (st != TEL_OK)
		return st;
	s->ended = s->type == T_FINISH;
	why = tel__inst_build(r, s, size);
	if (why == NULL)
		return TEL_OK;
	*size = 0;
	return damaged(r, s, why, s->line.record);
}

tel_status
tel__inst_next(struct tel_reader *r)
{
	struct inst *s = r->state;
	uint32_t size;
	tel_status st;

	r->event.index += r->event.data != NULL;
	for (;;) {
		st = find_line(r, s);
		if (st == TEL_END) {
			st = end_log(r, s);
			return st == TEL_OK ? TEL_END : st;
		}
		if (st != TEL_OK)
			return st;
		if (s->text.over) {
			st = damaged(r, s, NULL, NULL);
		} else if (tel_line_is_silent(s->text.p, s->text.end)) {
			tel_reader_step(r, s->text.step);
		} else {
			st = record(r, s, &size);
			if (st == TEL_OK && size > 0)
				return emit(r, s, size);
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

/*
 * The first line that is not a comment decides, or the next few where it does
 * not, as it may have been cut.
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
			    score(line, end) > 0 ||
			    !tel__line_is_text(r->p + seen, end, 0))
				break;
			seen = have;
			tel__reader_fill(r, have + 1);
		}
		found = score(line, end);
		if (found > 0)
			return i == 0 || *r->p == '#' ? found : found - 10;
		if (lf == NULL || !tel__line_is_text(line, end, 0) ||
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
	free(s->text.copy);
	free(s);
	r->state = NULL;
}
