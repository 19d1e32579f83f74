/* SPDX-License-Identifier: BSD-2-Clause */
/* The sessions of an inst log that is loaded, and the report in it. */
#include "stats/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

/* Counts an invalid record, and keeps the first description. */
static void
add_problem(struct loader *l, uint64_t offset, const char *why)
{
	if (l->problems++ == 0)
		snprintf(l->problem, sizeof(l->problem), "offset %llu: %s",
		    (unsigned long long)offset, why);
	l->session_problems++;
}

/* A tel_notify_fn. */
static void
load_notice(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	struct loader *l = arg;
	struct tel_stats *s = l->into;

	/* of a log that is counted, the record is made of an event */
	if (l->within) {
		offset = l->event->offset;
		log = l->name;
	}
	if (severity == TEL_DAMAGE)
		add_problem(l, offset, text);
	if (s->notify != NULL)
		s->notify(s->notify_arg, severity, log, offset, text);
}

/* ------------------------------------------------------------- report */

static tel_status
read_report(struct loader *l, const char **why)
{
	struct report *to = &l->part->report;
	const struct count_field *f;

	for (f = tel__report_head; f->name != NULL; f++)
		*field_count(f, to) = 0;
	for (f = tel__report_tail; f->name != NULL; f++)
		*field_count(f, to) = 0;
	to->ended = to->ended_bytes = int128_u64(0);
	if (!tel__load_counts(l, tel__report_head, to) ||
	    !tel__load_counts(l, tel__report_tail, to) ||
	    tel__load_u64(l, "first", &to->first) < 0 ||
	    tel__load_u64(l, "last", &to->last) < 0 ||
	    tel__load_int128(l, "ticks", &to->ticks) < 0 ||
	    tel__load_int128(l, "ns", &to->ns) < 0 ||
	    tel__load_int128(l, "ended", &to->ended) < 0 ||
	    tel__load_int128(l, "ended_bytes", &to->ended_bytes) < 0)
		return load_invalid(why, "a number of the report does not fit");
	for (unsigned i = 0; i < to->norigins; i++)
		to->origins[i].logs = to->origins[i].events = 0;
	return TEL_OK;
}

static tel_status
read_origin(struct loader *l, const char **why)
{
	static const char *const names[] = { "schema", "version", "form" };
	struct report *to = &l->part->report;
	uint64_t logs = 0, events = 0;
	char *text[3] = { NULL, NULL, NULL };
	tel_status st = TEL_OK;
	unsigned at, i;

	if (tel__load_u64(l, "logs", &logs) < 0 ||
	    tel__load_u64(l, "events", &events) < 0)
		return load_invalid(why, "a number of the origin does not fit");
	for (i = 0; i < 3 && st == TEL_OK; i++) {
		st = tel__load_string(l, names[i], &text[i]);
		if (st == TEL_OK && text[i] == NULL)
			st = TEL_EDAMAGED;
	}
	if (st == TEL_OK)
		st = tel__report_origin(to, text[0], text[1], text[2], &at);
	for (i = 0; i < 3; i++)
		free(text[i]);
	if (st == TEL_EDAMAGED)
		return load_invalid(why, "the writer of the log is missing");
	if (st != TEL_OK)
		return st;
	to->origins[at].logs += logs;
	to->origins[at].events += events;
	return TEL_OK;
}

/* Records that were lost before they came to the log. */
static tel_status
load_lose(struct loader *l, const char **why)
{
	struct loaded *to;
	uint64_t count = 0;

	(void)tel__load_u64(l, "n", &count);
	l->part->report.lost += count;
	if (!inst_has(l->line, I_C))
		return TEL_OK;
	if (l->record->class_at == INST_NO_CLASS)
		return load_invalid(why, "its class is not defined");
	tel_status st = tel__load_find(l, &to);
	if (st == TEL_OK && to->stat != NULL)
		to->stat->lost += count;
	return st;
}

/* ------------------------------------------------------------ session */

