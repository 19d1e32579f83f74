/* SPDX-License-Identifier: BSD-2-Clause */
/* The public face of filters, and their parts of a log: since and until. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/clock.h"
#include "model/run.h"
#include "query/bind.h"
#include "reader/reader.h"
#include "tel/filter.h"
#include "tel/run.h"

struct between_log {
	const struct tel_log *log;
	uint64_t id; /* log->id: another log may have the address */
	int open;
};

/* A range of time of the log that has a name, and of its members. */
struct log_time {
	char *log;
	size_t length;
	tel_filter *range;
};

/*
 * The parts of a log that start with an event for which one expression is
 * true, and end with one for which another is; and the ranges of its own.
 */
struct between {
	struct log_time *times;
	size_t ntimes, time_room;
	tel_filter *since;        /* NULL: from the start on */
	tel_filter *until;        /* NULL: to the end */
	struct between_log *logs; /* those that are read side by side */
	size_t nlogs, room;
	size_t last;              /* the index of the log found last */
	const tel_filter *failed; /* the expression that failed */
};

struct tel_filter {
	struct binder binder;
	struct between between;
	const tel_filter *failed; /* an end of that, if it failed last */
};

/* ----------------------------------------------------- since and until */

/* Sets an end of it, since or until; text NULL: none. */
static tel_status
set_expression(tel_filter **end, const char *text)
{
	if (text == NULL) {
		tel_filter_free(*end);
		*end = NULL;
		return TEL_OK;
	}
	tel_filter *f = *end != NULL ? *end : tel_filter_new();
	if (f == NULL)
		return TEL_ENOMEM;
	*end = f;
	tel_status st = tel_filter_set_expression(f, text);
	return st;
}

/* The state of a log, made when it is new; NULL when out of memory. */
static struct between_log *
filter_find_log(struct between *b, const struct tel_log *log)
{
	size_t i;

	if (b->last < b->nlogs && b->logs[b->last].log == log) {
		i = b->last;
	} else {
		for (i = 0; i < b->nlogs && b->logs[i].log != log; i++)
			continue;
	}
	if (!TEL__RESERVE(b->logs, b->room, i + 1))
		return NULL;
	b->last = i;
	struct between_log *l = &b->logs[i];
	if (i < b->nlogs && l->id == log->id)
		return l;
	b->nlogs += i == b->nlogs;
	l->log = log;
	l->id = log->id;
	l->open = b->since == NULL;
	return l;
}

/* Whether an event is in a range of its log: 1, 0, or -1 after a failure. */
static int
log_time_match(struct between *b, const tel_event *event)
{
	const char *name = event->log->name;
	int in = 1, match;

	for (size_t i = 0; i < b->ntimes; i++) {
		const struct log_time *t = &b->times[i];

		if (strncmp(name, t->log, t->length) != 0 ||
		    (name[t->length] != '\0' && name[t->length] != ':'))
			continue;
		match = tel_filter_match(t->range, event);
		b->failed = match < 0 ? t->range : NULL;
		if (match != 0)
			return match;
		in = 0;
	}
	return in;
}

/*
 * Whether an event lies in such a part: 1, 0, or -1 after a failure.  Most
 * filters have none, so this must not cost tel_filter_match() registers.
 */
__attribute__((noinline)) static int
between_match(struct between *b, const tel_event *event)
{
	struct between_log *l = filter_find_log(b, event->log);
	int begins = 0, ends = 0, in;

	/* both see every event, as either may use dt */
	if (b->since != NULL)
		begins = tel_filter_match(b->since, event);
	if (b->until != NULL)
		ends = tel_filter_match(b->until, event);
	b->failed = begins < 0 ? b->since : ends < 0 ? b->until : NULL;
	if (l == NULL || begins < 0 || ends < 0)
		return -1;
	in = l->open || begins;
	l->open = in && !ends;
	return in ? log_time_match(b, event) : 0;
}

static void
between_clear(struct between *b)
{
	for (size_t i = 0; i < b->ntimes; i++) {
		free(b->times[i].log);
		tel_filter_free(b->times[i].range);
	}
	free(b->times);
	tel_filter_free(b->since);
	tel_filter_free(b->until);
	free(b->logs);
	memset(b, 0, sizeof(*b));
}

/* -------------------------------------------------------------- filter */

tel_filter *
tel_filter_new(void)
{
	return calloc(1, sizeof(struct tel_filter));
}

void
tel_filter_free(tel_filter *f)
{
	if (f == NULL)
		return;
	tel__binder_clear(&f->binder);
	between_clear(&f->between);
	free(f);
}

