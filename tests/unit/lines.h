/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the forms of lines share: reading a text to its end. */
#ifndef TEST_LINES_H
#define TEST_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/mps/mps.h"
#include "reader/reader.h"
#include "reading.h"
#include "tap.h"

#define CLK "0000061B51636E8B "

/* A text that is read, and how. */
struct source {
	const char *text;
	size_t size;
	size_t at;
	size_t piece; /* bytes given at a time; 0: all in one window */
	const char *as;
	int strict;
};

/* What came of it. */
struct result {
	char *events;  /* a line for each, with all its values */
	char *notices; /* a line for each */
	tel_status status;
	uint64_t count[TEL_COUNT_LOGS + 1];
	char form[8];
};

static inline ptrdiff_t
give(void *arg, void *buffer, size_t size)
{
	struct source *s = arg;
	size_t n = s->size - s->at;

	n = n > size ? size : n;
	n = s->piece > 0 && n > s->piece ? s->piece : n;
	memcpy(buffer, s->text + s->at, n);
	s->at += n;
	return (ptrdiff_t)n;
}

static inline void
dump(FILE *f, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	const unsigned char *bytes;
	const char *s;
	unsigned i;
	size_t n, j;

	fprintf(f, "%016llX %s", (unsigned long long)tel_event_clock(ev),
	    tel_type_name(t));
	bytes = tel_event_bytes(ev, &n);
	if (tel_type_unknown(t))
		for (j = ev->type->schema->header; j < n; j++)
			fprintf(f, "%s%02x",
			    j == ev->type->schema->header ? " " : "", bytes[j]);
	for (i = 0; i < tel_type_field_count(t); i++) {
		s = tel_event_string(ev, i, &n);
		if (s == NULL) {
			fprintf(f, " %llx",
			    (unsigned long long)tel_event_u64(ev, i));
			continue;
		}
		putc(' ', f);
		for (j = 0; j < n; j++)
			fprintf(f, "%02x", (unsigned char)s[j]);
	}
	putc('\n', f);
}

/* Reads src to its end.  Free the result with drop(). */
static inline struct result
read_source(struct source src)
{
	struct result res = { 0 };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	size_t n, m;
	FILE *events = open_memstream(&res.events, &n);
	FILE *notices = open_memstream(&res.notices, &m);
	int i;

	if (r == NULL || events == NULL || notices == NULL)
		exit(1);
	tel_reader_set_notify(r, take_notice, notices);
	tel_reader_set(r, TEL_READ_STRICT, src.strict);
	if (tel_reader_set_as(r, src.as) != TEL_OK)
		exit(1);
	if (src.piece > 0) {
		if (tel_reader_set(r, TEL_READ_SIZE, (int64_t)src.piece) !=
		    TEL_OK)
			exit(1);
		res.status = tel_reader_open_callback(r, give, &src, "x");
	} else {
		res.status = tel_reader_open_memory(r, src.text, src.size, "x");
	}
	if (res.status == TEL_OK) {
		snprintf(res.form, sizeof(res.form), "%s",
		    tel_reader_format(r));
		while ((res.status = tel_reader_next(r, &ev)) == TEL_OK)
			dump(events, ev);
	}
	for (i = 0; i <= TEL_COUNT_LOGS; i++)
		res.count[i] = tel_reader_count(r, (tel_count)i);
	tel_reader_free(r);
	fclose(events);
	fclose(notices);
	return res;
}

static inline struct result
read_as(const char *text, const char *as)
{
	struct source src = { text, strlen(text), 0, 0, as, 0 };

	return read_source(src);
}

static inline void
drop(struct result res)
{
	free(res.events);
	free(res.notices);
}

/* The events of text, read as as, are want. */
static inline void
events_are(const char *text, const char *as, const char *want, const char *what)
{
	struct result res = read_as(text, as);

	same(res.events, want, what);
	drop(res);
}

#endif
