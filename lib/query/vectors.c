/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators on values of many events.  Each comes to what value.c does for one,
 * or marks an event as one to be run by itself: where an integer has no place in
 * the class of the result.
 */
#include "query/vectors.h"

#include <string.h>

#include "io/bytes.h"

#define HALF ((uint64_t)1 << 63)
/* Integers up to here are doubles, exactly. */
#define EXACT ((uint64_t)1 << 53)

/* -------------------------------------------------------------- values */

void
tel__vector_put(struct vector *a, size_t i, const struct value *v)
{
	a->v[i] = 0;
	a->s[i] = "";
	a->missing[i] = v->tag == V_MISSING;
	a->holes |= v->tag == V_MISSING;
	switch (v->tag) {
	case V_MISSING: break;
	case V_NATURAL:
	case V_NEGATIVE: a->v[i] = v->as.u; break;
	case V_DOUBLE: a->v[i] = tel_double_bits(v->as.d); break;
	case V_STRING:
		a->v[i] = v->length;
		a->s[i] = v->as.s;
		break;
	}
}

void
tel__vector_constant(struct vector *a, const struct value *k, size_t n)
{
	static const uint8_t classes[] = { [V_MISSING] = VECTOR_NATURAL,
		[V_NATURAL] = VECTOR_NATURAL,
		[V_NEGATIVE] = VECTOR_SIGNED,
		[V_DOUBLE] = VECTOR_DOUBLE,
		[V_STRING] = VECTOR_STRING };

	a->class = classes[k->tag];
	a->step = 0;
	a->holes = 0;
	tel__vector_put(a, 0, k);
	if (a->holes)
		memset(a->missing, 1, n);
}

void
tel__vector_spread(struct vector *a, size_t n)
{
	size_t i;

	if (a->step != 0)
		return;
	a->step = 1;
	for (i = 1; i < n; i++) {
		a->v[i] = a->v[0];
		a->s[i] = a->s[0];
	}
}

static void
lose_all(struct vector *a, size_t n)
{
	a->class = VECTOR_NATURAL;
	a->holes = 1;
	memset(a->v, 0, n * sizeof(*a->v));
	memset(a->missing, 1, n);
}

/* Begins to note which are missing. */
static void
have_holes(struct vector *a, size_t n)
{
	if (!a->holes)
		memset(a->missing, 0, n);
	a->holes = 1;
}

/* What b lacks is missing of both. */
static void
join_holes(struct vector *a, const struct vector *b, size_t n)
{
	size_t i;

	if (!b->holes)
		return;
	have_holes(a, n);
	for (i = 0; i < n; i++)
		a->missing[i] |= b->missing[i];
}

/* Marks value i, which may be that of all. */
static void
doubt(struct lanes *l, const struct vector *a, size_t i)
{
	l->any = 1;
	if (a->step == 0)
		memset(l->unsure, 1, l->n);
	else
		l->unsure[i] = 1;
}

/* Makes natural numbers signed ones. */
static void
be_signed(struct lanes *l, struct vector *a)
{
	const size_t n = a->step == 0 ? 1 : l->n;
	uint64_t all = 0;
	size_t i;

	if (a->class != VECTOR_NATURAL)
		return;
	a->class = VECTOR_SIGNED;
	for (i = 0; i < n; i++)
		all |= a->v[i];
	for (i = 0; all >= HALF && i < n; i++)
		if (a->v[i] >= HALF)
			doubt(l, a, i);
}

/* Makes integers doubles; exact: of those that cannot be one is not certain. */
static void
be_double(struct lanes *l, struct vector *a, int exact)
{
	const size_t n = a->step == 0 ? 1 : l->n;
	uint64_t v;
	size_t i;

	if (a->class == VECTOR_DOUBLE)
		return;
	for (i = 0; i < n; i++) {
		v = a->v[i];
		if (a->class == VECTOR_SIGNED) {
			if (exact && v + EXACT > 2 * EXACT)
				doubt(l, a, i);
			a->v[i] = tel_double_bits(
			    v >= HALF ? -(double)(0 - v) : (double)v);
		} else {
			if (exact && v > EXACT)
				doubt(l, a, i);
			a->v[i] = tel_double_bits((double)v);
		}
	}
	a->class = VECTOR_DOUBLE;
}

/* ---------------------------------------------------------- arithmetic */

/* Divides by numbers, of which 0 makes the result missing. */
static void
divide_naturals(struct lanes *l, enum value_op op, struct vector *a,
    const struct vector *b)
{
	const uint64_t k = b->v[0];
	unsigned shift = 0;
	uint64_t y;
	size_t i;

	if (b->step == 0 && k != 0 && (k & (k - 1)) == 0) {
		while (k >> shift != 1)
			shift++;
		for (i = 0; i < l->n; i++)
			a->v[i] = op == OPR_DIV ? a->v[i] >> shift :
			                          a->v[i] & (k - 1);
		return;
	}
	for (i = 0; i < l->n; i++) {
		y = b->v[i * b->step];
		if (y == 0) {
			have_holes(a, l->n);
			a->missing[i] = 1;
			y = 1;
		}
		a->v[i] = op == OPR_DIV ? a->v[i] / y : a->v[i] % y;
	}
}

