/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets that count parts of the same logs, each on a thread of its own, and
 * become one set that has counted all of them.
 */

#include "model/clock.h"
#include "reader/reader.h"
#include "stats/stats.h"

/* ------------------------------------------------------------------ copies */

tel_stats *
tel_stats_copy(const tel_stats *s, unsigned share)
{
	tel_stats *copy = tel_stats_new();
	tel_status st = copy != NULL ? TEL_OK : TEL_ENOMEM;

	if (st == TEL_OK) {
		copy->budget.most = s->budget.most / (share > 0 ? share : 1);
		copy->max_groups = s->max_groups;
		copy->max_open = s->max_open;
		copy->classes = s->classes;
		copy->blocks = s->blocks;
		if (s->groups_text != NULL)
			st = tel_stats_set_groups(copy, s->groups_text);
	}
	for (size_t i = 0; st == TEL_OK && i < s->count; i++)
		st = s->definitions[i]->source != NULL ?
		    tel_stats_add(copy, s->definitions[i]->source) :
		    TEL_EINVAL;
	if (st == TEL_OK)
		return copy;
	tel_stats_free(copy);
	return NULL;
}

/* ------------------------------------------------------------------ limits */

/* Nonzero when the sum of two numbers of such size cannot wrap. */
static int
is_moderate(const struct tel_stat *stat)
{
	const int64_t most = INT64_MAX / 2;

	return (stat->flags &
	           (STAT_WRAPPED | STAT_APPROXIMATE | STAT_OUTSIDE |
	               STAT_NO_SUM)) == 0 &&
	    stat->sum.high < most && stat->sum.high > -most &&
	    stat->weight <= INT64_MAX && stat->updates <= INT64_MAX &&
	    stat->tally.overflow_updates == 0;
}

/* Nonzero when all keys of two tallies surely have room in one. */
static int
keys_fit(const struct definition *into, const struct definition *from)
{
	uint32_t most = 0, more = 0, i, max = UINT32_MAX;

	for (i = 0; i < into->count; i++) {
		if (!is_moderate(into->stats[i]))
			return 0;
		if (into->stats[i]->tally.count > most)
			most = into->stats[i]->tally.count;
		max = into->stats[i]->tally.max;
	}
	for (i = 0; i < from->count; i++) {
		if (!is_moderate(from->stats[i]))
			return 0;
		if (from->stats[i]->tally.count > more)
			more = from->stats[i]->tally.count;
		max = from->stats[i]->tally.max;
	}
	return from->spec.class != TEL_CLASS_TALLY || more <= max - most;
}

/*
 * Nonzero when one set would have counted what two have: no limit can have kept
 * anything out.
 */
static int
join_fits(const struct tel_stats *into, const struct tel_stats *from)
{
	if (into->count != from->count ||
	    into->budget.used > into->budget.most ||
	    from->budget.used > into->budget.most - into->budget.used ||
	    into->report.nparts + from->report.nparts >= PARTS_MAX ||
	    into->report.norigins + from->report.norigins >= ORIGINS_MAX)
		return 0;
	for (size_t i = 0; i < from->count; i++) {
		const struct definition *d = from->definitions[i];

		if (d->overflow != NULL ||
		    into->definitions[i]->overflow != NULL ||
		    (d->ngroups > 0 &&
		        d->count >
		            into->max_groups - into->definitions[i]->count) ||
		    !keys_fit(into->definitions[i], d))
			return 0;
	}
	return 1;
}

/* ------------------------------------------------------------------ joining */

/* The type of a log that goes with one of another reader of it. */
static const struct tel_type *
join_same_type(const struct tel_log *log, const struct tel_type *t)
{
	if (t->unknown)
		return tel__schema_unknown(log->schema, t->code);
	return t->index < log->schema->ntypes ? &log->schema->types[t->index] :
	                                        NULL;
}

static tel_status
join_slot(struct tel_stats *s, struct source *to, const struct slot *from)
{
	const struct tel_type *t = join_same_type(to->log, from->type);

	if (t == NULL)
		return stats_no_memory(s);
	if (t->index >= to->nslots || to->slots[t->index].type == NULL) {
		tel_status st = tel__stats_bind_type(s, to, t);

		if (st != TEL_OK)
			return st;
	}
	struct slot *slot = &to->slots[t->index];
	slot->events += from->events;
	slot->bytes += from->bytes;
	return TEL_OK;
}

/* Adds what a source of the same log, read behind, has counted. */
static tel_status
join_source(struct tel_stats *s, struct source *to, const struct source *from)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < from->nslots && st == TEL_OK; i++)
		if (from->slots[i].events > 0)
			st = join_slot(s, to, &from->slots[i]);
	if (st == TEL_OK && tel__stats_join_blocks(s, to, from) != TEL_OK)
		st = stats_no_memory(s);
	if (from->first < to->first)
		to->first = from->first;
	if (from->last > to->last)
		to->last = from->last;
	return st;
}

/* Nonzero when what was counted of a log can be added type by type. */
static int
join_is_simple(const struct tel_stats *s)
{
	return s->readers == 1 && s->nsources <= 1 && s->class_logs == NULL &&
	    s->interval == 0 &&
	    (s->nsources == 0 || tel__stats_blocks_fit(s->sources[0]));
}

static tel_status
join_piece(struct tel_stats *into, const struct tel_stats *from)
{
	if (!join_is_simple(into) || !join_is_simple(from) ||
	    from->report.logs > 0)
		return TEL_ELIMIT;
	if (from->nsources == 0)
		return TEL_OK;
	if (into->nsources == 0)
		return TEL_ELIMIT;
	into->report.has_allocs |= from->report.has_allocs;
	tel_status st = join_source(into, into->sources[0], from->sources[0]);
	return st == TEL_OK ?
	    tel__stats_merge_definitions(into, from, ADD_IN_ORDER) :
	    st;
}

tel_status
tel_stats_join(tel_stats *into, const tel_stats *from)
{
	if ((into->readers > 0) != (from->readers > 0))
		return TEL_ESTATE;
	if (!join_fits(into, from))
		return TEL_ELIMIT;
	if (from->readers > 0)
		return join_piece(into, from);
	if (from->class_logs != NULL || into->class_logs != NULL)
		return TEL_ELIMIT;
	tel_status st = tel__stats_add(into, from, ADD_IN_ORDER);
	into->sessions += from->sessions;
	for (size_t i = 0; i < from->metadata.count && st == TEL_OK; i++)
		if (tel__metadata_pair(&into->metadata,
		        from->metadata.entries[i].key,
		        from->metadata.entries[i].value) == TEL_ENOMEM)
			st = stats_no_memory(into);
	return st;
}
