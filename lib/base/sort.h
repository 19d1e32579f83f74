/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorts events that are nearly in order of time, by clocks. */
#ifndef TEL__SORT_H
#define TEL__SORT_H

#include <stddef.h>
#include <stdint.h>

/* An event: its clock, and where the caller has it. */
struct tel__sort_key {
	uint64_t clock;
	size_t row;
};

/* Where keys are merged to, and where sorted pieces end. */
struct tel__sorter {
	struct tel__sort_key *merged;
	size_t merged_room;
	size_t *ends;
	size_t ends_room;
};

void tel__sorter_clear(struct tel__sorter *s);

/*
 * Sorts n keys by clock, and those of one clock as they came.  1, or 0: no
 * memory.
 */
int tel__sort_keys(struct tel__sorter *s, struct tel__sort_key *keys, size_t n);

#endif
