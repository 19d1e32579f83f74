/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes of a session: by their ids, and by their paths. */
#include "format/inst/inst.h"

#include <stdlib.h>
#include <string.h>

/* The finishing step of MurmurHash3, which is in the public domain. */
static uint32_t
mix(uint64_t seed, uint64_t key)
{
	key ^= seed;
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdu;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(key ^ key >> 33);
}

static struct instr_id *
slot_of(const struct instr_ids *ids, uint64_t seed, uint64_t id)
{
	uint32_t i = mix(seed, id) & ids->mask;

	while (ids->slots[i].id != 0 && ids->slots[i].id != id)
		i = (i + 1) & ids->mask;
	return &ids->slots[i];
}

int
tel__instr_ids_find(const struct instr_ids *ids, uint64_t seed, uint64_t id,
    uint32_t *to)
{
	const struct instr_id *slot;

	if (ids->count == 0 || id == 0)
		return 0;
	slot = slot_of(ids, seed, id);
	*to = slot->to;
	return slot->id != 0;
}

tel_status
tel__instr_ids_add(struct instr_ids *ids, uint64_t seed, uint64_t id,
    uint32_t to)
{
	struct instr_ids bigger = { NULL, 0, ids->count };
	struct instr_id *slot;
	uint32_t i, size = ids->slots == NULL ? 0 : ids->mask + 1;

	if (ids->count == INSTR_IDS_MAX)
		return TEL_ELIMIT;
	if (ids->count * 2 >= size) {
		bigger.mask = (size == 0 ? 64 : size * 2) - 1;
		bigger.slots = calloc(bigger.mask + 1u, sizeof(*bigger.slots));
		if (bigger.slots == NULL)
			return TEL_ENOMEM;
		for (i = 0; i < size; i++)
			if (ids->slots[i].id != 0)
				*slot_of(&bigger, seed, ids->slots[i].id) =
				    ids->slots[i];
		free(ids->slots);
		*ids = bigger;
	}
	slot = slot_of(ids, seed, id);
	slot->id = id;
	slot->to = to;
	ids->count++;
	return TEL_OK;
}

void
tel__instr_tree_clear(struct instr_tree *t)
{
	uint64_t seed = t->seed;
	uint32_t i;

	for (i = 0; i < t->count; i++)
		free(t->classes[i].path);
	free(t->classes);
	free(t->ids.slots);
	free(t->by_path);
	memset(t, 0, sizeof(*t));
	t->seed = seed;
	t->generation = 1;
}

uint32_t
tel__instr_class_of(const struct instr_tree *t, uint64_t id)
{
	uint32_t to;

	return tel__instr_ids_find(&t->ids, t->seed, id, &to) ? to :
	                                                        INSTR_NO_CLASS;
}

static uint32_t
hash_path(const struct instr_tree *t, const char *path, size_t n)
{
	uint32_t h = LINES_HASH;
	size_t i;

	for (i = 0; i < n; i++)
		h = lines_hash(h, (unsigned char)path[i]);
	return mix(t->seed, h);
}

/* The place in by_path of a path, or the free one that it would take. */
static uint32_t *
path_slot(const struct instr_tree *t, const char *path, size_t n)
{
	uint32_t i = hash_path(t, path, n) & t->path_mask;
	const struct instr_class *c;

	for (; t->by_path[i] != 0; i = (i + 1) & t->path_mask) {
		c = &t->classes[t->by_path[i] - 1];
		if (c->path_length == n && memcmp(c->path, path, n) == 0)
			break;
	}
	return &t->by_path[i];
}

uint32_t
tel__instr_class_at(struct instr_tree *t, const char *path, size_t n)
{
	uint32_t at = t->by_path == NULL ? 0 : *path_slot(t, path, n);

	if (at == 0 || tel__instr_class_check(t, at - 1)->dead)
		return INSTR_NO_CLASS;
	return at - 1;
}

/* Doubles the room for classes. */
static tel_status
grow(struct instr_tree *t)
{
	uint32_t room = t->room == 0 ? 32 : t->room * 2, i;
	struct instr_class *classes;
	uint32_t *by_path;

	classes = realloc(t->classes, room * sizeof(*classes));
	if (classes == NULL)
		return TEL_ENOMEM;
	t->classes = classes;
	by_path = calloc(room * (size_t)2, sizeof(*by_path));
	if (by_path == NULL)
		return TEL_ENOMEM;
	free(t->by_path);
	t->by_path = by_path;
	t->path_mask = room * 2 - 1;
	t->room = room;
	/* the newest of a path comes last */
	for (i = 0; i < t->count; i++)
		*path_slot(t, classes[i].path, classes[i].path_length) = i + 1;
	return TEL_OK;
}

tel_status
tel__instr_class_add(struct instr_tree *t, const char *path, size_t n,
    uint32_t parent, enum instr_class_type type, uint32_t *out)
{
	struct instr_class *c;
	tel_status st;
	char *copy;

	if (t->count == INSTR_IDS_MAX || t->bytes + n + 1 > INSTR_POOL_MAX)
		return TEL_ELIMIT;
	if (t->count == t->room && (st = grow(t)) != TEL_OK)
		return st;
	copy = malloc(n + 1);
	if (copy == NULL)
		return TEL_ENOMEM;
	memcpy(copy, path, n);
	copy[n] = '\0';
	t->bytes += n + 1;
	c = &t->classes[t->count];
	memset(c, 0, sizeof(*c));
	c->path = copy;
	c->path_length = (uint32_t)n;
	c->parent = parent;
	c->type = (uint8_t)type;
	c->own = 1;
	*out = t->count++;
	*path_slot(t, copy, n) = t->count;
	return TEL_OK;
}

/*
 * Flags hold for what is below.  They change seldom, so they are worked out
 * again only after a change.
 */
const struct instr_class *
tel__instr_class_check(struct instr_tree *t, uint32_t number)
{
	struct instr_class *c = &t->classes[number];
	const struct instr_class *up = c;

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
