/* SPDX-License-Identifier: BSD-2-Clause */
/* Bzip2 by libbz2. */
#include <bzlib.h>
#include <string.h>

#include "io/stream.h"

#define FUNCTIONS(X) \
	X(BZ2_bzDecompressInit) \
	X(BZ2_bzDecompress) \
	X(BZ2_bzDecompressEnd)
#include "io/functions.h"

/* "BZh", a level, and the start of a block or of the end. */
#define HEADER 10
/* Compressed, the longest block. */
#define BLOCK_MAX 900000

struct bzip2 {
	struct functions f;
	bz_stream z;
};

/* Systems do not agree on its name. */
static int
bzip2_load(void *self, const char **why)
{
	struct bzip2 *b = self;

	return functions_load(&b->f, "libbz2.so.1.0", why) ||
	    functions_load(&b->f, "libbz2.so.1", why);
}

static int
bzip2_is_header(const unsigned char *p)
{
	return memcmp(p, "BZh", 3) == 0 && p[3] >= '1' && p[3] <= '9' &&
	    (memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
	        memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

static void
bzip2_stop(void *self)
{
	struct bzip2 *b = self;

	if (b->z.state != NULL)
		(void)b->f.BZ2_bzDecompressEnd(&b->z);
}

static int
bzip2_start(void *self)
{
	struct bzip2 *b = self;

	bzip2_stop(b);
	return b->f.BZ2_bzDecompressInit(&b->z, 0, 0) == BZ_OK;
}

static tel_status
bzip2_decode(void *self, struct tel_piece *piece, const char **why)
{
	struct bzip2 *b = self;

	/* it is not written to */
	memcpy(&b->z.next_in, &piece->in, sizeof(b->z.next_in));
	b->z.avail_in = piece->in_left;
	b->z.next_out = (char *)piece->out;
	b->z.avail_out = piece->out_left;
	const int code = b->f.BZ2_bzDecompress(&b->z);
	piece->in_left = b->z.avail_in;
	piece->out_left = b->z.avail_out;
	switch (code) {
	case BZ_OK: return TEL_OK;
	case BZ_STREAM_END: return TEL_END;
	case BZ_MEM_ERROR: return TEL_ENOMEM;
	default: *why = "invalid data"; return TEL_EDAMAGED;
	}
}

const struct tel_decoder tel__bzip2_decoder = { "bzip2", "libbz2",
	sizeof(struct bzip2), HEADER, BLOCK_MAX, bzip2_is_header, bzip2_load,
	bzip2_start, bzip2_decode, bzip2_stop };
