/* SPDX-License-Identifier: BSD-2-Clause */
/* What the types of a schema are on a timeline. */
#include <stdio.h>
#include <stdlib.h>

#include "model/pair.h"
#include "print/timeline.h"
#include "query/counter.h"

/* The plans of a schema. */
struct timeline_plans {
	const struct tel_schema *schema;
	unsigned count;
	struct timeline_plan plans[];
};

static int
find_string(const struct tel_type *t, int first)
{
	int i, n = first ? (t->nfields > 0) : t->nfields;

	for (i = 0; i < n; i++)
		if (t->fields[i].datatype == TEL_STRING)
			return i;
	return -1;
}

/* The fields with the place of an event: by their role, or else by name. */
static void
find_context(struct timeline_plan *p, const struct tel_type *t)
{
	const int has_parts = tel_type_is_alloc(t) || t->role == TEL_ROLE_FRAME;
	int at = has_parts ? t->role_field[TEL_PART_THREAD] : -1;

	p->cpu = timeline_number(t, "cpu");
	if (at < 0)
		at = tel_type_find_field(t, "tid");
	if (at < 0)
		at = tel_type_find_field(t, "thread");
	p->thread = timeline_is_number(t, at) ? at : -1;
	p->arena = p->pool = -1;
	at = has_parts ? t->role_field[TEL_PART_PROCESS] : -1;
	p->process = timeline_is_number(t, at) ? at : -1;
	for (at = 0; at < t->nfields; at++) {
		if (t->fields[at].space == TEL_SPACE_PROCESS &&
		    p->process < 0 && timeline_is_number(t, at))
			p->process = at;
		if (t->fields[at].datatype == TEL_POINTER &&
		    strcmp(t->fields[at].name, "arena") == 0)
			p->arena = at;
	}
}

/* Nonzero when a word of a name starts at i. */
static int
plan_is_word(const char *name, size_t i)
{
	return (name[i] >= 'A' && name[i] <= 'Z') || name[i] == '_' ||
	    name[i] == '\0' || (i > 0 && name[i - 1] == '_');
}

/*
 * The words that the names of a start and its end share: "AMCScan" of
 * AMCScanBegin and AMCScanEnd; where that is their end, with the kind, "GC
 * Collection" of StartCollection and EndCollection.
 */
static void
plan_share(struct timeline_plan *p, const struct tel_type *t, const char *end)
{
	const char *name = t->name;
	size_t length = strlen(name), n = 0, words, tail = 0, most;

	while (name[n] != '\0' && name[n] == end[n])
		n++;
	for (words = n; words > 0 && !plan_is_word(name, words); words--)
		;
	most = strlen(end) < length ? strlen(end) : length;
	while (tail < most - n &&
	    name[length - 1 - tail] == end[strlen(end) - 1 - tail])
		tail++;
	while (tail > 0 && !plan_is_word(name, length - tail))
		tail--;
	/* one of two underscores is enough */
	if (tail > 0 && name[length - tail] == '_' &&
	    (words == 0 || name[words - 1] == '_'))
		tail--;
	if (words == 0 && tail > 0)
		(void)snprintf(p->shared, sizeof(p->shared), "%.40s %.48s",
		    t->kind, name + length - tail);
	else if (tail > 0)
		(void)snprintf(p->shared, sizeof(p->shared), "%.*s%.47s",
		    (int)(words < 48 ? words : 48), name, name + length - tail);
	p->alone = words == 0 && p->string >= 0;
	n = words - (words > 0 && name[words - 1] == '_');
	if (p->shared[0] != '\0') {
		p->name = p->shared;
		p->length = strlen(p->shared);
	} else if (n > 0) {
		p->length = n;
	}
}

/* Words that end the names of types which take memory, and give it back. */
static const struct {
	const char *take, *give;
	int maps;
} memory[] = { { "Alloc", "Free", 0 }, { "Map", "Unmap", 1 } };

/* The bytes of a name before a word at its end; 0: it does not end in it. */
static size_t
head_of(const struct tel_type *t, const char *word)
{
	size_t n = t->name_length, w = strlen(word);

	return n > w && strcmp(t->name + n - w, word) == 0 ? n - w : 0;
}

/* The type with this head and another word behind it, or NULL. */
static const struct tel_type *
find_other(const struct tel_schema *s, const struct tel_type *t, size_t head,
    const char *word)
{
	char name[64];

	if (head + strlen(word) >= sizeof(name))
		return NULL;
	(void)snprintf(name, sizeof(name), "%.*s%s", (int)head, t->name, word);
	return tel_schema_find_type(s, name);
}

