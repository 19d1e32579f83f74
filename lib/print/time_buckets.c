/* SPDX-License-Identifier: BSD-2-Clause */
/* Pyramid: buckets that are not empty, in order of time. */
#include "print/time_buckets.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/varint.h"

static const char *const names[][TIME_BUCKETS_COLUMNS] = {
	[TIME_BUCKETS_COUNT] = { "count" },
	[TIME_BUCKETS_RANGES] = { "count", "busy" },
	[TIME_BUCKETS_VALUES] = { "count", "min", "max", "last" },
	[TIME_BUCKETS_RATE] = { "count", "min", "max", "last" },
};
static const unsigned widths[] = {
	[TIME_BUCKETS_COUNT] = 1,
	[TIME_BUCKETS_RANGES] = 2,
	[TIME_BUCKETS_VALUES] = 4,
	[TIME_BUCKETS_RATE] = 2,
};

/* The columns of TIME_BUCKETS_VALUES. */
enum { COUNT, MIN, MAX, LAST };
/* That of TIME_BUCKETS_RANGES behind COUNT, and of TIME_BUCKETS_RATE. */
enum { BUSY = 1, SUM = 1 };

unsigned
tel__buckets_columns(enum buckets_kind kind)
{
	return kind == TIME_BUCKETS_RATE ? TIME_BUCKETS_COLUMNS : widths[kind];
}

const char *
tel__buckets_column(enum buckets_kind kind, unsigned i)
{
	return names[kind][i];
}

void
tel__buckets_init(struct time_buckets *p)
{
	memset(p, 0, sizeof(*p));
	tel__table_init(&p->by_key);
}

void
tel__buckets_clear(struct time_buckets *p)
{
	for (size_t i = 0; i < p->nseries; i++) {
		free(p->series[i].at);
		for (unsigned c = 0; c < TIME_BUCKETS_COLUMNS; c++)
			free(p->series[i].columns[c]);
	}
	free(p->series);
	tel__table_clear(&p->by_key);
	tel__buckets_init(p);
}

long
tel__buckets_series(struct time_buckets *p, const struct bucket_key *key,
    size_t most)
{
	uint64_t h = tel__fnv(TEL__FNV, &key->track, sizeof(key->track));
	int fresh;

	h = tel__fnv(h, &key->type, sizeof(key->type));
	h = tel__fnv(h, &key->row, sizeof(key->row));
	h = tel__fnv(h, &key->kind, sizeof(key->kind));
	struct tel__entry *e = tel__table_find(&p->by_key, h);
	if (e != NULL)
		return (long)e->value;
	if (p->nseries >= most)
		return -1;
	e = tel__table_put(&p->by_key, h, &fresh);
	if (e == NULL ||
	    !TEL__RESERVE_ZEROED(p->series, p->room, p->nseries + 1)) {
		if (e != NULL)
			tel__table_remove(&p->by_key, e);
		p->no_memory = 1;
		return -1;
	}
	e->value = p->nseries;
	p->series[p->nseries].key = *key;
	return (long)p->nseries++;
}

/* -------------------------------------------------------------- folding */

/* Adds bucket j of a series to its bucket i, which is before it. */
static void
buckets_join(struct bucket_series *s, size_t i, size_t j)
{
	uint64_t **c = s->columns;

	c[COUNT][i] += c[COUNT][j];
	if (s->key.kind == TIME_BUCKETS_RANGES ||
	    s->key.kind == TIME_BUCKETS_RATE)
		c[BUSY][i] += c[BUSY][j];
	if (s->key.kind != TIME_BUCKETS_VALUES)
		return;
	if ((int64_t)c[MIN][j] < (int64_t)c[MIN][i])
		c[MIN][i] = c[MIN][j];
	if ((int64_t)c[MAX][j] > (int64_t)c[MAX][i])
		c[MAX][i] = c[MAX][j];
	c[LAST][i] = c[LAST][j];
}

/* Makes the buckets of a series 2^by times as wide. */
static void
fold_series(struct bucket_series *s, unsigned by)
{
	unsigned c, n = widths[s->key.kind];
	size_t i, k = 0;

	for (i = 0; i < s->count; i++) {
		s->at[i] = by < 32 ? s->at[i] >> by : 0;
		if (k > 0 && s->at[k - 1] == s->at[i]) {
			buckets_join(s, k - 1, i);
			continue;
		}
		s->at[k] = s->at[i];
		for (c = 0; c < n; c++)
			s->columns[c][k] = s->columns[c][i];
		k++;
	}
	s->count = k;
	s->cursor = k > 0 ? k - 1 : 0;
}

static size_t
buckets_bytes_of(const struct bucket_series *s)
{
	return s->room * (sizeof(*s->at) + widths[s->key.kind] * 8u);
}

static int buckets_resize(struct bucket_series *s, size_t room);

