/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dialects that show calls as C has them, "malloc(513) = 0x4a44fc0": those of
 * Firefox' LogAlloc, valgrind, and of kdump for FreeBSD's utrace.
 */
#include "format/alloc/alloc.h"

#include <string.h>

/*
 * The function that is called at *p, which then is behind its parenthesis.
 * NULL: none that allocates.
 */
static const struct al_call *
al_call_at(const struct al *s, const unsigned char **p)
{
	const unsigned char *q = *p;

	while (tel_is_word(*q))
		q++;
	if (*q != '(' || q == *p)
		return NULL;
	const struct al_call *call = tel__al_function(s, *p, (size_t)(q - *p));
	*p = q + 1;
	return call;
}

/* Steps over the words before a number: "al 64, size 100". */
static const unsigned char *
skip_words(const unsigned char *p)
{
	const unsigned char *q = p;

	while ((*q >= 'a' && *q <= 'z' && *q != 'n') || *q == ' ')
		q++;
	return q > p && q[-1] == ' ' ? q : p;
}

/* A number, or the slot of a block that logalloc_munge.py gave it. */
static int
argument(const struct al *s, const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p + 1;

	if (**p != '#')
		return al_number(s, p, out);
	if (!al_decimal(&q, out))
		return 0;
	*p = q;
	return 1;
}

enum al_line
tel__al_arguments(struct al *s, const struct al_call *call,
    const unsigned char **p)
{
	for (const char *letter = call->arguments; *letter != '\0'; letter++) {
		if (letter != call->arguments) {
			if (**p != ',')
				return al_wrong(s, *p, "a comma");
			++*p;
		}
		*p = skip_words(*p);
		if (!argument(s, p, &s->v[al_letter(*letter)]))
			return al_wrong(s, *p, "a number");
	}
	s->kind = (enum al_type)call->type;
	return AL_EVENT;
}

/* ------------------------------------------------------------ LogAlloc */

/* "PID TID malloc(513)=0x4a44fc0"; the oldest logs have no TID. */
static enum al_line
logalloc_parse(struct al *s, const unsigned char *p)
{
	const unsigned char *start = p;

	s->v[AL_TID] = 0;
	if (!al_decimal(&p, &s->v[AL_PID]) || *p != ' ')
		return al_wrong(s, start, "the numbers of a process");
	p++;
	if (al_decimal(&p, &s->v[AL_TID])) {
		if (*p != ' ')
			return al_wrong(s, p, "a blank");
		p++;
	}
	start = p;
	const struct al_call *call = al_call_at(s, &p);
	if (call == NULL)
		return al_wrong(s, start, "a function that allocates");
	enum al_line line = tel__al_arguments(s, call, &p);
	if (line != AL_EVENT)
		return line;
	if (*p != ')')
		return al_wrong(s, p, "a closing parenthesis");
	p++;
	if (call->type == AL_NO_TYPE)
		return AL_COMMENT;
	if (al_has_result(call)) {
		if (*p != '=')
			return al_wrong(s, p, "= and an address");
		p++;
		if (!argument(s, &p, &s->v[AL_ADDRESS]))
			return al_wrong(s, p, "an address");
	}
	return p == s->line.end ? AL_EVENT :
	                          al_wrong(s, p, "the end of the line");
}

/* ------------------------------------------------------------ valgrind */

/*
 * Finds "--PID-- " and a call after it; the traced program may have written the
 * start of the line.  NULL: there is none.
 */
static const struct al_call *
valgrind_call(struct al *s, const unsigned char **p)
{
	const unsigned char *q = *p;

	for (;;) {
		q = memchr(q, '-', (size_t)(s->line.end - q));
		if (q == NULL)
			return NULL;
		*p = q + 2;
		if (q[1] == '-' && al_decimal(p, &s->v[AL_PID]) &&
		    al_starts_with(s, *p, "-- ", 3)) {
			*p += 3;
			const struct al_call *call = al_call_at(s, p);
			if (call != NULL)
				return call;
		}
		q++;
	}
}

