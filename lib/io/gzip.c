/* SPDX-License-Identifier: BSD-2-Clause */
/* Gzip: CRC-32 and length of what came out against the trailer. */
#include "io/gzip.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

void
tel__gzip_init(struct tel_gzip *g)
{
	memset(g, 0, sizeof(*g));
	for (unsigned i = 0; i < 256; i++) {
		uint32_t c = i;

		for (unsigned k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		g->table[0][i] = c;
	}
	/* table[k]: the same byte with k bytes of 0 behind it */
	for (unsigned i = 0; i < 256; i++) {
		for (unsigned k = 1; k < 8; k++) {
			uint32_t c = g->table[k - 1][i];

			g->table[k][i] = c >> 8 ^ g->table[0][c & 0xff];
		}
	}
}

/* Eight bytes at a time, each by its own table. */
void
tel__gzip_out(struct tel_gzip *g, const unsigned char *data, size_t size)
{
	uint32_t c = ~g->crc, lo, hi;

	g->out += size;
	for (; size >= 8; size -= 8, data += 8) {
		lo = tel_le32(data) ^ c;
		hi = tel_le32(data + 4);
		c = g->table[7][lo & 0xff] ^ g->table[6][lo >> 8 & 0xff] ^
		    g->table[5][lo >> 16 & 0xff] ^ g->table[4][lo >> 24] ^
		    g->table[3][hi & 0xff] ^ g->table[2][hi >> 8 & 0xff] ^
		    g->table[1][hi >> 16 & 0xff] ^ g->table[0][hi >> 24];
	}
	for (; size > 0; size--, data++)
		c = c >> 8 ^ g->table[0][(c ^ *data) & 0xff];
	g->crc = ~c;
}

/* Magic, deflate, no reserved flag, and a system that there is. */
static int
gzip_is_header(const unsigned char *p)
{
	return p[0] == 0x1f && p[1] == 0x8b && p[2] == 8 && p[3] < 0x20 &&
	    (p[9] < 14 || p[9] == 255);
}

/* Looks for headers among the places that begin before limit. */
static int
gzip_find_header(const unsigned char *data, size_t size, size_t begin,
    size_t limit)
{
	const unsigned char *p = data + begin, *end;

	if (size < TEL_GZIP_TAIL)
		return 0;
	end = data + size - TEL_GZIP_TAIL + 1;
	if (limit < (size_t)(end - data))
		end = data + limit;
	while (p < end && (p = memchr(p, 0x1f, (size_t)(end - p))) != NULL) {
		if (gzip_is_header(p))
			return 1;
		p++;
	}
	return 0;
}

void
tel__gzip_in(struct tel_gzip *g, const unsigned char *data, size_t size)
{
	unsigned char seam[2 * TEL_GZIP_TAIL];
	size_t n = size < TEL_GZIP_TAIL ? size : TEL_GZIP_TAIL;
	size_t i;

	/* places that begin before data, and those in it; not the first */
	memcpy(seam, g->tail, g->ntail);
	memcpy(seam + g->ntail, data, n);
	if (gzip_find_header(seam, g->ntail + n, g->in == g->ntail, g->ntail) ||
	    gzip_find_header(data, size, g->in == 0, size))
		g->again = 1;
	/* the new tail is the end of the old one and data */
	if (g->ntail + n > TEL_GZIP_TAIL)
		i = g->ntail + n - TEL_GZIP_TAIL;
	else
		i = 0;
	memmove(g->tail, g->tail + i, g->ntail - i);
	g->ntail -= i;
	memcpy(g->tail + g->ntail, data + size - n, n);
	g->ntail += n;
	g->in += size;
}

tel_status
tel__gzip_end(const struct tel_gzip *g, uint64_t used, struct tel_fault *fault)
{
	/* zeros fill up a tape: the place of the trailer is not kept */
	if (g->in != used || g->ntail < 8)
		return TEL_END;
	const unsigned char *trailer = g->tail + g->ntail - 8;
	uint32_t crc = tel_le32(trailer);
	uint32_t length = tel_le32(trailer + 4);
	/* with the same length the members before the last are all empty */
	if (length != (uint32_t)g->out)
		return g->again ? TEL_END :
		                  tel__fault_set(fault, TEL_EDAMAGED, EIO,
		                      "gzip: the length is wrong");
	return crc == g->crc ? TEL_END :
	                       tel__fault_set(fault, TEL_EDAMAGED, EIO,
	                           "gzip: the checksum is wrong");
}