tel_status
tel__load_end_session(struct loader *l)
{
	struct tel_stats *part = l->part;
	tel_status st;

	if (part == NULL)
		return TEL_OK;
	if (!l->ended && !l->within) {
		/* the reader has reported it as damage */
		part->report.cut++;
		l->session_problems -= l->session_problems > 0;
	}
	/* not before: metadata of the log took its place */
	part->report.damaged += l->session_problems;
	l->session_problems = 0;
	st = l->counts ? tel_stats_end(part, NULL) : tel_stats_settle(part);
	if (st == TEL_OK)
		st = tel__load_difference(l);
	/* two parts of telstat's must fit; logs need not know of each other */
	if (st == TEL_OK)
		st = tel__stats_add(l->into, part,
		    ADD_MORE | (l->counts || l->within ? ADD_APART : 0));
	else
		(void)stats_no_memory(l->into);
	if (!l->within) {
		l->into->timed = l->into->sessions++;
		l->into->reached = part->reached;
		l->into->elapsed = part->elapsed;
	}
	tel__load_forget(l);
	tel_stats_free(part);
	l->part = NULL;
	return st;
}

static tel_status
begin_session(struct loader *l)
{
	/* telstat has counted the events of logs, and its records are none */
	static const char by[] = "teltools ";
	const int follows = l->part != NULL;
	tel_status st = tel__load_end_session(l);
	const uint64_t reached = follows ? l->into->reached : 0;

	if (st != TEL_OK)
		return st;
	l->part = tel_stats_new();
	if (l->part == NULL)
		return stats_no_memory(l->into);
	l->part->budget.most = l->into->budget.most;
	l->part->max_groups = l->into->max_groups;
	const struct inst_value *writer = tel__inst_find(l->line, "writer");
	l->counts = !l->within &&
	    (writer == NULL || writer->n < sizeof(by) - 1 ||
	        memcmp(writer->p, by, sizeof(by) - 1) != 0);
	if (!l->counts)
		return TEL_OK;
	tel__load_watch(l);
	st = tel__stats_show_rest(l->into);
	if (st == TEL_OK)
		st = tel_stats_begin(l->part, NULL);
	/* the sessions of a log have one clock, from the first event of all */
	l->part->timed = l->part->sessions;
	l->part->reached = reached;
	return st;
}

/* A record that is of a class. */
static tel_status
load_of_class(struct loader *l, const char **why)
{
	struct loaded *to;

	if (l->record->class_at == INST_NO_CLASS)
		return load_invalid(why, "its class is not defined");
	tel_status st = tel__load_find(l, &to);
	if (st != TEL_OK)
		return st;
	switch (l->line->code) {
	case 'U': return tel__load_update(l, to, why);
	case 'E': return tel__load_trace(l, to);
	case 'S': return tel__load_snapshot(l, to, why);
	default: return tel__load_bucket(l, to, why);
	}
}

static tel_status
load_record(struct loader *l, const char **why)
{
	switch (l->record->type) {
	case T_IGNORED:
		return l->record->off ? TEL_OK :
		                        load_invalid(why, l->record->reason);
	/* of a log, this is what its events come to */
	case T_REPORT:
		return l->counts || l->within ? TEL_OK : read_report(l, why);
	case T_ORIGIN:
		return l->counts || l->within ? TEL_OK : read_origin(l, why);
	case T_LOST: return load_lose(l, why);
	default: break;
	}
	switch (l->line->code) {
	case 'C': return tel__load_class(l, why);
	case 'U':
	case 'E':
	case 'S':
	case 'S' << 8 | 'B': return load_of_class(l, why);
	default: return TEL_OK;
	}
}

