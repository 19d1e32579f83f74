/* SPDX-License-Identifier: BSD-2-Clause */
/* From descriptions to the schema of an ETS log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "format/ets/ets.h"

/* What every event has before the fields of its type. */
static const struct {
	const char *name;
	enum tel_datatype datatype;
	enum tel_load load;
	uint16_t offset;
	uint8_t space;
} context[] = {
	{ "instruction", TEL_POINTER, TEL_LOAD_LE32, ETS_AT_INSTRUCTION, 0 },
	{ "cpu", TEL_UNSIGNED, TEL_LOAD_LE16, ETS_AT_CPU, 0 },
	{ "tid", TEL_UNSIGNED, TEL_LOAD_LE16, ETS_AT_TID, TEL_SPACE_THREAD },
	{ "pid", TEL_UNSIGNED, TEL_LOAD_LE16, ETS_AT_PID, TEL_SPACE_PROCESS },
};
#define NCONTEXT (sizeof(context) / sizeof(context[0]))

/* Starts and ends of ranges, and the fields that are their keys. */
static const struct {
	unsigned provider, start, finish;
	const char *fields[3];
} ranges[] = {
	{ 21, 0, 2, { "Sector", "Length", "DiskId" } },
	{ 21, 1, 3, { "Sector", "Length", "DiskId" } },
	{ 25, 1, 2, { "pid" } },
	{ 25, 3, 4, { "pid" } },
	{ 26, 1, 2, { "tid" } },
	{ 26, 5, 6, { "tid" } },
	{ 26, 7, 9, { "tid" } },
};
#define NRANGES (sizeof(ranges) / sizeof(ranges[0]))

/* A type that is described, while its schema is made. */
struct plan {
	const struct tmf_type *type;
	const struct tmf_provider *provider;
	uint64_t key;
	uint32_t code;
	char name[2 * TMF_NAME_MAX + 16];
};

static int
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/* Where the names of a number are that is called so. */
static unsigned
space_of(const char *name, const struct tmf_item *item)
{
	if (item->shape != TMF_PLAIN ||
	    (item->datatype != TEL_UNSIGNED && item->datatype != TEL_SIGNED))
		return 0;
	if (ends_with(name, "TID") || strcmp(name, "Tid") == 0)
		return TEL_SPACE_THREAD;
	if (ends_with(name, "PID") || strcmp(name, "Pid") == 0)
		return TEL_SPACE_PROCESS;
	return strcmp(name, "ContractTag") == 0 ? TEL_SPACE_CONTRACT : 0;
}

/*
 * Adds a field of this name, of which a type already has so many; from the
 * second one on they get a number behind it.
 */
static struct tel_field *
ets_schema_add_field(struct tel_type *t, const char *name, unsigned before,
    enum tel_datatype datatype, enum tel_load load, size_t offset)
{
	char other[TMF_NAME_MAX + 16];
	/* those before have the lower numbers */
	unsigned n = before > 1 ? before + 1 : 2;

	snprintf(other, sizeof(other), "%s", name);
	for (; tel_type_find_field(t, other) >= 0; n++)
		snprintf(other, sizeof(other), "%s_%u", name, n);
	return tel__type_add(t, other, datatype, load, (uint32_t)offset);
}

/* How many fields of a block before number i have its name. */
static unsigned
count_before(const struct tmf_block *b, unsigned i)
{
	unsigned n = 0;

	for (unsigned j = 0; j < i; j++)
		n += b->fields[j].item->shape != TMF_PADDING &&
		    strcmp(b->fields[j].name, b->fields[i].name) == 0;
	return n;
}

/* Whether records hold the fields as events have them. */
static int
ets_schema_is_plain(const struct tmf_block *b)
{
	for (unsigned i = 0; i < b->nfields; i++)
		if (b->fields[i].item->shape != TMF_PLAIN &&
		    b->fields[i].item->shape != TMF_PADDING &&
		    (b->fields[i].item->shape != TMF_STRING ||
		        i + 1 < b->nfields))
			return 0;
	return 1;
}

