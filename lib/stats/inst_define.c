/* SPDX-License-Identifier: BSD-2-Clause */
/* Definitions of classes in an inst stream. */
#include "stats/inst_read.h"

#include <stdlib.h>
#include <string.h>

#include "stats/scan.h"

static tel_status
bad(const char **why, const char *text)
{
	*why = text;
	return TEL_EDAMAGED;
}

static int
take_piece(const struct inst_line *l, const char *name, struct piece *out)
{
	const struct inst_field *f = tel__inst_find(l, name);

	if (f == NULL)
		return 1;
	out->text = tel__text_copy(f->value, f->length);
	return out->text != NULL;
}

/* Parameters, and what is counted where that is told. */
static tel_status
read_spec(const struct inst_line *l, struct spec *s, const char **why)
{
	const struct inst_field *f;
	unsigned i, which;
	uint64_t one;

	for (i = 0; i < tel__class_parameters(s->class); i++) {
		f = tel__inst_find(l, tel__class_parameter_name(s->class, i));
		if (f == NULL)
			return bad(why, "a parameter is missing");
		*why = tel__scan_integer(f->value, f->value + f->length,
		    &s->parameters[i]);
		if (*why != NULL)
			return TEL_EDAMAGED;
	}
	if (s->class == TEL_CLASS_MAG && tel__inst_u64(l, "delta", &one) > 0)
		s->delta = one != 0;
	f = tel__inst_find(l, "pairs");
	if (f != NULL)
		s->pairs =
		    strcmp(f->value, "ticks") == 0 ? PAIRS_TICKS : PAIRS_NS;
	if (!take_piece(l, "expr", &s->value) ||
	    !take_piece(l, "weight", &s->weight) ||
	    !take_piece(l, "if", &s->condition) ||
	    !take_piece(l, "start", &s->start) ||
	    !take_piece(l, "end", &s->end) || !take_piece(l, "key", &s->key) ||
	    !take_piece(l, "middle", &s->middle))
		return TEL_ENOMEM;
	switch (tel__layout_make(&s->layout, s->class, s->parameters, why,
	    &which)) {
	case TEL_OK: return TEL_OK;
	case TEL_ENOMEM: return TEL_ENOMEM;
	default: return TEL_EDAMAGED;
	}
}

/* The expressions of the groups.  Returns how many. */
static unsigned
group_names(const struct inst_line *l, char **names)
{
	const struct inst_field *f;
	char field[4] = "gk1";
	unsigned i;

	for (i = 0; i < GROUPS_MAX; i++) {
		field[2] = (char)('1' + i);
		f = tel__inst_find(l, field);
		if (f == NULL)
			break;
		names[i] = f->value;
	}
	return i;
}

tel_status
tel__inst_key(struct inst_reader *r, const struct inst_line *l,
    const char *value, const char *datatype, struct key *out)
{
	const struct inst_field *f = tel__inst_find(l, value);
	const struct inst_field *s = tel__inst_find(l, datatype);
	tel_value v;
	tel_int128 w;

	memset(&v, 0, sizeof(v));
	if (f == NULL)
		return TEL_EDAMAGED;
	v.missing = s != NULL && strcmp(s->value, "missing") == 0;
	if (f->quoted) {
		v.datatype = TEL_STRING;
		v.as.string = f->value;
		v.length = f->length;
		return tel__key_make(r->part->strings, &v, out);
	}
	if (tel__inst_int128(l, value, &w) < 0 ||
	    (!int128_is_u64(w) && !int128_is_i64(w)))
		return TEL_EDAMAGED;
	v.datatype = int128_is_u64(w) ? TEL_UNSIGNED : TEL_SIGNED;
	v.as.u64 = w.low;
	if (s != NULL && !v.missing &&
	    (!tel__inst_find_datatype(s->value, &v.datatype) ||
	        v.datatype == TEL_STRING ||
	        (w.high < 0 && v.datatype != TEL_SIGNED)))
		return TEL_EDAMAGED;
	return tel__key_make(r->part->strings, &v, out);
}

/* Finds the stat of a definition that a line is about; *out may stay NULL. */
static tel_status
find_stat(struct inst_reader *r, const struct inst_line *l,
    struct definition *d, struct tel_stat **out)
{
	struct key keys[GROUPS_MAX];
	char value[4] = "gv1", datatype[4] = "gs1";
	tel_status st;
	unsigned i;
	const struct inst_field *group = tel__inst_find(l, "grp");

