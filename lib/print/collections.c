/* SPDX-License-Identifier: BSD-2-Clause */
/* Collections: what a page has of pauses and collections. */
#include "print/collections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bucket.h"
#include "base/int128.h"
#include "model/clock.h"
#include "model/pair.h"
#include "model/schema.h"
#include "render/list.h"
#include "render/number.h"

/* Documented limit: numbers that events have of collections, the first ones. */
#define MAX_FACTS ((size_t)1 << 17)
/* Columns of the table of collections, and phases of a collection. */
#define MAX_COLUMNS 6u
#define MAX_PHASES 8u
/* A page has a pause, a generation, and a collection, for so many bytes of it. */
#define PAUSE_BYTES 512
#define GENERATION_BYTES 2048
#define COLLECTION_BYTES 8192
/* Events that generations have, for each of those that a page may have. */
#define EVENTS_EACH 8

/* A range whose end has a truth, whether it did work: a poll of a collector. */
static void
find_poll(struct collections *c, const struct tel_type *t)
{
	if (t->role != TEL_ROLE_FINISH || t->range != 0 ||
	    t->role_field[TEL_PART_ADDRESS] < 0)
		return;
	for (unsigned i = 0; i < t->nfields; i++)
		if (t->fields[i].datatype == TEL_BOOLEAN) {
			c->poll = t;
			c->poll_field = i;
		}
}

static int
is_poll(const struct collections *c, const struct tel_type *t)
{
	return c->poll != NULL && t->schema == c->schema && t->range == 0 &&
	    tel_pair_of(t) == (int32_t)c->poll->index;
}

int
tel__collections_want(struct collections *c, const struct tel_schema *s)
{
	if (c->ended)
		return 0;
	if (c->schema == s)
		return c->start != NULL;
	c->schema = s;
	c->start = c->poll = NULL;
	for (unsigned i = 0; i < s->ntypes; i++)
		if (s->types[i].role == TEL_ROLE_START &&
		    s->types[i].range == TEL_ROLE_COLLECTION &&
		    s->types[i].role_field[TEL_PART_ADDRESS] >= 0)
			c->start = &s->types[i];
	for (unsigned i = 0; i < s->ntypes; i++)
		find_poll(c, &s->types[i]);
	return c->start != NULL;
}

/*
 * Events name a collection by a field of the same name as its start does: those of
 * the kind of the start, and those that the format marks.  Negative: others.
 */
static int
collections_key(const struct collections *c, const struct tel_type *t)
{
	const int key = c->start->role_field[TEL_PART_ADDRESS];

	if (t->range != 0 || is_poll(c, t))
		return t->role_field[TEL_PART_ADDRESS];
	if ((t->role != TEL_ROLE_NONE && t->role != TEL_ROLE_GENERATION) ||
	    (t->collection == NULL && strcmp(t->kind, c->start->kind) != 0))
		return -1;
	return tel_type_find_field(t, c->start->fields[key].name);
}

int
tel__collections_takes(const struct collections *c, const struct tel_type *t)
{
	return t->role == TEL_ROLE_GENERATION || collections_key(c, t) >= 0;
}

/* Makes a fact; NULL: no memory. */
static struct collections_fact *
collections_fact(struct collections *c, const struct tel_event *ev,
    uint64_t key, uint32_t type, uint32_t field)
{
	uint32_t log;

	if (!TEL__RESERVE(c->facts, c->facts_room, c->nfacts + 1) ||
	    !tel__collector_log(&c->of, ev, &log))
		return NULL;
	struct collections_fact *f = &c->facts[c->nfacts];
	*f = (struct collections_fact){ ev->clock, key, log, type, field, "" };
	return f;
}

