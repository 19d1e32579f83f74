/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of types that are gathered from a text, and the schemas of them. */
#include "base/array.h"
#include "format/text/anytext.h"
#include "model/role.h"

#include <stdlib.h>
#include <string.h>

void
tel__any_type_clear(struct any_type *type)
{
	for (unsigned i = 0; i < type->nfields; i++)
		free(type->fields[i].name);
	free(type->fields);
	free(type->name);
	free(type->kind);
	memset(type, 0, sizeof(*type));
}

void
tel__any_set_clear(struct any_set *set)
{
	for (unsigned i = 0; i < set->ntypes; i++)
		tel__any_type_clear(&set->types[i]);
	free(set->types);
	tel__table_clear(&set->by_name);
	for (unsigned i = 0; i < set->nroles; i++)
		free(set->roles[i].text);
	free(set->roles);
	memset(set, 0, sizeof(*set));
}

static int
anytext_set_find_field(const struct any_type *type, const char *name,
    size_t length)
{
	for (int i = 0; i < type->nfields; i++)
		if (strlen(type->fields[i].name) == length &&
		    memcmp(type->fields[i].name, name, length) == 0)
			return i;
	return -1;
}

int
tel__any_type_field(struct any_type *type, const unsigned char *name,
    size_t length, struct any_field like)
{
	if (type->nfields == UINT8_MAX ||
	    anytext_set_find_field(type, (const char *)name, length) >= 0)
		return 0;
	if (!TEL__RESERVE(type->fields, type->room, type->nfields + 1u))
		return -1;
	struct any_field *f = &type->fields[type->nfields];
	*f = like;
	f->name = strndup((const char *)name, length);
	if (f->name == NULL)
		return -1;
	type->nfields++;
	return 1;
}

static int
anytext_set_is_number(unsigned datatype)
{
	return datatype == TEL_UNSIGNED || datatype == TEL_SIGNED ||
	    datatype == TEL_DOUBLE;
}

int
tel__any_join(unsigned a, unsigned b)
{
	if (a == b)
		return (int)a;
	/* of an empty list, and one that is not */
	if (a == ANY_NO_ELEMENT || b == ANY_NO_ELEMENT)
		return (int)(a == ANY_NO_ELEMENT ? b : a);
	if (!anytext_set_is_number(a) || !anytext_set_is_number(b))
		return -1;
	if (a == TEL_DOUBLE || b == TEL_DOUBLE)
		return TEL_DOUBLE;
	return TEL_SIGNED;
}

/*
 * Merges from into type.  1; 2: that has not changed it; 0: they are different
 * types.
 */
static int
anytext_set_merge(struct any_type *type, const struct any_type *from)
{
	int at[UINT8_MAX], datatype[UINT8_MAX], element[UINT8_MAX], i;
	int changed = 0;

	if (type->nfields != from->nfields ||
	    strcmp(type->name, from->name) != 0)
		return 0;
	for (i = 0; i < from->nfields; i++) {
		at[i] = anytext_set_find_field(type, from->fields[i].name,
		    strlen(from->fields[i].name));
		if (at[i] < 0)
			return 0;
		struct any_field *f = &type->fields[at[i]];
		datatype[i] = f->datatype == TEL_LIST ||
		        from->fields[i].datatype == TEL_LIST ?
		    f->datatype == from->fields[i].datatype ? TEL_LIST : -1 :
		    tel__any_join(f->datatype, from->fields[i].datatype);
		element[i] = tel__any_join(f->element, from->fields[i].element);
		if (datatype[i] < 0 || element[i] < 0)
			return 0;
	}
	for (i = 0; i < from->nfields; i++) {
		struct any_field *f = &type->fields[at[i]], before = *f;
		const struct any_field *g = &from->fields[i];

		if (f->width < g->width)
			f->width = g->width;
		/* no fewer bits have all values of both */
		if (f->datatype != g->datatype || f->element != g->element)
			f->width = 64;
		f->datatype = (uint8_t)datatype[i];
		f->element = (uint8_t)element[i];
		f->optional |= g->optional;
		changed |= f->width != before.width ||
		    f->datatype != before.datatype ||
		    f->element != before.element ||
		    f->optional != before.optional;
	}
	return changed ? 1 : 2;
}

