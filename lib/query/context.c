/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Context: events before and after the selected ones, like the lines of grep
 * -C. Those before are copied until it is known whether they are shown.
 */
#include "query/store.h"
#include "tel.h"

#include <stdlib.h>

struct tel_context {
	size_t before, after;
	struct tel_store held;  /* not known yet */
	size_t given;           /* of those held, how many may go */
	int show_held;          /* and whether they are shown */
	const tel_event *event; /* comes after them, or NULL */
	int show_event;
	size_t rest; /* events that are shown behind a wanted one */
	int any;     /* one was shown */
	int apart;   /* one was not since then */
	const struct tel_log *log; /* of the last event */
	unsigned number;
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

void
tel_context_free(tel_context *c)
{
	if (c == NULL)
		return;
	tel__store_free(&c->held);
	free(c);
}

/*
 * The reader has reached another log: the copies of events of the log before
 * must not be taken for its events.
 */
static void
next_log(struct tel_context *c, const tel_event *event)
{
	if (c->log == event->log && c->number != event->log->number) {
		while (tel__store_take(&c->held) != NULL)
			c->apart = 1;
		c->rest = 0;
	}
	c->log = event->log;
	c->number = event->log->number;
}

tel_status
tel_context_event(tel_context *c, const tel_event *event, int wanted)
{
	next_log(c, event);
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
	c->show_held = 0;
	c->given = tel_store_count(&c->held);
}

tel_status
tel_context_next(tel_context *c, const tel_event **event, tel_place *place)
{
	int show;

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
	return c->rest > 0;
}
