/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes of statistics: a row for each, and what a value does to it. */
#include "stats/class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/event.h"
#include "query/suggest.h"
#include "stats/definition.h"

static inline void
add_square(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	if (!squares_add(&s->squares, v, weight))
		s->flags |= STAT_NO_SQUARES;
}

/* A value of which the last, the least and the largest are kept. */
static void
set_value(struct tel_stat *s, tel_int128 v)
{
	/* of updates that come out of order the latest is the last */
	if (!(s->flags & STAT_LAST) || s->now >= s->last_clock) {
		s->last = v;
		s->last_clock = s->now;
		s->flags |= STAT_LAST;
	}
	stat_widen(s, v);
	add_square(s, v, 1);
	stat_wrap(s, int128_add(&s->sum, v));
}

static tel_status
update_mag(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	(void)weight;
	s->updates++;
	set_value(s, v);
	return TEL_OK;
}

static tel_status
update_magdelta(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	stat_wrap(s, int128_add(&v, s->last));
	s->now = s->last_clock = 0; /* a sum has no order */
	return update_mag(s, v, weight);
}

static tel_status
update_growth(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	if (v.high >= 0)
		return update_mag(s, v, weight);
	s->invalid++;
	return TEL_OK;
}

/* The events of a summary are counted with its pairs. */
static tel_status
update_dur(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	(void)weight;
	set_value(s, v);
	return TEL_OK;
}

static tel_status
update_count(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	(void)v;
	(void)weight;
	s->updates++;
	return TEL_OK;
}

static tel_status
update_sum(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	(void)weight;
	s->updates++;
	stat_wrap(s, int128_add(&s->sum, v));
	return TEL_OK;
}

static tel_status
update_extreme(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	(void)weight;
	s->updates++;
	stat_widen(s, v);
	return TEL_OK;
}

tel_status
tel__stat_add_top(struct tel_stat *s, const tel_top *value)
{
	tel_status st = tel__top_add(&s->top, value);

	if (st == TEL_ELIMIT)
		s->flags |= STAT_APPROXIMATE;
	return st == TEL_ENOMEM ? st : TEL_OK;
}

static tel_status
update_top(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	const struct definition *d = s->definition;
	const struct tel_event *ev = s->event;
	struct top_shown shown = { .count = 0 };
	tel_top top = { v, s->now, ev->offset, ev->log->name, shown.values, 0 };

	(void)update_extreme(s, v, weight);
	/* of a dt, every event has to be asked */
	if (!top_may_have(&s->top, v) && !d->every)
		return TEL_OK;
	tel_status st = tel__top_show_event(&shown, d->weight, d->nweights, ev);
	if (top.log == NULL)
		top.log = "";
	top.nshown = shown.count;
	if (st == TEL_OK)
		st = tel__stat_add_top(s, &top);
	tel__top_shown_clear(&shown);
	return st == TEL_OK ? st : TEL_ENOMEM;
}

static tel_status
merge_top(struct tel_stat *s, const struct tel_stat *from)
{
	tel_status st = TEL_OK;

	for (uint32_t i = 0; i < from->top.count && st == TEL_OK; i++)
		st = tel__stat_add_top(s, from->top.list[i]);
	return st;
}

static tel_status
update_var(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	add_square(s, v, 1);
	return update_sum(s, v, weight);
}

static tel_status
update_ratio(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	s->updates++;
	stat_wrap(s, count_add(&s->weight, weight) | int128_add(&s->sum, v));
	return TEL_OK;
}

/* Adds to a bucket, or to what lies outside of them. */
static tel_status
update_buckets(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	const struct layout *l = &s->definition->spec.layout;
	int64_t i;

	if (int128_is_i64(v))
		i = layout_find(l, (int64_t)v.low);
	else
		/* above all int64_t: the last power of two has no end */
		i = l->ranges == NULL ? (int64_t)l->count - 1 : l->count;
	s->updates++;
	add_square(s, v, weight);
	stat_wrap(s,
	    count_add(&s->weight, weight) |
	        tel__int128_add_times(&s->sum, v, weight));
	if (i >= 0 && i < l->count)
		return tel__stat_add_bucket(s, (uint32_t)i, weight);
	stat_wrap(s, count_add(i < 0 ? &s->under : &s->over, weight));
	return TEL_OK;
}