/* The field called as the head of the name is, in small letters, or -1. */
static int
find_named(const struct tel_type *t, size_t head)
{
	char name[64];
	size_t i;

	for (i = 0; i < head && i < sizeof(name) - 1; i++)
		name[i] = (char)(t->name[i] >= 'A' && t->name[i] <= 'Z' ?
		        t->name[i] + 'a' - 'A' :
		        t->name[i]);
	name[i] = '\0';
	return timeline_number(t, name);
}

/*
 * Types of memory that has no role, as what an allocator itself takes: by
 * their names, and fields base and size, or base and limit.  Memory that is
 * given back is identified by its base, or by its name: seg of SegFree.
 */
static void
find_memory(struct timeline_plan *p, const struct tel_schema *s,
    const struct tel_type *t)
{
	const struct tel_type *take = NULL, *give = NULL;
	size_t head = 0;

	for (unsigned i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		take = give = t;
		if ((head = head_of(t, memory[i].take)) > 0)
			give = find_other(s, t, head, memory[i].give);
		else if ((head = head_of(t, memory[i].give)) > 0)
			take = find_other(s, t, head, memory[i].take);
		p->maps = memory[i].maps;
		if (head > 0)
			break;
	}
	if (head == 0 || take == NULL || give == NULL ||
	    timeline_number(take, "base") < 0 ||
	    (timeline_number(take, "size") < 0 &&
	        timeline_number(take, "limit") < 0))
		return;
	p->base = timeline_number(t, "base");
	p->size = timeline_number(t, "size");
	p->limit = timeline_number(t, "limit");
	p->key = -1;
	if (timeline_number(give, "size") < 0 &&
	    (timeline_number(give, "base") < 0 ||
	        timeline_number(give, "limit") < 0)) {
		p->key = p->base;
		if (timeline_number(give, "base") < 0)
			p->key = find_named(give, head) < 0 ?
			    -1 :
			    find_named(t, head);
		if (p->key < 0)
			return;
	}
	/* a type that gives memory back must name its pool */
	if (p->key < 0 && timeline_number(take, "pool") >= 0 &&
	    timeline_number(give, "pool") >= 0)
		p->pool = timeline_number(t, "pool");
	p->memory = take == t ? 1 : -1;
	(void)snprintf(p->counter, sizeof(p->counter), "%.*s bytes",
	    (int)(head < 32 ? head : 32), t->name);
}

/* Words of the names of types that send messages, and that receive them. */
static const struct {
	const char *send, *receive;
} messages[] = { { "Deliver", "Retrieve" }, { "Send", "Receive" },
	{ "Send", "Recv" }, { "send", "receive" }, { "send", "recv" } };

/* Names of fields that identify a channel, or a message on it. */
static const char *const keys[] = { "ChannelId", "MessageTag", "channel",
	"message", "id", "key", "tag", "seq" };

/* The type of the same kind that has another word in its name, or NULL. */
static const struct tel_type *
find_reworded(const struct tel_schema *s, const struct tel_type *t,
    const char *word, const char *other)
{
	const char *at = strstr(t->name, word);
	char name[64];

	if (at == NULL)
		return NULL;
	int n = snprintf(name, sizeof(name), "%.*s%s%s", (int)(at - t->name),
	    t->name, other, at + strlen(word));
	if (n < 0 || (size_t)n >= sizeof(name))
		return NULL;
	const struct tel_type *found = tel_schema_find_type(s, name);
	return found != NULL && strcmp(found->kind, t->kind) == 0 ? found :
	                                                            NULL;
}

/* Types that send a message, and that receive it: by their names and fields. */
static void
find_messages(struct timeline_plan *p, const struct tel_schema *s,
    const struct tel_type *t)
{
	const struct tel_type *other = NULL;
	unsigned i, n = 0;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]) && other == NULL;
	     i++) {
		p->receives = 0;
		other =
		    find_reworded(s, t, messages[i].send, messages[i].receive);
		if (other != NULL)
			break;
		p->receives = 1;
		other =
		    find_reworded(s, t, messages[i].receive, messages[i].send);
	}
	for (i = 0; other != NULL && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (n < TIMELINE_KEYS && timeline_number(t, keys[i]) >= 0 &&
		    timeline_number(other, keys[i]) >= 0)
			p->keys[n++] = timeline_number(t, keys[i]);
	if (n == 0)
		return;
	p->sender = (p->receives ? other : t)->index + 1;
	if (n < TIMELINE_KEYS)
		p->keys[n] = -1;
}

