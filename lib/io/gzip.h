/* SPDX-License-Identifier: BSD-2-Clause */
/* Gzip (RFC 1952): bytes in memory as a member.  What reads it: source.h. */
#ifndef TEL_GZIP_H
#define TEL_GZIP_H

#include "base/buffer.h"

/* Loads zlib.  1; 0 with *why set, valid until this thread calls again. */
int tel__gzip_load(const char **why);

/*
 * Adds to out a member of gzip with the n bytes at data, compressed with a
 * level from 1 (fast) to 9 (small).  The same bytes have the same result at
 * any time.  1; 0: out of memory, or no zlib; out is as it was.
 */
int tel__gzip_put(struct tel__buffer *out, const void *data, size_t n,
    int level);

#endif
