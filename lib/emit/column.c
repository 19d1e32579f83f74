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

	/* written out, so that the four are in registers */
	for (; n - i >= 32; i += 32) {
		s[0] = mix(s[0], load8(p + i));
		s[1] = mix(s[1], load8(p + i + 8));
		s[2] = mix(s[2], load8(p + i + 16));
		s[3] = mix(s[3], load8(p + i + 24));
	}
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

/* Lengths that the selectors of modes A0 to AF, and B0 to BF, stand for. */
static const unsigned char mode_lengths[16][4] = { { 0, 1, 2, 8 },
	{ 0, 1, 4, 8 }, { 1, 2, 3, 8 }, { 1, 2, 4, 8 }, { 0, 2, 4, 8 },
	{ 0, 1, 3, 8 }, { 0, 2, 3, 8 }, { 2, 3, 4, 8 }, { 1, 3, 5, 8 },
	{ 0, 3, 6, 8 }, { 0, 4, 6, 8 }, { 2, 4, 6, 8 }, { 1, 2, 6, 8 },
	{ 0, 1, 6, 8 }, { 0, 2, 6, 8 }, { 3, 4, 6, 8 } };

/* Values that are looked at to choose a mode: so many runs of so many. */
#define RUNS 8u
#define RUN 32u
#define TABLE_MAX 256u /* values of a table */
#define SLOTS_LOG 10   /* of the hash table that finds them */

/* What all values of a column are. */
struct column {
	uint64_t low, high; /* the least and the greatest value */
	unsigned scale;     /* all differences are multiples of 2^scale */
	int exact;          /* or some values at least are not far from both */
};

/* How long some of the values are: from the least one, and as steps. */
struct shape {
	unsigned count;
	unsigned plain[9], steps[9];
};

/* A mode, and how many bytes the values that were looked at take in it. */
struct choice {
	unsigned char mode;
	size_t size;
};

