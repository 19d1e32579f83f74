/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiling the classes of fields of a trace. */
#include "format/ctf/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The longest name of a field. */
#define NAME_MAX 200u

/* A field by its name, in the structure around it: what paths find. */
struct ctf_place {
	const char *name;
	const struct ctf_class *class;
	struct ctf_step *number; /* its step, if it is an integer */
	struct ctf_place *parent, *first, *next;
	struct ctf_place **last;
};

/* What roles the fields of CTF 1.8 have by their names. */
static const struct {
	enum ctf_scope scope;
	const char *name;
	unsigned role;
} named[] = {
	{ CTF_PACKET_HEADER, "magic", CTF_ROLE_MAGIC },
	{ CTF_PACKET_HEADER, "stream_id", CTF_ROLE_STREAM_CLASS },
	{ CTF_PACKET_HEADER, "stream_instance_id", CTF_ROLE_STREAM },
	{ CTF_PACKET_CONTEXT, "packet_size", CTF_ROLE_PACKET_SIZE },
	{ CTF_PACKET_CONTEXT, "content_size", CTF_ROLE_CONTENT_SIZE },
	{ CTF_PACKET_CONTEXT, "timestamp_begin", CTF_ROLE_CLOCK },
	{ CTF_PACKET_CONTEXT, "timestamp_end", CTF_ROLE_END_CLOCK },
	{ CTF_PACKET_CONTEXT, "events_discarded", CTF_ROLE_DISCARDED },
	{ CTF_PACKET_CONTEXT, "packet_seq_num", CTF_ROLE_SEQUENCE },
	{ CTF_EVENT_HEADER, "id", CTF_ROLE_EVENT_CLASS },
};

static int compile_class(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last);

void
tel__ctf_compile_start(struct ctf_compiler *c, struct ctf_metadata *m,
    struct ctf_error *error)
{
	memset(c, 0, sizeof(*c));
	c->m = m;
	c->error = error;
	c->nslots = 1;
	/* the header of a record has the first bits of presence */
	c->head = CTF_HEADER;
}

static int
compile_fail(struct ctf_compiler *c, const char *what, const char *name)
{
	return tel__ctf_error(c->error, 0, "%s%.60s", what,
	    name != NULL ? name : "");
}

static void *
compile_alloc(struct ctf_compiler *c, size_t n)
{
	void *p = tel__arena_alloc(&c->m->arena, n);

	if (p == NULL)
		compile_fail(c, "out of memory", "");
	return p;
}

/* ------------------------------------------------------------------ places */

