/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests share that read a log to its end: how, and what it gave. */
#ifndef READ_EVENTS_H
#define READ_EVENTS_H

#include <stdlib.h>

#include "model/clock.h"
#include "model/event.h"
#include "reading.h"

/* How a log is read. */
struct how {
	const char *name; /* of the log; NULL: a pipe */
	const char *as;
	const char *meta;
	const char *describe[3];
	const char *contracts;
	size_t piece; /* bytes given at a time, 0: all at once */
	size_t max_labels;
	int strict;
	int force;
	double hertz;
};

struct result {
	char *events;  /* a line for each, with all its values */
	char *notices; /* a line for each */
	tel_status status;
	char form[16];
	char schema[48];
	char error[256];
	double rate;
	uint64_t origin;
	uint64_t count[TEL_COUNT_LOGS + 1];
};

/* " FIELD=VALUE ...", labels in brackets, strings between quotes. */
static inline void
dump_fields(FILE *f, const tel_event *ev, const char *quote)
{
	const tel_type *t = tel_event_type(ev);
	const tel_field *field;
	const char *s;
	unsigned i;
	size_t n;

	for (i = 0; i < tel_type_field_count(t); i++) {
		field = tel_type_field(t, i);
		fprintf(f, " %s=", tel_field_name(field));
		s = tel_event_string(ev, i, &n);
		if (s != NULL)
			fprintf(f, "%s%.*s%s", quote, (int)n, s, quote);
		else if (tel_field_datatype(field) == TEL_SIGNED)
			fprintf(f, "%lld", (long long)tel_event_u64(ev, i));
		else if (tel_field_datatype(field) == TEL_DOUBLE)
			fprintf(f, "%g", tel_event_double(ev, i));
		else
			fprintf(f, "%llu",
			    (unsigned long long)tel_event_u64(ev, i));
		s = tel_event_label(ev, i, &n);
		if (s != NULL)
			fprintf(f, "[%.*s]", (int)n, s);
	}
	putc('\n', f);
}

static inline void
set_up(tel_reader *r, const struct how *how, FILE *notices)
{
	unsigned i;

	tel_reader_set_notify(r, take_notice, notices);
	tel_reader_set(r, TEL_READ_STRICT, how->strict);
	tel_reader_set(r, TEL_READ_FORCE, how->force);
	if (tel_reader_set_as(r, how->as) != TEL_OK ||
	    tel_reader_add_file(r, TEL_FILE_META, how->meta) != TEL_OK ||
	    tel_reader_set_tick_rate(r, how->hertz) != TEL_OK ||
	    (how->max_labels > 0 &&
	        tel_reader_set(r, TEL_READ_MAX_LABELS,
	            (int64_t)how->max_labels) != TEL_OK))
		exit(1);
	for (i = 0; i < 3 && how->describe[i] != NULL; i++)
		if (tel_reader_add_file(r, TEL_FILE_TYPES, how->describe[i]) !=
		    TEL_OK)
			exit(1);
	if (how->contracts != NULL &&
	    tel_reader_add_file(r, TEL_FILE_MESSAGES, how->contracts) != TEL_OK)
		exit(1);
}

/* Reads a log to its end.  Free the result with drop(). */
static inline struct result
read_events(const void *data, size_t size, struct how how,
    void (*dump)(FILE *f, const tel_event *ev))
{
	struct result res = { 0 };
	struct feed feed = { data, size, 0, how.piece };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	size_t n, m;
	FILE *events = open_memstream(&res.events, &n);
	FILE *notices = open_memstream(&res.notices, &m);
	int i;

	if (r == NULL || events == NULL || notices == NULL)
		exit(1);
	set_up(r, &how, notices);
	if (how.piece > 0) {
		tel_reader_set(r, TEL_READ_SIZE, (int64_t)how.piece);
		res.status =
		    tel_reader_open_callback(r, feed_read, &feed, how.name);
	} else {
		res.status = tel_reader_open_memory(r, data, size, how.name);
	}
	if (res.status == TEL_OK) {
		snprintf(res.form, sizeof(res.form), "%s",
		    tel_reader_format(r));
		snprintf(res.schema, sizeof(res.schema), "%s",
		    tel_schema_name(tel_reader_schema(r)));
		res.rate = tel_reader_tick_rate(r);
	}
	while (res.status == TEL_OK &&
	    (res.status = tel_reader_next(r, &ev)) == TEL_OK) {
		res.origin = tel__clock_origin(ev->log->clock);
		dump(events, ev);
	}
	snprintf(res.error, sizeof(res.error), "%s", tel_reader_error(r));
	for (i = 0; i <= TEL_COUNT_LOGS; i++)
		res.count[i] = tel_reader_count(r, (tel_count)i);
	tel_reader_free(r);
	fclose(events);
	fclose(notices);
	return res;
}

static inline void
drop(struct result res)
{
	free(res.events);
	free(res.notices);
}

#endif
