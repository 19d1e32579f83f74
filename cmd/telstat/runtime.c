/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "common/message.h"

/* Pauses and collections that are kept, the first ones; others are counted. */
#define KEPT_MAX ((size_t)1 << 20)
/* Distinct names of collectors, pauses and causes. */
#define NAMES_MAX 256u

/* Nonzero for types whose events are kept as they are, and joined. */
static int
is_of_collector(const tel_type *type)
{
	return type->range != 0 || type->role == TEL_ROLE_GENERATION;
}

/* Nonzero for samples of stacks that are not samples of allocations. */
static int
runtime_is_sample(const tel_type *type)
{
	return type->role == TEL_ROLE_SAMPLE && !tel_type_samples_allocs(type);
}

int
runtime_wants(const struct runtime *rt, const tel_type *type)
{
	return rt->only_samples ? runtime_is_sample(type) :
	                          tel_type_is_runtime(type);
}

struct runtime *
runtime_new(void)
{
	struct runtime *rt = calloc(1, sizeof(*rt));

	if (rt == NULL)
		return NULL;
	tel__table_init(&rt->by_number);
	tel__collector_init(&rt->ends);
	rt->stacks = tel_heap_new();
	rt->only_ranges = 1;
	if (rt->stacks != NULL)
		return rt;
	free(rt);
	return NULL;
}

int
runtime_begin(struct telstat *t, const tel_schema *schema)
{
	unsigned i, n = schema == NULL ? 0 : tel_schema_type_count(schema);
	struct runtime *rt = t->runtime;

	t->looked = schema;
	if (rt != NULL ||
	    (!t->answers && (t->stacks == NULL || t->key != NULL)))
		return 1;
	rt = runtime_new();
	if (rt == NULL)
		return message_no_memory();
	rt->only_samples = !t->answers;
	for (i = 0; i < n; i++) {
		const tel_type *type = tel_schema_type(schema, i);

		if (!runtime_wants(rt, type))
			continue;
		t->runtime = rt;
		if (!is_of_collector(type))
			rt->only_ranges = 0;
	}
	if (t->runtime == NULL)
		runtime_free(rt);
	return 1;
}

int
runtime_look(struct telstat *t, const tel_event *ev, int nsources)
{
	if (t->runtime != NULL ||
	    (nsources == 1 ? ev->log->schema == t->looked :
	                     !tel_type_is_runtime(ev->type)))
		return 1;
	return runtime_begin(t, ev->log->schema);
}

void
runtime_end(struct runtime *rt)
{
	if (rt == NULL)
		return;
	tel__generations_label(&rt->ends.generations);
	tel_heap_end(rt->stacks);
	if (rt->classes != NULL)
		tel_heap_end(rt->classes);
	if (rt->samples != NULL)
		tel_heap_end(rt->samples);
}

int
runtime_joins(const struct runtime *rt)
{
	return rt->only_ranges && rt->count == 0 && rt->ncollections == 0 &&
	    tel_heap_count(rt->stacks) == 0 && rt->samples == NULL &&
	    rt->left_out + rt->ends.left_out + rt->ends.generations.left_out ==
	    0;
}

int
runtime_join(struct runtime *rt, const struct runtime *next, int part)
{
	return tel__collector_join(&rt->ends, &next->ends, part);
}

void
runtime_free(struct runtime *rt)
{
	if (rt == NULL)
		return;
	tel__names_clear(&rt->names);
	tel__table_clear(&rt->by_number);
	tel_heap_free(rt->stacks);
	tel_heap_free(rt->classes);
	tel_heap_free(rt->samples);
	free(rt->pauses);
	free(rt->collections);
	tel__collector_clear(&rt->ends);
	free(rt->cycles);
	free(rt->wanted);
	free(rt);
}

/* --------------------------------------------------------------- events */

/* A number that is a part of the role.  0: there is none. */
static int
runtime_get_number(const tel_event *ev, const char *part, uint64_t *out)
{
	const int i = tel_type_role_field(tel_event_type(ev), part);

	*out = 0;
	if (i < 0 || !tel_event_has(ev, (unsigned)i))
		return 0;
	*out = tel_event_u64(ev, (unsigned)i);
	return 1;
}

