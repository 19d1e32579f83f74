/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structures that grow: a caller passes the size of its own, as with clone3()
 * and openat2() of Linux.  One that was compiled with an older header gets the
 * members that it knows; what a newer one has more is zero.
 */
#ifndef TEL_BASE_SIZED_H
#define TEL_BASE_SIZED_H

#include <string.h>

/* Copies a structure of n bytes to one of size bytes. */
static inline void
tel__sized_copy(void *to, size_t size, const void *from, size_t n)
{
	memcpy(to, from, size < n ? size : n);
	if (size > n)
		memset((char *)to + n, 0, size - n);
}

#endif
