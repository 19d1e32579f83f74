/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples: some of many events, each Nth or at random. */
#ifndef COMMON_SAMPLE_H
#define COMMON_SAMPLE_H

#include <stdint.h>

/* A probability of one. */
#define SAMPLE_ALL UINT32_C(1000000000)

struct sample {
	uint64_t every; /* 1: all */
	uint64_t until; /* events that are left out before the next */
	uint64_t share; /* of SAMPLE_ALL */
	uint64_t state; /* of the generator; the seed at first */
};

/* Makes a sample of everything. */
void sample_begin(struct sample *s);

/*
 * Reads a probability, "0.25" or "25%".  Returns 1, or 0 when text is invalid.
 */
int sample_share(const char *text, uint64_t *out);

/* 1 when the next event belongs to the sample. */
int sample_next(struct sample *s);

/* Nonzero for a sample of everything. */
static inline int
sample_all(const struct sample *s)
{
	return s->every == 1 && s->share == SAMPLE_ALL;
}

static inline int
sample_take(struct sample *s)
{
	return sample_all(s) || sample_next(s);
}

#endif
