/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watch: wraps the functions of an allocator, to count the bytes that blocks
 * have room for.  Timed runs do without.
 */
#ifndef TELREPLAY_WATCH_H
#define TELREPLAY_WATCH_H

#include "telreplay/run/shared.h"

/*
 * Wraps an allocator.
 * usable: malloc_usable_size() of the allocator, or NULL.
 * A process has one at most: malloc has no argument for it.
 */
void watch_begin(struct shared *sh, struct allocator *a,
    size_t (*usable)(void *));

/* Writes the counts to the shared memory. */
void watch_end(void);

#endif
