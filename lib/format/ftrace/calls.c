/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of perf trace, and its calls of two lines. */
#include "format/ftrace/calls.h"

#include <stdlib.h>

#include "base/array.h"
#include "format/ftrace/text.h"

/*
 * A call, "NAME(KEY: VALUE, ...) = VALUE TEXT", or "... [continued]: NAME()) =
 * VALUE" of one that took longer; or "NAME TEXT".  1, or 0: it is something else.
 */
static int
take_call(struct ft_line *l, const char *p, const char *end)
{
	static const char again[] = "... [continued]: ";
	const int continued = starts_with(p, end, again);
	const char *name = p + (continued ? sizeof(again) - 1 : 0);
	const char *open = name, *equals = end - 1, *close, *word;

	while (open < end && (tel_is_word(*open) || *open == ':'))
		open++;
	if (open == name || open == end || (*open != '(' && *open != ' '))
		return 0;
	tel__ft_take_name(l, name, (size_t)(open - name));
	if (*open == ' ') {
		tel__ft_add_field(l, "text", 4, skip_blanks(open, end), end);
		return 1;
	}
	while (equals > open &&
	    (*equals != '=' || trim_blanks(open, equals)[-1] != ')'))
		equals--;
	close = trim_blanks(open, equals > open ? equals : end);
	l->call.text.p = p;
	if (continued) {
		l->call.is = FT_CONTINUED;
		l->call.text.n = (size_t)(open + 1 - p);
	}
	if (equals == open && close - open > 4 &&
	    memcmp(close - 4, " ...", 4) == 0) {
		close = trim_blanks(open, close - 4);
		l->call.is = FT_BEGUN;
		l->call.text.n = (size_t)(close - p);
	}
	if (!continued)
		tel__ft_take_fields(l, open + 1, close - (close[-1] == ')'));
	if (equals == open)
		return 1;
	p = word = skip_blanks(equals + 1, end);
	while (word < end && *word != ' ')
		word++;
	if (p < end)
		tel__ft_add_field(l, "ret", 3, p, word);
	if (word < end)
		tel__ft_add_field(l, "text", 4, skip_blanks(word, end), end);
	return 1;
}

/*
 * A line of perf trace, "MS (MS ms): COMM/TID CALL", whose first time may be "?",
 * and the second one blank; or "MS COMM/TID CALL".  1, or 0: it is something else.
 */
int
tel__ft_traced(struct ft_line *l, const char *p, const char *end)
{
	const char *q = p, *stop, *slash, *digits;
	uint64_t us = 0, duration = 0;

	stop = q < end && *q == '?' ? q + 1 : read_thousandths(q, end, &us);
	if (stop == NULL || stop == end || *stop != ' ' ||
	    us > UINT64_MAX / 1000)
		return 0;
	/* perf's clock is of nanoseconds, and may be a bit less than zero */
	l->has_time = *q == '?' || us * 1000 > INT64_MAX ? FT_UNTIMED : FT_TIME;
	l->clock = us * 1000;
	p = q = stop + 1;
	stop = NULL;
	if (*q == '(') {
		q = skip_blanks(q + 1, end);
		stop = read_thousandths(q, end, &duration);
		q = stop != NULL ? stop + 3 : q;
		if (q > end || !starts_with(q, end, "): ") ||
		    (stop != NULL && memcmp(stop, " ms", 3) != 0) ||
		    duration > UINT64_MAX / 1000)
			return 0;
		q += 3;
	}
	/* perf cuts commands at 14 bytes */
	for (slash = q; slash < end && slash - q < 16; slash++) {
		for (digits = slash + 1; digits < end && tel_is_digit(*digits);)
			digits++;
		if (*slash == '/' && digits > slash + 1 && digits < end &&
		    *digits == ' ' &&
		    tel__ft_add_field(l, "tid", 3, slash + 1, digits)) {
			struct ft_text comm = { q, (size_t)(slash - q) };

			tel__ft_add_label(l, &l->fields[0], comm);
			q = digits;
			break;
		}
	}
	if (*p != '(' && l->nfields == 0)
		return 0;
	if (stop != NULL)
		tel__ft_add_number(l, "duration", TEL_UNSIGNED, TEL_UNIT_NS,
		    duration * 1000);
	l->event.p = q = skip_blanks(q, end);
	l->event.n = (size_t)(end - q);
	return take_call(l, q, end);
}

void
tel__ft_calls_init(struct ft_calls *c)
{
	tel__table_init(&c->by_thread);
	c->calls = NULL;
	c->ncalls = c->room = 0;
}

void
tel__ft_calls_clear(struct ft_calls *c)
{
	for (size_t i = 0; i < c->ncalls; i++)
		free(c->calls[i].text);
	free(c->calls);
	tel__table_clear(&c->by_thread);
	tel__ft_calls_init(c);
}

/* The call that a thread is in, or NULL; add: or may be. */
static tel_status
calls_find(struct ft_calls *c, uint64_t tid, int add, struct ft_begun **out)
{
	struct tel__entry *e = tel__table_find(&c->by_thread, tid);
	int fresh;

	*out = NULL;
	if (e == NULL && add) {
		/* most threads have ended, and left no call */
		if (c->ncalls == FT_CALLS_MAX)
			tel__ft_calls_clear(c);
		if (!TEL__RESERVE_ZEROED(c->calls, c->room, c->ncalls + 1))
			return TEL_ENOMEM;
		e = tel__table_put(&c->by_thread, tid, &fresh);
		if (e == NULL)
			return TEL_ENOMEM;
		e->value = c->ncalls++;
	}
	if (e != NULL)
		*out = &c->calls[e->value];
	return TEL_OK;
}

tel_status
tel__ft_calls_join(struct ft_calls *c, struct ft_line *l,
    const unsigned char *p, const unsigned char *end)
{
	const struct ft_field *tid = tel__ft_field(l, "tid");
	const struct ft_text call = l->call.text;
	const size_t before = (size_t)((const unsigned char *)call.p - p);
	struct ft_begun *b;
	tel_status st = calls_find(c, tid != NULL ? tid->number : UINT64_MAX,
	    l->call.is == FT_BEGUN, &b);

	if (b == NULL)
		return st;
	end -= end > p && end[-1] == '\r';
	if (l->call.is == FT_BEGUN) {
		b->n = 0;
		if (call.n > FT_CALL_MAX)
			return TEL_OK;
		if (!TEL__RESERVE(b->text, b->room, call.n))
			return TEL_ENOMEM;
		b->n = call.n;
		memcpy(b->text, call.p, call.n);
		return TEL_OK;
	}
	/* "... [continued]: NAME(" */
	const char *name = memchr(call.p, ':', call.n);
	const size_t n = (size_t)(call.p + call.n - (name + 2));
	if (b->n > n && memcmp(b->text, name + 2, n) == 0 &&
	    (size_t)(end - p) + b->n <= FT_LINE_MAX) {
		const char *rest = call.p + call.n;

		while ((const unsigned char *)rest < end && *rest == ')')
			rest++;
		char *to = c->line;
		memcpy(to, p, before);
		memcpy(to += before, b->text, b->n);
		to += b->n;
		memcpy(to, rest, (size_t)((const char *)end - rest));
		to += (const char *)end - rest;
		*to = '\n';
		(void)tel__ft_line(l, (const unsigned char *)c->line,
		    (const unsigned char *)to);
		/* places of frames are those in the log's own line */
		l->frame = NULL;
	}
	b->n = 0;
	return TEL_OK;
}
