/* SPDX-License-Identifier: BSD-2-Clause */
/* Heaps: what the library alone uses of them. */
#ifndef TEL_QUERY_HEAP_H
#define TEL_QUERY_HEAP_H

#include "model/live.h"
#include "tel/heap.h"

#define TEL__HEAP_CLASSES 5u

/*
 * Has blocks without a stack two frames: "process 12", then their size: "to 64
 * B", 1 KiB, 16 KiB, 256 KiB, or above.
 */
void tel__heap_set_classes(tel_heap *h);

/*
 * Called for each block that is allocated, whose size is value, or that ends,
 * having lived so long.  Returns TEL_OK, or a failure.
 */
typedef tel_status tel__heap_fn(void *arg, int ends, uint64_t value,
    uint32_t blocks);
void tel__heap_watch(tel_heap *h, tel__heap_fn *watch, void *arg);
/* Bytes that live, and frees of blocks that the log does not allocate. */
uint64_t tel__heap_live(const tel_heap *h);
uint64_t tel__heap_unknown(const tel_heap *h);

/*
 * tel_heap_event() of an event whose operation is known; op: NULL of others.
 * also: takes the changes of the live blocks first, where .account is its own;
 * or NULL.
 */
tel_status tel__heap_take(tel_heap *h, const tel_event *event,
    const tel_alloc *op, tel__live_fn *also, void *arg);
/* The live blocks.  tag: set to that of a log.  NULL: no memory. */
struct tel__live *tel__heap_blocks(tel_heap *h, const struct tel_log *log,
    uint64_t *tag);
/* The logs reach a clock, with an event that the heap did not take. */
void tel__heap_reach(tel_heap *h, uint64_t clock);

#endif
