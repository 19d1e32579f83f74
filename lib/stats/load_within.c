/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classes in logs whose events are counted: logs of libtel-emit, and of other
 * formats that were inst logs once.  Each of their events that is a record is
 * written as one, and read and loaded as those of an inst log are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "format/inst/write.h"
#include "stats/load.h"

/* A log with classes. */
struct class_log {
	const struct tel_log *log;
	unsigned number; /* log->number: an archive's logs share a struct */
	struct loader loader;
	struct tel_reader *reader; /* of the records */
	struct inst_writer writer;
	int open;   /* a session was begun */
	int warned; /* that a definition is missing */
};

struct class_logs {
	struct class_log **list;
	size_t count, room;
	struct tel__table by_log; /* of a log's address to the last of it */
	struct tel_stats *shown;  /* in snapshots; NULL: none yet */
};

/* Reads the records in the writer.  TEL_OK, a failure. */
static tel_status
read_line(struct class_log *c, const struct tel_event *ev)
{
	if (c->writer.line.failed)
		return stats_no_memory(c->loader.into);
	const struct tel__buffer *line = &c->writer.line;
	tel_status st = TEL_OK;
	for (size_t at = 0, used; st == TEL_OK && at < line->used; at += used) {
		st = tel__inst_read(c->reader, line->bytes + at,
		    line->used - at, &used);
		if (st == TEL_END)
			return TEL_OK;
		c->loader.record = tel__inst_record(c->reader);
		c->loader.line = &c->loader.record->line;
		if (st == TEL_OK && ev != NULL)
			st = tel__load_event(&c->loader, ev);
	}
	if (st == TEL_ENOMEM)
		return stats_no_memory(c->loader.into);
	return st == TEL_EVERSION ?
	    stats_fail(c->loader.into, st, "%s", tel_reader_error(c->reader)) :
	    st;
}

/*
 * Ends the session that is open: its log may go on with another one, or end
 * where nobody wrote that, which is for its own reader to say.
 */
static tel_status
load_within_finish(struct class_log *c)
{
	if (!c->open)
		return TEL_OK;
	c->open = 0;
	tel__inst_put_record(&c->writer, "Z\n");
	return read_line(c, NULL);
}

static void
load_within_free_log(struct class_log *c)
{
	if (c == NULL)
		return;
	/* the reader has its notices at the end of its log */
	if (load_within_finish(c) == TEL_OK && c->reader != NULL &&
	    tel__inst_record(c->reader) != NULL)
		(void)tel__inst_next(c->reader);
	tel_reader_free(c->reader);
	tel__buffer_clear(&c->writer.line);
	tel__load_forget(&c->loader);
	tel_stats_free(c->loader.part);
	free(c->loader.text);
	free(c);
}

static void
free_all(struct tel_stats *s)
{
	struct class_logs *all = s->class_logs;

	if (all == NULL)
		return;
	for (size_t i = 0; i < all->count; i++)
		load_within_free_log(all->list[i]);
	tel_stats_free(all->shown);
	tel__table_clear(&all->by_log);
	free(all->list);
	free(all);
	s->class_logs = NULL;
}

static struct class_log *
new_log(struct tel_stats *s, const struct tel_log *log)
{
	struct class_log *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->log = log;
	c->number = log->number;
	c->loader.into = s;
	c->loader.within = 1;
	c->loader.name = log->name != NULL ? log->name : "-";
	c->loader.text = malloc(INST_LONG_LINE_MAX + 1);
	c->reader = tel__load_reader(&c->loader);
	if (c->loader.text != NULL && c->reader != NULL &&
	    tel_reader_open_memory(c->reader, "", 0, c->loader.name) == TEL_OK)
		return c;
	load_within_free_log(c);
	return NULL;
}