/* The fields of a block: where they are, or eight bytes each (anew). */
static int
ets_schema_add_fields(struct tel_type *t, const struct tmf_block *b, int anew)
{
	size_t at = ETS_AT_ARGS, from = ETS_AT_ARGS;
	struct tel_field *f;

	for (unsigned i = 0; i < b->nfields; i++) {
		const struct tmf_item *item = b->fields[i].item;

		if (item->shape != TMF_PADDING) {
			enum tel_load load = (enum tel_load)item->load;

			if (anew)
				load = item->datatype == TEL_STRING ?
				    TEL_LOAD_STRING_AT :
				    TEL_LOAD_LE64;
			f = ets_schema_add_field(t, b->fields[i].name,
			    count_before(b, i),
			    (enum tel_datatype)item->datatype, load,
			    anew ? at : from);
			if (f == NULL)
				return 0;
			if (anew && item->datatype != TEL_STRING)
				f->width = (uint8_t)(item->size * 8);
			f->space = (uint8_t)space_of(b->fields[i].name, item);
			at += 8;
		}
		from += item->size;
	}
	t->size = (uint32_t)(anew ? at : from);
	if (t->size < ETS_ENTRY)
		t->size = ETS_ENTRY;
	return 1;
}

/* The field that is a message's tag, beside that of its contract, or -1. */
static int16_t
message_of(struct tel_type *t, const struct plan *p)
{
	int tag = tel_type_find_field(t, "MessageTag");
	int contract = tel_type_find_field(t, "ContractTag");

	if ((p->key != ets_key(ETS_ENDPOINT, 0, ETS_RETRIEVE) &&
	        p->key != ets_key(ETS_ENDPOINT, 0, ETS_DELIVER)) ||
	    tag < 0 || contract < 0 ||
	    t->fields[tag].offset != ETS_AT_MESSAGE ||
	    t->fields[contract].offset != ETS_AT_CONTRACT)
		return -1;
	t->fields[tag].space = TEL_SPACE_MESSAGE;
	return (int16_t)tag;
}

static int
add_context(struct tel_type *t)
{
	struct tel_field *f;

	for (size_t i = 0; i < NCONTEXT; i++) {
		f = tel__type_add(t, context[i].name, context[i].datatype,
		    context[i].load, context[i].offset);
		if (f == NULL)
			return 0;
		f->space = context[i].space;
	}
	return 1;
}

static int
ets_schema_add_type(struct ets *h, struct tel_schema *s, const struct plan *p)
{
	const struct tmf_block *b = &h->tmf.blocks[p->type->block];
	int anew = !ets_schema_is_plain(b);
	struct ets_type *to = &h->types[h->ntypes];
	struct tel_type *t;

	t = tel__schema_add(s, p->name, p->code, p->provider->name, ETS_ENTRY,
	    (unsigned)NCONTEXT + b->nfields);
	if (t == NULL)
		return 0;
	if (!add_context(t))
		return 0;
	if (!ets_schema_add_fields(t, b, anew))
		return 0;
	/* with the rate of the clock */
	if (p->key == ets_key(ETS_SYSINFO, 0, ETS_CPU_SPEED))
		t->role = TEL_ROLE_SYNC;
	to->key = p->key;
	to->type = t;
	to->block = anew ? b : NULL;
	to->least = anew ? 0 : t->size;
	to->message = message_of(t, p);
	h->ntypes++;
	return 1;
}

/*
 * The type of events that nothing describes, which have a provider, a type, a
 * version, words and a text all the same.
 */
static int
ets_schema_add_undescribed(struct ets *h, struct tel_schema *s)
{
	static const char *const names[] = { "provider", "type", "version" };
	static const uint16_t at[] = { ETS_AT_PROVIDER, ETS_AT_TYPE,
		ETS_AT_VERSION };
	const char *name = "Undescribed";
	struct tel_type *t;
	char word[8];

	if (tel_schema_find_type(s, name) != NULL)
		name = "_Undescribed";
	t = tel__schema_add(s, name, ETS_UNKNOWN_CODE, "Unknown", ETS_ENTRY,
	    (unsigned)NCONTEXT + 9);
	int good = t != NULL && add_context(t);
	for (unsigned i = 0; i < 3 && good; i++)
		good = tel__type_add(t, names[i], TEL_UNSIGNED, TEL_LOAD_LE16,
		           at[i]) != NULL;
	for (unsigned i = 0; i < 5 && good; i++) {
		snprintf(word, sizeof(word), "arg%u", i);
		good = tel__type_add(t, word, TEL_UNSIGNED, TEL_LOAD_LE32,
		           ETS_AT_ARGS + 4 * i) != NULL;
	}
	good = good &&
	    tel__type_add(t, "text", TEL_STRING, TEL_LOAD_STRING, ETS_ENTRY) !=
	        NULL;
	h->undescribed = t;
	return good;
}

