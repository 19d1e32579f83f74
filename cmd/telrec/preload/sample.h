/* SPDX-License-Identifier: BSD-2-Clause */
/* Which allocations are samples, and which blocks are of samples. */
#ifndef TELREC_SAMPLE_H
#define TELREC_SAMPLE_H

#include <stddef.h>

/* Prepares to take a sample every so many bytes.  0: no memory. */
int sample_begin(void);
/*
 * Decides about an allocation by this thread: it is a sample if it contains one
 * of the points that are an exponentially distributed number of bytes apart.
 * AS
 */
int sample_take(size_t bytes);
/* Remembers that a block is of a sample.  0: there is no room.  AS */
int sample_add(const void *p);
/* Forgets it.  0: the block is of no sample.  AS */
int sample_remove(const void *p);

#endif
