/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of perf trace: joins those of two lines. */
#include "format/ftrace/calls.h"

#include <stdlib.h>

#include "base/array.h"

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