static int
anytext_set_append(struct any_set *set, struct any_type *type, uint64_t hash)
{
	uint32_t at;
	int fresh;

	if (set->ntypes == ANY_TYPES_MAX ||
	    set->nfields + type->nfields > ANY_FIELDS_MAX) {
		tel__any_type_clear(type);
		set->full = 1;
		return 0;
	}
	struct tel__entry *e = tel__table_put(&set->by_name, hash, &fresh);
	if (e == NULL ||
	    !TEL__RESERVE(set->types, set->room, set->ntypes + 1u)) {
		tel__any_type_clear(type);
		return -1;
	}
	type->order = set->ntypes;
	set->nfields += type->nfields;
	set->types[set->ntypes++] = *type;
	memset(type, 0, sizeof(*type));
	/* in the order in which they came */
	for (at = (uint32_t)e->value; at != 0 && set->types[at - 1].same != 0;)
		at = set->types[at - 1].same;
	if (at != 0)
		set->types[at - 1].same = set->ntypes;
	else
		e->value = set->ntypes;
	return 1;
}

int
tel__any_set_add(struct any_set *set, struct any_type *type)
{
	uint32_t at, same = 0;

	if (set->by_name.entries == NULL)
		tel__table_init(&set->by_name);
	uint64_t hash = tel__hash_bytes(type->name, strlen(type->name),
	    set->by_name.factor);
	const struct tel__entry *e = tel__table_find(&set->by_name, hash);
	for (at = e == NULL ? 0 : (uint32_t)e->value; at != 0;
	     at = set->types[at - 1].same) {
		int merged = anytext_set_merge(&set->types[at - 1], type);

		if (merged) {
			tel__any_type_clear(type);
			return merged;
		}
		same += strcmp(set->types[at - 1].name, type->name) == 0;
	}
	if (same >= ANY_SAME_MAX) {
		tel__any_type_clear(type);
		return 0;
	}
	return anytext_set_append(set, type, hash);
}

static int
anytext_set_by_code(const void *a, const void *b)
{
	const struct any_type *const *x = a, *const *y = b;

	if ((*x)->code != (*y)->code)
		return (*x)->code < (*y)->code ? -1 : 1;
	return (*x)->order < (*y)->order ? -1 : 1;
}

/* How values of a data type are loaded: in lists by width, else eight bytes. */
static enum tel_load
load_of(unsigned datatype, unsigned width, int in_list)
{
	if (datatype == TEL_STRING)
		return in_list ? TEL_LOAD_STRING : TEL_LOAD_STRING_AT;
	if (datatype == TEL_DOUBLE)
		return width == 32 ? TEL_LOAD_LEF32 : TEL_LOAD_LE64;
	if (!in_list || width > 32)
		return TEL_LOAD_LE64;
	if (datatype == TEL_SIGNED)
		return width > 16 ? TEL_LOAD_LE32S : TEL_LOAD_LE16S;
	return width > 16 ? TEL_LOAD_LE32 :
	    width > 8     ? TEL_LOAD_LE16 :
	                    TEL_LOAD_U8;
}

/*
 * Adds a type: eight bytes a field, or four that say where a string or a list
 * is, and the bits of those that are optional.
 */
