/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of heaptrack: the raw trace, and what heaptrack makes of it by default,
 * the data.  These have names of functions, and no addresses of blocks: a line
 * allocates or frees a block of a size and a backtrace, which a line before
 * defines (heaptrack's src/interpret/heaptrack_interpret.cpp and
 * src/analyze/accumulatedtracedata.cpp).
 */
#include "format/alloc/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"

/* An instruction, or a size with a backtrace. */
struct definition {
	uint64_t value;  /* its address, or the size */
	uint64_t live;   /* blocks of the size */
	uint32_t number; /* of the backtrace */
	uint32_t count;  /* of an instruction's numbers */
	size_t first;    /* of them */
};

struct definitions {
	struct definition *list;
	size_t count, room;
};

struct al_definitions {
	uint64_t format;          /* strings have their length from 3 on */
	struct tel__buffer bytes; /* of all strings */
	size_t *ends;             /* of each of them */
	size_t nstrings, string_room;
	uint32_t *numbers; /* of instructions: a module, and then functions */
	size_t nnumbers, number_room;
	struct definitions instructions, sizes;
	struct tel__buffer label; /* of the last backtrace */
};

struct al_definitions *
tel__al_definitions_new(void)
{
	return calloc(1, sizeof(struct al_definitions));
}

void
tel__al_definitions_free(struct al_definitions *d)
{
	if (d == NULL)
		return;
	tel__buffer_clear(&d->bytes);
	tel__buffer_clear(&d->label);
	free(d->ends);
	free(d->numbers);
	free(d->instructions.list);
	free(d->sizes.list);
	free(d);
}

/* ------------------------------------------------------------------- lines */

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

/* A line about the program and the trace, as text. */
static enum al_line
heaptrack_note(struct al *s, const unsigned char *p)
{
	s->kind = AL_NOTE;
	s->text = p;
	s->text_size = (size_t)(s->line.end - p);
	if (s->line.end - p < 2 ? *p != 'A' : p[1] != ' ')
		return al_wrong(s, p, "a blank after the letter");
	if (memchr(p, 0, s->text_size) != NULL)
		return al_wrong(s, p, "a line without a byte of 0");
	return AL_EVENT;
}

/* The lines that both files have. */
static enum al_line
heaptrack_common(struct al *s, const unsigned char *p)
{
	static const enum al_value pages[] = { AL_PAGES }, time[] = { AL_TIME };
	enum al_line line;

	switch (*p) {
	case 'R': return heaptrack_numbers(s, p + 1, AL_RESIDENT, pages, 1);
	case 'c':
		line = heaptrack_numbers(s, p + 1, AL_CLOCK, time, 1);
		if (line == AL_EVENT && s->v[AL_TIME] > UINT64_MAX / 1000000)
			return al_wrong(s, p, "a valid time");
		s->has_time = line == AL_EVENT;
		s->time = s->v[AL_TIME] * 1000000;
		return line;
	case 'v':
	case 'X':
	case 'I':
	case 'S':
	case 'A': return heaptrack_note(s, p);
	default: return al_wrong(s, p, "a letter that heaptrack writes");
	}
}

static enum al_line
heaptrack_parse(struct al *s, const unsigned char *p)
{
	static const enum al_value plus[] = { AL_SIZE, AL_TRACE, AL_ADDRESS },
	                           minus[] = { AL_ADDRESS },
	                           trace[] = { AL_IP, AL_PARENT };

	switch (*p) {
	case '+': return heaptrack_numbers(s, p + 1, AL_TRACED, plus, 3);
	case '-': return heaptrack_numbers(s, p + 1, AL_FREE, minus, 1);
	case 't':
		/* an invalid one has a number, too */
		s->v[AL_NUMBER] = ++s->past.frames;
		return heaptrack_numbers(s, p + 1, AL_BACKTRACE, trace, 2);
	case 'x':
	case 'm': return heaptrack_note(s, p);
	default: return heaptrack_common(s, p);
	}
}

/* -------------------------------------------------------------------- data */

/* The next number of a line, at a blank. */
static int
data_number(const unsigned char **p, uint64_t *out)
{
	if (**p != ' ')
		return 0;
	++*p;
	return al_hex(p, out);
}

