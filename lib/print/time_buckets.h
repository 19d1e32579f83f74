/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pyramid: sums over buckets of time.  The span of a log is not known before
 * its end, so all buckets become twice as wide, and pairs of them one, when
 * the log outgrows them, or memory.
 */
#ifndef TEL_TIME_BUCKETS_H
#define TEL_TIME_BUCKETS_H

#include "base/buffer.h"
#include "base/table.h"

/* The most buckets of a series; a power of two. */
#define TIME_BUCKETS_MAX 65536u
/* Memory of all series, before buckets become wider. */
#define TIME_BUCKETS_BYTES ((size_t)12 << 20)
/*
 * The most series; counts beyond are in those of a log, of which there may be
 * as many more, and other values in no sum.
 */
#define TIME_BUCKETS_SERIES 16384u
/* Columns of a series. */
#define TIME_BUCKETS_COLUMNS 4

enum buckets_kind {
	TIME_BUCKETS_COUNT,  /* count */
	TIME_BUCKETS_RANGES, /* count, ns that they took */
	TIME_BUCKETS_VALUES, /* count, min, max, last */
	/*
	 * Count and sum, which become those of TIME_BUCKETS_VALUES: the sum a second,
	 * and 0 where there is none.
	 */
	TIME_BUCKETS_RATE
};

/* What a series is of. */
struct bucket_key {
	uint32_t track;
	int32_t type; /* -1: none */
	int32_t row;  /* of a histogram; -1: it is not of one */
	enum buckets_kind kind;
};

struct bucket_series {
	/*
	 * What came since a bucket was filled, all of it in one bucket: its
	 * latest time, how often, and of values the least, the greatest and the
	 * last (RATE: their sum).  news is 0 when there is nothing.
	 */
	uint64_t time, news;
	int64_t min, max, last;
	struct bucket_key key;
	/* buckets that are not empty, in order */
	uint32_t *at;
	uint64_t *columns[TIME_BUCKETS_COLUMNS];
	size_t count, room;
	size_t cursor; /* where the last time was */
};

struct time_buckets {
	struct bucket_series *series;
	size_t nseries, room;
	struct tel__table by_key; /* hash of a key to its series */
	unsigned shift;           /* a bucket is 2^shift ns wide */
	size_t bytes;             /* of all series */
	uint64_t last;            /* the latest time */
	int no_memory;
};

void tel__buckets_init(struct time_buckets *p);
void tel__buckets_clear(struct time_buckets *p);

/*
 * The number of a series, made when it is new and there are less than most.
 * -1: too many, or no memory.
 */
long tel__buckets_series(struct time_buckets *p, const struct bucket_key *key,
    size_t most);

/* Puts what a series has of its latest bucket there. */
void tel__buckets_settle(struct time_buckets *p, struct bucket_series *s);
/* The same for all series, which is due before they are encoded. */
void tel__buckets_settle_all(struct time_buckets *p);

/* The series at a time, which may be in another bucket than the last one. */
static inline struct bucket_series *
buckets_at(struct time_buckets *p, long series, uint64_t time)
{
	struct bucket_series *s = &p->series[series];

	if ((s->time ^ time) >> p->shift != 0)
		tel__buckets_settle(p, s);
	s->time = time;
	return s;
}

/* Counts something at a time.  series: as returned above. */
static inline void
tel__buckets_count(struct time_buckets *p, long series, uint64_t time,
    uint64_t times)
{
	if (series < 0)
		return;
	struct bucket_series *s = buckets_at(p, series, time);
	s->news += times;
}

/* Counts a range at its start, and its time in all buckets that it is in. */
void tel__buckets_range(struct time_buckets *p, long series, uint64_t from,
    uint64_t to);

/* A counter has a value from a time on; RATE: so much more. */
static inline void
tel__buckets_value(struct time_buckets *p, long series, uint64_t time,
    int64_t value)
{
	if (series < 0)
		return;
	struct bucket_series *s = buckets_at(p, series, time);
	if (s->key.kind == TIME_BUCKETS_RATE) {
		s->last = (int64_t)((uint64_t)s->last + (uint64_t)value);
	} else {
		s->min = s->news == 0 || value < s->min ? value : s->min;
		s->max = s->news == 0 || value > s->max ? value : s->max;
		s->last = value;
	}
	s->news++;
}

/* A counter had n values by a time, all of them in its bucket. */
void tel__buckets_values(struct time_buckets *p, long series, uint64_t time,
    uint64_t n, int64_t min, int64_t max, int64_t last);

/* How many columns a kind has, and what they are called. */
unsigned tel__buckets_columns(enum buckets_kind kind);
const char *tel__buckets_column(enum buckets_kind kind, unsigned i);

/*
 * Adds a series to bytes: the numbers of its buckets, each 2^level of them as
 * one, and its columns.  Returns how many buckets there are.
 */
size_t tel__buckets_put(const struct time_buckets *p, size_t series,
    unsigned level, struct tel__buffer *bytes);

#endif
