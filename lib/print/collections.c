/* SPDX-License-Identifier: BSD-2-Clause */
/* Collections: what a page has of pauses and collections. */
#include "print/collections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/clock.h"
#include "model/schema.h"

/* Documented limit: numbers that events have of collections, the first ones. */
#define MAX_FACTS ((size_t)1 << 17)
/* A page has a pause, and a collection, for so many bytes of it. */
#define PAUSE_BYTES 512
#define COLLECTION_BYTES 8192

int
tel__collections_want(struct collections *c, const struct tel_schema *s)
{
	unsigned i;

	if (c->ended)
		return 0;
	if (c->schema == s)
		return c->start != NULL;
	c->schema = s;
	c->start = NULL;
	for (i = 0; i < s->ntypes; i++)
		if (s->types[i].role == TEL_ROLE_START &&
		    s->types[i].range == TEL_ROLE_COLLECTION &&
		    s->types[i].role_field[TEL_PART_ADDRESS] >= 0)
			c->start = &s->types[i];
	return c->start != NULL;
}

/* Events name a collection by a field of the same name as its start does. */
int
tel__collections_key(const struct collections *c, const struct tel_type *t)
{
	const int key = c->start->role_field[TEL_PART_ADDRESS];
	unsigned i;

	if (t->range != 0)
		return t->role_field[TEL_PART_ADDRESS];
	if (t->role != TEL_ROLE_NONE || strcmp(t->kind, c->start->kind) != 0)
		return -1;
	for (i = 0; i < t->nfields; i++)
		if (strcmp(t->fields[i].name, c->start->fields[key].name) == 0)
			return (int)i;
	return -1;
}

/* Keeps the numbers of an event. */
static tel_status
collections_add_facts(struct collections *c, uint32_t type,
    const struct tel_event *ev, uint64_t key)
{
	struct collections_fact *f;
	const struct tel_field *field;
	unsigned i;

	for (i = 0; i < ev->type->nfields && c->nfacts < MAX_FACTS; i++) {
		field = &ev->type->fields[i];
		if ((field->datatype != TEL_UNSIGNED &&
		        field->datatype != TEL_DOUBLE) ||
		    !tel_event_has(ev, i))
			continue;
		if (!TEL__RESERVE(c->facts, c->facts_room, c->nfacts + 1))
			return TEL_ENOMEM;
		f = &c->facts[c->nfacts];
		f->clock = ev->clock;
		f->key = key;
		f->type = type;
		f->field = i;
		if (field->datatype == TEL_UNSIGNED)
			(void)snprintf(f->value, sizeof(f->value), "%" PRIu64,
			    tel_load(field, ev->data));
		else
			(void)snprintf(f->value, sizeof(f->value), "%.9g",
			    tel_event_double(ev, i));
		/* JSON has no infinity */
		c->nfacts += strpbrk(f->value, "in") == NULL;
	}
	return TEL_OK;
}

tel_status
tel__collections_event(struct collections *c, struct event_samples *x,
    const struct tel_event *ev, uint64_t time)
{
	const int key = tel__collections_key(c, ev->type);
	tel_status st = TEL_OK;
	uint32_t type;

	if (key < 0)
		return TEL_OK;
	if (ev->type->range != 0)
		st = tel__collector_event(&c->of, ev, time);
	if (st != TEL_OK || ev->type->range == TEL_ROLE_PAUSE)
		return st;
	type = tel__samples_type(x, ev->type);
	return x->no_memory ? TEL_ENOMEM :
	                      collections_add_facts(c, type, ev,
	                          tel_load(&ev->type->fields[key], ev->data));
}

void
tel__collections_span(struct collections *c, const struct tel_event *ev)
{
	if (c->last == 0 || ev->clock < c->first)
		c->first = ev->clock;
	if (ev->clock > c->last)
		c->last = ev->clock;
}

static int
longer(const void *a, const void *b)
{
	const struct tel__collector_range *x = a, *y = b;

	return x->length != y->length ?
	    (x->length < y->length) - (x->length > y->length) :
	    (x->from > y->from) - (x->from < y->from);
}

