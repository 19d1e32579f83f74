/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that were executed, but not recorded. */
#ifndef TELREC_UNRECORDED_H
#define TELREC_UNRECORDED_H

#include "telrec/arena.h"

/* Why a program is missing, as the field reason of an event has it. */
enum unrecorded_reason {
	UNRECORDED_ENVIRONMENT = 1,
	UNRECORDED_FILE,
	UNRECORDED_OTHER,
	UNRECORDED_ALLOCATOR
};
/*
 * Whether a program is missing.  One that still runs may be about to start its
 * library, if a signal has ended the recording.
 */
int unrecorded_is_missing(const struct arena_exec *e);
/*
 * Describes a missing program in text.  path: set to its path, from the current
 * folder if it is in there; has room for that of e.
 */
enum unrecorded_reason unrecorded_find(const struct arena_exec *e, char *path,
    const char **text);

/* Reports each program of a recording that has ended, and why it is missing. */
void unrecorded_report(const struct arena *a);

#endif