/* "--PID-- malloc(513) = 0x4A44FC0". */
static enum al_line
valgrind_parse(struct al *s, const unsigned char *p)
{
	const struct al_call *call = valgrind_call(s, &p);

	for (;;) {
		if (call == NULL || call->type == AL_NO_TYPE)
			return AL_OTHER_OUTPUT;
		enum al_line line = tel__al_arguments(s, call, &p);
		if (line != AL_EVENT)
			return line;
		/* "memalign(al 64, size 100)"; a delete may say what it deletes */
		while (p < s->line.end && *p != ')')
			p++;
		if (p == s->line.end)
			return al_wrong(s, p, "a closing parenthesis");
		p++;
		/* a calloc() of too much has no result and no line end */
		if (call->type != AL_CALLOC || !tel_is_word(*p))
			break;
		call = al_call_at(s, &p);
	}
	/* memcheck warns of a size that is too large; it will not be had */
	if (al_starts_with(s, p, "Argument '", 10))
		return AL_OTHER_OUTPUT;
	if (!al_has_result(call))
		return p == s->line.end ? AL_EVENT :
		                          al_wrong(s, p, "the end of the line");
	s->v[AL_ADDRESS] = 0;
	/* "realloc(0x4A44FC0,0)free(0x4A44FC0)", "realloc(0x0,8)malloc(8)" */
	if (tel_is_word(*p)) {
		const int freed = al_starts_with(s, p, "free(", 5);

		while (p < s->line.end && *p != ')')
			p++;
		p += p < s->line.end;
		if (freed && p == s->line.end)
			return AL_EVENT;
	}
	if (!al_starts_with(s, p, " = ", 3))
		return al_wrong(s, p, "= and an address");
	p += 3;
	if (!al_number(s, &p, &s->v[AL_ADDRESS]))
		return al_wrong(s, p, "an address");
	return p == s->line.end ? AL_EVENT :
	                          al_wrong(s, p, "the end of the line");
}

/* ---------------------------------------------------------------- kdump */

/*
 * "PID COMMAND TIME USER  0x801009000 = malloc(64)"; the TID and the time
 * need not be there.  Or "<jemalloc>:utrace: PID malloc(64) = ...".  Returns
 * the end of the match, or NULL.
 */
static const unsigned char *
kdump_head(struct al *s, const unsigned char *p)
{
	static const char utrace[] = "<jemalloc>:utrace: ";
	const unsigned char *q = p;

	s->v[AL_TID] = 0;
	if (al_starts_with(s, p, utrace, sizeof(utrace) - 1)) {
		p += sizeof(utrace) - 1;
		return al_decimal(&p, &s->v[AL_PID]) ? al_skip_blanks(p) : NULL;
	}
	q = al_skip_blanks(p);
	if (!al_decimal(&q, &s->v[AL_PID]) || *q != ' ')
		return NULL;
	p = q = al_skip_blanks(q);
	if (al_decimal(&q, &s->v[AL_TID]) && *q == ' ')
		p = q;
	else
		s->v[AL_TID] = 0;
	for (;;) {
		p = al_skip_blanks(p);
		if (al_starts_with(s, p, "USER ", 5))
			return al_skip_blanks(p + 5);
		q = p;
		if (!s->has_time && tel__al_seconds(&q, &s->time) &&
		    *q == ' ') {
			s->has_time = 1;
			s->absolute = s->time >= AL_RELATIVE_MAX;
		}
		while (p < s->line.end && *p != ' ')
			p++;
		if (p == s->line.end)
			return NULL;
	}
}

/* "0x801009000 = malloc(64)", "free(0x801009000)", "malloc_init()". */
static enum al_line
kdump_parse(struct al *s, const unsigned char *p)
{
	p = kdump_head(s, p);
	if (p == NULL)
		return AL_OTHER_OUTPUT;
	s->v[AL_ADDRESS] = 0;
	int result = !tel_is_word(*p) || (*p >= '0' && *p <= '9');
	if (result) {
		if (!al_number(s, &p, &s->v[AL_ADDRESS]) ||
		    !al_starts_with(s, p, " = ", 3))
			return AL_OTHER_OUTPUT;
		p += 3;
	}
	const struct al_call *call = al_call_at(s, &p);
	if (call == NULL || call->type == AL_NO_TYPE)
		return AL_OTHER_OUTPUT;
	enum al_line line = tel__al_arguments(s, call, &p);
	if (line != AL_EVENT)
		return line;
	if (*p != ')')
		return al_wrong(s, p, "a closing parenthesis");
	if (result != al_has_result(call))
		return al_wrong(s, s->line.p,
		    "a result before malloc or realloc");
	p++;
	return p == s->line.end ? AL_EVENT :
	                          al_wrong(s, p, "the end of the line");
}

/* -------------------------------------------------------- the dialects */

const struct al_dialect tel__al_logalloc = {
	.name = "logalloc",
	.what = "LogAlloc",
	.parse = logalloc_parse,
	.types = AL_C_TYPES,
	.all = "pt",
	.score = 90,
};

const struct al_dialect tel__al_valgrind = {
	.name = "valgrind",
	.what = "valgrind",
	.parse = valgrind_parse,
	.types = AL_C_TYPES | AL_CXX_TYPES,
	.all = "p",
	.mixed = 1,
	.score = 70,
};

const struct al_dialect tel__al_kdump = {
	.name = "kdump",
	.what = "kdump",
	.parse = kdump_parse,
	.types = AL_C_TYPES,
	.all = "pt",
	.mixed = 1,
	.score = 70,
};
