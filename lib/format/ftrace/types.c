/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of a kernel's trace.  Events of one name with other fields are
 * another type.  A schema does not change: a type that comes later, or a field
 * that turns out to be text, is in a new one.
 */
#include "format/ftrace/ftrace.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/role.h"
#include "model/row.h"

/*
 * What events mean.  Kernel addresses are the same for all processes.  The pages
 * of the slab allocator are among those of mm_page_alloc.
 */
static const struct {
	const char *name;
	enum tel_role role;
	const char *parts[4];
} roles[] = {
	{ "kmalloc", TEL_ROLE_ALLOC,
	    { "address=ptr", "size=bytes_req", "stack=call_site" } },
	{ "kmalloc_node", TEL_ROLE_ALLOC,
	    { "address=ptr", "size=bytes_req", "stack=call_site" } },
	{ "kmem_cache_alloc", TEL_ROLE_ALLOC,
	    { "address=ptr", "size=bytes_req", "stack=call_site" } },
	{ "kmem_cache_alloc_node", TEL_ROLE_ALLOC,
	    { "address=ptr", "size=bytes_req", "stack=call_site" } },
	{ "kfree", TEL_ROLE_FREE, { "address=ptr" } },
	{ "kmem_cache_free", TEL_ROLE_FREE, { "address=ptr" } },
	{ "mm_page_alloc", TEL_ROLE_ALLOC, { "address=address", "size=size" } },
	{ "mm_page_free", TEL_ROLE_FREE, { "address=address" } },
};

/* Fields whose values are the numbers of threads. */
static const char *const threads[] = { "tid", "prev_pid", "next_pid" };

static void
ftrace_types_free(struct ft_type *t)
{
	for (unsigned i = 0; i < t->nfields; i++)
		free(t->fields[i].name);
	free(t->name);
	free(t->kind);
	free(t);
}

void
tel__ft_types_free(struct ft_types *t)
{
	while (t->count > 0)
		ftrace_types_free(t->types[--t->count]);
	free(t->types);
	tel__table_clear(&t->by_names);
}

/* Adds a type of a line.  1, or 0: out of memory. */
static int
ftrace_types_add(struct ft_types *ts, const struct ft_line *l)
{
	struct ft_type *t = calloc(1, sizeof(*t));

	if (t == NULL || !TEL__RESERVE(ts->types, ts->room, ts->count + 1u)) {
		free(t);
		return 0;
	}
	ts->types[ts->count++] = t;
	t->name = strdup(l->name);
	t->kind = strdup(l->system);
	if (t->name == NULL || t->kind == NULL)
		return 0;
	for (unsigned i = 0; i < l->nfields; i++) {
		t->fields[i].name =
		    tel__copy_string(l->fields[i].name.p, l->fields[i].name.n);
		if (t->fields[i].name == NULL)
			return 0;
		t->fields[i].datatype = (uint8_t)l->fields[i].datatype;
		t->fields[i].unit = (uint8_t)l->fields[i].unit;
		t->nfields++;
	}
	ts->changed = 1;
	return 1;
}

/* Whether the line has the names of the type. */
static int
has_names(const struct ft_type *t, const struct ft_line *l)
{
	if (t->nfields != l->nfields || strcmp(t->name, l->name) != 0)
		return 0;
	for (unsigned i = 0; i < t->nfields; i++)
		if (strlen(t->fields[i].name) != l->fields[i].name.n ||
		    memcmp(t->fields[i].name, l->fields[i].name.p,
		        l->fields[i].name.n) != 0)
			return 0;
	return 1;
}

/* The data type that holds values of both. */
static enum tel_datatype
ftrace_types_join(enum tel_datatype type, const struct ft_field *f)
{
	if (type == f->datatype || type == TEL_STRING)
		return type;
	if (f->datatype == TEL_STRING)
		return TEL_STRING;
	if (type == TEL_ADDRESS || f->datatype == TEL_ADDRESS)
		return TEL_ADDRESS;
	return f->datatype == TEL_UNSIGNED && f->number > INT64_MAX ?
	    TEL_STRING :
	    TEL_SIGNED;
}

/* Lets a type hold the values of the line. */
static void
ftrace_types_widen(struct ft_types *ts, struct ft_type *t,
    const struct ft_line *l)
{
	for (unsigned i = 0; i < t->nfields; i++) {
		enum tel_datatype joined =
		    ftrace_types_join((enum tel_datatype)t->fields[i].datatype,
		        &l->fields[i]);

		if (t->fields[i].datatype == joined)
			continue;
		t->fields[i].datatype = (uint8_t)joined;
		ts->changed = 1;
	}
}

/* Whether the type holds the values of the line as it is. */
static int
holds(const struct ft_type *t, const struct ft_line *l)
{
	for (unsigned i = 0; i < t->nfields; i++)
		if (ftrace_types_join((enum tel_datatype)t->fields[i].datatype,
		        &l->fields[i]) != t->fields[i].datatype)
			return 0;
	return 1;
}

tel_status
tel__ft_types_start(struct ft_types *ts)
{
	/* what fits no type */
	static const struct ft_line other = { .name = "other",
		.system = "event",
		.fields = { { { "event", 5 }, { "", 0 }, TEL_STRING,
		    TEL_UNIT_NONE, 0 } },
		.nfields = 1 };

	tel__table_init(&ts->by_names);
	return ftrace_types_add(ts, &other) ? TEL_OK : TEL_ENOMEM;
}