	if (group != NULL && strcmp(group->value, "none") == 0)
		return TEL_OK; /* it says but what the groups are of */
	if (group != NULL)
		return tel__definition_find_overflow(d, out);
	for (i = 0; i < d->ngroups; i++) {
		value[2] = datatype[2] = (char)('1' + i);
		st = tel__inst_key(r, l, value, datatype, &keys[i]);
		if (st == TEL_ELIMIT)
			return tel__definition_find_overflow(d, out);
		if (st != TEL_OK)
			return st;
	}
	return tel__definition_find(d, keys, out);
}

/* The definition of a class: one that has a name already, if it told so. */
static tel_status
find_definition(struct inst_reader *r, const struct inst_line *l,
    const char *name, struct spec *spec, struct definition **out)
{
	const struct inst_field *unit = tel__inst_find(l, "unit");
	struct definition *d = tel__stats_find(r->part, name);
	char *names[GROUPS_MAX];
	unsigned count = group_names(l, names), i;

	if (d != NULL && tel__inst_find(l, "of") != NULL &&
	    d->ngroups == count &&
	    tel__spec_difference(&d->spec, spec) == NULL) {
		for (i = 0; i < count; i++)
			if (strcmp(names[i], d->group_names[i]) != 0)
				break;
		if (i == count) {
			*out = d;
			return TEL_OK;
		}
	}
	if (r->part->count >= CLASSES_MOST)
		return TEL_ELIMIT;
	spec->name = tel__text_copy(name, strlen(name));
	if (spec->name == NULL)
		return TEL_ENOMEM;
	d = tel__definition_new(spec, count, names, r->part->strings,
	    &r->part->budget);
	if (d == NULL)
		return TEL_ENOMEM;
	/* a summary trace is in microseconds unless it says otherwise */
	if (unit != NULL || d->spec.class == TEL_CLASS_DUR) {
		free(d->unit);
		d->unit = tel__text_copy(unit != NULL ? unit->value : "us",
		    unit != NULL ? unit->length : 2);
		if (d->unit == NULL) {
			tel__definition_free(d);
			return TEL_ENOMEM;
		}
	}
	*out = d;
	return tel__stats_adopt(r->part, d);
}

static tel_status
make_stat(struct inst_reader *r, const struct inst_line *l,
    const struct node *n, struct spec *spec, struct definition **definition,
    struct tel_stat **stat)
{
	const struct inst_field *of = tel__inst_find(l, "of");
	char *path = of != NULL ? tel__text_copy(of->value, of->length) :
	                          tel__tree_path(&r->tree, n);
	tel_status st;

	if (path == NULL)
		return TEL_ENOMEM;
	st = find_definition(r, l, path, spec, definition);
	free(path);
	return st == TEL_OK ? find_stat(r, l, *definition, stat) : st;
}

/* The kind of node that a line defines. */
static tel_status
find_kind(const struct inst_line *l, enum node_kind *kind,
    enum tel_class *class, const char **why)
{
	const struct inst_field *type = tel__inst_find(l, "type");
	const struct inst_field *report = tel__inst_find(l, "report");

	*class = TEL_CLASS_MAG;
	if (type == NULL)
		return bad(why, "the type is missing");
	if (strcmp(type->value, "path") == 0)
		*kind = NODE_PATH;
	else if (strcmp(type->value, "trace") == 0)
		*kind = NODE_TRACE;
	else if (tel__inst_find_class(type->value, class))
		*kind = NODE_STAT;
	else
		return bad(why, "there is no such type");
	if (report == NULL)
		return TEL_OK;
	if (strcmp(report->value, "types") == 0)
		*kind = NODE_TYPES;
	else if (strcmp(report->value, "allocated") == 0)
		*kind = NODE_ALLOCS;
	else if (strcmp(report->value, "freed") == 0)
		*kind = NODE_FREES;
	return TEL_OK;
}

/*
 * Goes down from *parent by the components of a name, making the paths that
 * are not there, up to the last one, which *name is then.
 */
