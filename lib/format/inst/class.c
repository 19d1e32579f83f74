/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The classes of a session: the tree of them, by ids and by paths, and the
 * records that define them.
 *
 * A class that is defined again where one of the same type is becomes that
 * one, as creating it again did; its first parameters hold.
 */
#include "format/inst/inst.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

tel_status
tel__inst_id_add(struct tel__table *ids, uint64_t id, uint32_t to)
{
	int fresh;

	if (ids->count == INST_IDS_MAX)
		return TEL_ELIMIT;
	struct tel__entry *e = tel__table_put(ids, id, &fresh);
	if (e == NULL)
		return TEL_ENOMEM;
	e->value = to;
	return TEL_OK;
}

void
tel__inst_tree_clear(struct inst_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		free(t->classes[i].path);
		free(t->classes[i].component);
	}
	free(t->classes);
	tel__table_clear(&t->ids);
	tel__index_clear(&t->by_path);
	t->classes = NULL;
	t->count = 0;
	t->room = 0;
	t->bytes = 0;
	t->root_off = 0;
	t->generation = 1;
}

uint32_t
tel__inst_class_of(const struct inst_tree *t, uint64_t id)
{
	const struct tel__entry *e = tel__table_find(&t->ids, id);

	return e == NULL ? INST_NO_CLASS : (uint32_t)e->value;
}

/* The newest class of a path, or NOWHERE, and where the index has it. */
static uint32_t
find_path(const struct inst_tree *t, const char *path, size_t n, uint64_t hash,
    struct tel__probe *at)
{
	uint32_t i;

	for (i = tel__index_first(&t->by_path, hash, at); i != TEL__NOWHERE;
	     i = tel__index_next(&t->by_path, at)) {
		const struct inst_class *c = &t->classes[i];

		if (c->path_length == n && memcmp(c->path, path, n) == 0)
			break;
	}
	return i;
}

/* The newest class of a path that was not disposed of, or NO_CLASS. */
static uint32_t
inst_class_at(struct inst_tree *t, const char *path, size_t n)
{
	struct tel__probe at;
	uint32_t i = find_path(t, path, n,
	    tel__hash_bytes(path, n, t->by_path.seed), &at);

	if (i == TEL__NOWHERE || tel__inst_class_check(t, i)->dead)
		return INST_NO_CLASS;
	return i;
}

/*
 * Adds a class of the path, which is copied.  TEL_OK with *out its number,
 * TEL_ELIMIT, TEL_ENOMEM.
 */
static tel_status
inst_class_add(struct inst_tree *t, const char *path, size_t n, uint32_t parent,
    enum inst_class_type type, uint32_t *out)
{
	uint64_t hash = tel__hash_bytes(path, n, t->by_path.seed);
	struct tel__probe at;

	if (t->count == INST_IDS_MAX || t->bytes + n + 1 > INST_POOL_MAX)
		return TEL_ELIMIT;
	if (!TEL__RESERVE(t->classes, t->room, (size_t)t->count + 1))
		return TEL_ENOMEM;
	char *copy = tel__copy_string(path, n);
	/* the class of the path that was disposed of gives way */
	if (copy != NULL && find_path(t, path, n, hash, &at) != TEL__NOWHERE)
		tel__index_remove(&t->by_path, &at);
	if (copy == NULL || !tel__index_add(&t->by_path, hash, t->count)) {
		free(copy);
		return TEL_ENOMEM;
	}
	t->bytes += n + 1;
	struct inst_class *c = &t->classes[t->count];
	memset(c, 0, sizeof(*c));
	c->path = copy;
	c->path_length = (uint32_t)n;
	c->parent = parent;
	c->type = (uint8_t)type;
	c->own = 1;
	*out = t->count++;
	return TEL_OK;
}

/*
 * Flags hold for the classes below, too.  They change seldom, so they are
 * worked out again only after a change.
 */
const struct inst_class *
tel__inst_class_check(struct inst_tree *t, uint32_t number)
{
	struct inst_class *c = &t->classes[number];
	const struct inst_class *up = c;

	if (c->checked == t->generation)
		return c;
	c->on = !t->root_off;
	c->dead = 0;
	for (;;) {
		c->on &= up->own;
		c->dead |= up->disposed;
		if (up->parent == 0)
			break;
		up = &t->classes[up->parent - 1];
	}
	c->checked = t->generation;
	return c;
}

/* -------------------------------------------------------- definitions */

/* Reads the parameters.  1, or 0 when one is missing or invalid. */
static int
read_parameters(const struct tel_reader *r, const struct inst *s,
    enum inst_class_type type, int64_t *out)
{
	const enum inst_type event = tel__inst_classes[type].definition;
	const struct tel_type *t = &r->log.schema->types[event];
	struct inst_number n;
	int64_t *to = out;

