/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dialects of which each line is an operation: Android's memory_replay,
 * mtrace(3) of glibc, and the traces of the malloc lab of CS:APP.
 */
#include "format/alloc/alloc.h"

#include <string.h>

/* ------------------------------------------------------------- Android */

#define NAME(name) name, sizeof(name) - 1, 0

static const struct al_call android_calls[] = {
	{ NAME("free"), AL_FREE, "a" },
	{ NAME("malloc"), AL_MALLOC, "as" },
	{ NAME("calloc"), AL_CALLOC, "acs" },
	{ NAME("realloc"), AL_REALLOC, "aos" },
	{ NAME("memalign"), AL_MEMALIGN, "als" },
	{ NAME("aligned_alloc"), AL_ALIGNED_ALLOC, "als" },
	{ NAME("thread_done"), AL_THREAD_DONE, "-" },
};

/* When the call began and ended, in ns; thread_done has one time only. */
static enum al_line
android_time(struct al *s, const unsigned char *p)
{
	uint64_t start, end;

	s->v[AL_DURATION] = 0;
	if (p == s->line.end)
		return AL_EVENT;
	if (*p != ' ')
		return al_wrong(s, p, "a blank");
	p++;
	if (!al_decimal(&p, &start))
		return al_wrong(s, p, "a time");
	end = start;
	if (*p == ' ' && p < s->line.end) {
		p++;
		if (!al_decimal(&p, &end))
			return al_wrong(s, p, "a time");
	}
	if (p != s->line.end)
		return al_wrong(s, p, "the end of the line");
	s->has_time = 1;
	s->time = end;
	s->v[AL_DURATION] = end > start ? end - start : 0;
	return AL_EVENT;
}

/* "TID: malloc 0xADDRESS SIZE [START END]". */
static enum al_line
android_parse(struct al *s, const unsigned char *p)
{
	const unsigned char *name;
	uint64_t spare;

	if (!al_short_decimal(s, &p, &s->v[AL_TID]) || *p != ':')
		return al_wrong(s, p, "the number of a thread and a colon");
	p += p[1] == ' ' ? 2 : 1;
	for (name = p; *p > ' '; p++)
		continue;
	const struct al_call *call = tel__al_find(android_calls,
	    sizeof(android_calls) / sizeof(android_calls[0]), name,
	    (size_t)(p - name));
	if (call == NULL)
		return al_wrong(s, name, "the name of an operation");
	for (const char *letter = call->arguments; *letter != '\0'; letter++) {
		if (*p != ' ')
			return al_wrong(s, p, "a blank and a number");
		p++;
		enum al_value v = al_letter(*letter);
		if (!al_number(s, &p, v < AL_VALUES ? &s->v[v] : &spare))
			return al_wrong(s, p, "a number");
	}
	s->kind = (enum al_type)call->type;
	return android_time(s, p);
}

/* -------------------------------------------------------------- mtrace */

/*
 * "@ OBJECT:(SYMBOL+OFFSET)[0xADDRESS] ", the caller; it may be missing.
 * Returns where the operation is, or NULL.
 */
static const unsigned char *
mtrace_caller(struct al *s, const unsigned char *p)
{
	const unsigned char *q, *end;

	s->v[AL_CALLER] = 0;
	if (*p != '@')
		return p;
	if (p[1] != ' ')
		return NULL;
	for (q = p += 2; q < s->line.end; q++) {
		if (*q != '[')
			continue;
		end = q + 1;
		if (al_number(s, &end, &s->v[AL_CALLER]) && *end == ']' &&
		    end[1] == ' ')
			break;
	}
	if (q >= s->line.end)
		return NULL;
	s->text = p;
	s->text_size = (size_t)(q - p);
	/* without a symbol, the address tells the callers of an object apart */
	if (s->text_size > 0 && q[-1] == ':')
		s->text_size = (size_t)(end + 1 - p);
	if (s->text_size > AL_LABEL_MAX)
		s->text_size = AL_LABEL_MAX;
	return end + 2;
}

/* "+ 0xADDRESS 0xSIZE" and the like, with both numbers or the first alone. */
static enum al_line
mtrace_numbers(struct al *s, const unsigned char *p, enum al_value first,
    int both)
{
	if (*p != ' ')
		return al_wrong(s, p, "a blank and an address");
	p++;
	/* a list in some other text has numbers, too */
	if ((p[0] != '0' || p[1] != 'x') && *p != '(')
		return al_wrong(s, p, "an address");
	if (!al_number(s, &p, &s->v[first]))
		return al_wrong(s, p, "an address");
	if (both) {
		if (*p != ' ')
			return al_wrong(s, p, "a blank and a size");
		p++;
		if (!al_number(s, &p, &s->v[AL_SIZE]))
			return al_wrong(s, p, "a size");
	}
	return p == s->line.end ? AL_EVENT :
	                          al_wrong(s, p, "the end of the line");
}