/* The distinct values of a column, in order of appearance. */
struct table {
	uint64_t values[TABLE_MAX];
	unsigned count;
	uint16_t slots[1u << SLOTS_LOG]; /* the place of a value, plus 1 */
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

/* Two values, which processors combine at once. */
typedef uint64_t two __attribute__((vector_size(16)));

/* The bits in which some of the values differ. */
static uint64_t
varying_bits(const uint64_t *v, unsigned n)
{
	two some = { v[0], v[0] }, all = { v[0], v[0] }, low, high;
	uint64_t either[2], both[2], x = 0, y = UINT64_MAX;
	unsigned i;

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

/* The least and the greatest value. */
static void
find_range(struct column *c, const uint64_t *v, unsigned n)
{
	uint64_t low[2] = { v[0], v[0] }, high[2] = { v[0], v[0] };
	unsigned i;

	/* two at a time, as each comparison waits for the one before it */
	for (i = n & 1; i < n; i += 2) {
		const uint64_t x = v[i], y = v[i + 1];

		low[0] = x < low[0] ? x : low[0];
		low[1] = y < low[1] ? y : low[1];
		high[0] = x > high[0] ? x : high[0];
		high[1] = y > high[1] ? y : high[1];
	}
	c->low = low[0] < low[1] ? low[0] : low[1];
	c->high = high[0] > high[1] ? high[0] : high[1];
	c->exact = 1;
}

/*
 * Looks at all values, which are not all equal.  If some of them are as far
 * apart as their varying bits allow, in bytes, the range is what these bits
 * allow.
 */
static struct column
look_at(const uint64_t *v, unsigned n)
{
	const unsigned runs = n > RUNS * RUN ? RUNS : 1,
	               run = runs > 1 ? RUN : n, apart = (n - run) / RUNS;
	const uint64_t bits = varying_bits(v, n),
	               mask = UINT64_MAX >> __builtin_clzll(bits);
	uint64_t low = v[0], high = v[0];
	/* the bits below the lowest varying one are in the base, too */
	struct column c = { v[0] & (~mask | ((bits & -bits) - 1)), v[0] | mask,
		(unsigned)__builtin_ctzll(bits), 0 };
	unsigned r, i;

	for (r = 0; r < runs; r++)
		for (i = r * apart; i < r * apart + run; i++) {
			low = v[i] < low ? v[i] : low;
			high = v[i] > high ? v[i] : high;
		}
	if (width_of((high - low) >> c.scale) < width_of(mask >> c.scale))
		find_range(&c, v, n);
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

/* The bits of v; for 64 it may be 63, which take as many bytes. */
static inline unsigned
length_of(uint64_t v)
{
	return 63 ^ (unsigned)__builtin_clzll(v << 1 | (v >> 63 << 63) | 1);
}

static struct shape
sample(const uint64_t *v, unsigned n, const struct column *c)
{
	const unsigned runs = n > RUNS * RUN ? RUNS : 1,
	               run = runs > 1 ? RUN : n, apart = (n - run) / RUNS;
	struct shape s = { 0, { 0 }, { 0 } };
	uint64_t before;
	unsigned r, i;

	for (r = 0; r < runs; r++) {
		i = r * apart;
		before = v[i > 0 ? i - 1 : 0];
		for (; i < r * apart + run; i++) {
			s.plain[(length_of((v[i] - c->low) >> c->scale) + 7) /
			    8]++;
			s.steps[(length_of(zigzag(v[i] - before) >> c->scale) +
			            7) /
			    8]++;
			before = v[i];
		}
		s.count += run;
	}
	return s;
}

/* Considers all sets of lengths, and the greatest one for all values. */
static void
choose(struct choice *best, const unsigned counts[9], unsigned n,
    unsigned widest, unsigned fixed, unsigned varied)
{
	unsigned i, k, bytes;
	size_t size;

	for (i = 0; i < 16; i++) {
		size = (n + 3) / 4;
		k = 0;
		for (bytes = 0; bytes <= 8; bytes++) {
			k += mode_lengths[i][k] < bytes;
			size += (size_t)counts[bytes] * mode_lengths[i][k];
		}
		if (size < best->size)
			*best = (struct choice){ (unsigned char)(varied + i),
				size };
	}
	/* one length is encoded and decoded in half the time */
	if ((size_t)n * widest * 6 <= best->size * 7)
		*best = (struct choice){ (unsigned char)(fixed + widest),
			(size_t)n * widest };
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

/* The first bytes of a column: its mode, its scale, and its base. */
static void
put_head(struct tel__emit_bytes *b, unsigned mode, unsigned scale,
    uint64_t difference)
{
	const unsigned char m = (unsigned char)mode;

	tel__emit_put(b, &m, 1);
	tel__emit_put_varint(b, (uint64_t)1 << scale);
	tel__emit_put_varint(b, zigzag(difference));
}

/* The value of v, or of its step, in the units of a column. */
static inline __attribute__((always_inline)) uint64_t
unit_of(const uint64_t *v, uint64_t base, unsigned scale, int steps)
{
	return (steps ? zigzag(v[0] - v[-1]) : v[0] - base) >> scale;
}

static inline __attribute__((always_inline)) void
store_fixed(unsigned char *p, const uint64_t *v, unsigned n, uint64_t base,
    unsigned scale, size_t width, int steps)
{
	const uint64_t *end = v + n;

	for (; end - v >= 4; v += 4, p += 4 * width) {
		store8(p, unit_of(v, base, scale, steps));
		store8(p + width, unit_of(v + 1, base, scale, steps));
		store8(p + 2 * width, unit_of(v + 2, base, scale, steps));
		store8(p + 3 * width, unit_of(v + 3, base, scale, steps));
	}
	for (; v < end; v++, p += width)
		store8(p, unit_of(v, base, scale, steps));
}

/*
 * Integers of width bytes each; n of them, the values v from base on, or, if
 * steps, of v[i] from v[i - 1].
 */
static inline __attribute__((always_inline)) void
put_fixed(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t base, unsigned scale, unsigned width, int steps)
{
	unsigned char *p = tel__emit_room(b, (size_t)n * width + 8);

	if (p == NULL)
		return;
	/* for multiples of 2^scale, this is the zigzag of d / 2^scale */
	switch (width) {
	case 1: store_fixed(p, v, n, base, scale, 1, steps); break;
	case 2: store_fixed(p, v, n, base, scale, 2, steps); break;
	case 3: store_fixed(p, v, n, base, scale, 3, steps); break;
	case 4: store_fixed(p, v, n, base, scale, 4, steps); break;
	default: store_fixed(p, v, n, base, scale, width, steps);
	}
	b->used += (size_t)n * width;
}

/* The lengths that a mode has, and which of them a value of so many bits has. */
struct lengths {
	const unsigned char *of; /* four */
	unsigned char codes[64];
};

/* Stores a value; returns which length it has. */
static inline __attribute__((always_inline)) unsigned
put_unit(unsigned char **p, uint64_t unit, const struct lengths *lengths)
{
	const unsigned code = lengths->codes[length_of(unit)];

	store8(*p, unit);
	*p += lengths->of[code];
	return code;
}

/*
 * Integers of different lengths; n of them, the values v from base on, or, if
 * steps, of v[i] from v[i - 1].
 */
static inline __attribute__((always_inline)) void
put_varied(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t base, unsigned scale, const unsigned char set[4], int steps)
{
	const size_t groups = (n + 3) / 4;
	unsigned char *select = tel__emit_room(b, groups + 8 * (size_t)n + 8);
	unsigned char *p = select + groups;
	const uint64_t *end = v + n;
	struct lengths lengths = { set, { 0 } };
	unsigned i, k = 0, chosen;

	if (select == NULL)
		return;
	for (i = 0; i < 64; i++) {
		k += set[k] < (i + 7) / 8;
		lengths.codes[i] = (unsigned char)k;
	}
	for (; end - v >= 4; v += 4) {
		chosen = put_unit(&p, unit_of(v, base, scale, steps), &lengths);
		chosen |=
		    put_unit(&p, unit_of(v + 1, base, scale, steps), &lengths)
		    << 2;
		chosen |=
		    put_unit(&p, unit_of(v + 2, base, scale, steps), &lengths)
		    << 4;
		chosen |=
		    put_unit(&p, unit_of(v + 3, base, scale, steps), &lengths)
		    << 6;
		*select++ = (unsigned char)chosen;
	}
	for (i = chosen = 0; v < end; v++, i += 2)
		chosen |= put_unit(&p, unit_of(v, base, scale, steps), &lengths)
		    << i;
	if (i > 0)
		*select++ = (unsigned char)chosen;
	b->used = (size_t)(p - b->p);
}

/* The greatest width of a step. */
static unsigned
step_width(const uint64_t *v, unsigned n, unsigned scale)
{
	uint64_t steps = 0;
	unsigned i;

	for (i = 1; i < n; i++)
		steps |= zigzag(v[i] - v[i - 1]);
	return width_of(steps >> scale);
}

/*
 * The place of a value in a table, to which it is added; TABLE_MAX: there is no
 * room for it.
 */
static inline unsigned
find_value(struct table *t, uint64_t v)
{
	size_t at = (size_t)(v * prime[1] >> (64 - SLOTS_LOG));

	while (t->slots[at] != 0 && t->values[t->slots[at] - 1] != v)
		at = (at + 1) & ((1u << SLOTS_LOG) - 1);
	if (t->slots[at] != 0)
		return t->slots[at] - 1u;
	if (t->count == TABLE_MAX)
		return TABLE_MAX;
	t->values[t->count] = v;
	t->slots[at] = (uint16_t)++t->count;
	return t->count - 1;
}

/*
 * Whether a table is likely to be shorter than what was chosen, by the values
 * that were looked at.
 */
static int
may_be_table(struct table *t, const uint64_t *v, unsigned n,
    const struct shape *s, const struct choice *best)
{
	const unsigned runs = s->count < n ? RUNS : 1, run = s->count / runs,
	               apart = (n - run) / RUNS;
	unsigned r, i;

	memset(t->slots, 0, sizeof(t->slots));
	t->count = 0;
	for (r = 0; r < runs; r++)
		for (i = r * apart; i < r * apart + run; i++)
			if (find_value(t, v[i]) == TABLE_MAX)
				return 0;
	/* those that were not seen may need longer places, and are put first */
	return t->count <= 12 ? best->size > s->count / 2 :
	    t->count <= 16    ? best->size > s->count :
	                        t->count * 2 < run * runs &&
	        t->count < TABLE_MAX / 2 &&
	        best->size > s->count + s->count / 16 + t->count * 2;
}

/* The mode for places in a table: log2 of the bits that each takes. */
static unsigned
places_log(unsigned count)
{
	return count <= 2 ? 0 : count <= 4 ? 1 : count <= 16 ? 2 : 3;
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

static inline __attribute__((always_inline)) void
pack_all(unsigned char *p, const uint8_t *places, unsigned n, unsigned width)
{
	unsigned char last[8] = { 0 };
	unsigned i;

	for (i = 0; n - i >= 8; i += 8, p += width)
		store8(p, pack_eight(load8(places + i), width));
	memcpy(last, places + i, n - i);
	store8(p, pack_eight(load8(last), width));
}

/* Places of 2^log bits each. */
static void
pack(struct tel__emit_bytes *b, const uint8_t *places, unsigned n, unsigned log)
{
	const size_t size = (((size_t)n << log) + 7) / 8;
	unsigned char *p = tel__emit_room(b, size + 16);

	if (p == NULL)
		return;
	switch (log) {
	case 0: pack_all(p, places, n, 1); break;
	case 1: pack_all(p, places, n, 2); break;
	case 2: pack_all(p, places, n, 4); break;
	default: memcpy(p, places, n);
	}
	b->used += size;
}

/* A table of values, and places in it.  0: there are too many values. */
static int
put_table(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t before, struct table *t)
{
	uint8_t places[TEL_EMIT_COLUMNS_MAX];
	unsigned char m;
	unsigned i, k;

	for (i = 0; i < n; i++) {
		k = find_value(t, v[i]);
		if (k == TABLE_MAX)
			return 0;
		places[i] = (uint8_t)k;
	}
	m = (unsigned char)(0xC0 + places_log(t->count));
	tel__emit_put(b, &m, 1);
	tel__emit_put_varint(b, t->count);
	for (i = 0; i < t->count; i++) {
		tel__emit_put_varint(b, zigzag(t->values[i] - before));
		before = t->values[i];
	}
	pack(b, places, n, places_log(t->count));
	return 1;
}

/* The mode for a column, but for tables. */
static struct choice
choose_mode(const uint64_t *v, unsigned n, const struct column *c,
    const struct shape *s)
{
	struct choice plain = { 0, SIZE_MAX }, steps = { 0, SIZE_MAX };
	unsigned widest = 8;

	choose(&plain, s->plain, s->count,
	    width_of((c->high - c->low) >> c->scale), 0x80, 0xA0);
	while (s->steps[widest] == 0)
		widest--;
	choose(&steps, s->steps, s->count, widest, 0x90, 0xB0);
	/* a few steps that were not seen may be longer */
	if (steps.size + s->count / 16 >= plain.size)
		return plain;
	if ((steps.mode & 0xF0) == 0x90) {
		widest = step_width(v, n, c->scale);
		steps.size = SIZE_MAX;
		choose(&steps, s->steps, s->count, widest, 0x90, 0xB0);
	}
	return steps;
}

/* A column of values that are neither equal nor on a line. */
static void
put_values(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t before)
{
	struct column c = look_at(v, n);
	struct shape s = sample(v, n, &c);
	struct choice best = choose_mode(v, n, &c, &s);
	const unsigned char *set;
	struct table table;
	unsigned width;

	if (!c.exact && (best.mode & 0xF0) == 0xA0) {
		find_range(&c, v, n);
		s = sample(v, n, &c);
		best = choose_mode(v, n, &c, &s);
	}
	set = mode_lengths[best.mode & 15];
	width = best.mode & 15;

	if (n <= TEL_EMIT_COLUMNS_MAX &&
	    may_be_table(&table, v, n, &s, &best) &&
	    put_table(b, v, n, before, &table))
		return;
	put_head(b, best.mode, c.scale,
	    ((best.mode & 0x10) != 0 ? v[0] : c.low) - before);
	switch (best.mode & 0xF0) {
	case 0x80: put_fixed(b, v, n, c.low, c.scale, width, 0); break;
	case 0x90: put_fixed(b, v + 1, n - 1, 0, c.scale, width, 1); break;
	case 0xA0: put_varied(b, v, n, c.low, c.scale, set, 0); break;
	default: put_varied(b, v + 1, n - 1, 0, c.scale, set, 1);
	}
}

/* A column of n values, 1 or more, that begins near before. */
void
tel__emit_put_column(struct tel__emit_bytes *b, const uint64_t *v, unsigned n,
    uint64_t before)
{
	unsigned char m = 0xD0;

	if (!is_line(v, n)) {
		put_values(b, v, n, before);
	} else if (n == 1 || v[1] == v[0]) {
		put_same(b, v[0] - before);
	} else {
		tel__emit_put(b, &m, 1);
		tel__emit_put_varint(b, zigzag(v[0] - before));
		tel__emit_put_varint(b, zigzag(v[1] - v[0]));
	}
}

void
tel__emit_put_places(struct tel__emit_bytes *b, const uint8_t *places,
    unsigned n, unsigned count)
{
	unsigned char m = (unsigned char)(0xC0 + places_log(count));
	unsigned i;

	tel__emit_put(b, &m, 1);
	tel__emit_put_varint(b, count);
	tel__emit_put_varint(b, 0);
	for (i = 1; i < count; i++)
		tel__emit_put_varint(b, 2);
	pack(b, places, n, places_log(count));
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
