/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks: a tree of the names of frames. */
#include <stdlib.h>

#include "base/array.h"
#include "model/allocator.h"
#include "model/stacks.h"

/* Distinct frames; all others count as one more. */
#define NODES_MAX ((size_t)1 << 24)
/* Documented limit: frames of a stack that are shown, the innermost ones. */
#define DEPTH_MAX 4096
/* Bytes of a name. */
#define NAME_MAX_BYTES 4096

/* Frames that are inlined into others are one label, the innermost first. */
static const char inlined[] = " <- ";
/* In front of a frame's file and line. */
static const char at_line[] = " at ";
/* The frame of all beyond that limit. */
static const char others[] = "<other stacks>";

int
tel__stacks_init(struct tel__stacks *s)
{
	memset(s, 0, sizeof(*s));
	tel__table_init(&s->children);
	if (!TEL__RESERVE_ZEROED(s->nodes, s->node_room, 1))
		return 0;
	s->nnodes = 1;
	return 1;
}

void
tel__stacks_end(struct tel__stacks *s)
{
	for (size_t i = 0; i < s->nlogs; i++)
		free(s->logs[i].nodes);
	s->nlogs = s->last_log = 0;
}

void
tel__stacks_clear(struct tel__stacks *s)
{
	tel__stacks_end(s);
	tel__table_clear(&s->children);
	tel__names_clear(&s->names);
	free(s->nodes);
	free(s->logs);
	free(s->path);
	free(s->text);
}

uint32_t
tel__stacks_intern(struct tel__stacks *s, const char *text, size_t n)
{
	if (n > NAME_MAX_BYTES)
		n = NAME_MAX_BYTES;
	/* TEL__NOWHERE and 1 is 0 */
	return tel__names_add(&s->names, text, n, NODES_MAX) + 1;
}

uint32_t
tel__stacks_child(struct tel__stacks *s, uint32_t parent, uint32_t name)
{
	struct tel__entry *e;
	int fresh;

	if (s->nnodes >= NODES_MAX) {
		name = tel__stacks_intern(s, others, sizeof(others) - 1);
		parent = 0;
	}
	if (name == 0 || !TEL__RESERVE(s->nodes, s->node_room, s->nnodes + 1) ||
	    (e = tel__table_put(&s->children, (uint64_t)parent << 32 | name,
	         &fresh)) == NULL)
		return 0;
	if (fresh) {
		e->value = s->nnodes;
		s->nodes[s->nnodes].parent = parent;
		s->nodes[s->nnodes].name = name - 1;
		s->nodes[s->nnodes++].user = 0;
	}
	return (uint32_t)e->value;
}

uint32_t
tel__stacks_name(struct tel__stacks *s, uint32_t parent, const char *text,
    size_t n)
{
	return tel__stacks_child(s, parent, tel__stacks_intern(s, text, n));
}

/* The first of n bytes at text that are what; NULL: none. */
static const char *
find_text(const char *text, size_t n, const char *what, size_t length)
{
	for (size_t i = 0; i + length <= n; i++)
		if (text[i] == what[0] && memcmp(text + i, what, length) == 0)
			return text + i;
	return NULL;
}

/* Adds a function below the node of its caller. */
static uint32_t
add_function(struct tel__stacks *s, uint32_t node, const char *text, size_t n)
{
	const char *line = NULL;

	if (!s->lines)
		line = find_text(text, n, at_line, sizeof(at_line) - 1);
	return tel__stacks_name(s, node, text,
	    line != NULL ? (size_t)(line - text) : n);
}

/* Adds the functions of a label: those that were inlined come first. */
static uint32_t
model_stacks_add_label(struct tel__stacks *s, uint32_t node, const char *text,
    size_t n)
{
	const size_t length = sizeof(inlined) - 1;

	while (n > 0) {
		/* the last one is the caller of all */
		const char *last = NULL;
		for (const char *next = text;
		     (next = find_text(next, n - (size_t)(next - text), inlined,
		          length)) != NULL;
		     next += length)
			last = next;
		if (last == NULL)
			return add_function(s, node, text, n);
		node = add_function(s, node, last + length,
		    n - (size_t)(last - text) - length);
		if (node == 0)
			return 0;
		n = (size_t)(last - text);
	}
	return node;
}

static uint32_t
add_address(struct tel__stacks *s, uint32_t node, const struct tel_log *log,
    uint64_t address, uint64_t clock)
{
	static const char digits[] = "0123456789abcdef";
	struct tel_label label;
	char text[2 + 16];
	unsigned n = 16;

	if (tel__labels_find(log->labels, TEL_SPACE_ADDRESS, address, clock,
	        &label) &&
	    label.string != NULL && label.length > 0)
		return model_stacks_add_label(s, node, label.string,
		    label.length);
	do {
		text[2 + --n] = digits[address & 15];
		address >>= 4;
	} while (address != 0);
	text[n] = '0';
	text[n + 1] = 'x';
	return tel__stacks_name(s, node, text + n, sizeof(text) - n);
}

struct tel__stack_log *
tel__stacks_log(struct tel__stacks *s, const struct tel_log *log)
{
	size_t i;

	if (s->last_log < s->nlogs && s->logs[s->last_log].log == log &&
	    s->logs[s->last_log].number == log->number)
		return &s->logs[s->last_log];
	for (i = 0; i < s->nlogs; i++)
		if (s->logs[i].log == log && s->logs[i].number == log->number)
			break;
	if (i == s->nlogs) {
		if (!TEL__RESERVE(s->logs, s->log_room, i + 1))
			return NULL;
		struct tel__stack_log *l = &s->logs[s->nlogs++];
		l->log = log;
		l->number = log->number;
		l->tag = s->tags++ * UINT64_C(0xd6e8feb86659fd93);
		l->nodes = NULL;
		l->room = 0;
	}
	s->last_log = i;
	return &s->logs[i];
}

