/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes of statistics: what a value does, and how two stats merge. */
#include "model/event.h"
#include "query/suggest.h"
#include "stats/stat.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/definition.h"

/* Counts on one side of 0 for powers of two, all for ranges. */
static size_t
side(const struct layout *l)
{
	return l->ranges != NULL ? l->count : (size_t)l->half + 1;
}

size_t
tel__stat_size(const struct definition *d)
{
	const struct layout *l = &d->spec.layout;
	size_t size = sizeof(struct tel_stat) +
	    d->ngroups * sizeof(struct key) + sizeof(struct tel_stat *) +
	    4 * sizeof(uint32_t);

	/* the sketch, which is there whatever it takes once it is needed */
	if (d->class->sketched)
		size += SKETCH_SIZE;
	return size + l->count * sizeof(uint64_t);
}

struct tel_stat *
tel__stat_new(const struct definition *d, const struct key *group,
    struct budget *budget)
{
	const struct layout *l = &d->spec.layout;
	struct tel_stat *s =
	    calloc(1, sizeof(*s) + d->ngroups * sizeof(*group));

	if (s == NULL)
		return NULL;
	s->definition = d;
	if (d->ngroups > 0)
		memcpy(s->group, group, d->ngroups * sizeof(*group));
	if (d->class->ranked)
		tel__top_init(&s->top, (uint32_t)d->spec.parameters[0], budget);
	if (d->class->take != NULL)
		tel__tally_init(&s->tally, (uint32_t)d->spec.parameters[0],
		    budget);
	if (l->count > 0) {
		s->counts = calloc(side(l), sizeof(*s->counts));
		if (s->counts == NULL) {
			free(s);
			return NULL;
		}
	}
	return s;
}

void
tel__stat_free(struct tel_stat *s)
{
	if (s == NULL)
		return;
	tel__tally_clear(&s->tally);
	tel__top_clear(&s->top);
	free(s->sketch);
	free(s->counts);
	free(s->below);
	free(s);
}

uint64_t
tel__stat_bucket(const struct tel_stat *s, uint32_t i)
{
	const struct layout *l = &s->definition->spec.layout;

	if (l->ranges != NULL)
		return s->counts[i];
	if (i >= l->half)
		return s->counts[i - l->half];
	return s->below == NULL ? 0 : s->below[l->half - i - 1];
}

tel_status
tel__stat_add_bucket(struct tel_stat *s, uint32_t i, uint64_t weight)
{
	const struct layout *l = &s->definition->spec.layout;
	uint64_t *count;

	if (l->ranges != NULL) {
		count = &s->counts[i];
	} else if (i >= l->half) {
		count = &s->counts[i - l->half];
	} else {
		if (s->below == NULL) {
			s->below = calloc(l->half, sizeof(*s->below));
			if (s->below == NULL)
				return TEL_ENOMEM;
		}
		count = &s->below[l->half - i - 1];
	}
	stat_wrap(s, count_add(count, weight));
	return TEL_OK;
}

/* ------------------------------------------------------------- classes */

static void
stat_widen(struct tel_stat *s, tel_int128 v)
{
	if (!(s->flags & STAT_EXTREMES)) {
		s->flags |= STAT_EXTREMES;
		s->min = s->max = v;
	} else if (int128_less(v, s->min)) {
		s->min = v;
	} else if (int128_less(s->max, v)) {
		s->max = v;
	}
}

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
	tel_status st;

	(void)update_extreme(s, v, weight);
	/* of a dt, every event has to be asked */
	if (!top_may_have(&s->top, v) && !d->every)
		return TEL_OK;
	st = tel__top_show_event(&shown, d->weight, d->nweights, ev);
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
	uint32_t i;

	for (i = 0; i < from->top.count && st == TEL_OK; i++)
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

static void
clear_keys(struct tel_stat *s)
{
	struct tally *t = &s->tally;
	struct budget *budget = t->budget;
	uint32_t max = t->max;

	if (budget != NULL) {
		tel__tally_clear(t);
		tel__tally_init(t, max, budget);
	}
	free(s->sketch);
	s->sketch = NULL;
}

