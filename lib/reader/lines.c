/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines into events: finding the line, handing it to the form's parser, and
 * saying what is wrong with the lines that are none.
 *
 * A line is damaged alone: the next one is read as if it were the first.
 */
#include "format/text/anytext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines that are looked at to tell that this is a form of lines. */
#define PROBE_LINES 8

tel_status
tel__lines_copy(struct tel_reader *r, struct lines *s, const unsigned char *p,
    size_t n)
{
	free(s->copy);
	s->copy = malloc(n + 1);
	if (s->copy == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	memcpy(s->copy, p, n);
	s->copy[n] = '\n';
	s->line = s->copy;
	s->end = s->copy + n;
	return TEL_OK;
}

/*
 * Finds the line at r->p, of which seen bytes are known to hold no end.
 * TEL_OK, TEL_END, TEL_ENOMEM.
 */
static tel_status
find_line(struct tel_reader *r, struct lines *s, size_t seen)
{
	const unsigned char *lf;
	size_t have;

	for (;;) {
		have = (size_t)(r->end - r->p);
		lf =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		if (lf != NULL || r->eof)
			break;
		seen = have;
		if (have >= LINES_MAX) {
			s->over = 1;
			tel_reader_step(r, have);
			seen = 0;
		}
		tel__reader_fill(r, seen + 1);
	}
	s->rest = lf != NULL ? (size_t)(lf + 1 - r->p) : have;
	/* the window may hold more than was asked for */
	s->over |= s->rest > LINES_MAX - (lf == NULL);
	if (lf == NULL) {
		if (have == 0 && r->offset == s->offset)
			return TEL_END;
		s->cut = 1;
		return tel__lines_copy(r, s, r->p, s->over ? 0 : have);
	}
	s->line = s->over ? lf : r->p;
	s->end = lf;
	return TEL_OK;
}

/* Takes the return away from the end of a line that came from elsewhere. */
static void
trim(struct lines *s)
{
	if (s->end > s->line && s->end[-1] == '\r')
		s->end--;
}

static tel_status
get_line(struct tel_reader *r, struct lines *s)
{
	tel_status st;

	s->offset = r->offset;
	s->cut = s->over = s->joined = s->open_string = 0;
	st = find_line(r, s, 0);
	if (st == TEL_OK)
		trim(s);
	return st;
}

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
	size_t first = s->rest;
	tel_status st;

	if (s->cut || first >= LINES_MAX)
		return TEL_END;
	tel__reader_fill(r, first + 1);
	if ((size_t)(r->end - r->p) == first)
		return TEL_END;
	st = find_line(r, s, first);
	if (st != TEL_OK)
		return st;
	if (s->over)
		return TEL_END;
	trim(s);
	if (s->syntax->head(s->line + first, s->end)) {
		s->rest = first;
		s->cut = 0;
		return TEL_END;
	}
	s->joined = 1;
	s->open_string = 0;
	return TEL_OK;
}

int
tel__lines_wrong(struct lines *s, const unsigned char *p, const char *want,
    const char *detail)
{
	s->want = want;
	s->detail = detail;
	s->at = p;
	return 0;
}

/* Steps over the line, which is no event, and says why it is none. */
static tel_status
damaged(struct tel_reader *r, struct lines *s)
{
	char found[32];
	size_t n = 0, i;

	if (s->over) {
		tel_reader_step(r, s->rest);
		return tel__reader_damage(r, s->offset, r->offset - s->offset,
		    "a line of %llu bytes: %zu is the most",
		    (unsigned long long)(r->offset - s->offset), LINES_MAX);
	}
	if (!s->open_string && s->at < s->end) {
		n = (size_t)(s->end - s->at);
		if (n > sizeof(found) - 1)
			n = sizeof(found) - 1;
	}
	for (i = 0; i < n; i++)
		found[i] =
		    (char)(s->at[i] < ' ' || s->at[i] > '~' ? '?' : s->at[i]);
	found[n] = '\0';
	tel_reader_step(r, s->rest);
	return tel__reader_damage(r, s->offset, r->offset - s->offset,
	    "a line that is no event%s: expected %s%s%s, found %s%s%s",
	    s->cut ? ", with no end" : "", s->want,
	    s->detail != NULL ? " " : "", s->detail != NULL ? s->detail : "",
	    n > 0 ? "\"" : "", n > 0 ? found : "the end of the line",
	    n > 0 ? "\"" : "");
}

