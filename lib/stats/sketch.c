/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HyperLogLog, with the estimator of O. Ertl, "New cardinality estimation
 * algorithms for HyperLogLog sketches", 2017, which needs no tables and no
 * threshold below which values are counted in another way.
 */
#include "stats/sketch.h"

#include "base/hash.h"
#include "stats/key.h"

/* Seeds of digests: part of the format, as registers of files depend on them. */
#define DIGEST_SEED UINT64_C(0x9ae16a3b2f90404f)

uint64_t
tel__sketch_digest(const tel_value *v)
{
	enum { MISSING, NEGATIVE, INTEGER, DOUBLE, STRING } is = INTEGER;
	uint64_t bits = v->as.u64;

	if (v->missing) {
		is = MISSING;
		bits = 0;
	} else if (v->datatype == TEL_STRING) {
		is = STRING;
		bits = tel__fnv(TEL__FNV, v->as.string, v->length);
	} else {
		const struct key k = tel__key_number(v);

		bits = k.bits;
		if (k.tag & KEY_NEGATIVE)
			is = NEGATIVE;
		else if (k.tag == TEL_DOUBLE)
			is = DOUBLE;
	}
	return tel__hash(tel__hash(bits, DIGEST_SEED + is), DIGEST_SEED);
}

/* The sum of x^(2^k) * 2^(k-1) for k from 1 on, plus x; x is below 1. */
static double
sigma(double x)
{
	double y = 1, z = x, before;

	do {
		x *= x;
		before = z;
		z += x * y;
		y += y;
	} while (z != before);
	return z;
}

uint64_t
tel__sketch_estimate(const uint8_t *registers)
{
	const double m = SKETCH_SIZE, alpha = 0.72134752044448170368;
	uint32_t counts[SKETCH_RANK_MAX + 1] = { 0 }, i;
	double z = 0, estimate;

	for (i = 0; i < SKETCH_SIZE; i++)
		counts[registers[i]]++;
	if (counts[0] == SKETCH_SIZE)
		return 0;
	/* the last rank is that of all further ones: few, below 2^60 values */
	for (i = SKETCH_RANK_MAX; i > 0; i--)
		z = 0.5 * (z + counts[i]);
	z += m * sigma(counts[0] / m);
	estimate = alpha * m * m / z + 0.5;
	return estimate >= 18446744073709551615.0 ? UINT64_MAX :
	                                            (uint64_t)estimate;
}

/* 1.04 / sqrt(2^14) of it. */
uint64_t
tel__sketch_error(uint64_t estimate)
{
	return estimate / 1600 * 13 + (estimate % 1600 * 13 + 1599) / 1600;
}
