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
#define PYRAMID_BYTES ((size_t)12 << 20)
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
	/*
	 * What came since a bucket was filled, all of it in one bucket: its
	 * latest time, how often, and of values the least, the greatest and the
	 * last (RATE: their sum).  news is 0 when there is nothing.
	 */
	uint64_t time, news;
	int64_t min, max, last;
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

/* Puts what a series has of its latest bucket there. */
void tel__pyramid_settle(struct pyramid *p, struct pyramid_series *s);
/* The same for all series, which is due before they are encoded. */
void tel__pyramid_settle_all(struct pyramid *p);

/* Nonzero when time is in the bucket that is counted now. */
static inline int
pyramid_same(const struct pyramid *p, const struct pyramid_series *s,
    uint64_t time)
{
	return (s->time ^ time) >> p->shift == 0;
}

/* Counts something at a time.  series: as returned above. */
static inline void
tel__pyramid_count(struct pyramid *p, long series, uint64_t time,
    uint64_t times)
{
	struct pyramid_series *s;

	if (series < 0)
		return;
	s = &p->series[series];
	if (!pyramid_same(p, s, time))
		tel__pyramid_settle(p, s);
	s->time = time;
	s->news += times;
}

/* Counts a range at its start, and its time in all buckets that it is in. */
void tel__pyramid_range(struct pyramid *p, long series, uint64_t from,
    uint64_t to);

/* A counter has a value from a time on; RATE: so much more. */
static inline void
tel__pyramid_value(struct pyramid *p, long series, uint64_t time, int64_t value)
{
	struct pyramid_series *s;

	if (series < 0)
		return;
	s = &p->series[series];
	if (!pyramid_same(p, s, time))
		tel__pyramid_settle(p, s);
	s->time = time;
	if (s->key.kind == PYRAMID_RATE) {
		s->last = (int64_t)((uint64_t)s->last + (uint64_t)value);
	} else {
		s->min = s->news == 0 || value < s->min ? value : s->min;
		s->max = s->news == 0 || value > s->max ? value : s->max;
		s->last = value;
	}
	s->news++;
}

/* A counter had n values by a time, all of them in its bucket. */
void tel__pyramid_values(struct pyramid *p, long series, uint64_t time,
    uint64_t n, int64_t min, int64_t max, int64_t last);

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
