/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ltrace shows of the calls of an allocator.  Threads take turns, so a
 * call may begin in one line and end in another.
 */
#include "format/alloc/alloc.h"

#include <string.h>

/* "HH:MM:SS" or "HH:MM:SS.UUUUUU" in ns; 1, or 0. */
static int
time_of_day(const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t h, m, sec;

	if (!al_decimal(&q, &h) || *q++ != ':' || !al_decimal(&q, &m) ||
	    *q++ != ':' || h > 24 || m > 59)
		return 0;
	if (!tel__al_seconds(&q, &sec)) {
		if (!al_decimal(&q, &sec) || sec > 60)
			return 0;
		sec *= 1000000000;
	}
	if (sec > UINT64_C(61000000000))
		return 0;
	*p = q;
	*out = (h * 3600 + m * 60) * 1000000000 + sec;
	return 1;
}

static int
ltrace_time(struct al *s, const unsigned char **p)
{
	uint64_t t;

	if (time_of_day(p, &s->time)) {
		s->has_time = 1;
		return 1;
	}
	if (!tel__al_seconds(p, &t))
		return 0;
	s->has_time = 1;
	s->time = t;
	s->absolute = t >= AL_RELATIVE_MAX;
	if (!s->absolute)
		s->time = s->past.sum += t;
	return 1;
}

/*
 * The optional prefix of a call: "[pid N] " or "N ", a time, "[0xADDRESS] " and
 * "MODULE->", in this order.
 */
static const unsigned char *
ltrace_head(struct al *s, const unsigned char *p)
{
	const unsigned char *q;
	uint64_t n;

	s->v[AL_TID] = 0;
	if (al_starts_with(s, p, "[pid ", 5)) {
		p += 5;
		if (!al_decimal(&p, &s->v[AL_TID]) || *p != ']')
			return NULL;
		p++;
	} else {
		q = p;
		if (al_decimal(&q, &n) && *q == ' ') {
			s->v[AL_TID] = n;
			p = q;
		}
	}
	q = p = al_skip_blanks(p);
	if ((unsigned)*q - '0' <= 9 && ltrace_time(s, &q))
		p = al_skip_blanks(q);
	if (*p == '[') {
		q = p + 1;
		if (!al_number(s, &q, &n) || *q != ']')
			return NULL;
		p = al_skip_blanks(q + 1);
	}
	return p;
}

/* Steps over "MODULE->", if it is there. */
static const unsigned char *
skip_module(const struct al *s, const unsigned char *p)
{
	const unsigned char *q;

	for (q = p; q < s->line.end && *q != '(' && *q != ' ' && *q != '"'; q++)
		if (*q == '>' && q > p && q[-1] == '-')
			return q + 1;
	return p;
}

static struct al_pending_call *
find_held(struct al *s)
{
	for (unsigned i = s->nheld; i > 0; i--)
		if (s->held[i - 1].pid == s->v[AL_TID])
			return &s->held[i - 1];
	return NULL;
}

/* Parses the result of a call: "= 0x4a44fc0", perhaps with the time it took. */
static enum al_line
ltrace_result(struct al *s, const struct al_call *call, const unsigned char *p)
{
	const unsigned char *start;
	uint64_t spare;

	start = p = al_skip_blanks(p);
	if (!al_starts_with(s, p, "= ", 2))
		return al_wrong(s, p, "= and a result");
	p += 2;
	if (al_has_result(call)) {
		if (!al_number(s, &p, &s->v[AL_ADDRESS]))
			return al_wrong(s, p, "an address");
	} else if (al_starts_with(s, p, "<void>", 6)) {
		p += 6;
	} else if (!al_number(s, &p, &spare)) {
		return al_wrong(s, start, "= and <void>");
	}
	if (p != s->line.end && *p != ' ')
		return al_wrong(s, p, "the end of the line");
	return AL_EVENT;
}

