/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting the events of a whole reader: most are of types of which only
 * their number is asked, and a log may tell that without building each.
 */
#include "reader/reader.h"
#include "stats/stats.h"

/* The slot of a type in the source at hand; NULL when there is none yet. */
static struct slot *
find_slot(const struct tel_stats *s, const struct tel_log *log,
    const struct tel_type *t)
{
	const struct source *from = s->current;

	if (from == NULL || from->log != log || from->number != log->number ||
	    from->schema != log->schema || t->index >= from->nslots ||
	    from->slots[t->index].type != t)
		return NULL;
	return &from->slots[t->index];
}

static int
wants(void *arg, const struct tel_log *log, const struct tel_type *t)
{
	const struct tel_stats *s = arg;
	const struct slot *slot = find_slot(s, log, t);

	return slot == NULL || slot->busy || s->interval > 0 || s->readers == 0;
}

static void
count(void *arg, const struct tel_log *log, const struct tel_type *t,
    uint64_t events, uint64_t bytes)
{
	struct slot *slot = find_slot(arg, log, t);

	if (slot == NULL)
		return;
	slot->events += events;
	slot->bytes += bytes;
}

static void
span(void *arg, const struct tel_log *log, uint64_t first, uint64_t last)
{
	const struct tel_stats *s = arg;

	(void)log;
	if (first < s->current->first)
		s->current->first = first;
	if (last > s->current->last)
		s->current->last = last;
}

void
tel_stats_attach(tel_stats *s, tel_reader *r)
{
	r->tally.wants = wants;
	r->tally.count = count;
	r->tally.span = span;
	r->tally.arg = s;
}
