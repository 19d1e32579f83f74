/* SPDX-License-Identifier: BSD-2-Clause */
/* Definitions, and the table of the groups of each. */
#include "stats/definition.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FIRST_ROOM 16u

struct definition *
tel__definition_new(struct spec *spec, unsigned count, char *const *group_names,
    struct strings *strings, struct budget *budget)
{
	struct definition *d = calloc(1, sizeof(*d));
	unsigned i;
	int good;

	if (d == NULL)
		return NULL;
	d->text = tel__spec_text(spec);
	d->unit = tel__copy_string(tel__spec_unit(spec),
	    strlen(tel__spec_unit(spec)));
	good = d->text != NULL && d->unit != NULL;
	for (i = 0; i < count; i++) {
		d->group_names[i] =
		    tel__copy_string(group_names[i], strlen(group_names[i]));
		good = good && d->group_names[i] != NULL;
	}
	if (!good) {
		tel__definition_free(d);
		return NULL;
	}
	d->ngroups = count;
	d->strings = strings;
	d->budget = budget;
	d->max_groups = 4096;
	tel__open_init(&d->open, 65536);
	d->spec = *spec;
	memset(spec, 0, sizeof(*spec));
	return d;
}

void
tel__definition_reset(struct definition *d)
{
	uint32_t i;

	for (i = 0; i < d->count; i++) {
		tel__stat_free(d->stats[i]);
		budget_give(d->budget, tel__stat_size(d));
	}
	tel__stat_free(d->overflow);
	free(d->stats);
	free(d->index);
	d->stats = NULL;
	d->index = NULL;
	d->overflow = d->recent = NULL;
	d->count = d->room = d->mask = 0;
}

void
tel__definition_free(struct definition *d)
{
	unsigned i;

	if (d == NULL)
		return;
	tel__definition_reset(d);
	for (i = 0; i < GROUPS_MAX; i++)
		free(d->group_names[i]);
	tel__open_clear(&d->open);
	tel_expr_free(d->value);
	tel_expr_free(d->weight);
	tel_expr_free(d->key);
	tel_filter_free(d->filter);
	tel__spec_clear(&d->spec);
	free(d->text);
	free(d->unit);
	free(d->source);
	free(d);
}

static uint32_t *
place(const struct definition *d, const struct key *keys)
{
	uint64_t hash = (uint64_t)(uintptr_t)d;
	const struct key *of;
	uint32_t at;
	unsigned i;

	for (i = 0; i < d->ngroups; i++)
		hash = key_hash(&keys[i], hash);
	for (at = (uint32_t)hash & d->mask; d->index[at] != 0;
	     at = (at + 1) & d->mask) {
		of = d->stats[d->index[at] - 1]->group;
		for (i = 0; i < d->ngroups; i++)
			if (!key_equal(keys[i].bits, keys[i].tag, &of[i]))
				break;
		if (i == d->ngroups)
			break;
	}
	return &d->index[at];
}

static int
grow(struct definition *d)
{
	uint32_t room = d->room == 0 ? FIRST_ROOM : 2 * d->room, i;
	struct tel_stat **stats =
	    realloc(d->stats, room * sizeof(struct tel_stat *));
	uint32_t *index;

	if (stats == NULL)
		return 0;
	d->stats = stats;
	index = calloc((size_t)2 * room, sizeof(*index));
	if (index == NULL)
		return 0;
	free(d->index);
	d->index = index;
	d->mask = 2 * room - 1;
	d->room = room;
	for (i = 0; i < d->count; i++)
		*place(d, stats[i]->group) = i + 1;
	return 1;
}

tel_status
tel__definition_find_overflow(struct definition *d, struct tel_stat **out)
{
	static const struct key none[GROUPS_MAX];

	if (d->overflow == NULL) {
		d->overflow = tel__stat_new(d, none, d->budget);
		if (d->overflow == NULL)
			return TEL_ENOMEM;
		d->overflow->is_overflow = 1;
	}
	*out = d->overflow;
	return TEL_OK;
}

tel_status
tel__definition_find(struct definition *d, const struct key *keys,
    struct tel_stat **out)
{
	uint32_t *at;

	if (d->index != NULL) {
		at = place(d, keys);
		if (*at != 0) {
			*out = d->recent = d->stats[*at - 1];
			return TEL_OK;
		}
	}
	if (d->count >= d->max_groups)
		return tel__definition_find_overflow(d, out);
	if (!budget_take(d->budget, tel__stat_size(d))) {
		if (d->ngroups > 0)
			return tel__definition_find_overflow(d, out);
		/* a statistic without groups is there whatever it takes */
		d->budget->used += tel__stat_size(d);
	}
	if (d->count == d->room && !grow(d))
		return TEL_ENOMEM;
	d->stats[d->count] = tel__stat_new(d, keys, d->budget);
	if (d->stats[d->count] == NULL) {
		budget_give(d->budget, tel__stat_size(d));
		return TEL_ENOMEM;
	}
	*place(d, keys) = d->count + 1;
	*out = d->recent = d->stats[d->count++];
	return TEL_OK;
}