/* Keeps the time and the numbers of an event. */
static tel_status
collections_add_facts(struct collections *c, uint32_t type,
    const struct tel_event *ev, uint64_t key)
{
	struct collections_fact *f;
	unsigned i;

	if (c->nfacts < MAX_FACTS) {
		if (collections_fact(c, ev, key, type, COLLECTIONS_TIME) ==
		    NULL)
			return TEL_ENOMEM;
		c->nfacts++;
	}
	for (i = 0; i < ev->type->nfields && c->nfacts < MAX_FACTS; i++) {
		const struct tel_field *field = &ev->type->fields[i];

		if ((field->datatype != TEL_UNSIGNED &&
		        field->datatype != TEL_DOUBLE) ||
		    !tel_event_has(ev, i))
			continue;
		f = collections_fact(c, ev, key, type, i);
		if (f == NULL)
			return TEL_ENOMEM;
		if (field->datatype == TEL_UNSIGNED)
			(void)snprintf(f->value, sizeof(f->value), "%" PRIu64,
			    tel_load(field, ev->data));
		else
			*tel__put_general((unsigned char *)f->value, 9,
			    tel_event_double(ev, i)) = '\0';
		/* JSON has no infinity */
		c->nfacts += strpbrk(f->value, "in") == NULL;
	}
	return TEL_OK;
}

static int
names_collection(const struct collections *c, const struct tel_event *ev,
    int key)
{
	const int of = c->start->role_field[TEL_PART_ADDRESS];

	return strcmp(ev->type->fields[key].name, c->start->fields[of].name) ==
	    0;
}

tel_status
tel__collections_event(struct collections *c, struct event_samples *x,
    const struct tel_event *ev, uint64_t time)
{
	const int key = collections_key(c, ev->type);
	tel_status st = TEL_OK;

	if (is_poll(c, ev->type)) {
		c->worked += ev->type == c->poll &&
		    tel_load(&c->poll->fields[c->poll_field], ev->data) != 0;
		return tel__collector_event(&c->polls, ev, time);
	}
	if (ev->type->range != 0 || ev->type->role == TEL_ROLE_GENERATION)
		st = tel__collector_event(&c->of, ev, time);
	/* a pause may name the collection that it is a part of, or another */
	if (st != TEL_OK || key < 0 ||
	    (ev->type->range == TEL_ROLE_PAUSE &&
	        !names_collection(c, ev, key)))
		return st;
	uint32_t type = tel__samples_type(x, ev->type);
	if (x->no_memory)
		return TEL_ENOMEM;
	/* the type that stands for those beyond the limit has no fields */
	if (x->types[type].nfields == 0)
		return TEL_OK;
	return collections_add_facts(c, type, ev,
	    tel_load(&ev->type->fields[key], ev->data));
}

int
tel__collections_span(struct collections *c, const struct tel_event *ev)
{
	uint32_t log;

	/* the clock of a log without collections is known, too */
	if (c->last == 0 && !tel__collector_log(&c->of, ev, &log))
		return 0;
	if (c->last == 0 || ev->clock < c->first)
		c->first = ev->clock;
	if (ev->clock > c->last)
		c->last = ev->clock;
	return 1;
}

static int
longer(const void *a, const void *b)
{
	const struct tel__collector_range *x = a, *y = b;

	return x->length != y->length ?
	    (x->length < y->length) - (x->length > y->length) :
	    (x->from > y->from) - (x->from < y->from);
}

/* The next fact of a collection from one on, or NULL. */
static const struct collections_fact *
collections_next(const struct collections *c,
    const struct tel__collector_range *r, const struct collections_fact *f)
{
	for (; f < c->facts + c->nfacts; f++)
		if (f->key == r->key && f->log == r->log &&
		    f->clock >= r->from && f->clock <= r->to)
			return f;
	return NULL;
}