static void
naturals(struct lanes *l, enum value_op op, struct vector *a,
    const struct vector *b)
{
	uint64_t *const v = a->v;
	const uint64_t *const w = b->v;
	const size_t n = l->n, step = b->step;
	unsigned char *const unsure = l->unsure;
	size_t i;

	switch (op) {
	case OPR_ADD:
		for (i = 0; i < n; i++)
			unsure[i] |=
			    __builtin_add_overflow(v[i], w[i * step], &v[i]);
		break;
	case OPR_SUB:
		for (i = 0; i < n; i++)
			unsure[i] |=
			    __builtin_sub_overflow(v[i], w[i * step], &v[i]);
		break;
	case OPR_MUL:
		for (i = 0; i < n; i++)
			unsure[i] |=
			    __builtin_mul_overflow(v[i], w[i * step], &v[i]);
		break;
	default: divide_naturals(l, op, a, b); return;
	}
	/* all are looked at, as to add up here would take longer */
	l->any = 1;
}

/* A signed result; 0: it leaves the range, or it is missing. */
static int
signed_result(enum value_op op, int64_t x, int64_t y, int64_t *out)
{
	switch (op) {
	case OPR_ADD: return !__builtin_add_overflow(x, y, out);
	case OPR_SUB: return !__builtin_sub_overflow(x, y, out);
	case OPR_MUL: return !__builtin_mul_overflow(x, y, out);
	default: break;
	}
	if (y == 0 || (x == INT64_MIN && y == -1))
		return 0;
	*out = op == OPR_DIV ? x / y : x % y;
	return 1;
}

static void
integers(struct lanes *l, enum value_op op, struct vector *a, struct vector *b)
{
	int64_t z;
	size_t i;

	be_signed(l, a);
	be_signed(l, b);
	for (i = 0; i < l->n; i++) {
		if (signed_result(op, (int64_t)a->v[i],
		        (int64_t)b->v[i * b->step], &z))
			a->v[i] = (uint64_t)z;
		else
			doubt(l, a, i);
	}
}

/* Operators on bits, of which the result is never negative. */
static void
bits(struct lanes *l, enum value_op op, struct vector *a,
    const struct vector *b)
{
	const size_t n = l->n, step = b->step;
	const uint64_t *const w = b->v;
	uint64_t *const v = a->v;
	size_t i;

	a->class = VECTOR_NATURAL;
	switch (op) {
	case OPR_AND:
		for (i = 0; i < n; i++)
			v[i] &= w[i * step];
		break;
	case OPR_OR:
		for (i = 0; i < n; i++)
			v[i] |= w[i * step];
		break;
	case OPR_XOR:
		for (i = 0; i < n; i++)
			v[i] ^= w[i * step];
		break;
	case OPR_SHL:
		for (i = 0; i < n; i++)
			v[i] = w[i * step] > 63 ? 0 : v[i] << w[i * step];
		break;
	default:
		for (i = 0; i < n; i++)
			v[i] = w[i * step] > 63 ? 0 : v[i] >> w[i * step];
		break;
	}
	if ((op != OPR_SHL && op != OPR_SHR) || b->class != VECTOR_SIGNED)
		return;
	have_holes(a, n);
	for (i = 0; i < n; i++)
		a->missing[i] |= (unsigned char)(w[i * step] >> 63);
}

static void
doubles(struct lanes *l, enum value_op op, struct vector *a, struct vector *b)
{
	double x, y, z;
	size_t i;

	if (op > OPR_DIV) {
		lose_all(a, l->n);
		return;
	}
	be_double(l, a, 0);
	be_double(l, b, 0);
	for (i = 0; i < l->n; i++) {
		x = tel_bits_double(a->v[i]);
		y = tel_bits_double(b->v[i * b->step]);
		if (op == OPR_ADD) {
			z = x + y;
		} else if (op == OPR_SUB) {
			z = x - y;
		} else if (op == OPR_MUL) {
			z = x * y;
		} else if (y < 0 || y > 0 || y != y) {
			z = x / y;
		} else {
			have_holes(a, l->n);
			a->missing[i] = 1;
			z = 0;
		}
		a->v[i] = tel_double_bits(z);
	}
}

