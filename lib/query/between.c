/* SPDX-License-Identifier: BSD-2-Clause */
/* Between: whether a log is in a stretch that is wanted. */
#include "query/between.h"
#include "model/event.h"

#include <stdlib.h>
#include <string.h>

struct between_log {
	const struct tel_log *log;
	unsigned number; /* log->number: a member of an archive is another */
	int open;
};

tel_status
tel__between_set(tel_filter **end, const char *text)
{
	tel_filter *f;
	tel_status st;

	if (text == NULL) {
		tel_filter_free(*end);
		*end = NULL;
		return TEL_OK;
	}
	f = *end != NULL ? *end : tel_filter_new();
	if (f == NULL)
		return TEL_ENOMEM;
	*end = f;
	st = tel_filter_set_expression(f, text);
	return st;
}

/* The state of a log, made when it is new; NULL when there is no memory. */
static struct between_log *
find_log(struct between *b, const struct tel_log *log)
{
	struct between_log *bigger, *l;
	size_t i, room;

	if (b->last < b->nlogs && b->logs[b->last].log == log) {
		i = b->last;
	} else {
		for (i = 0; i < b->nlogs && b->logs[i].log != log; i++)
			continue;
	}
	if (i == b->nlogs && b->nlogs == b->room) {
		room = b->room == 0 ? 4 : b->room * 2;
		bigger = realloc(b->logs, room * sizeof(*bigger));
		if (bigger == NULL)
			return NULL;
		b->logs = bigger;
		b->room = room;
	}
	b->last = i;
	l = &b->logs[i];
	if (i < b->nlogs && l->number == log->number)
		return l;
	b->nlogs += i == b->nlogs;
	l->log = log;
	l->number = log->number;
	l->open = b->since == NULL;
	return l;
}

int
tel__between_match(struct between *b, const tel_event *event)
{
	struct between_log *l = find_log(b, event->log);
	int begins = 0, ends = 0, in;

	/* both are asked of every event, as one may speak of dt */
	if (b->since != NULL)
		begins = tel_filter_match(b->since, event);
	if (b->until != NULL)
		ends = tel_filter_match(b->until, event);
	b->failed = begins < 0 ? b->since : ends < 0 ? b->until : NULL;
	if (l == NULL || begins < 0 || ends < 0)
		return -1;
	in = l->open || begins;
	l->open = in && !ends;
	return in;
}

void
tel__between_clear(struct between *b)
{
	tel_filter_free(b->since);
	tel_filter_free(b->until);
	free(b->logs);
	memset(b, 0, sizeof(*b));
}
