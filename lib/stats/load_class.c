/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of an inst log become definitions, and groups of them. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/load.h"
#include "stats/class.h"

/* Documented limit. */
#define CLASSES_MAX 65536u

/* The counted value, if the record has it. */
static tel_status
read_pieces(struct loader *l, struct spec *s)
{
	tel_status st = TEL_OK;

	for (unsigned i = 0; i < PIECES && st == TEL_OK; i++)
		st = tel__load_string(l, tel__piece_fields[i],
		    &s->pieces[i].text);
	return st;
}

/* The parameters of its class.  0: one is missing, or invalid. */
static int
load_class_read_parameters(const struct loader *l,
    const struct stat_class *class, int64_t *out)
{
	tel_int128 v;

	for (unsigned i = 0; i < class->nparameters; i++) {
		if (tel__load_int128(l, class->parameters[i], &v) <= 0 ||
		    !int128_is_i64(v))
			return 0;
		out[i] = (int64_t)v.low;
	}
	return 1;
}

static tel_status
read_spec(struct loader *l, struct spec *s, const char **why)
{
	const struct inst_value *type = &l->line->values[I_TYPE];
	uint64_t delta = 0, decimals = 0;
	unsigned which;

	if (tel__load_u64(l, "delta", &delta) < 0)
		delta = 0;
	/* only some classes have a running one */
	if (!tel__stat_class_find_inst((const char *)type->p, type->n,
	        delta != 0, &s->class) &&
	    !tel__stat_class_find_inst((const char *)type->p, type->n, 0,
	        &s->class))
		return load_invalid(why, "the type of the class is unknown");
	if (tel__load_u64(l, "dec", &decimals) < 0 || decimals > DECIMALS_MAX)
		return load_invalid(why, "the number of decimals is invalid");
	s->decimals = (unsigned)decimals;
	const struct stat_class *class = tel__stat_class(s->class);
	if (!load_class_read_parameters(l, class, s->parameters))
		return load_invalid(why, "its parameters are invalid");
	if (tel__inst_find(l->line, "pairs") != NULL)
		s->pairs = tel__load_is(l, "pairs", "ticks") ? PAIRS_TICKS :
		    tel__load_is(l, "pairs", "queue")        ? PAIRS_QUEUE :
		                                               PAIRS_NS;
	tel_status st = read_pieces(l, s);
	if (st == TEL_OK)
		st = tel__layout_make(&s->layout, class->layout, s->parameters,
		    why, &which);
	else if (st == TEL_EDAMAGED)
		return load_invalid(why, "a string is invalid");
	return st == TEL_OK || st == TEL_ENOMEM ? st : TEL_EDAMAGED;
}

static void
load_class_free_names(char **names, unsigned count)
{
	while (count > 0)
		free(names[--count]);
}

/* The expressions of the groups. */
static tel_status
read_group_names(struct loader *l, char **names, unsigned *count)
{
	char field[4] = "gk1";
	tel_status st = TEL_OK;
	unsigned i;

	for (i = 0; i < GROUPS_MAX; i++) {
		field[2] = (char)('1' + i);
		st = tel__load_string(l, field, &names[i]);
		if (st != TEL_OK || names[i] == NULL)
			break;
	}
	*count = i;
	return st;
}

/* Finds the stat of the group that a class is of; *out may stay NULL. */
static tel_status
load_class_find_stat(struct loader *l, struct definition *d,
    struct tel_stat **out)
{
	struct key keys[GROUPS_MAX];
	char value[4] = "gv1", type[4] = "gs1";

	if (tel__load_is(l, "grp", "none"))
		return TEL_OK; /* it has only the expressions of the groups */
	if (tel__inst_find(l->line, "grp") != NULL)
		return tel__definition_find_overflow(d, out);
	for (unsigned i = 0; i < d->ngroups; i++) {
		value[2] = type[2] = (char)('1' + i);
		tel_status st = tel__load_key(l, value, type, &keys[i]);
		if (st == TEL_ELIMIT)
			return tel__definition_find_overflow(d, out);
		if (st != TEL_OK)
			return st;
	}
	return tel__definition_find(d, keys, out);
}

static int
same_groups(const struct definition *d, char *const *names, unsigned count)
{
	unsigned i;

	for (i = 0; i < count && d->ngroups == count; i++)
		if (strcmp(names[i], d->group_names[i]) != 0)
			break;
	return d->ngroups == count && i == count;
}

