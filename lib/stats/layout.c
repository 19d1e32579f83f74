/* SPDX-License-Identifier: BSD-2-Clause */
/* Layouts of buckets: ranges of equal widths, and powers of two. */
#include "stats/layout.h"

#include "base/array.h"
#include "stats/top.h"

#include <stdlib.h>

static tel_status
layout_refuse(struct layout_maker *m, tel_status status, unsigned which,
    const char *why)
{
	m->which = which;
	m->why = why;
	return status;
}

/* Adds [lo, hi) in steps of width, the last one short if need be. */
static tel_status
add_range(struct layout_maker *m, int64_t lo, int64_t hi, uint64_t width,
    unsigned which)
{
	struct layout *l = m->layout;
	struct range *r = &m->ranges[l->nranges];
	uint64_t span = (uint64_t)hi - (uint64_t)lo;
	uint64_t count = span / width + (span % width != 0);

	if (count > BUCKETS_MAX - l->count)
		return layout_refuse(m, TEL_ELIMIT, which,
		    "more than 65536 buckets");
	r->lo = lo;
	r->hi = hi;
	r->width = width;
	r->first = l->count;
	r->shift = (width & (width - 1)) == 0 ? __builtin_ctzll(width) : -1;
	l->count += (uint32_t)count;
	l->nranges++;
	return TEL_OK;
}

tel_status
tel__layout_hist(struct layout_maker *m, const int64_t *p)
{
	if (p[1] <= p[0])
		return layout_refuse(m, TEL_EINVAL, 1,
		    "the upper bound must be above the lower one");
	if (p[2] <= 0)
		return layout_refuse(m, TEL_EINVAL, 2,
		    "the width must be above 0");
	return add_range(m, p[0], p[1], (uint64_t)p[2], 2);
}

tel_status
tel__layout_split(struct layout_maker *m, const int64_t *p)
{
	if (p[1] <= 0)
		return layout_refuse(m, TEL_EINVAL, 1,
		    "the width must be above 0");
	if (p[4] <= 0)
		return layout_refuse(m, TEL_EINVAL, 4,
		    "the width must be above 0");
	if (p[2] <= p[0])
		return layout_refuse(m, TEL_EINVAL, 2,
		    "the knee must be above the lower bound");
	if (p[3] <= p[2])
		return layout_refuse(m, TEL_EINVAL, 3,
		    "the upper bound must be above the knee");
	tel_status st = add_range(m, p[0], p[2], (uint64_t)p[1], 1);
	if (st == TEL_OK)
		st = add_range(m, p[2], p[3], (uint64_t)p[4], 4);
	return st;
}

/* Whether n divides some power of factor. */
static int
divides_power(uint64_t n, uint64_t factor)
{
	uint64_t a, b, rest;

	while (n > 1) {
		/* the greatest common divisor of n and factor */
		for (a = n, b = factor; b != 0; a = b, b = rest)
			rest = a % b;
		if (a == 1)
			return 0;
		n /= a;
	}
	return 1;
}

static tel_status
check_loglin(struct layout_maker *m, const int64_t *p)
{
	if (p[0] < 2)
		return layout_refuse(m, TEL_EINVAL, 0,
		    "the factor must be above 1");
	if (p[1] < 0)
		return layout_refuse(m, TEL_EINVAL, 1,
		    "the low exponent must not be negative");
	if (p[2] <= p[1])
		return layout_refuse(m, TEL_EINVAL, 2,
		    "the high exponent must be above the low one");
	if (p[3] < p[0] || p[3] % p[0] != 0)
		return layout_refuse(m, TEL_EINVAL, 3,
		    "the steps must be a multiple of the factor");
	if (!divides_power((uint64_t)p[3], (uint64_t)p[0]))
		return layout_refuse(m, TEL_EINVAL, 3,
		    "the steps must divide a power of the factor");
	return TEL_OK;
}

tel_status
tel__layout_loglin(struct layout_maker *m, const int64_t *p)
{
	int64_t lo = 1, hi, exponent, width;
	tel_status st = check_loglin(m, p);

	for (exponent = 0; st == TEL_OK && exponent <= p[2]; exponent++) {
		if (__builtin_mul_overflow(lo, p[0], &hi))
			return layout_refuse(m, TEL_EINVAL, 2,
			    "the factor to the power of high + 1 must be less "
			    "than 2^63");
		width = hi > p[3] ? hi / p[3] : 1;
		if (exponent >= p[1])
			st = add_range(m, lo, hi, (uint64_t)width, 3);
		lo = hi;
	}
	return st;
}