void
tel__vector_arithmetic(struct lanes *l, enum value_op op, struct vector *a,
    struct vector *b)
{
	tel__vector_spread(a, l->n);
	join_holes(a, b, l->n);
	if (a->class == VECTOR_STRING || b->class == VECTOR_STRING)
		lose_all(a, l->n);
	else if (a->class == VECTOR_DOUBLE || b->class == VECTOR_DOUBLE)
		doubles(l, op, a, b);
	else if (op > OPR_MOD)
		bits(l, op, a, b);
	else if (a->class == VECTOR_NATURAL && b->class == VECTOR_NATURAL)
		naturals(l, op, a, b);
	else
		integers(l, op, a, b);
}

void
tel__vector_unary(struct lanes *l, enum value_op op, struct vector *a)
{
	size_t i;

	tel__vector_spread(a, l->n);
	if (a->class == VECTOR_STRING ||
	    (a->class == VECTOR_DOUBLE && op == OPR_COMPLEMENT)) {
		lose_all(a, l->n);
		return;
	}
	for (i = 0; i < l->n; i++) {
		if (op == OPR_COMPLEMENT) {
			a->v[i] = ~a->v[i];
		} else if (a->class == VECTOR_DOUBLE) {
			a->v[i] = tel_double_bits(-tel_bits_double(a->v[i]));
		} else {
			/* the result may not be of 64 bits with a sign */
			if (a->v[i] >= HALF &&
			    (a->class == VECTOR_NATURAL || a->v[i] == HALF))
				doubt(l, a, i);
			a->v[i] = 0 - a->v[i];
		}
	}
	if (op == OPR_COMPLEMENT)
		a->class = VECTOR_NATURAL;
	else if (a->class != VECTOR_DOUBLE)
		a->class = VECTOR_SIGNED;
}

/* ---------------------------------------------------------- comparisons */

void
tel__vector_compare_naturals(enum value_op op, const uint64_t *a,
    const uint64_t *b, size_t step, size_t n, unsigned char *out)
{
	size_t i;

	switch (op) {
	case OPR_EQ:
		for (i = 0; i < n; i++)
			out[i] = a[i] == b[i * step];
		break;
	case OPR_NE:
		for (i = 0; i < n; i++)
			out[i] = a[i] != b[i * step];
		break;
	case OPR_LT:
		for (i = 0; i < n; i++)
			out[i] = a[i] < b[i * step];
		break;
	case OPR_LE:
		for (i = 0; i < n; i++)
			out[i] = a[i] <= b[i * step];
		break;
	case OPR_GT:
		for (i = 0; i < n; i++)
			out[i] = a[i] > b[i * step];
		break;
	default:
		for (i = 0; i < n; i++)
			out[i] = a[i] >= b[i * step];
		break;
	}
}

/* Which orders of two values an operator wants. */
struct wanted {
	unsigned less, equal, greater;
};

static struct wanted
wanted_orders(enum value_op op)
{
	const struct wanted w = {
		op == OPR_LT || op == OPR_LE,
		op == OPR_EQ || op == OPR_LE || op == OPR_GE || op == OPR_NE,
		op == OPR_GT || op == OPR_GE,
	};

	return w;
}

/* Of different numbers "equal" is not true, and of a NaN neither is any. */
static void
compare_signed(enum value_op op, const uint64_t *a, const uint64_t *b,
    size_t step, size_t n, unsigned char *out)
{
	const struct wanted w = wanted_orders(op);
	const unsigned turn = op == OPR_NE;
	int64_t x, y;
	size_t i;

	for (i = 0; i < n; i++) {
		x = (int64_t)a[i];
		y = (int64_t)b[i * step];
		out[i] =
		    (unsigned char)(((w.less & (x < y)) | (w.equal & (x == y)) |
		                        (w.greater & (x > y))) ^
		        turn);
	}
}

static void
compare_doubles(enum value_op op, const uint64_t *a, const uint64_t *b,
    size_t step, size_t n, unsigned char *out)
{
	const struct wanted w = wanted_orders(op);
	const unsigned turn = op == OPR_NE;
	double x, y;
	size_t i;

	for (i = 0; i < n; i++) {
		x = tel_bits_double(a[i]);
		y = tel_bits_double(b[i * step]);
		out[i] =
		    (unsigned char)(((w.less & (x < y)) | (w.equal & (x == y)) |
		                        (w.greater & (x > y))) ^
		        turn);
	}
}

static void
compare_strings(enum value_op op, int any_case, const struct vector *a,
    const struct vector *b, size_t n, unsigned char *out)
{
	struct value x, y;
	size_t i, k;

	for (i = 0; i < n; i++) {
		/* labels are often the one that was compared last */
		if (i > 0 && b->step == 0 && a->s[i] == a->s[i - 1] &&
		    a->v[i] == a->v[i - 1]) {
			out[i] = out[i - 1];
			continue;
		}
		k = i * b->step;
		x = value_string(a->s[i], (size_t)a->v[i]);
		y = value_string(b->s[k], (size_t)b->v[k]);
		out[i] = tel__value_compare(op, &x, &y, any_case) == TRIT_TRUE;
	}
}

