/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binding: statistics meet the schema of a log.  What each type means to each
 * of them is found out once, so that an event costs but what it must.
 */
#include "base/array.h"
#include "model/pair.h"
#include "query/bind.h"
#include "query/counter.h"
#include "query/suggest.h"
#include "stats/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/class.h"

/* A failure to bind an expression of a definition. */
static tel_status
bind_failed(struct tel_stats *s, const char *text, const struct piece *piece,
    tel_status st, const char *why, unsigned column)
{
	if (st == TEL_ENOMEM)
		return stats_no_memory(s);
	return tel__trouble_set(&s->trouble, st, text,
	    piece->column + (column > 0 ? column - 1 : 0), "%s", why);
}

static tel_status
bind_expr(struct tel_stats *s, const char *text, const struct piece *piece,
    tel_expr *x, const struct tel_schema *schema)
{
	tel_status st = x == NULL ? TEL_OK : tel_expr_bind(x, schema);

	if (st == TEL_OK)
		return TEL_OK;
	return bind_failed(s, text, piece, st, tel_expr_error(x),
	    tel_expr_error_column(x));
}

/* The types that an unknown one may have been meant for; "" if none. */
static const char *
suggest_type(const struct tel_schema *schema, const char *name, char *buffer,
    size_t size)
{
	struct suggestion near;

	tel__suggest_start(&near, name, strlen(name));
	for (unsigned i = 0; i < schema->ntypes; i++)
		tel__suggest_offer(&near, schema->types[i].name);
	return tel__suggest_text(&near, buffer, size);
}

/* A tel__type_fn of a name. */
static int
is_called(const struct tel_type *type, const void *name)
{
	return strcmp(type->name, name) == 0;
}

/* The types of a pair must be there, in one of the logs. */
static tel_status
check_types(struct tel_stats *s, struct definition *d,
    const struct tel_schema *schema)
{
	const struct piece *pieces[3];
	const struct tel_type *t;
	char near[256];

	pieces[0] = &d->spec.start;
	pieces[1] = &d->spec.end;
	pieces[2] = &d->spec.middle;
	for (int i = 0; i < 3; i++) {
		if (pieces[i]->text == NULL)
			continue;
		t = tel_schema_find_type(schema, pieces[i]->text);
		const int any =
		    tel__schema_any(schema, is_called, pieces[i]->text);
		d->known[i] |= t != NULL || any > 0;
		if (!d->known[i] && any == 0)
			return tel__trouble_set(&s->trouble, TEL_EINVAL,
			    d->source, pieces[i]->column, "%s has no type %s%s",
			    schema->name, pieces[i]->text,
			    suggest_type(schema, pieces[i]->text, near,
			        sizeof(near)));
		if (i == 0 && t != NULL && d->spec.end.text == NULL &&
		    (t->role != TEL_ROLE_START || t->partner < 0))
			return tel__trouble_set(&s->trouble, TEL_EINVAL,
			    d->source, pieces[i]->column,
			    "the schema defines no end for %s; name a second "
			    "type%s",
			    pieces[i]->text,
			    tel_type_find_field(t, "duration") < 0 ?
			        "" :
			        ", or count its field 'duration'");
	}
	return TEL_OK;
}

/* Whether the roles of two types say what identifies their ranges. */
static int
are_partners(const struct tel_type *start, const struct tel_type *end)
{
	return start->role == TEL_ROLE_START && end != NULL &&
	    end->role == TEL_ROLE_FINISH && tel_pair_of(end) == start->partner;
}

/* Warns, once, of pairs that cannot come to what was wanted. */
static void
stats_bind_check_pairs(struct tel_stats *s, struct definition *d,
    const struct tel_schema *schema)
{
	const char *start = d->spec.start.text, *end = d->spec.end.text;
	const struct tel_type *first = NULL, *last = NULL;
	char text[400];

	if (d->spec.pairs == PAIRS_NONE || d->warned || s->notify == NULL)
		return;
	if (start != NULL && end != NULL) {
		first = tel_schema_find_type(schema, start);
		last = tel_schema_find_type(schema, end);
	}
	text[0] = '\0';
	for (unsigned i = 0; start == NULL && i < schema->ntypes; i++)
		if (schema->types[i].role == TEL_ROLE_START)
			return;
	if (start == NULL)
		snprintf(text, sizeof(text),
		    "%.100s: no event type of %.48s starts a range by its "
		    "role; name two types",
		    d->spec.name, schema->name);
	else if (d->key[0] == NULL && first != NULL && last != NULL &&
	    first != last && !are_partners(first, last))
		snprintf(text, sizeof(text),
		    "%.100s: %.80s and %.80s have no common role and no KEY "
		    "was given: each end is paired with the %s start",
		    d->spec.name, start, end,
		    d->open.queue ? "earliest" : "latest");
	if (text[0] == '\0')
		return;
	d->warned = 1;
	s->notify(s->notify_arg, TEL_WARNING, NULL, 0, text);
}

