/* SPDX-License-Identifier: BSD-2-Clause */
/* What the types of a schema are on a timeline. */
#include "print/timeline.h"

#include <stdlib.h>

/* The plans of a schema. */
struct timeline_plans {
	struct timeline_plans *next;
	const struct tel_schema *schema;
	unsigned count;
	struct timeline_plan plans[];
};

static int
find_string(const struct tel_type *t, int first)
{
	int i, n = first ? (t->nfields > 0) : t->nfields;

	for (i = 0; i < n; i++)
		if (t->fields[i].sort == TEL_STRING)
			return i;
	return -1;
}

static int
is_number(const struct tel_type *t, int i)
{
	return i >= 0 && t->fields[i].sort != TEL_STRING &&
	    t->fields[i].sort != TEL_DOUBLE;
}

/* Where the event says that it happened. */
static void
find_context(struct timeline_plan *p, const struct tel_type *t)
{
	int at = tel_type_find_field(t, "cpu");

	p->cpu = is_number(t, at) ? at : -1;
	at = tel_type_find_field(t, "tid");
	if (at < 0)
		at = tel_type_find_field(t, "thread");
	p->thread = is_number(t, at) ? at : -1;
}

static void
make(struct timeline_plan *p, const struct tel_schema *s,
    const struct tel_type *t)
{
	const char *end;
	int at;

	p->is = tel_type_is_followed(t) ? PLAN_NONE : PLAN_INSTANT;
	p->name = t->name;
	p->length = t->name_length;
	p->string = find_string(t, 1);
	p->duration = p->method = p->start = p->other = -1;
	find_context(p, t);
	if (t->role == TEL_ROLE_START && t->partner >= 0 &&
	    (unsigned)t->partner < s->ntypes) {
		p->is = PLAN_START;
		end = s->types[t->partner].name;
		for (p->length = 0; t->name[p->length] != '\0' &&
		     t->name[p->length] == end[p->length];)
			p->length++;
		p->string = find_string(t, 0);
		return;
	}
	if (t->role == TEL_ROLE_FINISH) {
		p->is = PLAN_FINISH;
		return;
	}
	at = tel_type_find_field(t, "duration");
	if (!is_number(t, at))
		return;
	p->is = PLAN_SPAN;
	p->duration = at;
	at = tel_type_find_field(t, "caller");
	if (at >= 0 && tel_field_labelled(&t->fields[at]))
		p->method = at;
}

static struct timeline_plans *
make_all(const struct tel_schema *s)
{
	struct timeline_plans *all;
	unsigned i;
	int32_t end;

	all =
	    calloc(1, sizeof(*all) + (s->ntypes + 1u) * sizeof(all->plans[0]));
	if (all == NULL)
		return NULL;
	all->schema = s;
	all->count = s->ntypes;
	for (i = 0; i < s->ntypes; i++)
		make(&all->plans[i], s, &s->types[i]);
	for (i = s->ntypes; i-- > 0;) {
		if (all->plans[i].is != PLAN_START)
			continue;
		end = s->types[i].partner;
		all->plans[i].other = all->plans[end].start;
		all->plans[end].start = (int)i;
	}
	return all;
}

const struct timeline_plan *
timeline_plan(struct timeline *tl, const struct tel_schema *s,
    const struct tel_type *type)
{
	struct timeline_plans *all = tl->plans, **link;

	if (all == NULL || all->schema != s) {
		for (link = &tl->plans; (all = *link) != NULL;
		     link = &all->next)
			if (all->schema == s)
				break;
		if (all == NULL)
			all = make_all(s);
		else
			*link = all->next;
		if (all == NULL)
			return NULL;
		all->next = tl->plans;
		tl->plans = all;
	}
	if (type->index < all->count)
		return &all->plans[type->index];
	/* a type that is not known: as the one behind the last */
	all->plans[all->count].name = type->name;
	all->plans[all->count].length = type->name_length;
	all->plans[all->count].string = -1;
	all->plans[all->count].cpu = all->plans[all->count].thread = -1;
	return &all->plans[all->count];
}

void
timeline_plans_free(struct timeline *tl)
{
	struct timeline_plans *all;

	while ((all = tl->plans) != NULL) {
		tl->plans = all->next;
		free(all);
	}
}
