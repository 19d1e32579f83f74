/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions of classes and descriptors in an inst log.
 *
 * A class that is defined again where one of the same type is becomes that
 * one, as creating it again did; its first parameters hold.
 */
#include "format/inst/inst.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct class_def {
	const char *name;
	enum instr_type event;
	uint8_t parameters[6]; /* enum instr_key; 0 ends them */
} defs[CLASS_TYPES] = {
	[CLASS_PATH] = { "path", T_PATH, { 0 } },
	[CLASS_TRACE] = { "trace", T_TRACE_CLASS, { 0 } },
	[CLASS_STRACE] = { "strace", T_SUMMARY, { 0 } },
	[CLASS_MAG] = { "mag", T_MAGNITUDE, { 0 } },
	[CLASS_GROWTH] = { "growth", T_GROWTH, { 0 } },
	[CLASS_HIST] = { "hist", T_HISTOGRAM, { I_LO, I_HI, I_W } },
	[CLASS_SPLIT] = { "split", T_SPLIT,
	    { I_LO, I_W1, I_KNEE, I_HI, I_W2 } },
	[CLASS_TALLY] = { "tally", T_TALLY, { I_MAX } },
	[CLASS_LOG2] = { "log2", T_LOG2, { I_K } },
	[CLASS_LOGLIN] = { "loglin", T_LOGLIN,
	    { I_FACTOR, I_LOW, I_HIGH, I_STEPS } },
	[CLASS_QUANTILES] = { "quantiles", T_QUANTILES, { I_BITS } },
	[CLASS_OTHER] = { "", T_UNKNOWN_CLASS, { 0 } },
};

/* Reads the parameters.  1, or 0 when one is missing or makes no sense. */
static int
read_parameters(const struct instr_line *l, enum instr_class_type type,
    int64_t *out)
{
	const uint8_t *keys = defs[type].parameters;
	struct instr_number n;
	unsigned i;

	for (i = 0; i < 5; i++) {
		out[i] = 0;
		if (keys[i] == 0)
			continue;
		if (!instr_has(l, (enum instr_key)keys[i]) ||
		    !tel__instr_integer(&l->values[keys[i]], &n) || n.over ||
		    n.magnitude > INT64_MAX)
			return 0;
		out[i] =
		    n.negative ? -(int64_t)n.magnitude : (int64_t)n.magnitude;
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

/* 1 when the definition says the same as the one that holds. */
static int
agrees(const struct instr_class *c, const struct instr_line *l,
    const int64_t *parameters)
{
	int on = !instr_has(l, I_EN) || tel__instr_unsigned(l, I_EN) != 0;

	return memcmp(c->parameters, parameters, sizeof(c->parameters)) == 0 &&
	    c->own == on;
}

/* Gives the id a meaning; what is too much is told once, and passed on. */
static tel_status
give_id(struct tel_reader *r, struct instr *s, uint64_t id, uint32_t to)
{
	tel_status st = tel__instr_ids_add(&s->tree.ids, s->tree.seed, id, to);

	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st == TEL_ELIMIT && !(s->told & 2)) {
		s->told |= 2;
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "more than %u classes: events of those beyond have no "
		    "path",
		    INSTR_IDS_MAX);
	}
	return TEL_OK;
}

static tel_status
refuse(struct tel_reader *r, struct instr *s, uint64_t id, const char *reason)
{
	tel__reader_notice(r, TEL_WARNING, s->offset,
	    "the class %llu cannot be defined so: %s", (unsigned long long)id,
	    reason);
	(void)tel__instr_ignore(s, reason);
	return give_id(r, s, id, INSTR_BAD_CLASS);
}

/* Where the class is to be; what is wrong with that, or NULL. */
static const char *
make_path(struct instr *s, char *path, size_t *length, uint32_t *parent)
{
	const struct instr_line *l = &s->line;
	const struct instr_value *name = &l->values[I_NAME];
	uint64_t up = tel__instr_unsigned(l, I_PARENT);
	const struct instr_class *c;
	unsigned char *end;
	size_t n = 0;

	*parent = 0;
	if (name->n == 0)
		return "its name is empty";
	if (up != 0) {
		uint32_t at = tel__instr_class_of(&s->tree, up);

		if (at == INSTR_BAD_CLASS)
			return "its parent could not be defined";
		if (at == INSTR_NO_CLASS) {
			path[n++] = '?';
		} else {
			c = tel__instr_class_check(&s->tree, at);
			if (c->type != CLASS_PATH)
				return "its parent is no path";
			if (c->dead)
				return "its parent was disposed of";
			memcpy(path, c->path, c->path_length);
			n = c->path_length;
			*parent = at + 1;
		}
		path[n++] = ':';
	}
	if (n + name->n > INSTR_PATH_MAX)
		return "its path is too long";
	end = tel__instr_decode(name, (unsigned char *)path + n);
	if (end == NULL)
		return "its name makes no sense";
	*length = (size_t)((char *)end - path);
	if (memchr(path + n, ':', *length - n) != NULL)
		return "its name holds a colon";
	return NULL;
}