/* The numbers of a collection: they are in order of time, or nearly so. */
static void
collections_put_facts(const struct collections *c,
    const struct tel__collector_range *r, struct tel__buffer *b)
{
	const struct collections_fact *f = c->facts;

	tel__json_put(b, ",[");
	for (; (f = collections_next(c, r, f)) != NULL; f++) {
		if (f->field == COLLECTIONS_TIME)
			continue;
		tel__json_item(b, "[%" PRIu32 ",%" PRIu32 ",%s]", f->type,
		    f->field, f->value);
	}
	tel__json_put(b, "]");
}

/* A phase of a collection: its name, when it began first, how long it was. */
struct collections_phase {
	const char *name;
	size_t length;
	uint64_t from, ns;
};

/* The phase that events of a type begin, in the first n; n: it is a new one. */
static size_t
collections_find_phase(struct collections_phase *all, size_t n,
    const struct sample_type *t)
{
	const size_t length = strcspn(t->collection, "(");

	for (size_t i = 0; i < n; i++)
		if (all[i].length == length &&
		    memcmp(all[i].name, t->collection, length) == 0)
			return i;
	all[n].name = t->collection;
	all[n].length = length;
	return n;
}

static void
collections_put_phases(const struct collections *c,
    const struct event_samples *x, const struct tel__collector_range *r,
    struct tel__buffer *b)
{
	/* the last one has no room to be kept */
	struct collections_phase all[MAX_PHASES + 1] = { { 0 } };
	const struct collections_fact *f = c->facts;
	size_t i, n = 0, now = MAX_PHASES;
	uint64_t at = 0, last = 0;

	for (; (f = collections_next(c, r, f)) != NULL; f++) {
		const struct sample_type *t = &x->types[f->type];

		if (f->field != COLLECTIONS_TIME)
			continue;
		at = tel__collector_time(&c->of, r->log, r->from, f->clock);
		all[now].ns += at > last ? at - last : 0;
		last = at > last ? at : last;
		if (t->collection == NULL || t->collection[0] == '(')
			continue;
		now = collections_find_phase(all, n, t);
		if (now == n) {
			all[n].from = last;
			n += n < MAX_PHASES;
		}
	}
	all[now].ns += r->length > last ? r->length - last : 0;
	tel__json_put(b, ",[");
	for (i = 0; i < n; i++)
		tel__json_item(b, "[\"%.*s\",%" PRIu64 ",%" PRIu64 "]",
		    (int)all[i].length, all[i].name, all[i].from, all[i].ns);
	tel__json_put(b, "]");
}

/* Nonzero when a field of a type sums up a collection. */
static int
sums_up(const struct sample_type *t, uint32_t field)
{
	const char *name = t->fields[field].name, *at = t->collection;
	const size_t n = strlen(name);

	for (at = at == NULL ? NULL : strchr(at, '('); at != NULL;
	     at = strchr(at + 1, ','))
		if (strncmp(at + 1, name, n) == 0 &&
		    (at[n + 1] == ',' || at[n + 1] == ')'))
			return 1;
	return 0;
}

/*
 * The columns of a table of collections, as types and fields: those that sum
 * them up, if there are any, in order of time.
 */
static void
collections_put_columns(const struct collections *c,
    const struct event_samples *x, struct tel__buffer *b)
{
	const struct collections_fact *f, *all[MAX_COLUMNS];
	size_t i, n = 0;

	for (int sums = 1; sums >= 0 && n == 0; sums--)
		for (f = c->facts; f < c->facts + c->nfacts && n < MAX_COLUMNS;
		     f++) {
			if (f->field == COLLECTIONS_TIME ||
			    (sums && !sums_up(&x->types[f->type], f->field)))
				continue;
			for (i = 0; i < n &&
			     (all[i]->type != f->type ||
			         all[i]->field != f->field);
			     i++)
				;
			if (i == n)
				all[n++] = f;
		}
	tel__json_raw(b, "columns", "[");
	for (i = 0; i < n; i++)
		tel__json_item(b, "[%" PRIu32 ",%" PRIu32 "]", all[i]->type,
		    all[i]->field);
	tel__json_put(b, "]");
}

