/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding a column: which mode it has, and its bytes.  Clocks of processors
 * advance in steps, addresses are aligned: a common divisor of all differences
 * is taken out first.
 */
#include "wire/column.h"

#include "base/bytes.h"
#include "wire/shape.h"

const uint8_t tel__column_lengths[16][4] = { { 0, 1, 2, 8 }, { 0, 1, 4, 8 },
	{ 1, 2, 3, 8 }, { 1, 2, 4, 8 }, { 0, 2, 4, 8 }, { 0, 1, 3, 8 },
	{ 0, 2, 3, 8 }, { 2, 3, 4, 8 }, { 1, 3, 5, 8 }, { 0, 3, 6, 8 },
	{ 0, 4, 6, 8 }, { 2, 4, 6, 8 }, { 1, 2, 6, 8 }, { 0, 1, 6, 8 },
	{ 0, 2, 6, 8 }, { 3, 4, 6, 8 } };

/* Of a longer column, a fast choice looks at so many runs of so many values. */
#define RUNS 8u
#define RUN 32u
#define SLOTS_LOG 10 /* of the hash table that finds values of a table */
/* The bytes before the places of a table, at most. */
#define TABLE_HEAD (8 + NATIVE_TABLE_MAX * (size_t)TEL__VARINT_MAX)

/* The first byte of a column, and how many follow. */
struct choice {
	unsigned first;
	size_t size;
};

/* The distinct values of a column, in order of appearance. */
struct table {
	uint64_t values[NATIVE_TABLE_MAX];
	unsigned count;
	uint16_t slots[1u << SLOTS_LOG]; /* the place of a value, plus 1 */
};

static unsigned
wire_column_width_of(uint64_t v)
{
	return (shape_length_of(v) + 7) / 8;
}

/* ----------------------------------------------------------------- ranges */

/* Whether all steps are equal.  For most columns they are not. */
static int
is_line(const uint64_t *v, size_t n)
{
	const uint64_t step = n > 1 ? v[1] - v[0] : 0;

	for (size_t i = 2; i < n; i++)
		if (v[i] - v[i - 1] != step)
			return 0;
	return 1;
}

struct tel__column_range
tel__column_range(const uint64_t *v, size_t n)
{
	uint64_t low[2] = { v[0], v[0] }, high[2];
	size_t i = 1;

	/* clocks, and many other columns, never decrease */
	while (i < n && v[i] >= v[i - 1])
		i++;
	high[0] = high[1] = v[i - 1];
	/* two at a time, as each comparison waits for the one before it */
	for (i -= (n - i) & 1; i < n; i += 2) {
		const uint64_t x = v[i], y = v[i + 1];

		low[0] = x < low[0] ? x : low[0];
		low[1] = y < low[1] ? y : low[1];
		high[0] = x > high[0] ? x : high[0];
		high[1] = y > high[1] ? y : high[1];
	}
	return (struct tel__column_range){ low[0] < low[1] ? low[0] : low[1],
		high[0] > high[1] ? high[0] : high[1] };
}

static uint64_t
greatest_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

/* The bits in which some of the values differ. */
static uint64_t
varying_bits(const uint64_t *v, size_t n)
{
	two some = { v[0], v[0] }, all = { v[0], v[0] }, low, high;
	uint64_t either[2], both[2], x = 0, y = UINT64_MAX;
	size_t i;

	for (i = 0; n - i >= 4; i += 4) {
		memcpy(&low, v + i, sizeof(low));
		memcpy(&high, v + i + 2, sizeof(high));
		some |= low | high;
		all &= low & high;
	}
	for (; i < n; i++) {
		x |= v[i];
		y &= v[i];
	}
	memcpy(either, &some, sizeof(either));
	memcpy(both, &all, sizeof(both));
	return (either[0] | either[1] | x) & ~(both[0] & both[1] & y);
}

static void
wire_column_find_range(struct column *c)
{
	const struct tel__column_range range = tel__column_range(c->v, c->n);

	c->low = range.low;
	c->high = range.high;
	c->exact = 1;
}

