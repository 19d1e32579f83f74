/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting how long the units of a column are. */
#include "wire/shape.h"

/*
 * Units are counted in one number, which has 7 bits for each count of bytes: what
 * a unit of so many bits adds to it.
 */
#define COUNTED_MAX 127u
#define EIGHT(x) (x), (x), (x), (x), (x), (x), (x), (x)
static const uint64_t count_ones[65] = { 1, EIGHT(1u << 7), EIGHT(1u << 14),
	EIGHT(1u << 21), EIGHT(1u << 28), EIGHT((uint64_t)1 << 35),
	EIGHT((uint64_t)1 << 42), EIGHT((uint64_t)1 << 49),
	EIGHT((uint64_t)1 << 56) };

/* Up to which unit before end those from i on are counted in one number. */
static inline size_t
count_until(size_t i, size_t end)
{
	return end - i > COUNTED_MAX ? i + COUNTED_MAX : end;
}

/* Adds what was counted. */
static void
shape_add(struct shape *s, uint64_t counts)
{
	unsigned i;

	for (i = 0; counts > 0; i++, counts >>= 7)
		s->bytes[i] += counts & COUNTED_MAX;
	if (i > s->widest + 1)
		s->widest = i - 1;
}

/*
 * Counts the units of the values, and of the steps, that are looked at.  small:
 * none has more than 52 bits.
 */
__attribute__((always_inline)) static inline void
count_units(const struct column *c, enum unit value, enum unit step, int small,
    struct shape *values, struct shape *steps)
{
	const uint64_t *v = c->v, low = c->low, inverse = c->inverse;
	const unsigned shift = c->shift;
	uint64_t x, y, some, others;
	size_t r, i, end, stop;

	for (r = 0; r < c->runs; r++) {
		i = r * c->apart;
		end = i + c->run;
		if (i == 0) {
			x = shape_unit_of(v, low, shift, inverse, value);
			shape_add(values, count_ones[shape_length_of(x)]);
			steps->bytes[0] += (size_t)c->fast;
			i++;
		}
		for (; i < end; i = stop) {
			stop = count_until(i, end);
			for (some = others = 0; i < stop; i++) {
				x = shape_unit_of(v + i, low, shift, inverse,
				    value);
				y = shape_unit_of(v + i, low, shift, inverse,
				    step);
				some += count_ones[shape_bits_of(x, small)];
				others += count_ones[shape_bits_of(y, small)];
			}
			shape_add(values, some);
			shape_add(steps, others);
		}
	}
}

/* Four numbers, which processors compare at once. */
typedef int32_t four __attribute__((vector_size(16)));

/* Adds n units, of which so many are longer than 0 to 3 bytes, none than 4. */
static void
shape_add_longer(struct shape *s, uint32_t n, const uint32_t longer[4])
{
	for (unsigned i = 0; i < 5; i++) {
		const uint32_t rest = i < 4 ? longer[i] : 0;

		s->bytes[i] += n - rest;
		if (n > rest && i > s->widest)
			s->widest = i;
		n = rest;
	}
}

static void
shape_add_unit(struct shape *s, uint64_t unit)
{
	shape_add(s, count_ones[shape_length_of(unit)]);
}

/*
 * The same for units of 31 bits at most and a scale that is a power of 2: two
 * values, and in the upper halves their steps, are compared at once.
 */
static void
count_short(const struct column *c, struct shape *values, struct shape *steps)
{
	const four most8 = { 0xff, 0xff, 0xff, 0xff },
	           most16 = { 0xffff, 0xffff, 0xffff, 0xffff },
	           most24 = { 0xffffff, 0xffffff, 0xffffff, 0xffffff };
	const uint64_t *v = c->v;
	const two low = { c->low, c->low };
	four longer[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
	uint32_t counts[2][4], n = 0;
	two x, before, step;

	for (size_t r = 0; r < c->runs; r++) {
		size_t i = r * c->apart, end = i + c->run;

		if (i == 0) {
			shape_add_unit(values, (v[0] - c->low) >> c->shift);
			steps->bytes[0] += (size_t)c->fast;
			i++;
		}
		if ((end - i) % 2 != 0) {
			end--;
			shape_add_unit(values, (v[end] - c->low) >> c->shift);
			shape_add_unit(steps,
			    tel__zigzag(v[end] - v[end - 1]) >> c->shift);
		}
		for (n += (uint32_t)(end - i); i < end; i += 2) {
			memcpy(&x, v + i, sizeof(x));
			memcpy(&before, v + i - 1, sizeof(before));
			step = x - before;
			step = (step << 1 ^ (0 - (step >> 63))) >> c->shift;
			x = (x - low) >> c->shift | step << 32;
			longer[0] -= (four)x > 0;
			longer[1] -= (four)x > most8;
			longer[2] -= (four)x > most16;
			longer[3] -= (four)x > most24;
		}
	}
	for (unsigned k = 0; k < 4; k++) {
		memcpy(&x, &longer[k], sizeof(x));
		counts[0][k] = (uint32_t)(x[0] + x[1]);
		counts[1][k] = (uint32_t)((x[0] + x[1]) >> 32);
	}
	shape_add_longer(values, n, counts[0]);
	shape_add_longer(steps, n, counts[1]);
}

void
tel__shape_measure(const struct column *c, struct shape *values,
    struct shape *steps)
{
	memset(values, 0, sizeof(*values));
	memset(steps, 0, sizeof(*steps));
	if (shape_is_wide(c))
		count_units(c, UNIT_ODD_VALUE, UNIT_ODD_STEP, 0, values, steps);
	else if (c->inverse == 1 && (c->high - c->low) >> c->shift >> 30 == 0)
		count_short(c, values, steps);
	else if (c->inverse == 1)
		count_units(c, UNIT_VALUE, UNIT_STEP, 1, values, steps);
	else
		count_units(c, UNIT_ODD_VALUE, UNIT_ODD_STEP, 1, values, steps);
}

void
tel__shape_add_changes(struct shape *s, const struct column *c)
{
	uint64_t counts;

	for (size_t i = 2; i < c->n;) {
		size_t stop = count_until(i, c->n);

		for (counts = 0; i < stop; i++)
			counts +=
			    count_ones[shape_length_of(shape_unit_of(c->v + i,
			        0, c->shift, c->inverse, UNIT_CHANGE))];
		shape_add(s, counts);
	}
}