/* A collection: [start, length, facts, phases, and 1 without an end]. */
static void
collections_put(const struct collections *c, const struct event_samples *x,
    const struct tel__collector_range *r, int open, struct tel__buffer *b)
{
	tel__json_item(b, "[%" PRIu64 ",%" PRIu64, r->shown, r->length);
	collections_put_facts(c, r, b);
	collections_put_phases(c, x, r, b);
	tel__json_put(b, open ? ",1]" : "]");
}

/* Collections that have not ended: what there is of them in the log. */
static void
collections_put_open(const struct collections *c, const struct event_samples *x,
    uint64_t most, struct tel__buffer *b)
{
	tel__json_raw(b, "open", "[");
	for (size_t i = 0; i < c->of.nopen && i < most; i++) {
		struct tel__collector_range r = c->of.ranges[c->of.nranges + i];

		r.to = c->last;
		r.length = tel__collector_time(&c->of, r.log, r.from, r.to);
		collections_put(c, x, &r, 1, b);
	}
	tel__json_put(b, "]");
}

/* The longest ranges, of the sorted ones: of pauses, collections or polls. */
static void
put_longest(const struct collections *c, const struct event_samples *x,
    const char *key, const struct tel__collector *of, int pause, uint64_t most,
    struct tel__buffer *b)
{
	const struct tel__collector_range *r;
	uint64_t total = 0, n = 0, rows[65] = { 0 };

	tel__json_raw(b, key, "{");
	tel__json_raw(b, "list", "[");
	for (r = of->ranges; r < of->ranges + of->nranges && b->used > 0; r++) {
		if (r->pause != pause)
			continue;
		total += r->length;
		rows[tel__bit_length(r->length)]++;
		if (n++ >= most)
			continue;
		if (!pause && of == &c->of)
			collections_put(c, x, r, 0, b);
		else
			tel__json_item(b, "[%" PRIu64 ",%" PRIu64 "]", r->shown,
			    r->length);
	}
	tel__json_put(b, "]");
	tel__json_pair(b, "count", n);
	tel__json_pair(b, "total", total);
	/* those of each power of two */
	tel__json_raw(b, "rows", "[");
	for (unsigned row = 0; row < 65; row++)
		if (rows[row] > 0)
			tel__json_item(b, "[%u,%" PRIu64 "]", row, rows[row]);
	tel__json_put(b, "]");
	if (of == &c->polls)
		tel__json_pair(b, "worked", c->worked);
	tel__json_put(b, "}");
}

/* A number of bytes, or a share, which a negative one is not. */
static void
collections_put_bytes(struct tel__buffer *b, tel_int128 v)
{
	tel__json_item(b, "%" PRIu64, v.high != 0 ? UINT64_MAX : v.low);
}

static void
collections_put_double(struct tel__buffer *b, double v)
{
	unsigned char text[TEL_PUT_MAX];

	*tel__put_general(text, 9, v) = '\0';
	tel__json_item(b, "%s", (const char *)text);
}

static void
collections_put_share(struct tel__buffer *b, double v)
{
	if (v < 0)
		tel__json_item(b, "null");
	else
		collections_put_double(b, v);
}

/*
 * The changes of a generation: when, the mortality that is predicted from then
 * on, collections, bytes condemned, and bytes of them that survived.
 */
static void
collections_put_changes(const struct tel__generation_event *events,
    const struct tel__generation *g, struct tel__buffer *b)
{
	double predicted = -1;
	tel_int128 survived;

	for (uint32_t i = g->first; i > 0; i = events[i - 1].next) {
		const struct tel__generation_event *e = &events[i - 1];

		if (!e->has_condemned && e->mortality < 0)
			continue;
		if (e->mortality >= 0)
			predicted = e->mortality;
		survived = int128_u64(e->moved);
		(void)int128_add(&survived, int128_u64(e->kept));
		tel__json_item(b, "[%" PRIu64, e->shown);
		collections_put_share(b, predicted);
		tel__json_item(b, "%d", e->has_condemned);
		collections_put_bytes(b, int128_u64(e->condemned));
		collections_put_bytes(b, survived);
		tel__json_put(b, "]");
	}
}

