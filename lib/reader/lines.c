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
	tel_status st;

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
		l->cut = 1;
		st = tel__line_copy(r, l, r->p + from,
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

void
tel__line_found(char found[LINE_FOUND], const unsigned char *at,
    const unsigned char *end)
{
	char text[32];
	size_t n, i;

	if (at == NULL || at >= end) {
		snprintf(found, LINE_FOUND, "the end of the line");
		return;
	}
	n = (size_t)(end - at);
	if (n > sizeof(text) - 1)
		n = sizeof(text) - 1;
	for (i = 0; i < n; i++)
		text[i] = (char)(at[i] < ' ' || at[i] > '~' ? '?' : at[i]);
	text[n] = '\0';
	snprintf(found, LINE_FOUND, "\"%s\"", text);
}

void
tel__line_report_cut(struct tel_reader *r, const struct tel_line *l)
{
	tel__reader_notice(r, TEL_WARNING, l->offset,
	    "the last line has no line end and may be truncated; it is read");
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

/* ----------------------------------------------------------- silent lines */

tel_status
tel__lead_keep(struct tel_reader *r, struct tel_lead *lead, size_t n,
    size_t most)
{
	size_t size = lead->size + n;

	if (size > most)
		return TEL_OK;
	if (!TEL__RESERVE(lead->p, lead->room, size))
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	memcpy(lead->p + lead->size, r->p, n);
	lead->size = size;
	return TEL_OK;
}

void
tel__lead_give(struct tel_reader *r, struct tel_lead *lead)
{
	struct tel_event *ev = &r->event;

	ev->lead = NULL;
	ev->lead_size = 0;
	if (ev->index == 0) {
		lead->preamble = lead->p;
		r->log.preamble = lead->p;
		r->log.preamble_size = lead->size;
		lead->p = NULL;
		lead->room = 0;
	} else if (lead->size > 0) {
		ev->lead = lead->p;
		ev->lead_size = (uint32_t)lead->size;
	}
	lead->size = 0;
}

void
tel__lead_end(struct tel_reader *r, const struct tel_lead *lead)
{
	r->log.tail = lead->p;
	r->log.tail_size = lead->size;
}

void
tel__lead_close(struct tel_reader *r, struct tel_lead *lead)
{
	free(lead->p);
	free(lead->preamble);
	memset(lead, 0, sizeof(*lead));
	r->log.preamble = r->log.tail = NULL;
	r->log.preamble_size = r->log.tail_size = 0;
}
