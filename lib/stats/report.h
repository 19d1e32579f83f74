/* SPDX-License-Identifier: BSD-2-Clause */
/* Report: the numbers that every log has, whatever was asked for. */
#ifndef TEL_STATS_REPORT_H
#define TEL_STATS_REPORT_H

#include "base/index.h"
#include "base/int128.h"
#include "model/clock.h"
#include "tel/stats.h"

/* Documented limits. */
#define PARTS_MAX ((uint32_t)1 << 16)
#define ORIGINS_MAX 256u
#define KINDS_MAX 256u
#define POOLS_MAX 4096u /* those after them are one more */

/* A type. */
struct part {
	char *name;
	char *kind;
	uint32_t code;
	uint64_t events, bytes;
};

struct origin {
	char *schema;
	char *version;
	char *format;
	uint64_t logs, events;
};

/* A pool, or the others when there are too many: its address is 0 then. */
struct pool {
	char *label, *kind; /* NULL: there is none */
	uint64_t address;
	uint64_t allocs, live_blocks, live_bytes, peak_bytes;
	tel_int128 bytes; /* that were allocated */
	int ended;
};

struct report {
	uint64_t logs, events, bytes;
	uint64_t first, last; /* first > last: there was no event */
	tel_int128 ticks, ns;
	uint64_t untimed; /* spans of time whose ns are not known */
	uint64_t input, damaged, skipped, repaired, unknown, lost, cut;
	uint64_t incomplete; /* runs that could not read all of their input */
	uint64_t allocs, frees;
	uint64_t samples;   /* allocations that stand for others */
	uint64_t strays;    /* frees of blocks that the log does not allocate */
	uint64_t inherited; /* the same in children, of their parents' blocks */
	tel_int128 alloc_bytes, free_bytes;
	tel_int128 ended, ended_bytes; /* blocks not freed, but their pool */
	/* the counts and times up to here are cleared by tel__report_zero() */
	int has_allocs; /* some type had the role of allocating or freeing */

	struct part *parts;
	uint32_t nparts;
	size_t room;
	struct tel__index index; /* of parts, by name and kind */
	struct origin origins[ORIGINS_MAX + 1];
	unsigned norigins;
	struct pool *pools; /* in order of occurrence */
	uint32_t npools;
	size_t pool_room;

	/* made by tel__report_sort() */
	tel_part *types; /* parts with events, with the strings of these */
	uint32_t ntypes;
	tel_part *kinds;
	uint32_t nkinds;
};

void tel__report_init(struct report *r);
void tel__report_clear(struct report *r);

/* Finds or makes a part.  TEL_OK, TEL_ENOMEM. */
tel_status tel__report_part(struct report *r, const char *name,
    const char *kind, uint32_t code, uint32_t *out);
/* Finds or makes an origin.  TEL_OK, TEL_ENOMEM. */
tel_status tel__report_origin(struct report *r, const char *schema,
    const char *version, const char *format, unsigned *out);

/* Adds a span of time, and how long it was; negative: that is not known. */
void tel__report_span(struct report *r, uint64_t first, uint64_t last,
    int64_t ns);

/* Puts the parts in order and adds up the kinds.  TEL_OK, TEL_ENOMEM. */
tel_status tel__report_sort(struct report *r);

/* Begins anew; what there is of types and origins stays. */
void tel__report_zero(struct report *r);

/* Adds what another one has.  TEL_OK, TEL_ENOMEM. */
tel_status tel__report_merge(struct report *r, const struct report *from);

#endif
