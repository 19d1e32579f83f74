/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of classes share: opening, and reading what was written.  A
 * file that includes it uses all of it.
 */
#ifndef CLASS_LOG_H
#define CLASS_LOG_H

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "tel.h"
#include "tel_class.h"

#define ON TEL_CLASS_ENABLE

static tel_emit_class *const root = TEL_CLASS_ROOT;
static const tel_class_options on_demand = { 0, 1, 0 };

/* --------------------------------------------------------------- reading */

static inline const char *
path_of(const char *name)
{
	static char path[4][512];
	static unsigned turn;
	const char *top = getenv("TMPDIR");

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/class.%ld.%s",
	    top != NULL ? top : "/tmp", (long)getpid(), name);
	return path[turn];
}

/* What a log says: its statistics, and its trace events as text. */
struct read_log {
	tel_stats *stats;
	char *text;
	size_t size;
	uint64_t traces, snapshots, definitions, lost;
	tel_int128 damaged;
};

static inline void
take_trace(FILE *f, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	const char *s;
	unsigned i, n = tel_type_field_count(t);
	size_t size;

	fprintf(f, "%s", tel_type_name(t));
	for (i = 0; i < n; i++) {
		s = tel_event_string(ev, i, &size);
		if (s != NULL)
			fprintf(f, "|%.*s", (int)size, s);
		else if (strcmp(tel_field_name(tel_type_field(t, i)), "tag") ==
		    0)
			fprintf(f, "|%llu",
			    (unsigned long long)tel_event_u64(ev, i));
	}
	fputc('\n', f);
}

static inline void
read_event(struct read_log *l, FILE *f, const tel_event *ev)
{
	const char *kind = tel_type_kind(tel_event_type(ev));

	if (strcmp(kind, "Trace") == 0) {
		l->traces++;
		take_trace(f, ev);
	}
	l->snapshots += strcmp(kind, "Snapshot") == 0;
	l->definitions +=
	    strstr(tel_type_name(tel_event_type(ev)), "Class") != NULL;
}

static inline struct read_log
read_log(const char *path)
{
	struct read_log l;
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	FILE *f;
	tel_status st;

	memset(&l, 0, sizeof(l));
	l.stats = tel_stats_new();
	f = open_memstream(&l.text, &l.size);
	st = tel_stats_set(l.stats, TEL_STATS_CLASSES, 1);
	if (st == TEL_OK)
		st = tel_reader_open_file(r, path);
	if (st == TEL_OK)
		st = tel_stats_begin(l.stats, r);
	while (st == TEL_OK && (st = tel_reader_next(r, &ev)) == TEL_OK) {
		read_event(&l, f, ev);
		st = tel_stats_event(l.stats, ev);
	}
	if (st != TEL_END)
		diag("%s: %s %s", path, tel_reader_error(r),
		    tel_stats_error(l.stats));
	if (tel_stats_end(l.stats, r) != TEL_OK)
		diag("%s: %s", path, tel_stats_error(l.stats));
	(void)tel_stats_total(l.stats, TEL_TOTAL_DAMAGED, &l.damaged);
	l.lost = tel_reader_count(r, TEL_COUNT_LOST);
	fclose(f);
	tel_reader_free(r);
	return l;
}

static inline void
free_log(struct read_log *l)
{
	tel_stats_free(l->stats);
	free(l->text);
}

static inline const tel_stat *
find(const struct read_log *l, const char *name)
{
	size_t i, n = tel_stats_count(l->stats);

	for (i = 0; i < n; i++)
		if (strcmp(tel_stat_name(tel_stats_get(l->stats, i)), name) ==
		    0)
			return tel_stats_get(l->stats, i);
	return NULL;
}

/* A number of a statistic; a value that no test wants where there is none. */
static inline int64_t
number(const struct read_log *l, const char *name, tel_number which)
{
	const tel_stat *stat = find(l, name);
	tel_int128 v;

	if (stat == NULL || !tel_stat_number(stat, which, &v))
		return -987654321;
	return (int64_t)v.low;
}
#define IS(l, name, which, want) \
	is_i64(number(&(l), name, TEL_NUMBER_##which), want, "%s: " #which, \
	    name)

static inline int
is_i64(int64_t got, int64_t want, const char *format, const char *name)
{
	int good = got == want;

	if (!good)
		diag("%lld, not %lld", (long long)got, (long long)want);
	ok(good, "%s: %s", name, format + 4);
	return good;
}

static inline uint64_t
bucket(const struct read_log *l, const char *name, size_t i)
{
	const tel_stat *stat = find(l, name);
	tel_bucket b;

	return stat != NULL && tel_stat_bucket(stat, i, &b) ? b.count :
	                                                      UINT64_MAX;
}

/* The count of a key; a number, or text. */
static inline uint64_t
key(const struct read_log *l, const char *name, const char *text)
{
	const tel_stat *stat = find(l, name);
	size_t i, n = stat != NULL ? tel_stat_key_count(stat) : 0;
	char number_text[32];
	const char *s;
	tel_key k;

	for (i = 0; i < n && tel_stat_key(stat, i, &k); i++) {
		s = k.value.as.string;
		if (k.value.datatype != TEL_STRING) {
			snprintf(number_text, sizeof(number_text), "%llu",
			    (unsigned long long)k.value.as.u64);
			s = number_text;
		}
		if (strcmp(s, text) == 0)
			return k.count;
	}
	return 0;
}

/* Opens telemetry with a file as its sink. */
static inline void
start(const tel_emit_options *o, const char *path,
    const tel_class_options *options)
{
	if (tel_emit_open(o, NULL) != 0 || tel_class_open(options) != 0 ||
	    (path != NULL && tel_emit_to_file(path, ~0u, 0) == NULL))
		diag("start: %s, %s", strerror(errno), tel_emit_error());
}

/* A creation that fails. */
#define FAILS(call, error) \
	(errno = 0, \
	    ok((call) == NULL && errno == (error), "%s: %s", #call, \
	        strerror(error)))

#endif
