/* SPDX-License-Identifier: BSD-2-Clause */
/* What a sample of allocations stands for. */
#ifndef TELREC_WEIGHTS_H
#define TELREC_WEIGHTS_H

#include <stdint.h>

/* Sizes whose weights are kept. */
#define WEIGHTS_KEPT 1024u

struct weights {
	double mean; /* bytes between two samples; 0: all are recorded */
	double rest; /* what rounding has left over */
	double kept[WEIGHTS_KEPT];
};

/* Samples are so many bytes apart on average; 0: there are none. */
void weights_init(struct weights *w, uint64_t mean);
/* The bytes that a sample of so many bytes stands for. */
uint64_t weights_of(struct weights *w, uint64_t bytes);

#endif
