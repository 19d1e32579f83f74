/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams: an input of compressed streams, one behind the other, as files of
 * gzip, bzip2, xz and lz4 are, by a library that is loaded when it is first needed.
 * libarchive would read them, too: of an input that is cut up to 64 KiB less
 * than there are, and nothing behind damage.
 */
#ifndef TEL_STREAM_H
#define TEL_STREAM_H

#include <stddef.h>

#include "io/source.h"

/* Bytes to decode, and the room for the result; both become those left. */
struct tel_piece {
	const unsigned char *in;
	unsigned in_left;
	unsigned char *out;
	unsigned out_left;
};

struct tel_decoder {
	const char *name;    /* "gzip", for messages */
	const char *library; /* "zlib" */
	size_t size;         /* of its state, which is zeros at first */
	size_t header;       /* bytes that is_header takes */
	/* bytes behind a stream that is cut that may be decoded as its own */
	size_t back;
	int (*is_header)(const unsigned char *p);
	/* Finds the functions of the library.  1; 0 with *why set. */
	int (*load)(void *self, const char **why);
	/* Begins a stream.  1; 0: out of memory. */
	int (*start)(void *self);
	/*
	 * TEL_OK; TEL_END at the end of the stream; TEL_ENOMEM; TEL_EDAMAGED,
	 * with *why set where the reason is known.
	 */
	tel_status (
	    *decode)(void *self, struct tel_piece *piece, const char **why);
	/* Frees what start made, if it was called. */
	void (*stop)(void *self);
};

extern const struct tel_decoder tel__gzip_decoder, tel__bzip2_decoder,
    tel__xz_decoder, tel__lz4_decoder;

#endif
