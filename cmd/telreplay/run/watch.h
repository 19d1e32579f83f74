/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watch: stands between a run and its allocator, and looks at memory every so
 * many operations.  Nothing of this is there when a run is timed.
 */
#ifndef TELREPLAY_WATCH_H
#define TELREPLAY_WATCH_H

#include "telreplay/run/shared.h"

/*
 * Puts itself before the functions of an allocator.
 * usable: what tells the room of a block of malloc, or NULL.
 * facts: of the program; it is looked SAMPLES_MAX times at most.
 * There can be one in a process: malloc's functions have no argument for it.
 */
void watch_begin(struct shared *sh, struct allocator *a,
    size_t (*usable)(void *), const struct facts *facts);

/* Looks now. */
void watch_sample(struct sample *out);

/* What comes now is no operation of the trace, or is again. */
void watch_pause(int on);

/* Tells the shared memory what has been counted. */
void watch_end(void);

#endif
