/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of statistics: their making, and the setters. */
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/getter.h"
#include "query/tree.h"
#include "stats/class.h"

tel_stats *
tel_stats_new(void)
{
	struct tel_stats *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->budget.most = (size_t)1 << 30;
	s->max_groups = 4096;
	s->max_open = 65536;
	s->blocks = 1;
	s->session.first = UINT64_MAX;
	tel__report_init(&s->report);
	tel__report_init(&s->shown);
	tel__index_init(&s->names);
	s->strings = tel__strings_new(&s->budget);
	if (s->strings == NULL || tel_stats_settle(s) != TEL_OK) {
		tel_stats_free(s);
		return NULL;
	}
	return s;
}

static void
groups_clear(struct tel_stats *s)
{
	for (unsigned i = 0; i < s->ngroups; i++) {
		free(s->groups[i].piece.text);
		tel_expr_free(s->groups[i].expr);
	}
	memset(s->groups, 0, sizeof(s->groups));
	s->ngroups = 0;
	free(s->groups_text);
	s->groups_text = NULL;
}

void
tel_stats_free(tel_stats *s)
{
	if (s == NULL)
		return;
	if (s->class_logs != NULL)
		s->classes->free(s);
	for (size_t i = 0; i < s->nsources; i++)
		tel__source_free(s->sources[i]);
	free(s->sources);
	tel__table_clear(&s->by_log);
	tel__clock_free(s->session.clock);
	tel__clock_free(s->session.over_clock);
	for (size_t i = 0; i < s->count; i++)
		tel__definition_free(s->definitions[i]);
	free(s->definitions);
	groups_clear(s);
	tel__metadata_clear(&s->metadata);
	tel__report_clear(&s->report);
	tel__report_clear(&s->shown);
	free(s->list);
	free(s->trouble.text);
	tel__index_clear(&s->names);
	tel__strings_free(s->strings);
	free(s);
}

static uint64_t
stats_hash_name(const struct tel_stats *s, const char *name)
{
	return tel__hash_bytes(name, strlen(name), s->names.seed);
}

struct definition *
tel__stats_find(const struct tel_stats *s, const char *name)
{
	struct tel__probe at;
	uint32_t i;

	for (i = tel__index_first(&s->names, stats_hash_name(s, name), &at);
	     i != TEL__NOWHERE; i = tel__index_next(&s->names, &at))
		if (strcmp(s->definitions[i]->spec.name, name) == 0)
			return s->definitions[i];
	return NULL;
}

tel_status
tel__stats_adopt(struct tel_stats *s, struct definition *d)
{
	const char *name = d->spec.name;

	if (!TEL__RESERVE(s->definitions, s->room, s->count + 1) ||
	    (tel__stats_find(s, name) == NULL &&
	        !tel__index_add(&s->names, stats_hash_name(s, name),
	            (uint32_t)s->count))) {
		tel__definition_free(d);
		return stats_no_memory(s);
	}
	d->max_groups = (uint32_t)s->max_groups;
	d->open.max = (uint32_t)s->max_open;
	s->definitions[s->count++] = d;
	return TEL_OK;
}

/* An expression of a text; NULL with trouble set. */
static tel_expr *
make_expr(struct tel_stats *s, const char *text, const struct piece *piece,
    tel_status *st)
{
	tel_expr *x = tel_expr_new();

	*st = x == NULL ? TEL_ENOMEM : tel_expr_set(x, piece->text);
	if (*st == TEL_OK) {
		s->remembers |= tel_expr_uses(x, TEL_USE_HISTORY);
		return x;
	}
	if (*st == TEL_ENOMEM)
		(void)stats_no_memory(s);
	else
		(void)tel__trouble_set(&s->trouble, *st, text,
		    piece->column + tel_expr_error_column(x) - 1, "%s",
		    tel_expr_error(x));
	tel_expr_free(x);
	return NULL;
}