/* What every setter ends with. */
static tel_status
filter_changed(tel_filter *f, tel_status status)
{
	f->failed = NULL;
	tel__binder_forget(&f->binder);
	return status == TEL_OK ? TEL_OK :
	                          tel__binder_failed(&f->binder, status);
}

tel_status
tel_filter_set_expression(tel_filter *f, const char *text)
{
	f->failed = NULL;
	return tel__binder_set_expression(&f->binder, text);
}

tel_status
tel_filter_set_kinds(tel_filter *f, const char *text)
{
	return filter_changed(f,
	    tel__select_kinds(&f->binder.selection, text, &f->binder.fail));
}

tel_status
tel_filter_set_types(tel_filter *f, const char *text)
{
	return filter_changed(f,
	    tel__select_types(&f->binder.selection, text, &f->binder.fail));
}

tel_status
tel_filter_set_time(tel_filter *f, const char *text)
{
	return filter_changed(f,
	    tel__select_time(&f->binder.selection, text, &f->binder.fail));
}

void
tel_filter_set_clock(tel_filter *f, uint64_t first, uint64_t last)
{
	struct selection *s = &f->binder.selection;

	s->from.base = s->to.base = INSTANT_CLOCK;
	s->from.value = first;
	s->to.value = last;
	tel__binder_forget(&f->binder);
}

tel_status
tel_filter_add_addresses(tel_filter *f, const char *text)
{
	return filter_changed(f,
	    tel__select_address(&f->binder.selection, text, &f->binder.fail));
}

tel_status
tel_filter_add_label(tel_filter *f, const char *glob)
{
	return filter_changed(f,
	    tel__select_label(&f->binder.selection, glob, &f->binder.fail));
}

void
tel_filter_set_invert(tel_filter *f, int on)
{
	f->binder.invert = on != 0;
	tel__binder_forget(&f->binder);
}

/* Sets since or until, and records whose failure to report. */
static tel_status
set_end(tel_filter *f, tel_filter **end, const char *text)
{
	tel_status st = set_expression(end, text);

	f->failed = st == TEL_OK ? NULL : *end;
	/* the state of each log is dropped */
	f->between.nlogs = 0;
	return st;
}

tel_status
tel_filter_set_since(tel_filter *f, const char *text)
{
	return set_end(f, &f->between.since, text);
}

tel_status
tel_filter_set_until(tel_filter *f, const char *text)
{
	return set_end(f, &f->between.until, text);
}

tel_status
tel_filter_add_log_time(tel_filter *f, const char *log, const char *text)
{
	struct between *b = &f->between;
	struct log_time t = { NULL, strlen(log), tel_filter_new() };
	tel_status st = TEL_ENOMEM;

	if (t.range != NULL)
		st = tel_filter_set_time(t.range, text);
	if (st == TEL_EINVAL) {
		st = tel__fail_set(&f->binder.fail, st, text,
		    tel_filter_error_column(t.range), "%s",
		    tel_filter_error(t.range));
		st = filter_changed(f, st);
	}
	if (st == TEL_OK &&
	    (!TEL__RESERVE(b->times, b->time_room, b->ntimes + 1) ||
	        (t.log = strdup(log)) == NULL))
		st = TEL_ENOMEM;
	if (st == TEL_OK)
		b->times[b->ntimes++] = t;
	else
		tel_filter_free(t.range);
	return st;
}

static int
is_bounded(const tel_filter *f)
{
	return f->between.since != NULL || f->between.until != NULL ||
	    f->between.ntimes > 0;
}

static tel_status
bind_end(tel_filter *f, tel_filter *end, const tel_schema *schema)
{
	tel_status st = end == NULL ? TEL_OK : tel_filter_bind(end, schema);

	f->failed = st == TEL_OK ? NULL : end;
	return st;
}

tel_status
tel_filter_bind(tel_filter *f, const tel_schema *schema)
{
	tel_status st = bind_end(f, f->between.since, schema);

	if (st == TEL_OK)
		st = bind_end(f, f->between.until, schema);
	return st == TEL_OK ? tel__binder_bind(&f->binder, schema) : st;
}

int
tel_filter_match(tel_filter *f, const tel_event *event)
{
	const struct program *p = binder_program(&f->binder, event);

	if (p == NULL)
		return -1;
	if (is_bounded(f)) {
		int in = between_match(&f->between, event);

		f->failed = f->between.failed;
		if (in <= 0)
			return in < 0 ? -1 : f->binder.invert;
	}
	return tel__program_match(p, &f->binder.machine, event);
}

