/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of the native format: many integers of one meaning, in a form that
 * was chosen for them.  No step of these loops depends on a value that was
 * just read, except for the sums of differences.
 */
#include "format/tel/wire.h"

/* Measured on streams of all MPS releases: each is the best of some column. */
/* The rest of 8 bytes for a length of 0 to 8. */
static const uint64_t masks[9] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff,
	0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX };

/* Values of width bytes each.  0: there are fewer. */
static int
fixed(struct native_bytes *b, size_t n, unsigned width, uint64_t *out)
{
	const unsigned char *p = native_take(b, n * width);
	const uint64_t mask = masks[width];

	if (p == NULL)
		return 0;
	for (size_t i = 0; i < n; i++, p += width)
		out[i] = tel_le64(p) & mask;
	return 1;
}

/* How values of several lengths are read. */
struct lengths {
	const unsigned char *control; /* two bits for each value */
	const unsigned char *p;       /* the values */
	uint64_t mask[4];
	uint8_t set[4];
};

/* How many bits of x are set, of those with even numbers. */
static inline unsigned
ones(uint64_t x)
{
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (unsigned)(x * 0x0101010101010101u >> 56);
}

/* The sum of the lengths that n control bytes encode, 32 at a time. */
static size_t
sum_lengths(const unsigned char *p, size_t n, const uint8_t set[4])
{
	const uint64_t even = 0x5555555555555555u;
	size_t total = n * 4 * set[0], k;
	uint64_t low, high;

	for (; n > 0; n -= k, p += k) {
		unsigned char bytes[8] = { 0 };

		k = n < 8 ? n : 8;
		if (k == 8)
			low = tel_le64(p);
		else
			low = tel_le64(memcpy(bytes, p, k));
		high = low >> 1 & even;
		low &= even;
		total += ones(low & ~high) * (size_t)(set[1] - set[0]);
		total += ones(high & ~low) * (size_t)(set[2] - set[0]);
		total += ones(high & low) * (size_t)(set[3] - set[0]);
	}
	return total;
}

/* Looks at n values of lengths in set, and steps over them.  0: too few. */
static int
begin_lengths(struct native_bytes *b, size_t n, const uint8_t set[4],
    struct lengths *l)
{
	const size_t groups = (n + 3) / 4;

	l->control = native_take(b, groups);
	if (l->control == NULL)
		return 0;
	size_t total = sum_lengths(l->control, groups, set);
	/* the last control byte has room for values that are not there */
	for (size_t i = n; i < groups * 4; i++) {
		if ((l->control[groups - 1] >> (2 * (i % 4)) & 3) != 0)
			return 0;
		total -= set[0];
	}
	for (unsigned c = 0; c < 4; c++)
		l->mask[c] = masks[set[c]];
	memcpy(l->set, set, sizeof(l->set));
	l->p = native_take(b, total);
	return l->p != NULL;
}

/* The value at *p, of the length that the low bits of c choose. */
__attribute__((always_inline)) static inline uint64_t
next_value(const struct lengths *l, const unsigned char **p, unsigned c,
    int delta, uint64_t *base, uint64_t scale)
{
	const uint64_t v = tel_le64(*p) & l->mask[c & 3];

	*p += l->set[c & 3];
	if (!delta)
		return *base + v * scale;
	return *base += tel__unzigzag(v) * scale;
}

/*
 * Values of several lengths, each except for delta from the same base; with it
 * each from the one before.
 */
__attribute__((always_inline)) static inline void
read_lengths(const struct lengths *l, size_t n, int delta, uint64_t base,
    uint64_t scale, uint64_t *out)
{
	const unsigned char *p = l->p, *control = l->control;
	size_t some;

	for (; n > 0; n -= some, out += some) {
		const unsigned c = *control++;

		some = n < 4 ? n : 4;
		out[0] = next_value(l, &p, c, delta, &base, scale);
		out[1] = next_value(l, &p, c >> 2, delta, &base, scale);
		out[2] = next_value(l, &p, c >> 4, delta, &base, scale);
		out[3] = next_value(l, &p, c >> 6, delta, &base, scale);
	}
}

static int
lengths(struct native_bytes *b, size_t n, const uint8_t set[4], int delta,
    uint64_t base, uint64_t scale, uint64_t *out)
{
	struct lengths l;

	if (!begin_lengths(b, n, set, &l))
		return 0;
	/* a copy of the loop for each of these */
	if (delta && scale == 1)
		read_lengths(&l, n, 1, base, 1, out);
	else if (delta)
		read_lengths(&l, n, 1, base, scale, out);
	else if (scale == 1)
		read_lengths(&l, n, 0, base, 1, out);
	else
		read_lengths(&l, n, 0, base, scale, out);
	return 1;
}

/* Numbers of so many bits into a table.  The greatest number. */
static inline unsigned
look_up(const unsigned char *p, size_t n, unsigned bits, const uint64_t *values,
    uint64_t *out)
{
	const unsigned each = 8 / bits, mask = (1u << bits) - 1;
	unsigned most = 0, k, c, x;

	for (; n > 0; n -= k, out += k) {
		c = *p++;
		for (k = 0; k < each && (n >= each || k < n); k++) {
			x = c & mask;
			c >>= bits;
			most = x > most ? x : most;
			out[k] = values[x];
		}
	}
	return most;
}

