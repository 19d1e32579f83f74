/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions: the logs that are read together, from their start to their end,
 * and moving what their types have counted to the report.
 */
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/heap.h"
#include "reader/reader.h"

static void
session_free_slots(struct source *from)
{
	for (size_t i = 0; i < from->nslots; i++) {
		free(from->slots[i].actions);
		free(from->slots[i].record);
	}
	free(from->slots);
	from->slots = NULL;
	from->nslots = 0;
}

void
tel__source_free(struct source *from)
{
	if (from == NULL)
		return;
	session_free_slots(from);
	tel__live_clear(&from->own);
	tel__waiting_clear(&from->waiting);
	tel__stats_pools_clear(&from->pools);
	tel__clock_free(from->clock);
	free(from);
}

static tel_status
settle_slot(struct tel_stats *s, struct source *from, struct slot *slot)
{
	struct report *r = &s->report;
	const struct tel_type *t = slot->type;

	if (slot->part == UINT32_MAX) {
		tel_status st =
		    tel__report_part(r, t->name, t->kind, t->code, &slot->part);

		if (st != TEL_OK)
			return stats_no_memory(s);
	}
	r->parts[slot->part].events += slot->events;
	r->parts[slot->part].bytes += slot->bytes;
	r->events += slot->events;
	r->bytes += slot->bytes;
	/* a format may have a type for those that nothing describes */
	if (t->unknown || strcmp(t->kind, "Unknown") == 0)
		r->unknown += slot->events;
	r->origins[from->origin].events += slot->events;
	slot->events = slot->bytes = 0;
	return TEL_OK;
}

/* Moves what the slots of a source have counted to the report. */
static tel_status
session_settle_source(struct tel_stats *s, struct source *from)
{
	/* a log may hold only events that have no time */
	int any = from->first <= from->last;

	for (uint32_t i = 0; i < from->nslots; i++) {
		if (from->slots[i].events == 0)
			continue;
		any = 1;
		tel_status st = settle_slot(s, from, &from->slots[i]);
		if (st != TEL_OK)
			return st;
	}
	if (!any)
		return TEL_OK;
	tel_status st = tel__stats_settle_blocks(s, from);
	if (st != TEL_OK)
		return st;
	if (!s->piece &&
	    (tel__stats_pools_label(&from->pools, from->log) != TEL_OK ||
	        tel__stats_pools_settle(&from->pools) != TEL_OK))
		return stats_no_memory(s);
	if (!from->counted) {
		from->counted = 1;
		s->report.logs++;
		s->report.origins[from->origin].logs++;
	}
	if (from->first < s->session.first)
		s->session.first = from->first;
	if (from->last > s->session.last)
		s->session.last = from->last;
	if (from->last > from->end)
		from->end = from->last;
	if (s->heap != NULL)
		tel__heap_reach(s->heap, from->last);
	from->first = UINT64_MAX;
	from->last = 0;
	return TEL_OK;
}

static tel_status
settle_sources(struct tel_stats *s)
{
	struct source *best = NULL, *from;
	tel_status st = TEL_OK;

	for (size_t i = 0; i < s->nsources && st == TEL_OK; i++) {
		st = session_settle_source(s, s->sources[i]);
		/* logs that are merged have one clock: that of the first */
		from = s->sources[i];
		if (from->clock != NULL && tel__clock_rate(from->clock) > 0 &&
		    (best == NULL || from->id < best->id))
			best = from;
	}
	if (best != NULL && best->clock != s->session.clock) {
		tel__clock_free(s->session.clock);
		s->session.clock = tel__clock_share(best->clock);
	}
	return st;
}

