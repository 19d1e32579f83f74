/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of LZ4 by liblz4. */
#include <lz4frame.h>
#include <string.h>

#include "io/stream.h"

#define FUNCTIONS(X) \
	X(LZ4F_createDecompressionContext) \
	X(LZ4F_decompress) \
	X(LZ4F_freeDecompressionContext) \
	X(LZ4F_isError) \
	X(LZ4F_getErrorName)
#include "io/functions.h"

#define HEADER 4
/* The longest block. */
#define BLOCK_MAX ((size_t)1 << 22)

struct lz4 {
	struct functions f;
	LZ4F_dctx *z;
};

static int
lz4_load(void *self, const char **why)
{
	struct lz4 *l = self;

	return functions_load(&l->f, "liblz4.so.1", why);
}

/* Of a frame, or of one that is skipped: the magic 0x184D2A50 to 5F. */
static int
lz4_is_header(const unsigned char *p)
{
	return memcmp(p, "\x04\x22\x4d\x18", HEADER) == 0 ||
	    ((p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0);
}

static void
lz4_stop(void *self)
{
	struct lz4 *l = self;

	(void)l->f.LZ4F_freeDecompressionContext(l->z);
	l->z = NULL;
}

static int
lz4_start(void *self)
{
	struct lz4 *l = self;

	lz4_stop(l);
	return !l->f.LZ4F_isError(
	    l->f.LZ4F_createDecompressionContext(&l->z, LZ4F_VERSION));
}

static tel_status
lz4_decode(void *self, struct tel_piece *piece, const char **why)
{
	struct lz4 *l = self;
	size_t in = piece->in_left, out = piece->out_left;
	const size_t code =
	    l->f.LZ4F_decompress(l->z, piece->out, &out, piece->in, &in, NULL);

	piece->in_left -= (unsigned)in;
	piece->out_left -= (unsigned)out;
	if (!l->f.LZ4F_isError(code))
		return code == 0 ? TEL_END : TEL_OK;
	*why = l->f.LZ4F_getErrorName(code);
	return strcmp(*why, "ERROR_allocation_failed") == 0 ? TEL_ENOMEM :
	                                                      TEL_EDAMAGED;
}

const struct tel_decoder tel__lz4_decoder = { "lz4", "liblz4",
	sizeof(struct lz4), HEADER, BLOCK_MAX, lz4_is_header, lz4_load,
	lz4_start, lz4_decode, lz4_stop };
