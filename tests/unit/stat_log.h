/* SPDX-License-Identifier: BSD-2-Clause */
/* A log made event by event, and short ways to ask statistics. */
#ifndef STAT_LOG_H
#define STAT_LOG_H

#include <stdlib.h>

#include "model/encode.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/history.h"
#include "model/labels.h"
#include "must.h"
#include "stats/stats.h"
#include "tap.h"

/* A log of MPS 1.117, whose clock runs at 1 GHz. */
struct stat_log {
	tel_schema *schema;
	struct tel_log log;
	unsigned char data[256];
	struct tel_event event;
};

static inline void
stat_log_begin(struct stat_log *l)
{
	memset(l, 0, sizeof(*l));
	must_ok(tel_schema_new("mps-1.117.0/lii6gc", &l->schema));
	l->log.name = "made.log";
	l->log.format = "mps";
	l->log.schema = l->schema;
	l->log.labels = must(tel__labels_new(100));
	l->log.clock = must(tel__clock_new());
	tel__clock_set_rate(l->log.clock, 1e9);
	l->event.log = &l->log;
	l->event.data = l->data;
}

static inline void
stat_log_end(struct stat_log *l)
{
	tel__history_free(l->log.history);
	tel__labels_free(l->log.labels);
	tel__clock_free(l->log.clock);
	tel_schema_free(l->schema);
}

/* The next event; its fields have the values, those left over 0. */
static inline const tel_event *
stat_event(struct stat_log *l, const char *name, uint64_t clock, uint64_t a,
    uint64_t b, uint64_t c)
{
	const uint64_t values[3] = { a, b, c };
	const struct tel_type *t = tel_schema_find_type(l->schema, name);
	unsigned i;

	if (t == NULL)
		t = must(tel__schema_unknown(l->schema, 0x1f4));
	memset(l->data, 0, sizeof(l->data));
	tel__encode_header(l->schema, l->data, t->code, sizeof(l->data), clock);
	for (i = 0; i < t->nfields && i < 3; i++)
		if (t->fields[i].datatype == TEL_STRING)
			memcpy(l->data + t->fields[i].offset, "a string", 9);
		else
			tel_encode_field(&t->fields[i], values[i], l->data);
	l->event.type = t;
	l->event.clock = clock;
	l->event.size = sizeof(l->data);
	if (l->event.index++ == 0)
		tel__clock_set_origin(l->log.clock, clock);
	return &l->event;
}

static inline void
feed(tel_stats *s, struct stat_log *l, const char *name, uint64_t clock,
    uint64_t a, uint64_t b, uint64_t c)
{
	tel_status st = tel_stats_event(s, stat_event(l, name, clock, a, b, c));

	if (st != TEL_OK)
		ok(0, "an event at %" PRIu64 ": %s", clock, tel_stats_error(s));
}

/* A set with one statistic, or none, that was begun. */
static inline tel_stats *
begin_one(const char *spec)
{
	tel_stats *s = must(tel_stats_new());

	if (spec != NULL && tel_stats_add(s, spec) != TEL_OK) {
		ok(0, "%s: %s", spec, tel_stats_error(s));
		exit(1);
	}
	return s;
}

/* A number as text, "-" when it is not defined; in a buffer of the caller. */
static inline const char *
number(const tel_stat *stat, tel_number which, char *buffer)
{
	tel_int128 v;

	if (stat == NULL || !tel_stat_number(stat, which, &v))
		return "-";
	return tel_int128_text(v, buffer);
}

static inline void
is_number(const tel_stats *s, size_t i, tel_number which, const char *want,
    const char *what)
{
	char buffer[TEL_INT128_TEXT];

	is_str(number(tel_stats_get(s, i), which, buffer), want, "%s", what);
}

static inline void
is_total(const tel_stats *s, tel_total which, const char *want,
    const char *what)
{
	char buffer[TEL_INT128_TEXT];
	tel_int128 v;

	is_str(tel_stats_total(s, which, &v) ? tel_int128_text(v, buffer) : "-",
	    want, "%s", what);
}

/* Text that is read through a callback, in pieces of 7 bytes. */
struct piecemeal {
	const char *text;
	size_t size;
	size_t at;
};

static inline ptrdiff_t
give_piece(void *arg, void *buffer, size_t size)
{
	struct piecemeal *p = arg;
	size_t n = p->size - p->at;

	n = n > size ? size : n;
	n = n > 7 ? 7 : n;
	memcpy(buffer, p->text + p->at, n);
	p->at += n;
	return (ptrdiff_t)n;
}

static inline tel_status
read_inst(tel_stats *s, const char *text, size_t size)
{
	struct piecemeal p = { text, size, 0 };

	return tel_stats_read_inst(s, give_piece, &p, "made.inst");
}

/* What is written goes to memory. */
struct sink {
	char *bytes;
	size_t count;
};

static inline ptrdiff_t
take_bytes(void *arg, const void *data, size_t size)
{
	struct sink *k = arg;

	k->bytes = must(realloc(k->bytes, k->count + size + 1));
	memcpy(k->bytes + k->count, data, size);
	k->count += size;
	k->bytes[k->count] = '\0';
	return (ptrdiff_t)size;
}

/* The set as an inst stream; to be freed. */
static inline char *
write_inst(tel_stats *s, int last)
{
	struct sink sink = { NULL, 0 };
	tel_output *out = must(tel_output_new_callback(take_bytes, &sink));

	must_ok(tel_stats_write_inst(s, out, last));
	must_ok(tel_output_flush(out));
	tel_output_free(out);
	return must(sink.bytes);
}

#endif
