/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of the native format: which of their forms is the smallest.
 * Clocks of processors go in steps, addresses are aligned: what divides all
 * differences is taken out first.
 */
#include "format/tel/writer.h"

/* How values of a column look in some form. */
struct shape {
	uint32_t bits[65]; /* how many of them have so many bits */
};

static inline unsigned
bit_length(uint64_t v)
{
	return v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
}

/* The same, but for 64 it may say 63: as many bytes. */
static inline unsigned
nearly_length(uint64_t v)
{
	return 63 ^ (unsigned)__builtin_clzll((v | v >> 1) << 1 | 1);
}

static uint64_t
greatest_divisor(uint64_t a, uint64_t b)
{
	uint64_t t;

	while (b != 0) {
		t = a % b;
		a = b;
		b = t;
	}
	return a;
}

/*
 * What divides all differences of values; 0 when they are all equal.  range:
 * set to the least and the greatest value.
 */
static uint64_t
find_scale(const uint64_t *v, size_t n, struct out_range *range)
{
	uint64_t all = 0, g = 0, min = v[0], max = v[0], least, d;
	size_t i;

	for (i = 1; i < n; i++) {
		all |= v[i] ^ v[0];
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}
	range->low = min;
	range->high = max;
	if (all == 0)
		return 0;
	/* the lowest bit that differs: all differences are multiples of it */
	least = all & (0 - all);
	for (i = 1; i < n && g != least; i++) {
		d = v[i] - v[i - 1];
		if (d >> 63)
			d = 0 - d;
		if (g == 0 || d == 0)
			g |= d;
		else if ((d | g) >> 32 == 0 ? (uint32_t)d % (uint32_t)g != 0 :
		                              d % g != 0)
			g = greatest_divisor(d, g);
	}
	return g;
}

/* Dividing what is a multiple of a number. */
struct divider {
	unsigned shift;
	uint64_t inverse; /* of the odd part, modulo 2^64 */
};

static struct divider
divider(uint64_t g)
{
	struct divider d = { (unsigned)__builtin_ctzll(g), 0 };
	const uint64_t odd = g >> d.shift;
	int i;

	/* Newton's iteration: each step doubles the bits that are right */
	d.inverse = odd;
	for (i = 0; i < 5; i++)
		d.inverse *= 2 - odd * d.inverse;
	return d;
}

static inline uint64_t
divide(struct divider d, uint64_t v)
{
	return (v >> d.shift) * d.inverse;
}

static inline uint64_t
divide_signed(struct divider d, uint64_t v)
{
	return (uint64_t)((int64_t)v >> d.shift) * d.inverse;
}

/* Bytes for n values of a shape with a set of lengths. */
static size_t
set_size(const size_t count[9], size_t n, const uint8_t set[4])
{
	size_t size = (n + 3) / 4;
	unsigned bytes, k = 0;

	for (bytes = 0; bytes <= 8; bytes++) {
		while (set[k] < bytes)
			k++;
		size += count[bytes] * set[k];
	}
	return size;
}

/* A choice: the first byte of the column, and how many follow. */
struct choice {
	unsigned first;
	size_t size;
};

/* How many values of a shape take so many bytes.  The most bytes. */
static unsigned
count_bytes(const struct shape *s, size_t count[9])
{
	unsigned i, widest = 0;

	memset(count, 0, 9 * sizeof(*count));
	for (i = 0; i <= 64; i++)
		if (s->bits[i] > 0) {
			widest = (i + 7) / 8;
			count[widest] += s->bits[i];
		}
	return widest;
}

/* Considers n values of a shape with each set of lengths. */
static void
choose_lengths(struct choice *best, const size_t count[9], size_t n,
    unsigned code)
{
	size_t size;
	unsigned i;

	for (i = 0; i < 16; i++) {
		size = set_size(count, n, tel__native_lengths[i]);
		if (size < best->size) {
			best->size = size;
			best->first = 0x80u | code << 4 | i;
		}
	}
}

/* Considers them with one length, too. */
static void
choose(struct choice *best, const struct shape *s, size_t n,
    unsigned fixed_code, unsigned bytes_code)
{
	size_t count[9];
	const unsigned widest = count_bytes(s, count);

	if (n * widest < best->size) {
		best->size = n * widest;
		best->first = 0x80u | fixed_code << 4 | widest;
	}
	choose_lengths(best, count, n, bytes_code);
}

static void
put_fixed(struct tel__buffer *b, const uint64_t *v, size_t n, unsigned width)
{
	unsigned char *p = tel__buffer_room(b, n * width + 8);
	size_t i;

	if (p == NULL)
		return;
	for (i = 0; i < n; i++, p += width)
		tel_store_le64(p, v[i]);
	b->used += n * width;
}

