/* SPDX-License-Identifier: BSD-2-Clause */
/* A flight recorder: the last blocks, in memory, until they are written. */
#ifndef TELREC_FLIGHT_H
#define TELREC_FLIGHT_H

#include <stdint.h>

#include "tel_emit.h"

struct flight;

/*
 * For blocks of so many bytes in memory, of events with ARENA_ options.  NULL:
 * out of memory.
 */
struct flight *flight_new(uint64_t bytes, uint32_t options);
void flight_free(struct flight *f);
/*
 * Keeps a block, for which the oldest ones make room; what they say about
 * processes and stacks stays.  0; -1: out of memory.
 */
int flight_add(struct flight *f, const tel_emit_columns *block);
/*
 * Has libtel-emit write the kept events, and drops them.  Events that were
 * overwritten count as lost. 0; -1 with errno set.
 */
int flight_write(struct flight *f);

#endif