/*
 * Gives the lines that stood before the event to it, or where it is the
 * first one, to the log.
 */
static void
give_lead(struct tel_reader *r, struct lines *s)
{
	struct tel_event *ev = &r->event;

	ev->lead = NULL;
	ev->lead_size = 0;
	if (ev->index == 0) {
		s->preamble = s->lead;
		r->log.preamble = s->lead;
		r->log.preamble_size = s->lead_size;
		s->lead = NULL;
		s->lead_room = 0;
	} else if (s->lead_size > 0) {
		ev->lead = s->lead;
		ev->lead_size = (uint32_t)s->lead_size;
	}
	s->lead_size = 0;
}

/* Hands out the event that was parsed. */
static tel_status
emit(struct tel_reader *r, struct lines *s)
{
	struct tel_schema *schema = r->log.schema;
	struct tel_event *ev = &r->event;
	const struct tel_type *t = s->type;
	tel_status st = TEL_OK;

	if (t == NULL) {
		t = tel__schema_unknown(schema, s->code);
		if (t == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		r->count[TEL_COUNT_UNKNOWN]++;
	}
	give_lead(r, s);
	ev->data = s->data;
	if (schema->described) {
		tel__any_finish(s, t->code);
		ev->data = s->any->data;
	} else {
		tel__mps_encode_header(schema, s->data, t->code, s->size,
		    s->clock);
	}
	ev->raw = r->p;
	ev->raw_size = (uint32_t)s->rest;
	ev->type = t;
	ev->size = s->size;
	ev->notes = s->notes;
	ev->notes_size = s->notes_size;
	ev->noted = s->syntax->named ? TEL_NOTES_ONLY : TEL_NOTES_NONE;
	ev->clock = s->clock;
	ev->offset = s->offset;
	tel_reader_step(r, s->rest);
	if (s->cut)
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "the last line has no end: it may have been cut off, and "
		    "is read as it stands");
	if (tel_type_is_followed(t))
		st = tel__reader_follow(r, ev);
	if (st == TEL_OK) {
		/* the reader counts the event's bytes; here lines are read */
		r->count[TEL_COUNT_BYTES] += r->offset - s->offset;
		r->count[TEL_COUNT_BYTES] -= ev->size;
	}
	return st;
}

/* What header lines have said is in force from here on. */
static tel_status
settle(struct tel_reader *r, struct lines *s)
{
	tel_status st = tel__any_settle(r, s);

	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st != TEL_OK)
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "too many event types in one text; still read as %s",
		    r->log.schema->name);
	return TEL_OK;
}

/*
 * The line is of a type that was not seen yet, in a text that does not say
 * what its types are.  As parse().
 */
static tel_status
learn(struct tel_reader *r, struct lines *s)
{
	tel_status st = TEL_END;
	int learned = tel__any_learn(s);

	if (learned > 0)
		st = tel__any_settle(r, s);
	if (learned < 0 || st == TEL_ENOMEM)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	if (st == TEL_OK && tel__any_parse(s))
		return TEL_OK;
	/* once more for what is to be said of it */
	(void)tel__any_parse(s);
	return TEL_END;
}

