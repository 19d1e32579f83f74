/* SPDX-License-Identifier: BSD-2-Clause */
/* Lifetimes of blocks in a report: which quantiles, and their line of text. */
#ifndef COMMON_REPORT_LIFETIMES_H
#define COMMON_REPORT_LIFETIMES_H

#include "common/report/report.h"

#define REPORT_LIFETIMES 4

extern const struct report_lifetime {
	uint32_t share; /* in 1e-9 of the blocks */
	const char *text, *name;
} report_lifetimes[REPORT_LIFETIMES];

/*
 * The quantiles in text.
 * times: in a unit, "ns" or "ticks".
 * step: lifetimes below the resolution of the clock are "< step"; or 0.
 */
const char *report_lifetimes_text(struct report *r, const uint64_t *times,
    uint64_t step, const char *unit, int raw);

#endif