static struct tel_type *
ets_schema_find_type(const struct ets *h, struct tel_schema *s,
    unsigned provider, unsigned type)
{
	unsigned i = provider < ETS_DIRECT && type < ETS_DIRECT ?
	    h->direct[provider][type] :
	    0;

	return i > 0 ? &s->types[h->types[i - 1].type->index] : NULL;
}

static void
add_roles(const struct ets *h, struct tel_schema *s)
{
	struct tel_type *start, *finish;

	for (size_t i = 0; i < NRANGES; i++) {
		start = ets_schema_find_type(h, s, ranges[i].provider,
		    ranges[i].start);
		finish = ets_schema_find_type(h, s, ranges[i].provider,
		    ranges[i].finish);
		if (start == NULL || finish == NULL)
			continue;
		start->role = TEL_ROLE_START;
		start->partner = (int32_t)finish->index;
		finish->role = TEL_ROLE_FINISH;
		for (size_t j = 0; j < 3 && ranges[i].fields[j] != NULL; j++) {
			start->role_field[j] =
			    (int8_t)tel_type_find_field(start,
			        ranges[i].fields[j]);
			finish->role_field[j] =
			    (int8_t)tel_type_find_field(finish,
			        ranges[i].fields[j]);
		}
	}
}

/* --------------------------------------------------------------- names */

