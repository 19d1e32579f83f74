/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sketch: an estimate of how many distinct values there were, by HyperLogLog.
 * A register keeps the largest rank of the digests that fall to it, so that two
 * sketches merge to that of all values, in whatever order they come.
 */
#ifndef TEL_STATS_SKETCH_H
#define TEL_STATS_SKETCH_H

#include <stdint.h>

#include "tel/stats.h"

#define SKETCH_BITS 14u
#define SKETCH_SIZE ((uint32_t)1 << SKETCH_BITS)
#define SKETCH_RANK_MAX (64u - SKETCH_BITS + 1)

/*
 * A digest of a value: of 64 bits, equal for values that are equal as keys, and
 * the same in every process, as registers are kept in files.
 */
uint64_t tel__sketch_digest(const tel_value *v);

/* The registers are SKETCH_SIZE bytes, all 0 at first. */
static inline void
sketch_add(uint8_t *registers, uint64_t digest)
{
	uint8_t *at = &registers[digest >> (64 - SKETCH_BITS)];
	/* the bit below ends the search where all others are 0 */
	const uint64_t rest = digest << SKETCH_BITS | 1u << (SKETCH_BITS - 1);
	const uint8_t rank = (uint8_t)(1 + __builtin_clzll(rest));

	if (*at < rank)
		*at = rank;
}

/* The estimated number of values. */
uint64_t tel__sketch_estimate(const uint8_t *registers);
/* The standard error of an estimate, rounded up. */
uint64_t tel__sketch_error(uint64_t estimate);

#endif
