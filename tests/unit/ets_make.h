/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable text into ETS logs: tests/data/ets/README.md says what the lines
 * are.  It knows the format by its own words, not by those of the reader.
 */
#ifndef ETS_MAKE_H
#define ETS_MAKE_H

#include "words.h"

/* An entry of 48 bytes; without a text yet. */
static inline void
make_entry(struct bytes *b, const uint64_t context[8], const uint64_t arg[5])
{
	static const unsigned width[8] = { 8, 4, 2, 2, 2, 2, 2, 2 };
	unsigned i;

	b->last = b->size;
	for (i = 0; i < 6; i++)
		put_number(b, context[i], width[i], 1);
	put_number(b, 0, 4, 1);
	put_number(b, context[6], 2, 1);
	put_number(b, context[7], 2, 1);
	for (i = 0; i < 5; i++)
		put_number(b, arg[i], 4, 1);
}

/* Gives the last record another length of its text. */
static inline void
set_length(struct bytes *b, uint64_t n)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		b->data[b->last + 20 + i] = (unsigned char)(n >> 8 * i);
}

static inline void
make_sysinfo(struct bytes *b, unsigned type, uint64_t first, uint64_t second,
    const char *text)
{
	const uint64_t context[8] = { 0, 0, 0, 0, 1, type, 0, 0 };
	const uint64_t arg[5] = { first, second, 0, 0, 0 };

	make_entry(b, context, arg);
	put(b, text, strlen(text));
	set_length(b, strlen(text));
}

/* "CLOCK EIP TID PID CPU PROVIDER TYPE ARG ... | TEXT" */
static inline void
make_event(struct bytes *b, char *line, unsigned version)
{
	char *text = strchr(line, '|');
	uint64_t context[8], arg[5] = { 0 };
	unsigned i;

	if (text != NULL) {
		*text++ = '\0';
		text += *text == ' ';
	}
	for (i = 0; i < 4; i++)
		context[i] = number(&line);
	context[6] = number(&line);
	context[4] = number(&line);
	context[5] = number(&line);
	context[7] = version;
	for (i = 0; i < 5; i++)
		arg[i] = number(&line);
	make_entry(b, context, arg);
	if (text == NULL)
		return;
	put(b, text, strlen(text));
	set_length(b, strlen(text));
}

static inline void
make_hex(struct bytes *b, char *line)
{
	unsigned v;

	for (; sscanf(line, "%2x", &v) == 1; line += 2 + (line[2] == ' '))
		put_number(b, v, 1, 1);
}

static inline void
make_line(void *log, char *line)
{
	struct bytes *b = log;
	char *what = word(&line, 0);
	uint64_t n;

	if (*what == '\0' || *what == '#')
		return;
	if (strcmp(what, "speed") == 0) {
		n = number(&line);
		make_sysinfo(b, 1, n & UINT32_MAX, n >> 32, "");
	} else if (strcmp(what, "contract") == 0) {
		n = number(&line);
		make_sysinfo(b, 2, n, 0, line);
	} else if (strcmp(what, "process") == 0) {
		n = number(&line);
		make_sysinfo(b, 3, n, 0, line);
	} else if (strcmp(what, "thread") == 0) {
		n = number(&line);
		make_sysinfo(b, 4, n, number(&line), "");
	} else if (strcmp(what, "event") == 0) {
		make_event(b, line, 0);
	} else if (strcmp(what, "version") == 0) {
		n = number(&line);
		make_event(b, line, (unsigned)n);
	} else if (strcmp(what, "length") == 0) {
		set_length(b, number(&line));
	} else if (strcmp(what, "bytes") == 0) {
		make_hex(b, line);
	} else if (strcmp(what, "fill") == 0) {
		n = number(&line);
		while (n-- > 0)
			put(b, line, 1);
	} else if (strcmp(what, "cut") == 0) {
		b->size -= (size_t)number(&line);
	} else {
		fprintf(stderr, "what is a %s?\n", what);
		exit(2);
	}
}

/* Makes the log that a text of lines describes. */
static inline struct bytes
make_log(const char *text)
{
	struct bytes b = { 0 };

	each_line(text, make_line, &b);
	return b;
}

#endif
