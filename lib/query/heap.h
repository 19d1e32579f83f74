/* SPDX-License-Identifier: BSD-2-Clause */
/* Heaps: what the library alone uses of them. */
#ifndef TEL_QUERY_HEAP_H
#define TEL_QUERY_HEAP_H

#include "tel/heap.h"

#define TEL__HEAP_CLASSES 5u

/*
 * Has blocks without a stack two frames: "process 12", then their size: "to 64
 * B", 1 KiB, 16 KiB, 256 KiB, or above.
 */
void tel__heap_set_classes(tel_heap *h);

#endif