static tel_status
make_filter(struct tel_stats *s, struct definition *d, const char *text)
{
	const struct piece *piece = &d->spec.condition;

	d->filter = tel_filter_new();
	if (d->filter == NULL)
		return stats_no_memory(s);
	tel_status st = tel_filter_set_expression(d->filter, piece->text);
	if (st == TEL_ENOMEM)
		return stats_no_memory(s);
	if (st == TEL_OK) {
		s->remembers |= tel_filter_uses(d->filter, TEL_USE_HISTORY);
		return TEL_OK;
	}
	return tel__trouble_set(&s->trouble, st, text,
	    piece->column + tel_filter_error_column(d->filter) - 1, "%s",
	    tel_filter_error(d->filter));
}

/* Compiles what a definition asks events for. */
static tel_status
stats_compile(struct tel_stats *s, struct definition *d, const char *text)
{
	const struct spec *spec = &d->spec;
	tel_status st = TEL_OK;

	d->source = strdup(text);
	if (d->source == NULL)
		return stats_no_memory(s);
	if (spec->value.text != NULL)
		d->value = make_expr(s, text, &spec->value, &st);
	for (unsigned i = 0; i < d->nweights && st == TEL_OK; i++)
		d->weight[i] = make_expr(s, text, &d->weights[i], &st);
	if (st == TEL_OK && spec->key.text != NULL)
		st = tel__piece_halve(&spec->key, d->keys);
	for (unsigned i = 0; i < 2 && st == TEL_OK; i++)
		if (d->keys[i].text != NULL)
			d->key[i] = make_expr(s, text, &d->keys[i], &st);
	if (st == TEL_OK && spec->condition.text != NULL)
		st = make_filter(s, d, text);
	if (spec->value.text != NULL && spec->weight.text == NULL)
		d->field = tel__piece_field(&spec->value);
	/* it is a field in some types only */
	if (d->field != NULL && tel__derived_find(d->field) != D_COUNT)
		d->field = NULL;
	if (spec->class == TEL_CLASS_TALLY)
		(void)tel__piece_label(&spec->value, d->label,
		    sizeof(d->label));
	d->every = tel__piece_has_word(&spec->value, "dt") ||
	    tel__piece_has_word(&spec->weight, "dt") ||
	    tel__piece_has_word(&spec->condition, "dt") ||
	    tel__piece_has_word(&spec->key, "dt");
	/* dt needs every event, and pairs see only a few types */
	if (st == TEL_OK && d->every && spec->pairs != PAIRS_NONE)
		return tel__trouble_set(&s->trouble, TEL_EINVAL, text, 0,
		    "dt cannot be combined with pairs");
	return st;
}

/* Groups may be set before or after: definitions made anew have no stats. */
static tel_status
set_group_names(struct tel_stats *s, struct definition *d)
{
	tel__definition_reset(d);
	for (unsigned i = 0; i < d->ngroups; i++) {
		free(d->group_names[i]);
		d->group_names[i] = NULL;
	}
	for (unsigned i = 0; i < s->ngroups; i++) {
		d->group_names[i] = strdup(s->groups[i].piece.text);
		if (d->group_names[i] == NULL) {
			d->ngroups = i;
			return stats_no_memory(s);
		}
	}
	d->ngroups = s->ngroups;
	return TEL_OK;
}

tel_status
tel_stats_add(tel_stats *s, const char *spec)
{
	struct definition *d;
	struct spec parsed;

	if (s->started)
		return TEL_ESTATE;
	tel_status st = tel__spec_parse(spec, &parsed, &s->trouble);
	if (st != TEL_OK)
		return st == TEL_ENOMEM ? stats_no_memory(s) : st;
	if (tel__stats_find(s, parsed.name) != NULL) {
		st = tel__trouble_set(&s->trouble, TEL_EINVAL, spec, 1,
		    "a statistic named %s already exists", parsed.name);
		tel__spec_clear(&parsed);
		return st;
	}
	d = tel__definition_new(&parsed, 0, NULL, s->strings, &s->budget);
	if (d == NULL) {
		tel__spec_clear(&parsed);
		return stats_no_memory(s);
	}
	st = stats_compile(s, d, spec);
	if (st == TEL_OK)
		st = set_group_names(s, d);
	if (st != TEL_OK) {
		tel__definition_free(d);
		return st;
	}
	st = tel__stats_adopt(s, d);
	return st == TEL_OK ? tel_stats_settle(s) : st;
}