/* Sets *ns to the time to the end of a log, if that is more.  1; 0: too long. */
static int
session_reach(const struct session *x, uint64_t end, struct tel_clock *clock,
    int64_t *ns)
{
	int64_t more;

	if (clock == NULL || !(tel__clock_rate(clock) > 0))
		clock = x->clock;
	if (clock == NULL || !(tel__clock_rate(clock) > 0) || end < x->first)
		return 1;
	if (!tel__clock_between(clock, x->first, end, &more))
		return 0;
	*ns = more > *ns ? more : *ns;
	return 1;
}

/* The span of the logs: to the latest end, each by its own clock. */
static void
session_span(const struct tel_stats *s, struct report *r)
{
	const struct session *x = &s->session;
	int64_t ns = -1;

	if (x->first > x->last)
		return;
	int fits =
	    x->over == 0 || session_reach(x, x->over, x->over_clock, &ns);
	for (size_t i = 0; i < s->nsources; i++)
		fits &= session_reach(x, s->sources[i]->end,
		    s->sources[i]->clock, &ns);
	tel__report_span(r, x->first, x->last, fits ? ns : -1);
}

/* The stats of a definition onto the list; NULL counts them. */
static size_t
list_stats(const struct definition *d, tel_stat **list)
{
	size_t i;

	if (list != NULL) {
		for (i = 0; i < d->count; i++)
			list[i] = d->stats[i];
		if (d->overflow != NULL)
			list[i] = d->overflow;
	}
	return d->count + (d->overflow != NULL);
}

static tel_status
make_list(struct tel_stats *s)
{
	struct tel_stat *one;
	size_t i, n = 0;

	for (i = 0; i < s->count; i++) {
		if (s->definitions[i]->ngroups == 0 &&
		    s->definitions[i]->count == 0 &&
		    tel__definition_find(s->definitions[i], NULL, &one) !=
		        TEL_OK)
			return TEL_ENOMEM;
		n += list_stats(s->definitions[i], NULL);
	}
	tel_stat **list = malloc((n + 1) * sizeof(tel_stat *));
	if (list == NULL)
		return TEL_ENOMEM;
	for (i = n = 0; i < s->count; i++)
		n += list_stats(s->definitions[i], list + n);
	free(s->list);
	s->list = list;
	s->listed = n;
	return TEL_OK;
}

void
tel__stats_each(struct tel_stats *s, void (*change)(struct tel_stat *))
{
	for (size_t i = 0; i < s->count; i++) {
		struct definition *d = s->definitions[i];

		for (size_t j = 0; j < d->count; j++)
			change(d->stats[j]);
		if (d->overflow != NULL)
			change(d->overflow);
	}
}

void
tel__stats_zero(struct tel_stats *s)
{
	tel__stats_each(s, tel__stat_zero);
	tel__report_zero(&s->report);
}

tel_status
tel_stats_settle(tel_stats *s)
{
	tel_status st = settle_sources(s);

	if (st != TEL_OK)
		return st;
	tel__report_clear(&s->shown);
	st = tel__report_merge(&s->shown, &s->report);
	if (st != TEL_OK)
		return stats_no_memory(s);
	session_span(s, &s->shown);
	if (tel__report_sort(&s->shown) != TEL_OK || make_list(s) != TEL_OK)
		return stats_no_memory(s);
	return TEL_OK;
}

/* The logs that are read now are over. */
static tel_status
session_end(struct tel_stats *s)
{
	tel_status st = settle_sources(s);

	if (st == TEL_OK)
		session_span(s, &s->report);
	/* even without memory, as the readers may be freed from here on */
	for (size_t i = 0; i < s->nsources; i++)
		tel__source_free(s->sources[i]);
	tel__table_clear(&s->by_log);
	s->nsources = 0;
	s->current = NULL;
	for (size_t i = 0; i < s->count; i++)
		tel__pairs_forget_all(&s->definitions[i]->open);
	s->session.first = UINT64_MAX;
	s->session.last = 0;
	tel__clock_free(s->session.clock);
	tel__clock_free(s->session.over_clock);
	s->session.clock = s->session.over_clock = NULL;
	s->session.over = 0;
	s->sessions++;
	return st;
}

