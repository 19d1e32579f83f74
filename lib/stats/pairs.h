/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open ranges: starts that wait for their ends.  Those with an equal key make
 * a stack, so that the last to start is the first to end, or else a queue.
 */
#ifndef TEL_STATS_PAIRS_H
#define TEL_STATS_PAIRS_H

#include "stats/key.h"

struct tel_stat;

/* Identifies ranges that may be a pair. */
struct pair_key {
	struct key key;
	uint64_t process; /* of allocator's operations; they share no keys */
	uint32_t log;     /* which log; they share no keys */
	uint32_t pair;    /* which pair of types */
};

struct open_pairs {
	struct tel__index tops; /* the top range of each key */
	struct pair_range *ranges;
	size_t room;
	uint32_t nranges; /* places ever used */
	uint32_t free;    /* first of a list of places to use again */
	uint32_t count;
	uint32_t max;
	int queue; /* the first to start is the first to end */
};

/* What a start or an end came to. */
enum pair_result {
	PAIR_OK,         /* a start that waits; an end with its start */
	PAIR_NESTED,     /* a start that waits on top of another */
	PAIR_OVER_LIMIT, /* a start without room; an end of such a start */
	PAIR_NONE,       /* an end without a start */
	PAIR_NO_MEMORY
};

void tel__pairs_init(struct open_pairs *o, uint32_t max, int queue);
void tel__pairs_clear(struct open_pairs *o);

enum pair_result tel__pairs_start(struct open_pairs *o,
    const struct pair_key *k, uint64_t clock, struct tel_stat *stat);

/* clock, stat: set on PAIR_OK to what the start had. */
enum pair_result tel__pairs_end(struct open_pairs *o, const struct pair_key *k,
    uint64_t *clock, struct tel_stat **stat);

/* The stat of the open range of a key, or NULL. */
struct tel_stat *tel__pairs_find(const struct open_pairs *o,
    const struct pair_key *k);

/* Forgets the ranges of one log, or of all but keeps the room. */
void tel__pairs_forget(struct open_pairs *o, uint32_t log);
void tel__pairs_forget_all(struct open_pairs *o);

#endif
