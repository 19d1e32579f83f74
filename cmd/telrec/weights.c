/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The weights of samples.  An allocation of n bytes is a sample with the
 * probability 1 - exp(-n / N), so it stands for the reciprocal of that many
 * allocations.
 */
#include "telrec/weights.h"

#include <string.h>

/* 1 - exp(-x) for x > 0, also where x is small; without libm. */
static double
one_minus_exp(double x)
{
	unsigned halvings = 0, i;
	double v = 0, term;

	if (x > 50)
		return 1;
	for (; x > 0.125; x /= 2)
		halvings++;
	term = x;
	for (i = 2; i < 14; i++) {
		v += term;
		term *= -x / i;
	}
	/* 1 - q^2 for q = 1 - v */
	for (; halvings > 0; halvings--)
		v *= 2 - v;
	return v;
}

static double
exact(const struct weights *w, uint64_t bytes)
{
	/* as the library counts it */
	const double n = bytes > 0 ? (double)bytes : 1;

	return n / one_minus_exp(n / w->mean);
}

void
weights_init(struct weights *w, uint64_t mean)
{
	memset(w, 0, sizeof(*w));
	if (mean == 0)
		return;
	w->mean = (double)mean;
	for (unsigned i = 0; i < WEIGHTS_KEPT; i++)
		w->kept[i] = exact(w, i);
}

uint64_t
weights_of(struct weights *w, uint64_t bytes)
{
	const double v =
	    (bytes < WEIGHTS_KEPT ? w->kept[bytes] : exact(w, bytes)) + w->rest;

	/* a call that failed, as no allocation is so large */
	if (v >= 9e18)
		return bytes;
	uint64_t whole = (uint64_t)v;
	w->rest = v - (double)whole;
	return whole;
}
