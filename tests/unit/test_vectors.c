/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators on values of many events, which come to what those on one value do;
 * an event that is left to be run by itself is one that they need not know.
 */
#include "query/vectors.h"

#include "filter_random.h"
#include "io/bytes.h"
#include "tap.h"

#define ROUNDS 4000

/* Values of many events, as a vector, and one by one. */
struct drawn {
	struct vector vector;
	struct value each[TEL_RUN_MOST];
};

static const char *const strings[] = { "", "a", "A", "heap", "Heap", "heaps" };

static uint64_t
draw_bits(void)
{
	static const uint64_t edges[] = { 0, 1, 2, 3, 63, 64, 100, 4096,
		UINT64_MAX, UINT64_MAX - 1, INT64_MAX, (uint64_t)1 << 63,
		(uint64_t)1 << 53, ((uint64_t)1 << 53) + 1,
		0 - ((uint64_t)1 << 53) - 1, 0 - (uint64_t)100 };

	if (pick(3) == 0)
		return PICK(edges);
	return pick(2) ?
	    pick(200) :
	    ((uint64_t)pick(1u << 31) << 33 | pick(1u << 31)) >> pick(64);
}

static struct value draw_value(enum vector_class class)
{
	static const double edges[] = { 0, -0.0, 0.5, -1, 100, 4096, 1e19,
		-1e19, 9007199254740993.0, 1e308 };
	const char *s;

	switch (class) {
	case VECTOR_NATURAL: return value_natural(draw_bits());
	case VECTOR_SIGNED: return value_signed(draw_bits());
	case VECTOR_DOUBLE:
		if (pick(16) == 0)
			return value_double(tel_bits_double(draw_bits()));
		return value_double(PICK(edges));
	default: s = PICK(strings); return value_string(s, strlen(s));
	}
}

/* What a class of signed numbers has no place for. */
static int
fits(const struct value *v, enum vector_class class)
{
	return class != VECTOR_SIGNED || v->tag == V_NEGATIVE ||
	    v->as.u <= INT64_MAX;
}

static void
draw(struct drawn *d, enum vector_class class, size_t n)
{
	const int constant = pick(4) == 0, holes = pick(3) == 0;
	struct value v;
	size_t i;

	if (constant) {
		v = holes && pick(4) == 0 ? value_missing() : draw_value(class);
		tel__vector_constant(&d->vector, &v, n);
		for (i = 0; i < n; i++)
			d->each[i] = v;
		return;
	}
	d->vector.class = (uint8_t) class;
	d->vector.step = 1;
	d->vector.holes = 0;
	for (i = 0; i < n; i++) {
		do {
			v = holes && pick(4) == 0 ? value_missing() :
			                            draw_value(class);
		} while (!fits(&v, class));
		tel__vector_put(&d->vector, i, &v);
		d->each[i] = v;
	}
}

/* Value i of a vector. */
static struct value
value_at(const struct vector *a, size_t i)
{
	const size_t k = i * a->step;

	if (a->holes && a->missing[i])
		return value_missing();
	switch ((enum vector_class)a->class) {
	case VECTOR_NATURAL: return value_natural(a->v[k]);
	case VECTOR_SIGNED: return value_signed(a->v[k]);
	case VECTOR_DOUBLE: return value_double(tel_bits_double(a->v[k]));
	default: return value_string(a->s[k], (size_t)a->v[k]);
	}
}

static int
is_same(const struct value *a, const struct value *b)
{
	if (a->tag != b->tag)
		return 0;
	if (a->tag == V_DOUBLE && a->as.d != a->as.d)
		return b->as.d != b->as.d;
	if (a->tag == V_STRING)
		return a->as.s == b->as.s && a->length == b->length;
	return a->tag == V_MISSING || a->as.u == b->as.u;
}

static struct lanes lanes;
static unsigned char unsure[TEL_RUN_MOST];

static void
begin(size_t n)
{
	memset(unsure, 0, sizeof(unsure));
	lanes.n = n;
	lanes.any = 0;
	lanes.unsure = unsure;
}

/* Compares a vector with values; counts what it leaves open. */
static int
check(const struct vector *got, const struct value *want, const char *what,
    int op, unsigned *open)
{
	struct value v;
	size_t i;

	for (i = 0; i < lanes.n; i++) {
		if (unsure[i]) {
			*open += 1;
			if (!lanes.any)
				return 0;
			continue;
		}
		v = value_at(got, i);
		if (is_same(&v, &want[i]))
			continue;
		diag("%s %d: value %zu is %d %" PRIx64 ", expected %d %" PRIx64,
		    what, op, i, (int)v.tag, v.as.u, (int)want[i].tag,
		    want[i].as.u);
		return 0;
	}
	return 1;
}

