/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of ETS logs share: reading one to its end. */
#ifndef ETS_READ_H
#define ETS_READ_H

#include <unistd.h>

#include "ets_make.h"
#include "format/ets/ets.h"
#include "reading.h"
#include "tap.h"

/* The path of a file in tests/data/ets; good until the next call. */
static inline const char *
data_path(const char *name)
{
	static char path[512];
	const char *top = getenv("TEL_TOP");

	snprintf(path, sizeof(path), "%s/tests/data/ets/%s",
	    top != NULL ? top : ".", name);
	return path;
}

/* The log that a fixture describes. */
static inline struct bytes
fixture(const char *name)
{
	char *text = read_text(data_path(name));
	struct bytes b;

	if (text == NULL) {
		diag("%s: not there", name);
		exit(1);
	}
	b = make_log(text);
	free(text);
	return b;
}

/* How a log is read. */
struct how {
	const char *as;
	const char *describe[3];
	const char *contracts;
	size_t piece; /* bytes given at a time, 0: all at once */
	size_t max_labels;
	int strict;
	double hertz;
};

struct result {
	char *events;  /* a line for each, with all its values */
	char *notices; /* a line for each */
	tel_status status;
	char form[16];
	char error[256];
	double rate;
	uint64_t origin;
	uint64_t count[TEL_COUNT_LOGS + 1];
};

/* "CLOCK KIND/TYPE FIELD=VALUE ...", labels in brackets, without quotes. */
static inline void
dump(FILE *f, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	const tel_field *field;
	const char *s;
	unsigned i;
	size_t n;

	fprintf(f, "%llu %s/%s", (unsigned long long)tel_event_clock(ev),
	    tel_type_kind(t), tel_type_name(t));
	for (i = 0; i < tel_type_field_count(t); i++) {
		field = tel_type_field(t, i);
		fprintf(f, " %s=", tel_field_name(field));
		s = tel_event_string(ev, i, &n);
		if (s != NULL)
			fprintf(f, "'%.*s'", (int)n, s);
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
	tel_reader_set_strict(r, how->strict);
	if (tel_reader_set_as(r, how->as) != TEL_OK ||
	    tel_reader_set_tick_rate(r, how->hertz) != TEL_OK ||
	    (how->max_labels > 0 &&
	        tel_reader_set_max_labels(r, how->max_labels) != TEL_OK))
		exit(1);
	for (i = 0; i < 3 && how->describe[i] != NULL; i++)
		if (tel_reader_add_description(r, how->describe[i]) != TEL_OK)
			exit(1);
	if (how->contracts != NULL &&
	    tel_reader_add_contracts(r, how->contracts) != TEL_OK)
		exit(1);
}

/* Reads a log to its end.  Free the result with drop(). */
static inline struct result
read_log(const void *data, size_t size, struct how how)
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
		tel_reader_set_read_size(r, how.piece);
		res.status = tel_reader_open_callback(r, feed_read, &feed, "x");
	} else {
		res.status = tel_reader_open_memory(r, data, size, "x");
	}
	if (res.status == TEL_OK) {
		snprintf(res.form, sizeof(res.form), "%s",
		    tel_reader_format(r));
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

/* Reads what the words describe. */
static inline struct result
read_words(const char *text, struct how how)
{
	struct bytes b = make_log(text);
	struct result res = read_log(b.data, b.size, how);

	free(b.data);
	return res;
}

/* A file with this text, gone with remove_file(). */
static inline char *
make_file(const char *text)
{
	char *path = strdup("/tmp/tel-ets.XXXXXX");
	int fd = path == NULL ? -1 : mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    close(fd) != 0)
		exit(1);
	return path;
}

static inline void
remove_file(char *path)
{
	unlink(path);
	free(path);
}

#endif
