/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a statistic: its buckets and numbers, and how two merge. */
#include "stats/stat.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "stats/class.h"
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

/* -------------------------------------------------------------- numbers */

static uint64_t
power_of_ten(unsigned n)
{
	uint64_t power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* v / 2^n, rounded down; v is not below 0, and n is below 128. */
static tel_int128
shift_right(tel_int128 v, unsigned n)
{
	if (n >= 64)
		return int128_u64((uint64_t)v.high >> (n - 64));
	if (n > 0) {
		v.low = v.low >> n | (uint64_t)v.high << (64 - n);
		v.high >>= n;
	}
	return v;
}

/* v / 2^n, to the nearest, of two to the larger. */
static tel_int128
shift_round(tel_int128 v, unsigned n)
{
	if (n == 0)
		return v;
	v = shift_right(v, n - 1);
	(void)int128_add(&v, int128_u64(1));
	return shift_right(v, 1);
}

/* The multiple of 10^-decimals, by its bits: no product is rounded before. */
static tel_status
scale_double(double d, unsigned decimals, tel_int128 *out)
{
	uint64_t bits, mantissa;

	memcpy(&bits, &d, sizeof(bits));
	int exponent = (int)(bits >> 52 & 0x7ff);
	mantissa = bits & (((uint64_t)1 << 52) - 1);
	/* infinite, no number, or far beyond 64 bits */
	if (exponent > 1075 + 12)
		return TEL_EINVAL;
	/* where it has not this bit, as 0, it is rounded to 0 in any case */
	mantissa |= (uint64_t)1 << 52;
	exponent -= 1075;
	*out = int128_u64(0);
	(void)tel__int128_add_times(out, int128_u64(mantissa),
	    power_of_ten(decimals));
	/* it has at most 83 bits */
	for (; exponent > 0; exponent--)
		(void)int128_add(out, *out);
	*out = exponent <= -84 ? int128_u64(0) :
	                         shift_round(*out, (unsigned)-exponent);
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
tel__stat_clear_keys(struct tel_stat *s)
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
		tel__stat_clear_keys(s);
	else
		tel__tally_zero(&s->tally);
}

void
tel__stat_reset(struct tel_stat *s)
{
	tel__stat_zero(s);
	s->flags = 0;
	s->pairs.open = 0;
	tel__stat_clear_keys(s);
}

/* clang-format off */
#define AT(member) offsetof(struct tel_stat, member)
/* Where numbers are, and the flags with, and without, which they are known. */
static const struct place {
	size_t at;
	int wide; /* it has 128 bits */
	unsigned with, without;
} places[TEL_NUMBER_ERROR + 1] = {
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
	[TEL_NUMBER_OVER_LIMIT] = { AT(pairs.over_limit), 0, 0, 0 },
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

	for (size_t i = 0; i < sizeof(s->sums) / sizeof(s->sums[0]); i++)
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

	for (uint32_t i = 0; i < l->count && st == TEL_OK; i++) {
		uint64_t count = tel__stat_bucket(from, i);

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

	/* the class was counted anew */
	if (s->updates < base->updates || s->pairs.events < base->pairs.events)
		return;
	for (uint32_t i = 0; i < sizeof(s->sums) / sizeof(s->sums[0]); i++)
		s->sums[i] -= base->sums[i];
	s->pairs.open = open;
	(void)int128_add(&s->sum, tel__int128_negate(base->sum));
	tel__squares_subtract(&s->squares, &base->squares);
	flags |= base->flags & STAT_NO_SQUARES;
	for (uint32_t i = 0; i < l->count; i++)
		if (tel__stat_bucket(base, i) > 0)
			(void)tel__stat_add_bucket(s, i,
			    0 - tel__stat_bucket(base, i));
	for (uint32_t i = 0; i < base->tally.count; i++) {
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
