/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inst logs: from lines to events.  An invalid line is damage by
 * itself, and the next one is read as if it had not been there.
 */
#include "base/getter.h"
#include "format/inst/inst.h"

#include <stdlib.h>
#include <string.h>

/* Lines that are examined to detect an inst log. */
#define PROBE_LINES 8

/* The longest line; that of a class that statistics read may be longer. */
static size_t
line_max(const struct tel_reader *r)
{
	return r->long_lines ? INST_LONG_LINE_MAX : INST_LINE_MAX;
}

/* A session ends here, without a record of its end. */
static tel_status
inst_report_cut(struct tel_reader *r)
{
	return tel__reader_damage(r, r->offset, 0,
	    "the log is truncated: it has no end record (Z)");
}

static tel_status
inst_end_log(struct tel_reader *r)
{
	struct inst *s = r->state;

	if (s->lost > 0)
		tel__reader_notice(r, TEL_WARNING, s->text.offset,
		    "%llu records were lost before they reached the log",
		    (unsigned long long)s->lost);
	s->lost = 0;
	if (!s->headed || s->ended)
		return TEL_OK;
	s->headed = 0;
	return inst_report_cut(r);
}

static enum tel_line_is
inst_parse_line(struct tel_reader *r, struct tel_line *l)
{
	struct inst *s = r->state;
	struct tel_event *ev = &r->event;
	const unsigned char *at;

	if (tel_line_is_comment(l->p, l->end))
		return LINE_SKIPPED;
	const char *why = tel__inst_split(&s->line, l->p, l->end, &at);
	if (why != NULL)
		return line_wrong(l, at, why, NULL);
	int open = s->headed && !s->ended;
	tel_status st = tel__inst_follow(r, s, &why);
	if (st == TEL_EDAMAGED)
		return line_wrong(l, s->line.record, why, NULL);
	if (st == TEL_OK && open && s->type == T_HEADER)
		st = inst_report_cut(r);
	if (st != TEL_OK)
		return line_failed(l, st);
	s->ended = s->type == T_FINISH;
	why = tel__inst_build(r, s, &ev->size);
	if (why != NULL)
		return line_wrong(l, s->line.record, why, NULL);
	ev->type = &r->log.schema->types[s->type];
	ev->data = s->data;
	ev->clock = s->line.clock;
	return LINE_EVENT;
}

tel_status
tel__inst_next(struct tel_reader *r)
{
	static const struct tel_line_decoder decoder = { .parse =
		                                             inst_parse_line,
		.end = inst_end_log };
	struct inst *s = r->state;

	return tel__line_next(r, &s->text, &decoder);
}

tel_status
tel__inst_read(struct tel_reader *r, const unsigned char *lines, size_t size,
    size_t *used)
{
	static const struct tel_line_decoder decoder = { .parse =
		                                             inst_parse_line };
	struct inst *s = r->state;

	r->p = lines;
	r->end = lines + size;
	r->eof = 1;
	tel_status st = tel__line_next(r, &s->text, &decoder);
	*used = (size_t)(r->p - lines);
	return st;
}

/* 1 when the text at p starts with word. */
static int
inst_starts_with(const unsigned char *p, const unsigned char *end,
    const char *word)
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
	if (inst_starts_with(p, end, "H inst "))
		return 100;
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (inst_starts_with(p, end, codes[i]))
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
	struct tel_peek k = { .next = 0 };

	for (int i = 0; i < PROBE_LINES; i++) {
		if (!tel__line_peek(r, &k, score, 0))
			return 0;
		int found = score(k.p, k.end);
		if (found > 0)
			return i == 0 || *r->p == '#' ? found : found - 10;
		if (!k.whole || !tel__line_is_text(k.p, k.end, 0) ||
		    (k.p < k.end && *k.p != '#' && i > 0))
			return 0;
	}
	return 0;
}

tel_status
tel__inst_open(struct tel_reader *r)
{
	struct inst *s = r->state;

	tel__table_init(&s->tree.ids);
	tel__index_init(&s->tree.by_path);
	tel__table_init(&s->descriptor_ids);
	tel__inst_sources(s->from);
	s->tree.generation = 1;
	s->text.most = line_max(r);
	s->text.invalid = "invalid record";
	s->text.in = "";
	s->data = malloc(INST_EVENT_SIZE(line_max(r)));
	s->c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	struct tel_schema *schema = tel__inst_schema();
	if (s->data == NULL || s->c_locale == (locale_t)0 || schema == NULL) {
		tel_schema_free(schema);
		return TEL_ENOMEM;
	}
	if (tel__reader_adopt(r, schema) != TEL_OK)
		return TEL_ENOMEM;
	return TEL_OK;
}

TEL__GETTER(const struct inst *, tel__inst_record, struct tel_reader, state)

void
tel__inst_close(struct tel_reader *r)
{
	struct inst *s = r->state;

	tel__inst_clear(s);
	if (s->c_locale != (locale_t)0)
		freelocale(s->c_locale);
	free(s->data);
	tel__line_close(&s->text);
}
