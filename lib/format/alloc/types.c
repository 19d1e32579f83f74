/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of the traces of allocators, and the functions that lines call,
 * as tables.
 */
#include "format/alloc/alloc.h"
#include "model/row.h"

#include <string.h>

/* The fields that values are: of a row (model/row.h), and of the tables below. */
static const struct {
	const char *name;
	char letter;
	char row;
	int8_t part; /* enum tel_role_part, or -1 */
} fields[AL_VALUES] = {
#define AL_VALUE(value, name, letter, row, part) { name, letter, row, part },
	AL_VALUE_LIST(AL_VALUE)
};

static const struct {
	const char *name;
	const char *kind;
	enum tel_role role;
	const char *fields;
} types[AL_TYPES] = {
#define AL_TYPE(type, name, kind, role, fields) { name, kind, role, fields },
	AL_TYPE_LIST(AL_TYPE)
};

/* clang-format off */
#define NAME(name) name, sizeof(name) - 1

/* Those that come most are first. */
static const struct al_call functions[] = {
	{ NAME("malloc"), 0, AL_MALLOC, "s" },
	{ NAME("free"), 0, AL_FREE, "a" },
	{ NAME("calloc"), 0, AL_CALLOC, "cs" },
	{ NAME("realloc"), 0, AL_REALLOC, "os" },
	{ NAME("memalign"), 0, AL_MEMALIGN, "ls" },
	{ NAME("posix_memalign"), 0, AL_POSIX_MEMALIGN, "ls" },
	{ NAME("aligned_alloc"), 0, AL_ALIGNED_ALLOC, "ls" },
	{ NAME("reallocarray"), 0, AL_REALLOCARRAY, "ocs" },
	{ NAME("reallocf"), 0, AL_REALLOC, "os" },
	{ NAME("valloc"), 0, AL_VALLOC, "s" },
	{ NAME("pvalloc"), 0, AL_PVALLOC, "s" },
	{ NAME("cfree"), 0, AL_FREE, "a" },
	{ NAME("free_sized"), 0, AL_FREE_SIZED, "as" },
	{ NAME("free_aligned_sized"), 0, AL_FREE_SIZED, "als" },
	/* C++: sizes of 64 and 32 bits, throwing or not */
	{ NAME("_ZnwmSt11align_val_t"), 1, AL_NEW_ALIGNED, "sl" },
	{ NAME("_ZnwjSt11align_val_t"), 1, AL_NEW_ALIGNED, "sl" },
	{ NAME("_ZnamSt11align_val_t"), 1, AL_NEW_ALIGNED, "sl" },
	{ NAME("_ZnajSt11align_val_t"), 1, AL_NEW_ALIGNED, "sl" },
	{ NAME("_Znwm"), 1, AL_NEW, "s" },
	{ NAME("_Znwj"), 1, AL_NEW, "s" },
	{ NAME("_Znam"), 1, AL_NEW_ARRAY, "s" },
	{ NAME("_Znaj"), 1, AL_NEW_ARRAY, "s" },
	/* one that is given the size has it of the block: not all show it */
	{ NAME("_ZdlPvm"), 1, AL_DELETE_SIZED, "a" },
	{ NAME("_ZdlPvj"), 1, AL_DELETE_SIZED, "a" },
	{ NAME("_ZdaPvm"), 1, AL_DELETE_SIZED, "a" },
	{ NAME("_ZdaPvj"), 1, AL_DELETE_SIZED, "a" },
	{ NAME("_ZdlPv"), 1, AL_DELETE, "a" },
	{ NAME("_ZdaPv"), 1, AL_DELETE_ARRAY, "a" },
	{ NAME("__builtin_new"), 0, AL_NEW, "s" },
	{ NAME("builtin_new"), 0, AL_NEW, "s" },
	{ NAME("__builtin_vec_new"), 0, AL_NEW_ARRAY, "s" },
	{ NAME("__builtin_delete"), 0, AL_DELETE, "a" },
	{ NAME("builtin_delete"), 0, AL_DELETE, "a" },
	{ NAME("__builtin_vec_delete"), 0, AL_DELETE_ARRAY, "a" },
	/* not an operation, but not an error either */
	{ NAME("jemalloc_stats"), 0, AL_NO_TYPE, "" },
	{ NAME("malloc_init"), 0, AL_NO_TYPE, "" },
};
/* clang-format on */

/* Nonzero when the name of a call, of n bytes, is at p. */
static inline int
al_types_is_name(const struct al_call *call, const unsigned char *p, size_t n)
{
	const unsigned char *name = (const unsigned char *)call->name;

	/* no name is shorter than four letters */
	if (tel_le32(p) != tel_le32(name))
		return 0;
	if (n <= 8)
		return tel_le32(p + n - 4) == tel_le32(name + n - 4);
	return memcmp(p, name, n) == 0;
}