/* The log of an event, made if it is new; NULL: no memory. */
static struct class_log *
load_within_find_log(struct tel_stats *s, const struct tel_log *log)
{
	struct class_logs *all = s->class_logs;

	struct tel__entry *e;
	int fresh;

	if (all == NULL) {
		all = s->class_logs = calloc(1, sizeof(*all));
		if (all == NULL)
			return NULL;
		tel__table_init(&all->by_log);
	}
	e = tel__table_put(&all->by_log, (uintptr_t)log, &fresh);
	if (e == NULL)
		return NULL;
	struct class_log *c =
	    fresh ? NULL : (struct class_log *)(uintptr_t)e->value;
	if (c != NULL && c->number == log->number)
		return c;
	e->value = 0;
	if (!TEL__RESERVE(all->list, all->room, all->count + 1))
		return NULL;
	c = new_log(s, log);
	if (c != NULL)
		all->list[all->count++] = c;
	e->value = (uintptr_t)c;
	return c;
}

/* --------------------------------------------------------------- events */

static tel_status
bind_type(const struct tel_type *t, struct inst_binding **out)
{
	struct inst_binding b;

	if (!tel__inst_bind(t, &b))
		return TEL_OK;
	*out = malloc(sizeof(b));
	if (*out == NULL)
		return TEL_ENOMEM;
	**out = b;
	return TEL_OK;
}

/* Whether a log has kept the line of the record, and not of another format. */
static int
has_line(const struct tel_event *ev)
{
	const unsigned char *p = ev->raw;
	unsigned i = 17;

	if (ev->raw_size < 18 || p[16] != ' ')
		return 0;
	while (i < ev->raw_size && p[i] >= 'A' && p[i] <= 'Z')
		i++;
	return i > 17 && (i == ev->raw_size || p[i] <= ' ') &&
	    strcmp(ev->log->schema->name, "inst-1") == 0;
}

/* Puts the line of the record into the writer: as it was, if that is known. */
static void
load_within_put_line(struct class_log *c, const struct inst_binding *b,
    const struct tel_event *ev)
{
	if (!has_line(ev)) {
		tel__inst_put_event(&c->writer, b, ev);
		return;
	}
	c->writer.line.used = 0;
	tel__buffer_put(&c->writer.line, ev->raw, ev->raw_size);
	if (ev->raw[ev->raw_size - 1] != '\n')
		tel__buffer_put(&c->writer.line, "\n", 1);
}

/* Whether the events are, or go on with, a snapshot of a class. */
static int
is_snapshot(const struct inst_binding *b)
{
	return b->type == T_BUCKETS || b->type == T_BUCKET ||
	    b->type == T_TOP_VALUE ||
	    (b->row != NULL && b->row->snapshot == b->type);
}

/*
 * Whether the class of a snapshot is defined.  Of a log that was filtered, or
 * whose start is gone, the definition may be missing: the snapshot has the path
 * and the type, but not the bounds of a histogram.
 */
static int
is_defined(const struct class_log *c, const struct inst_binding *b,
    const struct tel_event *ev)
{
	const struct inst *record = tel__inst_record(c->reader);

	if (strcmp(ev->log->schema->name, "inst-1") == 0 || !is_snapshot(b))
		return 1;
	return record != NULL &&
	    tel__inst_class_of(&record->tree,
	        tel_event_u64(ev, (unsigned)b->fields[1])) != INST_NO_CLASS;
}

/* Defines the class of a snapshot.  0: that cannot be done. */
static int
put_definition(struct class_log *c, const struct inst_binding *b,
    const struct tel_event *ev)
{
	const struct inst_class_row *row = b->row;
	struct inst_writer *w = &c->writer;
	size_t n = 0;

	if (row == NULL || row->presumed == NULL)
		return 0;

	const char *path = tel_event_string(ev, (unsigned)b->fields[0], &n);
	w->clock = ev->clock;
	tel__inst_put_record(w, "C");
	tel__inst_put_word(w, "type", row->name);
	tel__inst_put_text(w, row->presumed);
	tel__inst_put_count(w, "id", tel_event_u64(ev, (unsigned)b->fields[1]));
	tel__inst_put_name(w, "name");
	tel__inst_put_quoted(w, path, n);
	tel__inst_put_text(w, "\n");
	return n > 0;
}