static enum instr_class_type
type_of(const struct instr_value *v)
{
	unsigned i;

	for (i = 0; i < CLASS_OTHER; i++)
		if (instr_is(v, defs[i].name))
			break;
	return (enum instr_class_type)i;
}

/* The class is there already. */
static tel_status
define_again(struct tel_reader *r, struct instr *s, uint32_t at, uint64_t id,
    enum instr_class_type type, const int64_t *parameters)
{
	struct instr_class *c = &s->tree.classes[at];

	s->path = c->path;
	s->path_length = c->path_length;
	s->class_id = c->id;
	if (c->type != type)
		return refuse(r, s, id, "a class of another type is there");
	if (!agrees(c, &s->line, parameters) && !c->told) {
		c->told = 1;
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "the class %llu is defined again, and differently: the "
		    "first definition holds",
		    (unsigned long long)c->id);
	}
	return c->id == id ? TEL_OK : give_id(r, s, id, at);
}

tel_status
tel__instr_define(struct tel_reader *r, struct instr *s, const char **why)
{
	struct instr_line *l = &s->line;
	char path[INSTR_PATH_MAX + 3];
	int64_t parameters[5];
	enum instr_class_type type;
	struct instr_class *c;
	uint32_t at, parent, known;
	const char *wrong;
	size_t n = 0;
	uint64_t id;
	tel_status st;

	id = tel__instr_unsigned(l, I_ID);
	if (id == 0 || !instr_has(l, I_TYPE) || !instr_has(l, I_NAME)) {
		*why = "id=, type= and name=";
		return TEL_EDAMAGED;
	}
	s->class_id = id;
	type = type_of(&l->values[I_TYPE]);
	s->type = defs[type].event;
	wrong = make_path(s, path, &n, &parent);
	known = tel__instr_class_of(&s->tree, id);
	at = wrong != NULL ? INSTR_NO_CLASS :
	                     tel__instr_class_at(&s->tree, path, n);
	if (known != INSTR_NO_CLASS && (known != at || wrong != NULL)) {
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "the class %llu was defined before as another",
		    (unsigned long long)id);
		return tel__instr_ignore(s, "the id is in use");
	}
	if (wrong == NULL && !read_parameters(l, type, parameters))
		wrong = "its parameters make no sense";
	if (wrong != NULL)
		return known != INSTR_NO_CLASS ? tel__instr_ignore(s, wrong) :
		                                 refuse(r, s, id, wrong);
	if (at != INSTR_NO_CLASS)
		return define_again(r, s, at, id, type, parameters);
	st = tel__instr_class_add(&s->tree, path, n, parent, type, &at);
	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st == TEL_ELIMIT)
		return refuse(r, s, id, "there are too many classes");
	c = &s->tree.classes[at];
	c->id = id;
	memcpy(c->parameters, parameters, sizeof(parameters));
	c->own = !instr_has(l, I_EN) || tel__instr_unsigned(l, I_EN) != 0;
	s->path = c->path;
	s->path_length = c->path_length;
	return give_id(r, s, id, at);
}

tel_status
tel__instr_describe(struct tel_reader *r, struct instr *s, const char **why)
{
	const struct instr_line *l = &s->line;
	const struct instr_value *format = &l->values[I_FMT];
	uint64_t id = tel__instr_unsigned(l, I_ID);
	struct instr_descriptor *d;
	unsigned char *end;
	uint32_t at, room;

	if (id == 0 || !instr_has(l, I_FMT)) {
		*why = "id= and fmt=";
		return TEL_EDAMAGED;
	}
	s->type = T_DESCRIPTOR;
	if (tel__instr_ids_find(&s->descriptor_ids, s->tree.seed, id, &at))
		return tel__instr_ignore(s, "the id is in use");
	if (s->descriptor_bytes + format->n > INSTR_POOL_MAX ||
	    s->ndescriptors == INSTR_IDS_MAX)
		return tel__instr_ignore(s, "there are too many descriptors");
	if (s->ndescriptors == s->descriptor_room) {
		room = s->descriptor_room == 0 ? 16 : s->descriptor_room * 2;
		d = realloc(s->descriptors, room * sizeof(*d));
		if (d == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		s->descriptors = d;
		s->descriptor_room = room;
	}
	d = &s->descriptors[s->ndescriptors];
	d->format = malloc(format->n + 1u);
	if (d->format == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	end = tel__instr_decode(format, d->format);
	if (end == NULL ||
	    tel__instr_ids_add(&s->descriptor_ids, s->tree.seed, id,
	        s->ndescriptors) != TEL_OK) {
		free(d->format);
		*why = "a string that makes sense";
		if (end == NULL)
			return TEL_EDAMAGED;
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	d->length = (uint32_t)(end - d->format);
	d->refused = !tel__instr_format_good(d->format, d->length);
	if (d->refused)
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "the format of descriptor %llu is refused: values are "
		    "shown as they are",
		    (unsigned long long)id);
	s->ndescriptors++;
	s->descriptor_bytes += format->n;
	return TEL_OK;
}
