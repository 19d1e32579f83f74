/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merging logs by time: a window on each, and a heap of their next events.
 * Events of the same clock come in the order of the inputs.
 *
 * Of many files, and of an archive of many members, most are closed: of those
 * the heap has the clock of the first event, which was looked up, and they are
 * opened when it is their turn; members by readers that are at the end of
 * others.  So memory grows with what overlaps in time, not with all.
 */
#include "base/array.h"
#include "base/getter.h"
#include "base/heap.h"
#include "base/path.h"
#include "format/reader.h"
#include "model/running.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many are open in any case, or so many if they are not small. */
#define OPEN_FEW 64
#define OPEN_MANY 1024
#define SMALL ((int64_t)1 << 20)
/* Rates of a clock that was measured twice differ by less. */
#define RATE_ERROR 0.01

struct merge_input {
	tel_reader *reader;
	tel_window *window; /* NULL: it is closed */
	const tel_event *head;
	uint64_t clock;  /* of the head, or of the first event */
	uint64_t origin; /* of its clock; UINT64_MAX: no time yet */
	uint64_t run, run_place;
	double rate;    /* ticks a second; 0: unknown */
	int measured;   /* the rate was, and may be far off */
	size_t number;  /* in the order they were added */
	uint64_t twice; /* events of threads that ran in another log */
	int suspended;  /* the reader was, and may be again at its end */
	/* of a member: where it is, and its order */
	tel_reader *archive;
	struct tel_member part;
	tel_order order;
	struct merge_input *idle; /* the next input whose reader is at an end */
};

struct tel_merge {
	struct merge_input *inputs;
	size_t count, input_room;
	void **heap; /* inputs with a head, the earliest first */
	size_t heaped;
	size_t ready;      /* inputs that had their first event */
	tel_reader *scout; /* that looks up first events, or NULL */
	struct merge_input *idle;
	uint64_t origin; /* of all; UINT64_MAX: none */
	uint64_t late;   /* events of windows that are closed */
	int allocs;
	int begun;
	int taken;         /* the head of heap[0] was given */
	tel_status failed; /* of an input that had to be left */
	tel_reader *culprit;
	const char *error;
	char message[256];
	struct tel_running *running; /* NULL until there are periods */
	/* an event that is shown with another flag, and its bytes */
	struct tel_event changed;
	unsigned char *copy;
	size_t copy_room;
};

tel_merge *
tel_merge_new(void)
{
	return calloc(1, sizeof(struct tel_merge));
}

void
tel_merge_free(tel_merge *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->count; i++) {
		tel_window_free(m->inputs[i].window);
		free(m->inputs[i].part.name);
	}
	tel_reader_free(m->scout);
	free(m->inputs);
	free(m->heap);
	free(m->running);
	free(m->copy);
	free(m);
}

static struct merge_input *
new_input(struct tel_merge *m)
{
	if (!TEL__RESERVE_ZEROED(m->inputs, m->input_room, m->count + 1))
		return NULL;
	struct merge_input *in = &m->inputs[m->count];
	in->number = m->count++;
	return in;
}

static tel_status
open_window(struct tel_merge *m, struct merge_input *in)
{
	tel_status st = tel_window_new(in->reader, in->order, &in->window);

	return st == TEL_OK ? tel_window_set_allocs(in->window, m->allocs) : st;
}

/* Facts on an input that are needed before the first event of any is given. */
static void
query_merge_learn(struct merge_input *in)
{
	const struct tel_log *log = &in->reader->log;
	const uint64_t origin = tel__clock_origin(log->clock);

	/* one of a log without any time yet */
	in->origin = origin == 0 && log->schema->untimed ? UINT64_MAX : origin;
	in->run = log->run;
	in->run_place = log->run_place;
	in->rate = tel__clock_rate(log->clock);
	in->measured = tel__clock_points(log->clock) > 1;
}

/* Whether an input of a size is closed until its turn. */
static int
query_merge_waits(const struct tel_merge *m, int64_t size)
{
	return m->count > (size <= SMALL ? OPEN_FEW : OPEN_MANY);
}

/* The first event of an input whose window is open. */
static tel_status
find_first(struct merge_input *in)
{
	tel_status st;

	do
		st = tel_window_next(in->window, &in->head);
	while (st == TEL_LOG);
	in->origin = UINT64_MAX;
	if (st == TEL_OK) {
		in->clock = in->head->clock;
		query_merge_learn(in);
	}
	return st;
}