/* Warns, once, of a value or a weight whose fraction is rounded down. */
static void
check_double(struct tel_stats *s, struct definition *d)
{
	const struct stat_class *class = d->class;
	const int value = d->spec.decimals == 0 && class->update != NULL &&
	    !class->bare && d->value != NULL && tel__expr_is_double(d->value);
	const int weight = !class->ranked && d->nweights > 0 &&
	    tel__expr_is_double(d->weight[0]);
	const char *of = value ? d->spec.value.text : d->spec.weight.text;
	char text[400], real[140] = "";

	if (d->warned || s->notify == NULL || (!value && !weight))
		return;
	d->warned = 1;
	if (value && class->real)
		snprintf(real, sizeof(real), "; real(%.100s) counts it", of);
	snprintf(text, sizeof(text),
	    "%.100s: '%.100s' may have a fraction, and is rounded down%s",
	    d->spec.name, of, real);
	s->notify(s->notify_arg, TEL_WARNING, NULL, 0, text);
}

static tel_status
bind_definition(struct tel_stats *s, struct definition *d,
    const struct tel_schema *schema)
{
	tel_status st;

	if (d->source == NULL)
		return TEL_OK;
	st = bind_expr(s, d->source, &d->spec.value, d->value, schema);
	for (unsigned i = 0; i < d->nweights && st == TEL_OK; i++)
		st = bind_expr(s, d->source, &d->weights[i], d->weight[i],
		    schema);
	for (unsigned i = 0; i < 2 && st == TEL_OK; i++)
		st = bind_expr(s, d->source, &d->keys[i], d->key[i], schema);
	if (st == TEL_OK)
		st = check_types(s, d, schema);
	if (st == TEL_OK)
		stats_bind_check_pairs(s, d, schema);
	if (st == TEL_OK)
		check_double(s, d);
	if (st == TEL_OK && d->value != NULL && !d->class->unitless)
		st = tel__definition_set_unit(d,
		    tel__expr_unit(d->value, schema));
	if (st == TEL_ENOMEM)
		return stats_no_memory(s);
	if (st != TEL_OK || d->filter == NULL)
		return st;
	st = tel_filter_bind(d->filter, schema);
	if (st == TEL_OK)
		return st;
	return bind_failed(s, d->source, &d->spec.condition, st,
	    tel_filter_error(d->filter), tel_filter_error_column(d->filter));
}