/* Makes a definition of a spec; the unit is that of the record, if any. */
static tel_status
add_definition(struct loader *l, const char *name, struct spec *spec,
    char *const *names, unsigned count, struct definition **out)
{
	const int is_summary = tel__stat_class(spec->class)->pairs;
	struct definition *d;
	char *unit;
	tel_status st = tel__load_string(l, "unit", &unit);

	if (st != TEL_OK)
		return st;
	/* an empty one would not be written again */
	if (unit != NULL && *unit == '\0') {
		free(unit);
		unit = NULL;
	}
	/* a summary trace is in microseconds unless it has a unit */
	if (unit == NULL && is_summary)
		unit = tel__copy_string("us", 2);
	spec->name = strdup(name);
	d = spec->name == NULL || (unit == NULL && is_summary) ?
	    NULL :
	    tel__definition_new(spec, count, names, l->part->strings,
	        &l->part->budget);
	if (d == NULL) {
		free(unit);
		return TEL_ENOMEM;
	}
	if (unit != NULL) {
		free(d->unit);
		d->unit = unit;
	}
	*out = d;
	return tel__stats_adopt(l->part, d);
}

/*
 * The definition of a class: one that has the name already, if both are equal.
 */
static tel_status
find_definition(struct loader *l, const char *name, int shared,
    struct spec *spec, struct definition **out)
{
	struct definition *d = tel__stats_find(l->part, name);
	char *names[GROUPS_MAX];
	unsigned count;
	tel_status st = read_group_names(l, names, &count);

	if (st == TEL_OK && d != NULL && shared &&
	    same_groups(d, names, count) &&
	    tel__spec_difference(&d->spec, spec) == NULL)
		*out = d;
	else if (st == TEL_OK &&
	    (l->part->count >= CLASSES_MAX ||
	        l->part->budget.used > l->part->budget.most))
		st = TEL_ELIMIT;
	else if (st == TEL_OK)
		st = add_definition(l, name, spec, names, count, out);
	load_class_free_names(names, count);
	return st;
}

static tel_status
make_stat(struct loader *l, const struct inst_class *c, struct spec *spec,
    struct loaded *to)
{
	char *of;
	tel_status st = tel__load_string(l, "of", &of);

	if (st == TEL_OK)
		st = find_definition(l, of != NULL ? of : c->path, of != NULL,
		    spec, &to->definition);
	if (st == TEL_OK)
		st = load_class_find_stat(l, to->definition, &to->stat);
	free(of);
	return st;
}

tel_status
tel__load_find(struct loader *l, struct loaded **out)
{
	uint32_t n = l->record->class_at;

	if (!TEL__RESERVE_ZEROED(l->classes, l->room, (size_t)n + 1))
		return TEL_ENOMEM;
	*out = &l->classes[n];
	return TEL_OK;
}

tel_status
tel__load_class(struct loader *l, const char **why)
{
	const struct inst_class *c;
	struct spec spec = { 0 };
	struct loaded *to;
	tel_status st = tel__load_find(l, &to);

	if (st != TEL_OK)
		return st;
	c = &l->record->tree.classes[l->record->class_at];
	if (c->orphan)
		return load_invalid(why,
		    "the parent of the class is not defined");
	if (to->kind != LOADED_NONE || c->type == CLASS_PATH ||
	    c->type == CLASS_TRACE)
		return TEL_OK;
	if (tel__load_is(l, "report", "types"))
		to->kind = LOADED_TYPES;
	else if (tel__load_is(l, "report", "allocated"))
		to->kind = LOADED_ALLOCS;
	else if (tel__load_is(l, "report", "freed"))
		to->kind = LOADED_FREES;
	if (to->kind != LOADED_NONE)
		return TEL_OK;
	st = read_spec(l, &spec, why);
	if (st == TEL_OK) {
		st = make_stat(l, c, &spec, to);
		if (st == TEL_EDAMAGED)
			*why = "a group has no value";
	}
	tel__spec_clear(&spec);
	if (st == TEL_ELIMIT)
		return load_invalid(why,
		    "there are too many classes, or no memory for their "
		    "buckets");
	if (st == TEL_OK)
		to->kind = LOADED_STAT;
	return st;
}
