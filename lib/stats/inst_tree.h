/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes of a session of an inst stream, as a tree of paths. */
#ifndef TEL_STATS_INST_TREE_H
#define TEL_STATS_INST_TREE_H

#include "stats/inst.h"

/* Documented limits. */
#define NODES_MOST ((uint32_t)1 << 21)
#define DEPTH_MOST 64u
#define CLASSES_MOST 65536u

enum node_kind {
	NODE_PATH,
	NODE_TRACE, /* whose events are passed over */
	NODE_STAT,
	NODE_TYPES, /* parts of the report of telstat */
	NODE_ALLOCS,
	NODE_FREES
};

struct node {
	char *name;      /* one component */
	uint32_t parent; /* number + 1; 0: the root */
	unsigned depth;
	enum node_kind kind;
	enum tel_class class; /* of NODE_STAT */
	int enabled;          /* its own flag */
	int disposed;
	struct definition *definition;
	struct tel_stat *stat;
};

struct tree {
	struct node *nodes;
	uint32_t count, room;
	uint32_t *by_path; /* number + 1, or 0; twice room */
	struct id {
		uint64_t id; /* 0: not in use */
		uint32_t node;
	} * ids;
	uint32_t nids, ids_mask;
	int root_disabled;
	int root_disposed;
};

void tel__tree_clear(struct tree *t);

/* The node of an id, NULL when there is none. */
struct node *tel__tree_by_id(const struct tree *t, uint64_t id);

/*
 * The node of a name below parent (number + 1), or NULL.  Never one that was
 * disposed of.
 */
struct node *tel__tree_by_name(const struct tree *t, uint32_t parent,
    const char *name, size_t length);

/*
 * Adds a node, whose name is copied.  TEL_OK; TEL_ELIMIT: too deep, or too
 * many; TEL_ENOMEM.
 */
tel_status tel__tree_add(struct tree *t, uint32_t parent, const char *name,
    size_t length, enum node_kind kind, struct node **out);

/* Gives a node an id.  TEL_OK; TEL_EINVAL: it is given; TEL_ENOMEM. */
tel_status tel__tree_give_id(struct tree *t, uint64_t id, const struct node *n);

/* Whether updates of it count. */
int tel__tree_is_on(const struct tree *t, const struct node *n);
/* Whether it, or a path above it, was disposed of. */
int tel__tree_is_disposed(const struct tree *t, const struct node *n);

/* Names from the root down, joined by ':'; NULL when there is no memory. */
char *tel__tree_path(const struct tree *t, const struct node *n);

static inline uint32_t
tree_number(const struct tree *t, const struct node *n)
{
	return (uint32_t)(n - t->nodes) + 1;
}

#endif