/*
 * The node of a frame; 0: no memory.  A frame names its caller's number, which
 * a log may have made a circle of: a stack then ends where it comes round.
 */
static uint32_t
find_frame(struct tel__stacks *s, struct tel__stack_log *l, uint64_t process,
    const struct tel_event *ev, const struct tel_field *f)
{
	static const char unknown[] = "<unknown>";
	const struct tel_labels *labels = l->log->labels;
	const uint64_t value = tel_load(f, ev->data);
	uint64_t id = value;
	struct tel_label label;
	const size_t count = tel__labels_frames(labels);
	uint32_t node = 0;
	size_t place, n = 0;

	if (!TEL__RESERVE_ZEROED(l->nodes, l->room, count))
		return 0;
	/* frames need not say whose they are */
	if (!tel__labels_find_frame(labels, process, id, &place))
		process = 0;
	while (tel__labels_find_frame(labels, process, id, &place)) {
		node = l->nodes[place];
		if (node != 0)
			break;
		if (!TEL__RESERVE(s->path, s->path_room, n + 1))
			return 0;
		s->path[n++] = place;
		/* until it has a node, it has the root */
		l->nodes[place] = 1;
		id = tel__labels_frame(labels, place)->parent;
	}
	if (node > 0)
		node--;
	/* text has the label of the innermost frame alone */
	if (node == 0 && n == 0)
		return tel_find_label(ev, f, value, &label) &&
		        label.string != NULL && label.length > 0 ?
		    model_stacks_add_label(s, 0, label.string, label.length) :
		    tel__stacks_name(s, 0, unknown, sizeof(unknown) - 1);
	while (n > 0) {
		place = s->path[--n];
		const struct tel_frame *at = tel__labels_frame(labels, place);
		node = at->name != NULL && at->length > 0 ?
		    model_stacks_add_label(s, node, at->name, at->length) :
		    add_address(s, node, l->log, at->address, ev->clock);
		if (node == 0)
			return 0;
		l->nodes[place] = node + 1;
	}
	return node;
}

/* The node of events without a stack. */
static uint32_t
stacks_none(struct tel__stacks *s)
{
	static const char none[] = "<none>";

	if (s->none == 0)
		s->none = tel__stacks_name(s, 0, none, sizeof(none) - 1);
	return s->none;
}

int
tel__stacks_field(const struct tel_type *t)
{
	int part = t->role_field[TEL_PART_STACK];

	for (unsigned i = 0; part < 0 && i < t->nfields; i++)
		if (t->fields[i].space == TEL_SPACE_STACK)
			part = (int)i;
	return part;
}

uint32_t
tel__stacks_find(struct tel__stacks *s, struct tel__stack_log *l,
    const struct tel_event *ev, uint64_t process)
{
	const int part = tel__stacks_field(ev->type);
	struct tel_label label;

	if (part < 0)
		return stacks_none(s);
	s->recorded = 1;
	const struct tel_field *f = &ev->type->fields[part];
	uint64_t value = tel_load(f, ev->data);
	if (value == 0)
		return stacks_none(s);
	if (f->datatype != TEL_ADDRESS && f->datatype != TEL_POINTER)
		return find_frame(s, l, process, ev, f);
	if (tel_find_label(ev, f, value, &label) && label.string != NULL &&
	    label.length > 0)
		return model_stacks_add_label(s, 0, label.string, label.length);
	return add_address(s, 0, l->log, value, ev->clock);
}

/* Adds a name to the text; no separator, nothing but text. */
static int
model_stacks_put_name(struct tel__stacks *s, size_t *n, const char *name,
    size_t length)
{
	if (!TEL__RESERVE(s->text, s->text_room, *n + length + 2))
		return 0;
	if (*n > 0)
		s->text[(*n)++] = ';';
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name[i];

		s->text[(*n)++] = c == ';' ? ':' :
		    c < ' ' || c == 0x7f   ? '?' :
		                             (char)c;
	}
	s->text[*n] = '\0';
	return 1;
}

uint32_t
tel__stacks_others(struct tel__stacks *s)
{
	return tel__stacks_name(s, 0, others, sizeof(others) - 1);
}

uint32_t *
tel__stacks_user(struct tel__stacks *s, uint32_t node)
{
	return &s->nodes[node].user;
}

uint32_t
tel__stacks_holder(const struct tel__stacks *s, uint32_t node)
{
	const struct tel__name *name;

	for (uint32_t i = node; i != 0; i = s->nodes[i].parent) {
		name = &s->names.list[s->nodes[i].name];
		if (!tel__is_allocator(name->text, name->length))
			return i;
	}
	return node;
}

const char *
tel__stacks_text(struct tel__stacks *s, uint32_t node)
{
	return tel__stacks_text_below(s, 0, node);
}

const char *
tel__stacks_text_below(struct tel__stacks *s, uint32_t outermost, uint32_t node)
{
	static const char outer[] = "<outer frames>";
	uint32_t path[DEPTH_MAX];
	const struct tel__name *name;
	size_t n = 0, depth = 0;

	if (outermost != 0) {
		name = &s->names.list[outermost - 1];
		if (!model_stacks_put_name(s, &n, name->text, name->length))
			return NULL;
	}
	for (; node != 0 && depth < DEPTH_MAX; node = s->nodes[node].parent)
		path[depth++] = node;
	if (node != 0 &&
	    !model_stacks_put_name(s, &n, outer, sizeof(outer) - 1))
		return NULL;
	while (depth > 0) {
		name = &s->names.list[s->nodes[path[--depth]].name];
		if (!model_stacks_put_name(s, &n, name->text, name->length))
			return NULL;
	}
	return s->text;
}
