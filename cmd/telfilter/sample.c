/* SPDX-License-Identifier: BSD-2-Clause */
/* Choosing events. */
#include "sample.h"

#include <stdio.h>
#include <string.h>
#include "common/number.h"

void
sample_begin(struct sample *s)
{
	s->every = 1;
	s->until = 0;
	s->share = SAMPLE_ALL;
	s->state = 1;
}

int
sample_share(const char *text, uint64_t *out)
{
	char percent[32];
	int n;

	if (strchr(text, '%') != NULL)
		return number_percent(text, out);
	/* number_percent() gives parts of 10^9 of a hundredth */
	n = snprintf(percent, sizeof(percent), "%s%%", text);
	if (n < 0 || (size_t)n >= sizeof(percent) ||
	    !number_percent(percent, out) || *out > SAMPLE_ALL / 100)
		return 0;
	*out *= 100;
	return 1;
}

/* SplitMix64, by Guy Steele, Doug Lea and Christine Flood (OOPSLA 2014). */
static uint64_t
telfilter_sample_next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int
sample_next(struct sample *s)
{
	if (s->until > 0) {
		s->until--;
		return 0;
	}
	s->until = s->every - 1;
	/* 32 bits, so that the product of the two is exact */
	return s->share >= SAMPLE_ALL ||
	    (telfilter_sample_next_random(&s->state) >> 32) * SAMPLE_ALL <
	    s->share << 32;
}
