/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of MPS streams share: loading, making and reading them. */
#ifndef MPS_STREAM_H
#define MPS_STREAM_H

#include "tap.h"

#include <stdlib.h>

#include "format/mps/mps.h"
#include "model/event.h"
#include "tel.h"

struct bytes {
	unsigned char *data;
	size_t size;
	size_t room;
};

static inline void
append(struct bytes *b, const void *data, size_t n)
{
	if (b->size + n > b->room) {
		b->room = (b->size + n) * 2;
		b->data = realloc(b->data, b->room);
		if (b->data == NULL)
			abort();
	}
	memcpy(b->data + b->size, data, n);
	b->size += n;
}

/* All bytes of a log of the shipped ones, as they were written. */
static inline struct bytes
load(const char *name)
{
	struct bytes b = { NULL, 0, 0 };
	const tel_event *ev;
	tel_reader *r = tel_reader_new();
	const void *data;
	char path[256];
	size_t n;

	snprintf(path, sizeof(path), "tests/data/mps/%s.log.zst", name);
	if (r == NULL || tel_reader_open_file(r, path) != TEL_OK)
		diag("%s: %s", path, tel_reader_error(r));
	while (tel_reader_next(r, &ev) == TEL_OK) {
		data = tel_event_bytes(ev, &n);
		append(&b, data, n);
	}
	tel_reader_free(r);
	return b;
}

/* What a reading of some bytes came to. */
struct reading {
	tel_status status;
	char schema[48];
	char type[48]; /* of the first event */
	uint64_t events;
	uint64_t hash; /* of all types, clocks and values, in order */
	uint64_t skipped, repaired, unknown, damaged, warnings;
};

static inline uint64_t
mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x100000001b3u + (h >> 29);
}

static inline uint64_t
hash_event(uint64_t h, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	const char *s;
	size_t n, j;
	unsigned i;

	h = mix(mix(h, tel_event_clock(ev)), tel_type_code(t));
	for (i = 0; i < tel_type_field_count(t); i++) {
		h = mix(h, tel_event_u64(ev, i));
		s = tel_event_string(ev, i, &n);
		for (j = 0; s != NULL && j < n; j++)
			h = mix(h, (unsigned char)s[j]);
	}
	return h;
}

static inline void
count_warnings(void *arg, tel_severity severity, const char *log,
    uint64_t offset, const char *text)
{
	struct reading *got = arg;

	(void)log;
	(void)offset;
	(void)text;
	got->warnings += severity == TEL_WARNING;
}

static inline struct reading
read_all(const void *data, size_t size, const char *as, size_t read_size,
    int force)
{
	struct reading got;
	const tel_event *ev;
	tel_reader *r = tel_reader_new();

	memset(&got, 0, sizeof(got));
	if (r == NULL || tel_reader_set_as(r, as) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_SIZE, (int64_t)read_size) != TEL_OK)
		abort();
	tel_reader_set(r, TEL_READ_FORCE, force);
	tel_reader_set_notify(r, count_warnings, &got);
	got.status = tel_reader_open_memory(r, data, size, NULL);
	if (got.status == TEL_OK)
		snprintf(got.schema, sizeof(got.schema), "%s",
		    tel_schema_name(tel_reader_schema(r)));
	while (got.status == TEL_OK &&
	    (got.status = tel_reader_next(r, &ev)) == TEL_OK) {
		if (got.events++ == 0)
			snprintf(got.type, sizeof(got.type), "%s",
			    tel_type_name(tel_event_type(ev)));
		got.hash = hash_event(got.hash, ev);
	}
	got.skipped = tel_reader_count(r, TEL_COUNT_SKIPPED);
	got.repaired = tel_reader_count(r, TEL_COUNT_REPAIRED);
	got.unknown = tel_reader_count(r, TEL_COUNT_UNKNOWN);
	got.damaged = tel_reader_count(r, TEL_COUNT_DAMAGED);
	tel_reader_free(r);
	return got;
}

/* A value that fields of this kind have, some at the limits of the likely. */
static inline uint64_t
likely_value(const struct tel_schema *s, const struct tel_field *f, unsigned n)
{
	static const double doubles[] = { 0, 1e-11, 0.5, -0.75, 9e17 };
	static const uint64_t words[] = { 0, 5, UINT32_MAX, (uint64_t)1 << 47,
		UINT64_MAX };
	static const uint64_t pointers[] = { 0, 0x1000, 0x7f0012345678,
		0x56781000, ((uint64_t)1 << 47) - 1 };

	switch (f->letter) {
	case 'P':
	case 'A': return pointers[n % 5];
	case 'B': return n % 2;
	case 'D': return tel_double_bits(doubles[n % 5]);
	case 'U': return strcmp(f->name, "rank") == 0 ? n % 4 : n % 5 * 0x3fff;
	default:
		return words[n % 5] &
		    (s->abi.word == 4 ? INT32_MAX : UINT64_MAX);
	}
}

/* An event of a type, as it is in a stream. */
static inline size_t
make_event(const struct tel_type *t, unsigned n, uint64_t clock,
    unsigned char *out)
{
	const struct tel_schema *s = t->schema;
	const struct tel_field *f;
	uint64_t v;
	unsigned i;

	memset(out, 0, t->size);
	tel_store(out, t->code, 2, 0);
	tel_store(out + 2, t->size, 2, 0);
	tel_store(out + s->header - 8, clock, 8, 0);
	for (i = 0; i < t->nfields; i++) {
		f = &t->fields[i];
		v = likely_value(s, f, n + i);
		if (f->load != TEL_LOAD_BIT) {
			tel_store(out + f->offset, v, f->width / 8, 0);
			continue;
		}
		/* after its byte is what was in the buffer before */
		memset(out + f->offset, 0x5a, t->size - f->offset);
		out[f->offset] = (unsigned char)(v << f->bit);
	}
	return t->size;
}

/* Where the event number n begins. */
static inline size_t
find_event(const struct bytes *log, unsigned n)
{
	size_t at = 0;

	while (n-- > 0)
		at += tel_le16(log->data + at + 2);
	return at;
}

#endif