static void
plan_make(struct timeline_plan *p, const struct tel_schema *s,
    const struct tel_type *t)
{
	p->is = tel_type_is_followed(t) ? PLAN_NONE : PLAN_INSTANT;
	p->name = t->name;
	p->length = t->name_length;
	p->string = find_string(t, 1);
	p->duration = p->method = p->start = p->other = -1;
	find_context(p, t);
	p->cycles = tel__counter_find(t, "cycles");
	p->owner = p->value = p->weight = p->next = -1;
	tel__timeline_resource_plan(p, t);
	if (t->role == TEL_ROLE_START && t->partner >= 0 &&
	    (unsigned)t->partner < s->ntypes) {
		p->is = PLAN_START;
		p->string = find_string(t, 0);
		plan_share(p, t, s->types[t->partner].name);
		return;
	}
	if (t->role == TEL_ROLE_FINISH) {
		p->is = PLAN_FINISH;
		return;
	}
	if (t->role == TEL_ROLE_NONE) {
		find_memory(p, s, t);
		find_messages(p, s, t);
	}
	p->duration = timeline_number(t, "duration");
	if (p->duration < 0)
		return;
	p->is = PLAN_SPAN;
	int at = tel_type_find_field(t, "caller");
	if (at >= 0 && tel_field_labelled(&t->fields[at]))
		p->method = at;
	at = tel_type_find_field(t, "func");
	p->depth = timeline_number(t, "depth");
	/* of function_graph, which has them all; a depth may be that of a queue */
	if (at >= 0 && t->fields[at].datatype == TEL_STRING && p->depth >= 0 &&
	    timeline_number(t, "start") >= 0 &&
	    timeline_number(t, "self") >= 0) {
		p->is = PLAN_CALL;
		p->string = at;
		p->start = timeline_number(t, "start");
	}
}

static struct timeline_plans *
make_all(const struct tel_schema *s)
{
	struct timeline_plans *all;

	all =
	    calloc(1, sizeof(*all) + (s->ntypes + 1u) * sizeof(all->plans[0]));
	if (all == NULL)
		return NULL;
	all->schema = s;
	all->count = s->ntypes;
	for (unsigned i = 0; i < s->ntypes; i++)
		plan_make(&all->plans[i], s, &s->types[i]);
	for (unsigned i = s->ntypes; i-- > 0;) {
		if (all->plans[i].is != PLAN_START)
			continue;
		int32_t end = s->types[i].partner;
		all->plans[i].other = all->plans[end].start;
		all->plans[end].start = (int)i;
	}
	/* another form of an end ends what that one does, a middle is of it */
	for (unsigned i = 0; i < s->ntypes; i++) {
		int32_t end = tel_pair_of(&s->types[i]);

		if (s->types[i].role != TEL_ROLE_START && end >= 0 &&
		    (unsigned)end < s->ntypes)
			all->plans[i].start = all->plans[end].start;
	}
	return all;
}

struct timeline_plan *
tel__timeline_plan(struct timeline *tl, const struct tel_schema *s,
    const struct tel_type *type)
{
	struct timeline_plans *all = tl->plans;
	struct tel__entry *e;
	int fresh;

	if (all == NULL || all->schema != s) {
		if (tl->by_schema.entries == NULL)
			tel__table_init(&tl->by_schema);
		e = tel__table_put(&tl->by_schema, (uintptr_t)s, &fresh);
		if (e == NULL)
			return NULL;
		if (e->value == 0)
			e->value = (uintptr_t)make_all(s);
		all = (struct timeline_plans *)(uintptr_t)e->value;
		if (all == NULL)
			return NULL;
		tl->plans = all;
	}
	if (type->index < all->count)
		return &all->plans[type->index];
	/* a type that is not known: as the one behind the last */
	all->plans[all->count].name = type->name;
	all->plans[all->count].length = type->name_length;
	all->plans[all->count].string = -1;
	all->plans[all->count].cpu = all->plans[all->count].thread = -1;
	all->plans[all->count].interrupt = all->plans[all->count].path = -1;
	all->plans[all->count].process = all->plans[all->count].arena = -1;
	return &all->plans[all->count];
}

void
tel__timeline_plans_free(struct timeline *tl)
{
	const struct tel__table *t = &tl->by_schema;

	for (size_t i = 0; t->entries != NULL && i <= t->mask; i++)
		free((void *)(uintptr_t)t->entries[i].value);
	tel__table_clear(&tl->by_schema);
	tl->plans = NULL;
}