/* The line may be of another schema of the same name.  As parse(). */
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
parse(struct tel_reader *r, struct lines *s)
{
	tel_status st;

	if (s->over)
		return TEL_END;
	if (s->any != NULL && s->any->fresh) {
		st = settle(r, s);
		if (st != TEL_OK)
			return st;
	}
	while (!s->syntax->parse(s, &s->map)) {
		if (!s->open_string || !s->syntax->multiline) {
			if (s->any != NULL && s->any->on)
				return s->inferred && !s->cut ?
				    learn(r, s) :
				    switch_any(r, s);
			if (s->inferred && s->syntax->named && !s->cut)
				return tel__lines_adapt(r, s);
			return TEL_END;
		}
		st = join_line(r, s);
		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

/* Keeps the line, which is silent.  TEL_OK, TEL_ENOMEM. */
static tel_status
keep_line(struct tel_reader *r, struct lines *s)
{
	size_t size = s->lead_size + s->rest;
	unsigned char *bigger;

	if (size > LINES_LEAD_MAX)
		return TEL_OK;
	if (size > s->lead_room) {
		bigger = realloc(s->lead, size * 2);
		if (bigger == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		s->lead = bigger;
		s->lead_room = size * 2;
	}
	memcpy(s->lead + s->lead_size, r->p, s->rest);
	s->lead_size = size;
	return TEL_OK;
}

/*
 * 1 when the line says nothing: it is blank, begins with '#', or is what grep
 * puts between groups of lines.
 */
static int
is_silent(const struct lines *s)
{
	const unsigned char *p = s->line;

	if (s->over)
		return 0;
	while (p < s->end && (*p == ' ' || *p == '\t'))
		p++;
	return p == s->end || *s->line == '#' ||
	    (s->end - p == 2 && memcmp(p, "--", 2) == 0);
}

tel_status
tel__lines_next(struct tel_reader *r)
{
	struct lines *s = r->state;
	tel_status st;

	r->event.index += r->event.data != NULL;
	for (;;) {
		st = get_line(r, s);
		if (st == TEL_END) {
			r->log.tail = s->lead;
			r->log.tail_size = s->lead_size;
		}
		if (st != TEL_OK)
			return st;
		if (is_silent(s)) {
			if (s->syntax->header != NULL && s->line < s->end &&
			    *s->line == '#')
				st = s->syntax->header(r, s);
			if (st == TEL_OK)
				st = keep_line(r, s);
			tel_reader_step(r, s->rest);
		} else {
			st = parse(r, s);
			if (st == TEL_OK)
				return emit(r, s);
			if (st == TEL_END)
				st = damaged(r, s);
		}
		if (st != TEL_OK)
			return st;
	}
}

/* 1 when no byte from p to end speaks against text. */
static int
is_plain(const unsigned char *p, const unsigned char *end)
{
	for (; p < end; p++)
		if (*p < ' ' && *p != '\t' && *p != '\r' && *p != '\n')
			return 0;
	return 1;
}

int
tel__lines_probe(struct tel_reader *r, lines_score *score, lines_score *other)
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
			if (lf != NULL || r->eof || have == TEL_PROBE_SIZE)
				break;
			/* wait for no more of what is no text */
			if (!is_plain(r->p + seen, end) &&
			    score(line, end) == 0)
				return 0;
			seen = have;
			tel__reader_fill(r, have + 1);
		}
		if (end > line && end[-1] == '\r')
			end--;
		found = score(line, end);
		if (found != 0)
			return i == 0 ? found : found - 10;
		/* what the other form is sure of is not waited for */
		if (lf == NULL || other(line, end) != 0 || !is_plain(line, end))
			return 0;
		at = seen = (size_t)(lf + 1 - r->p);
	}
	return 0;
}

tel_status
tel__lines_open(struct tel_reader *r, const struct lines_syntax *syntax,
    const char *as)
{
	struct lines *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	r->state = s;
	s->syntax = syntax;
	s->c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (s->c_locale == (locale_t)0)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	return tel__lines_choose(r, s, as);
}

void
tel__lines_close(struct tel_reader *r)
{
	struct lines *s = r->state;

	if (s == NULL)
		return;
	if (s->c_locale != (locale_t)0)
		freelocale(s->c_locale);
	tel__lines_free_candidates(s);
	tel__any_free(s->any);
	free(s->copy);
	free(s->lead);
	free(s->preamble);
	free(s);
	r->state = NULL;
	r->log.preamble = NULL;
	r->log.preamble_size = 0;
	r->log.tail = NULL;
	r->log.tail_size = 0;
}
