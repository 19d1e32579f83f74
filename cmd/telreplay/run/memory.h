/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory: resident memory of this process, as the kernel counts it. */
#ifndef TELREPLAY_MEMORY_H
#define TELREPLAY_MEMORY_H

#include <stdint.h>

struct memory {
	uint64_t resident; /* private memory, in bytes */
	uint64_t lazy;     /* of it: freed, but not yet taken back */
};

/*
 * Reads it, without malloc.  It is exact: the kernel counts pages, in time
 * proportional to their number.  Returns 1, or 0.
 */
int memory_read(struct memory *out);

/* Resets the peak.  Returns 1, or 0 where the kernel cannot. */
int memory_forget_peak(void);

/* The peak of resident memory since then, in bytes; or 0. */
uint64_t memory_peak(void);

/* All resident bytes, and the part that is files and shared memory. */
void memory_all(uint64_t *resident, uint64_t *shares);

#endif
