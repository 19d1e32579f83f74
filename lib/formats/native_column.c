/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of the native format: many integers of one meaning, in a form that
 * was chosen for them.  No step of these loops depends on a value that was
 * just read, but for the sums of differences.
 */
#include "formats/native.h"

/* Measured on streams of all MPS releases: each is the best of some column. */
const uint8_t native_lengths[16][4] = { { 0, 1, 2, 8 }, { 0, 1, 4, 8 },
	{ 1, 2, 3, 8 }, { 1, 2, 4, 8 }, { 0, 2, 4, 8 }, { 0, 1, 3, 8 },
	{ 0, 2, 3, 8 }, { 2, 3, 4, 8 }, { 1, 3, 5, 8 }, { 0, 3, 6, 8 },
	{ 0, 4, 6, 8 }, { 2, 4, 6, 8 }, { 1, 2, 6, 8 }, { 0, 1, 6, 8 },
	{ 0, 2, 6, 8 }, { 3, 4, 6, 8 } };

/* What is left of 8 bytes for a length of 0 to 8. */
static const uint64_t masks[9] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff,
	0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX };

/* Values of width bytes each.  0: there are fewer. */
static int
fixed(struct native_bytes *b, size_t n, unsigned width, uint64_t *out)
{
	const unsigned char *p = native_take(b, n * width);
	const uint64_t mask = masks[width];
	size_t i;

	if (p == NULL)
		return 0;
	for (i = 0; i < n; i++, p += width)
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

/* Looks at n values of lengths in set, and steps over them.  0: too few. */
static int
begin_lengths(struct native_bytes *b, size_t n, const uint8_t set[4],
    struct lengths *l)
{
	const size_t groups = (n + 3) / 4;
	uint8_t sum[256];
	size_t i, total = 0;
	unsigned c;

	l->control = native_take(b, groups);
	if (l->control == NULL)
		return 0;
	for (c = 0; c < 256; c++)
		sum[c] = (uint8_t)(set[c & 3] + set[c >> 2 & 3] +
		    set[c >> 4 & 3] + set[c >> 6]);
	for (i = 0; i < groups; i++)
		total += sum[l->control[i]];
	/* the last control byte has room for values that are not there */
	for (i = n; i < groups * 4; i++) {
		if ((l->control[groups - 1] >> (2 * (i % 4)) & 3) != 0)
			return 0;
		total -= set[0];
	}
	for (c = 0; c < 4; c++)
		l->mask[c] = masks[set[c]];
	memcpy(l->set, set, sizeof(l->set));
	l->p = native_take(b, total);
	return l->p != NULL;
}

/*
 * Values of several lengths, each but for delta from the same base; with it
 * each from the one before.  out has room for 3 more than there are: what is
 * there of the last 4 is read, and what is not has no bytes.
 */
static inline void
read_lengths(const struct lengths *l, size_t n, int delta, uint64_t base,
    uint64_t scale, uint64_t *out)
{
	const unsigned char *p = l->p;
	const uint64_t *const mask = l->mask;
	const uint8_t *const set = l->set;
	size_t i;
	unsigned c, k, x;

	for (i = 0; i < n; i += 4) {
		c = l->control[i / 4];
		for (k = 0; k < 4; k++, c >>= 2) {
			uint64_t v;

			x = c & 3;
			v = tel_le64(p) & mask[x];
			p += set[x];
			if (delta)
				base += native_unzigzag(v) * scale;
			out[i + k] = delta ? base : base + v * scale;
			if (i + k + 1 == n)
				return;
		}
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

/* Numbers of 1, 2, 4 or 8 bits into a table of values. */
static int
table(struct native_bytes *b, size_t n, unsigned shift, uint64_t before,
    uint64_t *out)
{
	uint64_t values[NATIVE_TABLE_MAX] = { 0 };
	const unsigned bits = 1u << shift, mask = (1u << bits) - 1;
	const uint32_t count = native_number(b, NATIVE_TABLE_MAX);
	const unsigned char *p;
	unsigned most = 0;
	uint32_t k;
	size_t i;

	for (k = 0; k < count; k++) {
		before += native_unzigzag(native_varint(b));
		values[k] = before;
	}
	p = native_take(b, (n * bits + 7) / 8);
	if (p == NULL)
		return 0;
	if (shift == 3) {
		for (i = 0; i < n; i++) {
			most = p[i] > most ? p[i] : most;
			out[i] = values[p[i]];
		}
	} else if (shift == 2) {
		/* out has room for one more */
		for (i = 0; i + 1 < n; i += 2, p++) {
			const unsigned x = *p & 15, y = *p >> 4;

			most = x > most ? x : most;
			most = y > most ? y : most;
			out[i] = values[x];
			out[i + 1] = values[y];
		}
		if (i < n) {
			most = (*p & 15u) > most ? *p & 15u : most;
			out[i] = values[*p & 15];
		}
	} else {
		for (i = 0; i < n; i++) {
			const unsigned x =
			    p[i * bits / 8] >> i * bits % 8 & mask;

			most = x > most ? x : most;
			out[i] = values[x];
		}
	}
	return most < count;
}

static int
coded(struct native_bytes *b, unsigned code, unsigned how, size_t n,
    uint64_t before, uint64_t *out)
{
	const int delta =
	    code == NATIVE_DELTA_FIXED || code == NATIVE_DELTA_BYTES;
	const uint64_t scale = native_varint(b);
	const uint64_t base = before + native_unzigzag(native_varint(b));
	uint64_t sum = base;
	size_t i;

	/* the first of values that are told by differences is the base */
	if (delta) {
		*out++ = base;
		if (--n == 0)
			return !b->bad;
	}
	if (code == NATIVE_BYTES || code == NATIVE_DELTA_BYTES)
		return lengths(b, n, native_lengths[how], delta, base, scale,
		           out) &&
		    !b->bad;
	if (how > 8 || !fixed(b, n, how, out))
		return 0;
	if (delta)
		for (i = 0; i < n; i++)
			out[i] = sum += native_unzigzag(out[i]) * scale;
	else
		for (i = 0; i < n; i++)
			out[i] = base + out[i] * scale;
	return !b->bad;
}

int
native_column(struct native_bytes *b, size_t n, uint64_t before, uint64_t *out)
{
	const unsigned char *first = native_take(b, 1);
	uint64_t v, step = 0;
	unsigned code, how;
	size_t i;

	if (first == NULL || n == 0)
		return 0;
	code = *first >> 4 & 7;
	how = *first & 15;
	if (*first >= 0x80 && code <= NATIVE_DELTA_BYTES)
		return coded(b, code, how, n, before, out);
	if (*first >= 0x80 && code == NATIVE_TABLE)
		return how <= 3 && table(b, n, how, before, out) && !b->bad;
	if (*first >= 0x80) {
		if (code != NATIVE_LINE || how != 0)
			return 0;
		v = before + native_unzigzag(native_varint(b));
		step = native_unzigzag(native_varint(b));
	} else {
		v = *first & 0x3f;
		if (*first & 0x40)
			v |= native_varint(b) << 6;
		v = before + native_unzigzag(v);
	}
	for (i = 0; i < n; i++, v += step)
		out[i] = v;
	return !b->bad;
}