/* Starts an item of a list: when it was, and how long. */
static void
collections_put_range(struct tel__buffer *b, uint64_t at, uint64_t length)
{
	tel__json_put(b, b->bytes[b->used - 1] == '[' ? "[" : ",[");
	tel__json_number(b, at);
	tel__json_put(b, ",");
	tel__json_number(b, length);
}

/* The facts of a collection: they are in order of time, or nearly so. */
static void
collections_put_facts(const struct collections *c,
    const struct tel__collector_range *r, struct tel__buffer *b)
{
	const struct collections_fact *f;
	char text[96];
	int first = 1;

	tel__json_put(b, ",[");
	for (f = c->facts; f < c->facts + c->nfacts; f++) {
		if (f->key != r->key || f->clock < r->from || f->clock > r->to)
			continue;
		(void)snprintf(text, sizeof(text),
		    "%s[%" PRIu32 ",%" PRIu32 ",%s]", first ? "" : ",", f->type,
		    f->field, f->value);
		tel__json_put(b, text);
		first = 0;
	}
	tel__json_put(b, "]");
}

/* The longest ranges, of the sorted ones: of pauses or of collections. */
static void
put_longest(const struct collections *c,
    const struct tel__collector_range *sorted, int pause, uint64_t most,
    struct tel__buffer *b)
{
	uint64_t total = 0, n = 0;
	size_t i;

	tel__json_key(b, pause ? "pauses" : "collections");
	tel__json_put(b, "{");
	tel__json_key(b, "list");
	tel__json_put(b, "[");
	for (i = 0; i < c->of.nranges && b->used > 0; i++) {
		if (sorted[i].pause != pause)
			continue;
		total += sorted[i].length;
		if (n++ >= most)
			continue;
		collections_put_range(b, sorted[i].shown, sorted[i].length);
		if (!pause)
			collections_put_facts(c, &sorted[i], b);
		tel__json_put(b, "]");
	}
	tel__json_put(b, "]");
	tel__json_pair(b, "count", n);
	tel__json_pair(b, "total", total);
	tel__json_put(b, "}");
}

static void
collections_put_mutator(const struct collections *c, uint64_t span,
    struct tel__buffer *b)
{
	uint64_t window;
	unsigned i = 0;
	char text[64];

	tel__json_key(b, "mutator");
	tel__json_put(b, "[");
	while ((window = tel__collector_window(i)) <= span) {
		(void)snprintf(text, sizeof(text), "%s[%" PRIu64 ",%.9g]",
		    i == 0 ? "" : ",", window,
		    tel__collector_mutator(&c->of, span, window));
		tel__json_put(b, text);
		i++;
	}
	tel__json_put(b, "]");
}

int
tel__collections_head(struct collections *c, uint64_t most,
    struct tel__buffer *b)
{
	struct tel__collector_range *sorted;
	uint64_t span;

	if (c->ended)
		return 1;
	if (!tel__collector_pair(&c->of, c->first))
		return 0;
	if (c->of.nranges == 0)
		return 1;
	sorted = malloc(c->of.nranges * sizeof(*sorted));
	if (sorted == NULL)
		return 0;
	memcpy(sorted, c->of.ranges, c->of.nranges * sizeof(*sorted));
	qsort(sorted, c->of.nranges, sizeof(*sorted), longer);
	tel__json_key(b, "collector");
	tel__json_put(b, "{");
	put_longest(c, sorted, 1, most / PAUSE_BYTES, b);
	put_longest(c, sorted, 0, most / COLLECTION_BYTES, b);
	span = tel__collector_time(&c->of, 0, c->first, c->last);
	collections_put_mutator(c, span, b);
	tel__json_pair(b, "span", span);
	tel__json_put(b, "}");
	free(sorted);
	return 1;
}

void
tel__collections_clear(struct collections *c)
{
	tel__collector_clear(&c->of);
	free(c->facts);
	memset(c, 0, sizeof(*c));
}