/* A text that is a part of the role, as a number of names; 0: none. */
static unsigned
get_name(struct runtime *rt, const tel_event *ev, const char *part)
{
	const int i = tel_type_role_field(tel_event_type(ev), part);
	size_t n = 0;
	const char *text = i < 0 ? NULL : tel_event_string(ev, (unsigned)i, &n);

	if (text == NULL || n == 0)
		return 0;
	/* TEL__NOWHERE and 1 is 0 */
	return tel__names_add(&rt->names, text, n, NAMES_MAX) + 1;
}

/*
 * The collection of an event, made if it is new: after one ended, its number is
 * that of another runtime in the same log.  NULL: not kept, or *st.
 */
static struct collection *
find_collection(struct runtime *rt, const tel_event *ev, tel_status *st)
{
	struct tel__entry *e;
	uint64_t number;
	int fresh;

	*st = TEL_OK;
	if (!runtime_get_number(ev, "collection", &number))
		return NULL;
	if (rt->ncollections == KEPT_MAX) {
		e = tel__table_find(&rt->by_number,
		    number ^ (uint64_t)rt->log << 40);
		return e == NULL ? NULL : &rt->collections[e->value];
	}
	e = tel__table_put(&rt->by_number, number ^ (uint64_t)rt->log << 40,
	    &fresh);
	if (e == NULL ||
	    !TEL__RESERVE(rt->collections, rt->collection_room,
	        rt->ncollections + 1)) {
		*st = TEL_ENOMEM;
		return NULL;
	}
	struct collection *c = fresh ? NULL : &rt->collections[e->value];
	if (c != NULL && (!c->has_after || tel_event_clock(ev) <= c->ended))
		return c;
	e->value = rt->ncollections;
	c = &rt->collections[rt->ncollections++];
	memset(c, 0, sizeof(*c));
	c->log = rt->log;
	c->clock = tel_event_clock(ev);
	return c;
}

static tel_status
add_pause(struct runtime *rt, const tel_event *ev)
{
	tel_status st;
	uint64_t ns;

	if (!runtime_get_number(ev, "duration", &ns) || ns > INT64_MAX)
		return TEL_OK;
	struct collection *c = find_collection(rt, ev, &st);
	if (st != TEL_OK)
		return st;
	rt->count++;
	rt->total += ns;
	if (c != NULL)
		c->paused += ns;
	if (rt->npauses == KEPT_MAX) {
		rt->left_out++;
		return TEL_OK;
	}
	if (!TEL__RESERVE(rt->pauses, rt->pause_room, rt->npauses + 1))
		return TEL_ENOMEM;
	struct pause *p = &rt->pauses[rt->npauses++];
	p->duration = ns;
	p->clock = tel_event_clock(ev);
	p->log = rt->log;
	p->collection =
	    c == NULL ? UINT64_MAX : (uint64_t)(c - rt->collections);
	p->name = get_name(rt, ev, "name");
	return TEL_OK;
}

static tel_status
add_collection(struct runtime *rt, const tel_event *ev)
{
	tel_status st;
	struct collection *c = find_collection(rt, ev, &st);

	if (c == NULL)
		return st;
	c->clock = tel_event_clock(ev);
	c->name = get_name(rt, ev, "name");
	c->cause = get_name(rt, ev, "cause");
	return TEL_OK;
}

/* The heap as it was before a collection, or after it. */
static tel_status
add_heap(struct runtime *rt, const tel_event *ev)
{
	const int i = tel_type_role_field(tel_event_type(ev), "name");
	uint64_t used;
	tel_status st;
	size_t n = 0;
	const char *when = i < 0 ? NULL : tel_event_string(ev, (unsigned)i, &n);

	if (when == NULL || !runtime_get_number(ev, "size", &used))
		return TEL_OK;
	struct collection *c = find_collection(rt, ev, &st);
	if (c == NULL)
		return st;
	if (n >= 5 && memcmp(when, "After", 5) == 0) {
		c->after = used;
		c->has_after = 1;
		c->ended = tel_event_clock(ev);
		(void)runtime_get_number(ev, "capacity", &c->capacity);
	} else if (n >= 6 && memcmp(when, "Before", 6) == 0) {
		c->before = used;
		c->has_before = 1;
	}
	return TEL_OK;
}