static int
by_name(const void *a, const void *b)
{
	const struct plan *const *x = a, *const *y = b;
	int c = strcasecmp((*x)->name, (*y)->name);

	if (c != 0)
		return c;
	return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

/* How many plans at list, of n in order, have the name of the first. */
static unsigned
run_of(struct plan **list, unsigned n)
{
	unsigned i = 1;

	while (i < n && strcasecmp(list[0]->name, list[i]->name) == 0)
		i++;
	return i;
}

/*
 * Types of different providers may have one name: then each gets its
 * provider's in front, and where that does not help, a number behind.  Names
 * are compared without case, as those of tables in SQL.
 */
static int
name_types(struct plan *plans, unsigned n)
{
	struct plan **list = malloc((n + 1u) * sizeof(*list));
	unsigned i, j, same, round;

	if (list == NULL)
		return 0;
	for (i = 0; i < n; i++) {
		list[i] = &plans[i];
		snprintf(plans[i].name, sizeof(plans[i].name), "%s",
		    plans[i].type->name);
	}
	for (round = 0; round < 3; round++) {
		qsort(list, n, sizeof(struct plan *), by_name);
		for (i = 0; i < n; i += same) {
			same = run_of(list + i, n - i);
			for (j = 0; same > 1 && j < same; j++) {
				struct plan *p = list[i + j];

				if (round == 0)
					snprintf(p->name, sizeof(p->name),
					    "%s_%s", p->provider->name,
					    p->type->name);
				else if (j > 0 || round > 1)
					snprintf(p->name, sizeof(p->name),
					    "%.101s_%.101s_%u",
					    p->provider->name, p->type->name,
					    round == 1 ? j + 1 : p->code);
			}
		}
	}
	free(list);
	return 1;
}

/* --------------------------------------------------------------- codes */

static int
by_key(const void *a, const void *b)
{
	const struct plan *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int
ets_schema_by_code(const void *a, const void *b)
{
	const struct plan *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

/* Whether the first n plans, which are in order of codes, have one. */
static int
has_code(const struct plan *plans, unsigned n, uint32_t code)
{
	struct plan key;

	key.code = code;
	return bsearch(&key, plans, n, sizeof(*plans), ets_schema_by_code) !=
	    NULL;
}

/*
 * A code is the provider and the type; further versions of a type have codes
 * from the highest free code down.
 */
static void
number_types(struct plan *plans, unsigned n)
{
	unsigned i, last = 0;
	uint32_t code = ETS_UNKNOWN_CODE - 1;

	qsort(plans, n, sizeof(*plans), by_key);
	for (i = 0; i < n; i++)
		plans[i].code = (uint32_t)(plans[i].key >> 16);
	/* those that come first of a code, and the others behind them */
	for (i = 1; i < n; i++) {
		if (plans[i].code != plans[last].code) {
			struct plan swap = plans[++last];

			plans[last] = plans[i];
			plans[i] = swap;
		}
	}
	for (i = last + 1; i < n; i++) {
		while (has_code(plans, last + 1, code))
			code--;
		plans[i].code = code--;
	}
	qsort(plans, n, sizeof(*plans), ets_schema_by_code);
}

/* ------------------------------------------------------------- schema */

static int
by_type_key(const void *a, const void *b)
{
	const struct ets_type *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Puts the table of types in order of keys. */
static void
make_table(struct ets *h)
{
	if (h->ntypes > 0)
		qsort(h->types, h->ntypes, sizeof(*h->types), by_type_key);
	for (unsigned i = 0; i < h->ntypes; i++) {
		unsigned provider = (unsigned)(h->types[i].key >> 32);
		unsigned type = (unsigned)(h->types[i].key >> 16) & 0xffff;

		if (provider < ETS_DIRECT && type < ETS_DIRECT &&
		    (h->types[i].key & 0xffff) == 0)
			h->direct[provider][type] = (uint16_t)(i + 1);
	}
}

static struct tel_schema *
ets_schema_make(struct ets *h, struct plan *plans)
{
	static const struct tel_abi abi = { 4, 4, 4, 0, 0 };
	const struct tmf *tmf = &h->tmf;
	struct tel_schema *s;
	unsigned i, n = 0;

	for (i = 0; i < tmf->ntypes; i++) {
		const struct tmf_type *t = &tmf->types[i];

		plans[n].type = t;
		plans[n].provider = &tmf->providers[t->provider];
		if (plans[n].provider->number < 0)
			continue;
		plans[n].key = ets_key((unsigned)plans[n].provider->number,
		    t->version, (unsigned)t->number);
		n++;
	}
	number_types(plans, n);
	if (!name_types(plans, n))
		return NULL;
	s = tel__schema_make("ets", "", &abi, ETS_AT_INSTRUCTION, n + 1);
	if (s == NULL)
		return NULL;
	s->untimed = 1;
	for (i = 0; i < n; i++) {
		if (!ets_schema_add_type(h, s, &plans[i])) {
			tel_schema_free(s);
			return NULL;
		}
	}
	if (!ets_schema_add_undescribed(h, s)) {
		tel_schema_free(s);
		return NULL;
	}
	make_table(h);
	add_roles(h, s);
	return s;
}

tel_status
tel__ets_schema_make(struct ets *h, struct tel_schema **out)
{
	unsigned n = h->tmf.ntypes;
	struct plan *plans = calloc(n + 1u, sizeof(*plans));
	struct tel_schema *s = NULL;

	h->types = calloc(n + 1u, sizeof(*h->types));
	if (plans != NULL && h->types != NULL)
		s = ets_schema_make(h, plans);
	free(plans);
	if (s == NULL)
		return TEL_ENOMEM;
	*out = s;
	return TEL_OK;
}

tel_status
tel__ets_describe_builtin(struct tmf *tmf)
{
	tel_status st = TEL_OK;
	char error[200];

	for (unsigned i = 0; i < tel__ets_nbuiltin && st == TEL_OK; i++)
		st = tel__tmf_parse(tmf, tel__ets_builtin[i],
		    strlen(tel__ets_builtin[i]), "built in", error,
		    sizeof(error));
	return st;
}

tel_status
tel__ets_schema_new(struct tel_schema **out)
{
	struct ets *h = calloc(1, sizeof(*h));
	tel_status st = TEL_ENOMEM;

	if (h != NULL)
		st = tel__ets_describe_builtin(&h->tmf);
	if (st == TEL_OK) {
		tel__tmf_finish(&h->tmf);
		st = tel__ets_schema_make(h, out);
	}
	tel__ets_free(h);
	return st;
}