static int
anytext_set_add_type(struct tel_schema *s, const struct any_type *from)
{
	const uint32_t bits = ANY_HEADER + 8u * from->nfields;
	uint32_t at = ANY_HEADER, size = bits, optional = 0;
	enum tel_load load;
	struct tel_field *f;
	struct tel_type *t;
	unsigned i;

	for (i = 0; i < from->nfields; i++)
		optional += from->fields[i].optional;
	size += (optional + 63) / 64 * 8;
	t = tel__schema_add(s, from->name, from->code, from->kind, size,
	    from->nfields);
	if (t == NULL)
		return 0;
	for (i = 0, optional = 0; i < from->nfields; i++) {
		const struct any_field *a = &from->fields[i];
		enum tel_datatype element = a->element == ANY_NO_ELEMENT ?
		    TEL_UNSIGNED :
		    (enum tel_datatype)a->element;

		load = load_of(a->datatype == TEL_LIST ? element : a->datatype,
		    a->width, a->datatype == TEL_LIST);
		if (a->datatype == TEL_LIST)
			f = tel__type_add_list(t, a->name, element, load, at);
		else
			f = tel__type_add(t, a->name,
			    (enum tel_datatype)a->datatype, load, at);
		if (f == NULL)
			return 0;
		if (load == TEL_LOAD_LE64 && a->datatype != TEL_LIST)
			f->width = a->width;
		if (a->optional) {
			f->present_at = (uint16_t)(bits + optional / 8);
			f->present = (uint8_t)(1u << optional % 8);
			optional++;
		}
		f->is_label = a->is_label;
		/*
		 * A number may be labelled, too: see tel_event.inline_labels.
		 * That of an enum is a field.
		 */
		if ((f->datatype == TEL_UNSIGNED ||
		        f->datatype == TEL_SIGNED) &&
		    (i + 1 == from->nfields || !a[1].is_label))
			f->space = TEL_SPACE_MESSAGE;
		at += 8;
	}
	return 1;
}

int
tel__any_set_role(struct any_set *set, const unsigned char *p, size_t n,
    struct any_role role)
{
	if (set->nroles == ANY_TYPES_MAX)
		return 0;
	if (!TEL__RESERVE(set->roles, set->role_room, set->nroles + 1u))
		return -1;
	role.text = strndup((const char *)p, n);
	if (role.text == NULL)
		return -1;
	set->roles[set->nroles++] = role;
	return 1;
}

/* Cuts the next word off text: ends it, and moves *text behind it. */
static char *
cut_word(char **text)
{
	char *word = *text;

	*text += strcspn(word, " ");
	if (**text != '\0')
		*(*text)++ = '\0';
	return word;
}

/* The next type of that name, as tel__lines_find() has it. */
static struct tel_type *
anytext_set_next_type(const struct lines_map *m, const char *name, uint64_t *at)
{
	const struct tel_type *t =
	    tel__lines_find(m, (const unsigned char *)name, strlen(name), at);

	return t != NULL ? &m->schema->types[t->index] : NULL;
}

static struct tel_type *
anytext_set_find_type(const struct lines_map *m, const char *name)
{
	uint64_t at = tel__fnv(TEL__FNV, name, strlen(name));

	return anytext_set_next_type(m, name, &at);
}

/* Whether a type has all fields that the text of a role names. */
static int
anytext_set_has_fields(const struct tel_type *t, const char *text)
{
	struct tel_type copy = *t;

	while (*text != '\0') {
		const char *word = text;
		size_t n = strcspn(text, " ");

		text += n + (text[n] == ' ');
		if (strncmp(word, "as=", 3) != 0 &&
		    !tel__role_set(&copy, 0, word, n))
			return 0;
	}
	return 1;
}

/*
 * The type of that name that has no role and the fields of one; or else the
 * first of that name, if it has no role; NULL: none.
 */
static struct tel_type *
find_actor(const struct lines_map *m, const char *name, const char *fields)
{
	uint64_t at = tel__fnv(TEL__FNV, name, strlen(name));
	struct tel_type *t = anytext_set_next_type(m, name, &at), *i;

	for (i = t; i != NULL; i = anytext_set_next_type(m, name, &at))
		if (i->role == TEL_ROLE_NONE &&
		    anytext_set_has_fields(i, fields))
			return i;
	return t != NULL && t->role == TEL_ROLE_NONE ? t : NULL;
}

/*
 * Gives a type the role in a text; invalid parts are ignored.  Returns the first
 * word that is wrong, and *why; or NULL.
 */
