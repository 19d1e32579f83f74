/* SPDX-License-Identifier: BSD-2-Clause */
/* Top: the largest values, each with the values shown beside it. */
#ifndef TEL_STATS_TOP_H
#define TEL_STATS_TOP_H

#include "base/int128.h"
#include "stats/budget.h"
#include "tel/stats.h"

/* Documented limit: the list is kept in order, and moved for each new value. */
#define TOP_MAX 4096

/*
 * The largest max values in order; of equal values those with the lower clock,
 * then log, offset and shown values.  So which ones they are does not depend on
 * the order in which they come.
 */
struct top {
	struct tel_top **list; /* each with its strings, in one block */
	uint32_t count, max;
	size_t room;
	struct budget *budget;
	size_t taken;
};

/* The values that are shown beside one, with copies of their strings. */
struct top_shown {
	tel_value values[TEL_SHOWN_MAX];
	char *strings[TEL_SHOWN_MAX];
	unsigned count;
};

/* Adds one; there must be room.  TEL_OK, TEL_ENOMEM. */
tel_status tel__top_show(struct top_shown *s, const tel_value *value);
/* Adds the values of n expressions for an event; there must be room. */
tel_status tel__top_show_event(struct top_shown *s, tel_expr *const *x,
    unsigned n, const tel_event *ev);
void tel__top_shown_clear(struct top_shown *s);

void tel__top_init(struct top *t, uint32_t max, struct budget *budget);
/* Forgets all values. */
void tel__top_clear(struct top *t);

/* Nonzero when a value may be among the largest. */
static inline int
top_may_have(const struct top *t, tel_int128 value)
{
	return t->count < t->max ||
	    !int128_less(value, t->list[t->count - 1]->value);
}

/*
 * Adds a value, which is copied, if it is among the largest.
 * TEL_OK, TEL_ELIMIT (there is no room for it), TEL_ENOMEM.
 */
tel_status tel__top_add(struct top *t, const struct tel_top *value);

#endif
