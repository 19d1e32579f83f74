/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors: the values that a part of an expression has for many events, all of
 * one class, and the operators of value.h on them.
 */
#ifndef TEL_QUERY_VECTORS_H
#define TEL_QUERY_VECTORS_H

#include "model/run.h"
#include "query/value.h"

enum vector_class {
	VECTOR_NATURAL,
	VECTOR_SIGNED, /* integers of 64 bits in two's complement */
	VECTOR_DOUBLE,
	VECTOR_STRING
};

struct vector {
	uint8_t class; /* enum vector_class */
	uint8_t step;  /* 1; or 0: the first is the value of all */
	uint8_t holes; /* some are missing */
	/* numbers; of doubles the bits; of strings the lengths */
	uint64_t v[TEL_RUN_MOST];
	const char *s[TEL_RUN_MOST];
	unsigned char missing[TEL_RUN_MOST]; /* 1 or 0 each, if .holes */
};

/* Verdicts of three values. */
struct verdicts {
	int holes;
	unsigned char hit[TEL_RUN_MOST];
	unsigned char missing[TEL_RUN_MOST]; /* as in a vector; hit is 0 */
};

/*
 * What the functions below have in common.  A value for which a class has no
 * room is marked in unsure, and .any is set: the event is to be run by itself.
 */
struct lanes {
	size_t n; /* of values */
	int any;
	unsigned char *unsure;
};

/* Makes one value that of all. */
void tel__vector_constant(struct vector *a, const struct value *k, size_t n);
/* Takes value i of a vector that holds a class; it must fit. */
void tel__vector_put(struct vector *a, size_t i, const struct value *v);

/* Gives each event the value that all have. */
void tel__vector_spread(struct vector *a, size_t n);

/* a becomes a and b, by one of OPR_ADD to OPR_SHR. */
void tel__vector_arithmetic(struct lanes *l, enum value_op op, struct vector *a,
    struct vector *b);
/* OPR_NEGATE or OPR_COMPLEMENT. */
void tel__vector_unary(struct lanes *l, enum value_op op, struct vector *a);

/*
 * Compares by one of OPR_EQ to OPR_GE; the values of a and b stay, and may be
 * of another class.
 */
void tel__vector_compare(struct lanes *l, enum value_op op, int any_case,
    struct vector *a, struct vector *b, struct verdicts *out);

/* The same of natural numbers, of which none is missing; step: that of b. */
void tel__vector_compare_naturals(enum value_op op, const uint64_t *a,
    const uint64_t *b, size_t step, size_t n, unsigned char *out);

/* Makes values their truth: 1, 0, or missing. */
void tel__vector_truth(struct vector *a, size_t n);
/* The truth of a becomes that of a && b, or of a || b. */
void tel__vector_join(struct vector *a, struct vector *b, int both, size_t n);
/* The same of verdicts. */
void tel__vector_or(struct vector *a, const struct verdicts *b, size_t n);
void tel__verdicts_and(struct verdicts *a, const struct verdicts *b, size_t n);

/* Makes verdicts the values of a vector. */
void tel__vector_verdicts(struct vector *a, const struct verdicts *b, size_t n);

#endif