/* "<... malloc resumed> ) = 0x4a44fc0", behind "<... ". */
static enum al_line
ltrace_resumed(struct al *s, const unsigned char *p)
{
	const unsigned char *name = p;
	const struct al_call *call;

	while (tel_is_word(*p))
		p++;
	call = tel__al_function(s, name, (size_t)(p - name));
	if (call == NULL || call->type == AL_NO_TYPE)
		return AL_OTHER_OUTPUT;
	/* it was an event when it began */
	if (!al_has_result(call))
		return AL_OTHER_OUTPUT;
	if (!al_starts_with(s, p, " resumed>", 9))
		return al_wrong(s, p, "resumed>");
	p = al_skip_blanks(p + 9);
	if (*p == ')')
		p++;
	struct al_pending_call *h = find_held(s);
	if (h != NULL && h->nested > 0) {
		h->nested--;
		return AL_OTHER_OUTPUT;
	}
	if (h == NULL || h->call != call)
		return al_wrong(s, name, "the end of a call that has started");
	memcpy(s->v, h->v, sizeof(h->v));
	s->kind = (enum al_type)call->type;
	enum al_line line = ltrace_result(s, call, p);
	/* the last place is free for the next one; this one is read once */
	s->nheld--;
	if (h != &s->held[s->nheld]) {
		struct al_pending_call swap = *h;

		*h = s->held[s->nheld];
		s->held[s->nheld] = swap;
	}
	s->ended = line == AL_EVENT ? &s->held[s->nheld] : NULL;
	return line;
}

/*
 * The call goes on in another line.  One that frees does so before another
 * thread can be given the block, so this line is the event.
 */
static enum al_line
ltrace_unfinished(struct al *s, const struct al_call *call)
{
	if (!al_has_result(call))
		return AL_EVENT;
	if (s->nheld == AL_HELD_MAX)
		return al_wrong(s, s->line.p, "at most 256 calls at a time");
	if (s->line.step > AL_HELD_LINE)
		return al_wrong(s, s->line.p,
		    "at most 240 bytes of such a line");
	struct al_pending_call *h = &s->held[s->nheld];
	h->pid = s->v[AL_TID];
	h->call = call;
	h->nested = 0;
	memcpy(h->v, s->v, sizeof(h->v));
	return AL_BEGUN;
}

/* "prog->malloc(513)   = 0x4a44fc0". */
static enum al_line
ltrace_parse(struct al *s, const unsigned char *p)
{
	const struct al_call *call;
	const unsigned char *name;

	p = ltrace_head(s, p);
	if (p == NULL)
		return AL_OTHER_OUTPUT;
	if (al_starts_with(s, p, "<... ", 5))
		return ltrace_resumed(s, p + 5);
	name = p = skip_module(s, p);
	while (tel_is_word(*p))
		p++;
	call = tel__al_function(s, name, (size_t)(p - name));
	/* "malloc@libc.so.6(513)" */
	if (*p == '@')
		while (p < s->line.end && *p != '(' && *p != ' ')
			p++;
	if (call == NULL || *p != '(' || call->type == AL_NO_TYPE)
		return AL_OTHER_OUTPUT;
	p++;
	enum al_line line = tel__al_arguments(s, call, &p);
	if (line != AL_EVENT)
		return line;
	while (p < s->line.end && *p != ')' && *p != '<')
		p++;
	/* ltrace prints the second where another thread ends the program */
	int unfinished = al_starts_with(s, p, "<unfinished ...>", 16) ||
	    al_starts_with(s, p, "<no return ...>", 15);
	struct al_pending_call *h = find_held(s);
	if (h != NULL) {
		h->nested += unfinished && al_has_result(call);
		s->past.inner++;
		return AL_OTHER_OUTPUT;
	}
	if (unfinished)
		return ltrace_unfinished(s, call);
	if (*p != ')')
		return al_wrong(s, p, "a closing parenthesis");
	return ltrace_result(s, call, p + 1);
}

const struct al_dialect tel__al_ltrace = {
	.name = "ltrace",
	.what = "ltrace",
	.parse = ltrace_parse,
	/* posix_memalign() does not return the address of the block */
	.types = (AL_C_TYPES | AL_CXX_TYPES) & ~AL_BIT(AL_POSIX_MEMALIGN),
	.all = "t",
	.mixed = 1,
	.score = 70,
	.stateful = 1,
};