tel_status
tel__stats_bind(struct tel_stats *s, const struct tel_schema *schema)
{
	tel_status st;

	for (size_t i = 0; i < s->count; i++) {
		st = bind_definition(s, s->definitions[i], schema);
		if (st != TEL_OK)
			return st;
	}
	for (unsigned j = 0; j < s->ngroups; j++) {
		st = bind_expr(s, s->groups_text, &s->groups[j].piece,
		    s->groups[j].expr, schema);
		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

/* ----------------------------------------------------------- actions */

/*
 * The field of the process whose block an operation of an allocator allocates
 * or frees: each process has its own addresses.  -1: there is none.
 */
static int
process_field(const struct tel_type *t)
{
	if (t->role < TEL_ROLE_ALLOC || t->role == TEL_ROLE_START ||
	    t->role >= TEL_ROLE_MIDDLE || t->role == TEL_ROLE_FINISH)
		return -1;
	return t->role_field[TEL_PART_PROCESS];
}

/*
 * What a type is to a pair.  Returns 1 with a->what, ->pair, ->by_role and
 * ->process set, or 0 when it is nothing.
 */
static int
pair_action(const struct definition *d, const struct tel_schema *schema,
    const struct tel_type *t, struct action *a)
{
	const struct spec *p = &d->spec;
	const struct tel_type *start, *end;

	a->by_role = d->key[0] == NULL;
	a->process = process_field(t);
	if (p->start.text == NULL) {
		/* ranges of one end share their stack, whatever started them */
		a->what = t->role == TEL_ROLE_START ? ACT_START :
		    t->role == TEL_ROLE_FINISH      ? ACT_END :
		                                      ACT_MIDDLE;
		a->pair = (uint32_t)tel_pair_of(t);
		return tel_pair_of(t) >= 0;
	}
	start = tel_schema_find_type(schema, p->start.text);
	if (start == NULL)
		return 0;
	end = p->end.text != NULL ? tel_schema_find_type(schema, p->end.text) :
	                            &schema->types[start->partner];
	a->by_role &= are_partners(start, end);
	a->pair = 0;
	/* several types may have the name */
	int is_start = is_called(t, p->start.text);
	int is_end = p->end.text != NULL ? is_called(t, p->end.text) :
	                                   t == end ||
	        (t->role == TEL_ROLE_FINISH &&
	            tel_pair_of(t) == start->partner);
	a->what = is_start && is_end ? ACT_INTERVAL :
	    is_start                 ? ACT_START :
	    is_end                   ? ACT_END :
	                               ACT_MIDDLE;
	/* an interval may need two keys */
	if (d->key[0] != NULL && (d->key[1] == NULL || !(is_start && is_end)))
		a->load =
		    tel__expr_field(d->key[d->key[1] != NULL && is_end], t);
	if (is_start || is_end)
		return 1;
	if (p->middle.text != NULL)
		return is_called(t, p->middle.text);
	return a->by_role && t->role == TEL_ROLE_MIDDLE &&
	    tel_pair_of(t) == start->partner;
}

/* What a value is to a type: 0 for nothing. */
static int
value_action(const struct definition *d, const struct tel_type *t,
    struct action *a)
{
	a->what = APPLY_VALUE;
	a->unlabelled =
	    d->label[0] != '\0' && tel_type_find_field(t, d->label) >= 0;
	if (d->field == NULL || d->every)
		return 1;
	int at = tel__counter_find(t, d->field);
	/* "type" is the name where no type of the log has such a field */
	if (at == COUNTER_NONE)
		return strcmp(d->field, "type") == 0 &&
		    !tel__expr_is_field(d->value);
	const struct tel_field *f = at >= 0 ? &t->fields[at] : NULL;
	/* what an event may lack is left to the expression, and so is a list */
	if (f != NULL && d->spec.decimals == 0 && f->present == 0 &&
	    f->datatype != TEL_DOUBLE && f->datatype != TEL_STRING &&
	    f->datatype != TEL_LIST) {
		a->what = APPLY_FIELD;
		a->field = at;
		a->load = f;
	}
	return 1;
}

/* Finds out what a definition wants of a type.  0: nothing. */
static int
find_action(struct definition *d, const struct tel_schema *schema,
    const struct tel_type *t, struct action *a)
{
	int wanted = d->filter == NULL ? 1 : tel_filter_type(d->filter, t);

	memset(a, 0, sizeof(*a));
	a->definition = d;
	a->test = wanted < 0 || (d->filter != NULL && d->every);
	if (d->source == NULL || (wanted == 0 && !d->every))
		return 0;
	if (d->spec.pairs != PAIRS_NONE)
		return pair_action(d, schema, t, a);
	return value_action(d, t, a);
}

/* Nonzero when a stat takes what an action loads of a run's events together. */
static int
is_column(const struct action *a)
{
	return a->what == APPLY_FIELD && a->load->datatype != TEL_SIGNED &&
	    a->definition->ngroups == 0 &&
	    a->definition->class->update_many != NULL;
}

/* Sets what a slot's events need besides being counted. */
static tel_status
find_work(struct tel_stats *s, struct slot *slot)
{
	size_t i, columns = 0;

	while (columns < slot->nactions && is_column(&slot->actions[columns]))
		columns++;
	if (columns < slot->nactions || slot->record != NULL)
		slot->work = SLOT_BUSY;
	else if (columns > 0)
		slot->work = SLOT_FIELDS;
	else
		slot->work = slot->blocks ? SLOT_BLOCKS : SLOT_COUNTED;
	for (i = 0; slot->work == SLOT_FIELDS && i < columns; i++) {
		struct definition *d = slot->actions[i].definition;

		if (d->values == NULL)
			d->values = calloc(TEL_RUN_MAX, sizeof(*d->values));
		if (d->values == NULL)
			return stats_no_memory(s);
	}
	return TEL_OK;
}

static tel_status
fill_slot(struct tel_stats *s, struct source *from, struct slot *slot,
    const struct tel_type *t)
{
	const struct tel_schema *schema = from->schema;
	struct action a;

	slot->type = t;
	slot->part = UINT32_MAX;
	slot->blocks = tel_type_is_alloc(t) ?
	    s->blocks || s->heap != NULL :
	    s->heap_samples && tel_type_samples_allocs(t);
	tel__stats_block_fields(t, &slot->block);
	for (size_t i = 0; i < s->count; i++) {
		if (!find_action(s->definitions[i], schema, t, &a))
			continue;
		if (!TEL__RESERVE(slot->actions, slot->action_room,
		        slot->nactions + 1))
			return stats_no_memory(s);
		slot->actions[slot->nactions++] = a;
	}
	if (s->classes != NULL && slot->record == NULL &&
	    s->classes->bind(t, &slot->record) != TEL_OK)
		return stats_no_memory(s);
	return find_work(s, slot);
}

tel_status
tel__stats_bind_type(struct tel_stats *s, struct source *from,
    const struct tel_type *type)
{
	/* types of unknown codes come one by one */
	if (!TEL__RESERVE_ZEROED(from->slots, from->nslots,
	        (size_t)type->index + 1))
		return stats_no_memory(s);
	return fill_slot(s, from, &from->slots[type->index], type);
}
