/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines into events: finding the line, handing it to the text's parser, and
 * reporting the mistake in each line that is none.
 *
 * A line is damaged alone: the next one is read as if it were the first.
 */
#include "format/text/anytext.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Lines that detection looks at. */
#define PROBE_LINES 8

/*
 * The reference converter prints a string as it is, so it may hold the end
 * of a line.  Joins the next line to this one, which ended in a string.
 * What looks like an event is not joined: a line may have been cut off by
 * whatever it went through, and must not swallow the next.  TEL_OK, TEL_END
 * (nothing was joined, and the line's bytes are gone), TEL_ENOMEM.
 */
static tel_status
join_line(struct tel_reader *r, struct lines *s)
{
	size_t first = s->line.step;

	if (s->line.truncated || first >= LINES_MAX)
		return TEL_END;
	/* the string met the line's end, and the line's bytes may move */
	s->line.at = NULL;
	tel__reader_fill(r, first + 1);
	if ((size_t)(r->end - r->p) == first)
		return TEL_END;
	tel_status st = tel__line_find(r, &s->line, 0, first, LINES_MAX);
	if (st != TEL_OK)
		return st;
	if (s->line.over)
		return TEL_END;
	if (s->syntax->head(s->line.p + first, s->line.end)) {
		s->line.step = first;
		s->line.truncated = 0;
		return TEL_END;
	}
	s->joined = 1;
	s->open_string = 0;
	return TEL_OK;
}

/* Makes the event that was parsed. */
static enum tel_line_is
next_make_event(struct tel_reader *r, struct lines *s)
{
	struct tel_schema *schema = r->log.schema;
	struct tel_event *ev = &r->event;
	const struct tel_type *t = s->type;

	if (t == NULL) {
		t = tel__schema_unknown(schema, s->code);
		if (t == NULL)
			return line_failed(&s->line, TEL_ENOMEM);
		r->count[TEL_COUNT_UNKNOWN]++;
	}
	ev->data = s->data;
	if (schema->described) {
		tel__any_finish(s, t->code);
		ev->data = s->any->data;
	} else {
		tel__encode_header(schema, s->data, t->code, s->size, s->clock);
	}
	ev->type = t;
	ev->size = s->size;
	ev->inline_labels = s->inline_labels;
	ev->inline_size = s->inline_size;
	ev->inline_use = s->syntax->named ? TEL_INLINE_ONLY : TEL_INLINE_NONE;
	ev->clock = s->clock;
	return LINE_EVENT;
}

static void
report_limit(struct tel_reader *r, const struct lines *s)
{
	tel__reader_notice(r, TEL_WARNING, s->line.offset,
	    "too many event types in one text; still read as %s",
	    r->log.schema->name);
}

/* What header lines have said is in force from here on. */
static tel_status
next_settle(struct tel_reader *r, struct lines *s)
{
	tel_status st = tel__any_settle(r, s);

	if (st == TEL_ENOMEM)
		return st;
	if (st != TEL_OK)
		report_limit(r, s);
	return TEL_OK;
}

/*
 * Adds the types of the lines behind this one that were read already, so that
 * not every one needs a schema of its own.  1; -1: no memory.
 */
static int
next_learn_window(struct tel_reader *r, struct lines *s)
{
	const struct tel_line line = s->line;
	const unsigned char *p = r->p + line.step, *lf;
	char name[64];
	int good = 1;

	while (good >= 0 && p < r->end &&
	    (lf = memchr(p, '\n', (size_t)(r->end - p))) != NULL) {
		s->line.p = p;
		s->line.end = lf - (lf > p && lf[-1] == '\r');
		p = lf + 1;
		if (tel__lines_format(s->line.p, s->line.end, name,
		        sizeof(name)))
			break;
		if (!tel_line_is_comment(s->line.p, s->line.end) &&
		    !tel__any_parse(s))
			good = tel__any_learn(s);
	}
	s->line = line;
	return good < 0 ? good : 1;
}

/*
 * The line is of a type that was not seen yet, in a text that does not say
 * what its types are.  As next_parse().
 */
