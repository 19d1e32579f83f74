/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of tel(5): bytes, varints, the hash, and columns of integers. */
#include "emit.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- bytes */

unsigned char *
tel__emit_room(struct tel__emit_bytes *b, size_t n)
{
	size_t room = b->room != 0 ? b->room : 4096;
	unsigned char *p;

	if (n > b->room - b->used) {
		while (room - b->used < n)
			room *= 2;
		p = realloc(b->p, room);
		if (p == NULL) {
			b->failed = 1;
			return NULL;
		}
		b->p = p;
		b->room = room;
	}
	return b->p + b->used;
}

void
tel__emit_put(struct tel__emit_bytes *b, const void *p, size_t n)
{
	unsigned char *to = n > 0 ? tel__emit_room(b, n) : NULL;

	if (to == NULL)
		return;
	memcpy(to, p, n);
	b->used += n;
}

void
tel__emit_put_varint(struct tel__emit_bytes *b, uint64_t v)
{
	unsigned char bytes[10], *p = bytes;

	for (; v > 127; v >>= 7)
		*p++ = (unsigned char)(v | 128);
	*p++ = (unsigned char)v;
	tel__emit_put(b, bytes, (size_t)(p - bytes));
}

void
tel__emit_put_string(struct tel__emit_bytes *b, const void *p, size_t n)
{
	tel__emit_put_varint(b, n);
	tel__emit_put(b, p, n);
}

void
tel__emit_put_text(struct tel__emit_bytes *b, const char *s)
{
	tel__emit_put_string(b, s, strlen(s));
}

/* Stores the low n bytes of v, least first. */
void
tel__emit_store(unsigned char *p, uint64_t v, unsigned n)
{
	for (; n > 0; n--, v >>= 8)
		*p++ = (unsigned char)v;
}

/* Stores all 8 bytes; the caller advances by fewer. */
static inline void
store8(unsigned char *p, uint64_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
	p[2] = (unsigned char)(v >> 16);
	p[3] = (unsigned char)(v >> 24);
	p[4] = (unsigned char)(v >> 32);
	p[5] = (unsigned char)(v >> 40);
	p[6] = (unsigned char)(v >> 48);
	p[7] = (unsigned char)(v >> 56);
}

static inline uint64_t
zigzag(uint64_t d)
{
	return d << 1 ^ (0 - (d >> 63));
}

/* ----------------------------------------------------------------- XXH64 */

static const uint64_t prime[] = { 0, 11400714785074694791u,
	14029467366897019727u, 1609587929392839161u, 9650029242287828579u,
	2870177450012600261u };

