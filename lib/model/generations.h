/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generations: what collections condemned of each generation of a heap, and
 * what of that survived, from events in any order of time.
 */
#ifndef TEL_GENERATIONS_H
#define TEL_GENERATIONS_H

#include "base/names.h"
#include "model/event.h"
#include "tel/base.h"

/* Documented limits: events that are kept, the first ones, and their names. */
#define TEL__GENERATIONS_MAX ((size_t)1 << 20)
#define TEL__GENERATION_NAMES_MAX 4096u

/* When an event was: its log, and of equal clocks its place among events. */
struct tel__moment {
	uint64_t clock;
	uint32_t log, sequence;
};

struct tel__generation_event {
	struct tel__moment at;
	uint64_t key, serial, condemned, moved, kept;
	uint64_t shown;             /* the user's */
	double mortality;           /* negative: the event has none */
	const struct tel_log *from; /* has its label, perhaps; or NULL */
	uint32_t next;   /* of its generation: a place, and 1; or 0 */
	unsigned number; /* of .from */
	uint16_t name;   /* its place, and 1; or 0 */
	uint8_t space;
	uint8_t has_serial, has_condemned;
};

struct tel__generation {
	uint64_t key, serial;
	const char *name; /* its label, or NULL */
	uint64_t collections;
	/* in bytes; what was copied, or stayed in place, survived */
	tel_int128 condemned, survived, reclaimed;
	double died; /* the share of what was condemned; negative: none was */
	double predicted;     /* of the next collection; negative: not known */
	uint32_t first, last; /* its events: places, and 1 */
	int has_serial;
};

struct tel__generations {
	struct tel__generation_event *events;
	size_t nevents, events_room;
	size_t ncondemned; /* of them, with what was condemned */
	uint64_t left_out;
	const struct tel_log *log; /* of the last event, also of others */
	struct tel__names names;
	/* tel__generations_make() */
	struct tel__generation *rows; /* as they began */
	size_t nrows, rows_room;
};

/* The order of logs and time, for qsort() of what begins with a moment. */
int tel__moment_order(const void *a, const void *b);

/* Takes an event of TEL_ROLE_GENERATION.  TEL_OK, TEL_ENOMEM. */
tel_status tel__generations_event(struct tel__generations *g,
    const struct tel_event *ev, uint32_t log, uint64_t shown);
/*
 * Adds event i of another one, of a log.  Its labels may be in the log of those
 * before, too, which a part continues.  1; 0: too many, or no memory.
 */
int tel__generations_add(struct tel__generations *g,
    const struct tel__generations *next, size_t i, uint32_t log, int part);
/* Finds labels, while the readers of the events and memory are there. */
void tel__generations_label(struct tel__generations *g);
/*
 * Makes .rows, and links the events of each, when the logs are over.  1; 0: no
 * memory.
 */
int tel__generations_make(struct tel__generations *g);
/* What a generation is called: its label, its serial number, its address. */
#define TEL__GENERATION_TEXT 32
const char *tel__generation_name(const struct tel__generation *row,
    char text[TEL__GENERATION_TEXT]);
void tel__generations_clear(struct tel__generations *g);

#endif
