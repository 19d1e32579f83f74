/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Context: events before and after the selected ones, like the lines of grep
 * -C. Those before are copied until it is known whether they are shown.
 * In the order of the log, each is copied until all before it have come.
 */
#include "query/store.h"
#include "tel/filter.h"

#include <stdlib.h>

#include "base/array.h"

/* Events that wait in the order of the log: twice what a window holds. */
#define WAITING_MAX ((size_t)1 << 17)

/* An event that waits for those before it in the log. */
struct waiting {
	struct tel_event event;
	unsigned char *bytes; /* room for its own, or NULL */
	size_t room;
	int held, wanted;
};

struct tel_context {
	size_t before, after;
	struct tel_store held; /* not known yet */
	size_t given;          /* of those held, how many may go */
	int show_held; /* and whether they are shown; or all that wait are given */
	const tel_event *event; /* comes after them, or NULL */
	int show_event;
	size_t rest; /* events that are shown behind a wanted one */
	int any;     /* one was shown */
	int apart;   /* one was not since then */
	/* in the order of the log: by place, modulo nwaiting, a power of two */
	struct waiting *waiting;
	size_t nwaiting; /* 0: in the order in which they come */
	uint64_t next,
	    past;        /* the place that comes next, and behind the last */
	uint64_t closed; /* no event comes to places before this one */
	uint64_t shift;  /* of the place of an event from its index */
	const struct tel_log *log; /* of the last event */
	unsigned number;
	unsigned logs; /* that have begun, by their numbers */
};

tel_context *
tel_context_new(size_t before, size_t after)
{
	tel_context *c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->before = before;
		c->after = after;
	}
	return c;
}

static struct waiting *
waiting_at(const struct tel_context *c, uint64_t place)
{
	return &c->waiting[place & (c->nwaiting - 1)];
}

/* Makes room for twice as many events that wait; at first, for some. */
static int
waiting_grow(struct tel_context *c)
{
	struct tel_context to = *c;

	to.nwaiting = c->nwaiting > 0 ? 2 * c->nwaiting : 64;
	to.waiting = calloc(to.nwaiting, sizeof(*to.waiting));
	if (to.waiting == NULL)
		return 0;
	for (uint64_t i = c->next; i < c->next + c->nwaiting; i++)
		*waiting_at(&to, i) = *waiting_at(c, i);
	free(c->waiting);
	*c = to;
	return 1;
}

tel_context *
tel_context_new_log_order(void)
{
	tel_context *c = tel_context_new(0, 0);

	if (c != NULL && !waiting_grow(c)) {
		free(c);
		return NULL;
	}
	return c;
}

void
tel_context_free(tel_context *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->nwaiting; i++)
		free(c->waiting[i].bytes);
	free(c->waiting);
	tel__store_free(&c->held);
	free(c);
}

/*
 * The reader has reached another log: the copies of events of the log before
 * must not be taken for its events.
 */
static void
context_next_log(struct tel_context *c, const tel_event *event)
{
	if (c->log == event->log && c->number != event->log->number) {
		while (tel__store_take(&c->held) != NULL)
			c->apart = 1;
		c->rest = 0;
		while (c->next < c->past)
			waiting_at(c, c->next++)->held = 0;
		c->next = c->past = 0;
	}
	/* the places of logs that are merged are behind each other */
	if (c->nwaiting > 0 &&
	    (c->log != event->log || c->number != event->log->number)) {
		c->closed = c->past;
		c->shift = c->past;
		if (event->log->number < c->logs)
			c->shift -= event->index;
		else
			c->logs = event->log->number + 1;
	}
	c->log = event->log;
	c->number = event->log->number;
}