/* "v VERSION FORMAT" */
static enum al_line
data_version(struct al *s, const unsigned char *p)
{
	const unsigned char *at = p + 1;
	uint64_t version, format = 0;

	if (s->definitions != NULL && data_number(&at, &version) &&
	    data_number(&at, &format))
		s->definitions->format = format;
	return heaptrack_note(s, p);
}

/* "s TEXT", or "s LENGTH TEXT" */
static enum al_line
data_string(struct al *s, const unsigned char *p)
{
	struct al_definitions *d = s->definitions;
	const unsigned char *at = p + 1;
	uint64_t length;
	enum al_line line = heaptrack_note(s, p);

	if (d == NULL)
		return line;
	if (line == AL_EVENT && d->format >= 3 &&
	    (!data_number(&at, &length) || *at != ' '))
		line = al_wrong(s, p, "the length of a string");
	/* an invalid one has a number, too */
	if (line == AL_EVENT)
		tel__buffer_put(&d->bytes, at + 1,
		    (size_t)(s->line.end - at - 1));
	if (d->bytes.failed ||
	    !TEL__RESERVE(d->ends, d->string_room, d->nstrings + 1))
		return AL_NO_MEMORY;
	d->ends[d->nstrings++] = d->bytes.used;
	return line;
}

static struct definition *
definitions_add(struct definitions *all)
{
	if (!TEL__RESERVE(all->list, all->room, all->count + 1))
		return NULL;
	struct definition *of = &all->list[all->count++];
	memset(of, 0, sizeof(*of));
	return of;
}

/* "i ADDRESS MODULE [FUNCTION [FILE LINE [FUNCTION FILE LINE]...]]" */
static enum al_line
data_instruction(struct al *s, const unsigned char *p)
{
	struct al_definitions *d = s->definitions;
	const unsigned char *at = p + 1;
	uint64_t ip, n;

	if (!data_number(&at, &ip))
		return al_wrong(s, p, "the address of an instruction");
	if (d == NULL)
		return heaptrack_note(s, p);
	struct definition *of = definitions_add(&d->instructions);
	if (of == NULL)
		return AL_NO_MEMORY;
	of->value = ip;
	of->first = d->nnumbers;
	while (data_number(&at, &n)) {
		/* the third of each function is a line */
		if (n > (of->count > 0 && of->count % 3 == 0 ? UINT32_MAX :
		                                               d->nstrings))
			return al_wrong(s, p, "strings that were defined");
		if (!TEL__RESERVE(d->numbers, d->number_room, d->nnumbers + 1))
			return AL_NO_MEMORY;
		d->numbers[d->nnumbers++] = (uint32_t)n;
		of->count++;
	}
	return at == s->line.end ? heaptrack_note(s, p) :
	                           al_wrong(s, at, "a blank and a number");
}

/* "a SIZE BACKTRACE" */
static enum al_line
data_size(struct al *s, const unsigned char *p)
{
	const unsigned char *at = p + 1;
	uint64_t size = 0, trace = 0;
	const int valid = data_number(&at, &size) && data_number(&at, &trace) &&
	    trace <= UINT32_MAX && at == s->line.end;

	if (s->definitions != NULL) {
		struct definition *of = definitions_add(&s->definitions->sizes);

		if (of == NULL)
			return AL_NO_MEMORY;
		of->value = size;
		of->number = (uint32_t)trace;
	}
	return valid ? heaptrack_note(s, p) :
	               al_wrong(s, p, "a size and a backtrace");
}

/* Adds a string, of those that are numbered from 1, to the label. */
static void
label_put(struct al_definitions *d, uint32_t n)
{
	const size_t start = n < 2 ? 0 : d->ends[n - 2];

	if (n == 0)
		tel__buffer_put(&d->label, "?", 1);
	/* without a byte in any string, there is nowhere to start from */
	else if (d->ends[n - 1] > start)
		tel__buffer_put(&d->label, d->bytes.bytes + start,
		    d->ends[n - 1] - start);
}

/*
 * The name of an instruction as telrec(1) writes it, from the innermost function
 * on; without one, that of the module.  0: no memory.
 */
