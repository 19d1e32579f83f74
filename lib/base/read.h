/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading through signals, and from pipes that do not block. */
#ifndef TEL__BASE_READ_H
#define TEL__BASE_READ_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads up to n bytes, as read(2), or pread(2) if from is an offset, and not -1;
 * waits while there are none.
 */
ptrdiff_t tel__read_some(int fd, void *to, size_t n, int64_t from);

/*
 * Reads n bytes, or fewer if the file ends.  from: an offset; -1: where the
 * descriptor is.  Returns how many, or -1 with errno set.
 */
ptrdiff_t tel__read_all(int fd, void *to, size_t n, int64_t from);

#endif