	memset(out, 0, INST_PARAMETERS_MAX * sizeof(*out));
	for (unsigned i = INST_DEFINITION_FIELDS; i < t->nfields; i++) {
		if (t->fields[i].datatype == TEL_STRING)
			continue;
		unsigned key = s->from[event][i];
		const struct inst_value *v = &s->line.values[key];
		if (!inst_has(&s->line, (enum inst_key)key) ||
		    !tel__inst_integer(v, &n) || n.over ||
		    n.magnitude > (uint64_t)INT64_MAX + (n.negative != 0))
			return 0;
		*to++ = (int64_t)(n.negative ? 0 - n.magnitude : n.magnitude);
	}
	switch (type) {
	case CLASS_HIST: return out[0] < out[1] && out[2] > 0;
	case CLASS_SPLIT:
		return out[0] < out[2] && out[2] < out[3] && out[1] > 0 &&
		    out[4] > 0;
	case CLASS_TALLY: return out[0] > 0;
	default: return 1;
	}
}

/* 1 when the definition equals the one in force. */
static int
agrees(const struct inst_class *c, const struct inst_line *l,
    const int64_t *parameters)
{
	int on = !inst_has(l, I_EN) || tel__inst_unsigned(l, I_EN) != 0;

	return memcmp(c->parameters, parameters, sizeof(c->parameters)) == 0 &&
	    c->own == on;
}

/* Gives the id a meaning; too many are reported once, and ignored. */
static tel_status
give_id(struct tel_reader *r, struct inst *s, uint64_t id, uint32_t to)
{
	tel_status st = tel__inst_id_add(&s->tree.ids, id, to);

	if (st == TEL_ENOMEM)
		return st;
	if (st == TEL_ELIMIT && !(s->reported & 2)) {
		s->reported |= 2;
		tel__reader_notice(r, TEL_WARNING, s->text.offset,
		    "more than %u classes: events of those beyond have no "
		    "path",
		    INST_IDS_MAX);
	}
	return TEL_OK;
}

static tel_status
inst_class_refuse(struct tel_reader *r, struct inst *s, uint64_t id,
    const char *reason)
{
	tel__reader_notice(r, TEL_WARNING, s->text.offset,
	    "the class %llu cannot be defined: %s", (unsigned long long)id,
	    reason);
	(void)inst_ignore(s, reason);
	return give_id(r, s, id, INST_BAD_CLASS);
}

/* Sets the parent of the class.  Returns NULL, or a message. */
static const char *
make_path(struct inst *s, char *path, size_t *length, uint32_t *parent)
{
	const struct inst_line *l = &s->line;
	const struct inst_value *name = &l->values[I_NAME];
	uint64_t up = tel__inst_unsigned(l, I_PARENT);
	const struct inst_class *c;
	const char *colon;
	size_t n = 0, from;

	*parent = 0;
	if (name->n == 0)
		return "its name is empty";
	if (up != 0) {
		uint32_t at = tel__inst_class_of(&s->tree, up);

		if (at == INST_BAD_CLASS)
			return "its parent could not be defined";
		if (at == INST_NO_CLASS) {
			path[n++] = '?';
		} else {
			c = tel__inst_class_check(&s->tree, at);
			if (c->type != CLASS_PATH)
				return "its parent is not a path";
			if (c->dead)
				return "its parent was disposed of";
			memcpy(path, c->path, c->path_length);
			n = c->path_length;
			*parent = at + 1;
		}
		path[n++] = ':';
	}
	if (n + name->n > INST_PATH_MAX)
		return "its path is too long";
	unsigned char *end = tel__inst_decode(name, (unsigned char *)path + n);
	if (end == NULL)
		return "its name is invalid";
	*length = (size_t)((char *)end - path);
	for (from = n; from <= *length; from = (size_t)(colon - path) + 1) {
		colon = memchr(path + from, ':', *length - from);
		if (colon == NULL)
			colon = path + *length;
		if (colon == path + from)
			return "its name has an empty component";
	}
	return NULL;
}

/*
 * A name may be a partial path: what of it is not there becomes paths.
 * TEL_OK with *parent that of the last component, TEL_ELIMIT, TEL_ENOMEM;
 * TEL_EINVAL: there is another class.
 */
static tel_status
add_paths(struct inst_tree *t, const char *path, size_t length,
    uint32_t *parent)
{
	size_t n = *parent == 0 ? 0 : t->classes[*parent - 1].path_length + 1u;
	const char *colon;
	tel_status st;
	uint32_t at;

	for (;; n = (size_t)(colon - path) + 1) {
		colon = memchr(path + n, ':', length - n);
		if (colon == NULL)
			return TEL_OK;
		at = inst_class_at(t, path, (size_t)(colon - path));
		if (at == INST_NO_CLASS) {
			st = inst_class_add(t, path, (size_t)(colon - path),
			    *parent, CLASS_PATH, &at);
			if (st != TEL_OK)
				return st;
		}
		if (t->classes[at].type != CLASS_PATH)
			return TEL_EINVAL;
		*parent = at + 1;
	}
}

