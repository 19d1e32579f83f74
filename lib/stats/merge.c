/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding the statistics of one set to those of another. */
#include "stats/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/class.h"

/* TEL_OK, TEL_ENOMEM. */
static tel_status
copy_spec(struct spec *to, const struct spec *from)
{
	const char *why;
	unsigned which, i;

	*to = *from;
	memset(to->pieces, 0, sizeof(to->pieces));
	memset(&to->layout, 0, sizeof(to->layout));
	to->name = strdup(from->name);
	int complete = to->name != NULL;
	for (i = 0; i < PIECES && complete; i++) {
		to->pieces[i].column = from->pieces[i].column;
		if (from->pieces[i].text == NULL)
			continue;
		to->pieces[i].text = strdup(from->pieces[i].text);
		complete = to->pieces[i].text != NULL;
	}
	complete = complete &&
	    tel__layout_make(&to->layout, tel__stat_class(to->class)->layout,
	        to->parameters, &why, &which) == TEL_OK;
	if (!complete)
		tel__spec_clear(to);
	return complete ? TEL_OK : TEL_ENOMEM;
}

/* name: of the copy; NULL: the same. */
static struct definition *
copy_definition(const struct definition *d, const char *name,
    struct tel_stats *s)
{
	struct spec spec;

	if (copy_spec(&spec, &d->spec) != TEL_OK)
		return NULL;
	if (name != NULL) {
		free(spec.name);
		spec.name = strdup(name);
	}
	struct definition *new = spec.name == NULL ?
	    NULL :
	    tel__definition_new(&spec, d->ngroups, d->group_names, s->strings,
	        &s->budget);
	if (new == NULL) {
		tel__spec_clear(&spec);
		return NULL;
	}
	free(new->unit);
	new->unit = strdup(d->unit);
	if (new->unit == NULL) {
		tel__definition_free(new);
		return NULL;
	}
	return new;
}

static const char *
stats_merge_difference(const struct definition *a, const struct definition *b)
{
	if (a->ngroups != b->ngroups)
		return "their groups differ";
	for (unsigned i = 0; i < a->ngroups; i++)
		if (strcmp(a->group_names[i], b->group_names[i]) != 0)
			return "their groups differ";
	return tel__spec_difference(&a->spec, &b->spec);
}

/*
 * The definition "NAME#2", or of the first number that is free or has a
 * definition that does not differ.  *name: set, to be freed.
 */
static tel_status
find_apart(struct tel_stats *s, const struct definition *from, char **name,
    struct definition **out)
{
	size_t size = strlen(from->spec.name) + 16;
	unsigned n = 2;

	*name = malloc(size);
	if (*name == NULL)
		return stats_no_memory(s);
	do {
		snprintf(*name, size, "%s#%u", from->spec.name, n++);
		*out = tel__stats_find(s, *name);
	} while (*out != NULL && stats_merge_difference(*out, from) != NULL);
	return TEL_OK;
}

/*
 * The definition that goes with one of another set, made if need be.
 */
static tel_status
stats_merge_find_definition(struct tel_stats *s, const struct definition *from,
    unsigned how, struct definition **out)
{
	struct definition *d = tel__stats_find(s, from->spec.name);
	const char *why = d == NULL ? NULL : stats_merge_difference(d, from);
	char *name = NULL;
	tel_status st = TEL_OK;

	if (why != NULL && (how & ADD_APART) != 0)
		st = find_apart(s, from, &name, &d);
	else if (why != NULL)
		return stats_fail(s, TEL_EINVAL,
		    "two statistics are named %.100s: %s%s%.100s%s"
		    "%.100s",
		    from->spec.name, why, *d->text != '\0' ? ", " : "", d->text,
		    *d->text != '\0' ? " and " : "", from->text);
	if (st == TEL_OK && d == NULL) {
		d = copy_definition(from, name, s);
		st = d == NULL ? stats_no_memory(s) : tel__stats_adopt(s, d);
	}
	free(name);
	*out = d;
	return st;
}

/* The stat of the same group. */
static tel_status
stats_merge_find_stat(struct tel_stats *s, struct definition *d,
    const struct tel_stat *from, struct tel_stat **out)
{
	struct key keys[GROUPS_MAX];
	tel_value v;

	if (from->is_overflow)
		return tel__definition_find_overflow(d, out);
	for (unsigned i = 0; i < d->ngroups; i++) {
		tel__key_value(from->definition->strings, &from->group[i], &v);
		tel_status st = tel__key_make(s->strings, &v, &keys[i]);
		if (st == TEL_ELIMIT)
			return tel__definition_find_overflow(d, out);
		if (st != TEL_OK)
			return st;
	}
	return tel__definition_find(d, keys, out);
}

static int
has_updates(const struct definition *d)
{
	return d->count > 1 ||
	    (d->count == 1 &&
	        (d->stats[0]->updates > 0 || d->stats[0]->pairs.events > 0));
}

/*
 * The values of a sum of differences follow from those of the part before, and
 * which part that is depends on the order in which they are given.
 */
static int
depends_on_order(const struct tel_stat *to, const struct tel_stat *from)
{
	return to->definition->class->running && to->updates > 0 &&
	    from->updates > 0;
}

static tel_status
merge_stat(struct tel_stat *to, const struct tel_stat *from, unsigned how)
{
	if ((how & ADD_IN_ORDER) == 0 && depends_on_order(to, from))
		to->flags |= STAT_APPROXIMATE;
	return tel__stat_merge(to, from);
}

static tel_status
merge_definition(struct tel_stats *s, const struct definition *from,
    unsigned how)
{
	const struct tel_stat *one;
	struct definition *d = NULL;
	struct tel_stat *to = NULL;
	tel_status st = stats_merge_find_definition(s, from, how, &d);

	if (st != TEL_OK)
		return st;
	/* a log may have had no such field */
	if (tel__definition_set_unit(d, from->unit) != TEL_OK)
		return stats_no_memory(s);
	/* what found no room in one part may be of a group of the other */
	int over_limit = from->count > 0 && has_updates(d) &&
	    (from->overflow != NULL || d->overflow != NULL);
	for (uint32_t i = 0; i <= from->count; i++) {
		one = i < from->count ? from->stats[i] : from->overflow;
		if (one == NULL)
			continue;
		st = stats_merge_find_stat(s, d, one, &to);
		if (st == TEL_OK)
			st = merge_stat(to, one, how);
		if (st != TEL_OK)
			return stats_no_memory(s);
	}
	for (uint32_t i = 0; over_limit && i < d->count; i++)
		d->stats[i]->flags |= STAT_APPROXIMATE;
	if (over_limit)
		d->overflow->flags |= STAT_APPROXIMATE;
	return TEL_OK;
}

tel_status
tel_stats_merge(tel_stats *into, const tel_stats *from)
{
	return tel__stats_add(into, from, 0);
}

tel_status
tel__stats_merge_definitions(struct tel_stats *into,
    const struct tel_stats *from, unsigned how)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < from->count && st == TEL_OK; i++)
		st = merge_definition(into, from->definitions[i], how);
	return st;
}

tel_status
tel__stats_add(struct tel_stats *into, const struct tel_stats *from,
    unsigned how)
{
	into->started = 1;
	tel_status st = tel__stats_merge_definitions(into, from, how);
	if (st != TEL_OK)
		return st;
	if (tel__report_merge(&into->report, &from->shown) != TEL_OK)
		return stats_no_memory(into);
	return (how & ADD_MORE) != 0 ? TEL_OK : tel_stats_settle(into);
}
