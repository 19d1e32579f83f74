/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Showing the statistics of an inst log at intervals of its time, and what
 * each interval came to.  A snapshot in the log counts from the start of its
 * class, so that of an interval is the difference of two.
 */
#include <stdlib.h>
#include <string.h>

#include "stats/load.h"

/* A copy of a stat; NULL when out of memory. */
static struct tel_stat *
copy_stat(const struct tel_stat *from)
{
	const struct definition *d = from->definition;
	struct tel_stat *copy = tel__stat_new(d, from->group, d->budget);

	if (copy != NULL && tel__stat_merge(copy, from) != TEL_OK) {
		tel__stat_free(copy);
		return NULL;
	}
	return copy;
}

tel_status
tel__load_difference(struct loader *l)
{
	if (!l->into->deltas)
		return TEL_OK;
	for (size_t i = 0; i < l->room; i++) {
		struct loaded *c = &l->classes[i];

		if (c->stat == NULL)
			continue;
		/* a later snapshot has the updates before it, too */
		if (!c->fresh && c->base != NULL) {
			if (tel__stat_merge(c->base, c->stat) != TEL_OK)
				return stats_no_memory(l->into);
			continue;
		}
		struct tel_stat *all = copy_stat(c->stat);
		if (all == NULL)
			return stats_no_memory(l->into);
		if (c->base != NULL)
			tel__stat_subtract(c->stat, c->base);
		tel__stat_free(c->base);
		c->base = all;
		c->fresh = 0;
	}
	return TEL_OK;
}

void
tel__load_reset(struct tel_stats *s)
{
	tel__stats_each(s, tel__stat_reset);
	tel__report_clear(&s->report);
}

/* A tel_snapshot_fn of the session's set: shows it with all before it. */
static tel_status
show(void *arg, tel_stats *part, const tel_snapshot *at)
{
	struct loader *l = arg;
	struct tel_stats *into = l->into;
	tel_snapshot moment = *at;
	tel_status st = tel__load_difference(l);

	moment.log = into->sessions;
	if (l->shown == NULL && (l->shown = tel_stats_new()) == NULL)
		return stats_no_memory(into);
	tel__load_reset(l->shown);
	if (st == TEL_OK)
		st = tel_stats_settle(into);
	if (st == TEL_OK)
		st = tel__stats_add(l->shown, into, ADD_APART);
	if (st == TEL_OK)
		st = tel__stats_add(l->shown, part, ADD_APART);
	if (st == TEL_OK)
		st = into->snapshot(into->snapshot_arg, l->shown, &moment);
	if (st == TEL_OK && into->deltas)
		tel__stats_zero(into);
	return st;
}

void
tel__load_watch(struct loader *l)
{
	const struct tel_stats *into = l->into;

	l->part->interval = into->interval;
	l->part->interval_ticks = into->interval_ticks;
	l->part->deltas = into->deltas;
	l->part->snapshot = show;
	l->part->snapshot_arg = l;
}

/* The stat of the same name and group, which is written as the same class. */
static struct tel_stat *
load_show_find_stat(struct tel_stats *s, const struct tel_stat *as)
{
	for (size_t i = 0; i < s->listed; i++) {
		struct tel_stat *found = s->list[i];

		if (strcmp(found->definition->spec.name,
		        as->definition->spec.name) == 0 &&
		    found->definition->ngroups == 0)
			return found;
	}
	return NULL;
}

void
tel__load_end_show(struct tel_stats *into, struct tel_stats *shown)
{
	if (shown == NULL)
		return;
	/* what was written of the snapshots goes on at the end */
	into->inst = shown->inst;
	for (size_t i = 0; i < shown->listed; i++) {
		struct tel_stat *to = load_show_find_stat(into, shown->list[i]);

		if (to != NULL)
			to->inst = shown->list[i]->inst;
	}
	tel_stats_free(shown);
}

void
tel__load_forget(struct loader *l)
{
	for (size_t i = 0; i < l->room; i++)
		tel__stat_free(l->classes[i].base);
	free(l->classes);
	l->classes = NULL;
	l->room = 0;
}