/* Makes the heap of classes: it adds up by the field that names them. */
static tel_status
runtime_add_classes(struct runtime *rt, const tel_type *type)
{
	const int i = tel_type_role_field(type, "name");
	tel_expr *key = tel_expr_new();
	tel_status st = TEL_ENOMEM;
	char text[512];

	(void)snprintf(text, sizeof(text), ".%s",
	    tel_field_name(tel_type_field(type, (unsigned)i)));
	if (key != NULL)
		st = tel_expr_set(key, text);
	rt->classes = st == TEL_OK ? tel_heap_new() : NULL;
	if (rt->classes == NULL) {
		tel_expr_free(key);
		return st == TEL_OK ? TEL_ENOMEM : st;
	}
	return tel_heap_set_key(rt->classes, key);
}

static tel_status
runtime_add_sample(struct runtime *rt, const tel_event *ev)
{
	if (rt->samples == NULL) {
		rt->samples = tel_heap_new();
		if (rt->samples == NULL)
			return TEL_ENOMEM;
		(void)tel_heap_set_samples(rt->samples, 1);
	}
	return tel_heap_event(rt->samples, ev);
}

tel_status
runtime_event(struct runtime *rt, const tel_event *ev)
{
	const tel_type *type = ev->type;
	tel_status st;

	if (!tel__collector_log(&rt->ends, ev, &rt->log))
		return TEL_ENOMEM;
	if (is_of_collector(type))
		return tel__collector_event(&rt->ends, ev, 0);
	if (runtime_is_sample(type))
		return runtime_add_sample(rt, ev);
	if (type->role == TEL_ROLE_PAUSE)
		return add_pause(rt, ev);
	if (type->role == TEL_ROLE_COLLECTION)
		return add_collection(rt, ev);
	if (type->role == TEL_ROLE_HEAP)
		return add_heap(rt, ev);
	st = rt->classes == NULL ? runtime_add_classes(rt, type) : TEL_OK;
	if (st == TEL_OK)
		st = tel_heap_event(rt->classes, ev);
	return st == TEL_OK ? tel_heap_event(rt->stacks, ev) : st;
}

/* Finds out which types of a schema are wanted.  1, or 0: no memory. */
static int
runtime_choose(struct runtime *rt, const tel_schema *schema)
{
	rt->schema = schema;
	rt->ntypes = tel_schema_type_count(schema);
	if (!TEL__RESERVE(rt->wanted, rt->wanted_room, rt->ntypes))
		return 0;
	for (size_t i = 0; i < rt->ntypes; i++)
		rt->wanted[i] = runtime_wants(rt,
		                    tel_schema_type(schema, (unsigned)i)) != 0;
	return 1;
}

tel_status
runtime_run(struct runtime *rt, tel_run *events)
{
	const size_t n = rt == NULL ? 0 : tel_run_count(events);
	const tel_schema *schema = n == 0 ? NULL : events->first->schema;
	const uint32_t log = rt == NULL ? 0 : rt->log;
	tel_status st = TEL_OK;

	if (n == 0)
		return TEL_OK;
	/* also of a log's part without them, as later ones add to it */
	if (!tel__collector_log(&rt->ends, tel_run_event(events, 0), &rt->log))
		return TEL_ENOMEM;
	/* a schema of another log may have its address */
	if ((rt->log != log || rt->schema != schema) &&
	    !runtime_choose(rt, schema))
		return TEL_ENOMEM;
	for (size_t i = 0; st == TEL_OK; i++) {
		i = tel__collector_find(events, i, rt->wanted, rt->ntypes);
		if (i == n)
			break;
		st = runtime_event(rt, tel_run_event(events, i));
	}
	return st;
}
