/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading as many bytes as there are, whatever one call returns. */
#ifndef TEL__BASE_READ_H
#define TEL__BASE_READ_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads n bytes, or fewer if the file ends.  from: an offset; -1: where the
 * descriptor is.  Returns how many, or -1 with errno set.
 */
ptrdiff_t tel__read_all(int fd, void *to, size_t n, int64_t from);

#endif