static tel_status
update_quantiles(struct tel_stat *s, tel_int128 v, uint64_t weight)
{
	stat_widen(s, v);
	return update_buckets(s, v, weight);
}

/* A value without room for a string is counted as overflow. */
static tel_status
take_tally(struct tel_stat *s, const tel_value *v, uint64_t weight)
{
	int wrapped = count_add(&s->weight, weight);
	struct key key;
	tel_status st = tel__key_make(s->definition->strings, v, &key);

	if (st == TEL_ENOMEM)
		return st;
	s->updates++;
	if (st != TEL_OK)
		tel__tally_overflow(&s->tally, weight, 1, &wrapped);
	else
		st = tel__tally_add(&s->tally, &key, weight, 1, &wrapped);
	stat_wrap(s, wrapped);
	return st == TEL_ENOMEM ? st : TEL_OK;
}

uint8_t *
tel__stat_sketch(struct tel_stat *s)
{
	const struct tally *t = &s->tally;
	uint8_t *sketch;
	tel_value v;
	struct key k;

	if (s->sketch != NULL)
		return s->sketch;
	sketch = calloc(SKETCH_SIZE, sizeof(*sketch));
	if (sketch == NULL)
		return NULL;
	for (uint32_t i = 0; i < t->count; i++) {
		k = tally_key(t, i);
		tel__key_value(s->definition->strings, &k, &v);
		sketch_add(sketch, tel__sketch_digest(&v));
	}
	tel__stat_clear_keys(s);
	return s->sketch = sketch;
}

tel_status
tel__stat_add_distinct(struct tel_stat *s, const tel_value *v)
{
	int wrapped = 0;
	struct key key;

	if (s->sketch == NULL) {
		tel_status st = tel__key_make(s->definition->strings, v, &key);

		if (st == TEL_OK)
			st = tel__tally_add(&s->tally, &key, 0, 0, &wrapped);
		if (st != TEL_ELIMIT)
			return st;
		/* with more memory it would be exact */
		if (s->tally.count < s->tally.max)
			s->flags |= STAT_APPROXIMATE;
		if (tel__stat_sketch(s) == NULL)
			return TEL_ENOMEM;
	}
	sketch_add(s->sketch, tel__sketch_digest(v));
	return TEL_OK;
}

static tel_status
take_distinct(struct tel_stat *s, const tel_value *v, uint64_t weight)
{
	(void)weight;
	s->updates++;
	return tel__stat_add_distinct(s, v);
}

static tel_status
merge_tally(struct tel_stat *s, const struct tel_stat *from)
{
	struct strings *strings = s->definition->strings;
	const struct tally *t = &from->tally;
	int wrapped = 0, full = s->tally.overflow_updates > 0;
	int first = s->updates == 0;
	tel_value v;
	struct key k;

	for (uint32_t i = 0; i < t->count; i++) {
		k = tally_key(t, i);
		tel__key_value(from->definition->strings, &k, &v);
		tel_status st = tel__key_make(strings, &v, &k);
		if (st == TEL_ELIMIT)
			tel__tally_overflow(&s->tally, t->counts[i],
			    t->updates[i], &wrapped);
		else if (st == TEL_OK)
			st = tel__tally_add(&s->tally, &k, t->counts[i],
			    t->updates[i], &wrapped);
		if (st == TEL_ENOMEM)
			return st;
		if (st == TEL_ELIMIT)
			full = 1;
	}
	tel__tally_overflow(&s->tally, t->overflow, t->overflow_updates,
	    &wrapped);
	stat_wrap(s, wrapped);
	/* what was turned away by one part may be a key of the other */
	if ((full || t->overflow_updates > 0) && !first && from->updates > 0)
		s->flags |= STAT_APPROXIMATE;
	return TEL_OK;
}

