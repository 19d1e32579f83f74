/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is given out until the next block takes all of it again. */
#ifndef TEL_NATIVE_MEMORY_H
#define TEL_NATIVE_MEMORY_H

#include "format/tel/wire.h"

struct native_memory *tel__native_memory_new(void);
void tel__native_memory_free(struct native_memory *m);
/*
 * Takes all back; one piece will do for as much again.  1; 0: there is no
 * memory.
 */
int tel__native_memory_reset(struct native_memory *m);
/* n elements of size bytes, not set; NULL when there is no memory. */
void *tel__native_give(struct native_memory *m, size_t n, size_t size);

#endif