static tel_status
make_powers(struct layout_maker *m, const int64_t *p, int64_t least,
    int64_t most, const char *why)
{
	struct layout *l = m->layout;

	if (p[0] < least || p[0] > most)
		return layout_refuse(m, TEL_EINVAL, 0, why);
	l->bits = (unsigned)p[0];
	l->half = layout_size_bucket(l->bits, INT64_MAX);
	l->count = 2 * l->half + 1;
	return TEL_OK;
}

tel_status
tel__layout_log2(struct layout_maker *m, const int64_t *p)
{
	return make_powers(m, p, 0, LOG2_MAX, "k must be from 0 to 5");
}

tel_status
tel__layout_quantiles(struct layout_maker *m, const int64_t *p)
{
	return make_powers(m, p, 1, QUANTILE_BITS_MAX,
	    "bits must be from 1 to 9");
}

tel_status
tel__layout_tally(struct layout_maker *m, const int64_t *p)
{
	if (p[0] < 1 || p[0] > TALLY_MAX)
		return layout_refuse(m, TEL_EINVAL, 0,
		    "the maximum number of keys must be from 1 to 2^24");
	return TEL_OK;
}

tel_status
tel__layout_distinct(struct layout_maker *m, const int64_t *p)
{
	if (p[0] < 0 || p[0] > TALLY_MAX)
		return layout_refuse(m, TEL_EINVAL, 0,
		    "the maximum number of exact values must be from 0 to "
		    "2^24");
	return TEL_OK;
}

tel_status
tel__layout_top(struct layout_maker *m, const int64_t *p)
{
	if (p[0] < 1 || p[0] > TOP_MAX)
		return layout_refuse(m, TEL_EINVAL, 0,
		    "the number of values must be from 1 to 4096");
	return TEL_OK;
}

tel_status
tel__layout_make(struct layout *l, layout_fn *fn, const int64_t *parameters,
    const char **why, unsigned *which)
{
	struct layout_maker m;
	tel_status st = TEL_OK;

	*l = (struct layout){ 0 };
	m.layout = l;
	m.why = NULL;
	m.which = 0;
	if (fn != NULL)
		st = fn(&m, parameters);
	if (st != TEL_OK) {
		*why = m.why;
		*which = m.which;
		return st;
	}
	if (l->nranges == 0)
		return TEL_OK;
	l->ranges = malloc(l->nranges * sizeof(*l->ranges));
	if (l->ranges == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; i < l->nranges; i++)
		l->ranges[i] = m.ranges[i];
	return TEL_OK;
}

void
tel__layout_clear(struct layout *l)
{
	free(l->ranges);
	*l = (struct layout){ 0 };
}

const struct range *
tel__layout_range(const struct layout *l, int64_t v)
{
	unsigned lo = 0, hi = l->nranges - 1, mid;

	TEL__BISECT(lo, hi, mid, v >= l->ranges[mid].hi);
	return &l->ranges[lo];
}

/* The smallest size in the bucket that is number i from that of 0. */
static uint64_t
least_size(unsigned bits, uint32_t i)
{
	uint32_t one = (uint32_t)1 << bits;

	if (i < one)
		return i;
	i -= one;
	return (uint64_t)(one + (i & (one - 1))) << (i >> bits);
}

static void
power_edges(const struct layout *l, uint32_t i, tel_bucket *out)
{
	uint32_t n = i >= l->half ? i - l->half : l->half - i;
	uint64_t least = least_size(l->bits, n);
	uint64_t next = least_size(l->bits, n + 1);

	out->range = 0;
	out->open = i + 1 == l->count;
	if (i >= l->half) {
		out->lo = (int64_t)least;
		out->hi = out->open ? INT64_MAX : (int64_t)next;
	} else {
		out->lo = n == l->half ? INT64_MIN : 1 - (int64_t)next;
		out->hi = 1 - (int64_t)least;
	}
}

void
tel__layout_edges(const struct layout *l, uint32_t i, tel_bucket *out)
{
	const struct range *r = l->ranges;

	if (r == NULL) {
		power_edges(l, i, out);
		return;
	}
	while (r + 1 < l->ranges + l->nranges && i >= r[1].first)
		r++;
	uint64_t lo = (uint64_t)r->lo + (i - r->first) * r->width;
	out->lo = (int64_t)lo;
	out->open = 0;
	out->range = (unsigned)(r - l->ranges);
	/* unsigned: the sum may lie beyond 2^63 */
	out->hi =
	    (uint64_t)r->hi - lo < r->width ? r->hi : (int64_t)(lo + r->width);
}
