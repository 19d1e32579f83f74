/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory: resident memory of a process, as the kernel counts it. */
#ifndef TELREPLAY_MEMORY_H
#define TELREPLAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "telreplay/run/shared.h"

/* Reads a file of the kernel's, as far as there is room.  Returns 1, or 0. */
int memory_read_file(const char *path, char *buffer, size_t room);

/*
 * Reads the resident bytes, and those of them that are lazy or huge, without
 * malloc.  It is exact: the kernel counts pages, in time proportional to their
 * number.  pid: 0 for this process.  Returns 1, or 0.
 */
int memory_read(pid_t pid, struct sample *out);

/* Fills in all of a sample except for its time and its phase. */
void memory_sample(pid_t pid, struct shared *sh, struct sample *out);

/* Resets the peak.  Returns 1, or 0 where the kernel cannot. */
int memory_forget_peak(void);

/* The peak of resident memory since then, in bytes; or 0. */
uint64_t memory_peak(void);

/* All resident bytes of this process, and the part that is files. */
void memory_all(uint64_t *resident, uint64_t *files);

#endif