/* Warns once. */
static void
warn_undefined(struct class_log *c, const struct inst_binding *b,
    const struct tel_event *ev)
{
	struct tel_stats *s = c->loader.into;
	size_t n = 0;
	const char *path = tel_event_string(ev, (unsigned)b->fields[0], &n);
	char text[300];

	if (c->warned || s->notify == NULL)
		return;
	c->warned = 1;
	snprintf(text, sizeof(text),
	    "the definition of %.*s is missing, and it is left out",
	    n < 200 ? (int)n : 200, path != NULL ? path : "");
	s->notify(s->notify_arg, TEL_WARNING, c->loader.name, ev->offset, text);
}

static tel_status
load_event(struct tel_stats *s, const struct inst_binding *b,
    const struct tel_event *ev)
{
	struct class_log *c = load_within_find_log(s, ev->log);
	tel_status st = TEL_OK;

	if (c == NULL)
		return stats_no_memory(s);
	c->loader.event = ev;
	if (b->type == T_HEADER) {
		st = load_within_finish(c);
		c->open = 1;
	}
	if (st == TEL_OK && !is_defined(c, b, ev)) {
		if (!put_definition(c, b, ev)) {
			warn_undefined(c, b, ev);
			return TEL_OK;
		}
		st = read_line(c, ev);
	}
	if (st != TEL_OK)
		return st;
	load_within_put_line(c, b, ev);
	return read_line(c, ev);
}

/* -------------------------------------------------------------- showing */

static tel_status
load_within_show(struct tel_stats *s, const tel_snapshot *at)
{
	struct class_logs *all = s->class_logs;

	if (all->shown == NULL && (all->shown = tel_stats_new()) == NULL)
		return stats_no_memory(s);
	tel__load_reset(all->shown);
	tel_status st = tel__stats_add(all->shown, s, ADD_APART);
	for (size_t i = 0; i < all->count && st == TEL_OK; i++) {
		struct loader *l = &all->list[i]->loader;

		if (l->part == NULL)
			continue;
		st = tel__load_difference(l);
		if (st == TEL_OK)
			st = tel_stats_settle(l->part);
		if (st == TEL_OK)
			st = tel__stats_add(all->shown, l->part, ADD_APART);
		if (st == TEL_OK && s->deltas)
			tel__stats_zero(l->part);
	}
	return st == TEL_OK ? s->snapshot(s->snapshot_arg, all->shown, at) : st;
}

/* ------------------------------------------------------------------ end */

static tel_status
load_within_end_log(struct class_log *c)
{
	struct loader *l = &c->loader;
	tel_status st = tel__load_end_session(l);
	char text[480];

	if (l->problems == 0 || l->into->notify == NULL)
		return st;
	snprintf(text, sizeof(text), "%s%s", l->problem,
	    l->problems > 1 ? ", and more" : "");
	l->into->notify(l->into->notify_arg, TEL_WARNING, l->name, 0, text);
	return st;
}

static tel_status
load_within_end(struct tel_stats *s, const struct tel_log *log)
{
	struct class_logs *all = s->class_logs;
	tel_status st = TEL_OK, ended;
	size_t i, left = 0;

	for (i = 0; i < all->count; i++) {
		if (log != NULL && all->list[i]->log != log) {
			all->list[left++] = all->list[i];
			continue;
		}
		ended = load_within_end_log(all->list[i]);
		st = st == TEL_OK ? ended : st;
		load_within_free_log(all->list[i]);
	}
	all->count = left;
	struct tel__entry *e = tel__table_find(&all->by_log, (uintptr_t)log);
	if (e != NULL)
		e->value = 0;
	if (log == NULL)
		tel__table_clear(&all->by_log);
	if (log == NULL && st == TEL_OK)
		st = tel_stats_settle(s);
	if (log == NULL && st == TEL_OK) {
		tel__load_end_show(s, all->shown);
		all->shown = NULL;
		free_all(s);
	}
	return st;
}

const struct class_ops tel__load_within_ops = { bind_type, load_event,
	load_within_show, load_within_end, free_all };
