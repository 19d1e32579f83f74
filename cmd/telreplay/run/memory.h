/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory: what the kernel says that this process has. */
#ifndef TELREPLAY_MEMORY_H
#define TELREPLAY_MEMORY_H

#include <stdint.h>

struct memory {
	uint64_t resident; /* private memory, in bytes */
	uint64_t lazy;     /* of it: freed, but not yet taken back */
};

/*
 * Reads it, without malloc.  Exact: the pages are counted, which takes the
 * longer the more there are.  Returns 1, or 0.
 */
int memory_read(struct memory *out);

/* Forgets the peak so far; 1 where the kernel can. */
int memory_forget_peak(void);

/* The peak of all that was resident since then, in bytes; or 0. */
uint64_t memory_peak(void);

/*
 * All that is resident, in bytes, and what of it is not private memory but
 * files, and memory that is shared.
 */
void memory_all(uint64_t *resident, uint64_t *shares);

#endif
