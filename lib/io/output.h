/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output: bytes into a buffer and from there, checked, to where they go.
 * The buffer is open to the printers: they ask for room and write into it.
 */
#ifndef TEL_OUTPUT_H
#define TEL_OUTPUT_H

#include <string.h>
#include "tel.h"

struct tel_output {
	unsigned char *buffer;
	size_t used;
	size_t size;
	tel_write_fn *write;
	void *arg;
	uint64_t written;  /* bytes that have left the buffer */
	tel_status status; /* TEL_OK, or the first failure, which stays */
	int error;         /* its errno */
	int fd;
};

/*
 * Room for n bytes in one piece at the end of the buffer, which is flushed
 * or made larger first where need be.  NULL when that failed: out->status
 * says why.  What is written there counts once out->used is moved.
 */
unsigned char *tel_output_grow(struct tel_output *out, size_t n);

static inline unsigned char *
tel_output_room(struct tel_output *out, size_t n)
{
	if (out->size - out->used >= n)
		return out->buffer + out->used;
	return tel_output_grow(out, n);
}

#endif
