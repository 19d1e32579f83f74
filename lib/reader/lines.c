/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of text, whatever they hold. */
#include "reader/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* Bytes behind a line, so that numbers may be looked at in one piece. */
#define BEHIND 8

#define X 255
/* clang-format off */
const unsigned char tel__lines_digit[256] = {
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, X, X, X, X, X, X,
	X, 10, 11, 12, 13, 14, 15, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, 10, 11, 12, 13, 14, 15, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
};
/* clang-format on */
#undef X

tel_status
tel__line_copy(struct tel_reader *r, struct tel_line *l, const unsigned char *p,
    size_t n)
{
	free(l->copy);
	l->copy = malloc(n + BEHIND);
	if (l->copy == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	memcpy(l->copy, p, n);
	memset(l->copy + n, '\n', BEHIND);
	l->p = l->copy;
	l->end = l->copy + n;
	l->limit = l->end + BEHIND;
	return TEL_OK;
}

tel_status
tel__line_find(struct tel_reader *r, struct tel_line *l, size_t from,
    size_t seen, size_t most)
{
	const unsigned char *lf;
	size_t have;

	seen += from;
	for (;;) {
		have = (size_t)(r->end - r->p);
		lf =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		if (lf != NULL || r->eof)
			break;
		seen = have;
		if (have >= from + most) {
			l->over = 1;
			tel_reader_step(r, have);
			from = seen = 0;
		}
		tel__reader_fill(r, seen + 1);
	}
	if (lf == NULL && have <= from && !l->over)
		return TEL_END;
	l->step = lf != NULL ? (size_t)(lf + 1 - r->p) : have;
	/* the window may hold more than was asked for */
	l->over |= l->step - from > most - (lf == NULL);
	if (lf == NULL) {
		l->truncated = 1;
		tel_status st = tel__line_copy(r, l, r->p + from,
		    l->over ? 0 : have - from);
		if (st != TEL_OK)
			return st;
	} else {
		l->p = l->over ? lf : r->p + from;
		l->end = lf;
		l->limit = r->end;
	}
	/* the line may come from a system where a return ends it, too */
	if (l->end > l->p && l->end[-1] == '\r')
		l->end--;
	return TEL_OK;
}

int
tel__line_is_text(const unsigned char *p, const unsigned char *end, int mixed)
{
	for (; p < end; p++)
		if (*p < ' ' && *p != '\t' && *p != '\r' && *p != '\n' &&
		    (!mixed || *p == 0))
			return 0;
	return 1;
}

int
tel__line_peek(struct tel_reader *r, struct tel_peek *k, tel_line_score *score,
    int mixed)
{
	const size_t at = k->next;
	const unsigned char *lf;
	size_t seen = at, have;

	if (r->probe_most > 0 && at >= r->probe_most && !k->all) {
		r->probe_cut = at;
		return 0;
	}
	for (;;) {
		have = (size_t)(r->end - r->p);
		if (have > TEL_PROBE_SIZE)
			have = TEL_PROBE_SIZE;
		k->p = r->p + at;
		lf =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		k->end = lf != NULL ? lf : r->p + have;
		if (lf != NULL || r->eof || have == TEL_PROBE_SIZE)
			break;
		if (!tel__line_is_text(r->p + seen, k->end, mixed) &&
		    (score == NULL || score(k->p, k->end) == 0))
			return 0;
		seen = have;
		tel__reader_fill(r, have + 1);
	}
	k->whole = lf != NULL;
	k->next = (size_t)(k->end - r->p) + (lf != NULL);
	if (k->end > k->p && k->end[-1] == '\r')
		k->end--;
	return 1;
}

/* ----------------------------------------------------------- silent lines */

/*
 * Keeps the line; what would make it more than may be kept is lost.
 * TEL_OK, TEL_ENOMEM.
 */
static tel_status
lead_keep(struct tel_reader *r, struct tel_line *l)
{
	struct tel_leading_text *lead = &l->lead;
	size_t size = lead->size + l->step;

	if (size > l->lead_most)
		return TEL_OK;
	if (!TEL__RESERVE(lead->p, lead->room, size))
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	memcpy(lead->p + lead->size, r->p, l->step);
	lead->size = size;
	return TEL_OK;
}

/* Gives the stored lines to the event; where that is the first, to the log. */
static void
leading_text_relay(struct tel_reader *r, struct tel_leading_text *lead)
{
	struct tel_event *ev = &r->event;

	ev->lead = lead->p;
	ev->lead_size = (uint32_t)lead->size;
	if (ev->index == 0) {
		ev->lead_size = 0;
		lead->preamble = lead->p;
		r->log.preamble = lead->p;
		r->log.preamble_size = lead->size;
		lead->p = NULL;
		lead->room = 0;
	}
	lead->size = 0;
}

/* ---------------------------------------------------------------- events */

/*
 * Up to 31 bytes of what was found in place of what was expected, in quotes,
 * or "the end of the line".
 */
static void
describe_found(char *found, size_t size, const unsigned char *at,
    const unsigned char *end)
{
	char text[32];

	if (at == NULL || at >= end) {
		snprintf(found, size, "the end of the line");
		return;
	}
	size_t n = (size_t)(end - at);
	if (n > sizeof(text) - 1)
		n = sizeof(text) - 1;
	for (size_t i = 0; i < n; i++)
		text[i] = (char)(at[i] < ' ' || at[i] > '~' ? '?' : at[i]);
	text[n] = '\0';
	snprintf(found, size, "\"%s\"", text);
}

/* Steps over the line, which is not an event, and reports why. */
static tel_status
report_invalid(struct tel_reader *r, struct tel_line *l)
{
	char found[40];

	describe_found(found, sizeof(found), l->over ? NULL : l->at, l->end);
	tel_reader_step(r, l->step);
	if (l->over)
		return tel__reader_damage(r, l->offset, r->offset - l->offset,
		    "a line of %llu bytes: at most %zu are allowed",
		    (unsigned long long)(r->offset - l->offset), l->most);
	return tel__reader_damage(r, l->offset, r->offset - l->offset,
	    "%s%s%s: expected %s%s%s, found %s", l->invalid, l->in,
	    l->truncated ? ", with no end" : "", l->want,
	    l->detail != NULL ? " " : "", l->detail != NULL ? l->detail : "",
	    found);
}

/* Hands out the event that the line is. */
static tel_status
lines_emit(struct tel_reader *r, struct tel_line *l)
{
	struct tel_event *ev = &r->event;

	leading_text_relay(r, &l->lead);
	ev->raw = l->raw != NULL ? l->raw : r->p;
	ev->raw_size = (uint32_t)(l->raw != NULL ? l->raw_size : l->step);
	ev->offset = l->offset;
	r->consumed = l->step;
	tel_reader_step(r, l->step);
	if (l->truncated)
		tel__reader_notice(r, TEL_WARNING, l->offset,
		    "the last line has no line end and may be truncated; it "
		    "is read");
	return tel_type_is_followed(ev->type) ? tel__reader_follow(r, ev) :
	                                        TEL_OK;
}

/* The log has ended: the stored lines are its tail. */
static tel_status
lines_end_log(struct tel_reader *r, const struct tel_line *l,
    const struct tel_line_decoder *decoder)
{
	tel_status st = decoder->end != NULL ? decoder->end(r) : TEL_OK;

	r->log.tail = l->lead.p;
	r->log.tail_size = l->lead.size;
	return st == TEL_OK ? TEL_END : st;
}

tel_status
tel__line_next(struct tel_reader *r, struct tel_line *l,
    const struct tel_line_decoder *decoder)
{
	r->event.index += r->event.data != NULL;
	for (;;) {
		if (decoder->before != NULL)
			decoder->before(r);
		l->offset = r->offset;
		l->truncated = l->over = 0;
		l->raw = NULL;
		tel_status st = tel__line_find(r, l, 0, 0, l->most);
		if (st != TEL_OK)
			return st == TEL_END ? lines_end_log(r, l, decoder) :
			                       st;
		switch (l->over ? LINE_INVALID : decoder->parse(r, l)) {
		case LINE_EVENT: return lines_emit(r, l);
		case LINE_COMMENT:
			st = lead_keep(r, l);
			tel_reader_step(r, l->step);
			break;
		case LINE_SKIPPED: tel_reader_step(r, l->step); break;
		case LINE_INVALID: st = report_invalid(r, l); break;
		case LINE_FAILED: return l->failed;
		}
		if (st != TEL_OK)
			return st;
	}
}

void
tel__line_close(struct tel_line *l)
{
	free(l->lead.p);
	free(l->lead.preamble);
	free(l->copy);
}
