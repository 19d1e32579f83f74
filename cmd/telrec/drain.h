/* SPDX-License-Identifier: BSD-2-Clause */
/* From the rings of all recorded threads to one log. */
#ifndef TELREC_DRAIN_H
#define TELREC_DRAIN_H

#include <stdint.h>

#include "telrec/arena.h"

struct drain;

struct telrec_symbols;

/*
 * limit: writes so many events at most.
 * kept: keeps only the last events, of so many bytes in memory; 0: all.
 * symbols: gets the modules of processes; may be NULL.
 * NULL: out of memory.
 */
struct drain *drain_new(struct arena *a, uint64_t limit, uint64_t kept,
    struct telrec_symbols *symbols);
void drain_free(struct drain *d);
/* Writes now the events that are kept.  0, -1: as drain_round() */
int drain_release(struct drain *d);
/*
 * Looks at all rings once, and writes the events whose order is certain.
 * flush: writes also a block that is not full.
 * Returns how many events there were; -1 with errno set: they could not be
 * written.
 */
long drain_round(struct drain *d, int flush);
/* No events are written behind the block that is being written. */
void drain_stop(struct drain *d);
/* Sleeps until the next round is due, or a thread asks for it. */
void drain_wait(const struct drain *d);
/*
 * Finds threads and processes that have ended.  Returns how many processes are
 * still recorded.
 */
unsigned drain_tend(struct drain *d);
/* Drains the rest, whatever the threads are doing.  0, -1 */
int drain_finish(struct drain *d);

/* Events written, if they are not the starts of processes alone, and lost. */
uint64_t drain_events(const struct drain *d);
uint64_t drain_lost(struct drain *d);
/* Whether a program has written over what its library shares with telrec. */
int drain_overwritten(const struct drain *d);
/* telrec has reaped a process, as its parent has ended. */
void drain_reaped(struct drain *d, uint32_t pid);
/* Whether a process has ended, or is a zombie. */
int drain_process_ended(uint32_t pid);
/* Processes that had the library. */
uint32_t drain_processes(const struct drain *d);

#endif