tel_status
tel__load_event(struct loader *l, const struct tel_event *ev)
{
	const char *why = NULL;
	tel_status st = TEL_OK;

	l->event = ev;
	if (l->record->type == T_HEADER) {
		st = begin_session(l);
		l->ended = 0;
		if (st == TEL_OK && l->counts)
			st = tel_stats_event(l->part, ev);
		return st;
	}
	/* what was chosen of a log may be without its header */
	if (l->part == NULL && l->within)
		st = begin_session(l);
	else if (l->part == NULL)
		st = stats_fail(l->into, TEL_EFORMAT, "%s: not an inst log",
		    tel__path_end(l->name, 200));
	if (st != TEL_OK)
		return st;
	l->ended = l->record->type == T_FINISH;
	if (l->counts) {
		st = tel_stats_event(l->part, ev);
		if (st != TEL_OK)
			return st;
	}
	st = load_record(l, &why);
	if (st == TEL_EDAMAGED)
		load_notice(l, TEL_DAMAGE, l->name, ev->offset, why);
	else if (st != TEL_OK)
		return stats_no_memory(l->into);
	return TEL_OK;
}

static tel_status
load_events(struct loader *l, struct tel_reader *r)
{
	const struct tel_event *ev;
	tel_status st;

	while ((st = tel_reader_next(r, &ev)) == TEL_OK) {
		l->record = tel__inst_record(r);
		l->line = &l->record->line;
		st = tel__load_event(l, ev);
		if (st != TEL_OK)
			return st;
	}
	if (st != TEL_END)
		return stats_fail(l->into, st, "%s: %s",
		    tel__path_end(l->name, 200), tel_reader_error(r));
	if (l->part == NULL)
		return stats_fail(l->into, TEL_EFORMAT, "%s: not an inst log",
		    tel__path_end(l->name, 200));
	if (l->counts) {
		l->into->report.input += tel_reader_count(r, TEL_COUNT_INPUT);
		l->into->report.skipped +=
		    tel_reader_count(r, TEL_COUNT_SKIPPED);
	}
	st = tel__load_end_session(l);
	if (st == TEL_OK && l->shown != NULL)
		st = tel_stats_settle(l->into);
	tel__load_end_show(l->into, l->shown);
	l->shown = NULL;
	if (st == TEL_OK && l->problems > 0)
		st = stats_fail(l->into, TEL_EDAMAGED, "%s: %s%s",
		    tel__path_end(l->name, 120), l->problem,
		    l->problems > 1 ? ", and more" : "");
	return st;
}

struct tel_reader *
tel__load_reader(struct loader *l)
{
	struct tel_reader *r = tel_reader_new();

	if (r == NULL)
		return NULL;
	r->long_lines = 1;
	if (tel_reader_set_as(r, "inst") == TEL_OK &&
	    tel_reader_set(r, TEL_READ_FORCE, l->into->force) == TEL_OK &&
	    tel_reader_set_notify(r, load_notice, l) == TEL_OK)
		return r;
	tel_reader_free(r);
	return NULL;
}

/* Loads from a descriptor, or where read is not NULL, from a callback. */
static tel_status
load(struct tel_stats *s, int fd, tel_read_fn *read, void *arg,
    const char *name)
{
	struct loader l = { .into = s, .name = name != NULL ? name : "-" };
	struct tel_reader *r = tel__load_reader(&l);
	tel_status st;

	s->started = 1;
	l.text = malloc(INST_LONG_LINE_MAX + 1);
	if (r == NULL || l.text == NULL)
		st = stats_no_memory(s);
	else if ((st = read != NULL ?
	                 tel_reader_open_callback(r, read, arg, l.name) :
	                 tel_reader_open_fd(r, fd, l.name)) != TEL_OK)
		st = stats_fail(s, st, "%s: %s", tel__path_end(l.name, 200),
		    tel_reader_error(r));
	else {
		st = load_events(&l, r);
		/* what was loaded before a failure can be shown, too */
		const tel_status settled = tel_stats_settle(s);
		st = settled == TEL_OK ? st : settled;
	}
	tel_reader_free(r);
	tel__load_forget(&l);
	tel_stats_free(l.part);
	tel_stats_free(l.shown);
	free(l.text);
	return st;
}

tel_status
tel_stats_read_inst(tel_stats *s, tel_read_fn *read, void *arg,
    const char *name)
{
	return load(s, -1, read, arg, name);
}

tel_status
tel_stats_read_inst_fd(tel_stats *s, int fd, const char *name)
{
	return load(s, fd, NULL, NULL, name);
}
