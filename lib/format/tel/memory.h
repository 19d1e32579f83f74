/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is given out until the next block takes all of it again. */
#ifndef TEL_NATIVE_MEMORY_H
#define TEL_NATIVE_MEMORY_H

#include "format/tel/wire.h"

struct native_memory *tel__native_memory_new(void);
void tel__native_memory_free(struct native_memory *m);
/*
 * Frees all; then as much again fits into one piece.  1; 0: out of memory.
 */
int tel__native_memory_reset(struct native_memory *m);
/* n elements of size bytes, not set; NULL when out of memory. */
void *tel__native_give(struct native_memory *m, size_t n, size_t size);

#endif