/* The first line and the last one. */
static int
is_frame(const struct al *s, const unsigned char *p)
{
	return (s->line.end - p == 7 && memcmp(p, "= Start", 7) == 0) ||
	    (s->line.end - p == 5 && memcmp(p, "= End", 5) == 0);
}

static enum al_line
mtrace_parse(struct al *s, const unsigned char *p)
{
	enum al_line line;

	if (*p == '=' && is_frame(s, p))
		return AL_COMMENT;
	const unsigned char *q = mtrace_caller(s, p);
	if (q == NULL)
		return al_wrong(s, p, "@ and where the call was made");
	if (s->second && *q != '>')
		return al_wrong(s, q, "> and the block that it became");
	switch (*q) {
	case '+':
		s->kind = AL_MALLOC;
		return mtrace_numbers(s, q + 1, AL_ADDRESS, 1);
	case '-':
		s->kind = AL_FREE;
		return mtrace_numbers(s, q + 1, AL_ADDRESS, 0);
	case '<':
		line = mtrace_numbers(s, q + 1, AL_OLD, 0);
		return line == AL_EVENT ? AL_MORE : line;
	case '>':
		if (!s->second)
			return al_wrong(s, q, "a line with < before it");
		s->kind = AL_REALLOC;
		return mtrace_numbers(s, q + 1, AL_ADDRESS, 1);
	case '!':
		s->kind = AL_REALLOC;
		s->v[AL_ADDRESS] = 0;
		return mtrace_numbers(s, q + 1, AL_OLD, 1);
	default: return al_wrong(s, q, "one of + - < > !");
	}
}

/* -------------------------------------------------------------- CS:APP */

/* The number of a block; -1 is that of NULL. */
static int
rep_id(const unsigned char **p, uint64_t *out)
{
	if ((*p)[0] == '-' && (*p)[1] == '1') {
		*p += 2;
		*out = UINT64_MAX;
		return 1;
	}
	return al_decimal(p, out) && *out < INT64_MAX;
}

/*
 * Four lines of one number each - bytes of heap, blocks, operations, weight -
 * and then "a ID BYTES", "r ID BYTES" and "f ID".
 */
static enum al_line
rep_parse(struct al *s, const unsigned char *p)
{
	const unsigned char *start = p;
	uint64_t n;

	if (s->operations == 0 && al_decimal(&p, &n)) {
		while (*p == ' ' || *p == '\t')
			p++;
		if (p != s->line.end || ++s->past.headers > 4)
			return al_wrong(s, start, "an operation");
		s->past.promised = s->past.headers == 3 ? n : s->past.promised;
		return AL_COMMENT;
	}
	s->kind = *p == 'a' ? AL_ID_MALLOC :
	    *p == 'r'       ? AL_ID_REALLOC :
	                      AL_ID_FREE;
	if ((*p != 'a' && *p != 'r' && *p != 'f') || p[1] != ' ')
		return al_wrong(s, p, "a, r or f, and a blank");
	p += 2;
	if (!rep_id(&p, &s->v[AL_ID]))
		return al_wrong(s, p, "the number of a block");
	if (s->kind != AL_ID_FREE) {
		if (*p != ' ')
			return al_wrong(s, p, "a blank and a size");
		p++;
		if (!al_decimal(&p, &s->v[AL_SIZE]))
			return al_wrong(s, p, "a size");
	}
	while (*p == ' ' || *p == '\t')
		p++;
	return p == s->line.end ? AL_EVENT :
	                          al_wrong(s, p, "the end of the line");
}

/* -------------------------------------------------------- the dialects */

const struct al_dialect tel__al_android = {
	.name = "android",
	.what = "a trace of Android",
	.parse = android_parse,
	.types = AL_BIT(AL_MALLOC) | AL_BIT(AL_CALLOC) | AL_BIT(AL_REALLOC) |
	    AL_BIT(AL_MEMALIGN) | AL_BIT(AL_ALIGNED_ALLOC) | AL_BIT(AL_FREE) |
	    AL_BIT(AL_THREAD_DONE),
	.all = "td",
	.score = 90,
};

const struct al_dialect tel__al_mtrace = {
	.name = "mtrace",
	.what = "mtrace",
	.parse = mtrace_parse,
	.types = AL_BIT(AL_MALLOC) | AL_BIT(AL_REALLOC) | AL_BIT(AL_FREE),
	.all = "w",
	.score = 90,
};

const struct al_dialect tel__al_rep = {
	.name = "rep",
	.what = "a trace of CS:APP",
	.parse = rep_parse,
	.types =
	    AL_BIT(AL_ID_MALLOC) | AL_BIT(AL_ID_REALLOC) | AL_BIT(AL_ID_FREE),
	.all = "",
	.score = 90,
};
