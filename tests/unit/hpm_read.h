/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of HPM traces share: reading one to its end. */
#ifndef HPM_READ_H
#define HPM_READ_H

#include <sys/stat.h>
#include <unistd.h>

#include "format/hpm/hpm.h"
#include "hpm_make.h"
#include "reading.h"
#include "tap.h"

/* The text of a fixture. */
static inline char *
fixture(const char *name)
{
	const char *top = getenv("TEL_TOP");
	char path[512], *text;

	snprintf(path, sizeof(path), "%s/tests/data/hpm/%s",
	    top != NULL ? top : ".", name);
	text = read_text(path);
	if (text == NULL) {
		diag("%s: not there", path);
		exit(1);
	}
	return text;
}

/* How a trace is read. */
struct how {
	const char *name; /* of the log; NULL: a pipe */
	const char *meta;
	const char *as;
	size_t piece; /* bytes given at a time, 0: all at once */
	size_t max_labels;
	int strict;
	int force;
};

struct result {
	char *events;  /* a line for each, with all its values */
	char *notices; /* a line for each */
	tel_status status;
	char error[256];
	char schema[48];
	uint64_t count[TEL_COUNT_LOGS + 1];
};

/* "CLOCK TYPE FIELD=VALUE ...", labels in brackets, without quotes. */
static inline void
dump(FILE *f, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	const tel_field *field;
	const char *s;
	unsigned i;
	size_t n;

	fprintf(f, "%llu %s", (unsigned long long)tel_event_clock(ev),
	    tel_type_name(t));
	for (i = 0; i < tel_type_field_count(t); i++) {
		field = tel_type_field(t, i);
		fprintf(f, " %s=", tel_field_name(field));
		s = tel_event_string(ev, i, &n);
		if (s != NULL)
			fprintf(f, "%.*s", (int)n, s);
		else if (tel_field_datatype(field) == TEL_SIGNED)
			fprintf(f, "%lld", (long long)tel_event_u64(ev, i));
		else
			fprintf(f, "%llu",
			    (unsigned long long)tel_event_u64(ev, i));
		s = tel_event_label(ev, i, &n);
		if (s != NULL)
			fprintf(f, "[%.*s]", (int)n, s);
	}
	putc('\n', f);
}

/* Reads a trace to its end.  Free the result with drop(). */
static inline struct result
read_trace(const void *data, size_t size, struct how how)
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
	tel_reader_set_notify(r, take_notice, notices);
	tel_reader_set_strict(r, how.strict);
	tel_reader_set_force(r, how.force);
	if (tel_reader_set_as(r, how.as) != TEL_OK ||
	    tel_reader_set_meta(r, how.meta) != TEL_OK ||
	    (how.max_labels > 0 &&
	        tel_reader_set_max_labels(r, how.max_labels) != TEL_OK))
		exit(1);
	if (how.piece > 0) {
		tel_reader_set_read_size(r, how.piece);
		res.status =
		    tel_reader_open_callback(r, feed_read, &feed, how.name);
	} else {
		res.status = tel_reader_open_memory(r, data, size, how.name);
	}
	if (res.status == TEL_OK)
		snprintf(res.schema, sizeof(res.schema), "%s",
		    tel_schema_name(tel_reader_schema(r)));
	while (res.status == TEL_OK &&
	    (res.status = tel_reader_next(r, &ev)) == TEL_OK)
		dump(events, ev);
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

/* A folder of its own with the files of a set, gone with remove_folder(). */
static inline char *
make_folder(const struct set *s)
{
	char *path = strdup("/tmp/tel-hpm.XXXXXX");

	if (path == NULL || mkdtemp(path) == NULL || !write_set(s, path))
		exit(1);
	return path;
}

static inline void
remove_folder(char *folder, const struct set *s)
{
	char path[512];
	unsigned i;

	for (i = 0; i <= s->count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, s->name[i]);
		unlink(path);
	}
	rmdir(folder);
	free(folder);
}

/* Reads trace number i of what the text describes, with its meta file. */
static inline struct result
read_words(const char *text, unsigned i)
{
	struct set s = make_set(text);
	char *folder = make_folder(&s), path[512];
	struct how how = { .name = path };
	struct result res;

	snprintf(path, sizeof(path), "%s/%s", folder, s.name[i]);
	res = read_trace(s.file[i].data, s.file[i].size, how);
	remove_folder(folder, &s);
	free_set(&s);
	return res;
}

#endif