static tel_status
next_learn(struct tel_reader *r, struct lines *s)
{
	tel_status st = TEL_END;
	int learned = 0;

	/* past the limit a line costs no more than to say that it is damage */
	if (!s->any->full)
		learned = tel__any_learn(s);
	/* a type that was there as it is does not have the line */
	if (learned == 1 && s->any->nknown >= ANY_SINGLE_MAX)
		learned = next_learn_window(r, s);
	if (learned == 1)
		st = tel__any_settle(r, s);
	if (learned == 0 && s->any->inferred.full && !s->any->full) {
		s->any->full = 1;
		st = TEL_ELIMIT;
	}
	if (st == TEL_ELIMIT)
		report_limit(r, s);
	if (learned < 0 || st == TEL_ENOMEM)
		return TEL_ENOMEM;
	if (st == TEL_OK && tel__any_parse(s))
		return TEL_OK;
	/* once more for its message */
	(void)tel__any_parse(s);
	return TEL_END;
}

/* The line may be of another schema of the same name.  As next_parse(). */
static tel_status
switch_any(struct tel_reader *r, struct lines *s)
{
	if (tel__any_switch(r, s))
		return TEL_OK;
	(void)tel__any_parse(s);
	return TEL_END;
}

/*
 * Parses the line in all ways there are.  TEL_OK: s holds an event; TEL_END:
 * it is none; or a failure.
 */
static tel_status
next_parse(struct tel_reader *r, struct lines *s)
{
	if (s->any != NULL && s->any->fresh) {
		tel_status st = next_settle(r, s);

		if (st != TEL_OK)
			return st;
	}
	while (!s->syntax->parse(s, &s->map)) {
		if (!s->open_string || !s->syntax->multiline) {
			if (s->any != NULL && s->any->on)
				return s->inferred && !s->line.truncated ?
				    next_learn(r, s) :
				    switch_any(r, s);
			if (s->inferred && !s->line.truncated)
				return tel__lines_adapt(r, s);
			return TEL_END;
		}
		tel_status st = join_line(r, s);
		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

static enum tel_line_is
next_parse_line(struct tel_reader *r, struct tel_line *l)
{
	struct lines *s = r->state;
	tel_status st = TEL_OK;

	s->joined = s->open_string = 0;
	if (tel_line_is_comment(l->p, l->end)) {
		if (s->syntax->header != NULL && l->p < l->end && *l->p == '#')
			st = s->syntax->header(r, s);
		return st == TEL_OK ? LINE_COMMENT : line_failed(l, st);
	}
	st = next_parse(r, s);
	if (st == TEL_OK)
		return next_make_event(r, s);
	return st == TEL_END ? LINE_INVALID : line_failed(l, st);
}

tel_status
tel__lines_next(struct tel_reader *r)
{
	static const struct tel_line_decoder decoder = { .parse =
		                                             next_parse_line };
	struct lines *s = r->state;

	return tel__line_next(r, &s->line, &decoder);
}

int
tel__lines_probe(struct tel_reader *r)
{
	const struct lines_syntax *syntax = r->format->dialect;
	struct tel_peek k = { .next = 0 };

	for (int i = 0; i < PROBE_LINES; i++) {
		if (!tel__line_peek(r, &k, syntax->score, 0))
			return 0;
		int found = syntax->score(k.p, k.end);
		if (found != 0)
			return i == 0 ? found : found - 10;
		/* what another text has is not waited for */
		if (!k.whole || tel__text_score(k.p, k.end) != 0 ||
		    tel__cnv_score(k.p, k.end) != 0 ||
		    tel__mpstxt_score(k.p, k.end) != 0 ||
		    tel__dump_score(k.p, k.end) != 0 ||
		    !tel__line_is_text(k.p, k.end, 0))
			return 0;
	}
	return 0;
}

tel_status
tel__lines_open(struct tel_reader *r)
{
	struct lines *s = malloc(sizeof(*s));

	if (s == NULL)
		return TEL_ENOMEM;
	/* few events need all of the buffers, and members have one each */
	memset(s, 0, offsetof(struct lines, data));
	s->data[0] = s->inline_labels[0] = 0;
	r->state = s;
	s->syntax = r->format->dialect;
	s->line.most = LINES_MAX;
	s->line.lead_most = LINES_LEAD_MAX;
	s->line.invalid = "invalid event";
	s->line.in = "";
	s->c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (s->c_locale == (locale_t)0)
		return TEL_ENOMEM;
	return tel__lines_choose(r, s);
}

void
tel__lines_close(struct tel_reader *r)
{
	struct lines *s = r->state;

	if (s->c_locale != (locale_t)0)
		freelocale(s->c_locale);
	tel__lines_free_candidates(s);
	tel__any_free(s->any);
	free(s->map.slot);
	tel__line_close(&s->line);
}
