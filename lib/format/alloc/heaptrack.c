/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw files of heaptrack. */
#include "format/alloc/alloc.h"

#include <string.h>

/* Hexadecimal numbers with blanks between them, into values. */
static enum al_line
heaptrack_numbers(struct al *s, const unsigned char *p, enum al_type kind,
    const enum al_value *values, unsigned n)
{
	s->kind = kind;
	for (unsigned i = 0; i < n; i++) {
		if (*p != ' ')
			return al_wrong(s, p, "a blank and a number");
		p++;
		if (!al_hex(&p, &s->v[values[i]]))
			return al_wrong(s, p, "a hexadecimal number");
	}
	return p == s->line.end ? AL_EVENT :
	                          al_wrong(s, p, "the end of the line");
}

static enum al_line
heaptrack_parse(struct al *s, const unsigned char *p)
{
	static const enum al_value plus[] = { AL_SIZE, AL_TRACE, AL_ADDRESS },
	                           minus[] = { AL_ADDRESS },
	                           trace[] = { AL_IP, AL_PARENT },
	                           pages[] = { AL_PAGES }, time[] = { AL_TIME };
	enum al_line line;

	switch (*p) {
	case '+': return heaptrack_numbers(s, p + 1, AL_TRACED, plus, 3);
	case '-': return heaptrack_numbers(s, p + 1, AL_FREE, minus, 1);
	case 't':
		/* an invalid one has a number, too */
		s->v[AL_NUMBER] = ++s->past.frames;
		return heaptrack_numbers(s, p + 1, AL_BACKTRACE, trace, 2);
	case 'R': return heaptrack_numbers(s, p + 1, AL_RESIDENT, pages, 1);
	case 'c':
		line = heaptrack_numbers(s, p + 1, AL_CLOCK, time, 1);
		if (line == AL_EVENT && s->v[AL_TIME] > UINT64_MAX / 1000000)
			return al_wrong(s, p, "a valid time");
		s->has_time = line == AL_EVENT;
		s->time = s->v[AL_TIME] * 1000000;
		return line;
	case 'v':
	case 'x':
	case 'X':
	case 'I':
	case 'm':
	case 'S':
	case 'A':
		s->kind = AL_NOTE;
		s->text = p;
		s->text_size = (size_t)(s->line.end - p);
		if (s->line.end - p < 2 ? *p != 'A' : p[1] != ' ')
			return al_wrong(s, p, "a blank after the letter");
		if (memchr(p, 0, s->text_size) != NULL)
			return al_wrong(s, p, "a line without a byte of 0");
		return AL_EVENT;
	case 's':
		/* other files begin with strings, which raw ones lack */
		if (p[1] == ' ' && s->past.frames == 0)
			return AL_INTERPRETED;
		/* fall through */
	default: return al_wrong(s, p, "a letter that heaptrack writes");
	}
}

const struct al_dialect tel__al_heaptrack = {
	.name = "heaptrack",
	.what = "heaptrack",
	.parse = heaptrack_parse,
	.types = AL_BIT(AL_TRACED) | AL_BIT(AL_FREE) | AL_BIT(AL_BACKTRACE) |
	    AL_BIT(AL_CLOCK) | AL_BIT(AL_RESIDENT) | AL_BIT(AL_NOTE),
	.all = "",
	.timed = 1,
	.score = 95,
};