static tel_status
merge_distinct(struct tel_stat *s, const struct tel_stat *from)
{
	tel_status st = TEL_OK;
	struct key k;
	tel_value v;

	for (uint32_t i = 0; i < from->tally.count && st == TEL_OK; i++) {
		k = tally_key(&from->tally, i);
		tel__key_value(from->definition->strings, &k, &v);
		st = tel__stat_add_distinct(s, &v);
	}
	if (from->sketch == NULL || st != TEL_OK)
		return st;
	if (tel__stat_sketch(s) == NULL)
		return TEL_ENOMEM;
	for (uint32_t i = 0; i < SKETCH_SIZE; i++)
		if (s->sketch[i] < from->sketch[i])
			s->sketch[i] = from->sketch[i];
	return TEL_OK;
}

/* Bits of values of which 2^8 squares have a sum of 64 bits, and the 2^8. */
#define SMALL_BITS 28u
#define SMALL_MAX 256u

/*
 * Adds small values at once: each to its bucket, but only their sums to the
 * numbers of 128 bits and more.
 */
static void
add_small(struct tel_stat *s, const uint64_t *values, size_t n)
{
	const struct layout *l = &s->definition->spec.layout;
	const uint32_t first = l->ranges == NULL ? l->half : 0;
	uint64_t sum = 0, squares = 0, *count;

	for (size_t i = 0; i < n; i++) {
		sum += values[i];
		squares += values[i] * values[i];
	}
	s->updates += n;
	squares_add_sum(&s->squares, squares);
	int wrapped =
	    count_add(&s->weight, n) | int128_add(&s->sum, int128_u64(sum));
	for (size_t i = 0; i < n; i++) {
		int64_t bucket = layout_find(l, (int64_t)values[i]);

		if (bucket < 0)
			count = &s->under;
		else if (bucket >= l->count)
			count = &s->over;
		else
			count = &s->counts[bucket - first];
		wrapped |= count_add(count, 1);
	}
	stat_wrap(s, wrapped);
}

static tel_status
update_many_buckets(struct tel_stat *s, const uint64_t *values, size_t n)
{
	tel_status st = TEL_OK;
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= values[i];
	if (all >> SMALL_BITS == 0 && n <= SMALL_MAX) {
		add_small(s, values, n);
		return TEL_OK;
	}
	for (size_t i = 0; i < n && st == TEL_OK; i++)
		st = update_buckets(s, int128_u64(values[i]), 1);
	return st;
}

/* The values of a run have one data type. */
static tel_status
update_many_tally(struct tel_stat *s, const uint64_t *values, size_t n)
{
	struct key key = { 0, (uint8_t)s->definition->value_type };
	int wrapped = count_add(&s->weight, n);
	tel_status st = TEL_OK;

	s->updates += n;
	for (size_t i = 0; i < n && st != TEL_ENOMEM; i++) {
		key.bits = values[i];
		st = tel__tally_add(&s->tally, &key, 1, 1, &wrapped);
	}
	stat_wrap(s, wrapped);
	return st == TEL_ENOMEM ? st : TEL_OK;
}

static tel_status
update_many_distinct(struct tel_stat *s, const uint64_t *values, size_t n)
{
	tel_value v = { 0, s->definition->value_type, { 0 }, 0 };
	tel_status st = TEL_OK;

	s->updates += n;
	for (size_t i = 0; i < n && st == TEL_OK; i++) {
		v.as.u64 = values[i];
		st = tel__stat_add_distinct(s, &v);
	}
	return st;
}

static tel_status
update_many_sums(struct tel_stat *s, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)update_sum(s, int128_u64(values[i]), 1);
	return TEL_OK;
}

static tel_status
update_many_extremes(struct tel_stat *s, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)update_extreme(s, int128_u64(values[i]), 1);
	return TEL_OK;
}

static tel_status
update_many_quantiles(struct tel_stat *s, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		stat_widen(s, int128_u64(values[i]));
	return update_many_buckets(s, values, n);
}

