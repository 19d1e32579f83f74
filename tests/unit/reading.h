/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests share that read a log: pieces of it, notices, comparing text. */
#ifndef READING_H
#define READING_H

#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "tel.h"

/* A log that comes in pieces. */
struct feed {
	const unsigned char *data;
	size_t size, at, piece;
};

static inline ptrdiff_t
feed_read(void *arg, void *buffer, size_t size)
{
	struct feed *f = arg;
	size_t n = f->size - f->at;

	n = n > size ? size : n;
	n = n > f->piece ? f->piece : n;
	memcpy(buffer, f->data + f->at, n);
	f->at += n;
	return (ptrdiff_t)n;
}

static inline void
take_notice(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	(void)log;
	fprintf(arg, "%c%llu %s\n", "IWD"[severity], (unsigned long long)offset,
	    text);
}

/* Good when the texts are equal; shows the first line that differs. */
static inline void
same(const char *got, const char *want, const char *what)
{
	size_t i, line = 0;

	if (ok(strcmp(got, want) == 0, "%s", what))
		return;
	for (i = 0; got[i] != '\0' && got[i] == want[i]; i++)
		line = got[i] == '\n' ? i + 1 : line;
	diag("     got: %.*s", (int)strcspn(got + line, "\n"), got + line);
	diag("expected: %.*s", (int)strcspn(want + line, "\n"), want + line);
}

/* Good when text has part in it. */
static inline void
has(const char *text, const char *part, const char *what)
{
	if (!ok(strstr(text, part) != NULL, "%s", what)) {
		diag("     got: %s", text);
		diag("expected: %s", part);
	}
}

/* How many times c is in s. */
static inline unsigned
count_of(const char *s, char c)
{
	unsigned n = 0;

	for (; *s != '\0'; s++)
		n += *s == c;
	return n;
}

#endif
