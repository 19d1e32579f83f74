/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gzip (RFC 1952): the checks that libarchive leaves out.  It inflates, and
 * looks neither at the checksum nor at the length that end a member.  It does
 * not report where members start and end either, so only an input of one member
 * is checked in full.
 */
#ifndef TEL_GZIP_H
#define TEL_GZIP_H

#include "io/source.h"

#define TEL_GZIP_TAIL 10 /* bytes of a header, two more than of a trailer */

struct tel_gzip {
	uint32_t table[8][256];
	uint32_t crc; /* of what came out */
	uint64_t out; /* bytes of it */
	uint64_t in;  /* bytes that went in */
	int again;    /* what looks like another header was seen */
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
tel_status tel__gzip_end(const struct tel_gzip *g, uint64_t used,
    struct tel_fault *fault);

#endif