/* Leaves the events of a run that match, each seen by itself. */
static tel_status
match_each(tel_filter *f, struct tel_run *run)
{
	size_t i, n = 0;

	for (i = 0; i < run->count; i++) {
		int match = tel_filter_match(f, run_event(run, i));

		if (match < 0)
			return TEL_EINVAL;
		if (match > 0)
			run_move(run, n++, i);
	}
	run->count = n;
	return TEL_OK;
}

tel_status
tel_filter_run(tel_filter *f, tel_run *run)
{
	struct binder *b = &f->binder;

	run->changed = 1;
	if (run->count <= 1 || is_bounded(f) || binder_uses_before(b))
		return match_each(f, run);
	/* all are of the schema of the first */
	if (binder_program(b, run_event(run, 0)) == NULL)
		return TEL_EINVAL;
	tel__program_filter(b->current->programs, b->current->unknown,
	    &b->machine, run);
	return TEL_OK;
}

int
tel_filter_type(const tel_filter *f, const tel_type *type)
{
	const struct binding *b = f->binder.current;

	if (b == NULL || is_bounded(f) || binder_uses_before(&f->binder))
		return -1;
	const struct program *p = binding_program(b, type);
	return p->entry < GO_ACCEPT ? -1 : p->entry == GO_ACCEPT;
}

/* Reports the program of a type; which: "", or of which expression it is. */
static void
explain_type(const struct program *p, const char *which, const char *type,
    const char *log, tel_notify_fn *fn, void *arg)
{
	char text[512], line[1024];
	size_t i;

	for (i = 0; tel__program_text(p, i, text, sizeof(text)) > 0; i++) {
		snprintf(line, sizeof(line), "%s%.200s: %s", which, type, text);
		fn(arg, TEL_INFO, log, 0, line);
	}
}

static void
explain(const tel_filter *f, const tel_schema *schema, const char *which,
    const char *log, tel_notify_fn *fn, void *arg)
{
	const struct binding *b = f == NULL ? NULL : f->binder.current;
	uint32_t i, all = 0, none = 0;
	char text[160];

	if (b == NULL || b->schema != schema)
		return;
	for (i = 0; i < b->unknown; i++) {
		all += b->programs[i].entry == GO_ACCEPT;
		none += b->programs[i].entry == GO_REJECT;
		explain_type(&b->programs[i], which, schema->types[i].name, log,
		    fn, arg);
	}
	explain_type(&b->programs[i], which, "unknown types", log, fn, arg);
	snprintf(text, sizeof(text),
	    "%s%" PRIu32 " types are selected, %" PRIu32 " are not, %" PRIu32
	    " have a program",
	    which, all, none, b->unknown - all - none);
	fn(arg, TEL_INFO, log, 0, text);
}

void
tel_filter_explain(const tel_filter *f, const tel_schema *schema,
    const char *log, tel_notify_fn *fn, void *arg)
{
	explain(f->between.since, schema, "since: ", log, fn, arg);
	explain(f->between.until, schema, "until: ", log, fn, arg);
	explain(f, schema, "", log, fn, arg);
}

int
tel_filter_uses(const tel_filter *f, tel_use use)
{
	const struct selection *s = &f->binder.selection;
	const struct between *b = &f->between;

	for (size_t i = 0; i < b->ntimes; i++)
		if (tel_filter_uses(b->times[i].range, use))
			return 1;
	if ((b->since != NULL && tel_filter_uses(b->since, use)) ||
	    (b->until != NULL && tel_filter_uses(b->until, use)) ||
	    tel__tree_uses(f->binder.tree, use))
		return 1;
	switch (use) {
	case TEL_USE_RATE:
		return s->from.base == INSTANT_NS || s->to.base == INSTANT_NS;
	case TEL_USE_LABELS: return s->nlabels > 0;
	case TEL_USE_OTHERS:
		return is_bounded(f) || s->nlabels > 0 || s->naddresses > 0 ||
		    s->from.base >= INSTANT_TICKS ||
		    s->to.base >= INSTANT_TICKS;
	case TEL_USE_HISTORY:
	case TEL_USE_ORDER: break;
	}
	return binder_uses_history(&f->binder);
}