/*
 * Nonzero when some type of the schema frees a block without saying its size,
 * resizes one, or allocates several of a size at once: the formats that have
 * such types are written in order of time.  Or if events have none.
 */
static int
frees_blocks(const struct tel_schema *schema)
{
	for (unsigned i = 0; i < schema->ntypes; i++) {
		const struct tel_type *t = &schema->types[i];

		if ((schema->untimed && tel_type_is_alloc(t)) ||
		    t->role == TEL_ROLE_REALLOC ||
		    (tel_type_frees(t) && t->role_field[TEL_PART_SIZE] < 0) ||
		    (tel_type_allocates(t) &&
		        t->role_field[TEL_PART_COUNT] >= 0))
			return 1;
	}
	return 0;
}

/*
 * The events from here on are of another schema, of the same log, too: one of that
 * name has more types, so that starts of ranges may still end.
 */
static tel_status
source_set_schema(struct tel_stats *s, struct source *from,
    const struct tel_schema *schema)
{
	tel_status st = session_settle_source(s, from);

	if (st == TEL_OK)
		st = tel__stats_bind(s, schema);
	if (st != TEL_OK)
		return st;
	if (from->schema != NULL &&
	    strcmp(from->schema->name, schema->name) != 0)
		for (size_t i = 0; i < s->count; i++)
			tel__pairs_forget(&s->definitions[i]->open, from->id);
	session_free_slots(from);
	from->schema = schema;
	from->sorted = frees_blocks(schema);
	if (s->heap != NULL && from->sorted && from->live == &from->own &&
	    (from->live = tel__heap_blocks(s->heap, from->log, &from->tag)) ==
	        NULL)
		return stats_no_memory(s);
	for (size_t i = 0; i < schema->ntypes && st == TEL_OK; i++)
		st = tel__stats_bind_type(s, from, &schema->types[i]);
	if (st == TEL_OK &&
	    tel__report_origin(&s->report, schema->name, schema->version,
	        from->log->format, &from->origin) != TEL_OK)
		st = stats_no_memory(s);
	return st;
}

/* Adds the pairs of a key and a value that are new; from: or NULL. */
static tel_status
session_take_metadata(struct tel_stats *s, const struct tel__metadata *from)
{
	for (size_t i = 0; from != NULL && i < from->count; i++)
		if (tel__metadata_pair(&s->metadata, from->entries[i].key,
		        from->entries[i].value) == TEL_ENOMEM)
			return stats_fail(s, TEL_ENOMEM, "out of memory");
	return TEL_OK;
}

static tel_status
source_new(struct tel_stats *s, const struct tel_event *ev, struct source **out)
{
	const struct tel_log *log = ev->log;
	int fresh;
	struct source *from;
	struct tel__entry *e;

	if (s->by_log.entries == NULL)
		tel__table_init(&s->by_log);
	e = tel__table_put(&s->by_log, (uintptr_t)log, &fresh);
	from = calloc(1, sizeof(*from));
	if (from == NULL || e == NULL ||
	    !TEL__RESERVE(s->sources, s->source_room, s->nsources + 1)) {
		free(from);
		return stats_no_memory(s);
	}
	from->log = log;
	from->number = log->number;
	from->id = s->next_source++;
	from->first = UINT64_MAX;
	from->clock = tel__clock_share(log->clock);
	tel__live_init(&from->own, tel__stats_live_change, from);
	from->live = &from->own;
	from->pools.report = &s->report;
	tel__table_init(&from->pools.places);
	tel__table_init(&from->pools.known);
	tel_status st = source_set_schema(s, from, ev->type->schema);
	/* of members of an archive, which are read by one reader */
	if (st == TEL_OK)
		st = session_take_metadata(s, log->metadata);
	if (st != TEL_OK) {
		tel__source_free(from);
		return st;
	}
	from->place = s->nsources;
	s->sources[s->nsources++] = from;
	e->value = (uintptr_t)from;
	*out = from;
	return TEL_OK;
}