static void
close_window(struct merge_input *in)
{
	tel_window_free(in->window);
	in->window = NULL;
}

/* A reader of several files is closed until it is its turn, if it can be. */
static tel_status
add_one(struct tel_merge *m, tel_reader *r, tel_order order)
{
	struct merge_input *in = new_input(m);

	if (in == NULL)
		return TEL_ENOMEM;
	in->reader = r;
	in->order = order;
	tel_status st = open_window(m, in);
	if (st != TEL_OK)
		m->count--;
	if (st != TEL_OK || r->file.fd < 0 ||
	    !query_merge_waits(m, r->file.size) || find_first(in) != TEL_OK ||
	    tel__reader_suspend(r, 1) != TEL_OK)
		return st;
	close_window(in);
	in->suspended = 1;
	return TEL_OK;
}

/*
 * Looks up the first event of a member, which stays closed.  What fails is left
 * to its turn, which then is the first.
 */
static tel_status
query_merge_look_up(struct tel_merge *m, struct merge_input *in)
{
	tel_status st =
	    tel__reader_open_part(in->archive, &in->part, 0, &m->scout);

	if (st != TEL_OK)
		return st;
	in->reader = m->scout;
	st = open_window(m, in);
	if (st != TEL_OK)
		return st;
	(void)find_first(in);
	close_window(in);
	in->reader = NULL;
	return TEL_OK;
}

/* Adds the next member.  TEL_OK; TEL_END: there is none; a failure. */
static tel_status
query_merge_add_member(struct tel_merge *m, tel_reader *r, tel_order order)
{
	struct tel_member part;
	tel_status st = tel__reader_split(r, &part);

	if (st != TEL_OK)
		return st;
	struct merge_input *in = new_input(m);
	if (in == NULL) {
		free(part.name);
		return TEL_ENOMEM;
	}
	in->part = part;
	in->archive = r;
	in->order = order;
	/* of a log of several files there is one, and it can be read once */
	if (!part.files && query_merge_waits(m, part.size))
		return query_merge_look_up(m, in);
	st = tel__reader_open_part(r, &part, 1, &in->reader);
	return st == TEL_OK ? open_window(m, in) : st;
}

tel_status
tel_merge_set_allocs(tel_merge *m, int allocs)
{
	if (m->count > 0)
		return TEL_ESTATE;
	m->allocs = allocs;
	return TEL_OK;
}

tel_status
tel_merge_add(tel_merge *m, tel_reader *r, tel_order order)
{
	tel_status st;

	if (m->heap != NULL)
		return TEL_ESTATE;
	if (order != TEL_ORDER_TIME && order != TEL_ORDER_LIVE)
		return TEL_EINVAL;
	if (!tel_reader_archive(r))
		return add_one(m, r, order);
	do
		st = query_merge_add_member(m, r, order);
	while (st == TEL_OK);
	tel_reader_free(m->scout);
	m->scout = NULL;
	return st == TEL_END ? TEL_OK : st;
}

static struct merge_input *
merge_first(const struct tel_merge *m)
{
	return m->heap[0];
}

static int
query_merge_before(const void *first, const void *second)
{
	const struct merge_input *a = first, *b = second;

	if (a->clock != b->clock)
		return a->clock < b->clock;
	return a->number < b->number;
}

/* A log has ended: what only the others said of it. */
static void
tell_twice(struct merge_input *in)
{
	if (in->twice > 0)
		tel__reader_notice(in->reader, TEL_INFO, in->reader->offset,
		    "%llu records are of a thread that also ran on another "
		    "processor, in another log: their flags have 0x%x",
		    (unsigned long long)in->twice,
		    (unsigned)in->reader->log.schema->periods.twice);
	in->twice = 0;
}

/* A member has ended: its reader may read another.  Or a file that was closed. */
static void
query_merge_retire(struct tel_merge *m, struct merge_input *in)
{
	m->late += tel_window_late(in->window);
	close_window(in);
	if (in->suspended) {
		(void)tel__reader_suspend(in->reader, 0);
		return;
	}
	in->idle = m->idle;
	m->idle = in;
}

/*
 * Makes the next event of an input its head.  TEL_END when there is none,
 * TEL_AGAIN when there is none yet; an
 * input that fails ends too, and its failure is reported at the end of all.
 */
