/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows on a reader.  An MPS buffers events by kind and writes a flush of
 * them, newest first, and then a point of synchronisation, so a window need
 * be no longer than a flush for most logs; which logs need more is seen only
 * at their end (see the MPS's design.mps.telemetry, .debug.buffer.reverse).
 */
#include "base/getter.h"
#include "base/spool.h"
#include "reader/reader.h"
#include "query/columns.h"
#include "query/runs.h"
#include "query/store.h"
#include "tel/filter.h"
#include "tel/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most events, and memory for them, that wait for a point of
 * synchronisation.  A flush is 4,096 bytes of each kind.
 */
#define HELD_MAX ((size_t)1 << 16)
#define HELD_BYTES ((size_t)8 << 20)
/* Less than this unread, and the next event may have to be waited for. */
#define NEARLY_NOTHING 1024
/* Memory for events that are sorted at once, before buffers double. */
#define SORTED_MAX ((size_t)4 << 20)
/*
 * Re-sort only when 1/NEWS of the window is new; otherwise a log of sync points
 * costs quadratic time.
 */
#define NEWS 16
/* Points that a window lags behind where one comes first in a flush. */
#define SYNC_LAG 8

struct tel_window {
	struct tel_reader *reader;
	enum tel_order order;
	struct tel_store store;
	struct tel_columns columns; /* instead of it, where runs are read */
	size_t bytes;               /* that these would take in the store */
	struct tel_run *found;      /* what the reader gave and is not held */
	struct tel_run single;      /* a run of one event, with its columns */
	struct tel_event event;
	const unsigned char *data;
	uint64_t clock;
	uint32_t type, size, zero;
	struct tel_runs *runs; /* TEL_ORDER_TIME, once there are any */
	size_t ready;          /* events at the front that may go */
	size_t sorted;         /* events that were sorted and held back */
	const struct tel_log *read, *given; /* the logs of the last events */
	uint64_t horizon; /* the latest clock that was given, of its stream */
	/* the earliest clock of events that were read, of those of one origin */
	struct tel_clock *origin;
	uint64_t earliest;
	uint64_t late;
	uint64_t syncs[SYNC_LAG]; /* clocks of the last points */
	unsigned nsyncs;
	/*
	 * Milliseconds for which events of a pipe are held at most, or 0: at
	 * marked, or never, all of them had a clock up to mark.
	 */
	int delay;
	int64_t marked;
	uint64_t mark;
	uint64_t seen; /* bytes that had been read when all of them could go */
	int allocs;    /* others than tel_event_alloc() knows are dropped */
	tel_filter *filter; /* or what it does not select; or NULL */
	int begun;          /* the first event of this log may have gone */
	int merging;        /* the runs are being read */
	tel_status after;   /* what comes when the store is empty */
	const char *error;
	char text[384]; /* of an error */
};

tel_status
tel_window_new(tel_reader *r, tel_order order, tel_window **out)
{
	struct tel_window *w;

	if (order != TEL_ORDER_LOG && order != TEL_ORDER_TIME &&
	    order != TEL_ORDER_LIVE)
		return TEL_EINVAL;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return TEL_ENOMEM;
	w->reader = r;
	w->order = order;
	*out = w;
	return TEL_OK;
}

void
tel_window_free(tel_window *w)
{
	if (w == NULL)
		return;
	tel__store_free(&w->store);
	tel__columns_free(&w->columns);
	tel__runs_free(w->runs);
	free(w);
}

tel_status
tel_window_set_allocs(tel_window *w, int allocs)
{
	if (w->begun || w->after != TEL_OK || w->store.count > 0)
		return TEL_ESTATE;
	w->allocs = allocs;
	return TEL_OK;
}

tel_status
tel_window_set_filter(tel_window *w, tel_filter *f)
{
	if (w->begun || w->after != TEL_OK || w->store.count > 0)
		return TEL_ESTATE;
	if (f != NULL && tel_filter_uses(f, TEL_USE_OTHERS))
		return TEL_EINVAL;
	w->filter = f;
	return TEL_OK;
}

void
tel__window_set_delay(struct tel_window *w, int ms)
{
	w->delay = ms;
}

TEL__GETTER(uint64_t, tel_window_late, tel_window, late)

const char *
tel_window_error(const tel_window *w)
{
	return w->error != NULL ? w->error : tel_reader_error(w->reader);
}

static tel_status
window_fail(struct tel_window *w, tel_status status)
{
	char why[80];
	int number = w->runs != NULL ? tel__runs_errno(w->runs) : 0;

	w->error = "out of memory";
	if (status == TEL_ENOMEM)
		return status;
	/* a file that is shorter than was written gives no number */
	if (strerror_r(number != 0 ? number : EIO, why, sizeof(why)) != 0)
		snprintf(why, sizeof(why), "error number %d", number);
	snprintf(w->text, sizeof(w->text), "sorting in %.250s: %s",
	    tel__spool_folder(), why);
	w->error = w->text;
	return status;
}

/* How many events are held; they are in the store or in the columns. */
static size_t
held(const struct tel_window *w)
{
	return tel_store_count(&w->store) + tel_columns_count(&w->columns);
}

/* Bytes that are held in order of the log, as if all were in the store. */
static size_t
bytes_in_order(const struct tel_window *w)
{
	const struct tel_store *s = &w->store;

	/* of an empty store the bytes are those of events that have gone */
	return w->bytes +
	    (tel_store_count(s) > 0 ? s->used + s->count * sizeof(*s->events) :
	                              0);
}

/* Whether as much is held as may be. */
static int
full(const struct tel_window *w)
{
	const struct tel_store *s = &w->store;
	size_t bytes = s->used + s->count * sizeof(*s->events);

	if (w->order == TEL_ORDER_TIME)
		return bytes >= SORTED_MAX;
	if (w->order == TEL_ORDER_LOG)
		bytes = bytes_in_order(w);
	else
		bytes += tel_columns_size(&w->columns);
	return held(w) >= HELD_MAX || bytes >= HELD_BYTES;
}

/* Whether the event that was just added lets others go. */
static int
window_complete(struct tel_window *w, const struct tel_event *ev)
{
	if (ev->type->role == TEL_ROLE_SYNC)
		w->syncs[w->nsyncs++ % SYNC_LAG] = ev->clock;
	if (full(w))
		return 1;
	if (w->order == TEL_ORDER_TIME ||
	    held(w) - w->sorted < w->sorted / NEWS)
		return 0;
	return ev->type->role == TEL_ROLE_SYNC;
}

/*
 * The latest clock that may be given in order: all that is held after a
 * flush whose point of synchronisation comes last, so that all older events
 * were read.  Where it comes first, a flush is of one kind (MPS 1.111), and
 * older events may be in those of other kinds.
 */
static uint64_t
live_limit(const struct tel_window *w, const struct tel_event *ev)
{
	if (full(w) || !ev->type->schema->sync_first)
		return UINT64_MAX;
	return w->nsyncs < SYNC_LAG ? 0 : w->syncs[w->nsyncs % SYNC_LAG];
}

/* The first clock of events of a log that wait for its next point. */
static uint64_t
settled(const struct tel_event *ev)
{
	return ev->type->schema->sets_clock ?
	    tel__clock_settled(ev->log->clock) :
	    UINT64_MAX;
}

/* How many events of the store come first and may go. */
static size_t
count_ready(const struct tel_window *w, uint64_t limit, int all)
{
	const struct tel_store *s = &w->store;
	const struct tel_log *log = NULL;
	uint64_t before = UINT64_MAX;
	size_t i;

	for (i = s->first; i < s->count; i++) {
		const struct tel_event *ev = &s->events[i];

		if (!all && ev->log != log) {
			log = ev->log;
			before = settled(ev);
		}
		if (ev->clock > limit ||
		    (ev->clock >= before && before < UINT64_MAX))
			break;
	}
	return i - s->first;
}

/* Holds the events one by one from now on: with more than their bytes. */
static tel_status
leave_columns(struct tel_window *w)
{
	const struct tel_event *ev;
	tel_status st = TEL_OK;

	while (st == TEL_OK && (ev = tel__columns_take(&w->columns)) != NULL)
		st = tel__store_add(&w->store, ev);
	w->bytes = 0;
	return st;
}

/*
 * The limit in a full window whose log goes on: the latest quarter is held back,
 * as lines of text, which have no points of synchronisation, may be in any order.
 */
static uint64_t
full_limit(const struct tel_window *w)
{
	const size_t last = held(w) / 4 * 3;

	return tel_columns_count(&w->columns) > 0 ?
	    w->columns.keys[w->columns.first + last].clock :
	    w->store.events[w->store.first + last].clock;
}

/* Columns in TEL_ORDER_LIVE. */
static tel_status
release_columns(struct tel_window *w, uint64_t limit, int is_full)
{
	if (tel__columns_sort(&w->columns) != TEL_OK)
		return TEL_ENOMEM;
	if (is_full)
		limit = full_limit(w);
	w->ready = tel__columns_until(&w->columns, limit);
	w->sorted = tel_columns_count(&w->columns) - w->ready;
	return TEL_OK;
}

/* Seconds count from the earliest event that is known when the first is given. */
static void
window_set_origin(const struct tel_window *w)
{
	if (w->origin != NULL && w->earliest < tel__clock_origin(w->origin))
		tel__clock_set_origin(w->origin, w->earliest);
}

/* Lets events go up to a clock.  end: the log has ended, so all may. */
static tel_status
release_until(struct tel_window *w, uint64_t limit, int end)
{
	struct tel_store *s = &w->store;
	const int all = end || full(w);

	if (w->order == TEL_ORDER_LOG)
		limit = UINT64_MAX;
	if (!all && w->order != TEL_ORDER_TIME &&
	    tel_columns_count(&w->columns) > 0 &&
	    settled(&w->columns.event) < UINT64_MAX &&
	    leave_columns(w) != TEL_OK)
		return TEL_ENOMEM;
	if (w->order == TEL_ORDER_LOG && tel_columns_count(&w->columns) > 0) {
		w->ready = tel_columns_count(&w->columns);
		w->bytes = 0;
		return TEL_OK;
	}
	if (w->order != TEL_ORDER_LOG) {
		if (tel_columns_count(&w->columns) > 0)
			return release_columns(w, limit, all && !end);
		if (tel__store_sort(s) != TEL_OK)
			return TEL_ENOMEM;
	}
	if (w->order == TEL_ORDER_TIME && (!end || w->runs != NULL)) {
		if (w->runs == NULL && (w->runs = tel__runs_new()) == NULL)
			return TEL_ENOMEM;
		return tel__runs_write(w->runs, s);
	}
	if (w->order == TEL_ORDER_LIVE && all && !end && held(w) > 0)
		limit = full_limit(w);
	w->ready = count_ready(w, limit, all);
	w->sorted = tel_store_count(s) - w->ready;
	return TEL_OK;
}

/* Lets go what may go.  end: the log has ended, so all may. */
static tel_status
window_release(struct tel_window *w, const struct tel_event *ev, int end)
{
	uint64_t limit = UINT64_MAX;
	const int all = end || full(w);

	window_set_origin(w);
	w->marked = 0;
	if (w->order != TEL_ORDER_TIME && !end)
		limit = live_limit(w, ev);
	/* whether or not a filter holds it, and in each order at the same one */
	w->begun |= all || (settled(ev) > 0 && w->earliest <= limit);
	return w->begun ? release_until(w, limit, end) : TEL_OK;
}

/* The latest clock of the events that are held. */
static uint64_t
newest_held(const struct tel_window *w)
{
	uint64_t newest = 0;

	for (size_t i = w->columns.first; i < w->columns.count; i++)
		if (w->columns.keys[i].clock > newest)
			newest = w->columns.keys[i].clock;
	for (size_t i = w->store.first; i < w->store.count; i++)
		if (w->store.events[i].clock > newest)
			newest = w->store.events[i].clock;
	return newest;
}

/* Whether the next event may have to be waited for. */
static int
window_may_wait(const struct tel_window *w)
{
	struct tel_reader *r = w->reader;
	const size_t pending = tel_reader_pending(r);

	/* bytes behind which nothing came in time are read first */
	return pending < NEARLY_NOTHING && r->batch->next >= r->batch->count &&
	    (pending == 0 || w->seen != tel__reader_place(r) + pending) &&
	    memchr(r->p, '\n', (size_t)(r->end - r->p)) == NULL;
}

/*
 * Waits for the next event, and lets those go that came so long ago that others
 * which were written at the same time have come as well.
 */
static tel_status
window_await(struct tel_window *w)
{
	struct tel_reader *r = w->reader;

	if (w->delay == 0 || held(w) == 0 || !window_may_wait(w))
		return TEL_OK;
	if (w->marked == 0) {
		w->marked = tel__reader_now();
		w->mark = newest_held(w);
	}
	int64_t left;
	while ((left = w->marked + w->delay - tel__reader_now()) > 0 &&
	    tel__input_await(r->in, (int)left)) {
		/* a part of a line makes no event */
		tel__reader_fill(r, tel_reader_pending(r) + 1);
		if (r->eof || !window_may_wait(w))
			return TEL_OK;
	}
	w->marked = 0;
	/* what came since is waited for once more */
	w->seen = newest_held(w) > w->mark ?
	    0 :
	    tel__reader_place(r) + tel_reader_pending(r);
	w->begun = 1;
	window_set_origin(w);
	return release_until(w, w->mark, 0);
}

/*
 * The labels that a text shows are those of its order; in order of time more
 * of the log's may be in force.
 */
static void
relabel(struct tel_window *w)
{
	struct tel_event *ev = &w->store.events[w->store.count - 1];

	if (w->order != TEL_ORDER_LOG && ev->inline_use == TEL_INLINE_ONLY)
		ev->inline_use = TEL_INLINE_FIRST;
}

/*
 * Notes the time of an event that was read.  The logs of one stream have one
 * origin, which is not set for each event, as many logs may follow it.
 */
static void
note_origin(struct tel_window *w, const struct tel_event *ev, uint64_t clock)
{
	struct tel_clock *origin;

	if (w->begun && w->order != TEL_ORDER_TIME)
		return;
	origin = tel__clock_leader(ev->log->clock);
	if (origin != w->origin) {
		window_set_origin(w);
		w->origin = origin;
		w->earliest = clock;
	}
	if (clock < w->earliest)
		w->earliest = clock;
}

/*
 * Behind the last event of a stream come those of another one, which are not
 * put in order with them: all that is held may go.
 */
static tel_status
release_stream(struct tel_window *w, const struct tel_event *ev)
{
	tel_status st = TEL_OK;

	w->read = ev->log;
	if (w->order == TEL_ORDER_TIME || w->origin == NULL ||
	    tel__clock_leader(ev->log->clock) == w->origin)
		return TEL_OK;
	if (held(w) > 0)
		st = window_release(w, NULL, 1);
	w->begun = 0;
	w->nsyncs = 0;
	return st;
}

/* Holds the event that was read, if it is wanted. */
static tel_status
window_hold(struct tel_window *w, const struct tel_event *ev)
{
	if (!tel_event_timeless(ev))
		note_origin(w, ev, ev->clock);
	if ((w->allocs && !tel_type_is_alloc(ev->type)) ||
	    (w->filter != NULL && tel_filter_match(w->filter, ev) == 0))
		return TEL_OK;
	tel_status st = tel__store_add(&w->store, ev);
	if (st == TEL_OK)
		relabel(w);
	return st;
}

/* Reads until events may go or the log has ended. */
static tel_status
window_gather(struct tel_window *w)
{
	const struct tel_event *ev = NULL;
	tel_status st = TEL_OK;

	while (w->ready == 0 && w->after == TEL_OK && !w->merging) {
		st = window_await(w);
		if (st != TEL_OK)
			return window_fail(w, st);
		if (w->ready > 0)
			break;
		w->after = tel_reader_next(w->reader, &ev);
		if (w->after == TEL_AGAIN) {
			w->after = TEL_OK;
			return TEL_AGAIN;
		}
		if (w->after == TEL_OK) {
			if (ev->log != w->read)
				st = release_stream(w, ev);
			if (st == TEL_OK)
				st = window_hold(w, ev);
			if (st == TEL_OK && window_complete(w, ev) &&
			    w->ready == 0)
				st = window_release(w, ev, 0);
		} else {
			st = window_release(w, ev, 1);
			w->merging = w->runs != NULL;
			if (st == TEL_OK && w->merging) {
				tel__store_free(&w->store);
				st = tel__runs_rewind(w->runs);
			}
		}
		if (st != TEL_OK)
			return window_fail(w, st);
	}
	return TEL_OK;
}

/* The log has been given: resets the state for the next one. */
static tel_status
finish_log(struct tel_window *w)
{
	tel_status st = w->after;

	tel__runs_free(w->runs);
	w->runs = NULL;
	w->merging = 0;
	w->begun = 0;
	w->read = w->given = NULL;
	w->origin = NULL;
	w->nsyncs = 0;
	w->sorted = 0;
	if (st == TEL_LOG)
		w->after = TEL_OK;
	return st;
}

/* Begins anew behind the events of another stream, which may be later ones. */
static void
note_stream(struct tel_window *w, const struct tel_log *log)
{
	if (w->given == NULL ||
	    tel__clock_leader(w->given->clock) != tel__clock_leader(log->clock))
		w->horizon = 0;
	w->given = log;
}

/* Counts what a live window gives, and what of it is late. */
static void
note_late(struct tel_window *w, const struct tel_event *ev)
{
	if (w->order != TEL_ORDER_LIVE)
		return;
	if (ev->log != w->given)
		note_stream(w, ev->log);
	w->late += ev->clock < w->horizon;
	if (ev->clock > w->horizon)
		w->horizon = ev->clock;
}

/* The next event of those that are ready, or of the runs. */
static tel_status
next_ready(struct tel_window *w, const tel_event **event)
{
	if (w->merging) {
		tel_status st = tel__runs_next(w->runs, event);

		if (st == TEL_END)
			return finish_log(w);
		return st == TEL_OK ? st : window_fail(w, st);
	}
	if (w->ready == 0)
		return finish_log(w);
	*event = tel__store_take(&w->store);
	w->ready--;
	note_late(w, *event);
	return TEL_OK;
}

tel_status
tel_window_next(tel_window *w, const tel_event **event)
{
	tel_status st = window_gather(w);

	return st == TEL_OK ? next_ready(w, event) : st;
}

/* ----------------------------------------------------------------- runs */

/* How many of the first n events of a run are held before the window is full. */
static size_t
until_full(const struct tel_window *w, const struct tel_run *run, size_t n)
{
	size_t bytes = bytes_in_order(w), i = 0;

	if (w->order != TEL_ORDER_LOG)
		return n;
	while (i < n) {
		bytes += run->sizes[i++] + sizeof(struct tel_event);
		if (held(w) + i >= HELD_MAX || bytes >= HELD_BYTES)
			break;
	}
	return i;
}

/* Leaves those of the first n events of a run that are wanted; their number. */
static size_t
select_found(const struct tel_window *w, struct tel_run *found, size_t n)
{
	const size_t count = found->count;

	if (w->filter == NULL)
		return n;
	found->count = n;
	if (tel_filter_run(w->filter, found) == TEL_OK)
		n = found->count;
	found->count = count;
	return n;
}

/*
 * Holds the first n events that the reader found; the others are held when
 * those have gone.
 */
static tel_status
hold_found(struct tel_window *w, size_t n)
{
	struct tel_run *found = w->found;
	tel_status st = TEL_OK;

	/*
	 * Only events that are not plain may have no time.  What sets the clock
	 * must be at an end of a run, and not between events that wait for it.
	 */
	if (tel_store_count(&w->store) == 0 &&
	    (w->begun || !found->first->schema->sets_clock) &&
	    tel__columns_may(&w->columns, found)) {
		uint64_t earliest = UINT64_MAX;

		for (size_t i = 0; i < n; i++)
			if (found->clocks[i] < earliest)
				earliest = found->clocks[i];
		note_origin(w, found->event, earliest);
		n = select_found(w, found, n);
		for (size_t i = 0; i < n; i++)
			w->bytes += found->sizes[i] + sizeof(struct tel_event);
		return n == 0 ? TEL_OK :
		                tel__columns_add(&w->columns, found, n);
	}
	st = leave_columns(w);
	for (size_t i = 0; i < n && st == TEL_OK; i++)
		st = window_hold(w, run_event(found, i));
	return st;
}

/* Reads runs until events may go or the log has ended. */
static tel_status
gather_runs(struct tel_window *w)
{
	tel_status st = TEL_OK;
	struct tel_event last;

	while (w->ready == 0 && w->after == TEL_OK) {
		if (w->found == NULL || w->found->count == 0) {
			st = window_await(w);
			if (st != TEL_OK)
				return window_fail(w, st);
			if (w->ready > 0)
				break;
			w->after =
			    tel_reader_run(w->reader, SIZE_MAX, &w->found);
			if (w->after != TEL_OK)
				w->found = NULL;
			if (w->after == TEL_AGAIN) {
				w->after = TEL_OK;
				return TEL_AGAIN;
			}
		}
		if (w->found != NULL) {
			/* only the first may be a point */
			const struct tel_event *ev = run_event(w->found, 0);
			size_t n = ev->type->role == TEL_ROLE_SYNC ?
			    1 :
			    w->found->count;
			n = until_full(w, w->found, n);
			last = *ev;
			if (ev->log != w->read)
				st = release_stream(w, ev);
			if (st == TEL_OK)
				st = hold_found(w, n);
			tel_run_drop(w->found, n);
			if (st == TEL_OK && window_complete(w, &last) &&
			    w->ready == 0)
				st = window_release(w, &last, 0);
		} else {
			st = window_release(w, NULL, 1);
		}
		if (st != TEL_OK)
			return window_fail(w, st);
	}
	return TEL_OK;
}

/* A run of one event. */
static struct tel_run *
window_run_of(struct tel_window *w, const struct tel_event *ev)
{
	w->event = *ev;
	w->data = ev->data;
	w->clock = ev->clock;
	w->type = ev->type->index;
	w->size = ev->size;
	w->zero = 0;
	w->single = (struct tel_run){ .data = &w->data,
		.clocks = &w->clock,
		.types = &w->type,
		.sizes = &w->size,
		.at = &w->zero,
		.numbers = &w->zero,
		.count = 1,
		.offset = ev->offset,
		.index = ev->index,
		.first = ev->type,
		.event = &w->event };
	return &w->single;
}

/* The same of all events of a run, which are in order. */
static void
note_run(struct tel_window *w, const struct tel_run *run)
{
	size_t i;

	if (run->event->log != w->given)
		note_stream(w, run->event->log);
	for (i = 0; i < run->count && run->clocks[i] < w->horizon; i++)
		w->late++;
	if (i < run->count)
		w->horizon = run->clocks[run->count - 1];
}

tel_status
tel_window_run(tel_window *w, tel_run **run)
{
	const struct tel_event *ev;
	tel_status st;

	if (w->order == TEL_ORDER_TIME || w->allocs)
		st = window_gather(w);
	else
		st = gather_runs(w);
	if (st != TEL_OK)
		return st;
	if (tel_columns_count(&w->columns) > 0 && w->ready > 0) {
		*run = tel__columns_run(&w->columns, w->ready);
		w->ready -= (*run)->count;
		note_run(w, *run);
		return TEL_OK;
	}
	st = next_ready(w, &ev);
	if (st == TEL_OK)
		*run = window_run_of(w, ev);
	return st;
}