/* Copies the settings of a selection.  TEL_OK, TEL_ENOMEM. */
static tel_status
copy_selection(tel_filter *to, const struct selection *from)
{
	struct selection *s = &to->binder.selection;
	tel_status st = TEL_OK;

	if (from->kinds.text != NULL)
		st = tel_filter_set_kinds(to, from->kinds.text);
	if (st == TEL_OK && from->types.text != NULL)
		st = tel_filter_set_types(to, from->types.text);
	for (size_t i = 0; i < from->nlabels && st == TEL_OK; i++)
		st = tel_filter_add_label(to, from->labels[i].text);
	s->from = from->from;
	s->to = from->to;
	if (st != TEL_OK || from->naddresses == 0)
		return st;
	if (!TEL__RESERVE(s->addresses, s->address_room, from->naddresses))
		return TEL_ENOMEM;
	memcpy(s->addresses, from->addresses,
	    from->naddresses * sizeof(*s->addresses));
	s->naddresses = from->naddresses;
	s->address_set = tel__set_new(s->addresses, s->naddresses);
	return s->address_set == NULL ? TEL_ENOMEM : TEL_OK;
}

/* Copies the ranges of logs. */
static tel_status
copy_times(struct between *to, const struct between *from)
{
	if (!TEL__RESERVE(to->times, to->time_room, from->ntimes))
		return TEL_ENOMEM;
	for (size_t i = 0; i < from->ntimes; i++) {
		struct log_time *t = &to->times[i];

		t->length = from->times[i].length;
		t->log = strdup(from->times[i].log);
		t->range = tel_filter_copy(from->times[i].range);
		to->ntimes++;
		if (t->log == NULL || t->range == NULL)
			return TEL_ENOMEM;
	}
	return TEL_OK;
}

/* Copies since or until. */
static tel_status
copy_end(tel_filter **to, const tel_filter *from)
{
	if (from == NULL)
		return TEL_OK;
	*to = tel_filter_copy(from);
	return *to != NULL ? TEL_OK : TEL_ENOMEM;
}

tel_filter *
tel_filter_copy(const tel_filter *f)
{
	tel_filter *copy = tel_filter_new();
	tel_status st = copy != NULL ? TEL_OK : TEL_ENOMEM;

	if (st == TEL_OK && f->binder.tree != NULL)
		st = tel_filter_set_expression(copy, f->binder.tree->text);
	if (st == TEL_OK)
		st = copy_selection(copy, &f->binder.selection);
	if (st == TEL_OK)
		st = copy_end(&copy->between.since, f->between.since);
	if (st == TEL_OK)
		st = copy_end(&copy->between.until, f->between.until);
	if (st == TEL_OK)
		st = copy_times(&copy->between, &f->between);
	if (st == TEL_OK) {
		copy->binder.invert = f->binder.invert;
		return copy;
	}
	tel_filter_free(copy);
	return NULL;
}

/*
 * The clock that an end of the range is; open where it is none, or not known
 * yet.  Ticks count from the first event, and no further than clocks do.
 */
static uint64_t
end_clock(const struct instant *at, const tel_event *event, uint64_t open)
{
	if (at->base == INSTANT_CLOCK)
		return at->value;
	if (at->base != INSTANT_TICKS || event == NULL)
		return open;
	uint64_t origin = tel__clock_origin(event->log->clock);
	if (at->value <= INT64_MAX)
		return at->value > UINT64_MAX - origin ? UINT64_MAX :
		                                         origin + at->value;
	return 0 - at->value > origin ? 0 : origin + at->value;
}

int
tel_filter_clocks(const tel_filter *f, const tel_event *event, uint64_t *first,
    uint64_t *last)
{
	const struct selection *s = &f->binder.selection;

	if (f->binder.invert || is_bounded(f) || binder_uses_before(&f->binder))
		return 0;
	*first = end_clock(&s->from, event, 0);
	*last = end_clock(&s->to, event, UINT64_MAX);
	return *first > 0 || *last < UINT64_MAX;
}

void
tel_filter_attach(tel_filter *f, tel_reader *r, int whole)
{
	r->skip_names = !whole;
	r->predicate_pushdown.whole = whole;
	r->predicate_pushdown.timed = tel_filter_uses(f, TEL_USE_RATE);
	/* what comes between the events that match counts for those */
	if (!is_bounded(f) && !binder_uses_before(&f->binder))
		tel__binder_attach(&f->binder, r);
}

const char *
tel_filter_error(const tel_filter *f)
{
	return f->failed != NULL ? tel_filter_error(f->failed) :
	                           f->binder.fail.message;
}

unsigned
tel_filter_error_column(const tel_filter *f)
{
	return f->failed != NULL ? tel_filter_error_column(f->failed) :
	                           f->binder.fail.column;
}

const char *
tel_filter_error_text(const tel_filter *f)
{
	return f->failed != NULL ? tel_filter_error_text(f->failed) :
	                           f->binder.fail_text;
}