const struct al_call *
tel__al_find(const struct al_call *calls, size_t count, const unsigned char *p,
    size_t n)
{
	for (size_t i = 0; i < count; i++) {
		if (calls[i].length != n &&
		    (!calls[i].prefix || calls[i].length > n))
			continue;
		if (al_types_is_name(&calls[i], p, calls[i].length))
			return &calls[i];
	}
	return NULL;
}

const struct al_call *
tel__al_function(const struct al *s, const unsigned char *p, size_t n)
{
	const struct al_call *call = tel__al_find(functions,
	    sizeof(functions) / sizeof(functions[0]), p, n);

	if (call == NULL || call->type == AL_NO_TYPE)
		return call;
	return s->d->types >> call->type & 1 ? call : NULL;
}

/* Adds the field of a letter.  1, or 0: no memory. */
static int
al_types_add_field(struct al_shape *shape, struct tel_type *t,
    struct tel_placement *at, char letter)
{
	unsigned v;

	for (v = 0; fields[v].letter != letter; v++)
		continue;
	if (tel__type_place(t, at, fields[v].row, fields[v].name) == NULL)
		return 0;
	if (t->role != TEL_ROLE_NONE && fields[v].part >= 0)
		t->role_field[fields[v].part] = (int8_t)shape->nfields;
	/* number, address, parent */
	if (t->role == TEL_ROLE_FRAME)
		t->role_field[shape->nfields] = (int8_t)shape->nfields;
	/* a block that has a number keeps it */
	if (t->role == TEL_ROLE_REALLOC && v == AL_ID)
		t->role_field[TEL_PART_OLD] = (int8_t)shape->nfields;
	shape->text |= v == AL_TEXT;
	if (v == AL_CALLER || v == AL_IP)
		shape->label = shape->nfields;
	shape->value[shape->nfields++] = (uint8_t)v;
	return 1;
}

/* Adds a type.  1, or 0: no memory. */
static int
al_types_add(const struct al_dialect *d, struct al_shape *shape,
    struct tel_schema *schema, unsigned i)
{
	size_t n = strlen(types[i].fields), all = strlen(d->all), k;
	size_t count = n + (types[i].role != TEL_ROLE_NONE ? all : 0);
	struct tel_placement at = { schema, AL_HEADER, 0 };
	struct tel_type *t;

	t = tel__schema_add(schema, types[i].name, i, types[i].kind, 0,
	    (unsigned)count);
	if (t == NULL)
		return 0;
	t->role = (uint8_t)types[i].role;
	for (k = 0; k < count; k++)
		if (!al_types_add_field(shape, t, &at,
		        k < n ? types[i].fields[k] : d->all[k - n]))
			return 0;
	t->size = tel__place_end(&at, t);
	shape->type = t;
	return 1;
}

/*
 * Makes the schema of a dialect, which is stable: new types come last in enum
 * al_type, and existing types keep their fields.
 */
static tel_status
al_types_make_schema(const struct al_dialect *d, struct al_shape *shapes,
    struct tel_schema **out)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_schema *schema;

	schema = tel__schema_make(d->name, "", &abi, AL_HEADER, AL_TYPES);
	for (unsigned i = 0; schema != NULL && i < AL_TYPES; i++) {
		if ((d->types >> i & 1) == 0 ||
		    al_types_add(d, &shapes[i], schema, i))
			continue;
		tel_schema_free(schema);
		schema = NULL;
	}
	*out = schema;
	if (schema == NULL)
		return TEL_ENOMEM;
	schema->stable = 1;
	return TEL_OK;
}

tel_status
tel__al_schema(struct tel_reader *r, struct al *s)
{
	struct tel_schema *schema;
	tel_status st = al_types_make_schema(s->d, s->shape, &schema);

	return st == TEL_OK ? tel__reader_adopt(r, schema) : st;
}

tel_status
tel__al_schema_new(const char *name, struct tel_schema **out)
{
	static const struct al_dialect *const dialects[] = { &tel__al_android,
		&tel__al_logalloc, &tel__al_mtrace, &tel__al_heaptrack,
		&tel__al_heaptrack_data, &tel__al_valgrind, &tel__al_ltrace,
		&tel__al_kdump, &tel__al_rep };
	struct al_shape shapes[AL_TYPES];
	struct tel_schema *schema;
	tel_status st;

	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (strcmp(name, dialects[i]->name) != 0)
			continue;
		memset(shapes, 0, sizeof(shapes));
		st = al_types_make_schema(dialects[i], shapes, &schema);
		if (st == TEL_OK)
			*out = schema;
		return st;
	}
	return TEL_EINVAL;
}