/*
 * The generations that were condemned, and how many there are; with the events
 * of each, if there are few enough in all.
 */
static void
collections_put_generations(const struct collections *c, uint64_t most,
    struct tel__buffer *b)
{
	const struct tel__generations *of = &c->of.generations;
	const int few = of->nevents <= most * EVENTS_EACH;
	const struct tel__generation *g;
	char text[TEL__GENERATION_TEXT];
	uint64_t n = 0;

	if (of->ncondemned == 0)
		return;
	tel__json_raw(b, "generations", "{");
	tel__json_pair(b, "count", of->nrows);
	tel__json_raw(b, "list", "[");
	for (g = of->rows; g < of->rows + of->nrows && n < most; g++) {
		if (g->collections == 0)
			continue;
		tel__json_item(b, "[");
		n++;
		const char *name = tel__generation_name(g, text);
		tel__render_string(b, name, strlen(name), 1);
		collections_put_bytes(b, int128_u64(g->collections));
		collections_put_bytes(b, g->condemned);
		collections_put_bytes(b, g->survived);
		collections_put_bytes(b, g->reclaimed);
		collections_put_share(b, g->died);
		collections_put_share(b, g->predicted);
		if (few)
			collections_put_changes(of->events, g, b);
		tel__json_put(b, "]");
	}
	tel__json_put(b, "]}");
}

static void
collections_put_mutator(const struct collections *c, uint64_t span,
    struct tel__buffer *b)
{
	uint64_t window;

	tel__json_raw(b, "mutator", "[");
	for (unsigned i = 0; i < TEL__COLLECTOR_WINDOWS &&
	     (window = tel__collector_window(i)) <= span;
	     i++) {
		tel__json_item(b, "[%" PRIu64, window);
		collections_put_double(b,
		    tel__collector_mutator(&c->of, span, window));
		tel__json_put(b, "]");
	}
	tel__json_put(b, "]");
}

/* Makes the ranges, the longest first.  1; 0: no memory. */
static int
collections_sort(struct tel__collector *of, uint64_t first)
{
	if (!tel__collector_pair(of, first))
		return 0;
	if (of->nranges > 0)
		qsort(of->ranges, of->nranges, sizeof(*of->ranges), longer);
	return 1;
}

int
tel__collections_head(struct collections *c, const struct event_samples *x,
    uint64_t most, struct tel__buffer *b)
{
	if (c->ended || c->start == NULL || c->of.nlogs == 0)
		return 1;
	if (!collections_sort(&c->of, c->first) ||
	    !collections_sort(&c->polls, c->first))
		return 0;
	tel__json_raw(b, "collector", "{");
	put_longest(c, x, "pauses", &c->of, 1, most / PAUSE_BYTES, b);
	put_longest(c, x, "collections", &c->of, 0, most / COLLECTION_BYTES, b);
	collections_put_open(c, x, most / COLLECTION_BYTES, b);
	put_longest(c, x, "polls", &c->polls, 0, most / PAUSE_BYTES, b);
	collections_put_columns(c, x, b);
	collections_put_generations(c, most / GENERATION_BYTES, b);
	uint64_t span = tel__collector_time(&c->of, 0, c->first, c->last);
	collections_put_mutator(c, span, b);
	tel__json_pair(b, "span", span);
	tel__json_put(b, "}");
	return 1;
}

void
tel__collections_clear(struct collections *c)
{
	tel__collector_clear(&c->of);
	tel__collector_clear(&c->polls);
	free(c->facts);
	memset(c, 0, sizeof(*c));
}
