/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output: bytes into a buffer and from there, checked, to where they go.
 * The buffer is open to the printers: they ask for room and write into it.
 */
#ifndef TEL_OUTPUT_H
#define TEL_OUTPUT_H

#include <string.h>
#include "tel/output.h"

struct tel_output;

/* Compression, which packer.c does: the functions of an output that has it. */
struct tel_packer_ops {
	tel_status (*put)(struct tel_output *out, const unsigned char *data,
	    size_t size);
	tel_status (*flush)(struct tel_output *out);
	tel_status (*boundary)(struct tel_output *out, int must);
	tel_status (
	    *mark)(struct tel_output *out, const void *mark, size_t size);
	tel_status (*finish)(struct tel_output *out);
	void (*free)(struct tel_output *out);
};

struct tel_packer;

struct tel_output {
	unsigned char *buffer;
	size_t used;
	size_t size;
	tel_write_fn *write;
	void *arg;
	const struct tel_packer_ops *packing; /* NULL: it is not compressed */
	struct tel_packer *packer;
	uint64_t written;  /* bytes that have left the buffer */
	tel_status status; /* TEL_OK, or the first failure, which stays */
	int error;         /* its errno */
	int fd;
	int keeps; /* all bytes stay in the buffer, which grows */
};

/* An output whose bytes stay in its buffer: .used of them. */
tel_output *tel__output_new_memory(void);

/*
 * Room for n bytes in one piece at the end of the buffer, which is flushed or
 * made larger first where need be.  NULL when that failed, with out->status
 * set.  Bytes written there count once out->used is moved.
 */
unsigned char *tel__output_grow(struct tel_output *out, size_t n);

/* Empties the buffer: into the packer, or to where the bytes go. */
tel_status tel__output_spill(struct tel_output *out);

/* Writes bytes to where they go, past the buffer and the packer. */
tel_status tel__output_emit(struct tel_output *out, const unsigned char *data,
    size_t size);

/* Keeps the first failure; gives the one that was kept. */
tel_status tel__output_fail(struct tel_output *out, tel_status st, int error);

/*
 * The output so far is complete: a reader may start after it.  A compressed
 * output ends a frame here, if it is large enough, or must is set; from the
 * first call on it does so nowhere else.
 */
tel_status tel__output_boundary(struct tel_output *out, int must);

/*
 * Writes the bytes by which programs recognise the file, as its first ones: in
 * compressed output, in a frame that decoders skip.  Nothing happens
 * when there is output already.
 */
tel_status tel__output_mark(struct tel_output *out, const void *mark,
    size_t size);

static inline unsigned char *
tel_output_room(struct tel_output *out, size_t n)
{
	if (out->size - out->used >= n)
		return out->buffer + out->used;
	return tel__output_grow(out, n);
}

#endif