/* Numbers of 1, 2, 4 or 8 bits into a table of values. */
static int
table(struct native_bytes *b, size_t n, unsigned shift, uint64_t before,
    uint64_t *out)
{
	uint64_t values[NATIVE_TABLE_MAX];
	const uint32_t count = native_number(b, NATIVE_TABLE_MAX);
	unsigned most = 0;
	uint32_t k;

	for (k = 0; k < count; k++) {
		before += tel__unzigzag(native_varint(b));
		values[k] = before;
	}
	for (; k < 1u << (1u << shift); k++)
		values[k] = 0;
	const unsigned char *p = native_take(b, ((n << shift) + 7) / 8);
	if (p == NULL)
		return 0;
	/* a copy of the loop for each of these */
	switch (shift) {
	case 0: most = look_up(p, n, 1, values, out); break;
	case 1: most = look_up(p, n, 2, values, out); break;
	case 2: most = look_up(p, n, 4, values, out); break;
	default: most = look_up(p, n, 8, values, out); break;
	}
	return most < count;
}

/* Differences of differences: the first value, the first step, changes. */
static int
steps(struct native_bytes *b, unsigned how, size_t n, uint64_t before,
    uint64_t *out)
{
	const uint64_t scale = native_varint(b);
	uint64_t value = before + tel__unzigzag(native_varint(b));
	uint64_t step = tel__unzigzag(native_varint(b));

	out[0] = value;
	if (n > 1 &&
	    !lengths(b, n - 1, tel__column_lengths[how], 1, step, scale,
	        out + 1))
		return 0;
	for (size_t i = 1; i < n; i++)
		out[i] = value += out[i];
	return !b->bad;
}

static int
coded(struct native_bytes *b, unsigned code, unsigned how, size_t n,
    uint64_t before, uint64_t *out)
{
	const int delta =
	    code == NATIVE_DELTA_FIXED || code == NATIVE_DELTA_BYTES;
	const uint64_t scale = native_varint(b);
	const uint64_t base = before + tel__unzigzag(native_varint(b));
	uint64_t sum = base;

	/* the first of values stored as differences is the base */
	if (delta) {
		*out++ = base;
		if (--n == 0)
			return !b->bad;
	}
	if (code == NATIVE_BYTES || code == NATIVE_DELTA_BYTES)
		return lengths(b, n, tel__column_lengths[how], delta, base,
		           scale, out) &&
		    !b->bad;
	if (how > 8) {
		b->newer = 1;
		return 0;
	}
	if (!fixed(b, n, how, out))
		return 0;
	if (delta)
		for (size_t i = 0; i < n; i++)
			out[i] = sum += tel__unzigzag(out[i]) * scale;
	else
		for (size_t i = 0; i < n; i++)
			out[i] = base + out[i] * scale;
	return !b->bad;
}

int
tel__native_column(struct native_bytes *b, size_t n, uint64_t before,
    uint64_t *out)
{
	const unsigned char *first = native_take(b, 1);
	uint64_t v, step = 0;

	if (first == NULL || n == 0)
		return 0;
	unsigned code = *first >> 4 & 7;
	unsigned how = *first & 15;
	if (*first >= 0x80) {
		if (code <= NATIVE_DELTA_BYTES)
			return coded(b, code, how, n, before, out);
		if (code == NATIVE_TABLE && how <= 3)
			return table(b, n, how, before, out) && !b->bad;
		if (code == NATIVE_STEPS)
			return steps(b, how, n, before, out);
		if (code != NATIVE_LINE || how != 0) {
			b->newer = 1;
			return 0;
		}
		v = before + tel__unzigzag(native_varint(b));
		step = tel__unzigzag(native_varint(b));
	} else {
		v = *first & 0x3f;
		if (*first & 0x40)
			v |= native_varint(b) << 6;
		v = before + tel__unzigzag(v);
	}
	for (size_t i = 0; i < n; i++, v += step)
		out[i] = v;
	return !b->bad;
}

/* The last of n numbers into a table, all of which are stepped over. */
static int
table_last(struct native_bytes *b, size_t n, unsigned shift, uint64_t before,
    uint64_t *out)
{
	const uint32_t count = native_number(b, NATIVE_TABLE_MAX);
	const unsigned bits = 1u << shift;
	const size_t at = (n - 1) << shift;
	uint64_t values[NATIVE_TABLE_MAX];

	for (uint32_t k = 0; k < count; k++) {
		before += tel__unzigzag(native_varint(b));
		values[k] = before;
	}
	const unsigned char *p = native_take(b, ((n << shift) + 7) / 8);
	if (p == NULL)
		return 0;
	unsigned x = p[at / 8] >> at % 8 & ((1u << bits) - 1);
	if (x >= count)
		return 0;
	*out = values[x];
	return 1;
}

int
tel__native_column_last(struct native_bytes *b, size_t n, uint64_t before,
    uint64_t *spare, uint64_t *out)
{
	struct native_bytes rest = *b;
	const unsigned char *first = native_take(&rest, 1);
	struct lengths l;

	if (first == NULL || n == 0)
		return 0;
	unsigned code = *first >> 4 & 7;
	unsigned how = *first & 15;
	if (*first < 0x80 ||
	    (code != NATIVE_BYTES && (code != NATIVE_TABLE || how > 3))) {
		if (!tel__native_column(b, n, before, spare))
			return 0;
		*out = spare[n - 1];
		return 1;
	}
	*b = rest;
	if (code == NATIVE_TABLE)
		return table_last(b, n, how, before, out) && !b->bad;
	uint64_t scale = native_varint(b);
	uint64_t base = before + tel__unzigzag(native_varint(b));
	if (!begin_lengths(b, n, tel__column_lengths[how], &l))
		return 0;
	unsigned c = l.control[(n - 1) / 4] >> (n - 1) % 4 * 2 & 3;
	*out = base + (tel_le64(b->p - l.set[c]) & l.mask[c]) * scale;
	return !b->bad;
}