static const char *
anytext_set_set_role(const struct lines_map *m, char *text, const char **why)
{
	const char *name = cut_word(&text), *wrong = NULL;
	const char *word = cut_word(&text), *partner = NULL;
	struct tel_type *t, *to = NULL;
	enum tel_role role = tel__role_find(word, strlen(word));

	*why = "unknown type";
	if (anytext_set_find_type(m, name) == NULL)
		return name;
	if (role < TEL_ROLE_FRAME) {
		*why = "unknown role";
		return word;
	}
	if (role == TEL_ROLE_START) {
		partner = cut_word(&text);
		to = anytext_set_find_type(m, partner);
		if (to == NULL)
			return partner;
	}
	t = find_actor(m, name, text);
	if (t == NULL)
		return NULL;
	t->role = (uint8_t)role;
	if (to != NULL)
		t->partner = (int32_t)to->index;
	for (unsigned i = 0; *text != '\0'; i++) {
		word = cut_word(&text);
		if ((role == TEL_ROLE_FINISH || role == TEL_ROLE_MIDDLE) &&
		    strncmp(word, "as=", 3) == 0) {
			to = anytext_set_find_type(m, word + 3);
			t->partner = to != NULL ? (int32_t)to->index : -1;
			if (to != NULL || wrong != NULL)
				continue;
			wrong = word + 3;
		} else if (!tel__role_set(t, i, word, strlen(word)) &&
		    wrong == NULL) {
			*why = "unknown field or part";
			wrong = word;
		}
	}
	return wrong;
}

/* What ends a range, where the text has the role of its start alone. */
static void
anytext_set_finish(struct tel_schema *s)
{
	for (unsigned i = 0; i < s->ntypes; i++) {
		const struct tel_type *start = &s->types[i];

		if (start->role != TEL_ROLE_START || start->partner < 0)
			continue;
		struct tel_type *end = &s->types[start->partner];
		if (end->role != TEL_ROLE_NONE)
			continue;
		end->role = TEL_ROLE_FINISH;
		for (unsigned k = 0; k < TEL_ROLE_PARTS; k++)
			if (start->role_field[k] >= 0) {
				const char *name =
				    start->fields[start->role_field[k]].name;

				(void)tel__role_set(end, k, name, strlen(name));
			}
	}
}

/* Gives all types of a schema their roles.  1, or 0: no memory. */
static int
anytext_set_set_roles(struct tel_reader *r, const struct any_set *set,
    struct tel_schema *s)
{
	struct lines_map map = { 0 };
	int good = set->nroles == 0 || tel__lines_map(&map, s) == TEL_OK;

	for (unsigned i = 0; good && i < set->nroles; i++) {
		struct any_role *role = &set->roles[i];
		char *copy = strdup(role->text);
		const char *wrong = NULL, *why;

		good = copy != NULL;
		if (good)
			wrong = anytext_set_set_role(&map, copy, &why);
		if (wrong != NULL && !role->reported) {
			role->reported = 1;
			tel__reader_notice(r, TEL_WARNING, role->offset,
			    "role of %.100s: %s '%.100s'", copy, why, wrong);
		}
		free(copy);
	}
	free(map.slot);
	anytext_set_finish(s);
	return good;
}

struct tel_schema *
tel__any_set_schema(struct tel_reader *r, const struct any_set *set)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct any_type **types = calloc(set->ntypes + 1u, sizeof(*types));
	struct tel_schema *s;

	if (types == NULL)
		return NULL;
	for (unsigned i = 0; i < set->ntypes; i++)
		types[i] = &set->types[i];
	qsort(types, set->ntypes, sizeof(struct any_type *),
	    anytext_set_by_code);
	s = tel__schema_make(set->name, set->version, &abi, ANY_HEADER,
	    set->ntypes);
	if (s != NULL)
		s->untimed = set->untimed;
	for (unsigned i = 0; s != NULL && i < set->ntypes; i++) {
		if (!anytext_set_add_type(s, types[i])) {
			tel_schema_free(s);
			s = NULL;
		}
	}
	if (s != NULL && !anytext_set_set_roles(r, set, s)) {
		tel_schema_free(s);
		s = NULL;
	}
	free(types);
	return s;
}
