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
static void
gzip_add(struct tel_gzip *g, const unsigned char *data, size_t size)
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

/* The bytes up to the end of the member, by its trailer. */
static uint32_t
gzip_left(const struct tel_gzip *g)
{
	return g->trailers[g->first].length - (uint32_t)(g->out - g->start);
}

/*
 * A member ends here, by its trailer.  Where the checksum differs, it is
 * damaged, if one of the next fits; else this was no trailer.
 */
static void
gzip_end_member(struct tel_gzip *g)
{
	const int fits = g->trailers[g->first].crc == g->crc;

	g->damaged |= fits && g->doubtful;
	g->doubtful = !fits;
	g->start = g->out;
	g->crc = 0;
	g->first = (g->first + 1) % TEL_GZIP_TRAILERS;
	g->count--;
}

/* The same for all that end here: empty ones may follow. */
static void
gzip_end_members(struct tel_gzip *g)
{
	while (g->count > 0 && gzip_left(g) == 0)
		gzip_end_member(g);
}

void
tel__gzip_out(struct tel_gzip *g, const unsigned char *data, size_t size)
{
	size_t n;

	for (; size > 0; data += n, size -= n) {
		gzip_end_members(g);
		n = g->count > 0 && gzip_left(g) < size ? gzip_left(g) : size;
		gzip_add(g, data, n);
	}
}

/* Magic, deflate, no reserved flag, and a system that there is. */
static int
gzip_is_header(const unsigned char *p)
{
	return p[0] == 0x1f && p[1] == 0x8b && p[2] == 8 && p[3] < 0x20 &&
	    (p[9] < 14 || p[9] == 255);
}

/* Takes the trailers before headers that begin from begin to limit. */
static void
gzip_find_headers(struct tel_gzip *g, const unsigned char *data, size_t size,
    size_t begin, size_t limit)
{
	const unsigned char *p = data + begin, *end;
	struct tel_gzip_trailer *t;

	if (size < TEL_GZIP_HEADER + begin)
		return;
	end = data + size - TEL_GZIP_HEADER + 1;
	if (limit < (size_t)(end - data))
		end = data + limit;
	for (; p < end && (p = memchr(p, 0x1f, (size_t)(end - p))) != NULL;
	     p++) {
		if (!gzip_is_header(p))
			continue;
		g->again = 1;
		/* without one of them no later one has its place */
		g->full |= g->count == TEL_GZIP_TRAILERS;
		if (g->full)
			continue;
		t = &g->trailers[(g->first + g->count) % TEL_GZIP_TRAILERS];
		t->crc = tel_le32(p - TEL_GZIP_TRAILER);
		t->length = tel_le32(p - TEL_GZIP_TRAILER + 4);
		g->count++;
	}
}

static tel_status
gzip_damage(struct tel_fault *fault, const char *what)
{
	return tel__fault_set(fault, TEL_EDAMAGED, EIO, "gzip: the %s is wrong",
	    what);
}

void
tel__gzip_in(struct tel_gzip *g, const unsigned char *data, size_t size)
{
	unsigned char seam[2 * TEL_GZIP_TAIL];
	const size_t n = size < TEL_GZIP_TAIL ? size : TEL_GZIP_TAIL;
	const size_t before = g->ntail, seen = TEL_GZIP_HEADER - 1;
	size_t from = before > seen ? before - seen : 0;

	/* a header, or the trailer before it, may begin before data */
	memcpy(seam, g->tail, before);
	memcpy(seam + before, data, n);
	if (from < TEL_GZIP_TRAILER)
		from = TEL_GZIP_TRAILER;
	gzip_find_headers(g, seam, before + n, from, before + TEL_GZIP_TRAILER);
	gzip_find_headers(g, data, size, TEL_GZIP_TRAILER, size);
	/* the new tail is the end of the old one and data */
	const size_t keep =
	    before + n < TEL_GZIP_TAIL ? before : TEL_GZIP_TAIL - n;
	memmove(g->tail, g->tail + before - keep, keep);
	memcpy(g->tail + keep, data + size - n, n);
	g->ntail = keep + n;
	g->in += size;
}

tel_status
tel__gzip_end(struct tel_gzip *g, uint64_t used, struct tel_fault *fault)
{
	gzip_end_members(g);
	if (g->damaged)
		return gzip_damage(fault, "checksum");
	/* zeros fill up a tape: the place of the trailer is not kept */
	if (g->in != used || g->ntail < TEL_GZIP_TRAILER || g->full)
		return TEL_END;
	const unsigned char *trailer = g->tail + g->ntail - TEL_GZIP_TRAILER;
	const int fits = tel_le32(trailer) == g->crc;
	if (tel_le32(trailer + 4) != (uint32_t)(g->out - g->start))
		return g->again ? TEL_END : gzip_damage(fault, "length");
	/* that this one fits means that the doubtful one was a trailer */
	return fits == g->doubtful ? gzip_damage(fault, "checksum") : TEL_END;
}
