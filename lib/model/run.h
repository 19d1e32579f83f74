/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run: events of one log and one schema, found together, as columns.  A log's
 * names, clock and version change before the first event of a run only, so that
 * all its events mean what they would mean one by one.
 */
#ifndef TEL_MODEL_RUN_H
#define TEL_MODEL_RUN_H

#include "model/event.h"

/* The most events of a run: its columns stay in a processor's first cache. */
#define TEL_RUN_MAX 256u

struct tel_run {
	/* columns, an entry an event; all of them may be changed */
	const unsigned char **data; /* the bytes, as in struct tel_event */
	uint64_t *clocks;
	uint32_t *types;   /* tel_type.index */
	uint32_t *sizes;   /* bytes at data */
	uint32_t *at;      /* place in the log, counted from .offset */
	uint32_t *numbers; /* ordinal in the log, counted from .index */
	/*
	 * Where events are not views of the log, its bytes from .offset on, and
	 * how many of them each event is.  Else NULL.
	 */
	const unsigned char *raw;
	uint32_t *raw_sizes;
	size_t count;
	int changed; /* columns were moved */
	uint64_t offset, index;
	/*
	 * The only type that may be unknown is that of the first event that
	 * was found; .first is that one.
	 */
	const struct tel_type *first;
	/*
	 * The event that tel_run_event() returned last.  Where a run has
	 * several events, none has bytes or labels beside its own, and all else
	 * but columns is the same for all.
	 */
	struct tel_event *event;
};

static inline const struct tel_type *
run_type(const struct tel_run *run, size_t i)
{
	const struct tel_schema *s = run->first->schema;

	return run->types[i] < s->ntypes ? &s->types[run->types[i]] :
	                                   run->first;
}

/* Event i of a run without its place in the log. */
static inline struct tel_event *
run_view(struct tel_run *run, size_t i)
{
	struct tel_event *ev = run->event;

	ev->type = run_type(run, i);
	ev->data = run->data[i];
	ev->clock = run->clocks[i];
	ev->size = run->sizes[i];
	return ev;
}

/* Event i of a run as one event. */
static inline const struct tel_event *
run_event(struct tel_run *run, size_t i)
{
	struct tel_event *ev = run_view(run, i);

	ev->offset = run->offset + run->at[i];
	ev->index = run->index + run->numbers[i];
	if (run->raw != NULL) {
		ev->raw = run->raw + run->at[i];
		ev->raw_size = run->raw_sizes[i];
	}
	return ev;
}

/*
 * Nonzero when all events surely have a time, and no bytes beside their own but
 * perhaps the lines or records that they were: then the columns say what there is
 * to count.
 */
static inline int
run_is_plain(const struct tel_run *run)
{
	const struct tel_event *ev = run->event;
	size_t i = 0;

	if (ev->lead_size != 0 || ev->inline_use != TEL_INLINE_NONE ||
	    (ev->log->records && run->raw == NULL))
		return 0;
	if (run->first->schema->untimed)
		while (i < run->count && run->clocks[i] != 0)
			i++;
	return i == run->count || !run->first->schema->untimed;
}

/* What tel_event_size() returns of each event of a run that is plain. */
static inline const uint32_t *
run_event_sizes(const struct tel_run *run)
{
	return run->event->log->records ? run->raw_sizes : run->sizes;
}

/* Moves an event of the columns to another place. */
static inline void
run_move(struct tel_run *run, size_t to, size_t from)
{
	run->data[to] = run->data[from];
	run->clocks[to] = run->clocks[from];
	run->types[to] = run->types[from];
	run->sizes[to] = run->sizes[from];
	run->at[to] = run->at[from];
	run->numbers[to] = run->numbers[from];
	if (run->raw != NULL)
		run->raw_sizes[to] = run->raw_sizes[from];
}

#endif
