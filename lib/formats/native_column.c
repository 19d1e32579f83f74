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

/* Values of the lengths that two bits each say; room for up to 3 more. */
static int
lengths(struct native_bytes *b, size_t n, const uint8_t set[4], uint64_t *out)
{
	const size_t groups = (n + 3) / 4;
	const unsigned char *control = native_take(b, groups), *p;
	uint64_t mask[4];
	uint8_t sum[256];
	size_t i, total = 0;
	unsigned c;

	if (control == NULL)
		return 0;
	for (c = 0; c < 256; c++)
		sum[c] = (uint8_t)(set[c & 3] + set[c >> 2 & 3] +
		    set[c >> 4 & 3] + set[c >> 6]);
	for (i = 0; i < groups; i++)
		total += sum[control[i]];
	/* the last control byte has room for values that are not there */
	for (i = n; i < groups * 4; i++) {
		if ((control[groups - 1] >> (2 * (i % 4)) & 3) != 0)
			return 0;
		total -= set[0];
	}
	p = native_take(b, total);
	if (p == NULL)
		return 0;
	for (c = 0; c < 4; c++)
		mask[c] = masks[set[c]];
	for (i = 0; i < groups - 1; i++) {
		c = control[i];
		out[0] = tel_le64(p) & mask[c & 3];
		p += set[c & 3];
		out[1] = tel_le64(p) & mask[c >> 2 & 3];
		p += set[c >> 2 & 3];
		out[2] = tel_le64(p) & mask[c >> 4 & 3];
		p += set[c >> 4 & 3];
		out[3] = tel_le64(p) & mask[c >> 6];
		p += set[c >> 6];
		out += 4;
	}
	c = control[i];
	for (i *= 4; i < n; i++, c >>= 2) {
		*out++ = tel_le64(p) & mask[c & 3];
		p += set[c & 3];
	}
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
	for (i = 0; i < n; i++) {
		const size_t at = i * bits;
		const unsigned x = p[at / 8] >> at % 8 & mask;

		most = x > most ? x : most;
		out[i] = values[x];
	}
	return most < count;
}

/* From differences to values. */
static void
add_up(uint64_t *v, size_t n, uint64_t scale)
{
	uint64_t sum = v[0];
	size_t i;

	if (scale == 1) {
		for (i = 1; i < n; i++)
			v[i] = sum += native_unzigzag(v[i]);
		return;
	}
	for (i = 1; i < n; i++)
		v[i] = sum += native_unzigzag(v[i]) * scale;
}

static int
coded(struct native_bytes *b, unsigned code, unsigned how, size_t n,
    uint64_t before, uint64_t *out)
{
	const int delta =
	    code == NATIVE_DELTA_FIXED || code == NATIVE_DELTA_BYTES;
	const uint64_t scale = native_varint(b);
	const uint64_t base = before + native_unzigzag(native_varint(b));
	size_t i;

	/* the first of values that are told by differences is the base */
	out[0] = base;
	if (delta && n == 1)
		return !b->bad;
	if (code == NATIVE_FIXED || code == NATIVE_DELTA_FIXED) {
		if (how > 8 || !fixed(b, n - (size_t)delta, how, out + delta))
			return 0;
	} else if (!lengths(b, n - (size_t)delta, native_lengths[how],
	               out + delta)) {
		return 0;
	}
	if (delta)
		add_up(out, n, scale);
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