uint8_t *
tel__stat_sketch(struct tel_stat *s)
{
	const struct tally *t = &s->tally;
	uint8_t *sketch;
	tel_value v;
	struct key k;
	uint32_t i;

	if (s->sketch != NULL)
		return s->sketch;
	sketch = calloc(SKETCH_SIZE, sizeof(*sketch));
	if (sketch == NULL)
		return NULL;
	for (i = 0; i < t->count; i++) {
		k = tally_key(t, i);
		tel__key_value(s->definition->strings, &k, &v);
		sketch_add(sketch, tel__sketch_digest(&v));
	}
	clear_keys(s);
	return s->sketch = sketch;
}

tel_status
tel__stat_add_distinct(struct tel_stat *s, const tel_value *v)
{
	int wrapped = 0;
	struct key key;
	tel_status st;

	if (s->sketch == NULL) {
		st = tel__key_make(s->definition->strings, v, &key);
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
	tel_status st;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		k = tally_key(t, i);
		tel__key_value(from->definition->strings, &k, &v);
		st = tel__key_make(strings, &v, &k);
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
	uint32_t i;

	for (i = 0; i < from->tally.count && st == TEL_OK; i++) {
		k = tally_key(&from->tally, i);
		tel__key_value(from->definition->strings, &k, &v);
		st = tel__stat_add_distinct(s, &v);
	}
	if (from->sketch == NULL || st != TEL_OK)
		return st;
	if (tel__stat_sketch(s) == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < SKETCH_SIZE; i++)
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
	int64_t bucket;
	int wrapped;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += values[i];
		squares += values[i] * values[i];
	}
	s->updates += n;
	squares_add_sum(&s->squares, squares);
	wrapped =
	    count_add(&s->weight, n) | int128_add(&s->sum, int128_u64(sum));
	for (i = 0; i < n; i++) {
		bucket = layout_find(l, (int64_t)values[i]);
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
	size_t i;

	for (i = 0; i < n; i++)
		all |= values[i];
	if (all >> SMALL_BITS == 0 && n <= SMALL_MAX) {
		add_small(s, values, n);
		return TEL_OK;
	}
	for (i = 0; i < n && st == TEL_OK; i++)
		st = update_buckets(s, int128_u64(values[i]), 1);
	return st;
}

static tel_status
update_many_quantiles(struct tel_stat *s, const uint64_t *values, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
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
	    .take = take_tally, .merge = merge_tally },
	[TEL_CLASS_DISTINCT] = { "distinct", "distinct", PARAMETERS(1, "max"),
	    .preset = DISTINCT_MAX, .unitless = 1, .sketched = 1,
	    .layout = tel__layout_distinct,
	    .numbers = { { "dist", TEL_NUMBER_DISTINCT },
	        { "err", TEL_NUMBER_ERROR } },
	    .take = take_distinct, .merge = merge_distinct },
	[TEL_CLASS_TOP] = { "top", "top", PARAMETERS(1, "n"),
	    .required = 1, .weighted = TEL_SHOWN_MAX, .real = 1,
	    .ranked = 1,
	    .layout = tel__layout_top, .numbers = { { "max", TEL_NUMBER_MAX } },
	    .update = update_top, .merge = merge_top },
	[TEL_CLASS_COUNT] = { "count", "count", .unitless = 1, .bare = 1,
	    .update = update_count },
	[TEL_CLASS_SUM] = { "sum", "sum",
	    .numbers = { { "total", TEL_NUMBER_SUM } },
	    .real = 1, .update = update_sum },
	[TEL_CLASS_MEAN] = { "mean", "mean",
	    .numbers = { { "total", TEL_NUMBER_SUM } },
	    .real = 1, .update = update_sum },
	[TEL_CLASS_MIN] = { "min", "min",
	    .numbers = { { "min", TEL_NUMBER_MIN } },
	    .real = 1, .update = update_extreme },
	[TEL_CLASS_MAX] = { "max", "max",
	    .numbers = { { "max", TEL_NUMBER_MAX } },
	    .real = 1, .update = update_extreme },
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
	unsigned i;

	for (i = 0; i < NCLASSES; i++) {
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
	unsigned i, which;
	size_t used = 0;

	for (i = 0; i < NCLASSES && used < size; i++) {
		which = (i + TEL_CLASS_COUNT) % NCLASSES;
		tel__suggest_offer(near, classes[which].name);
		used += (size_t)snprintf(out + used, size - used, "%s%s",
		    i == 0 ? "" : ", ", classes[which].name);
	}
}

int
tel__stat_class_find_inst(const char *type, size_t n, int running,
    tel_class *out)
{
	unsigned i;

	for (i = 0; i < NCLASSES; i++) {
		if (classes[i].running == running &&
		    strlen(classes[i].inst) == n &&
		    memcmp(classes[i].inst, type, n) == 0) {
			*out = (tel_class)i;
			return 1;
		}
	}
	return 0;
}

/* -------------------------------------------------------------- numbers */

static uint64_t
power_of_ten(unsigned n)
{
	uint64_t power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* v / 2^n, to the nearest, of two to the larger; v is not below 0. */
static tel_int128
shift_right(tel_int128 v, unsigned n)
{
	tel_int128 half = int128_u64(0);

	if (n == 0)
		return v;
	if (n > 64)
		half.high = (int64_t)1 << (n - 65);
	else
		half.low = (uint64_t)1 << (n - 1);
	(void)int128_add(&v, half);
	if (n >= 64)
		return int128_u64((uint64_t)v.high >> (n - 64));
	v.low = v.low >> n | (uint64_t)v.high << (64 - n);
	v.high >>= n;
	return v;
}

/* The multiple of 10^-decimals, by its bits: no product is rounded before. */
static tel_status
scale_double(double d, unsigned decimals, tel_int128 *out)
{
	uint64_t bits, mantissa;
	int exponent;

	memcpy(&bits, &d, sizeof(bits));
	exponent = (int)(bits >> 52 & 0x7ff);
	mantissa = bits & (((uint64_t)1 << 52) - 1);
	/* infinite, no number, or far beyond 64 bits */
	if (exponent > 1075 + 12)
		return TEL_EINVAL;
	if (exponent > 0)
		mantissa |= (uint64_t)1 << 52;
	else
		exponent = 1;
	exponent -= 1075;
	*out = int128_u64(0);
	(void)tel__int128_add_times(out, int128_u64(mantissa),
	    power_of_ten(decimals));
	/* it has at most 83 bits */
	for (; exponent > 0; exponent--)
		(void)int128_add(out, *out);
	*out = exponent <= -84 ? int128_u64(0) :
	                         shift_right(*out, (unsigned)-exponent);
	if (d < 0)
		*out = tel__int128_negate(*out);
	return TEL_OK;
}

/* The integer below a double. */
static tel_status
floor_double(double d, tel_int128 *out)
{
	/* a NaN fails the comparison, too */
	if (!(d >= -9223372036854775808.0 && d < 18446744073709551616.0))
		return TEL_EINVAL;
	if (d >= 0) {
		*out = int128_u64((uint64_t)d);
		return TEL_OK;
	}
	*out = int128_i64((int64_t)d);
	if (tel_int128_double(*out) > d)
		(void)int128_add(out, int128_i64(-1));
	return TEL_OK;
}

tel_status
tel__stat_number_of(const tel_value *v, unsigned decimals, tel_int128 *out)
{
	tel_int128 whole;
	tel_status st = TEL_OK;

	if (v->datatype == TEL_STRING)
		return TEL_EINVAL;
	if (v->datatype == TEL_DOUBLE && decimals == 0)
		return floor_double(v->as.f64, out);
	if (v->datatype == TEL_DOUBLE) {
		st = scale_double(v->as.f64, decimals, out);
	} else {
		whole = v->datatype == TEL_SIGNED ? int128_i64(v->as.i64) :
		                                    int128_u64(v->as.u64);
		*out = int128_u64(0);
		(void)tel__int128_add_times(out, whole, power_of_ten(decimals));
	}
	if (st == TEL_OK && !int128_is_i64(*out) && !int128_is_u64(*out))
		st = TEL_EINVAL;
	return st;
}

void
tel__stat_zero(struct tel_stat *s)
{
	const struct layout *l = &s->definition->spec.layout;
	uint64_t open = s->pairs.open;

	memset(s->sums, 0, sizeof(s->sums));
	s->pairs.open = open;
	s->sum = int128_u64(0);
	memset(&s->squares, 0, sizeof(s->squares));
	s->flags &= s->definition->class->current ? STAT_LAST : 0;
	if (s->counts != NULL)
		memset(s->counts, 0, side(l) * sizeof(*s->counts));
	if (s->below != NULL)
		memset(s->below, 0, l->half * sizeof(*s->below));
	tel__top_clear(&s->top);
	if (s->definition->class->sketched)
		clear_keys(s);
	else
		tel__tally_zero(&s->tally);
}

void
tel__stat_reset(struct tel_stat *s)
{
	tel__stat_zero(s);
	s->flags = 0;
	s->pairs.open = 0;
	clear_keys(s);
}

/* clang-format off */
#define AT(member) offsetof(struct tel_stat, member)
/* Where numbers are, and the flags with, and without, which they are known. */
static const struct place {
	size_t at;
	int wide; /* it has 128 bits */
	unsigned with, without;
} places[] = {
	[TEL_NUMBER_UPDATES] = { AT(updates), 0, 0, 0 },
	[TEL_NUMBER_WEIGHT] = { AT(weight), 0, 0, 0 },
	[TEL_NUMBER_SUM] = { AT(sum), 1, 0, STAT_NO_SUM },
	[TEL_NUMBER_LAST] = { AT(last), 1, STAT_LAST, 0 },
	[TEL_NUMBER_MIN] = { AT(min), 1, STAT_EXTREMES, 0 },
	[TEL_NUMBER_MAX] = { AT(max), 1, STAT_EXTREMES, 0 },
	[TEL_NUMBER_UNDER] = { AT(under), 0, 0, STAT_OUTSIDE },
	[TEL_NUMBER_OVER] = { AT(over), 0, 0, STAT_OUTSIDE },
	[TEL_NUMBER_OUTSIDE] = { AT(outside), 0, STAT_OUTSIDE, 0 },
	[TEL_NUMBER_OVERFLOW] = { AT(tally.overflow), 0, 0, 0 },
	[TEL_NUMBER_OVERFLOW_UPDATES] = { AT(tally.overflow_updates), 0, 0, 0 },
	[TEL_NUMBER_INVALID] = { AT(invalid), 0, 0, 0 },
	[TEL_NUMBER_EVENTS] = { AT(pairs.events), 0, 0, 0 },
	[TEL_NUMBER_PAIRS] = { AT(pairs.pairs), 0, 0, 0 },
	[TEL_NUMBER_OPEN] = { AT(pairs.open), 0, 0, 0 },
	[TEL_NUMBER_ORPHAN] = { AT(pairs.orphan), 0, 0, 0 },
	[TEL_NUMBER_NESTED] = { AT(pairs.nested), 0, 0, 0 },
	[TEL_NUMBER_BACKWARD] = { AT(pairs.backward), 0, 0, 0 },
	[TEL_NUMBER_UNTIMED] = { AT(pairs.untimed), 0, 0, 0 },
	[TEL_NUMBER_CROWDED] = { AT(pairs.crowded), 0, 0, 0 },
	[TEL_NUMBER_LOST] = { AT(lost), 0, 0, 0 },
};
/* clang-format on */

int
tel__stat_get_number(const struct tel_stat *s, tel_number which,
    tel_int128 *out)
{
	const struct place *p = &places[which];
	const char *at = (const char *)s + p->at;
	uint64_t count;

	if (which == TEL_NUMBER_DISTINCT || which == TEL_NUMBER_ERROR) {
		count = s->sketch != NULL ? tel__sketch_estimate(s->sketch) :
		                            s->tally.count;
		if (which == TEL_NUMBER_ERROR)
			count =
			    s->sketch != NULL ? tel__sketch_error(count) : 0;
		*out = int128_u64(count);
		return (s->flags & STAT_NO_VALUES) == 0;
	}
	/* 0 is where every stat has its definition */
	if (p->at == 0 || (s->flags & p->with) != p->with ||
	    (s->flags & p->without) != 0)
		return 0;
	if (p->wide) {
		memcpy(out, at, sizeof(*out));
		return 1;
	}
	memcpy(&count, at, sizeof(count));
	*out = int128_u64(count);
	if (which == TEL_NUMBER_OUTSIDE) {
		(void)int128_add(out, int128_u64(s->under));
		(void)int128_add(out, int128_u64(s->over));
	}
	return 1;
}

int
tel__stat_set_number(struct tel_stat *s, tel_number which, tel_int128 v)
{
	const struct place *p = &places[which];
	char *at = (char *)s + p->at;

	/* it follows from what comes behind it */
	if (which == TEL_NUMBER_DISTINCT || which == TEL_NUMBER_ERROR)
		return int128_is_u64(v);
	/* the extremes are known if both are */
	s->flags |= p->with & ~(unsigned)STAT_EXTREMES;
	if (!p->wide) {
		memcpy(at, &v.low, sizeof(v.low));
		return int128_is_u64(v);
	}
	s->flags &= ~p->without;
	memcpy(at, &v, sizeof(v));
	return 1;
}

/* -------------------------------------------------------------- merging */

/* Adds the squares of values that are more by shift than they were there. */
static void
merge_squares(struct tel_stat *s, const struct tel_stat *from, tel_int128 shift)
{
	struct squares squares = from->squares;

	if ((shift.high != 0 || shift.low != 0) &&
	    !tel__squares_shift(&squares, shift, from->sum, from->updates))
		s->flags |= STAT_NO_SQUARES;
	tel__squares_merge(&s->squares, &squares);
}

/* The current value of what comes later counts from that of s. */
static void
merge_values(struct tel_stat *s, const struct tel_stat *from)
{
	tel_int128 shift = int128_u64(0), v;

	if (s->definition->class->running)
		shift = s->last;
	if (from->flags & STAT_EXTREMES) {
		v = from->min;
		stat_wrap(s, int128_add(&v, shift));
		stat_widen(s, v);
		v = from->max;
		stat_wrap(s, int128_add(&v, shift));
		stat_widen(s, v);
	}
	merge_squares(s, from, shift);
	stat_wrap(s,
	    int128_add(&s->sum, from->sum) |
	        tel__int128_add_times(&s->sum, shift, from->updates));
	if (from->flags & STAT_LAST &&
	    (!(s->flags & STAT_LAST) || from->last_clock >= s->last_clock ||
	        s->definition->class->running)) {
		s->last = from->last;
		if (s->last_clock < from->last_clock)
			s->last_clock = from->last_clock;
		stat_wrap(s, int128_add(&s->last, shift));
		s->flags |= STAT_LAST;
	}
}

static void
merge_counts(struct tel_stat *s, const struct tel_stat *from)
{
	int wrapped = 0;
	size_t i;

	for (i = 0; i < sizeof(s->sums) / sizeof(s->sums[0]); i++)
		wrapped |= count_add(&s->sums[i], from->sums[i]);
	stat_wrap(s, wrapped);
	s->flags |= from->flags &
	    (STAT_NO_SUM | STAT_OUTSIDE | STAT_WRAPPED | STAT_APPROXIMATE |
	        STAT_NO_SQUARES | STAT_NO_VALUES);
}

tel_status
tel__stat_merge(struct tel_stat *s, const struct tel_stat *from)
{
	const struct stat_class *class = s->definition->class;
	const struct layout *l = &s->definition->spec.layout;
	tel_status st = TEL_OK;
	uint64_t count;
	uint32_t i;

	for (i = 0; i < l->count && st == TEL_OK; i++) {
		count = tel__stat_bucket(from, i);
		if (count > 0)
			st = tel__stat_add_bucket(s, i, count);
	}
	if (st == TEL_OK && class->merge != NULL)
		st = class->merge(s, from);
	if (st != TEL_OK)
		return st;
	merge_values(s, from);
	merge_counts(s, from);
	return TEL_OK;
}

void
tel__stat_subtract(struct tel_stat *s, const struct tel_stat *base)
{
	const struct layout *l = &s->definition->spec.layout;
	uint64_t open = s->pairs.open;
	struct tally *t = &s->tally;
	int wrapped = 0;
	unsigned flags = s->flags & ~(unsigned)STAT_EXTREMES;
	struct key k;
	uint32_t i;

	/* the class was counted anew */
	if (s->updates < base->updates || s->pairs.events < base->pairs.events)
		return;
	for (i = 0; i < sizeof(s->sums) / sizeof(s->sums[0]); i++)
		s->sums[i] -= base->sums[i];
	s->pairs.open = open;
	(void)int128_add(&s->sum, tel__int128_negate(base->sum));
	tel__squares_subtract(&s->squares, &base->squares);
	flags |= base->flags & STAT_NO_SQUARES;
	for (i = 0; i < l->count; i++)
		if (tel__stat_bucket(base, i) > 0)
			(void)tel__stat_add_bucket(s, i,
			    0 - tel__stat_bucket(base, i));
	for (i = 0; i < base->tally.count; i++) {
		k = tally_key(&base->tally, i);
		(void)tel__tally_add(t, &k, 0 - base->tally.counts[i],
		    0 - base->tally.updates[i], &wrapped);
	}
	/* values of both came again, or did not: that is not known */
	s->flags =
	    flags | (s->definition->class->sketched ? STAT_NO_VALUES : 0);
	tel__top_clear(&s->top);
	t->overflow -= base->tally.overflow;
	t->overflow_updates -= base->tally.overflow_updates;
}