static int
label_make(struct al *s, const struct definition *of)
{
	struct al_definitions *d = s->definitions;
	const uint32_t *n = of->count == 0 ? NULL : d->numbers + of->first;
	char line[24];

	d->label.used = 0;
	if (of->count == 1)
		label_put(d, n[0]);
	/* more of them, of long names, have no room */
	for (uint32_t i = 1; i < of->count && d->label.used <= AL_NAME_MAX;
	     i += 3) {
		if (i > 1)
			tel__buffer_put(&d->label, " <- ", 4);
		label_put(d, n[i]);
		if (i + 2 >= of->count)
			continue;
		tel__buffer_put(&d->label, " at ", 4);
		label_put(d, n[i + 1]);
		tel__buffer_put(&d->label, line,
		    (size_t)snprintf(line, sizeof(line), ":%u", n[i + 2]));
	}
	size_t size = d->label.used;
	if (size > AL_NAME_MAX)
		for (size = AL_NAME_MAX;
		     size > 0 && (d->label.bytes[size] & 0xC0) == 0x80; size--)
			continue;
	s->text = d->label.bytes;
	s->text_size = size;
	return !d->label.failed;
}

/* "t INSTRUCTION PARENT" */
static enum al_line
data_backtrace(struct al *s, const unsigned char *p)
{
	static const enum al_value trace[] = { AL_IP, AL_PARENT };
	const struct al_definitions *d = s->definitions;
	enum al_line line;

	/* an invalid one has a number, too */
	s->v[AL_NUMBER] = ++s->past.frames;
	line = heaptrack_numbers(s, p + 1, AL_BACKTRACE, trace, 2);
	if (line != AL_EVENT || d == NULL)
		return line;
	const uint64_t n = s->v[AL_IP];
	if (n == 0 || n > d->instructions.count)
		return al_wrong(s, p, "an instruction that was defined");
	s->v[AL_IP] = d->instructions.list[n - 1].value;
	return label_make(s, &d->instructions.list[n - 1]) ? AL_EVENT :
	                                                     AL_NO_MEMORY;
}

/*
 * "+ N", "- N": a block of a size, counted from 0, is allocated, or the newest
 * such block freed: which of them it is, the file does not have.
 */
static enum al_line
data_block(struct al *s, const unsigned char *p)
{
	static const enum al_value id[] = { AL_ID };
	const struct al_definitions *d = s->definitions;
	const int frees = *p == '-';
	const enum al_line line = heaptrack_numbers(s, p + 1,
	    frees ? AL_ID_FREE : AL_ID_TRACED, id, 1);

	if (line != AL_EVENT || d == NULL)
		return line;
	const uint64_t n = s->v[AL_ID];
	if (n >= d->sizes.count || n > UINT32_MAX)
		return al_wrong(s, p, "a size that was defined");
	struct definition *of = &d->sizes.list[n];
	of->live += !frees;
	s->v[AL_ID] = n << 32 | (uint32_t)of->live;
	s->v[AL_SIZE] = of->value;
	s->v[AL_TRACE] = of->number;
	of->live -= frees && of->live > 0;
	return AL_EVENT;
}

static enum al_line
data_parse(struct al *s, const unsigned char *p)
{
	switch (*p) {
	case 'v': return data_version(s, p);
	case 's': return data_string(s, p);
	case 'i': return data_instruction(s, p);
	case 'a': return data_size(s, p);
	case 't': return data_backtrace(s, p);
	case '+':
	case '-': return data_block(s, p);
	default: return heaptrack_common(s, p);
	}
}

const struct al_dialect tel__al_heaptrack_data = {
	.name = "heaptrack-data",
	.what = "heaptrack",
	.parse = data_parse,
	.types = AL_BIT(AL_ID_TRACED) | AL_BIT(AL_ID_FREE) |
	    AL_BIT(AL_BACKTRACE) | AL_BIT(AL_CLOCK) | AL_BIT(AL_RESIDENT) |
	    AL_BIT(AL_NOTE),
	.all = "",
	.timed = 1,
	.score = 96,
	.stateful = 1,
	.defines = 1,
};

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