static void
put_lengths(struct tel__buffer *b, const uint64_t *v, size_t n,
    const uint8_t set[4])
{
	const size_t groups = (n + 3) / 4;
	unsigned char *control = tel__buffer_room(b, groups + 8 * n + 8), *p;
	uint8_t code[65];
	unsigned i, k = 0;
	size_t j;

	if (control == NULL)
		return;
	for (i = 0; i <= 64; i++) {
		while (set[k] < (i + 7) / 8)
			k++;
		code[i] = (uint8_t)k;
	}
	memset(control, 0, groups);
	p = control + groups;
	for (j = 0; j < n; j++) {
		k = code[nearly_length(v[j])];
		control[j / 4] |= (unsigned char)(k << j % 4 * 2);
		tel_store_le64(p, v[j]);
		p += set[k];
	}
	b->used += (size_t)(p - control);
}

/* The different values of a column, as they came. */
struct table {
	uint64_t values[NATIVE_TABLE_MAX];
	unsigned count;
	uint16_t slots[1024]; /* number + 1 of a value, by its hash */
};

/* Numbers of values; 0 when there are too many for it to be of use. */
static int
make_table(struct table *t, const uint64_t *v, size_t n, uint64_t *numbers)
{
	unsigned at;
	size_t i;

	t->count = 0;
	memset(t->slots, 0, sizeof(t->slots));
	for (i = 0; i < n; i++) {
		at = (unsigned)(v[i] * 0x9e3779b97f4a7c15u >> 54);
		while (t->slots[at] != 0 && t->values[t->slots[at] - 1] != v[i])
			at = (at + 1) % 1024;
		if (t->slots[at] == 0) {
			/* what begins so will not get better */
			if (t->count == NATIVE_TABLE_MAX ||
			    t->count > 16 + i / 3)
				return 0;
			t->values[t->count++] = v[i];
			t->slots[at] = (uint16_t)t->count;
		}
		numbers[i] = t->slots[at] - 1u;
	}
	return 1;
}

/* The same as a choice. */
static void
choose_table(struct choice *best, const struct table *t, size_t n,
    uint64_t before)
{
	unsigned shift = 0, i;
	size_t size;

	while (1u << (1u << shift) < t->count)
		shift++;
	size = (n * (1u << shift) + 7) / 8 + (t->count > 127 ? 2 : 1);
	for (i = 0; i < t->count; i++) {
		size +=
		    bit_length(tel__zigzag(t->values[i] - before) | 1) / 7 + 1;
		before = t->values[i];
	}
	if (size < best->size) {
		best->size = size;
		best->first = 0x80u | NATIVE_TABLE << 4 | shift;
	}
}

static void
put_table(struct tel__buffer *b, const struct table *t, const uint64_t *numbers,
    size_t n, uint64_t before, unsigned shift)
{
	const unsigned bits = 1u << shift;
	unsigned char *p;
	size_t i, size = (n * bits + 7) / 8;

	tel__buffer_put_varint(b, t->count);
	for (i = 0; i < t->count; i++) {
		tel__buffer_put_varint(b, tel__zigzag(t->values[i] - before));
		before = t->values[i];
	}
	p = tel__buffer_room(b, size);
	if (p == NULL)
		return;
	memset(p, 0, size);
	for (i = 0; i < n; i++)
		p[i * bits / 8] |= (unsigned char)(numbers[i] << i * bits % 8);
	b->used += size;
}

/* A column of one value, n times. */
static void
put_constant(struct tel__buffer *b, uint64_t difference)
{
	const uint64_t z = tel__zigzag(difference);
	unsigned char c = (unsigned char)(z & 0x3f);

	if (z > 0x3f)
		c |= 0x40;
	tel__buffer_put(b, &c, 1);
	if (z > 0x3f)
		tel__buffer_put_varint(b, z >> 6);
}

static void
put_first(struct tel__buffer *b, unsigned first)
{
	const unsigned char c = (unsigned char)first;

	tel__buffer_put(b, &c, 1);
}

/* 1 when each value is as far from the one before it. */
static int
is_line(const uint64_t *v, size_t n)
{
	size_t i;

	for (i = 2; i < n; i++)
		if (v[i] - v[i - 1] != v[1] - v[0])
			return 0;
	return 1;
}

/*
 * Whether the changes of the step are likely to be shorter than the steps: the
 * bits of both in the middle of the column.  In most they are not, and to make
 * all of them costs as much as all other forms together.
 */
#define STEPS_LOOK 64

static int
may_be_steps(const uint64_t *v, size_t n, struct divider by,
    const uint64_t *differences)
{
	size_t i = n > STEPS_LOOK ? (n - STEPS_LOOK) / 2 : 2;
	const size_t end = n > STEPS_LOOK ? i + STEPS_LOOK : n;
	unsigned bits = 0, changed = 0;

	for (i = i < 2 ? 2 : i; i < end; i++) {
		bits += nearly_length(differences[i]);
		changed += nearly_length(tel__zigzag(divide_signed(by,
		    v[i] - v[i - 1] - (v[i - 1] - v[i - 2]))));
	}
	/* with a margin for a middle that is not like the rest */
	return changed < bits + bits / 16;
}