/* The inverse of an odd number; Newton's steps double the bits that are right. */
static uint64_t
inverse_of(uint64_t odd)
{
	uint64_t inverse = odd;

	for (unsigned i = 0; i < 5; i++)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/*
 * Finds the range and the greatest scale of values that are not all equal.  A
 * multiple of an odd number, times its inverse, is the quotient; other products
 * are greater than all quotients (H. S. Warren, "Hacker's Delight", 10-17).
 */
static void
find_scale(struct column *c)
{
	const uint64_t *v = c->v, all = varying_bits(v, c->n),
	               least = all & (0 - all);
	uint64_t g = 0, inverse = 1, quotient = 0, rest = 0, d;

	wire_column_find_range(c);
	/* all differences are multiples of the lowest bit that differs */
	for (size_t i = 1; i < c->n && g != least; i++) {
		d = v[i] - v[i - 1];
		if (d >> 63)
			d = 0 - d;
		if (d * inverse <= quotient && (d & rest) == 0)
			continue;
		g = greatest_divisor(d, g);
		rest = (g & (0 - g)) - 1;
		inverse = inverse_of(g / (rest + 1));
		quotient = UINT64_MAX / (g / (rest + 1));
	}
	c->scale = g;
	c->shift = (unsigned)__builtin_ctzll(g);
	c->inverse = inverse;
}

/*
 * Finds a scale that is a power of 2, by the bits that vary.  If some of the
 * values are as far apart as these allow, in bytes, the range is what they
 * allow.
 */
static void
find_power(struct column *c)
{
	const uint64_t *v = c->v, bits = varying_bits(v, c->n),
	               mask = UINT64_MAX >> __builtin_clzll(bits);
	uint64_t low = v[0], high = v[0];

	c->scale = bits & (0 - bits);
	c->shift = (unsigned)__builtin_ctzll(bits);
	c->inverse = 1;
	c->exact = 0;
	/* the bits below the lowest varying one are in the base, too */
	c->low = v[0] & (~mask | (c->scale - 1));
	c->high = v[0] | mask;
	for (size_t r = 0; r < c->runs; r++)
		for (size_t i = r * c->apart; i < r * c->apart + c->run; i++) {
			low = v[i] < low ? v[i] : low;
			high = v[i] > high ? v[i] : high;
		}
	if (wire_column_width_of((high - low) >> c->shift) <
	    wire_column_width_of(mask >> c->shift))
		wire_column_find_range(c);
}

/* ----------------------------------------------------------------- choices */

/* Considers n numbers of a shape with each set of lengths. */
static void
choose_lengths(struct choice *best, const struct shape *s, size_t n,
    enum native_code mode)
{
	size_t most[9], all = 0, size;

	/* how many have that many bytes at most: they take the least length */
	for (unsigned i = 0; i <= 8; i++)
		most[i] = all += s->bytes[i];
	for (unsigned i = 0; i < 16; i++) {
		const uint8_t *set = tel__column_lengths[i];

		size = (n + 3) / 4 + all * 8 - most[set[2]] * (8u - set[2]) -
		    most[set[1]] * (size_t)(set[2] - set[1]) -
		    most[set[0]] * (size_t)(set[1] - set[0]);
		if (size < best->size)
			*best = (struct choice){ 0x80u | mode << 4 | i, size };
	}
}

/* With these, or with one length, which a fast choice prefers: its bytes are
 * encoded and decoded in half the time. */
static struct choice
wire_column_choose(const struct column *c, const struct shape *s, size_t n,
    unsigned widest, enum native_code fixed)
{
	struct choice best = { 0, SIZE_MAX };
	const size_t size = n * widest;

	choose_lengths(&best, s, n, (enum native_code)(fixed + NATIVE_BYTES));
	if (c->fast ? size * 6 <= best.size * 7 : size <= best.size)
		best = (struct choice){ 0x80u | fixed << 4 | widest, size };
	return best;
}

/* The greatest width of a step. */
static unsigned
step_width(const struct column *c)
{
	uint64_t steps = 0;

	for (size_t i = 1; i < c->n; i++)
		steps |= tel__zigzag(c->v[i] - c->v[i - 1]);
	return wire_column_width_of(steps >> c->shift);
}

/* By the values that are looked at. */
static struct choice
choose_fast(const struct column *c, const struct shape *values,
    const struct shape *steps)
{
	const size_t n = c->runs * c->run;
	struct choice plain = wire_column_choose(c, values, n,
	    wire_column_width_of((c->high - c->low) >> c->shift), NATIVE_FIXED);
	struct choice delta =
	    wire_column_choose(c, steps, n, steps->widest, NATIVE_DELTA_FIXED);

	/* a few steps that were not seen may be longer */
	if (delta.size + n / 16 >= plain.size)
		return plain;
	return (delta.first >> 4 & 7) != NATIVE_DELTA_FIXED ?
	    delta :
	    wire_column_choose(c, steps, n, step_width(c), NATIVE_DELTA_FIXED);
}

/*
 * Whether the changes of the step are likely to be shorter than the steps: the
 * bits of both in the middle of the column.  In most they are not, and to make
 * all of them costs as much as all other modes together.
 */
#define STEPS_LOOK 64u

static int
may_be_steps(const struct column *c)
{
	const size_t from = c->n > STEPS_LOOK ? (c->n - STEPS_LOOK) / 2 : 2,
	             end = c->n > STEPS_LOOK ? from + STEPS_LOOK : c->n;
	unsigned bits = 0, changed = 0;

	for (size_t i = from < 2 ? 2 : from; i < end; i++) {
		bits += shape_length_of(shape_unit_of(c->v + i, 0, c->shift,
		    c->inverse, UNIT_ODD_STEP));
		changed += shape_length_of(shape_unit_of(c->v + i, 0, c->shift,
		    c->inverse, UNIT_CHANGE));
	}
	/* with a margin for a middle that is not like the rest */
	return changed < bits + bits / 16;
}

static void
choose_changes(struct choice *best, const struct column *c)
{
	struct shape shape = { { 1 }, 0 };
	struct choice own = { 0, SIZE_MAX };

	tel__shape_add_changes(&shape, c);
	choose_lengths(&own, &shape, c->n - 1, NATIVE_STEPS);
	/* the first step is one number more */
	if (own.size + sizeof(uint64_t) < best->size)
		*best = own;
}

static struct choice
choose_smallest(const struct column *c, const struct shape *values,
    const struct shape *steps, int clocks)
{
	struct choice best =
	    wire_column_choose(c, values, c->n, values->widest, NATIVE_FIXED);
	const struct choice delta = wire_column_choose(c, steps, c->n - 1,
	    steps->widest, NATIVE_DELTA_FIXED);

	if (delta.size < best.size)
		best = delta;
	if (clocks && may_be_steps(c))
		choose_changes(&best, c);
	return best;
}

/* ------------------------------------------------------------------ tables */

/*
 * The place of a value in a table, to which it is added; NATIVE_TABLE_MAX:
 * there is no room for it.
 */
static inline unsigned
find_value(struct table *t, uint64_t v)
{
	size_t at = (size_t)(v * 0x9e3779b97f4a7c15u >> (64 - SLOTS_LOG));

	while (t->slots[at] != 0 && t->values[t->slots[at] - 1] != v)
		at = (at + 1) & ((1u << SLOTS_LOG) - 1);
	if (t->slots[at] != 0)
		return t->slots[at] - 1u;
	if (t->count == NATIVE_TABLE_MAX)
		return NATIVE_TABLE_MAX;
	t->values[t->count] = v;
	t->slots[at] = (uint16_t)++t->count;
	return t->count - 1;
}

/*
 * Whether a table is likely to be shorter than what was chosen, by the values
 * that are looked at.
 */
static int
may_be_table(struct table *t, const struct column *c, const struct choice *best)
{
	const size_t n = c->runs * c->run;

	for (size_t r = 0; r < c->runs; r++)
		for (size_t i = r * c->apart; i < r * c->apart + c->run; i++)
			if (find_value(t, c->v[i]) == NATIVE_TABLE_MAX)
				return 0;
	/* those that were not seen may need longer places, and are put first */
	return t->count <= 12 ? best->size > n / 2 :
	    t->count <= 16    ? best->size > n :
	                        t->count * 2 < n &&
	        t->count < NATIVE_TABLE_MAX / 2 &&
	        best->size > n + n / 16 + t->count * 2;
}

/* The mode for places in a table: log2 of the bits that each takes. */
static unsigned
places_log(unsigned count)
{
	return count <= 2 ? 0 : count <= 4 ? 1 : count <= 16 ? 2 : 3;
}

/* Bytes of places in a table of so many values. */
static size_t
places_size(const struct column *c, unsigned count)
{
	return ((c->n << places_log(count)) + 7) / 8;
}

/* Bytes of a table, and of places in it. */
static size_t
table_size(const struct table *t, const struct column *c)
{
	size_t size = places_size(c, t->count) + (t->count > 127 ? 2 : 1);
	uint64_t before = c->before;

	for (unsigned i = 0; i < t->count; i++) {
		/* bits / 7, and not one less: a difference of 7 bits is rare */
		size +=
		    shape_length_of(tel__zigzag(t->values[i] - before) | 1) /
		        7 +
		    1;
		before = t->values[i];
	}
	return size;
}

/* The places of eight values in x, one a byte, in width bits each. */
static inline __attribute__((always_inline)) uint64_t
pack_eight(uint64_t x, unsigned width)
{
	if (width == 1)
		return x * UINT64_C(0x0102040810204080) >> 56;
	x |= x >> (8 - width);
	x &= (((uint64_t)1 << 2 * width) - 1) * UINT64_C(0x0001000100010001);
	x |= x >> (16 - 2 * width);
	x &= (((uint64_t)1 << 4 * width) - 1) * UINT64_C(0x0000000100000001);
	return x | x >> (32 - 4 * width);
}

/* p: at or before places. */
static inline __attribute__((always_inline)) void
pack_all(unsigned char *p, const uint8_t *places, size_t n, unsigned width)
{
	unsigned char last[8] = { 0 };
	size_t i;

	for (i = 0; n - i >= 8; i += 8, p += width)
		tel_store_le64(p, pack_eight(tel_le64(places + i), width));
	memcpy(last, places + i, n - i);
	tel_store_le64(p, pack_eight(tel_le64(last), width));
}

/* n places of 2^log bits each; they may be behind the bytes of b, in it. */
static void
wire_column_pack(struct tel__buffer *b, const uint8_t *places, size_t n,
    unsigned log)
{
	const size_t size = ((n << log) + 7) / 8;
	unsigned char *p = tel__buffer_room(b, size + 16);

	if (p == NULL)
		return;
	switch (log) {
	case 0: pack_all(p, places, n, 1); break;
	case 1: pack_all(p, places, n, 2); break;
	case 2: pack_all(p, places, n, 4); break;
	default: memmove(p, places, n);
	}
	b->used += size;
}

static void
put_byte(struct tel__buffer *b, unsigned byte)
{
	const unsigned char c = (unsigned char)byte;

	tel__buffer_put(b, &c, 1);
}

/*
 * A table of values, and places in it.  0: it has too many values, or is not
 * shorter than what was chosen.
 */
static int
wire_column_put_table(struct tel__buffer *b, const struct column *c,
    const struct choice *best)
{
	struct table t;
	uint64_t before = c->before;

	t.count = 0;
	memset(t.slots, 0, sizeof(t.slots));
	if (c->fast ? !may_be_table(&t, c, best) :
	              c->n < 8 || best->size <= c->n / 8)
		return 0;
	uint8_t *places = tel__buffer_room(b, TABLE_HEAD + c->n + 16);
	if (places == NULL)
		return 0;
	places += TABLE_HEAD;
	for (size_t i = 0; i < c->n; i++) {
		unsigned count = t.count;
		unsigned k = find_value(&t, c->v[i]);

		/* what begins with so many will not get better */
		if (k >= count &&
		    (k == NATIVE_TABLE_MAX ||
		        (!c->fast &&
		            (t.count > 17 + i / 3 ||
		                places_size(c, t.count) + t.count >=
		                    best->size))))
			return 0;
		places[i] = (uint8_t)k;
	}
	if (!c->fast && table_size(&t, c) >= best->size)
		return 0;
	put_byte(b, 0x80u | NATIVE_TABLE << 4 | places_log(t.count));
	tel__buffer_put_varint(b, t.count);
	for (unsigned k = 0; k < t.count; k++) {
		tel__buffer_put_varint(b, tel__zigzag(t.values[k] - before));
		before = t.values[k];
	}
	wire_column_pack(b, places, c->n, places_log(t.count));
	return 1;
}

/* ------------------------------------------------------------------- bytes */

static inline __attribute__((always_inline)) void
store_fixed(unsigned char *p, const struct column *c, size_t i, size_t width,
    enum unit unit)
{
	const uint64_t *v = c->v + i, *const end = c->v + c->n, base = c->low,
	               inverse = c->inverse;
	const unsigned shift = c->shift;

	for (; end - v >= 4; v += 4, p += 4 * width) {
		tel_store_le64(p, shape_unit_of(v, base, shift, inverse, unit));
		tel_store_le64(p + width,
		    shape_unit_of(v + 1, base, shift, inverse, unit));
		tel_store_le64(p + 2 * width,
		    shape_unit_of(v + 2, base, shift, inverse, unit));
		tel_store_le64(p + 3 * width,
		    shape_unit_of(v + 3, base, shift, inverse, unit));
	}
	for (; v < end; v++, p += width)
		tel_store_le64(p, shape_unit_of(v, base, shift, inverse, unit));
}

/* The units of the values from v[i] on, of width bytes each. */
static inline __attribute__((always_inline)) void
put_fixed(struct tel__buffer *b, const struct column *c, size_t i,
    unsigned width, enum unit unit)
{
	unsigned char *p = tel__buffer_room(b, (c->n - i) * width + 8);

	if (p == NULL)
		return;
	switch (width) {
	case 1: store_fixed(p, c, i, 1, unit); break;
	case 2: store_fixed(p, c, i, 2, unit); break;
	case 3: store_fixed(p, c, i, 3, unit); break;
	case 4: store_fixed(p, c, i, 4, unit); break;
	default: store_fixed(p, c, i, width, unit);
	}
	b->used += (c->n - i) * width;
}

/* Which of four lengths a number of so many bits has. */
struct lengths {
	const uint8_t *of;
	unsigned char codes[64];
};

static struct lengths
lengths_of(const uint8_t set[4])
{
	struct lengths lengths = { set, { 0 } };
	unsigned i, code = 0;

	for (i = 0; i < 64; i++) {
		code += set[code] < (i + 7) / 8;
		lengths.codes[i] = (unsigned char)code;
	}
	return lengths;
}

/* Stores a number; returns which length it has. */
static inline __attribute__((always_inline)) unsigned
put_unit(unsigned char **p, uint64_t unit, int small,
    const struct lengths *lengths)
{
	const unsigned code = lengths->codes[shape_bits_of(unit, small)];

	tel_store_le64(*p, unit);
	*p += lengths->of[code];
	return code;
}

/* The units of the values from v[i] on, each of one of four lengths. */
static inline __attribute__((always_inline)) void
put_varied(struct tel__buffer *b, const struct column *c, size_t i,
    const uint8_t set[4], enum unit unit)
{
	const size_t n = c->n - i, groups = (n + 3) / 4;
	unsigned char *select = tel__buffer_room(b, groups + 8 * n + 8), *p;
	const uint64_t *v = c->v + i, *const end = c->v + c->n, base = c->low,
	               inverse = c->inverse;
	const unsigned shift = c->shift;
	const struct lengths lengths = lengths_of(set);
	const int small = unit == UNIT_VALUE || unit == UNIT_STEP;
	unsigned k, chosen;

	if (select == NULL)
		return;
	p = select + groups;
	for (; end - v >= 4; v += 4) {
		for (chosen = k = 0; k < 4; k++)
			chosen |= put_unit(&p,
			              shape_unit_of(v + k, base, shift, inverse,
			                  unit),
			              small, &lengths)
			    << 2 * k;
		*select++ = (unsigned char)chosen;
	}
	for (chosen = k = 0; v < end; v++, k += 2)
		chosen |=
		    put_unit(&p, shape_unit_of(v, base, shift, inverse, unit),
		        small, &lengths)
		    << k;
	if (k > 0)
		*select++ = (unsigned char)chosen;
	b->used = (size_t)(p - b->bytes);
}

/* The first step, and its changes, the first of which is 0. */
static void
put_changes(struct tel__buffer *b, const struct column *c, const uint8_t set[4])
{
	const struct lengths lengths = lengths_of(set);
	const size_t groups = (c->n + 2) / 4;

	tel__buffer_put_varint(b, tel__zigzag(c->v[1] - c->v[0]));
	unsigned char *select = tel__buffer_room(b, groups + 8 * c->n + 8);
	if (select == NULL)
		return;
	memset(select, 0, groups);
	unsigned char *p = select + groups;
	for (size_t i = 1; i < c->n; i++) {
		unsigned code = put_unit(&p,
		    i == 1 ? 0 :
		             shape_unit_of(c->v + i, 0, c->shift, c->inverse,
		                 UNIT_CHANGE),
		    0, &lengths);

		select[(i - 1) / 4] |= (unsigned char)(code << (i - 1) % 4 * 2);
	}
	b->used = (size_t)(p - b->bytes);
}

/* What follows the base, in the mode of a choice. */
static void
put_units(struct tel__buffer *b, const struct column *c, unsigned first)
{
	const unsigned how = first & 15;
	const uint8_t *const set = tel__column_lengths[how];
	const int odd = c->inverse != 1 || shape_is_wide(c);

	switch ((enum native_code)(first >> 4 & 7)) {
	case NATIVE_FIXED:
		if (odd)
			put_fixed(b, c, 0, how, UNIT_ODD_VALUE);
		else
			put_fixed(b, c, 0, how, UNIT_VALUE);
		break;
	case NATIVE_DELTA_FIXED:
		if (odd)
			put_fixed(b, c, 1, how, UNIT_ODD_STEP);
		else
			put_fixed(b, c, 1, how, UNIT_STEP);
		break;
	case NATIVE_BYTES:
		if (odd)
			put_varied(b, c, 0, set, UNIT_ODD_VALUE);
		else
			put_varied(b, c, 0, set, UNIT_VALUE);
		break;
	case NATIVE_DELTA_BYTES:
		if (odd)
			put_varied(b, c, 1, set, UNIT_ODD_STEP);
		else
			put_varied(b, c, 1, set, UNIT_STEP);
		break;
	case NATIVE_STEPS: put_changes(b, c, set); break;
	case NATIVE_TABLE:
	case NATIVE_LINE: break;
	}
}

/* A column of values that are neither equal nor on a line. */
static void
put_values(struct tel__buffer *b, struct column *c,
    enum tel__column_choice choice)
{
	struct shape values, steps;
	struct choice best;

	if (c->fast)
		find_power(c);
	else
		find_scale(c);
	tel__shape_measure(c, &values, &steps);
	if (c->fast) {
		best = choose_fast(c, &values, &steps);
		if (!c->exact && (best.first >> 4 & 7) == NATIVE_BYTES) {
			wire_column_find_range(c);
			tel__shape_measure(c, &values, &steps);
			best = choose_fast(c, &values, &steps);
		}
	} else {
		best = choose_smallest(c, &values, &steps,
		    choice == TEL__COLUMN_CLOCKS);
	}
	if (wire_column_put_table(b, c, &best))
		return;
	unsigned code = best.first >> 4 & 7;
	put_byte(b, best.first);
	tel__buffer_put_varint(b, c->scale);
	tel__buffer_put_varint(b,
	    tel__zigzag(
	        (code == NATIVE_FIXED || code == NATIVE_BYTES ? c->low :
	                                                        c->v[0]) -
	        c->before));
	put_units(b, c, best.first);
}

/* n equal values. */
static void
put_same(struct tel__buffer *b, uint64_t difference)
{
	const uint64_t z = tel__zigzag(difference);

	put_byte(b, (unsigned)(z & 63) | (z > 63 ? 64 : 0));
	if (z > 63)
		tel__buffer_put_varint(b, z >> 6);
}

void
tel__column_encode(struct tel__buffer *b, const uint64_t *v, size_t n,
    uint64_t before, enum tel__column_choice choice,
    struct tel__column_range *range)
{
	const int fast = choice == TEL__COLUMN_FAST;
	const size_t runs = fast && n > RUNS * RUN ? RUNS : 1,
	             run = runs > 1 ? RUN : n;
	struct column c = { .v = v,
		.n = n,
		.before = before,
		.fast = fast,
		.runs = runs,
		.run = run,
		.apart = (n - run) / RUNS };

	if (!is_line(v, n)) {
		put_values(b, &c, choice);
	} else if (n == 1 || v[1] == v[0]) {
		c.low = c.high = v[0];
		put_same(b, v[0] - before);
	} else {
		if (range != NULL)
			wire_column_find_range(&c);
		put_byte(b, 0x80u | NATIVE_LINE << 4);
		tel__buffer_put_varint(b, tel__zigzag(v[0] - before));
		tel__buffer_put_varint(b, tel__zigzag(v[1] - v[0]));
	}
	if (range != NULL)
		*range = (struct tel__column_range){ c.low, c.high };
}

void
tel__column_put_places(struct tel__buffer *b, const uint8_t *places, size_t n,
    unsigned count)
{
	put_byte(b, 0x80u | NATIVE_TABLE << 4 | places_log(count));
	tel__buffer_put_varint(b, count);
	tel__buffer_put_varint(b, 0);
	for (unsigned i = 1; i < count; i++)
		tel__buffer_put_varint(b, 2);
	wire_column_pack(b, places, n, places_log(count));
}

void
tel__column_put_shared(struct tel__buffer *b, const uint64_t *v,
    const uint32_t *shared, size_t n, uint64_t before)
{
	/* sets 0 and, if there are large steps, 4 of the lengths */
	const uint8_t *lengths;
	unsigned set = 0, code;
	size_t events = 0, size, i, place = 0;

	for (i = 0; i < n; i++) {
		events += shared[i];
		if (i > 0 && v[i] - v[i - 1] > 32767)
			set = 4;
	}
	if (n == 1) {
		put_same(b, v[0] - before);
		return;
	}
	lengths = tel__column_lengths[set];
	put_byte(b, 0x80u | NATIVE_DELTA_BYTES << 4 | set);
	tel__buffer_put_varint(b, 1);
	tel__buffer_put_varint(b, tel__zigzag(v[0] - before));
	size = (events + 2) / 4;
	unsigned char *select = tel__buffer_room(b, size + n * 8);
	if (select == NULL)
		return;
	memset(select, 0, size);
	unsigned char *p = select + size;
	for (i = 1; i < n; i++) {
		uint64_t z = tel__zigzag(v[i] - v[i - 1]);

		place += shared[i - 1];
		code = 3;
		while (code > 0 && z >> (8 * lengths[code - 1]) == 0)
			code--;
		select[(place - 1) / 4] |=
		    (unsigned char)(code << (place - 1) % 4 * 2);
		tel_store_le64(p, z);
		p += lengths[code];
	}
	b->used = (size_t)(p - b->bytes);
}