/* Where an event waits. */
static uint64_t
waiting_place(struct tel_context *c, const tel_event *event)
{
	const uint64_t low = c->closed > c->next ? c->closed : c->next;
	const uint64_t place = event->index + c->shift;

	/* too late for its place, or another one has that */
	if (place - low > UINT64_MAX / 2 ||
	    (place < c->past && waiting_at(c, place)->held))
		return c->past;
	if (place - c->next < WAITING_MAX)
		return place;
	/* behind events that the log has lost */
	c->closed = c->past;
	c->shift = c->past - event->index;
	return c->past;
}

static tel_status
waiting_add(struct tel_context *c, const tel_event *event, int wanted)
{
	const uint64_t place = waiting_place(c, event);

	while (place - c->next >= c->nwaiting)
		if (c->nwaiting >= WAITING_MAX || !waiting_grow(c))
			return TEL_ENOMEM;
	struct waiting *w = waiting_at(c, place);
	if (!TEL__RESERVE(w->bytes, w->room, tel_event_extent(event)))
		return TEL_ENOMEM;
	tel_event_copy(w->bytes, event);
	w->event = *event;
	tel_event_place(&w->event, w->bytes);
	w->held = 1;
	c->show_held = 0;
	w->wanted = wanted;
	if (place >= c->past)
		c->past = place + 1;
	/* a place for which so many wait has no event */
	while (c->past - c->next > WAITING_MAX / 2 &&
	    !waiting_at(c, c->next)->held)
		c->next++;
	return TEL_OK;
}

/* The next event in the order of the log, if it has come. */
static const struct waiting *
waiting_take(struct tel_context *c)
{
	while (c->next < c->past) {
		struct waiting *w = waiting_at(c, c->next);

		/* a place that is empty at the end has no event */
		if (!w->held && !c->show_held && c->next >= c->closed)
			return NULL;
		c->next++;
		if (w->held) {
			w->held = 0;
			return w;
		}
	}
	/* after the last of a log, another one may follow */
	if (c->show_held) {
		c->next = c->past = 0;
		c->log = NULL;
		c->logs = 0;
	}
	return NULL;
}

tel_status
tel_context_event(tel_context *c, const tel_event *event, int wanted)
{
	context_next_log(c, event);
	if (c->nwaiting > 0)
		return waiting_add(c, event, wanted);
	c->event = event;
	c->show_event = wanted || c->rest > 0;
	if (wanted) {
		c->given = tel_store_count(&c->held);
		c->show_held = 1;
		c->rest = c->after;
	} else if (c->rest > 0) {
		c->rest--;
	} else if (c->before > 0) {
		if (tel__store_add(&c->held, event) != TEL_OK)
			return TEL_ENOMEM;
		c->event = NULL;
		c->show_held = 0;
		c->given = tel_store_count(&c->held) > c->before;
	}
	return TEL_OK;
}

void
tel_context_finish(tel_context *c)
{
	c->event = NULL;
	c->rest = 0;
	c->show_held = c->nwaiting > 0;
	c->given = tel_store_count(&c->held);
}

tel_status
tel_context_next(tel_context *c, const tel_event **event, tel_place *place)
{
	const struct waiting *w;
	int show;

	if (c->nwaiting > 0) {
		w = waiting_take(c);
		if (w == NULL)
			return TEL_END;
		*event = &w->event;
		*place = w->wanted ? TEL_PLACE_IN : TEL_PLACE_OUT;
		return TEL_OK;
	}
	if (c->given > 0) {
		c->given--;
		show = c->show_held;
		*event = tel__store_take(&c->held);
	} else if (c->event != NULL) {
		show = c->show_event;
		*event = c->event;
		c->event = NULL;
	} else {
		return TEL_END;
	}
	*place = TEL_PLACE_OUT;
	if (show) {
		*place = c->any && c->apart ? TEL_PLACE_GAP : TEL_PLACE_IN;
		c->any = 1;
	}
	c->apart = !show;
	return TEL_OK;
}

int
tel_context_pending(const tel_context *c)
{
	return c->rest > 0 || c->next < c->past;
}