/* The log of a source is over, and its reader has gone on to another one. */
static tel_status
session_retire(struct tel_stats *s, struct source *from)
{
	struct tel__entry *e;

	/* a log goes on with another schema, but not another log with its */
	if (s->class_logs != NULL && from->number != from->log->number) {
		tel_status st = s->classes->end(s, from->log);

		if (st != TEL_OK)
			return st;
	}
	/* alone it is a session of its own */
	if (s->nsources == 1)
		return session_end(s);
	tel_status st = session_settle_source(s, from);
	if (st != TEL_OK)
		return st;
	if (from->end > s->session.over) {
		tel__clock_free(s->session.over_clock);
		s->session.over = from->end;
		s->session.over_clock = tel__clock_share(from->clock);
	}
	for (size_t i = 0; i < s->count; i++)
		tel__pairs_forget(&s->definitions[i]->open, from->id);
	e = tel__table_find(&s->by_log, (uintptr_t)from->log);
	if (e != NULL)
		tel__table_remove(&s->by_log, e);
	s->sources[from->place] = s->sources[--s->nsources];
	s->sources[from->place]->place = from->place;
	tel__source_free(from);
	s->current = NULL;
	return TEL_OK;
}

tel_status
tel__stats_switch(struct tel_stats *s, const struct tel_event *ev)
{
	const struct tel_log *log = ev->log;
	const struct tel__entry *e =
	    tel__table_find(&s->by_log, (uintptr_t)log);
	struct source *from =
	    e == NULL ? NULL : (struct source *)(uintptr_t)e->value;

	s->started = 1;
	if (from != NULL && from->number == log->number) {
		s->current = from;
		return from->schema == ev->type->schema ?
		    TEL_OK :
		    source_set_schema(s, from, ev->type->schema);
	}
	tel_status st = from != NULL ? session_retire(s, from) : TEL_OK;
	if (st != TEL_OK)
		return st;
	st = source_new(s, ev, &from);
	if (st == TEL_OK)
		s->current = from;
	return st;
}

tel_status
tel_stats_begin(tel_stats *s, const tel_reader *r)
{
	const struct tel_schema *schema = r == NULL ? NULL : r->log.schema;
	tel_status st = TEL_OK;

	if (schema != NULL)
		st = tel__stats_bind(s, schema);
	if (st != TEL_OK)
		return st;
	s->started = 1;
	s->piece = r != NULL && r->piece.number > 0;
	s->readers++;
	return TEL_OK;
}

tel_status
tel_stats_end(tel_stats *s, const tel_reader *r)
{
	struct report *to = &s->report;
	tel_status st = TEL_OK, ended;

	if (s->readers == 0)
		return stats_fail(s, TEL_ESTATE, "no reader was started");
	if (r != NULL) {
		to->input += tel_reader_count(r, TEL_COUNT_INPUT);
		to->damaged += tel_reader_count(r, TEL_COUNT_DAMAGED);
		to->skipped += tel_reader_count(r, TEL_COUNT_SKIPPED);
		to->repaired += tel_reader_count(r, TEL_COUNT_REPAIRED);
		to->lost += tel_reader_count(r, TEL_COUNT_LOST);
		st = session_take_metadata(s, &r->metadata);
	}
	/* names that might have come later, in a pipe */
	if (st == TEL_OK && r != NULL && s->readers == 1 &&
	    r->log.schema != NULL)
		st = tel__stats_bind(s, r->log.schema);
	if (--s->readers == 0) {
		if (s->class_logs != NULL && st == TEL_OK)
			st = s->classes->end(s, NULL);
		ended = session_end(s);
		st = st == TEL_OK ? ended : st;
	}
	return st == TEL_OK ? tel_stats_settle(s) : st;
}
