/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merging logs by time: a window on each, and a heap of their next events.
 * Events of the same clock come in the order of the inputs.
 */
#include "base/array.h"
#include "format/reader.h"
#include "model/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct merge_input {
	tel_reader *reader;
	tel_window *window;
	const tel_event *head;
	size_t number;  /* in the order they were added */
	uint64_t twice; /* events of threads that ran in another log */
};

struct tel_merge {
	struct merge_input *inputs;
	size_t count, input_room;
	struct merge_input **heap; /* inputs with a head, the earliest first */
	size_t heaped;
	size_t ready; /* inputs that had their first event */
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
	size_t i;

	if (m == NULL)
		return;
	for (i = 0; i < m->count; i++)
		tel_window_free(m->inputs[i].window);
	free(m->inputs);
	free(m->heap);
	free(m->running);
	free(m->copy);
	free(m);
}

static tel_status
add_one(struct tel_merge *m, tel_reader *r, tel_order order)
{
	struct merge_input *input;
	tel_status st;

	if (!TEL__RESERVE(m->inputs, m->input_room, m->count + 1))
		return TEL_ENOMEM;
	input = &m->inputs[m->count];
	memset(input, 0, sizeof(*input));
	input->reader = r;
	input->number = m->count;
	st = tel_window_new(r, order, &input->window);
	if (st != TEL_OK)
		return st;
	m->count++;
	return tel_window_set_allocs(input->window, m->allocs);
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
	tel_reader *member;
	tel_status st;

	if (m->heap != NULL)
		return TEL_ESTATE;
	if (order == TEL_ORDER_LOG)
		return TEL_EINVAL;
	if (!tel_reader_archive(r))
		return add_one(m, r, order);
	for (;;) {
		st = tel__reader_split(r, &member);
		if (st == TEL_END)
			return TEL_OK;
		if (st == TEL_OK)
			st = add_one(m, member, order);
		if (st != TEL_OK)
			return st;
	}
}

size_t
tel_merge_count(const tel_merge *m)
{
	return m->count;
}

static int
before(const struct merge_input *a, const struct merge_input *b)
{
	if (a->head->clock != b->head->clock)
		return a->head->clock < b->head->clock;
	return a->number < b->number;
}

/* Puts the input at place i of the heap where it belongs below. */
static void
sink(struct tel_merge *m, size_t i)
{
	struct merge_input *in = m->heap[i];
	size_t child;

	while ((child = 2 * i + 1) < m->heaped) {
		if (child + 1 < m->heaped &&
		    before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m->heap[child], in))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = in;
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

/*
 * Makes the next event of an input its head.  TEL_END when there is none,
 * TEL_AGAIN when there is none yet; an
 * input that fails ends too, and its failure is reported at the end of all.
 */
static tel_status
advance(struct tel_merge *m, struct merge_input *in)
{
	tel_status st;

	do
		st = tel_window_next(in->window, &in->head);
	while (st == TEL_LOG);
	if (st == TEL_AGAIN)
		return st;
	if (st != TEL_OK)
		tell_twice(in);
	if (st < 0 && m->failed == TEL_OK) {
		m->failed = st;
		m->culprit = in->reader;
		m->error = tel_window_error(in->window);
	}
	return st < 0 ? TEL_END : st;
}

/*
 * Refuses to merge logs of different runs of a program by clocks that have
 * nothing in common.  TEL_OK, TEL_EINVAL.
 */
static tel_status
check_runs(struct tel_merge *m)
{
	const struct tel_log *log, *first = NULL;
	size_t i;

	for (i = 0; i < m->heaped; i++) {
		log = &m->heap[i]->reader->log;
		if (log->run == 0)
			continue;
		if (first == NULL)
			first = log;
		if (log->run == first->run ||
		    log->run_place == first->run_place)
			continue;
		m->culprit = m->heap[i]->reader;
		m->error = m->message;
		snprintf(m->message, sizeof(m->message),
		    "it and %.150s are of different runs, whose clocks are "
		    "unrelated; --no-merge reads one after the other",
		    first->name);
		return m->failed = TEL_EINVAL;
	}
	return TEL_OK;
}

/* Takes the first event of each input, and one origin for all. */
static tel_status
begin(struct tel_merge *m)
{
	uint64_t origin = UINT64_MAX, o;
	tel_status st;
	size_t i;

	if (m->heap == NULL)
		m->heap = malloc((m->count + 1) * sizeof(struct merge_input *));
	if (m->heap == NULL)
		return TEL_ENOMEM;
	for (; m->ready < m->count; m->ready++) {
		st = advance(m, &m->inputs[m->ready]);
		if (st == TEL_AGAIN)
			return st;
		if (st == TEL_OK)
			m->heap[m->heaped++] = &m->inputs[m->ready];
	}
	st = check_runs(m);
	if (st != TEL_OK)
		return st;
	m->begun = 1;
	for (i = 0; i < m->heaped; i++) {
		o = tel__clock_origin(m->heap[i]->reader->log.clock);
		/* one of a log without any time yet */
		if (o == 0 && m->heap[i]->reader->log.schema->untimed)
			continue;
		if (o < origin)
			origin = o;
	}
	for (i = 0; i < m->heaped && origin != UINT64_MAX; i++)
		tel__clock_set_origin(m->heap[i]->reader->log.clock, origin);
	for (i = m->heaped / 2; i-- > 0;)
		sink(m, i);
	return TEL_OK;
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
judge(struct tel_merge *m, struct merge_input *in)
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
	if ((flags & p->unsure) != 0 ||
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
no_memory(struct tel_merge *m)
{
	m->error = "out of memory";
	return m->failed = TEL_ENOMEM;
}

tel_status
tel_merge_next(tel_merge *m, const tel_event **event)
{
	const struct tel_event *ev;
	tel_status st;

	if (!m->begun && (st = begin(m)) != TEL_OK)
		return st == TEL_ENOMEM ? no_memory(m) : st;
	if (m->taken) {
		st = advance(m, m->heap[0]);
		if (st == TEL_AGAIN)
			return st;
		m->taken = 0;
		if (st != TEL_OK)
			m->heap[0] = m->heap[--m->heaped];
		if (m->heaped > 0)
			sink(m, 0);
	}
	if (m->heaped == 0)
		return m->failed != TEL_OK ? m->failed : TEL_END;
	m->taken = 1;
	ev = m->heap[0]->head;
	if (ev->type == ev->type->schema->periods.type) {
		ev = judge(m, m->heap[0]);
		if (ev == NULL)
			return no_memory(m);
	}
	*event = ev;
	return TEL_OK;
}

tel_reader *
tel_merge_reading(const tel_merge *m)
{
	return m->taken ? m->heap[0]->reader : NULL;
}

const tel_reader *
tel_merge_failed(const tel_merge *m)
{
	return m->culprit;
}

const char *
tel_merge_error(const tel_merge *m)
{
	return m->error != NULL ? m->error : "";
}

uint64_t
tel_merge_late(const tel_merge *m)
{
	uint64_t late = 0;
	size_t i;

	for (i = 0; i < m->count; i++)
		late += tel_window_late(m->inputs[i].window);
	return late;
}
