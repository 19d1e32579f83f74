/* SPDX-License-Identifier: BSD-2-Clause */
/* Choosing events. */
#include "sample.h"

#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "number.h"

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

	if (strchr(text, '%') != NULL)
		return number_percent(text, out);
	/* number_percent() gives parts of 10^9 of a hundredth */
	int n = snprintf(percent, sizeof(percent), "%s%%", text);
	if (n < 0 || (size_t)n >= sizeof(percent) ||
	    !number_percent(percent, out) || *out > SAMPLE_ALL / 100)
		return 0;
	*out *= 100;
	return 1;
}

int
sample_next(struct sample *s)
{
	if (s->until > 0) {
		s->until--;
		return 0;
	}
	s->until = s->every - 1;
	if (s->share >= SAMPLE_ALL)
		return 1;
	/* SplitMix64; 32 bits, so that the product of the two is exact */
	s->state += 0x9e3779b97f4a7c15u;
	return (tel__hash(s->state, 0) >> 32) * SAMPLE_ALL < s->share << 32;
}
