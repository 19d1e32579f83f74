/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dialects that show calls as C has them, "malloc(513) = 0x4a44fc0": those of
 * Firefox' LogAlloc, valgrind, ltrace, and of kdump for FreeBSD's utrace.
 */
#include "formats/allocline.h"

#include <string.h>

#define BIT(type) ((uint32_t)1 << (type))

#define C_TYPES \
	(BIT(AL_MALLOC) | BIT(AL_CALLOC) | BIT(AL_REALLOC) | \
	    BIT(AL_REALLOCARRAY) | BIT(AL_MEMALIGN) | BIT(AL_POSIX_MEMALIGN) | \
	    BIT(AL_ALIGNED_ALLOC) | BIT(AL_VALLOC) | BIT(AL_PVALLOC) | \
	    BIT(AL_FREE))
#define CXX_TYPES \
	(BIT(AL_NEW) | BIT(AL_NEW_ARRAY) | BIT(AL_NEW_ALIGNED) | \
	    BIT(AL_DELETE) | BIT(AL_DELETE_ARRAY))

static int
is_name(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_';
}

/*
 * The function that is called at *p, which then is behind its parenthesis.
 * NULL: none that allocates.
 */
static const struct al_call *
call_at(const struct al *s, const unsigned char **p)
{
	const unsigned char *q = *p;
	const struct al_call *call;

	while (is_name(*q))
		q++;
	if (*q != '(' || q == *p)
		return NULL;
	call = al_function(s, *p, (size_t)(q - *p));
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

/* The arguments at *p that the call has; what is behind them stays. */
static enum al_line
arguments(struct al *s, const struct al_call *call, const unsigned char **p)
{
	const char *letter;

	for (letter = call->arguments; *letter != '\0'; letter++) {
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

/* Nonzero when the call has a result that matters. */
static int
has_result(const struct al_call *call)
{
	return call->type != AL_FREE && call->type != AL_DELETE &&
	    call->type != AL_DELETE_ARRAY;
}

/* ------------------------------------------------------------ LogAlloc */

/* "PID TID malloc(513)=0x4a44fc0"; the oldest logs have no TID. */
static enum al_line
logalloc_parse(struct al *s, const unsigned char *p)
{
	const unsigned char *start = p;
	const struct al_call *call;
	enum al_line line;

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
	call = call_at(s, &p);
	if (call == NULL)
		return al_wrong(s, start, "a function that allocates");
	line = arguments(s, call, &p);
	if (line != AL_EVENT)
		return line;
	if (*p != ')')
		return al_wrong(s, p, "a closing parenthesis");
	p++;
	if (call->type == AL_NO_TYPE)
		return AL_SILENT;
	if (has_result(call)) {
		if (*p != '=')
			return al_wrong(s, p, "= and an address");
		p++;
		if (!argument(s, &p, &s->v[AL_ADDRESS]))
			return al_wrong(s, p, "an address");
	}
	return p == s->end ? AL_EVENT : al_wrong(s, p, "the end of the line");
}

/* ------------------------------------------------------------ valgrind */

/*
 * Finds "--PID-- " and a call behind it; the program that is traced may have
 * written the begin of the line.  NULL: there is none.
 */
static const struct al_call *
valgrind_call(struct al *s, const unsigned char **p)
{
	const unsigned char *q = *p;
	const struct al_call *call;

	for (;;) {
		q = memchr(q, '-', (size_t)(s->end - q));
		if (q == NULL)
			return NULL;
		*p = q + 2;
		if (q[1] == '-' && al_decimal(p, &s->v[AL_PID]) &&
		    al_stands(s, *p, "-- ", 3)) {
			*p += 3;
			call = call_at(s, p);
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
	enum al_line line;

	if (call == NULL || call->type == AL_NO_TYPE)
		return AL_NOISE;
	line = arguments(s, call, &p);
	if (line != AL_EVENT)
		return line;
	/* "memalign(al 64, size 100)"; a delete may say what it deletes */
	while (p < s->end && *p != ')')
		p++;
	if (p == s->end)
		return al_wrong(s, p, "a closing parenthesis");
	p++;
	if (!has_result(call))
		return p == s->end ? AL_EVENT :
		                     al_wrong(s, p, "the end of the line");
	s->v[AL_ADDRESS] = 0;
	/* "realloc(0x4A44FC0,0)free(0x4A44FC0)", "realloc(0x0,8)malloc(8)" */
	if (is_name(*p)) {
		line = al_stands(s, p, "free(", 5) ? AL_EVENT : AL_MORE;
		while (p < s->end && *p != ')')
			p++;
		p += p < s->end;
		if (line == AL_EVENT && p == s->end)
			return line;
	}
	if (!al_stands(s, p, " = ", 3))
		return al_wrong(s, p, "= and an address");
	p += 3;
	if (!al_number(s, &p, &s->v[AL_ADDRESS]))
		return al_wrong(s, p, "an address");
	return p == s->end ? AL_EVENT : al_wrong(s, p, "the end of the line");
}

/* --------------------------------------------------------------- ltrace */

/* "HH:MM:SS" or "HH:MM:SS.UUUUUU" in ns; 1, or 0. */
static int
time_of_day(const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t h, m, sec;

	if (!al_decimal(&q, &h) || *q++ != ':' || !al_decimal(&q, &m) ||
	    *q++ != ':' || h > 24 || m > 59)
		return 0;
	if (!al_seconds(&q, &sec)) {
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

/* Times under this are the differences that ltrace -r shows. */
#define RELATIVE_MAX ((uint64_t)100000000 * 1000000000)

static int
ltrace_time(struct al *s, const unsigned char **p)
{
	uint64_t t;

	if (time_of_day(p, &s->time)) {
		s->has_time = 1;
		return 1;
	}
	if (!al_seconds(p, &t))
		return 0;
	s->has_time = 1;
	s->time = t;
	if (t < RELATIVE_MAX)
		s->time = s->sum += t;
	return 1;
}

static const unsigned char *
skip_blanks(const unsigned char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/*
 * What may stand before a call: "[pid N] " or "N ", a time, "[0xADDRESS] "
 * and "MODULE->", in this order.
 */
static const unsigned char *
ltrace_head(struct al *s, const unsigned char *p)
{
	const unsigned char *q;
	uint64_t n;

	s->v[AL_TID] = 0;
	if (al_stands(s, p, "[pid ", 5)) {
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
	q = p = skip_blanks(p);
	if ((unsigned)*q - '0' <= 9 && ltrace_time(s, &q))
		p = skip_blanks(q);
	if (*p == '[') {
		q = p + 1;
		if (!al_number(s, &q, &n) || *q != ']')
			return NULL;
		p = skip_blanks(q + 1);
	}
	return p;
}

/* Steps over "MODULE->", if it is there. */
static const unsigned char *
skip_module(const struct al *s, const unsigned char *p)
{
	const unsigned char *q;

	for (q = p; q < s->end && *q != '(' && *q != ' ' && *q != '"'; q++)
		if (*q == '>' && q > p && q[-1] == '-')
			return q + 1;
	return p;
}

static struct al_held *
find_held(struct al *s)
{
	unsigned i;

	for (i = s->nheld; i > 0; i--)
		if (s->held[i - 1].pid == s->v[AL_TID])
			return &s->held[i - 1];
	return NULL;
}

/* What is behind a call: "= 0x4a44fc0", perhaps with the time it took. */
static enum al_line
ltrace_result(struct al *s, const struct al_call *call, const unsigned char *p)
{
	const unsigned char *start;
	uint64_t spare;

	start = p = skip_blanks(p);
	if (!al_stands(s, p, "= ", 2))
		return al_wrong(s, p, "= and a result");
	p += 2;
	if (has_result(call)) {
		if (!al_number(s, &p, &s->v[AL_ADDRESS]))
			return al_wrong(s, p, "an address");
	} else if (al_stands(s, p, "<void>", 6)) {
		p += 6;
	} else if (!al_number(s, &p, &spare)) {
		return al_wrong(s, start, "= and <void>");
	}
	if (p != s->end && *p != ' ')
		return al_wrong(s, p, "the end of the line");
	return AL_EVENT;
}

/* "<... malloc resumed> ) = 0x4a44fc0", behind "<... ". */
static enum al_line
ltrace_resumed(struct al *s, const unsigned char *p)
{
	const unsigned char *name = p;
	struct al_held *h;
	const struct al_call *call;
	enum al_line line;

	while (is_name(*p))
		p++;
	call = al_function(s, name, (size_t)(p - name));
	if (call == NULL || call->type == AL_NO_TYPE)
		return AL_NOISE;
	/* it was an event when it began */
	if (!has_result(call))
		return AL_NOISE;
	if (!al_stands(s, p, " resumed>", 9))
		return al_wrong(s, p, "resumed>");
	p = skip_blanks(p + 9);
	if (*p == ')')
		p++;
	h = find_held(s);
	if (h == NULL || h->call != call)
		return al_wrong(s, name, "a call that had begun");
	memcpy(s->v, h->v, sizeof(h->v));
	s->kind = (enum al_type)call->type;
	line = ltrace_result(s, call, p);
	/* the last place is free for the next one; this one is read once */
	s->nheld--;
	if (h != &s->held[s->nheld]) {
		struct al_held swap = *h;

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
	struct al_held *h;

	if (!has_result(call))
		return AL_EVENT;
	if (s->nheld == AL_HELD_MAX)
		return al_wrong(s, s->p, "at most 256 calls at a time");
	if (s->step > AL_HELD_LINE)
		return al_wrong(s, s->p, "at most 240 bytes of such a line");
	h = &s->held[s->nheld];
	h->pid = s->v[AL_TID];
	h->call = call;
	memcpy(h->v, s->v, sizeof(h->v));
	return AL_BEGUN;
}

/* "prog->malloc(513)   = 0x4a44fc0". */
static enum al_line
ltrace_parse(struct al *s, const unsigned char *p)
{
	const struct al_call *call;
	const unsigned char *name;
	enum al_line line;

	p = ltrace_head(s, p);
	if (p == NULL)
		return AL_NOISE;
	if (al_stands(s, p, "<... ", 5))
		return ltrace_resumed(s, p + 5);
	name = p = skip_module(s, p);
	while (is_name(*p))
		p++;
	call = al_function(s, name, (size_t)(p - name));
	/* "malloc@libc.so.6(513)" */
	if (*p == '@')
		while (p < s->end && *p != '(' && *p != ' ')
			p++;
	if (call == NULL || *p != '(' || call->type == AL_NO_TYPE)
		return AL_NOISE;
	p++;
	line = arguments(s, call, &p);
	if (line != AL_EVENT)
		return line;
	if (find_held(s) != NULL) {
		s->inner++;
		return AL_NOISE;
	}
	while (p < s->end && *p != ')' && *p != '<')
		p++;
	/* it says the second where another thread ends the program */
	if (al_stands(s, p, "<unfinished ...>", 16) ||
	    al_stands(s, p, "<no return ...>", 15))
		return ltrace_unfinished(s, call);
	if (*p != ')')
		return al_wrong(s, p, "a closing parenthesis");
	return ltrace_result(s, call, p + 1);
}

/* ---------------------------------------------------------------- kdump */

/*
 * "PID COMMAND TIME USER  0x801009000 = malloc(64)"; the TID and the time
 * need not be there.  Or "<jemalloc>:utrace: PID malloc(64) = ...".  Returns
 * what is behind it, or NULL.
 */
static const unsigned char *
kdump_head(struct al *s, const unsigned char *p)
{
	static const char utrace[] = "<jemalloc>:utrace: ";
	const unsigned char *q = p;

	s->v[AL_TID] = 0;
	if (al_stands(s, p, utrace, sizeof(utrace) - 1)) {
		p += sizeof(utrace) - 1;
		return al_decimal(&p, &s->v[AL_PID]) ? skip_blanks(p) : NULL;
	}
	q = skip_blanks(p);
	if (!al_decimal(&q, &s->v[AL_PID]) || *q != ' ')
		return NULL;
	p = q = skip_blanks(q);
	if (al_decimal(&q, &s->v[AL_TID]) && *q == ' ')
		p = q;
	else
		s->v[AL_TID] = 0;
	for (;;) {
		p = skip_blanks(p);
		if (al_stands(s, p, "USER ", 5))
			return skip_blanks(p + 5);
		q = p;
		if (!s->has_time && al_seconds(&q, &s->time) && *q == ' ')
			s->has_time = 1;
		while (p < s->end && *p != ' ')
			p++;
		if (p == s->end)
			return NULL;
	}
}

/* "0x801009000 = malloc(64)", "free(0x801009000)", "malloc_init()". */
static enum al_line
kdump_parse(struct al *s, const unsigned char *p)
{
	const struct al_call *call;
	enum al_line line;
	int result;

	p = kdump_head(s, p);
	if (p == NULL)
		return AL_NOISE;
	s->v[AL_ADDRESS] = 0;
	result = !is_name(*p) || (*p >= '0' && *p <= '9');
	if (result) {
		if (!al_number(s, &p, &s->v[AL_ADDRESS]) ||
		    !al_stands(s, p, " = ", 3))
			return AL_NOISE;
		p += 3;
	}
	call = call_at(s, &p);
	if (call == NULL || call->type == AL_NO_TYPE)
		return AL_NOISE;
	line = arguments(s, call, &p);
	if (line != AL_EVENT)
		return line;
	if (*p != ')')
		return al_wrong(s, p, "a closing parenthesis");
	if (result != has_result(call))
		return al_wrong(s, s->p, "a result before malloc or realloc");
	p++;
	return p == s->end ? AL_EVENT : al_wrong(s, p, "the end of the line");
}

/* ----------------------------------------------------------- the forms */

static int
logalloc_probe(struct tel_reader *r)
{
	return al_probe(r, &al_logalloc);
}

static tel_status
logalloc_open(struct tel_reader *r, const char *as)
{
	(void)as;
	return al_open(r, &al_logalloc);
}

const struct tel_form tel_form_logalloc = { "logalloc", logalloc_probe,
	logalloc_open, al_next, al_close };

const struct al_dialect al_logalloc = {
	.form = &tel_form_logalloc,
	.what = "LogAlloc",
	.parse = logalloc_parse,
	.types = C_TYPES,
	.all = "pt",
	.score = 90,
};

static int
valgrind_probe(struct tel_reader *r)
{
	return al_probe(r, &al_valgrind);
}

static tel_status
valgrind_open(struct tel_reader *r, const char *as)
{
	(void)as;
	return al_open(r, &al_valgrind);
}

const struct tel_form tel_form_valgrind = { "valgrind", valgrind_probe,
	valgrind_open, al_next, al_close };

const struct al_dialect al_valgrind = {
	.form = &tel_form_valgrind,
	.what = "valgrind",
	.parse = valgrind_parse,
	.types = C_TYPES | CXX_TYPES,
	.all = "p",
	.mixed = 1,
	.score = 70,
};

static int
ltrace_probe(struct tel_reader *r)
{
	return al_probe(r, &al_ltrace);
}

static tel_status
ltrace_open(struct tel_reader *r, const char *as)
{
	(void)as;
	return al_open(r, &al_ltrace);
}

const struct tel_form tel_form_ltrace = { "ltrace", ltrace_probe, ltrace_open,
	al_next, al_close };

const struct al_dialect al_ltrace = {
	.form = &tel_form_ltrace,
	.what = "ltrace",
	.parse = ltrace_parse,
	/* posix_memalign() does not return the address of the block */
	.types = (C_TYPES | CXX_TYPES) & ~BIT(AL_POSIX_MEMALIGN),
	.all = "t",
	.mixed = 1,
	.score = 70,
};

static int
kdump_probe(struct tel_reader *r)
{
	return al_probe(r, &al_kdump);
}

static tel_status
kdump_open(struct tel_reader *r, const char *as)
{
	(void)as;
	return al_open(r, &al_kdump);
}

const struct tel_form tel_form_kdump = { "kdump", kdump_probe, kdump_open,
	al_next, al_close };

const struct al_dialect al_kdump = {
	.form = &tel_form_kdump,
	.what = "kdump",
	.parse = kdump_parse,
	.types = C_TYPES,
	.all = "pt",
	.mixed = 1,
	.score = 70,
};
