/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definition: what a statistic counts, with the stats of its groups and, for
 * pairs, the ranges that are open.
 */
#ifndef TEL_STATS_DEFINITION_H
#define TEL_STATS_DEFINITION_H

#include "stats/pairs.h"
#include "stats/stat.h"

struct definition {
	struct spec spec;
	const struct stat_class *class;
	char *text; /* of all but the name; "" when not known */
	char *unit;
	/* the groups, in the order of their coming */
	unsigned ngroups;
	char *group_names[GROUPS_MAX];
	struct tel_stat **stats;
	uint32_t count;
	size_t room;
	struct tel__index index; /* of stats, by their groups */
	uint32_t max_groups;
	struct tel_stat *recent; /* the one asked for last */
	struct tel_stat *overflow;
	struct strings *strings;
	struct budget *budget;
	/* what asks the events; none where it came from an inst stream */
	char *source; /* the spec as it was given, for messages */
	tel_expr *value;
	/* the weight, or all that is shown beside the largest values */
	unsigned nweights;
	struct piece weights[TEL_SHOWN_MAX];
	tel_expr *weight[TEL_SHOWN_MAX];
	/* of a pair: of both its ends, or of its start and of its end */
	struct piece keys[2];
	tel_expr *key[2]; /* the second is NULL where the first is of both */
	tel_filter *filter;
	const char *field; /* when the value is but a field: its name */
	char label[256];   /* of a tally of labels: the field; or "" */
	int known[3]; /* types of a pair that a log has: start, end, middle */
	int warned;   /* that its pairs have no key, or of doubles */
	int every;    /* has to see every event, as it speaks of dt */
	struct open_pairs open;
	/* the values of a run that its stat takes together, or NULL */
	uint64_t *values;
	size_t nvalues;
	enum tel_datatype value_type; /* of all of these */
};

/*
 * Makes a definition of a spec, which is moved into it.  group_names: count
 * of them, copied.  NULL when out of memory; then the spec stays.
 */
struct definition *tel__definition_new(struct spec *spec, unsigned count,
    char *const *group_names, struct strings *strings, struct budget *budget);
void tel__definition_free(struct definition *d);
/* Sets the unit, if there is none yet.  TEL_OK, TEL_ENOMEM. */
tel_status tel__definition_set_unit(struct definition *d, const char *unit);
/* Forgets all stats. */
void tel__definition_reset(struct definition *d);

/*
 * The stat of a group, made if new; the overflow group if there is no room.
 * keys: d->ngroups of them.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__definition_find(struct definition *d, const struct key *keys,
    struct tel_stat **out);
/* The overflow group, made if need be.  TEL_OK, TEL_ENOMEM. */
tel_status tel__definition_find_overflow(struct definition *d,
    struct tel_stat **out);

static inline int
definition_is_group(const struct definition *d, const struct tel_stat *s,
    const struct key *keys)
{
	for (unsigned i = 0; i < d->ngroups; i++)
		if (!key_equal(keys[i].bits, keys[i].tag, &s->group[i]))
			return 0;
	return 1;
}

/* The stat of a definition without groups; of one with, the recent one. */
static inline tel_status
definition_stat(struct definition *d, const struct key *keys,
    struct tel_stat **out)
{
	if (d->recent == NULL || !definition_is_group(d, d->recent, keys))
		return tel__definition_find(d, keys, out);
	*out = d->recent;
	return TEL_OK;
}

#endif
