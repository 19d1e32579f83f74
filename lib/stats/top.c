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

/* The length of the string that a key is, or 0. */
static size_t
key_length(const struct tel_top *v)
{
	return !v->key.missing && v->key.datatype == TEL_STRING ?
	    v->key.length :
	    0;
}

/* What a value takes, with its place in the list. */
static size_t
size_of(const struct tel_top *v)
{
	return sizeof(*v) + strlen(v->log) + 1 + key_length(v) + 1 +
	    2 * sizeof(v);
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
	return c != 0 ? c : compare_keys(&a->key, &b->key);
}

/* A copy of a value with its strings; NULL when out of memory. */
static struct tel_top *
top_copy(const struct tel_top *v)
{
	const size_t log = strlen(v->log) + 1, key = key_length(v);
	struct tel_top *new = malloc(sizeof(*new) + log + key + 1);
	char *text = (char *)(new + 1);

	if (new == NULL)
		return NULL;
	*new = *v;
	new->log = memcpy(text, v->log, log);
	if (!v->key.missing && v->key.datatype == TEL_STRING) {
		text += log;
		if (key > 0)
			memcpy(text, v->key.as.string, key);
		text[key] = '\0';
		new->key.as.string = text;
	}
	return new;
}

tel_status
tel__top_add(struct top *t, const struct tel_top *value)
{
	uint32_t lo = 0, hi = t->count, middle;
	struct tel_top *last, *new;

	while (lo < hi) {
		middle = lo + (hi - lo) / 2;
		if (top_compare(t->list[middle], value) <= 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	if (lo == t->max)
		return TEL_OK;
	if (t->count == t->max) {
		last = t->list[--t->count];
		budget_give(t->budget, size_of(last));
		t->taken -= size_of(last);
		free(last);
	}
	if (!budget_take(t->budget, size_of(value)))
		return TEL_ELIMIT;
	t->taken += size_of(value);
	new = top_copy(value);
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