static enum inst_class_type
inst_class_type_of(const struct inst_value *v)
{
	unsigned i;

	for (i = 0; i < CLASS_OTHER; i++)
		if (inst_is(v, tel__inst_classes[i].name))
			break;
	return (enum inst_class_type)i;
}

/* The class is there already. */
static tel_status
define_again(struct tel_reader *r, struct inst *s, uint32_t at, uint64_t id,
    enum inst_class_type type, const int64_t *parameters)
{
	struct inst_class *c = &s->tree.classes[at];

	s->class_at = at;
	s->path = c->path;
	s->path_length = c->path_length;
	s->class_id = c->id;
	if (c->type != type)
		return inst_class_refuse(r, s, id,
		    "a class of another type exists");
	if (!agrees(c, &s->line, parameters) && !c->reported) {
		c->reported = 1;
		tel__reader_notice(r, TEL_WARNING, s->text.offset,
		    "the class %llu is defined again with differences, which "
		    "are ignored",
		    (unsigned long long)c->id);
	}
	return c->id == id ? TEL_OK : give_id(r, s, id, at);
}

/* Keeps the component of a trace, for its events.  0: no memory. */
static int
take_component(struct inst_class *c, const struct inst_value *v)
{
	if (!(tel__inst_classes[c->type].takes & INST_TRACES))
		return 1;
	c->component = malloc(v->n + 1u);
	if (c->component == NULL)
		return 0;
	unsigned char *end = tel__inst_decode(v, (unsigned char *)c->component);
	/* an escape that is invalid: the event of the class reports it */
	if (end == NULL)
		end = (unsigned char *)c->component;
	*end = '\0';
	return 1;
}

tel_status
tel__inst_define(struct tel_reader *r, struct inst *s, const char **why)
{
	struct inst_line *l = &s->line;
	char path[INST_PATH_MAX + 3];
	int64_t parameters[INST_PARAMETERS_MAX];
	uint32_t at, parent, known;
	size_t n = 0;
	uint64_t id = tel__inst_unsigned(l, I_ID);

	if (id == 0 || !inst_has(l, I_TYPE) || !inst_has(l, I_NAME)) {
		*why = "id=, type= and name=";
		return TEL_EDAMAGED;
	}
	s->class_id = id;
	enum inst_class_type type = inst_class_type_of(&l->values[I_TYPE]);
	s->type = tel__inst_classes[type].definition;
	const char *wrong = make_path(s, path, &n, &parent);
	known = tel__inst_class_of(&s->tree, id);
	at = wrong != NULL ? INST_NO_CLASS : inst_class_at(&s->tree, path, n);
	if (known != INST_NO_CLASS && (known != at || wrong != NULL)) {
		tel__reader_notice(r, TEL_WARNING, s->text.offset,
		    "the class %llu was defined before with another name or "
		    "type",
		    (unsigned long long)id);
		return inst_ignore(s, "the id is in use");
	}
	if (wrong == NULL && !read_parameters(r, s, type, parameters))
		wrong = "its parameters are invalid";
	if (wrong != NULL)
		return known != INST_NO_CLASS ?
		    inst_ignore(s, wrong) :
		    inst_class_refuse(r, s, id, wrong);
	if (at != INST_NO_CLASS)
		return define_again(r, s, at, id, type, parameters);
	/* a parent that is not known has a place in the path, and no class */
	int orphan = parent == 0 && tel__inst_unsigned(l, I_PARENT) != 0;
	tel_status st = orphan ? TEL_OK : add_paths(&s->tree, path, n, &parent);
	if (st == TEL_EINVAL)
		return inst_class_refuse(r, s, id,
		    "a class above it is not a path");
	if (st == TEL_OK)
		st = inst_class_add(&s->tree, path, n, parent, type, &at);
	if (st == TEL_ENOMEM)
		return st;
	if (st == TEL_ELIMIT)
		return inst_class_refuse(r, s, id,
		    "there are too many classes");
	s->class_at = at;
	struct inst_class *c = &s->tree.classes[at];
	c->id = id;
	if (inst_has(l, I_COMP) && !take_component(c, &l->values[I_COMP]))
		return TEL_ENOMEM;
	c->orphan = (uint8_t)orphan;
	memcpy(c->parameters, parameters, sizeof(parameters));
	c->own = !inst_has(l, I_EN) || tel__inst_unsigned(l, I_EN) != 0;
	s->path = c->path;
	s->path_length = c->path_length;
	return give_id(r, s, id, at);
}
