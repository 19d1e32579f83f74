/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of the block that is made: events in order of time, the fields of
 * each type as arrays.  Threads have arrays of their own, as their addresses
 * are near each other, and their numbers are then in no column; those beyond
 * COLUMNS_SETS share the last set.
 */
#ifndef TELREC_COLUMNS_H
#define TELREC_COLUMNS_H

#include <stdint.h>

#include "tel_emit.h"
#include "telrec/flight.h"
#include "telrec/types.h"
#include "telrec/weights.h"

#define COLUMNS_EVENTS TEL_EMIT_COLUMNS_MAX
#define COLUMNS_NAMES 4096u
/* So that a block has at most 256 parts. */
#define COLUMNS_SETS 13u

/* Where events come from. */
struct source {
	uint32_t pid, tid;   /* as fields have them */
	const char *process; /* its name */
	char name[16];       /* of the thread */
	unsigned block;      /* the last one that has events of it */
	unsigned place;      /* of its name there */
	unsigned set;        /* and of its columns */
};

/* The events of a type. */
struct part {
	unsigned count, place, fields;
	uint64_t same; /* bits of the columns that have one value */
	uint64_t *columns[TYPE_FIELDS];
	const char **labels; /* of the second field; NULL: it has none */
};

/* The events of a source, or of several. */
struct set {
	struct part parts[TYPES];
	uint64_t pid, tid; /* of the one source, or of the next event */
	int mixed;         /* there are several: columns have them */
	uint64_t memory[]; /* the columns */
};

struct columns {
	uint32_t options;
	struct set *sets[COLUMNS_SETS]; /* NULL: never used */
	struct set *set;                /* of the next event */
	struct part *present[COLUMNS_SETS * TYPES];
	uint8_t types[COLUMNS_SETS * TYPES]; /* of the parts */
	unsigned nsets, npresent, count, nclocks, nnames;
	uint8_t order[COLUMNS_EVENTS];
	uint64_t clocks[COLUMNS_EVENTS];
	uint32_t shared[COLUMNS_EVENTS];
	tel_emit_name names[COLUMNS_NAMES];
	char texts[COLUMNS_NAMES][16];
	uint64_t last;   /* time of the last event */
	uint32_t named;  /* the last process of the names */
	unsigned number; /* of the block, from 1 */
	int failed;      /* why a block could not be written, or 0 */
	uint64_t events, lost;
	uint64_t processes;    /* starts and ends of these, of the events */
	uint64_t limit;        /* at most so many events are written */
	struct flight *flight; /* has the blocks, if not NULL */
	struct weights weights;
};

/*
 * For a recording with these ARENA_ options, and samples so many bytes apart.
 * kept: keeps only the last blocks, of so many bytes in memory, until
 * columns_release(); 0: all are written.
 * NULL: out of memory.
 */
struct columns *columns_new(uint32_t options, uint64_t sample, uint64_t kept);
void columns_free(struct columns *c);
/* The events that are added next are from there. */
void columns_source(struct columns *c, struct source *from);
/* The thread has another name: so the block shows it. */
void columns_rename(struct columns *c, const struct source *from);
/* Writes the block, if it has events; so many were lost until now. */
void columns_write(struct columns *c, uint64_t lost);
/* Writes the blocks that are kept. */
void columns_release(struct columns *c);

/*
 * Adds an event of a type, whose fields are to be stored at count, which is
 * then to be increased.
 */
static inline struct part *
columns_add(struct columns *c, enum type type)
{
	struct set *set = c->set;
	struct part *part = &set->parts[type];

	if (part->count == 0) {
		part->place = c->npresent;
		c->types[c->npresent] = (uint8_t)type;
		c->present[c->npresent++] = part;
	}
	if (set->mixed) {
		part->columns[part->fields][part->count] = set->pid;
		part->columns[part->fields + 1][part->count] = set->tid;
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
