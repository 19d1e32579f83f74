/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of squares, in words of 64 bits, the least significant first. */
#include "stats/squares.h"

#include <string.h>

/* to += from, modulo 2^(64 n). */
static void
stats_squares_add(uint64_t *to, const uint64_t *from, unsigned n)
{
	int carry = 0;

	for (unsigned i = 0; i < n; i++) {
		carry = __builtin_add_overflow(to[i], (uint64_t)carry, &to[i]);
		carry |= __builtin_add_overflow(to[i], from[i], &to[i]);
	}
}

/* to -= from, modulo 2^(64 n).  Returns the borrow. */
static int
squares_subtract(uint64_t *to, const uint64_t *from, unsigned n)
{
	int borrow = 0;

	for (unsigned i = 0; i < n; i++) {
		borrow =
		    __builtin_sub_overflow(to[i], (uint64_t)borrow, &to[i]);
		borrow |= __builtin_sub_overflow(to[i], from[i], &to[i]);
	}
	return borrow;
}

/* out = a * b, of na and nb words; out has na + nb. */
static void
squares_multiply(const uint64_t *a, unsigned na, const uint64_t *b, unsigned nb,
    uint64_t *out)
{
	uint64_t high, low, carry;

	memset(out, 0, (na + nb) * sizeof(*out));
	for (unsigned i = 0; i < na; i++) {
		carry = 0;
		for (unsigned j = 0; j < nb; j++) {
			tel__multiply(a[i], b[j], &high, &low);
			high += __builtin_add_overflow(low, carry, &low);
			high += __builtin_add_overflow(out[i + j], low,
			    &out[i + j]);
			carry = high;
		}
		out[i + nb] = carry;
	}
}

/* The size of v; returns 1 when v is below 0. */
static int
squares_magnitude(tel_int128 v, uint64_t words[2])
{
	int negative = v.high < 0;

	if (negative)
		v = tel__int128_negate(v);
	words[0] = v.low;
	words[1] = (uint64_t)v.high;
	return negative;
}

int
tel__squares_add_any(struct squares *s, tel_int128 v, uint64_t weight)
{
	uint64_t size[2], square[2], weighed[3];

	(void)squares_magnitude(v, size);
	if (size[1] != 0)
		return 0;
	squares_multiply(size, 1, size, 1, square);
	squares_multiply(square, 2, &weight, 1, weighed);
	stats_squares_add(s->words, weighed, 3);
	return 1;
}

void
tel__squares_merge(struct squares *s, const struct squares *from)
{
	stats_squares_add(s->words, from->words, 3);
}

void
tel__squares_subtract(struct squares *s, const struct squares *from)
{
	(void)squares_subtract(s->words, from->words, 3);
}

int
tel__squares_shift(struct squares *s, tel_int128 shift, tel_int128 sum,
    uint64_t n)
{
	uint64_t by[2], of[2], product[3];
	int negative =
	    squares_magnitude(shift, by) != squares_magnitude(sum, of);

	/* (v + shift)^2 is v^2 + 2 v shift + shift^2 */
	if (by[1] != 0)
		return 0;
	squares_multiply(of, 2, by, 1, product);
	if (negative) {
		(void)squares_subtract(s->words, product, 3);
		(void)squares_subtract(s->words, product, 3);
	} else {
		stats_squares_add(s->words, product, 3);
		stats_squares_add(s->words, product, 3);
	}
	return tel__squares_add_any(s, shift, n);
}

/* The double next to a number of n words, which is rounded once. */
static double
squares_to_double(const uint64_t *words, unsigned n)
{
	while (n > 0 && words[n - 1] == 0)
		n--;
	if (n == 0)
		return 0;
	unsigned shift = (unsigned)__builtin_clzll(words[n - 1]);
	uint64_t top = words[n - 1] << shift;
	if (n > 1 && shift > 0)
		top |= words[n - 2] >> (64 - shift);
	/* digits that are cut off must not look like a tie */
	if (n > 1 && words[n - 2] << shift != 0)
		top |= 1;
	for (unsigned i = 0; i + 2 < n; i++)
		top |= words[i] != 0;
	double d = (double)top;
	for (unsigned i = 1; i < n; i++)
		d *= 18446744073709551616.0;
	return d / (double)((uint64_t)1 << shift);
}

int
tel__squares_variance(const struct squares *s, tel_int128 sum, uint64_t n,
    double *out)
{
	uint64_t size[2], of_sum[4], all[4], nn[2];

	if (n == 0)
		return 0;
	/* (n squares - sum^2) / n^2: exact up to the division */
	(void)squares_magnitude(sum, size);
	squares_multiply(size, 2, size, 2, of_sum);
	squares_multiply(s->words, 3, &n, 1, all);
	if (squares_subtract(all, of_sum, 4))
		return 0;
	squares_multiply(&n, 1, &n, 1, nn);
	*out = squares_to_double(all, 4) / squares_to_double(nn, 2);
	return 1;
}