int
tel__ft_type_of(struct ft_types *ts, const struct ft_line *l)
{
	uint64_t hash =
	    tel__hash_bytes(l->name, strlen(l->name), ts->by_names.factor);
	int fresh;

	for (unsigned i = 0; i < l->nfields; i++)
		hash = tel__hash_bytes(l->fields[i].name.p, l->fields[i].name.n,
		    hash);
	const struct tel__entry *found = tel__table_find(&ts->by_names, hash);
	if (found != NULL) {
		unsigned i = (unsigned)found->value;

		if (!has_names(ts->types[i], l))
			return 0;
		if (holds(ts->types[i], l))
			return (int)i;
		if (ts->full)
			return 0;
		ftrace_types_widen(ts, ts->types[i], l);
		return (int)i;
	}
	if (ts->full || ts->count == FT_TYPES_MAX)
		return 0;
	struct tel__entry *e = tel__table_put(&ts->by_names, hash, &fresh);
	if (e == NULL)
		return -1;
	e->value = ts->count;
	return ftrace_types_add(ts, l) ? (int)e->value : -1;
}

/* An event with a stack is a sample of it; perf's own records have none. */
static void
sample_set_role(struct tel_type *t, int chains)
{
	if (!chains || strncmp(t->name, FT_RECORD, sizeof(FT_RECORD) - 1) == 0)
		return;
	/* a call is one when it ends, of the time that it took itself */
	const int call = strncmp(t->name, FT_GRAPH, sizeof(FT_GRAPH) - 1) == 0;
	if (call && tel_type_find_field(t, "self") < 0)
		return;
	t->role_field[TEL_PART_STACK] = (int8_t)(t->nfields - 1);
	tel__role_set_all(t,
	    call ? "weight=self thread=tid" : "weight=period thread=tid");
	t->role = TEL_ROLE_SAMPLE;
}

/* Gives a type its role, if it has all parts of it. */
static void
ftrace_types_set_role(struct tel_type *t, int chains)
{
	unsigned i, j;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(roles[i].name, t->name) == 0)
			break;
	if (i == sizeof(roles) / sizeof(roles[0])) {
		sample_set_role(t, chains);
		return;
	}
	for (j = 0; j < 4 && roles[i].parts[j] != NULL; j++)
		if (!tel__role_set(t, 0, roles[i].parts[j],
		        strlen(roles[i].parts[j])) &&
		    j < 2)
			return;
	tel__role_set_all(t, "thread=tid");
	if (chains)
		t->role_field[TEL_PART_STACK] = (int8_t)(t->nfields - 1);
	t->role = (uint8_t)roles[i].role;
}

/* A name that no field before has: with a number behind it, if need be. */
static const char *
ftrace_types_field_name(const struct ft_type *t, unsigned i,
    char buffer[FT_NAME_MAX + 8])
{
	unsigned j, same = 1;

	for (j = 0; j < i; j++)
		same += strcmp(t->fields[j].name, t->fields[i].name) == 0;
	if (same == 1)
		return t->fields[i].name;
	snprintf(buffer, FT_NAME_MAX + 8, "%s_%u", t->fields[i].name, same);
	return buffer;
}

/* Adds the field of the stack.  1, or 0: out of memory. */
static int
add_stack_field(struct tel_type *t, struct tel_placement *at)
{
	struct tel_field *f = tel__type_place(t, at, 'u',
	    tel_type_find_field(t, "stack") < 0 ? "stack" : "call_chain");

	if (f != NULL)
		f->space = TEL_SPACE_STACK;
	return f != NULL;
}

/* Adds a type to a schema.  1, or 0: out of memory. */
static int
schema_add(struct tel_schema *s, const struct ft_type *from, unsigned code,
    int chains)
{
	struct tel_placement at = { s, FT_HEADER, 0 };
	char name[FT_NAME_MAX + 8];
	enum tel_datatype d;
	unsigned i, j;
	struct tel_type *t = tel__schema_add(s, from->name, code, from->kind, 0,
	    from->nfields + (unsigned)chains);

	for (i = 0; t != NULL && i < from->nfields; i++) {
		d = (enum tel_datatype)from->fields[i].datatype;
		struct tel_field *f = tel__type_place(t, &at,
		    d == TEL_STRING      ? 't' :
		        d == TEL_ADDRESS ? 'a' :
		        d == TEL_SIGNED  ? 'i' :
		                           'u',
		    ftrace_types_field_name(from, i, name));
		if (f == NULL)
			return 0;
		if (d != TEL_STRING)
			f->unit = from->fields[i].unit;
		for (j = 0; j < sizeof(threads) / sizeof(threads[0]); j++)
			if (d != TEL_STRING && strcmp(f->name, threads[j]) == 0)
				f->space = TEL_SPACE_THREAD;
	}
	if (t == NULL || (chains && !add_stack_field(t, &at)))
		return 0;
	t->size = tel__place_end(&at, t);
	ftrace_types_set_role(t, chains);
	return 1;
}

tel_status
tel__ft_types_settle(struct tel_reader *r, struct ft_types *ts)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_schema *s;

	s = tel__schema_make("ftrace", "", &abi, FT_HEADER, ts->count);
	for (unsigned i = 0; s != NULL && i < ts->count; i++) {
		if (!schema_add(s, ts->types[i], i, ts->chains)) {
			tel_schema_free(s);
			s = NULL;
		}
	}
	tel_status st = s != NULL ? tel__reader_adopt(r, s) : TEL_ENOMEM;
	if (st != TEL_OK)
		return TEL_ENOMEM;
	ts->changed = 0;
	ts->placed += ts->count;
	ts->full = ts->placed >= FT_PLACED_MAX;
	return TEL_OK;
}
