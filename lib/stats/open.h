/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open ranges: starts that wait for their ends.  Those with an equal key make
 * a stack, so that the last to begin is the first to end.
 */
#ifndef TEL_STATS_OPEN_H
#define TEL_STATS_OPEN_H

#include "stats/key.h"

struct tel_stat;

/* What ranges are told apart by. */
struct open_key {
	struct key key;
	uint32_t log;  /* which log; they share no keys */
	uint32_t pair; /* which pair of types */
};

struct open_ranges {
	struct tel__index tops; /* the top range of each key */
	struct open_range *ranges;
	size_t room;
	uint32_t nranges; /* places ever used */
	uint32_t free;    /* first of a list of places to use again */
	uint32_t count;
	uint32_t max;
};

/* What a start or an end came to. */
enum open_result {
	OPEN_OK,      /* a start that waits; an end with its start */
	OPEN_NESTED,  /* a start that waits on top of another */
	OPEN_CROWDED, /* a start without room; an end of such a start */
	OPEN_NONE,    /* an end without a start */
	OPEN_NO_MEMORY
};

void tel__open_init(struct open_ranges *o, uint32_t max);
void tel__open_clear(struct open_ranges *o);

enum open_result tel__open_start(struct open_ranges *o,
    const struct open_key *k, uint64_t clock, struct tel_stat *stat);

/* clock, stat: set on OPEN_OK to what the start had. */
enum open_result tel__open_end(struct open_ranges *o, const struct open_key *k,
    uint64_t *clock, struct tel_stat **stat);

/* The stat of the range that is open under a key; NULL: there is none. */
struct tel_stat *tel__open_find(const struct open_ranges *o,
    const struct open_key *k);

/* Forgets the ranges of one log, or of all but keeps the room. */
void tel__open_forget(struct open_ranges *o, uint32_t log);
void tel__open_forget_all(struct open_ranges *o);

#endif
