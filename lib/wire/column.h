/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of 64-bit integers, as tel(5) describes them: the encoder, which
 * libtel and libtel-emit have.
 */
#ifndef TEL__COLUMN_H
#define TEL__COLUMN_H

#include "base/buffer.h"

/* The modes of a column of values that differ. */
enum native_code {
	NATIVE_FIXED = 0,       /* from the least value, so many bytes each */
	NATIVE_DELTA_FIXED = 1, /* from the value before */
	NATIVE_BYTES = 2,       /* as many bytes as two bits each say */
	NATIVE_DELTA_BYTES = 3,
	NATIVE_TABLE = 4, /* numbers into a table of values */
	NATIVE_LINE = 5,  /* each the same step from the one before */
	NATIVE_STEPS = 6  /* from the value before; the step changes, too */
};
#define NATIVE_TABLE_MAX 256u

/* The lengths in bytes that the two bits encode. */
extern const uint8_t tel__column_lengths[16][4];

/* How the mode of a column is found. */
enum tel__column_choice {
	TEL__COLUMN_SMALLEST, /* the one that takes the fewest bytes */
	TEL__COLUMN_CLOCKS, /* the same, of values whose steps change little */
	TEL__COLUMN_FAST    /* one that is likely to, by some of the values */
};

/* The least and the greatest value of a column. */
struct tel__column_range {
	uint64_t low, high;
};

/* That of n values, at least 1. */
struct tel__column_range tel__column_range(const uint64_t *v, size_t n);

/*
 * Encodes n values, at least 1; before: the value before them.  range, unless
 * NULL: set to that of the values.
 */
void tel__column_encode(struct tel__buffer *b, const uint64_t *v, size_t n,
    uint64_t before, enum tel__column_choice choice,
    struct tel__column_range *range);
/* In the fewest bytes, behind 0. */
static inline void
tel__column_put(struct tel__buffer *b, const uint64_t *v, size_t n)
{
	tel__column_encode(b, v, n, 0, TEL__COLUMN_SMALLEST, NULL);
}
/* n places among count, 1 to 256. */
void tel__column_put_places(struct tel__buffer *b, const uint8_t *places,
    size_t n, unsigned count);
/*
 * n values in order: shared[0] events have the first one, shared[1] the second,
 * and so on.
 */
void tel__column_put_shared(struct tel__buffer *b, const uint64_t *v,
    const uint32_t *shared, size_t n, uint64_t before);

#endif
