/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * History: what the events of a log before the one at hand say of it.  Of the
 * range or the block that it ends, that is the event which began it; and which
 * blocks live.  One for each log, whoever asks.
 */
#ifndef TEL_HISTORY_H
#define TEL_HISTORY_H

#include "model/event.h"
#include "tel/event.h"

/* Documented limit: ranges of a log that are open at once. */
#define TEL__HISTORY_RANGES_MAX ((size_t)1 << 20)

struct tel__history;

/* tel_event_remember() makes it for a log, and the reader frees it. */
void tel__history_free(struct tel__history *h);

/*
 * These are of the event that was remembered last.
 *
 * Sets *out to the event that began the range which it ends or lies in, or
 * that allocated the block which it frees or resizes.  It is good until
 * another event is remembered.  1, or 0 where there is none.
 */
int tel__history_start(const struct tel__history *h, struct tel_event *out);
/* Whether it allocates a block, and whether it frees one. */
int tel__history_allocates(const struct tel__history *h);
int tel__history_frees(const struct tel__history *h);
/* The bytes of the block that it allocates, or else of that which it frees. */
int tel__history_bytes(const struct tel__history *h, uint64_t *out);
/*
 * Calls fn(arg, first, last) for the addresses of the block that it allocates,
 * and of the block, or the part of one, that it frees, until that is not 0.
 * Returns what it returned last, or 0.
 */
int tel__history_blocks(const struct tel__history *h,
    int (*fn)(const void *arg, uint64_t first, uint64_t last), const void *arg);
/* The bytes of all blocks that live after it; 0: no event allocated yet. */
int tel__history_live(const struct tel__history *h, uint64_t *out);

/*
 * The frames of the stack of any event, the outermost first, good until the
 * next call for a stack of its log.  Where the event that was remembered last
 * frees a block, an event without a stack has that of the allocation.
 * NULL: there is none, or no memory.
 */
const char *tel__history_stack(const struct tel_event *ev, size_t *length);

#endif
