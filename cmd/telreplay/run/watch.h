/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watch: wraps the functions of an allocator, to count and to sample memory
 * every so many operations.  Timed runs do without.
 */
#ifndef TELREPLAY_WATCH_H
#define TELREPLAY_WATCH_H

#include "telreplay/run/shared.h"

/*
 * Wraps an allocator.
 * usable: malloc_usable_size() of the allocator, or NULL.
 * facts: of the program; there are up to SAMPLES_MAX samples of it.
 * A process has one at most: malloc has no argument for it.
 */
void watch_begin(struct shared *sh, struct allocator *a,
    size_t (*usable)(void *), const struct facts *facts);

/* Takes a sample. */
void watch_sample(struct sample *out);

/* Nonzero: the next operations are not of the trace. */
void watch_pause(int on);

/* Writes the counts to the shared memory. */
void watch_end(void);

#endif
