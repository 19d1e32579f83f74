/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Horizon: up to which clock all events of a log have been read, where it is
 * written in flushes.  An MPS buffers events by kind, and ends a flush of them
 * with a point of synchronisation, so that all older events were read; or it
 * begins one so, and a flush is of one kind (MPS 1.111).
 */
#ifndef TEL__HORIZON_H
#define TEL__HORIZON_H

#include <stdint.h>

/* Points that the horizon lags behind where one comes first in a flush. */
#define TEL__HORIZON_LAG 8

struct tel__horizon {
	uint64_t syncs[TEL__HORIZON_LAG]; /* clocks of the last points */
	unsigned nsyncs;
};

/* Takes a point of synchronisation. */
static inline void
tel__horizon_sync(struct tel__horizon *h, uint64_t clock)
{
	h->syncs[h->nsyncs++ % TEL__HORIZON_LAG] = clock;
}

/* The horizon right after a point; first: whether one begins a flush. */
static inline uint64_t
tel__horizon_clock(const struct tel__horizon *h, int first)
{
	if (!first)
		return UINT64_MAX;
	return h->nsyncs < TEL__HORIZON_LAG ?
	    0 :
	    h->syncs[h->nsyncs % TEL__HORIZON_LAG];
}

#endif
