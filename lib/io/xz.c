/* SPDX-License-Identifier: BSD-2-Clause */
/* Xz by liblzma. */
#include <lzma.h>
#include <string.h>

#include "io/stream.h"

#define FUNCTIONS(X) \
	X(lzma_stream_decoder) \
	X(lzma_code) \
	X(lzma_end)
#include "io/functions.h"

#define HEADER 6
/* The longest chunk of LZMA2, compressed. */
#define BLOCK_MAX 65536
/* The most memory: "xz -9" has 65 MiB of it read, the header of one up to 4 GiB. */
#define MEMORY_MAX ((uint64_t)1 << 30)

struct xz {
	struct functions f;
	lzma_stream z; /* LZMA_STREAM_INIT is all zeros */
};

static int
xz_load(void *self, const char **why)
{
	struct xz *x = self;

	return functions_load(&x->f, "liblzma.so.5", why);
}

static int
xz_is_header(const unsigned char *p)
{
	return memcmp(p, "\xfd\x37zXZ", HEADER) == 0;
}

static int
xz_start(void *self)
{
	struct xz *x = self;

	return x->f.lzma_stream_decoder(&x->z, MEMORY_MAX, 0) == LZMA_OK;
}

static tel_status
xz_decode(void *self, struct tel_piece *piece, const char **why)
{
	struct xz *x = self;

	x->z.next_in = piece->in;
	x->z.avail_in = piece->in_left;
	x->z.next_out = piece->out;
	x->z.avail_out = piece->out_left;
	const lzma_ret code = x->f.lzma_code(&x->z, LZMA_RUN);
	piece->in_left = (unsigned)x->z.avail_in;
	piece->out_left = (unsigned)x->z.avail_out;
	switch ((int)code) {
	case LZMA_OK:
	case LZMA_BUF_ERROR: return TEL_OK;
	case LZMA_STREAM_END: return TEL_END;
	case LZMA_MEM_ERROR: return TEL_ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		*why = "it takes more than 2^30 bytes of memory";
		return TEL_EDAMAGED;
	case LZMA_OPTIONS_ERROR:
		*why = "filters that this liblzma does not have";
		return TEL_EDAMAGED;
	default: *why = "invalid data"; return TEL_EDAMAGED;
	}
}

static void
xz_stop(void *self)
{
	struct xz *x = self;

	x->f.lzma_end(&x->z);
}

const struct tel_decoder tel__xz_decoder = { "xz", "liblzma", sizeof(struct xz),
	HEADER, BLOCK_MAX, xz_is_header, xz_load, xz_start, xz_decode,
	xz_stop };
