/* SPDX-License-Identifier: BSD-2-Clause */
/* The largest values, in order. */
#include "stats/top.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void
tel__top_init(struct top *t, uint32_t max, struct budget *budget)
{
	memset(t, 0, sizeof(*t));
	t->max = max;
	t->budget = budget;
}

/* The bytes of the string that a value is, with its NUL; 0: it is none. */
static size_t
top_string_size(const tel_value *v)
{
	return !v->missing && v->datatype == TEL_STRING ? v->length + 1 : 0;
}

/* A stored value: itself, the values shown beside it, and the strings. */
static size_t
top_size(const struct tel_top *v)
{
	size_t size =
	    sizeof(*v) + v->nshown * sizeof(*v->shown) + strlen(v->log) + 1;

	for (unsigned i = 0; i < v->nshown; i++)
		size += top_string_size(&v->shown[i]);
	return size;
}

/* With its place in the list. */
static size_t
top_charge(const struct tel_top *v)
{
	return top_size(v) + 2 * sizeof(v);
}

void
tel__top_clear(struct top *t)
{
	struct budget *budget = t->budget;
	uint32_t i, max = t->max;

	for (i = 0; i < t->count; i++)
		free(t->list[i]);
	free(t->list);
	if (budget != NULL)
		budget_give(budget, t->taken);
	tel__top_init(t, max, budget);
}

static int
compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The order of keys of one event, which have one data type unless hostile. */
static int
compare_keys(const tel_value *a, const tel_value *b)
{
	size_t n = a->length < b->length ? a->length : b->length;
	int c = b->missing - a->missing;

	if (c == 0)
		c = (int)a->datatype - (int)b->datatype;
	if (c != 0 || a->missing)
		return c;
	if (a->datatype != TEL_STRING)
		return compare_u64(a->as.u64, b->as.u64);
	c = memcmp(a->as.string, b->as.string, n);
	return c != 0 ? c : compare_u64(a->length, b->length);
}

/* Negative, 0 or positive as a comes before, is, or comes after b. */
static int
top_compare(const struct tel_top *a, const struct tel_top *b)
{
	int c = int128_compare(b->value, a->value);

	if (c == 0)
		c = compare_u64(a->clock, b->clock);
	if (c == 0)
		c = strcmp(a->log, b->log);
	if (c == 0)
		c = compare_u64(a->offset, b->offset);
	for (unsigned i = 0; c == 0 && i < a->nshown && i < b->nshown; i++)
		c = compare_keys(&a->shown[i], &b->shown[i]);
	return c;
}

/* A copy of a string at *at, which moves behind it. */
static const char *
top_copy_string(char **at, const char *string, size_t length)
{
	char *copy = *at;

	if (length > 0)
		memcpy(copy, string, length);
	copy[length] = '\0';
	*at += length + 1;
	return copy;
}

/* A copy of a value with those beside it; NULL when out of memory. */
static struct tel_top *
top_copy(const struct tel_top *v)
{
	struct tel_top *new = malloc(top_size(v));
	tel_value *shown = (tel_value *)(new + 1);
	char *at = (char *)(shown + v->nshown);

	if (new == NULL)
		return NULL;
	*new = *v;
	new->shown = shown;
	new->log = top_copy_string(&at, v->log, strlen(v->log));
	for (unsigned i = 0; i < v->nshown; i++) {
		shown[i] = v->shown[i];
		if (top_string_size(&shown[i]) > 0)
			shown[i].as.string = top_copy_string(&at,
			    shown[i].as.string, shown[i].length);
	}
	return new;
}

tel_status
tel__top_show(struct top_shown *s, const tel_value *value)
{
	tel_value *v = &s->values[s->count];
	char *copy = NULL;

	*v = *value;
	if (top_string_size(v) > 0) {
		copy = tel__copy_string(value->as.string, v->length);
		if (copy == NULL)
			return TEL_ENOMEM;
		v->as.string = copy;
	}
	s->strings[s->count++] = copy;
	return TEL_OK;
}

tel_status
tel__top_show_event(struct top_shown *s, tel_expr *const *x, unsigned n,
    const tel_event *ev)
{
	tel_status st = TEL_OK;
	tel_value value;

	for (unsigned i = 0; i < n && st == TEL_OK; i++) {
		st = tel_expr_eval(x[i], ev, &value);
		if (st == TEL_OK)
			st = tel__top_show(s, &value);
	}
	return st;
}

void
tel__top_shown_clear(struct top_shown *s)
{
	while (s->count > 0)
		free(s->strings[--s->count]);
}

tel_status
tel__top_add(struct top *t, const struct tel_top *value)
{
	uint32_t lo = 0, hi = t->count, middle;

	TEL__BISECT(lo, hi, middle, top_compare(t->list[middle], value) <= 0);
	if (lo == t->max)
		return TEL_OK;
	if (t->count == t->max) {
		struct tel_top *last = t->list[--t->count];

		budget_give(t->budget, top_charge(last));
		t->taken -= top_charge(last);
		free(last);
	}
	if (!budget_take(t->budget, top_charge(value)))
		return TEL_ELIMIT;
	t->taken += top_charge(value);
	struct tel_top *new = top_copy(value);
	if (new == NULL ||
	    !TEL__RESERVE(t->list, t->room, (size_t)t->count + 1)) {
		free(new);
		return TEL_ENOMEM;
	}
	memmove(&t->list[lo + 1], &t->list[lo],
	    (t->count - lo) * sizeof(*t->list));
	t->list[lo] = new;
	t->count++;
	return TEL_OK;
}
