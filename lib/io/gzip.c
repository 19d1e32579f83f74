/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gzip by zlib.  libarchive would read gzip without a look at the checksums.
 */
#include "io/gzip.h"

#include <limits.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "io/stream.h"

#define ZLIB_LIBRARY "libz.so.1"
/* The largest window, and a header and a trailer of gzip. */
#define GZIP_WINDOW (15 + 16)
/* How much memory deflate() may take: the default of zlib. */
#define MEMORY_LEVEL 8
/* Magic, method, flags. */
#define HEADER 4
/* What follows a stream that is cut hardly makes sense for longer. */
#define BLOCK_MAX 32768

/* Each function of zlib that is used. */
#define FUNCTIONS(X) \
	X(inflateInit2_) \
	X(inflate) \
	X(inflateReset) \
	X(inflateEnd) \
	X(deflateInit2_) \
	X(deflate) \
	X(deflateEnd)
#include "io/functions.h"

int
tel__gzip_load(const char **why)
{
	struct functions f;

	return functions_load(&f, ZLIB_LIBRARY, why);
}

int
tel__gzip_put(struct tel__buffer *out, const void *data, size_t n, int level)
{
	unsigned char piece[16384];
	const size_t used = out->used;
	z_stream z = { .next_in = data, .avail_in = (uInt)n };
	struct functions f;
	const char *why;
	int code;

	if (out->failed || n > UINT_MAX ||
	    !functions_load(&f, ZLIB_LIBRARY, &why) ||
	    f.deflateInit2_(&z, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
	        Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof(z)) != Z_OK)
		return 0;
	do {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		code = f.deflate(&z, Z_FINISH);
		tel__buffer_put(out, piece, sizeof(piece) - z.avail_out);
	} while (code == Z_OK && !out->failed);
	(void)f.deflateEnd(&z);
	if (code != Z_STREAM_END || out->failed)
		out->used = used;
	return code == Z_STREAM_END && !out->failed;
}

struct gzip {
	struct functions f;
	z_stream z;
};

static int
gzip_load(void *self, const char **why)
{
	struct gzip *g = self;

	return functions_load(&g->f, ZLIB_LIBRARY, why);
}

/* Deflate, without a flag that is reserved. */
static int
gzip_is_header(const unsigned char *p)
{
	return memcmp(p, "\x1f\x8b\x08", 3) == 0 && p[3] < 0x20;
}

static int
gzip_start(void *self)
{
	struct gzip *g = self;

	return g->z.state != NULL ? g->f.inflateReset(&g->z) == Z_OK :
	                            g->f.inflateInit2_(&g->z, GZIP_WINDOW,
	                                ZLIB_VERSION, sizeof(g->z)) == Z_OK;
}

static tel_status
gzip_decode(void *self, struct tel_piece *piece, const char **why)
{
	struct gzip *g = self;

	g->z.next_in = piece->in;
	g->z.avail_in = piece->in_left;
	g->z.next_out = piece->out;
	g->z.avail_out = piece->out_left;
	const int code = g->f.inflate(&g->z, Z_NO_FLUSH);
	piece->in_left = g->z.avail_in;
	piece->out_left = g->z.avail_out;
	*why = g->z.msg;
	switch (code) {
	case Z_OK:
	case Z_BUF_ERROR: return TEL_OK;
	case Z_STREAM_END: return TEL_END;
	case Z_MEM_ERROR: return TEL_ENOMEM;
	default: return TEL_EDAMAGED;
	}
}

static void
gzip_stop(void *self)
{
	struct gzip *g = self;

	if (g->z.state != NULL)
		(void)g->f.inflateEnd(&g->z);
}

const struct tel_decoder tel__gzip_decoder = { "gzip", "zlib",
	sizeof(struct gzip), HEADER, BLOCK_MAX, gzip_is_header, gzip_load,
	gzip_start, gzip_decode, gzip_stop };