/* Adds a place in the structure that is compiled, and makes it that. */
static struct ctf_place *
place_open(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class)
{
	struct ctf_place *p = compile_alloc(c, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->name = name;
	p->class = class;
	p->parent = c->at;
	p->last = &p->first;
	if (c->at != NULL) {
		*c->at->last = p;
		c->at->last = &p->next;
	}
	c->at = p;
	return p;
}

/* What a path has found. */
struct found {
	unsigned slot; /* of all numbers found; 0: none so far */
	const struct ctf_class *class;
};

/* Gives the number of a place the slot of the path, and that one a slot. */
static int
found_number(struct ctf_compiler *c, struct found *f, struct ctf_step *number)
{
	if (f->slot == 0)
		f->slot = number->slot;
	if (f->slot == 0) {
		if (c->nslots == CTF_SLOTS_MAX)
			return compile_fail(c, "too many lengths and selectors",
			    "");
		f->slot = c->nslots++;
	}
	/* one that has a slot already is found there by what used it before */
	if (number->slot != 0 && number->slot != f->slot)
		return compile_fail(c,
		    "a field that is the length or selector of different "
		    "others",
		    "");
	number->slot = (uint16_t)f->slot;
	f->class = number->class;
	return 1;
}

/*
 * Finds what a path leads to from the place p on, whose name was the step
 * before number i.  A variant leads to all of its options.  0: failed.
 */
static int
place_find(struct ctf_compiler *c, struct ctf_place *p,
    const struct ctf_path *path, unsigned i, struct found *f)
{
	struct ctf_place *q;
	int matched = 0;

	if (i == path->count && p->number != NULL)
		return found_number(c, f, p->number);
	for (q = p->first; q != NULL && i < path->count; q = q->next)
		if (path->steps[i] != NULL && q->name != NULL &&
		    strcmp(q->name, path->steps[i]) == 0) {
			matched = 1;
			if (!place_find(c, q, path, i + 1, f))
				return 0;
		}
	if (matched || p->class == NULL || p->class->kind == CTF_STRUCT)
		return 1;
	for (q = p->first; q != NULL; q = q->next)
		if (!place_find(c, q, path, i, f))
			return 0;
	return 1;
}

/* The structure that a place is, or is in; or NULL. */
static struct ctf_place *
place_struct(struct ctf_place *p)
{
	/* other options of a variant, and other elements, are not around it */
	while (p != NULL && p->class->kind != CTF_STRUCT)
		p = p->parent;
	return p;
}

/* The slot of what a path leads to.  0: failed. */
static unsigned
ctf_program_find_slot(struct ctf_compiler *c, const struct ctf_path *path,
    const struct ctf_class **class)
{
	struct found f = { 0, NULL };
	struct ctf_place *p = c->at;
	unsigned i = 0;

	if (path->count == 0) {
		compile_fail(c, "a variant without a tag", "");
		return 0;
	}
	if (path->scope != CTF_RELATIVE) {
		p = c->roots[path->scope];
		if (p == NULL || !place_find(c, p, path, 0, &f))
			p = NULL;
	} else {
		p = place_struct(p);
		/* CTF 2 counts the structures to leave */
		while (p != NULL && i < path->count && path->steps[i] == NULL) {
			p = place_struct(p->parent);
			i++;
		}
		for (; p != NULL && f.slot == 0; p = place_struct(p->parent))
			if (!place_find(c, p, path, i, &f))
				return 0;
	}
	if (f.slot == 0)
		compile_fail(c, "no integer to be a length or selector: ",
		    path->steps[path->count - 1]);
	*class = f.class;
	return f.slot;
}

/* ------------------------------------------------------------------ leaves */

/* Joins two names by a dot. */
static const char *
join_names(struct ctf_compiler *c, const char *a, const char *b)
{
	char text[NAME_MAX];

	if (a == NULL || *a == '\0' || b == NULL)
		return b != NULL ? b : a;
	snprintf(text, sizeof(text), "%s.%s", a, b);
	return tel__arena_string(&c->m->arena, text, strlen(text));
}

/* Adds a field of size bytes to the head.  Returns its place. */
static uint32_t
add_leaf(struct ctf_compiler *c, const char *name, enum tel_datatype datatype,
    enum tel_load load, enum tel_datatype element, uint32_t size)
{
	struct ctf_leaf *l;

	if (c->in_text || c->nleaves == CTF_FIELDS_MAX) {
		c->dropped += !c->in_text;
		return CTF_NOWHERE;
	}
	l = compile_alloc(c, sizeof(*l));
	if (l == NULL)
		return CTF_NOWHERE;
	l->name = name != NULL ? name : "?";
	l->datatype = datatype;
	l->element = element;
	l->load = load;
	l->offset = c->head;
	l->present_at = c->option_at;
	l->present = c->option;
	l->from_context = c->scope != CTF_PAYLOAD;
	l->next = c->leaves;
	c->leaves = l;
	c->nleaves++;
	c->head += size;
	return l->offset;
}

/* How a number lies in a record. */
static const struct shape {
	uint8_t bits; /* at most */
	uint8_t is_signed, is_float;
	enum tel_load load;
	uint8_t width;
} shapes[] = { { 8, 0, 0, TEL_LOAD_U8, 8 }, { 16, 0, 0, TEL_LOAD_LE16, 16 },
	{ 32, 0, 0, TEL_LOAD_LE32, 32 }, { 255, 0, 0, TEL_LOAD_LE64, 64 },
	{ 16, 1, 0, TEL_LOAD_LE16S, 16 }, { 32, 1, 0, TEL_LOAD_LE32S, 32 },
	{ 255, 1, 0, TEL_LOAD_LE64, 64 }, { 32, 0, 1, TEL_LOAD_LEF32, 32 },
	{ 255, 0, 1, TEL_LOAD_LE64, 64 } };

static const struct shape *
shape_of(const struct ctf_class *class)
{
	const int is_float = class->kind == CTF_FLOAT;
	const unsigned bits = class->kind == CTF_VARINT ? 64 :
	    class->size > 255                           ? 255 :
	                                                  class->size;
	const struct shape *s = shapes;

	while (s->is_float != is_float ||
	    s->is_signed != (is_float ? 0 : class->is_signed) || s->bits < bits)
		s++;
	return s;
}

static enum tel_datatype
datatype_of(const struct ctf_class *class)
{
	if (class->kind == CTF_FLOAT)
		return TEL_DOUBLE;
	if (class->is_boolean)
		return TEL_BOOLEAN;
	if (class->is_signed)
		return TEL_SIGNED;
	if (class->base != 10)
		return class->base == 16 && class->size == 64 ? TEL_ADDRESS :
		                                                TEL_SET;
	return TEL_UNSIGNED;
}

/* A bit that is set if an option or a label is present. */
static void
add_presence(struct ctf_compiler *c, uint32_t *at, uint8_t *bit)
{
	*at = 0;
	*bit = 0;
	if (c->in_text)
		return;
	if (c->present == 8) {
		if (c->head >= CTF_HEAD_MAX / 2)
			compile_fail(c, "too many options of variants", "");
		c->present_at = c->head++;
		c->present = 0;
	}
	*at = c->present_at;
	*bit = (uint8_t)(1u << c->present++);
	c->has_choice = 1;
}

/* ------------------------------------------------------------------- steps */

static struct ctf_step *
add_step(struct ctf_compiler *c, enum ctf_step_kind kind,
    const struct ctf_class *class, struct ctf_step ***last)
{
	struct ctf_step *s = compile_alloc(c, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->kind = kind;
	s->class = class;
	s->to = s->label_to = CTF_NOWHERE;
	**last = s;
	*last = &s->next;
	return s;
}

static int
add_align(struct ctf_compiler *c, uint32_t bits, struct ctf_step ***last)
{
	if (bits <= 1 || (bits == 8 && c->aligned))
		return 1;
	struct ctf_step *s = add_step(c, STEP_ALIGN, NULL, last);
	if (s == NULL)
		return 0;
	s->size = bits;
	c->aligned = bits >= 8 || c->aligned;
	return 1;
}

static unsigned
ctf_program_role_of(const struct ctf_compiler *c, const char *name,
    const struct ctf_class *class)
{
	if (c->m->version == 2)
		return class->roles;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (named[i].scope == c->scope && name != NULL &&
		    strcmp(named[i].name, name) == 0)
			return named[i].role;
	return 0;
}

/*
 * The clock of a time that names none, as the first versions of LTTng wrote it:
 * the one that the trace has, or of nanoseconds.
 */
static const struct ctf_clock *
implied_clock(const struct ctf_compiler *c, const struct ctf_class *class)
{
	static const struct ctf_clock nanoseconds = { .frequency = 1000000000 };
	const struct ctf_clock *clock = c->m->clocks;
	const char *name = c->scope == CTF_EVENT_HEADER ? "timestamp" :
	    c->scope == CTF_PACKET_CONTEXT              ? "timestamp_begin" :
	                                                  "";

	if (c->m->version != 1 || class->kind != CTF_INTEGER ||
	    c->at->name == NULL || strcmp(c->at->name, name) != 0)
		return NULL;
	if (clock == NULL)
		return &nanoseconds;
	return clock->next == NULL ? clock : NULL;
}

static int
compile_number(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	const struct shape *shape = shape_of(class);
	struct ctf_step *s = add_step(c, STEP_NUMBER, class, last);
	unsigned role = ctf_program_role_of(c, c->at->name, class);

	if (s == NULL)
		return 0;
	s->width = shape->width;
	s->is_aligned = (uint8_t)c->aligned;
	s->roles = role;
	s->clock =
	    class->clock != NULL ? class->clock : implied_clock(c, class);
	if (c->m->version == 2 && (role & CTF_ROLE_CLOCK) != 0)
		s->clock = c->clock;
	if ((role & CTF_ROLE_END_CLOCK) != 0)
		s->clock = NULL;
	if (class->kind != CTF_FLOAT)
		c->at->number = s;
	/* events of any type may refer to these */
	if (c->scope <= CTF_EVENT_HEADER && c->nslots < CTF_SLOTS_MAX)
		s->slot = (uint16_t)c->nslots++;
	/* the packet's own fields are of no use in each event */
	if (role != 0)
		return 1;
	s->to = add_leaf(c, name, datatype_of(class), shape->load, TEL_UNSIGNED,
	    shape->width / 8u);
	if (class->is_enum && s->to != CTF_NOWHERE && !c->in_text) {
		s->label_to = add_leaf(c, join_names(c, name, "label"),
		    TEL_STRING, TEL_LOAD_STRING_AT, TEL_UNSIGNED, 4);
		if (s->label_to != CTF_NOWHERE) {
			add_presence(c, &s->labelled_at, &s->labelled);
			c->leaves->is_label = 1;
			c->leaves->present_at = s->labelled_at;
			c->leaves->present = s->labelled;
		}
	}
	return c->error->text[0] == '\0';
}

static int
compile_bytes(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	const struct ctf_class *length;
	struct ctf_step *s = add_step(c,
	    class->kind == CTF_STRING ? STEP_STRING : STEP_BYTES, class, last);

	if (s == NULL)
		return 0;
	if (class->path.count > 0) {
		s->from =
		    (uint16_t)ctf_program_find_slot(c, &class->path, &length);
		if (s->from == 0)
			return 0;
	}
	if ((class->roles & CTF_ROLE_UUID) == 0)
		s->to = add_leaf(c, name, TEL_STRING, TEL_LOAD_STRING_AT,
		    TEL_UNSIGNED, 4);
	return c->error->text[0] == '\0';
}

static int
compile_members(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	const struct ctf_member *m;

	for (m = class->members; m != NULL; m = m->next) {
		struct ctf_place *around = c->at;

		if (place_open(c, m->name, m->class) == NULL ||
		    !compile_class(c,
		        c->in_text ? m->name : join_names(c, name, m->name),
		        m->class, last))
			return 0;
		c->at = around;
	}
	return 1;
}

/* A structure, whose members are fields of the record. */
static int
compile_struct(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	if (!c->in_text)
		return compile_members(c, name, class, last);
	struct ctf_step *s = add_step(c, STEP_STRUCT, class, last);
	if (s == NULL)
		return 0;
	struct ctf_step **inner = &s->body;
	return compile_members(c, name, class, &inner);
}

/* Has what a step and those behind it give become a text in the record. */
static int
compile_text(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	struct ctf_step *s = add_step(c, STEP_TEXT, class, last);

	if (s == NULL)
		return 0;
	s->to =
	    add_leaf(c, name, TEL_STRING, TEL_LOAD_STRING_AT, TEL_UNSIGNED, 4);
	struct ctf_step **inner = &s->body;
	c->in_text = 1;
	int good = compile_class(c, NULL, class, &inner);
	c->in_text = 0;
	return good;
}

/* Nonzero when lists of the class are lists of the model. */
static int
is_list_element(const struct ctf_class *class)
{
	switch (class->kind) {
	case CTF_INTEGER:
	case CTF_VARINT: return !class->is_enum;
	case CTF_FLOAT:
	case CTF_STRING: return 1;
	case CTF_BYTES: return class->path.count == 0;
	default: return 0;
	}
}

/* The field of a list.  width: set to that of an element, 0: a string. */
static uint32_t
ctf_program_add_list(struct ctf_compiler *c, const char *name,
    const struct ctf_class *element, uint8_t *width)
{
	if (element->kind == CTF_STRING || element->kind == CTF_BYTES) {
		*width = 0;
		return add_leaf(c, name, TEL_LIST, TEL_LOAD_STRING, TEL_STRING,
		    8);
	}
	const struct shape *shape = shape_of(element);
	*width = shape->width;
	return add_leaf(c, name, TEL_LIST, shape->load, datatype_of(element),
	    8);
}

/* The UUID in the header of packets of CTF 1.8: 16 bytes of an array. */
static int
is_uuid(const struct ctf_compiler *c, const struct ctf_class *class)
{
	return c->m->version == 1 && c->scope == CTF_PACKET_HEADER &&
	    class->length == 16 && class->path.count == 0 &&
	    class->element->kind == CTF_INTEGER && class->element->size == 8 &&
	    class->element->align == 8 && c->at->name != NULL &&
	    strcmp(c->at->name, "uuid") == 0;
}

static int
compile_uuid(struct ctf_compiler *c, struct ctf_step ***last)
{
	struct ctf_class *blob = tel__ctf_class(c->m, CTF_BYTES);

	if (blob == NULL)
		return compile_fail(c, "out of memory", "");
	blob->length = 16;
	blob->roles = CTF_ROLE_UUID;
	return add_step(c, STEP_BYTES, blob, last) != NULL;
}

static int
compile_array(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	const struct ctf_class *length;
	struct ctf_place *around = c->at;
	struct ctf_step *s;
	int listed = is_list_element(class->element);

	if (is_uuid(c, class))
		return compile_uuid(c, last);
	if (!c->in_text && !listed)
		return compile_text(c, name, class, last);
	s = add_step(c, c->in_text ? STEP_ARRAY : STEP_LIST, class, last);
	if (s == NULL)
		return 0;
	if (class->path.count > 0) {
		c->at = around->parent;
		s->from =
		    (uint16_t)ctf_program_find_slot(c, &class->path, &length);
		c->at = around;
		if (s->from == 0)
			return 0;
	}
	c->aligned = 0;
	struct ctf_step **inner = &s->body;
	if (!c->in_text) {
		s->to =
		    ctf_program_add_list(c, name, class->element, &s->width);
		c->in_text = 1;
	}
	if (place_open(c, NULL, class->element) == NULL ||
	    !compile_class(c, NULL, class->element, &inner))
		return 0;
	c->in_text = s->kind == STEP_ARRAY;
	c->at = around;
	c->aligned = 0;
	return c->error->text[0] == '\0';
}

/* Adds the option m of a CHOICE, for values in a range. */
static int
add_option(struct ctf_compiler *c, const struct ctf_range *range,
    const struct ctf_option *compiled, struct ctf_option ***last)
{
	struct ctf_option *o = compile_alloc(c, sizeof(*o));

	if (o == NULL)
		return 0;
	*o = *compiled;
	o->range = *range;
	o->next = NULL;
	**last = o;
	*last = &o->next;
	return 1;
}

/* Compiles the body of an option. */
static int
compile_option(struct ctf_compiler *c, const char *name, const char *option,
    const struct ctf_class *class, struct ctf_option *out)
{
	struct ctf_place *around = c->at;
	const uint32_t at = c->option_at;
	const uint8_t bit = c->option;
	const int aligned = c->aligned;
	struct ctf_step **inner = &out->body;

	memset(out, 0, sizeof(*out));
	add_presence(c, &out->present_at, &out->present);
	c->option_at = out->present_at;
	c->option = out->present;
	if (place_open(c, option, class) == NULL ||
	    !compile_class(c,
	        c->in_text         ? NULL :
	            option != NULL ? join_names(c, name, option) :
	                             name,
	        class, &inner))
		return 0;
	c->at = around;
	c->option_at = at;
	c->option = bit;
	c->aligned = aligned;
	return 1;
}

/* The option of CTF 1.8 that a label chooses: as a field, without its "_". */
static const char *
label_option(const struct ctf_label *l)
{
	return l->name + (l->name[0] == '_' && l->name[1] != '\0');
}

static int
compare_choices(const void *a, const void *b)
{
	return strcmp(label_option(*(const struct ctf_label *const *)a),
	    label_option(*(const struct ctf_label *const *)b));
}

/* The labels of a tag, by the options that they choose. */
static const struct ctf_label **
sort_labels(struct ctf_compiler *c, const struct ctf_label *list, size_t *n)
{
	const struct ctf_label *l, **sorted;

	*n = 0;
	for (l = list; l != NULL; l = l->next)
		++*n;
	sorted = compile_alloc(c, (*n + 1) * sizeof(*sorted));
	for (l = list; l != NULL && sorted != NULL; l = l->next)
		*sorted++ = l;
	if (sorted == NULL)
		return NULL;
	qsort(sorted - *n, *n, sizeof(*sorted), compare_choices);
	return sorted - *n;
}

/* Nonzero for what CTF 1.8 has for an optional field: see write.c. */
static int
ctf_program_is_optional(const struct ctf_class *class)
{
	const struct ctf_member *none = class->members, *some;

	some = none != NULL ? none->next : NULL;
	return some != NULL && some->next == NULL && none->name != NULL &&
	    some->name != NULL && strcmp(none->name, "none") == 0 &&
	    strcmp(some->name, "some") == 0 &&
	    none->class->kind == CTF_STRUCT && none->class->members == NULL;
}

static int
compile_variant(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step *s,
    const struct ctf_class *tag)
{
	struct ctf_option **last = &s->options;
	const struct ctf_member *m;
	const struct ctf_label *l, **labels;
	struct ctf_option compiled;
	size_t n, at, high, middle;

	labels = sort_labels(c, tag->labels, &n);
	for (m = class->members; m != NULL && labels != NULL; m = m->next) {
		if (!compile_option(c, name,
		        ctf_program_is_optional(class) ? NULL : m->name,
		        m->class, &compiled))
			return 0;
		for (l = m->ranges; l != NULL; l = l->next)
			if (!add_option(c, &l->range, &compiled, &last))
				return 0;
		if (c->m->version == 2)
			continue;
		at = 0;
		high = n;
		TEL__BISECT(at, high, middle,
		    strcmp(label_option(labels[middle]), m->name) < 0);
		for (; at < n && strcmp(label_option(labels[at]), m->name) == 0;
		     at++)
			if (!add_option(c, &labels[at]->range, &compiled,
			        &last))
				return 0;
	}
	return labels != NULL;
}

static int
compile_choice(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	static const struct ctf_range any = { 1, UINT64_MAX };
	struct ctf_step *s = add_step(c, STEP_CHOICE, class, last);
	struct ctf_place *around = c->at;
	const struct ctf_class *tag = NULL;
	struct ctf_option **end;
	struct ctf_option compiled;
	const struct ctf_label *l;

	if (s == NULL)
		return 0;
	c->at = around->parent;
	s->from = (uint16_t)ctf_program_find_slot(c, &class->path, &tag);
	c->at = around;
	if (s->from == 0)
		return 0;
	s->is_signed = tag->is_signed;
	s->optional = class->kind == CTF_OPTIONAL;
	if (c->m->version == 1 && tag->labels == NULL)
		return compile_fail(c, "the tag of a variant is not an enum: ",
		    class->path.steps[class->path.count - 1]);
	if (!s->optional) {
		if (!compile_variant(c, name, class, s, tag))
			return 0;
	} else {
		if (!compile_option(c, name, NULL, class->element, &compiled))
			return 0;
		end = &s->options;
		for (l = class->ranges; l != NULL; l = l->next)
			if (!add_option(c, &l->range, &compiled, &end))
				return 0;
		if (class->ranges == NULL) {
			s->is_signed = 0;
			if (!add_option(c, &any, &compiled, &end))
				return 0;
		}
	}
	c->aligned = 0;
	return 1;
}

static int
compile_class(struct ctf_compiler *c, const char *name,
    const struct ctf_class *class, struct ctf_step ***last)
{
	if (c->depth == CTF_DEPTH_MAX)
		return compile_fail(c, "types are nested too deep", "");
	c->depth++;
	int good = add_align(c, class->align, last);
	switch (class->kind) {
	case CTF_INTEGER:
	case CTF_FLOAT:
		good = good && compile_number(c, name, class, last);
		c->aligned = c->aligned && class->size % 8 == 0;
		break;
	case CTF_VARINT:
		good = good && compile_number(c, name, class, last);
		break;
	case CTF_STRING:
	case CTF_BYTES:
		if (good) {
			struct ctf_place *around = c->at;

			c->at = around->parent;
			good = compile_bytes(c, name, class, last);
			c->at = around;
		}
		break;
	case CTF_STRUCT:
		good = good && compile_struct(c, name, class, last);
		break;
	case CTF_ARRAY:
		good = good && compile_array(c, name, class, last);
		break;
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		good = good && compile_choice(c, name, class, last);
		break;
	}
	c->depth--;
	return good && c->error->text[0] == '\0';
}

/* Nonzero when a number lies in the record as in the trace. */
static int
is_copy(const struct ctf_step *s, int big)
{
	const struct ctf_class *class = s->class;

	return s->kind == STEP_NUMBER && s->is_aligned && s->slot == 0 &&
	    s->roles == 0 && s->clock == NULL && s->to != CTF_NOWHERE &&
	    s->label_to == CTF_NOWHERE && class->kind != CTF_VARINT &&
	    class->size == s->width && !class->reversed && !class->is_boolean &&
	    (s->width == 8 ||
	        !(class->order == CTF_BIG ||
	            (class->order == CTF_NATIVE && big)));
}

void
tel__ctf_join_copies(struct ctf_step *s, int big)
{
	for (; s != NULL; s = s->next) {
		if (!is_copy(s, big))
			continue;
		s->kind = STEP_COPY;
		s->size = s->width / 8u;
		while (s->next != NULL && is_copy(s->next, big) &&
		    s->next->to == s->to + s->size) {
			s->size += s->next->width / 8u;
			s->next = s->next->next;
		}
	}
}

int
tel__ctf_compile(struct ctf_compiler *c, enum ctf_scope scope,
    const struct ctf_class *class, int shown, struct ctf_step ***last)
{
	if (class == NULL)
		return 1;
	c->scope = scope;
	c->at = NULL;
	c->aligned = 0;
	c->in_text = !shown;
	c->roots[scope] = place_open(c, NULL, class);
	if (c->roots[scope] == NULL || !add_align(c, class->align, last) ||
	    !compile_members(c, NULL, class, last))
		return 0;
	c->in_text = 0;
	return 1;
}
