/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gzip (RFC 1952): the checks that libarchive leaves out.  It inflates, and
 * looks neither at the checksum nor at the length that end a member.  It does
 * not report where members start and end either: what looks like a header has
 * the trailer of a member before it, by whose length it ends in the output.
 */
#ifndef TEL_GZIP_H
#define TEL_GZIP_H

#include "io/source.h"

#define TEL_GZIP_HEADER 10
#define TEL_GZIP_TRAILER 8
/* A trailer, and a header that lacks a byte. */
#define TEL_GZIP_TAIL (TEL_GZIP_TRAILER + TEL_GZIP_HEADER - 1)
/* Members that go in before one of them comes out; of more none is checked. */
#define TEL_GZIP_TRAILERS 1024u

struct tel_gzip_trailer {
	uint32_t crc, length;
};

struct tel_gzip {
	uint32_t table[8][256];
	uint32_t crc;   /* of what came out of a member, */
	uint64_t start; /* which starts there, */
	uint64_t out;   /* of so many bytes */
	uint64_t in;    /* bytes that went in */
	int again;      /* what looks like another header was seen */
	/* what looks like trailers of members that did not end yet */
	struct tel_gzip_trailer trailers[TEL_GZIP_TRAILERS];
	unsigned first, count;
	int full;     /* there were too many of them */
	int doubtful; /* the last one did not fit, and may be none */
	int damaged;  /* one did not fit, and a later one does */
	unsigned char tail[TEL_GZIP_TAIL]; /* the last bytes that went in */
	size_t ntail;
};

void tel__gzip_init(struct tel_gzip *g);
/* What goes into the decoder, and what comes out, piece by piece. */
void tel__gzip_in(struct tel_gzip *g, const unsigned char *data, size_t size);
void tel__gzip_out(struct tel_gzip *g, const unsigned char *data, size_t size);
/*
 * At the end, used bytes of what went in having been decoded.  TEL_END, or
 * TEL_EDAMAGED with *fault set.
 */
tel_status tel__gzip_end(struct tel_gzip *g, uint64_t used,
    struct tel_fault *fault);

#endif