static tel_status
query_merge_advance(struct tel_merge *m, struct merge_input *in)
{
	tel_status st;

	do
		st = tel_window_next(in->window, &in->head);
	while (st == TEL_LOG);
	if (st == TEL_OK)
		in->clock = in->head->clock;
	if (st == TEL_OK || st == TEL_AGAIN)
		return st;
	tell_twice(in);
	if (st == TEL_END && (in->archive != NULL || in->suspended))
		query_merge_retire(m, in);
	if (st < 0 && m->failed == TEL_OK) {
		m->failed = st;
		m->culprit = in->reader;
		m->error = tel_window_error(in->window);
	}
	return st < 0 ? TEL_END : st;
}

static tel_reader *
merge_reader(const struct merge_input *in)
{
	return in->reader != NULL ? in->reader : in->archive;
}

/* Its name, or the end of it, for a message. */
static const char *
merge_name(const struct merge_input *in)
{
	return tel__path_end(in->reader != NULL ? in->reader->log.name :
	                                          in->part.name,
	    150);
}

/*
 * Refuses to merge logs of different runs of a program by clocks that have
 * nothing in common.  TEL_OK, TEL_EINVAL.
 */
static tel_status
check_runs(struct tel_merge *m)
{
	const struct merge_input *in, *first = NULL;

	for (size_t i = 0; i < m->heaped; i++) {
		in = m->heap[i];
		if (in->run == 0)
			continue;
		if (first == NULL)
			first = in;
		if (in->run == first->run || in->run_place == first->run_place)
			continue;
		m->culprit = merge_reader(in);
		m->error = m->message;
		snprintf(m->message, sizeof(m->message),
		    "it and %s are of different runs, whose clocks are "
		    "unrelated; --no-merge reads one after the other",
		    merge_name(first));
		return m->failed = TEL_EINVAL;
	}
	return TEL_OK;
}

/*
 * Reports the first log whose clock has another rate: its ticks are compared
 * nevertheless.
 */
static void
check_rates(const struct tel_merge *m)
{
	const struct merge_input *in, *first = NULL;

	for (size_t i = 0; i < m->heaped; i++) {
		in = m->heap[i];
		if (!(in->rate > 0))
			continue;
		if (first == NULL)
			first = in;
		if ((in->measured && first->measured) ||
		    fabs(in->rate - first->rate) <= first->rate * RATE_ERROR)
			continue;
		tel__reader_notice(merge_reader(in), TEL_WARNING, 0,
		    "its clock has %.10g ticks a second, and that of %s %.10g, "
		    "but they are merged by ticks; --no-merge reads one after "
		    "the other",
		    in->rate, merge_name(first), first->rate);
		return;
	}
}

/* Takes the first event of each input, and one origin for all. */
static tel_status
query_merge_begin(struct tel_merge *m)
{
	if (m->heap == NULL)
		m->heap = malloc((m->count + 1) * sizeof(void *));
	if (m->heap == NULL)
		return TEL_ENOMEM;
	for (; m->ready < m->count; m->ready++) {
		struct merge_input *in = &m->inputs[m->ready];

		/* the first event of some was looked up */
		tel_status st = in->window != NULL && in->head == NULL ?
		    query_merge_advance(m, in) :
		    TEL_OK;
		if (st == TEL_AGAIN)
			return st;
		if (st == TEL_OK && in->window != NULL)
			query_merge_learn(in);
		if (st == TEL_OK)
			m->heap[m->heaped++] = in;
	}
	tel_status st = check_runs(m);
	if (st != TEL_OK)
		return st;
	check_rates(m);
	m->begun = 1;
	m->origin = UINT64_MAX;
	for (size_t i = 0; i < m->heaped; i++) {
		struct merge_input *in = m->heap[i];

		if (in->origin < m->origin)
			m->origin = in->origin;
	}
	for (size_t i = 0; i < m->heaped && m->origin != UINT64_MAX; i++) {
		struct merge_input *in = m->heap[i];

		if (in->window != NULL)
			tel__clock_set_origin(in->reader->log.clock, m->origin);
	}
	tel__heap_fill(m->heap, m->heaped, query_merge_before);
	return TEL_OK;
}