static struct drawn a, b, c;

static int
check_arithmetic(size_t n, unsigned *open)
{
	const enum value_op op = (enum value_op)pick(OPR_COMPLEMENT + 1);
	struct value want[TEL_RUN_MOST];
	size_t i;

	for (i = 0; i < n; i++)
		want[i] = op >= OPR_NEGATE ?
		    tel__value_unary(op, &a.each[i]) :
		    tel__value_arithmetic(op, &a.each[i], &b.each[i]);
	if (op >= OPR_NEGATE)
		tel__vector_unary(&lanes, op, &a.vector);
	else
		tel__vector_arithmetic(&lanes, op, &a.vector, &b.vector);
	return check(&a.vector, want, "arithmetic", (int)op, open);
}

static int
check_compare(size_t n, unsigned *open)
{
	const enum value_op op =
	    (enum value_op)(OPR_EQ + (int)pick(OPR_GE - OPR_EQ + 1));
	const int any_case = (int)pick(2);
	static struct verdicts got;
	struct value want[TEL_RUN_MOST];
	size_t i;

	tel__vector_compare(&lanes, op, any_case, &a.vector, &b.vector, &got);
	for (i = 0; i < n; i++)
		want[i] = value_trit(
		    tel__value_compare(op, &a.each[i], &b.each[i], any_case));
	tel__vector_verdicts(&c.vector, &got, n);
	return check(&c.vector, want, "compare", (int)op, open);
}

/* && and ||, of values and of verdicts. */
static int
check_join(size_t n, unsigned *open)
{
	const int both = (int)pick(2);
	static struct verdicts x, y;
	struct value want[TEL_RUN_MOST];
	enum trit s, t, u;
	size_t i;

	for (i = 0; i < n; i++) {
		s = tel__value_truth(&a.each[i]);
		t = tel__value_truth(&b.each[i]);
		u = tel__value_truth(&c.each[i]);
		want[i] = value_trit(both ? trit_and(s, t) : trit_or(s, t));
		if (lanes.n % 2)
			want[i] = value_trit(trit_or(s, trit_and(t, u)));
	}
	if (lanes.n % 2 == 0) {
		tel__vector_join(&a.vector, &b.vector, both, n);
		return check(&a.vector, want, "join", both, open);
	}
	/* what is not 0, as verdicts */
	tel__vector_truth(&b.vector, n);
	tel__vector_truth(&c.vector, n);
	x.holes = b.vector.holes;
	y.holes = c.vector.holes;
	for (i = 0; i < n; i++) {
		x.hit[i] = (unsigned char)b.vector.v[i];
		y.hit[i] = (unsigned char)c.vector.v[i];
		x.missing[i] = b.vector.missing[i];
		y.missing[i] = c.vector.missing[i];
	}
	tel__verdicts_and(&x, &y, n);
	tel__vector_or(&a.vector, &x, n);
	return check(&a.vector, want, "verdicts", both, open);
}

int
main(void)
{
	unsigned i, good[3] = { 0 }, open[3] = { 0 };
	size_t n, values = 0;

	for (i = 0; i < ROUNDS * 3; i++) {
		n = 1 + pick(TEL_RUN_MOST);
		values += n;
		draw(&a, (enum vector_class)pick(4), n);
		draw(&b, (enum vector_class)pick(4), n);
		draw(&c, (enum vector_class)pick(4), n);
		begin(n);
		if (i % 3 == 0)
			good[0] += (unsigned)check_arithmetic(n, &open[0]);
		else if (i % 3 == 1)
			good[1] += (unsigned)check_compare(n, &open[1]);
		else
			good[2] += (unsigned)check_join(n, &open[2]);
	}
	is_u64(good[0], ROUNDS, "arithmetic");
	is_u64(good[1], ROUNDS, "comparisons");
	is_u64(good[2], ROUNDS, "conditions");
	ok(open[0] < values / 3 / 4, "%u results are left open", open[0]);
	ok(open[1] < values / 3 / 4, "of comparisons %u", open[1]);
	is_u64(open[2], 0, "of conditions none");
	return done();
}
