/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of classes.  A class counts while it and all paths above it are
 * enabled; disposing one leaves a name free for another.
 */
#include "stats/inst_tree.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 32u

void
tel__tree_clear(struct tree *t)
{
	uint32_t i;

	for (i = 0; i < t->count; i++)
		free(t->nodes[i].name);
	free(t->nodes);
	free(t->by_path);
	free(t->ids);
	memset(t, 0, sizeof(*t));
}

static struct id *
id_place(const struct tree *t, uint64_t id)
{
	uint32_t at =
	    (uint32_t)key_scatter(id, (uint64_t)(uintptr_t)t) & t->ids_mask;

	while (t->ids[at].id != 0 && t->ids[at].id != id)
		at = (at + 1) & t->ids_mask;
	return &t->ids[at];
}

struct node *
tel__tree_by_id(const struct tree *t, uint64_t id)
{
	const struct id *at;

	if (t->ids == NULL || id == 0)
		return NULL;
	at = id_place(t, id);
	return at->id == 0 ? NULL : &t->nodes[at->node];
}

tel_status
tel__tree_give_id(struct tree *t, uint64_t id, const struct node *n)
{
	uint32_t size = t->ids == NULL ? FIRST_ROOM : 2 * (t->ids_mask + 1), i;
	struct id *old = t->ids, *at;
	uint32_t count = old == NULL ? 0 : t->ids_mask + 1;

	if (t->ids == NULL || 2 * t->nids > t->ids_mask) {
		if (t->nids >= 2 * NODES_MOST)
			return TEL_ELIMIT;
		t->ids = calloc(size, sizeof(*t->ids));
		if (t->ids == NULL) {
			t->ids = old;
			return TEL_ENOMEM;
		}
		t->ids_mask = size - 1;
		for (i = 0; i < count; i++)
			if (old[i].id != 0)
				*id_place(t, old[i].id) = old[i];
		free(old);
	}
	at = id_place(t, id);
	if (at->id != 0)
		return TEL_EINVAL;
	at->id = id;
	at->node = tree_number(t, n) - 1;
	t->nids++;
	return TEL_OK;
}

static uint32_t *
place(const struct tree *t, uint32_t parent, const char *name, size_t length)
{
	uint64_t hash = (uint64_t)(uintptr_t)t + parent;
	uint32_t mask = 2 * t->room - 1, at;
	const struct node *n;
	size_t i;

	for (i = 0; i < length; i++)
		hash = key_scatter((unsigned char)name[i], hash);
	for (at = (uint32_t)hash & mask; t->by_path[at] != 0;
	     at = (at + 1) & mask) {
		n = &t->nodes[t->by_path[at] - 1];
		if (n->parent == parent && strlen(n->name) == length &&
		    memcmp(n->name, name, length) == 0)
			break;
	}
	return &t->by_path[at];
}

static int
grow(struct tree *t)
{
	uint32_t room = t->room == 0 ? FIRST_ROOM : 2 * t->room, i;
	struct node *nodes = realloc(t->nodes, room * sizeof(*nodes));
	uint32_t *index;

	if (nodes == NULL)
		return 0;
	t->nodes = nodes;
	index = calloc((size_t)2 * room, sizeof(*index));
	if (index == NULL)
		return 0;
	free(t->by_path);
	t->by_path = index;
	t->room = room;
	/* of those of one name the last one stays */
	for (i = 0; i < t->count; i++)
		*place(t, nodes[i].parent, nodes[i].name,
		    strlen(nodes[i].name)) = i + 1;
	return 1;
}

int
tel__tree_is_disposed(const struct tree *t, const struct node *n)
{
	while (!n->disposed) {
		if (n->parent == 0)
			return t->root_disposed;
		n = &t->nodes[n->parent - 1];
	}
	return 1;
}

struct node *
tel__tree_by_name(const struct tree *t, uint32_t parent, const char *name,
    size_t length)
{
	uint32_t at;
	struct node *n;

	if (t->room == 0)
		return NULL;
	at = *place(t, parent, name, length);
	if (at == 0)
		return NULL;
	n = &t->nodes[at - 1];
	return tel__tree_is_disposed(t, n) ? NULL : n;
}

tel_status
tel__tree_add(struct tree *t, uint32_t parent, const char *name, size_t length,
    enum node_kind kind, struct node **out)
{
	unsigned depth = parent == 0 ? 1 : t->nodes[parent - 1].depth + 1;
	struct node *n;

	if (depth > DEPTH_MOST || t->count >= NODES_MOST)
		return TEL_ELIMIT;
	if (t->count == t->room && !grow(t))
		return TEL_ENOMEM;
	n = &t->nodes[t->count];
	memset(n, 0, sizeof(*n));
	n->name = tel__text_copy(name, length);
	if (n->name == NULL)
		return TEL_ENOMEM;
	n->parent = parent;
	n->depth = depth;
	n->kind = kind;
	n->enabled = 1;
	t->count++;
	*place(t, parent, n->name, length) = t->count;
	*out = n;
	return TEL_OK;
}

int
tel__tree_is_on(const struct tree *t, const struct node *n)
{
	while (n->enabled && !n->disposed) {
		if (n->parent == 0)
			return !t->root_disabled && !t->root_disposed;
		n = &t->nodes[n->parent - 1];
	}
	return 0;
}

char *
tel__tree_path(const struct tree *t, const struct node *n)
{
	size_t length = strlen(n->name), part;
	const struct node *up;
	char *path, *p;

	for (up = n; up->parent != 0;) {
		up = &t->nodes[up->parent - 1];
		length += strlen(up->name) + 1;
	}
	path = malloc(length + 1);
	if (path == NULL)
		return NULL;
	p = path + length;
	*p = '\0';
	for (up = n;; up = &t->nodes[up->parent - 1]) {
		part = strlen(up->name);
		p -= part;
		memcpy(p, up->name, part);
		if (up->parent == 0)
			return path;
		*--p = ':';
	}
}
