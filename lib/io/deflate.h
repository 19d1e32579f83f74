/* SPDX-License-Identifier: BSD-2-Clause */
/* Deflate: bytes in memory as gzip (RFC 1952), by libarchive. */
#ifndef TEL_DEFLATE_H
#define TEL_DEFLATE_H

#include "base/buffer.h"

/* Loads libarchive.  1; 0 with *why set, valid until this thread calls again. */
int tel__gzip_load(const char **why);

/*
 * Adds to out a member of gzip with the n bytes at data, compressed with a
 * level from 1 (fast) to 9 (small).  The same bytes have the same result at
 * any time.  1; 0: out of memory, or no libarchive; out is as it was.
 */
int tel__gzip_put(struct tel__buffer *out, const void *data, size_t n,
    int level);

#endif