static void
fold(struct time_buckets *p, unsigned by)
{
	p->shift += by;
	p->bytes = 0;
	for (size_t i = 0; i < p->nseries; i++) {
		struct bucket_series *s = &p->series[i];

		fold_series(s, by);
		/* to give memory back may fail, too */
		if (s->count > 0 && s->count <= s->room / 2)
			(void)buckets_resize(s, s->count);
		p->bytes += buckets_bytes_of(s);
	}
}

static int
buckets_resize(struct bucket_series *s, size_t room)
{
	/* where memory ends, some arrays have this room already */
	if (room < s->room)
		s->room = room;
	if (!TEL__RESIZE(s->at, room))
		return 0;
	for (unsigned c = 0; c < widths[s->key.kind]; c++)
		if (!TEL__RESIZE(s->columns[c], room))
			return 0;
	s->room = room;
	return 1;
}

/* Room for one more bucket.  1; 0: out of memory. */
static int
buckets_reserve(struct time_buckets *p, struct bucket_series *s)
{
	size_t room = s->room < 8 ? 8 : 2 * s->room,
	       before = buckets_bytes_of(s);

	if (s->count < s->room)
		return 1;
	if (room > TIME_BUCKETS_MAX)
		room = TIME_BUCKETS_MAX + 1;
	if (!buckets_resize(s, room)) {
		p->no_memory = 1;
		return 0;
	}
	p->bytes += buckets_bytes_of(s) - before;
	return 1;
}

/* ------------------------------------------------------------ filling it */

/* Has bucket b at place i, empty. */
static void
buckets_insert(struct bucket_series *s, size_t i, uint32_t b)
{
	size_t more = s->count - i;

	memmove(s->at + i + 1, s->at + i, more * sizeof(*s->at));
	s->at[i] = b;
	for (unsigned c = 0; c < widths[s->key.kind]; c++) {
		memmove(s->columns[c] + i + 1, s->columns[c] + i,
		    more * sizeof(*s->columns[c]));
		s->columns[c][i] = 0;
	}
	s->count++;
}

/* The place of bucket b of a series; SIZE_MAX: no memory. */
static size_t
buckets_place(struct time_buckets *p, struct bucket_series *s, uint32_t b)
{
	size_t low = 0, high = s->count, i;

	/* nearly always it is that of the time before, or the next one */
	i = s->cursor;
	if (i < high && s->at[i] == b)
		return i;
	if (i + 1 < high && s->at[i + 1] == b)
		return ++s->cursor;
	if (!buckets_reserve(p, s))
		return SIZE_MAX;
	if (high == 0 || s->at[high - 1] < b) {
		low = high;
	} else {
		TEL__BISECT(low, high, i, s->at[i] < b);
		s->cursor = low;
		if (s->at[low] == b)
			return low;
	}
	s->cursor = low;
	buckets_insert(s, low, b);
	return low;
}

/* Makes the buckets so wide that one of them is at time. */
static void
buckets_widen(struct time_buckets *p, uint64_t time)
{
	unsigned by = 0;

	if (time > p->last)
		p->last = time;
	while (time >> p->shift >> by >= TIME_BUCKETS_MAX)
		by++;
	if (by > 0)
		fold(p, by);
	/* where one bucket is left, there is nothing to join */
	while (p->bytes > TIME_BUCKETS_BYTES && p->last >> p->shift > 0)
		fold(p, 1);
}

/* Adds what a series has of one bucket to the one at place i. */
static void
add_values(struct bucket_series *s, size_t i)
{
	uint64_t **c = s->columns;

	if (c[COUNT][i] == 0 || s->min < (int64_t)c[MIN][i])
		c[MIN][i] = (uint64_t)s->min;
	if (c[COUNT][i] == 0 || s->max > (int64_t)c[MAX][i])
		c[MAX][i] = (uint64_t)s->max;
	c[LAST][i] = (uint64_t)s->last;
}

void
tel__buckets_settle(struct time_buckets *p, struct bucket_series *s)
{
	if (s->news == 0)
		return;
	if (s->time > p->last || p->bytes > TIME_BUCKETS_BYTES)
		buckets_widen(p, s->time);
	size_t i = buckets_place(p, s, (uint32_t)(s->time >> p->shift));
	if (i == SIZE_MAX)
		return;
	if (s->key.kind == TIME_BUCKETS_VALUES)
		add_values(s, i);
	else if (s->key.kind == TIME_BUCKETS_RATE)
		s->columns[SUM][i] += (uint64_t)s->last;
	s->columns[COUNT][i] += s->news;
	s->news = 0;
	s->last = 0;
}

void
tel__buckets_settle_all(struct time_buckets *p)
{
	for (size_t i = 0; i < p->nseries; i++)
		tel__buckets_settle(p, &p->series[i]);
}

void
tel__buckets_values(struct time_buckets *p, long series, uint64_t time,
    uint64_t n, int64_t min, int64_t max, int64_t last)
{
	if (series < 0 || n == 0)
		return;
	struct bucket_series *s = buckets_at(p, series, time);
	s->min = s->news == 0 || min < s->min ? min : s->min;
	s->max = s->news == 0 || max > s->max ? max : s->max;
	s->last = last;
	s->news += n;
}

