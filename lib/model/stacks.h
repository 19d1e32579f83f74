/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks: a tree of the names of frames, so that equal stacks of several logs
 * and processes are one.  A frame of a log is resolved to its node once.
 */
#ifndef TEL_STACKS_H
#define TEL_STACKS_H

#include "base/names.h"
#include "base/table.h"
#include "model/event.h"

/* A frame of a stack, below that of its caller; the first one is the root. */
struct tel__stack_node {
	uint32_t parent;
	uint32_t name;
	uint32_t user; /* a number that the caller keeps with it, 0 at first */
};

/* A log whose reader exists. */
struct tel__stack_log {
	const struct tel_log *log;
	unsigned number;
	uint64_t tag;    /* differs from log to log, for addresses */
	uint32_t *nodes; /* of its frames by place, and 1; 0: not resolved */
	size_t room;
};

struct tel__stacks {
	int lines;    /* frames are distinguished by file and line as well */
	int recorded; /* a log has stacks, or pools of allocations */
	struct tel__stack_log *logs;
	size_t nlogs, log_room, last_log;
	uint64_t tags;
	struct tel__names names;
	struct tel__stack_node *nodes;
	size_t nnodes, node_room;
	uint32_t none; /* the node of events without a stack; 0: not asked */
	struct tel__table children; /* parent and name to a node */
	size_t *path; /* places of frames, while a stack is resolved */
	size_t path_room;
	char *text;
	size_t text_room;
};

/* Returns 1, or 0: no memory. */
int tel__stacks_init(struct tel__stacks *s);
void tel__stacks_clear(struct tel__stacks *s);
/* Forgets the logs, before their readers are freed; the stacks stay. */
void tel__stacks_end(struct tel__stacks *s);

/* Stacks and pools of a log; NULL: no memory. */
struct tel__stack_log *tel__stacks_log(struct tel__stacks *s,
    const struct tel_log *log);

/* The field that is the stack of a type's events; -1: they have none. */
int tel__stacks_field(const struct tel_type *t);

/* The node of the stack of an event of the log; 0: no memory. */
uint32_t tel__stacks_find(struct tel__stacks *s, struct tel__stack_log *l,
    const struct tel_event *ev, uint64_t process);

/* The number of a name; 0: no memory. */
uint32_t tel__stacks_intern(struct tel__stacks *s, const char *name, size_t n);
/* The node of a number of a name below another node, or the root, 0; 0: as above. */
uint32_t tel__stacks_child(struct tel__stacks *s, uint32_t parent,
    uint32_t name);
/* The same of a name. */
uint32_t tel__stacks_name(struct tel__stacks *s, uint32_t parent,
    const char *name, size_t n);

/* The node of all stacks beyond the limit; 0: out of memory. */
uint32_t tel__stacks_others(struct tel__stacks *s);

/*
 * The holder of a stack: its innermost frame that is of no allocator, or its
 * innermost frame if all are.
 */
uint32_t tel__stacks_holder(const struct tel__stacks *s, uint32_t node);

/* The caller's number of a node, until the next one is found. */
uint32_t *tel__stacks_user(struct tel__stacks *s, uint32_t node);

/*
 * The frames of a stack from the outermost one, with semicolons between them,
 * until the next call; NULL: no memory.
 */
const char *tel__stacks_text(struct tel__stacks *s, uint32_t node);
/* The same behind one more frame, the number of a name; 0: without it. */
const char *tel__stacks_text_below(struct tel__stacks *s, uint32_t outermost,
    uint32_t node);

#endif