/* clang-format off */
#define PARAMETERS(n, ...) .parameters = { __VA_ARGS__ }, .nparameters = (n)
#define MAG_NUMBERS .numbers = { { "cur", TEL_NUMBER_LAST }, \
	{ "min", TEL_NUMBER_MIN }, { "max", TEL_NUMBER_MAX }, \
	{ "sum", TEL_NUMBER_SUM } }
#define TOTAL_NUMBERS .numbers = { { "total", TEL_NUMBER_SUM }, \
	{ "last", TEL_NUMBER_LAST }, { "min", TEL_NUMBER_MIN }, \
	{ "max", TEL_NUMBER_MAX } }
#define BUCKET_NUMBERS .numbers = { { "w", TEL_NUMBER_WEIGHT }, \
	{ "sum", TEL_NUMBER_SUM }, { "min", TEL_NUMBER_MIN }, \
	{ "max", TEL_NUMBER_MAX }, { "ovf", TEL_NUMBER_OUTSIDE }, \
	{ "under", TEL_NUMBER_UNDER }, { "over", TEL_NUMBER_OVER } }

static const struct stat_class classes[] = {
	[TEL_CLASS_MAG] = { "mag", "mag", MAG_NUMBERS, .squared = 1, .real = 1,
	    .current = 1, .update = update_mag },
	[TEL_CLASS_MAGDELTA] = { "magdelta", "mag", MAG_NUMBERS, .squared = 1,
	    .real = 1, .current = 1, .running = 1, .update = update_magdelta },
	[TEL_CLASS_GROWTH] = { "growth", "growth", TOTAL_NUMBERS,
	    .squared = 1, .real = 1, .update = update_growth },
	[TEL_CLASS_DUR] = { "dur", "strace", TOTAL_NUMBERS,
	    .squared = 1, .pairs = 1, .update = update_dur },
	[TEL_CLASS_RATIO] = { "ratio", "ratio", .required = 1, .weighted = 1,
	    .unitless = 1,
	    .numbers = { { "w", TEL_NUMBER_WEIGHT },
	        { "total", TEL_NUMBER_SUM } },
	    .real = 1, .update = update_ratio },
	[TEL_CLASS_HIST] = { "hist", "hist",
	    PARAMETERS(3, "lo", "hi", "w"), .required = 3, .weighted = 1,
	    .layout = tel__layout_hist, BUCKET_NUMBERS,
	    .squared = 1, .real = 1, .valued = 1, .update = update_buckets,
	    .update_many = update_many_buckets },
	[TEL_CLASS_SPLIT] = { "split", "split",
	    PARAMETERS(5, "lo", "w1", "knee", "hi", "w2"),
	    .required = 5, .weighted = 1,
	    .layout = tel__layout_split, BUCKET_NUMBERS,
	    .squared = 1, .real = 1, .valued = 1, .update = update_buckets,
	    .update_many = update_many_buckets },
	[TEL_CLASS_LOG2] = { "log2", "log2", PARAMETERS(1, "k"),
	    .weighted = 1, .layout = tel__layout_log2, BUCKET_NUMBERS,
	    .squared = 1, .update = update_buckets,
	    .update_many = update_many_buckets },
	[TEL_CLASS_LOGLIN] = { "loglin", "loglin",
	    PARAMETERS(4, "factor", "low", "high", "steps"),
	    .required = 4, .weighted = 1,
	    .layout = tel__layout_loglin, BUCKET_NUMBERS,
	    .squared = 1, .update = update_buckets,
	    .update_many = update_many_buckets },
	[TEL_CLASS_QUANTILES] = { "quantiles", "quantiles",
	    PARAMETERS(1, "bits"), .preset = QUANTILE_BITS, .weighted = 1,
	    .layout = tel__layout_quantiles, BUCKET_NUMBERS,
	    .squared = 1, .real = 1, .update = update_quantiles,
	    .update_many = update_many_quantiles },
	[TEL_CLASS_TALLY] = { "tally", "tally", PARAMETERS(1, "max"),
	    .required = 1, .weighted = 1, .unitless = 1,
	    .layout = tel__layout_tally,
	    .numbers = { { "w", TEL_NUMBER_WEIGHT },
	        { "ovf", TEL_NUMBER_OVERFLOW },
	        { "ovfn", TEL_NUMBER_OVERFLOW_UPDATES } },
	    .take = take_tally, .merge = merge_tally,
	    .update_many = update_many_tally },
	[TEL_CLASS_DISTINCT] = { "distinct", "distinct", PARAMETERS(1, "max"),
	    .preset = DISTINCT_MAX, .unitless = 1, .sketched = 1,
	    .layout = tel__layout_distinct,
	    .numbers = { { "dist", TEL_NUMBER_DISTINCT },
	        { "err", TEL_NUMBER_ERROR } },
	    .take = take_distinct, .merge = merge_distinct,
	    .update_many = update_many_distinct },
	[TEL_CLASS_TOP] = { "top", "top", PARAMETERS(1, "n"),
	    .required = 1, .weighted = TEL_SHOWN_MAX, .real = 1,
	    .ranked = 1,
	    .layout = tel__layout_top, .numbers = { { "max", TEL_NUMBER_MAX } },
	    .update = update_top, .merge = merge_top },
	[TEL_CLASS_COUNT] = { "count", "count", .unitless = 1, .bare = 1,
	    .update = update_count },
	[TEL_CLASS_SUM] = { "sum", "sum",
	    .numbers = { { "total", TEL_NUMBER_SUM } },
	    .real = 1, .update = update_sum,
	    .update_many = update_many_sums },
	[TEL_CLASS_MEAN] = { "mean", "mean",
	    .numbers = { { "total", TEL_NUMBER_SUM } },
	    .real = 1, .update = update_sum,
	    .update_many = update_many_sums },
	[TEL_CLASS_MIN] = { "min", "min",
	    .numbers = { { "min", TEL_NUMBER_MIN } },
	    .real = 1, .update = update_extreme,
	    .update_many = update_many_extremes },
	[TEL_CLASS_MAX] = { "max", "max",
	    .numbers = { { "max", TEL_NUMBER_MAX } },
	    .real = 1, .update = update_extreme,
	    .update_many = update_many_extremes },
	[TEL_CLASS_VAR] = { "var", "var",
	    .numbers = { { "total", TEL_NUMBER_SUM } },
	    .squared = 1, .real = 1, .update = update_var },
};
/* clang-format on */
#define NCLASSES (sizeof(classes) / sizeof(classes[0]))