static tel_status
go_down(struct inst_reader *r, uint32_t *parent, const char **name,
    const char **why)
{
	struct node *n;
	const char *colon;
	size_t length;
	tel_status st;

	while ((colon = strchr(*name, ':')) != NULL) {
		length = (size_t)(colon - *name);
		if (length == 0)
			break;
		n = tel__tree_by_name(&r->tree, *parent, *name, length);
		if (n == NULL) {
			st = tel__tree_add(&r->tree, *parent, *name, length,
			    NODE_PATH, &n);
			if (st != TEL_OK)
				return st;
		}
		if (n->kind != NODE_PATH)
			return bad(why, "what is above it is no path");
		*parent = tree_number(&r->tree, n);
		*name = colon + 1;
	}
	if (**name == '\0' || strchr(*name, ':') != NULL)
		return bad(why, "the name has an empty component");
	return TEL_OK;
}

static tel_status
find_parent(struct inst_reader *r, const struct inst_line *l, uint32_t *out,
    const char **why)
{
	struct node *n;
	uint64_t id = 0;

	*out = 0;
	if (tel__inst_u64(l, "parent", &id) < 0)
		return bad(why, "the parent is no number");
	if (id == 0)
		return TEL_OK;
	n = tel__tree_by_id(&r->tree, id);
	if (n == NULL || n->kind != NODE_PATH ||
	    tel__tree_is_disposed(&r->tree, n))
		return bad(why, "the parent is no path");
	*out = tree_number(&r->tree, n);
	return TEL_OK;
}

/* Adds a class of a new name. */
static tel_status
add_class(struct inst_reader *r, const struct inst_line *l, uint32_t parent,
    const char *name, enum node_kind kind, struct spec *spec, struct node **out,
    const char **why)
{
	struct definition *d = NULL;
	struct tel_stat *stat = NULL;
	uint64_t on = 1;
	tel_status st;

	st = tel__tree_add(&r->tree, parent, name, strlen(name), kind, out);
	if (st == TEL_OK && kind == NODE_STAT)
		st = make_stat(r, l, *out, spec, &d, &stat);
	if (st == TEL_ELIMIT)
		return bad(why, "there are too many classes, or too deep ones");
	if (st == TEL_EDAMAGED)
		return bad(why, "a group has no value");
	if (st != TEL_OK)
		return st;
	(void)tel__inst_u64(l, "en", &on);
	(*out)->enabled = on != 0;
	(*out)->class = spec->class;
	(*out)->definition = d;
	(*out)->stat = stat;
	if (d != NULL)
		(*out)->class = d->spec.class;
	return TEL_OK;
}

static tel_status
define(struct inst_reader *r, const struct inst_line *l, struct spec *spec,
    const char **why)
{
	const struct inst_field *named = tel__inst_find(l, "name");
	enum node_kind kind;
	struct node *n = NULL;
	const char *name;
	uint32_t parent;
	uint64_t id;
	tel_status st;

	if (tel__inst_u64(l, "id", &id) <= 0 || id == 0)
		return bad(why, "the class has no number");
	if (named == NULL || tel__tree_by_id(&r->tree, id) != NULL)
		return bad(why,
		    named == NULL ? "the class has no name" :
		                    "the number was given before");
	st = find_kind(l, &kind, &spec->class, why);
	if (st == TEL_OK)
		st = find_parent(r, l, &parent, why);
	name = named->value;
	if (st == TEL_OK)
		st = go_down(r, &parent, &name, why);
	if (st == TEL_OK && kind == NODE_STAT)
		st = read_spec(l, spec, why);
	if (st != TEL_OK)
		return st;
	n = tel__tree_by_name(&r->tree, parent, name, strlen(name));
	if (n != NULL && (n->kind != kind || n->class != spec->class))
		return bad(why, "a class of the name has another type");
	if (n == NULL)
		st = add_class(r, l, parent, name, kind, spec, &n, why);
	if (st == TEL_OK)
		st = tel__tree_give_id(&r->tree, id, n);
	return st;
}

tel_status
tel__inst_define(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	struct spec spec;
	tel_status st;

	memset(&spec, 0, sizeof(spec));
	st = define(r, l, &spec, why);
	tel__spec_clear(&spec);
	if (st == TEL_ELIMIT)
		return bad(why, "there are too many classes, or too deep ones");
	return st;
}
