/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of tel(5): which modes the encoder chooses for columns of many shapes,
 * and their bytes, as tests/data/golden/columns.txt has them; each is decoded
 * again.
 */
#define GOLDEN "tests/data/golden"
#include <unistd.h>

#include "base/hash.h"
#include "format/tel/wire.h"
#include "golden.h"

enum { MOST = 1500, BEHIND = 64, COLUMNS = 60, MODES = 8 };

static uint64_t state = 1;

static uint64_t
next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 20;
}

/* What all values of a column have in common. */
struct drawn {
	uint64_t base, mask, scale;
	unsigned few, rare, from;
};

static const char *const shapes[] = { "same", "line", "range", "any", "rare",
	"steps", "odd steps", "clock", "drift", "few", "few in runs",
	"two halves", "wide" };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static uint64_t
value(unsigned shape, const struct drawn *d, unsigned i, uint64_t before,
    uint64_t *step)
{
	const uint64_t r = next(), x = r & d->mask, sign = 0 - (r >> 43);

	switch (shape) {
	case 0: return d->base;
	case 1: return d->base + i * d->scale;
	case 2: return d->base + x * d->scale;
	case 3: return r >> (r & 31) << (r >> 5 & 15);
	case 4: return d->base + (r % d->rare == 0 ? r : x % 200);
	case 5: return before + x * 8 - d->mask * 4;
	case 6: return before + ((x ^ sign) - sign) * d->scale;
	case 7: return before + x * d->scale;
	case 8: return before + (*step += x % 7 - 3 + (x % d->rare == 0) * x);
	case 9: return d->base + r % d->few * d->few * UINT64_C(0x9e3779b9);
	case 10: return i > 0 && r % 9 > 0 ? before : r % d->few * d->scale;
	case 11:
		return i < d->from ? d->base + x % 100 * 16 : before + (r >> 9);
	default: return r % d->rare == 0 ? 0 - r : r << 20 ^ x;
	}
}

/* Draws a column; returns how many values it has. */
static size_t
draw(unsigned shape, unsigned number, uint64_t *v)
{
	const size_t n = number < 16 ? number % 16 + 1 : next() % MOST + 1;
	struct drawn d = { .base = next() };

	if (next() % 4 == 0)
		d.base = 0 - d.base;
	d.mask = UINT64_MAX >> (next() % 40 + 20);
	d.scale = next() % 90;
	d.scale = d.scale % 3 == 0 ? 16 : d.scale;
	d.few = (unsigned)(next() % (number % 2 > 0 ? 20 : 300)) + 1;
	d.rare = (unsigned)(next() % 300) + 1;
	d.from = (unsigned)(next() % MOST);
	uint64_t before = d.base, step = next() % 5000;

	for (unsigned i = 0; i < n; i++)
		v[i] = before = value(shape, &d, i, before, &step);
	return n;
}

/* Whether the decoder reads what was encoded, and no more; or the last value. */
static int
decodes(struct tel__buffer *b, const uint64_t *v, size_t n, uint64_t before)
{
	static const unsigned char zeros[BEHIND];
	static uint64_t out[MOST + 3];
	const size_t used = b->used;
	uint64_t last;

	tel__buffer_put(b, zeros, sizeof(zeros));
	struct native_bytes all = { b->bytes, b->bytes + used, 0, 0 };
	struct native_bytes in = all;
	if (!tel__native_column(&all, n, before, out) || all.bad ||
	    all.p != all.end || memcmp(out, v, n * sizeof(*v)) != 0)
		return 0;
	/* of places in a table, the bits behind the last one are ignored */
	const unsigned rest = (unsigned)(n << (*b->bytes & 3)) % 8;
	if (*b->bytes >> 4 == 8 + NATIVE_TABLE && rest > 0)
		b->bytes[used - 1] |= (unsigned char)(0xff << rest);
	return tel__native_column_last(&in, n, before, out, &last) && !in.bad &&
	    in.p == in.end && last == v[n - 1];
}

/* Columns of a shape: how many have each mode, their bytes, a hash of them. */
static void
encode(FILE *f, unsigned shape, enum tel__column_choice choice)
{
	static uint64_t v[MOST];
	static const char *const choices[] = { "smallest", "clocks", "fast" };
	unsigned modes[MODES] = { 0 }, wrong = 0;
	struct tel__column_range range;
	uint64_t hash = TEL__FNV;
	size_t bytes = 0;

	state = shape;
	for (unsigned i = 0; i < COLUMNS; i++) {
		const size_t n = draw(shape, i, v);
		const uint64_t before = i % 3 == 0 ? 0 : v[0] - i;
		struct tel__buffer b = { 0 };

		tel__column_encode(&b, v, n, before, choice, &range);
		modes[b.bytes[0] & 128 ? b.bytes[0] >> 4 & 7 : MODES - 1]++;
		bytes += b.used;
		hash = tel__fnv(hash, b.bytes, b.used);
		for (size_t k = 0; k < n; k++)
			if (v[k] < range.low || v[k] > range.high)
				wrong++;
		wrong += !decodes(&b, v, n, before);
		tel__buffer_clear(&b);
	}
	fprintf(f, "%-11s %-8s", shapes[shape], choices[choice]);
	for (unsigned i = 0; i < MODES; i++)
		fprintf(f, " %2u", modes[i]);
	fprintf(f, " %6zu %016" PRIx64 "\n", bytes, hash);
	ok(wrong == 0, "%s, %s: decoded", shapes[shape], choices[choice]);
}

int
main(void)
{
	char path[] = "/tmp/column-XXXXXX";
	const int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (f == NULL)
		abort();
	fprintf(f,
	    "shape       choice   fixed delta bytes delta-bytes table line"
	    " steps same, bytes, hash\n");
	for (unsigned shape = 0; shape < SHAPES; shape++)
		for (unsigned choice = 0; choice <= TEL__COLUMN_FAST; choice++)
			encode(f, shape, (enum tel__column_choice)choice);
	if (fclose(f) != 0)
		abort();
	is_golden("columns.txt", path, NULL);
	(void)unlink(path);
	return done();
}
