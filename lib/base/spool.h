/* SPDX-License-Identifier: BSD-2-Clause */
/* A temporary file without a name: what must be sought in goes through it. */
#ifndef TEL__BASE_SPOOL_H
#define TEL__BASE_SPOOL_H

#include <stddef.h>

/* The folder of such files: TMPDIR, or /tmp. */
const char *tel__spool_folder(void);

/*
 * A new file in that folder that goes away with its descriptor, which a program
 * that is executed does not get; -1 with errno set.
 */
int tel__spool_file(void);

/* Writes all of size bytes at data to fd.  0, or an errno. */
int tel__spool_write(int fd, const void *data, size_t size);

#endif
