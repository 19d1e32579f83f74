/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs: events sorted on disk.  Sorted stretches are written one after the
 * other to a temporary file without a name, and then merged.
 */
#ifndef TEL_RUNS_H
#define TEL_RUNS_H

#include "query/store.h"

struct tel_runs;

/* NULL when out of memory. */
struct tel_runs *tel__runs_new(void);
void tel__runs_free(struct tel_runs *r);

/*
 * Writes out all events that the store holds, which is sorted.  They extend the
 * last run unless they are earlier than its end, and else start one.  TEL_OK,
 * TEL_EIO, TEL_ENOMEM.
 */
tel_status tel__runs_write(struct tel_runs *r, struct tel_store *s);

/* Ends writing.  TEL_OK, TEL_EIO, TEL_ENOMEM. */
tel_status tel__runs_rewind(struct tel_runs *r);

/*
 * The earliest event left; good until the next call.  TEL_OK, TEL_END,
 * TEL_EIO, TEL_ENOMEM.
 */
tel_status tel__runs_next(struct tel_runs *r, const struct tel_event **ev);

/* errno of the last failure. */
int tel__runs_errno(const struct tel_runs *r);

#endif