const struct stat_class *
tel__stat_class(tel_class c)
{
	return &classes[c];
}

const char *
tel_class_name(tel_class c)
{
	return (unsigned)c < NCLASSES ? classes[c].name : "unknown";
}

int
tel__stat_class_find(const char *name, size_t n, tel_class *out)
{
	for (unsigned i = 0; i < NCLASSES; i++) {
		if (strlen(classes[i].name) == n &&
		    memcmp(classes[i].name, name, n) == 0) {
			*out = (tel_class)i;
			return 1;
		}
	}
	return 0;
}

void
tel__stat_class_list(char *out, size_t size, struct suggestion *near)
{
	size_t used = 0;

	for (unsigned i = 0; i < NCLASSES && used < size; i++) {
		unsigned which = (i + TEL_CLASS_COUNT) % NCLASSES;

		tel__suggest_offer(near, classes[which].name);
		used += (size_t)snprintf(out + used, size - used, "%s%s",
		    i == 0 ? "" : ", ", classes[which].name);
	}
}

int
tel__stat_class_find_inst(const char *type, size_t n, int running,
    tel_class *out)
{
	for (unsigned i = 0; i < NCLASSES; i++) {
		if (classes[i].running == running &&
		    strlen(classes[i].inst) == n &&
		    memcmp(classes[i].inst, type, n) == 0) {
			*out = (tel_class)i;
			return 1;
		}
	}
	return 0;
}