static inline uint64_t
rotate(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

static inline uint64_t
load8(const unsigned char *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	    (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 |
	    (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline uint64_t
mix(uint64_t sum, uint64_t input)
{
	return rotate(sum + input * prime[2], 31) * prime[1];
}

uint64_t
tel__emit_hash(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t s[4] = { prime[1] + prime[2], prime[2], 0, 0 - prime[1] };
	uint64_t h = prime[5];
	size_t i = 0, k;

	for (; n - i >= 32; i += 32)
		for (k = 0; k < 4; k++)
			s[k] = mix(s[k], load8(p + i + 8 * k));
	if (n >= 32) {
		h = rotate(s[0], 1) + rotate(s[1], 7) + rotate(s[2], 12) +
		    rotate(s[3], 18);
		for (k = 0; k < 4; k++)
			h = (h ^ mix(0, s[k])) * prime[1] + prime[4];
	}
	h += n;
	for (; n - i >= 8; i += 8)
		h = rotate(h ^ mix(0, load8(p + i)), 27) * prime[1] + prime[4];
	if (n - i >= 4) {
		h ^= ((uint64_t)p[i] | (uint64_t)p[i + 1] << 8 |
		         (uint64_t)p[i + 2] << 16 | (uint64_t)p[i + 3] << 24) *
		    prime[1];
		h = rotate(h, 23) * prime[2] + prime[3];
		i += 4;
	}
	for (; i < n; i++)
		h = rotate(h ^ p[i] * prime[5], 11) * prime[1];
	h = (h ^ h >> 33) * prime[2];
	h = (h ^ h >> 29) * prime[3];
	return h ^ h >> 32;
}

/* --------------------------------------------------------------- columns */

static unsigned
width_of(uint64_t v)
{
	unsigned n = 0;

	for (; v != 0; v >>= 8)
		n++;
	return n;
}

/* Properties of a column that determine its encoding. */
struct column {
	uint64_t low, high; /* the least and the greatest value */
	uint64_t bits;      /* bits in which values differ from the first */
	uint64_t steps;     /* bits set in any zigzag of a step */
};

void
tel__emit_range(const uint64_t *v, unsigned n, uint64_t *low, uint64_t *high)
{
	uint64_t least = v[0], most;
	unsigned i = 1;

	/* clocks, and many other columns, never decrease */
	while (i < n && v[i] >= v[i - 1])
		i++;
	most = v[i - 1];
	for (; i < n; i++) {
		const uint64_t x = v[i];

		least = x < least ? x : least;
		most = x > most ? x : most;
	}
	*low = least;
	*high = most;
}

static struct column
look_at(const uint64_t *v, unsigned n)
{
	struct column c = { 0, 0, 0, 0 };
	const uint64_t first = v[0];
	uint64_t before = first, bits = 0, steps = 0;
	unsigned i;

	tel__emit_range(v, n, &c.low, &c.high);
	for (i = 1; i < n; i++) {
		bits |= v[i] - first;
		steps |= zigzag(v[i] - before);
		before = v[i];
	}
	c.bits = bits;
	c.steps = steps;
	return c;
}

/* Whether all steps are equal.  For most columns they are not. */
static int
is_line(const uint64_t *v, unsigned n)
{
	const uint64_t step = n > 1 ? v[1] - v[0] : 0;
	unsigned i;

	for (i = 2; i < n; i++)
		if (v[i] - v[i - 1] != step)
			return 0;
	return 1;
}

/* A column of equal values. */
static void
put_same(struct tel__emit_bytes *b, uint64_t difference)
{
	const uint64_t z = zigzag(difference);
	unsigned char m = (unsigned char)(z & 63);

	if (z >> 6 != 0)
		m |= 64;
	tel__emit_put(b, &m, 1);
	if (z >> 6 != 0)
		tel__emit_put_varint(b, z >> 6);
}

/*
 * A table of at most 16 values, low to low + 15 * 2^scale, and indices of it.
 */
static void
put_table(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t before, const struct column *c, unsigned scale)
{
	const unsigned count = (unsigned)((c->high - c->low) >> scale) + 1;
	const unsigned log = count <= 2 ? 0 : count <= 4 ? 1 : 2;
	const unsigned shift = 3 - log; /* log2 of the indices in a byte */
	const size_t size = (n + (1u << shift) - 1) >> shift;
	unsigned char m = (unsigned char)(0xC0 + log), *p;
	unsigned i;

	tel__emit_put(b, &m, 1);
	tel__emit_put_varint(b, count);
	tel__emit_put_varint(b, zigzag(c->low - before));
	for (i = 1; i < count; i++)
		tel__emit_put_varint(b, (uint64_t)2 << scale);
	p = tel__emit_room(b, size);
	if (p == NULL)
		return;
	memset(p, 0, size);
	for (i = 0; i < n; i++)
		p[i >> shift] |= (unsigned char)((v[i] - c->low) >> scale
		        << ((i & ((1u << shift) - 1)) << log));
	b->used += size;
}

/* Differences to the least value, in width bytes each. */
static void
put_fixed(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t before, const struct column *c, unsigned scale, unsigned width)
{
	const uint64_t low = c->low;
	unsigned char m = (unsigned char)(0x80 + width), *p;
	unsigned i;

	tel__emit_put(b, &m, 1);
	tel__emit_put_varint(b, (uint64_t)1 << scale);
	tel__emit_put_varint(b, zigzag(low - before));
	p = tel__emit_room(b, (size_t)n * width + 8);
	if (p == NULL)
		return;
	for (i = 0; i < n; i++, p += width)
		store8(p, (v[i] - low) >> scale);
	b->used += (size_t)n * width;
}

/* Differences to the value before, in width bytes each. */
static void
put_steps(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t before, unsigned scale, unsigned width)
{
	unsigned char m = (unsigned char)(0x90 + width), *p;
	uint64_t last = v[0];
	unsigned i;

	tel__emit_put(b, &m, 1);
	tel__emit_put_varint(b, (uint64_t)1 << scale);
	tel__emit_put_varint(b, zigzag(v[0] - before));
	p = tel__emit_room(b, (size_t)n * width + 8);
	if (p == NULL)
		return;
	/* for multiples of 2^scale, this is the zigzag of d / 2^scale */
	for (i = 1; i < n; i++, p += width) {
		const uint64_t d = v[i] - last;

		store8(p, zigzag(d) >> scale);
		last = v[i];
	}
	b->used += (size_t)(n - 1) * width;
}

/* A column of n values, 1 or more, that begins near before. */
void
tel__emit_put_column(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t before)
{
	unsigned scale = 0, wide, stepped;
	struct column c;
	unsigned char m;

	if (is_line(v, n)) {
		if (n == 1 || v[1] == v[0]) {
			put_same(b, v[0] - before);
			return;
		}
		m = 0xD0;
		tel__emit_put(b, &m, 1);
		tel__emit_put_varint(b, zigzag(v[0] - before));
		tel__emit_put_varint(b, zigzag(v[1] - v[0]));
		return;
	}
	c = look_at(v, n);
	while ((c.bits >> scale & 1) == 0)
		scale++;
	wide = width_of((c.high - c.low) >> scale);
	stepped = width_of(c.steps >> scale);
	if ((c.high - c.low) >> scale < 16)
		put_table(b, v, n, before, &c, scale);
	else if (stepped < wide)
		put_steps(b, v, n, before, scale, stepped);
	else
		put_fixed(b, v, n, before, &c, scale, wide);
}

void
tel__emit_put_places(struct tel__emit_bytes *b, const uint8_t *places,
    unsigned n, unsigned count)
{
	const unsigned log = count <= 2 ? 0 :
	    count <= 4                  ? 1 :
	    count <= 16                 ? 2 :
	                                  3;
	const unsigned width = 1u << log, each = 8 >> log;
	unsigned char m = (unsigned char)(0xC0 + log), *p, byte;
	unsigned i, k;

	tel__emit_put(b, &m, 1);
	tel__emit_put_varint(b, count);
	tel__emit_put_varint(b, 0);
	for (i = 1; i < count; i++)
		tel__emit_put_varint(b, 2);
	p = tel__emit_room(b, n / each + 1);
	if (p == NULL)
		return;
	for (i = 0; i + each <= n; i += each) {
		byte = 0;
		for (k = 0; k < each; k++)
			byte |= (unsigned char)(places[i + k] << k * width);
		*p++ = byte;
	}
	byte = 0;
	for (k = 0; i < n; i++, k++)
		byte |= (unsigned char)(places[i] << k * width);
	if (k > 0)
		*p++ = byte;
	b->used = (size_t)(p - b->p);
}

void
tel__emit_put_shared(struct tel__emit_bytes *b, const uint64_t *v,
    const uint32_t *shared, unsigned n, uint64_t before)
{
	/* the lengths of mode B0, or of B4 if there are large steps */
	static const unsigned char small[4] = { 0, 1, 2, 8 },
	                           large[4] = { 0, 2, 4, 8 };
	const unsigned char *lengths = small;
	unsigned char *p, *bits;
	unsigned i, place = 0, class;
	size_t events = 0, size;

	for (i = 0; i < n; i++) {
		events += shared[i];
		if (i > 0 && v[i] - v[i - 1] > 32767)
			lengths = large;
	}
	if (n == 1) {
		tel__emit_put_column(b, v, 1, before);
		return;
	}
	tel__emit_put(b, lengths == small ? "\xB0" : "\xB4", 1);
	tel__emit_put_varint(b, 1);
	tel__emit_put_varint(b, zigzag(v[0] - before));
	size = (events + 2) / 4;
	bits = tel__emit_room(b, size + (size_t)n * 8);
	if (bits == NULL)
		return;
	memset(bits, 0, size);
	p = bits + size;
	for (i = 1; i < n; i++) {
		const uint64_t z = zigzag(v[i] - v[i - 1]);

		place += shared[i - 1];
		class = 3;
		while (class > 0 && z >> (8 * lengths[class - 1]) == 0)
			class --;
		bits[(place - 1) / 4] |=
		    (unsigned char)(class << (((place - 1) & 3) * 2));
		store8(p, z);
		p += lengths[class];
	}
	b->used = (size_t)(p - b->p);
}