void
tel__buckets_range(struct time_buckets *p, long series, uint64_t from,
    uint64_t to)
{
	if (series < 0)
		return;
	buckets_widen(p, to);
	struct bucket_series *s = &p->series[series];
	uint64_t first = from >> p->shift;
	uint64_t last = to >> p->shift;
	for (uint64_t b = first; b <= last; b++) {
		uint64_t start = b << p->shift;
		uint64_t stop = b == last ? to : (b + 1) << p->shift;
		size_t i = buckets_place(p, s, (uint32_t)b);

		if (i == SIZE_MAX)
			return;
		s->columns[BUSY][i] += stop - (start > from ? start : from);
		s->columns[COUNT][i] += b == first;
	}
}

/* -------------------------------------------------------------- encoding */

/* Where the buckets from i on that become one end. */
static size_t
buckets_group(const struct bucket_series *s, size_t i, unsigned level)
{
	const uint32_t b = s->at[i] >> level;

	while (i < s->count && s->at[i] >> level == b)
		i++;
	return i;
}

/* What a column has for the buckets from i to before j. */
static uint64_t
buckets_gather(const struct bucket_series *s, unsigned column, size_t i,
    size_t j)
{
	const uint64_t *c = s->columns[column];
	uint64_t v = c[i];

	for (i++; i < j; i++) {
		if (s->key.kind != TIME_BUCKETS_VALUES || column == COUNT)
			v += c[i];
		else if (column == LAST ||
		    (column == MIN ? (int64_t)c[i] < (int64_t)v :
		                     (int64_t)c[i] > (int64_t)v))
			v = c[i];
	}
	return v;
}

/* The sum of a bucket of 2^shift ns as a rate per second. */
static uint64_t
rate(uint64_t sum, unsigned shift)
{
	double v = (double)sum * 1e9 / (double)(UINT64_C(1) << (shift & 63));

	return v < 9e18 ? (uint64_t)(v + 0.5) : UINT64_C(9000000000000000000);
}

/*
 * A rate as a counter.  Where nothing is counted it is 0, written in the next
 * bucket.
 */
static size_t
buckets_put_rate(const struct time_buckets *p, const struct bucket_series *s,
    unsigned level, struct tel__buffer *bytes)
{
	const unsigned shift = p->shift + level;
	uint64_t before = 0, v, zero = UINT64_MAX;
	struct tel__buffer counts = { 0 }, values = { 0 };
	size_t i, j, n = 0, at = 0;

	for (i = 0; i < s->count; i = j) {
		j = buckets_group(s, i, level);
		if (s->at[i] >> level > zero) {
			tel__buffer_put_varint(bytes, zero - at);
			at = (size_t)zero;
			tel__buffer_put_varint(&counts, 1);
			tel__buffer_put_varint(&values,
			    tel__zigzag(0 - before));
			before = 0;
			n++;
		}
		v = rate(buckets_gather(s, SUM, i, j), shift);
		tel__buffer_put_varint(bytes, (s->at[i] >> level) - at);
		at = s->at[i] >> level;
		tel__buffer_put_varint(&counts, buckets_gather(s, COUNT, i, j));
		tel__buffer_put_varint(&values, tel__zigzag(v - before));
		before = v;
		zero = at + 1;
		n++;
	}
	tel__buffer_put(bytes, counts.bytes, counts.used);
	for (unsigned c = MIN; c < TIME_BUCKETS_COLUMNS; c++)
		tel__buffer_put(bytes, values.bytes, values.used);
	bytes->failed |= counts.failed | values.failed;
	tel__buffer_clear(&counts);
	tel__buffer_clear(&values);
	return n;
}

size_t
tel__buckets_put(const struct time_buckets *p, size_t series, unsigned level,
    struct tel__buffer *bytes)
{
	const struct bucket_series *s = &p->series[series];
	uint64_t before = 0, v;
	size_t i, j, n = 0;

	if (level > 31)
		level = 31;
	if (s->key.kind == TIME_BUCKETS_RATE)
		return buckets_put_rate(p, s, level, bytes);
	for (i = 0; i < s->count; i = buckets_group(s, i, level), n++) {
		v = s->at[i] >> level;
		tel__buffer_put_varint(bytes, v - before);
		before = v;
	}
	for (unsigned c = 0; c < widths[s->key.kind]; c++) {
		before = 0;
		for (i = 0; i < s->count; i = j) {
			j = buckets_group(s, i, level);
			v = buckets_gather(s, c, i, j);
			if (s->key.kind != TIME_BUCKETS_VALUES || c == COUNT)
				tel__buffer_put_varint(bytes, v);
			else
				tel__buffer_put_varint(bytes,
				    tel__zigzag(v - before));
			before = v;
		}
	}
	return n;
}