/*
 * Considers the changes of the step from value to value: n - 1 of them, from
 * changes[1] on, the first one being 0.
 */
static void
choose_steps(struct choice *best, const uint64_t *v, size_t n,
    struct divider by, uint64_t *changes)
{
	struct shape shape = { { 0 } };
	struct choice own = { 0, SIZE_MAX };
	size_t count[9], i;

	changes[1] = 0;
	shape.bits[nearly_length(0)]++;
	for (i = 2; i < n; i++) {
		changes[i] = tel__zigzag(
		    divide_signed(by, v[i] - v[i - 1] - (v[i - 1] - v[i - 2])));
		shape.bits[nearly_length(changes[i])]++;
	}
	(void)count_bytes(&shape, count);
	choose_lengths(&own, count, n - 1, NATIVE_STEPS);
	/* the first step is one number more */
	if (own.size + sizeof(uint64_t) < best->size)
		*best = own;
}

static void
put_column(struct tel__buffer *b, const uint64_t *v, size_t n, uint64_t before,
    uint64_t *spare, int clocks, struct out_range *range)
{
	struct shape plain = { { 0 } }, delta = { { 0 } };
	struct choice best = { 0, SIZE_MAX };
	uint64_t *from_least = spare, *differences = spare + n,
	         *numbers = spare + 2 * n, *changes = spare + 3 * n;
	const uint64_t scale = find_scale(v, n, range), least = range->low;
	struct divider by;
	struct table table;
	unsigned code, how;
	size_t i;

	if (scale == 0) {
		put_constant(b, v[0] - before);
		return;
	}
	if (is_line(v, n)) {
		put_first(b, 0x80u | NATIVE_LINE << 4);
		tel__buffer_put_varint(b, tel__zigzag(v[0] - before));
		tel__buffer_put_varint(b, tel__zigzag(v[1] - v[0]));
		return;
	}
	by = divider(scale);
	from_least[0] = divide(by, v[0] - least);
	plain.bits[nearly_length(from_least[0])]++;
	for (i = 1; i < n; i++) {
		from_least[i] = divide(by, v[i] - least);
		differences[i] =
		    tel__zigzag(divide_signed(by, v[i] - v[i - 1]));
		plain.bits[nearly_length(from_least[i])]++;
		delta.bits[nearly_length(differences[i])]++;
	}
	choose(&best, &plain, n, NATIVE_FIXED, NATIVE_BYTES);
	choose(&best, &delta, n - 1, NATIVE_DELTA_FIXED, NATIVE_DELTA_BYTES);
	if (clocks && may_be_steps(v, n, by, differences))
		choose_steps(&best, v, n, by, changes);
	if (n >= 8 && best.size > n / 8 && make_table(&table, v, n, numbers))
		choose_table(&best, &table, n, before);
	code = best.first >> 4 & 7;
	how = best.first & 15;
	put_first(b, best.first);
	if (code == NATIVE_TABLE) {
		put_table(b, &table, numbers, n, before, how);
		return;
	}
	tel__buffer_put_varint(b, scale);
	tel__buffer_put_varint(b,
	    tel__zigzag(
	        (code == NATIVE_FIXED || code == NATIVE_BYTES ? least : v[0]) -
	        before));
	switch ((enum native_code)code) {
	case NATIVE_FIXED: put_fixed(b, from_least, n, how); break;
	case NATIVE_DELTA_FIXED:
		put_fixed(b, differences + 1, n - 1, how);
		break;
	case NATIVE_BYTES:
		put_lengths(b, from_least, n, tel__native_lengths[how]);
		break;
	case NATIVE_DELTA_BYTES:
		put_lengths(b, differences + 1, n - 1,
		    tel__native_lengths[how]);
		break;
	case NATIVE_STEPS:
		tel__buffer_put_varint(b, tel__zigzag(v[1] - v[0]));
		put_lengths(b, changes + 1, n - 1, tel__native_lengths[how]);
		break;
	case NATIVE_TABLE:
	case NATIVE_LINE: break;
	}
}

void
tel__column_put(struct tel__buffer *b, const uint64_t *v, size_t n,
    uint64_t before, uint64_t *spare)
{
	struct out_range range;

	put_column(b, v, n, before, spare, 0, &range);
}

void
tel__column_put_range(struct tel__buffer *b, const uint64_t *v, size_t n,
    uint64_t before, uint64_t *spare, struct out_range *range)
{
	put_column(b, v, n, before, spare, 0, range);
}

void
tel__column_put_clocks(struct tel__buffer *b, const uint64_t *v, size_t n,
    uint64_t before, uint64_t *spare)
{
	struct out_range range;

	put_column(b, v, n, before, spare, 1, &range);
}