/* Opens the first of the heap.  TEL_OK, TEL_END: it has no event; a failure. */
static tel_status
open_first(struct tel_merge *m)
{
	struct merge_input *in = m->heap[0];

	if (m->idle != NULL && !in->suspended) {
		in->reader = m->idle->reader;
		m->idle = m->idle->idle;
	}
	tel_status st = in->suspended ?
	    TEL_OK :
	    tel__reader_open_part(in->archive, &in->part, 1, &in->reader);
	if (st == TEL_OK)
		st = open_window(m, in);
	if (st != TEL_OK) {
		m->culprit = in->suspended ? in->reader : in->archive;
		m->error = tel_reader_error(m->culprit);
		return m->failed = st;
	}
	free(in->part.name);
	in->part.name = NULL;
	st = query_merge_advance(m, in);
	if (st == TEL_OK && m->origin != UINT64_MAX)
		tel__clock_set_origin(in->reader->log.clock, m->origin);
	return st;
}

/*
 * The event ev, given by an input, with the flag that its thread runs twice;
 * NULL when out of memory.
 */
static const struct tel_event *
flag(struct tel_merge *m, const struct tel_event *ev)
{
	const struct tel_periods *p = &ev->type->schema->periods;

	if (!TEL__RESERVE(m->copy, m->copy_room, ev->size))
		return NULL;
	memcpy(m->copy, ev->data, ev->size);
	m->copy[p->type->fields[p->flags].offset] |= p->twice;
	m->changed = *ev;
	m->changed.data = m->copy;
	return &m->changed;
}

/*
 * Looks at a period that a thread ran: of several logs each is of a processor
 * and does not know of the others.
 */
static const struct tel_event *
query_merge_judge(struct tel_merge *m, struct merge_input *in)
{
	const struct tel_event *ev = in->head;
	const struct tel_periods *p = &ev->type->schema->periods;
	const struct tel_field *f = p->type->fields;
	uint64_t flags = tel_load(&f[p->flags], ev->data);

	if (m->running == NULL) {
		m->running = calloc(1, sizeof(*m->running));
		if (m->running == NULL)
			return NULL;
	}
	if ((flags & p->uncertain) != 0 ||
	    tel_running_take(m->running,
	        (int64_t)tel_load(&f[p->thread], ev->data),
	        (uint32_t)tel_load(&f[p->cpu], ev->data),
	        tel_load(&f[p->end], ev->data)) <= ev->clock ||
	    (flags & p->twice) != 0)
		return ev;
	in->twice++;
	return flag(m, ev);
}

static tel_status
query_merge_no_memory(struct tel_merge *m)
{
	m->error = "out of memory";
	return m->failed = TEL_ENOMEM;
}

/* Reports which types of the user's roles no member of an archive had. */
static void
report_roles(struct tel_merge *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->inputs[i].archive != NULL)
			tel__reader_report_roles(m->inputs[i].archive);
}

tel_status
tel_merge_next(tel_merge *m, const tel_event **event)
{
	tel_status st;

	if (!m->begun && (st = query_merge_begin(m)) != TEL_OK)
		return st == TEL_ENOMEM ? query_merge_no_memory(m) : st;
	while (m->taken || (m->heaped > 0 && merge_first(m)->window == NULL)) {
		st = m->taken ? query_merge_advance(m, m->heap[0]) :
		                open_first(m);
		if (st == TEL_AGAIN || st < 0)
			return st;
		m->taken = 0;
		if (st != TEL_OK)
			m->heap[0] = m->heap[--m->heaped];
		if (m->heaped > 0)
			tel__heap_sink(m->heap, m->heaped, 0,
			    query_merge_before);
	}
	if (m->heaped == 0) {
		report_roles(m);
		return m->failed != TEL_OK ? m->failed : TEL_END;
	}
	m->taken = 1;
	const struct tel_event *ev = merge_first(m)->head;
	if (ev->type == ev->type->schema->periods.type) {
		ev = query_merge_judge(m, m->heap[0]);
		if (ev == NULL)
			return query_merge_no_memory(m);
	}
	*event = ev;
	return TEL_OK;
}

tel_reader *
tel_merge_reading(const tel_merge *m)
{
	return m->taken ? merge_first(m)->reader : NULL;
}

TEL__GETTER(const tel_reader *, tel_merge_failed, tel_merge, culprit)

const char *
tel_merge_error(const tel_merge *m)
{
	return m->error != NULL ? m->error : "";
}

uint64_t
tel_merge_late(const tel_merge *m)
{
	uint64_t late = m->late;

	for (size_t i = 0; i < m->count; i++)
		if (m->inputs[i].window != NULL)
			late += tel_window_late(m->inputs[i].window);
	return late;
}