void
tel__vector_compare(struct lanes *l, enum value_op op, int any_case,
    struct vector *a, struct vector *b, struct verdicts *out)
{
	const size_t n = l->n;
	size_t i;

	tel__vector_spread(a, n);
	out->holes = a->holes | b->holes;
	if ((a->class == VECTOR_STRING) != (b->class == VECTOR_STRING)) {
		out->holes = 1;
		memset(out->missing, 1, n);
		memset(out->hit, 0, n);
		return;
	}
	if (a->class == VECTOR_STRING) {
		compare_strings(op, any_case, a, b, n, out->hit);
	} else if (a->class == VECTOR_DOUBLE || b->class == VECTOR_DOUBLE) {
		be_double(l, a, 1);
		be_double(l, b, 1);
		compare_doubles(op, a->v, b->v, b->step, n, out->hit);
	} else if (a->class == VECTOR_NATURAL && b->class == VECTOR_NATURAL) {
		tel__vector_compare_naturals(op, a->v, b->v, b->step, n,
		    out->hit);
	} else {
		be_signed(l, a);
		be_signed(l, b);
		compare_signed(op, a->v, b->v, b->step, n, out->hit);
	}
	if (!out->holes)
		return;
	for (i = 0; i < n; i++) {
		out->missing[i] = (a->holes ? a->missing[i] : 0) |
		    (b->holes ? b->missing[i] : 0);
		out->hit[i] &= !out->missing[i];
	}
}

/* --------------------------------------------------------------- truth */

void
tel__vector_truth(struct vector *a, size_t n)
{
	size_t i;

	tel__vector_spread(a, n);
	if (a->class == VECTOR_STRING) {
		lose_all(a, n);
		return;
	}
	if (a->class == VECTOR_DOUBLE)
		for (i = 0; i < n; i++)
			a->v[i] = !(tel_bits_double(a->v[i]) == 0);
	else
		for (i = 0; i < n; i++)
			a->v[i] = a->v[i] != 0;
	a->class = VECTOR_NATURAL;
	if (!a->holes)
		return;
	for (i = 0; i < n; i++)
		a->v[i] &= !a->missing[i];
}

/* Truth values where some are missing, which are 0 then. */
static void
join_some(struct vector *a, const struct vector *b, int both, size_t n)
{
	uint64_t yes, no;
	size_t i;

	have_holes(a, n);
	for (i = 0; i < n; i++) {
		const unsigned b_lacks = b->holes ? b->missing[i] : 0;
		const uint64_t a_no = !a->v[i] & !a->missing[i];
		const uint64_t b_no = !b->v[i] & !b_lacks;

		yes = both ? a->v[i] & b->v[i] : a->v[i] | b->v[i];
		no = both ? a_no | b_no : a_no & b_no;
		a->v[i] = yes;
		a->missing[i] = !(yes | no);
	}
}

void
tel__vector_join(struct vector *a, struct vector *b, int both, size_t n)
{
	size_t i;

	tel__vector_truth(a, n);
	tel__vector_truth(b, n);
	if (a->holes || b->holes) {
		join_some(a, b, both, n);
		return;
	}
	for (i = 0; i < n; i++)
		a->v[i] = both ? a->v[i] & b->v[i] : a->v[i] | b->v[i];
}

void
tel__vector_or(struct vector *a, const struct verdicts *b, size_t n)
{
	size_t i;

	tel__vector_truth(a, n);
	if (a->holes || b->holes)
		have_holes(a, n);
	for (i = 0; i < n; i++)
		a->v[i] |= b->hit[i];
	if (!a->holes)
		return;
	for (i = 0; i < n; i++) {
		a->missing[i] |= b->holes ? b->missing[i] : 0;
		a->missing[i] &= !a->v[i];
	}
}

void
tel__verdicts_and(struct verdicts *a, const struct verdicts *b, size_t n)
{
	size_t i;
	unsigned no;

	for (i = 0; i < n; i++) {
		const unsigned a_lacks = a->holes ? a->missing[i] : 0;
		const unsigned b_lacks = b->holes ? b->missing[i] : 0;

		no = (!a->hit[i] & !a_lacks) | (!b->hit[i] & !b_lacks);
		a->hit[i] &= b->hit[i];
		a->missing[i] = !(a->hit[i] | no);
	}
	a->holes |= b->holes;
}

void
tel__vector_verdicts(struct vector *a, const struct verdicts *b, size_t n)
{
	size_t i;

	a->class = VECTOR_NATURAL;
	a->step = 1;
	a->holes = b->holes != 0;
	for (i = 0; i < n; i++)
		a->v[i] = b->hit[i];
	if (a->holes)
		memcpy(a->missing, b->missing, n);
}
