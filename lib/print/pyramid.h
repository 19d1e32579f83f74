/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pyramid: sums over buckets of time.  The span of a log is not known before
 * its end, so all buckets become twice as wide, and pairs of them one, when
 * the log outgrows them, or memory.
 */
#ifndef TEL_PYRAMID_H
#define TEL_PYRAMID_H

#include "base/buffer.h"
#include "base/table.h"

/* The most buckets of a series; a power of two. */
#define PYRAMID_BUCKETS 65536u
/* Memory of all series, before buckets become wider. */
#define PYRAMID_BYTES ((size_t)24 << 20)
/* The most series; what they would hold is in no sum then. */
#define PYRAMID_SERIES 16384u
/* Columns of a series. */
#define PYRAMID_COLUMNS 4

enum pyramid_kind {
	PYRAMID_COUNT,  /* count */
	PYRAMID_RANGES, /* count, ns that they took */
	PYRAMID_VALUES, /* count, min, max, last */
	/*
	 * Count and sum, which become those of PYRAMID_VALUES: the sum a second,
	 * and 0 where there is none.
	 */
	PYRAMID_RATE
};

/* What a series is of. */
struct pyramid_key {
	uint32_t track;
	int32_t type; /* -1: none */
	int32_t row;  /* of a histogram; -1: it is not of one */
	enum pyramid_kind kind;
};

struct pyramid_series {
	struct pyramid_key key;
	/* buckets that are not empty, in order */
	uint32_t *at;
	uint64_t *columns[PYRAMID_COLUMNS];
	size_t count, room;
	size_t cursor; /* where the last time was */
};

struct pyramid {
	struct pyramid_series *series;
	size_t nseries, room;
	struct tel__table by_key; /* hash of a key to its series */
	unsigned shift;           /* a bucket is 2^shift ns wide */
	size_t bytes;             /* of all series */
	uint64_t last;            /* the latest time */
	int no_memory;
};

void tel__pyramid_init(struct pyramid *p);
void tel__pyramid_clear(struct pyramid *p);

/* The number of a series, made when it is new; -1: too many, or no memory. */
long tel__pyramid_series(struct pyramid *p, const struct pyramid_key *key);

/* Counts something at a time.  series: as returned above. */
void tel__pyramid_count(struct pyramid *p, long series, uint64_t time,
    uint64_t times);
/* Counts a range at its start, and its time in all buckets that it is in. */
void tel__pyramid_range(struct pyramid *p, long series, uint64_t from,
    uint64_t to);
/* A counter has a value from a time on; RATE: so much more. */
void tel__pyramid_value(struct pyramid *p, long series, uint64_t time,
    int64_t value);

/* How many columns a kind has, and what they are called. */
unsigned tel__pyramid_columns(enum pyramid_kind kind);
const char *tel__pyramid_column(enum pyramid_kind kind, unsigned i);

/*
 * Adds a series to bytes: the numbers of its buckets, each 2^level of them as
 * one, and its columns.  Returns how many buckets there are.
 */
size_t tel__pyramid_put(const struct pyramid *p, size_t series, unsigned level,
    struct tel__buffer *bytes);

#endif