tel_status
tel_stats_set_groups(tel_stats *s, const char *expressions)
{
	struct piece pieces[GROUPS_MAX];
	unsigned count = 0, i;
	tel_status st = TEL_OK;

	if (s->started)
		return TEL_ESTATE;
	groups_clear(s);
	if (expressions != NULL) {
		st = tel__pieces_split(expressions, pieces, GROUPS_MAX, &count,
		    &s->trouble);
		s->groups_text = strdup(expressions);
	}
	if (st != TEL_OK)
		count = 0;
	for (i = 0; i < count; i++)
		s->groups[i].piece = pieces[i];
	s->ngroups = count;
	for (i = 0; i < count && st == TEL_OK; i++) {
		if (strcmp(pieces[i].text, "file") == 0)
			continue;
		s->groups[i].expr =
		    make_expr(s, expressions, &s->groups[i].piece, &st);
		if (tel__piece_has_word(&s->groups[i].piece, "dt"))
			st = tel__trouble_set(&s->trouble, TEL_EINVAL,
			    expressions, s->groups[i].piece.column,
			    "dt cannot define groups");
	}
	if (st != TEL_OK)
		groups_clear(s);
	for (size_t j = 0; j < s->count; j++)
		if (set_group_names(s, s->definitions[j]) != TEL_OK)
			return TEL_ENOMEM;
	return st == TEL_OK ? tel_stats_settle(s) : st;
}

tel_status
tel_stats_set_interval(tel_stats *s, uint64_t interval, int ticks,
    tel_snapshot_fn *fn, void *arg)
{
	if (s->started)
		return TEL_ESTATE;
	s->interval = fn == NULL ? 0 : interval;
	s->interval_ticks = ticks != 0;
	s->snapshot = fn;
	s->snapshot_arg = arg;
	return TEL_OK;
}

void
tel_stats_set_notify(tel_stats *s, tel_notify_fn *fn, void *arg)
{
	s->notify = fn;
	s->notify_arg = arg;
}

void
tel_stats_set_incomplete(tel_stats *s)
{
	if (s->incomplete)
		return;
	s->incomplete = 1;
	s->report.incomplete++;
	s->shown.incomplete++;
}

int
tel_stats_elapsed(const tel_stats *s, uint64_t *out)
{
	*out = s->elapsed;
	return s->elapsed > 0 && (s->deltas || s->sessions <= 1);
}

static int
definition_uses(const struct definition *d, tel_use use)
{
	const enum pairing pairs = d->spec.pairs;

	for (unsigned i = 0; i < d->nweights; i++)
		if (d->weight[i] != NULL && tel_expr_uses(d->weight[i], use))
			return 1;
	return (d->value != NULL && tel_expr_uses(d->value, use)) ||
	    (d->key[0] != NULL && tel_expr_uses(d->key[0], use)) ||
	    (d->key[1] != NULL && tel_expr_uses(d->key[1], use)) ||
	    (d->filter != NULL && tel_filter_uses(d->filter, use)) ||
	    (use == TEL_USE_RATE &&
	        (pairs == PAIRS_NS || pairs == PAIRS_QUEUE)) ||
	    (use == TEL_USE_OTHERS && d->class->current) ||
	    ((use == TEL_USE_ORDER || use == TEL_USE_OTHERS) &&
	        (pairs != PAIRS_NONE || d->every));
}

int
tel_stats_uses(const tel_stats *s, tel_use use)
{
	if (use == TEL_USE_HISTORY || (use == TEL_USE_ORDER && s->remembers))
		return s->remembers;
	if (s->interval > 0 && use != TEL_USE_LABELS &&
	    (use != TEL_USE_RATE || !s->interval_ticks))
		return 1;
	for (size_t i = 0; i < s->count; i++)
		if (definition_uses(s->definitions[i], use))
			return 1;
	for (unsigned j = 0; j < s->ngroups; j++)
		if (s->groups[j].expr != NULL &&
		    tel_expr_uses(s->groups[j].expr, use))
			return 1;
	return 0;
}

TEL__GETTER(const char *, tel_stats_error, tel_stats, trouble.message)
TEL__GETTER(unsigned, tel_stats_error_column, tel_stats, trouble.column)
TEL__GETTER(const char *, tel_stats_error_text, tel_stats, trouble.text)
