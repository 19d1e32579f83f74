/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of the block that is made: events in order of time, the fields of
 * each type as arrays.
 */
#ifndef TELREC_COLUMNS_H
#define TELREC_COLUMNS_H

#include <stdint.h>

#include "tel_emit.h"
#include "telrec/types.h"
#include "telrec/weights.h"

#define COLUMNS_EVENTS TEL_EMIT_COLUMNS_MAX
#define COLUMNS_NAMES 4096u

/* Where events come from. */
struct source {
	uint32_t pid, tid;   /* as fields have them */
	const char *process; /* its name */
	char name[16];       /* of the thread */
	unsigned block;      /* the last one that has its names, */
	unsigned place;      /* and where */
};

/* The events of a type. */
struct part {
	unsigned count, place, fields;
	uint64_t *columns[TYPE_FIELDS];
};

struct columns {
	struct part parts[TYPES];
	enum type present[TYPES];
	unsigned npresent, count, nclocks, nnames;
	uint8_t order[COLUMNS_EVENTS];
	uint64_t clocks[COLUMNS_EVENTS];
	uint32_t shared[COLUMNS_EVENTS];
	tel_emit_name names[COLUMNS_NAMES];
	char texts[COLUMNS_NAMES][16];
	uint64_t last;     /* time of the last event */
	uint32_t pid, tid; /* of all events so far, if not mixed */
	uint32_t named;    /* the last process of the names */
	int mixed;
	unsigned number; /* of the block, from 1 */
	int failed;      /* why a block could not be written, or 0 */
	uint64_t events, lost;
	struct weights weights;
	uint64_t memory[1]; /* the columns */
};

/*
 * For a recording with these ARENA_ options, and samples so many bytes apart.
 * NULL: out of memory.
 */
struct columns *columns_new(uint32_t options, uint64_t sample);
void columns_free(struct columns *c);
/* The events that are added next are from there. */
void columns_source(struct columns *c, struct source *from);
/* The thread has another name: so the block shows it. */
void columns_rename(struct columns *c, const struct source *from);
/* Writes the block, if it has events; so many were lost until now. */
void columns_write(struct columns *c, uint64_t lost);

/*
 * Adds an event of a type, whose fields are to be stored at count, which is
 * then to be increased.
 */
static inline struct part *
columns_add(struct columns *c, enum type type)
{
	struct part *part = &c->parts[type];

	if (part->count == 0) {
		part->place = c->npresent;
		c->present[c->npresent++] = type;
	}
	if (c->mixed) {
		part->columns[part->fields][part->count] = c->pid;
		part->columns[part->fields + 1][part->count] = c->tid;
	}
	c->order[c->count++] = (uint8_t)part->place;
	return part;
}

/* The events from first on have this time. */
static inline void
columns_clock(struct columns *c, uint64_t clock, unsigned first)
{
	const uint32_t n = c->count - first;

	if (n == 0)
		return;
	if (clock < c->last)
		clock = c->last;
	c->last = clock;
	if (c->nclocks > 0 && c->clocks[c->nclocks - 1] == clock) {
		c->shared[c->nclocks - 1] += n;
		return;
	}
	c->clocks[c->nclocks] = clock;
	c->shared[c->nclocks++] = n;
}

#endif
