/* SPDX-License-Identifier: BSD-2-Clause */
/* Spool: what an input has left, in a temporary file that has no name. */
#ifndef TEL_SPOOL_H
#define TEL_SPOOL_H

#include "base/spool.h"
#include "io/source.h"

/*
 * Copies the rest of in to fd.
 * size: set to how many bytes that were.
 * failed: set to the errno of writing, or to 0.
 * Returns how reading ended: TEL_OK, or a failure, after which what could be
 * read is in the file all the same.
 */
tel_status tel__spool_append(struct tel_input *in, int fd, int64_t *size,
    int *failed);
/* The same, and goes back to the start of the file. */
tel_status tel__spool_copy(struct tel_input *in, int fd, int *failed);
/* Sets *fault to why a copy of an archive failed.  Returns TEL_EIO. */
tel_status tel__spool_fault(struct tel_fault *fault, int number);

#endif
