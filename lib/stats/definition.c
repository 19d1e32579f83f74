/* SPDX-License-Identifier: BSD-2-Clause */
/* Definitions, and the table of the groups of each. */
#include "stats/definition.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/class.h"

/* Cuts out the expressions of a weight; those of an inst log may be invalid. */
static tel_status
split_weights(struct definition *d, const struct spec *spec)
{
	const struct piece *weight = &spec->weight;
	struct trouble trouble = { NULL, 0, "" };
	tel_status st = TEL_OK;

	if (weight->text != NULL)
		st = tel__pieces_split(weight->text, d->weights, TEL_SHOWN_MAX,
		    &d->nweights, &trouble);
	free(trouble.text);
	if (st != TEL_OK)
		d->nweights = 0;
	for (unsigned i = 0; i < d->nweights; i++)
		d->weights[i].column += weight->column - 1;
	return st == TEL_ENOMEM ? st : TEL_OK;
}

struct definition *
tel__definition_new(struct spec *spec, unsigned count, char *const *group_names,
    struct strings *strings, struct budget *budget)
{
	struct definition *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	tel_status st = split_weights(d, spec);
	d->text = tel__spec_text(spec);
	d->unit = strdup(tel__spec_unit(spec));
	int complete = st == TEL_OK && d->text != NULL && d->unit != NULL;
	for (unsigned i = 0; i < count; i++) {
		d->group_names[i] = strdup(group_names[i]);
		complete = complete && d->group_names[i] != NULL;
	}
	if (!complete) {
		tel__definition_free(d);
		return NULL;
	}
	d->ngroups = count;
	d->strings = strings;
	d->budget = budget;
	d->max_groups = 4096;
	tel__pairs_init(&d->open, 65536, spec->pairs == PAIRS_QUEUE);
	tel__index_init(&d->index);
	d->spec = *spec;
	d->class = tel__stat_class(spec->class);
	memset(spec, 0, sizeof(*spec));
	return d;
}

tel_status
tel__definition_set_unit(struct definition *d, const char *unit)
{
	if (*d->unit != '\0' || *unit == '\0')
		return TEL_OK;
	char *copy = strdup(unit);
	if (copy == NULL)
		return TEL_ENOMEM;
	free(d->unit);
	d->unit = copy;
	return TEL_OK;
}

void
tel__definition_reset(struct definition *d)
{
	for (uint32_t i = 0; i < d->count; i++) {
		tel__stat_free(d->stats[i]);
		budget_give(d->budget, tel__stat_size(d));
	}
	tel__stat_free(d->overflow);
	free(d->stats);
	tel__index_clear(&d->index);
	d->stats = NULL;
	d->overflow = d->recent = NULL;
	d->count = 0;
	d->room = 0;
}

void
tel__definition_free(struct definition *d)
{
	if (d == NULL)
		return;
	tel__definition_reset(d);
	for (unsigned i = 0; i < GROUPS_MAX; i++)
		free(d->group_names[i]);
	tel__pairs_clear(&d->open);
	tel_expr_free(d->value);
	for (unsigned i = 0; i < TEL_SHOWN_MAX; i++) {
		free(d->weights[i].text);
		tel_expr_free(d->weight[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		free(d->keys[i].text);
		tel_expr_free(d->key[i]);
	}
	tel_filter_free(d->filter);
	tel__spec_clear(&d->spec);
	free(d->text);
	free(d->unit);
	free(d->source);
	free(d->values);
	free(d);
}

static uint64_t
hash_groups(const struct definition *d, const struct key *keys)
{
	uint64_t hash = d->index.seed;

	for (unsigned i = 0; i < d->ngroups; i++)
		hash = key_hash(&keys[i], hash);
	return hash;
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
	const uint64_t hash = hash_groups(d, keys);
	struct tel__probe at;
	uint32_t i;

	for (i = tel__index_first(&d->index, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&d->index, &at)) {
		if (definition_is_group(d, d->stats[i], keys)) {
			*out = d->recent = d->stats[i];
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
	struct tel_stat *stat = tel__stat_new(d, keys, d->budget);
	if (stat == NULL ||
	    !TEL__RESERVE(d->stats, d->room, (size_t)d->count + 1) ||
	    !tel__index_add(&d->index, hash, d->count)) {
		tel__stat_free(stat);
		budget_give(d->budget, tel__stat_size(d));
		return TEL_ENOMEM;
	}
	d->stats[d->count++] = stat;
	*out = d->recent = stat;
	return TEL_OK;
}
