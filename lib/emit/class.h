/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of classes.
 *
 *	class.c      the tree: creating, finding, enabling, ending
 *	part.c       what each thread counts, and updating it
 *	trace.c      trace events, ranges of summaries, descriptors
 *	snapshot.c   adding up the parts; the event types of it all
 */
#ifndef TEL_EMIT_CLASS_H
#define TEL_EMIT_CLASS_H

#include "emit.h"
#include "tel_class.h"

#define SEATS 64u
#define TABLE_BYTES (SEATS * TEL_CLASS_MAX * sizeof(uint64_t))
/* Memory of classes: structures, names and shared counts. */
#define CLASS_BYTES ((size_t)8 << 20)
#define PARTS_BYTES ((size_t)16 << 20)

enum class_type {
	CLASS_PATH,
	CLASS_TRACE,
	CLASS_SUMMARY,
	CLASS_MAGNITUDE,
	CLASS_GROWTH,
	CLASS_HISTOGRAM,
	CLASS_SPLIT,
	CLASS_TALLY
};

/* Event types, in the order of their rows in snapshot.c. */
enum class_event {
	E_HEADER,
	E_LOST,
	E_DEFINES, /* followed by those of enum class_type */
	E_ENABLE = E_DEFINES + CLASS_TALLY + 1,
	E_DISABLE,
	E_DISPOSE,
	E_PHASE, /* followed by the other phases */
	E_MAGNITUDE = E_PHASE + TEL_CLASS_MIDDLE + 1,
	E_GROWTH,
	E_SUMMARY,
	E_HISTOGRAM,
	E_TALLY,
	E_BUCKET,
	E_BUCKETS,
	E_TYPES
};
#define CODE_CLASS 0xFF20u
#define KIND_CLASS 27u
#define KIND_TRACE 28u
#define KIND_SNAPSHOT 29u

/* The words of a part, followed by counts of buckets or keys. */
enum {
	W_UPDATES,
	W_SUM,
	W_MIN,
	W_MAX,
	W_LAST,
	W_SEEN, /* updates at the last snapshot; written by snapshots only */
	/* histogram: underflow; tally: overflow; summary: pairs */
	W_A,
	/* overflow; updates of overflow; orphans */
	W_B,
	W_STARTS, /* of a summary */
	W_OVER_LIMIT,
	W_HEAD
};

/* Marks a free slot of a tally; as a key, this number has the last slot. */
#define TALLY_FREE 0xC3A5C85C97CB3127u

/* An open range of a summary. */
struct class_range {
	uint64_t state; /* 0, or a tag and one of these */
	uint64_t clock;
};
#define RANGE_SLOTS (2 * TEL_CLASS_RANGES_MAX)
#define RANGE_OPEN ((uint64_t)1 << 63)
#define RANGE_BUSY ((uint64_t)1 << 62)

struct tel_emit_class {
	uint32_t on; /* it and all above are enabled: read by updates */
	uint32_t type;
	uint32_t index;   /* index in the list; the id minus 1 */
	uint32_t words;   /* of a part */
	uint64_t *shared; /* part of all threads without one */
	/* histograms: buckets of width[0] from lo, of width[1] from knee */
	int64_t lo, knee, hi;
	uint64_t width[2];
	uint32_t first; /* the bucket at the knee */
	/* tallies: a hash table of keys; of strings, their addresses */
	uint32_t mask, max, text;
	uint64_t *keys;
	uint64_t nkeys;
	int64_t current;            /* of a magnitude */
	struct class_range *ranges; /* of a summary */
	uint64_t *event[4]; /* events of a trace class, by phase, without tag */
	uint32_t event_words[4];
	/* under the lock of classes */
	tel_emit_class *parent;
	const char *path, *component, *unit;
	uint32_t path_length;
	uint8_t own;         /* enabled by itself */
	uint8_t disposed;    /* by itself */
	uint8_t dead;        /* it, or one above */
	uint64_t written;    /* updates in its last snapshot */
	uint64_t over_limit; /* starts already reported as lost */
};

/* All classes; under the lock of classes, except what updates read. */
struct tel__classes {
	int open;
	uint32_t count;
	tel_emit_class *list[TEL_CLASS_MAX];
	uint16_t by_path[2 * TEL_CLASS_MAX]; /* index and 1 */
	uint64_t interval;                   /* ns; 0: on demand */
	uint64_t due;                        /* when the next snapshot is */
	uint32_t rounds;
	char *memory; /* tables, parts, classes */
	size_t bytes, parts_bytes;
	_Atomic size_t parts_used, class_used;
	uint32_t epoch; /* changes when the parts are replaced */
	_Atomic uint32_t seats_used;
	uint32_t seats[SEATS]; /* id of its thread */
};
extern struct tel__classes tel__classes;

/* Allocates zeroed memory until the close; NULL: no more.  AS */
void *tel__class_room(size_t bytes);
/* Allocates a copy of a text; NULL: no more memory.  AS */
const char *tel__class_keep(const char *s, size_t n);
/* Drains the rings, so that an event added to the names comes after these. */
void tel__class_drain(void);

/* part.c */

/* The part of a seat below seats_used; may be NULL. */
uint64_t *tel__class_part(const tel_emit_class *c, unsigned seat);
/* Initialises the first words of a part. */
void tel__class_part_init(const tel_emit_class *c, uint64_t *part,
    uint32_t words);
/* Discards all parts. */
void tel__class_forget_parts(void);
/* Counts an event of a summary.  AS */
void tel__class_update_summary(tel_emit_class *c, unsigned phase, uint32_t tag);

/* trace.c */

/* Prepares the events of a trace class.  0; -1: no room. */
int tel__class_make_events(tel_emit_class *c);

/* snapshot.c */

/* Registers the types.  0, -1. */
int tel__class_add_types(void);
const struct tel__emit_typed *tel__class_typed(unsigned event);
/* Adds an event to those that each stream has.  0, -1 with ENOSPC. */
int tel__class_add_event(unsigned event, const tel_emit_value *values);
/* Writes definitions, and changes: Enable, Disable. */
int tel__class_define(const tel_emit_class *c);
void tel__class_write_change(const tel_emit_class *c, unsigned event);
/* Writes snapshots of a subtree. */
enum {
	WRITE_CHANGED = 1, /* only of those updated since their last snapshot */
	WRITE_OFF = 2      /* also of disabled ones */
};
void tel__class_write(const tel_emit_class *top, int which);

#endif
