/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the native format share: streams, and what is in them. */
#ifndef NATIVE_LOG_H
#define NATIVE_LOG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/tel/wire.h"
#include "tap.h"
#include "tel.h"

/* Bytes that grow. */
struct stream {
	unsigned char *data;
	size_t size, room;
};

static inline ptrdiff_t
put_stream(void *arg, const void *data, size_t size)
{
	struct stream *s = arg;

	if (s->room - s->size < size) {
		s->room = 2 * (s->size + size);
		s->data = realloc(s->data, s->room);
		if (s->data == NULL)
			abort();
	}
	if (size > 0)
		memcpy(s->data + s->size, data, size);
	s->size += size;
	return (ptrdiff_t)size;
}

/* What was read: a hash of each event, and what was reported. */
struct result {
	tel_status opened, ended;
	uint64_t events, damaged, logs, unread;
	uint64_t *hashes;
	size_t room;
	uint64_t told_lost; /* the sum of "N events lost" */
	int told_maybe;     /* there may be more that is */
	char text[256];     /* the last message */
};

static inline void
take_notice(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	struct result *res = arg;
	const char *lost = strstr(text, " events lost"), *p = lost;

	(void)log;
	(void)offset;
	if (severity == TEL_DAMAGE) {
		while (p != NULL && p > text && p[-1] >= '0' && p[-1] <= '9')
			p--;
		if (p != NULL)
			res->told_lost += strtoull(p, NULL, 10);
		res->told_maybe |= strstr(text, " may ") != NULL;
	}
	snprintf(res->text, sizeof(res->text), "%s", text);
}

/* All that there is of an event, its place in the log apart. */
static inline uint64_t
hash_event(const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	uint64_t h = tel__native_xxh64(ev->data, ev->size) + ev->clock * 3;
	const char *label;
	size_t n;
	unsigned i;

	h = h * 31 + tel_type_code(t);
	for (i = 0; i < tel_type_field_count(t); i++) {
		h = h * 31 + tel_event_u64(ev, i);
		label = tel_event_string(ev, i, &n);
		if (label != NULL)
			h = h * 31 +
			    tel__native_xxh64((const unsigned char *)label, n);
	}
	if (ev->raw_size > 0)
		h = h * 31 + tel__native_xxh64(ev->raw, ev->raw_size);
	if (ev->lead_size > 0)
		h = h * 31 + tel__native_xxh64(ev->lead, ev->lead_size);
	if (ev->inline_size > 0)
		h = h * 31 +
		    tel__native_xxh64(ev->inline_labels, ev->inline_size);
	return h * 31 + (uint64_t)ev->inline_use;
}

struct how_to_read {
	size_t read_size;
	int force, strict;
};

static inline void
read_stream(const unsigned char *data, size_t size, struct how_to_read how,
    struct result *res)
{
	tel_reader *r = tel_reader_new();
	uint64_t *kept = res->hashes;
	const size_t room = res->room;
	const tel_event *ev;

	memset(res, 0, sizeof(*res));
	res->hashes = kept;
	res->room = room;
	if (r == NULL || tel_reader_set_notify(r, take_notice, res) != TEL_OK ||
	    tel_reader_set_as(r, "tel") != TEL_OK ||
	    (how.read_size > 0 &&
	        tel_reader_set(r, TEL_READ_SIZE, (int64_t)how.read_size) !=
	            TEL_OK) ||
	    tel_reader_set(r, TEL_READ_FORCE, how.force) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_STRICT, how.strict) != TEL_OK)
		abort();
	res->opened = tel_reader_open_memory(r, data, size, "s");
	res->ended = res->opened;
	while (res->opened == TEL_OK &&
	    (res->ended = tel_reader_next(r, &ev)) == TEL_OK) {
		if (res->events == res->room) {
			res->room = 2 * res->room + 64;
			res->hashes = realloc(res->hashes,
			    res->room * sizeof(*res->hashes));
			if (res->hashes == NULL)
				abort();
		}
		res->hashes[res->events++] = hash_event(ev);
	}
	res->damaged = tel_reader_count(r, TEL_COUNT_DAMAGED);
	res->logs = tel_reader_count(r, TEL_COUNT_LOGS);
	res->unread = tel_reader_count(r, TEL_COUNT_UNREAD);
	tel_reader_free(r);
}

/* Where the records of a stream are. */
struct place {
	size_t at, size;
	unsigned kind;
	uint64_t first, count; /* events before it, and in it */
};

static inline unsigned
find_places(const struct stream *s, struct place *out, unsigned most)
{
	struct native_record rec;
	struct native_head head;
	uint64_t events = 0;
	unsigned n = 0;
	size_t at = 0;

	while (at < s->size && n < most) {
		if (tel__native_look(s->data + at, s->size - at, &rec) != 1)
			abort();
		out[n].at = at;
		out[n].size = native_size(&rec);
		out[n].kind = rec.kind;
		out[n].first = events;
		out[n].count = 0;
		if (rec.kind == NATIVE_BLOCK &&
		    tel__native_head(&rec, NATIVE_MEDIAN, &head))
			events += out[n].count = head.count;
		at += out[n++].size;
	}
	return n;
}

/* Makes the END record of a stream again, after its records were changed. */
static inline void
end_again(struct stream *s)
{
	struct native_record rec;
	unsigned char *end = NULL;
	uint64_t hash = 0;
	size_t at = 0;

	while (at < s->size) {
		if (tel__native_look(s->data + at, s->size - at, &rec) != 1)
			abort();
		end = s->data + at;
		if (rec.kind != NATIVE_END)
			hash = tel__native_chain(hash, &rec);
		at += native_size(&rec);
	}
	tel_store_le64(end + NATIVE_HEADER, s->size);
	tel_store_le64(end + NATIVE_HEADER + 24, hash);
	tel__native_seal(end, NATIVE_END, 0, end[5], 0);
}

#define NATIVE_LOG_FILE "tests/data/mps/1.118.0-lii6gc-poolncv.log.zst"

/* Writes the events of the log, and has every so many become a block. */
static inline void
write_log(struct stream *to, unsigned every)
{
	tel_output *out = tel_output_new_callback(put_stream, to);
	tel_writer *w = tel_writer_new(out);
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	uint64_t n = 0;

	if (out == NULL || w == NULL || r == NULL ||
	    tel_writer_set_target(w, "tel") != TEL_OK ||
	    tel_reader_open_file(r, NATIVE_LOG_FILE) != TEL_OK)
		abort();
	while (tel_reader_next(r, &ev) == TEL_OK) {
		if (tel_writer_event(w, ev) != TEL_OK)
			abort();
		if (++n % every == 0 && tel_writer_flush(w) != TEL_OK)
			abort();
	}
	if (tel_writer_end_file(w, r) != TEL_OK ||
	    tel_writer_finish(w) != TEL_OK || tel_output_finish(out) != TEL_OK)
		abort();
	tel_writer_free(w);
	tel_output_free(out);
	tel_reader_free(r);
}

#endif
