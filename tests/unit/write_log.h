/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of writers share: small logs made by hand, and reading. */
#ifndef WRITE_LOG_H
#define WRITE_LOG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/encode.h"
#include "model/event.h"
#include "tap.h"
#include "tel.h"

#define AS "mps-1.118.0/lii6gc"

/* Bytes that grow. */
struct bytes {
	unsigned char data[1 << 16];
	size_t size;
};

static inline ptrdiff_t
put_bytes(void *arg, const void *data, size_t size)
{
	struct bytes *b = arg;

	if (size > sizeof(b->data) - b->size)
		return -1;
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return (ptrdiff_t)size;
}

/* Adds an event: its name, clock, values in order, and its string. */
static inline void
add(struct bytes *b, const tel_schema *s, const char *name, uint64_t clock,
    const uint64_t *values, const char *string)
{
	const struct tel_type *t = tel_schema_find_type(s, name);
	unsigned char *p = b->data + b->size;
	uint32_t size;
	unsigned i;

	if (t == NULL || sizeof(b->data) - b->size < 1024)
		abort();
	size = t->size;
	if (t->has_string)
		size = tel__encode_size(s, t, &t->fields[t->nfields - 1],
		    strlen(string));
	memset(p, 0, size);
	tel__encode_header(s, p, t->code, size, clock);
	for (i = 0; i < t->nfields; i++) {
		if (t->fields[i].datatype == TEL_STRING)
			memcpy(p + t->fields[i].offset, string, strlen(string));
		else
			tel_encode_field(&t->fields[i], values[i], p);
	}
	b->size += size;
}

static inline void
add_intern(struct bytes *b, const tel_schema *s, uint64_t clock, uint64_t id,
    const char *string)
{
	add(b, s, "Intern", clock, (uint64_t[]){ id }, string);
}

static inline void
add_label(struct bytes *b, const tel_schema *s, uint64_t clock,
    uint64_t address, uint64_t id)
{
	add(b, s, "Label", clock, (uint64_t[]){ address, id }, "");
}

static inline void
add_free(struct bytes *b, const tel_schema *s, uint64_t clock, uint64_t address)
{
	add(b, s, "PoolFree", clock, (uint64_t[]){ 1, address, 8 }, "");
}

static inline tel_reader *
open_bytes(const void *data, size_t size, const char *as, const char *name)
{
	tel_reader *r = tel_reader_new();

	if (r == NULL || tel_reader_set_as(r, as) != TEL_OK ||
	    tel_reader_open_memory(r, data, size, name) != TEL_OK)
		abort();
	return r;
}

/*
 * A log as text, one word an event: the first letters of its name, its clock,
 * and its first address with the label.  Free it.
 */
static inline char *
outline(const struct bytes *b)
{
	static const char *const lines[] = { "Intern", "Label", "EventInit",
		"EventClockSync", "PoolFree" };
	static const char *const words[] = { "I", "L", "E", "S", "F" };
	tel_reader *r = open_bytes(b->data, b->size, AS, "out");
	const tel_event *ev;
	tel_status st;
	size_t n, length;
	char *text = NULL;
	FILE *f = open_memstream(&text, &n);

	while ((st = tel_reader_next(r, &ev)) == TEL_OK) {
		const char *name = tel_type_name(tel_event_type(ev));
		const char *label;
		size_t i;

		for (i = 0; i < 5; i++)
			if (strcmp(name, lines[i]) == 0)
				name = words[i];
		fprintf(f, "%s%s%llu", ftell(f) > 0 ? " " : "", name,
		    (unsigned long long)tel_event_clock(ev));
		if (strcmp(name, "I") == 0) {
			label = tel_event_string(ev, 1, &length);
			fprintf(f, "=%.*s", (int)length, label);
		}
		label = tel_event_label(ev, strcmp(name, "L") == 0 ? 0 : 1,
		    &length);
		if (label != NULL)
			fprintf(f, "[%.*s]", (int)length, label);
		fflush(f);
	}
	if (tel_reader_count(r, TEL_COUNT_DAMAGED) > 0)
		fprintf(f, " damaged");
	fclose(f);
	tel_reader_free(r);
	return text;
}

#endif
