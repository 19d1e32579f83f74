/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zstandard (RFC 8878): frames, one after the other, skippable ones too.
 * A frame may ask for a window of up to 2^27 bytes; one that asks for more
 * is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "io/source.h"

#define WINDOW_LOG_MOST 27

struct zstd_source {
	struct tel_input *in;
	ZSTD_DCtx *context;
	ZSTD_inBuffer from; /* the last peek, .pos of it decoded */
	int inside;         /* a frame has begun and not ended */
	int held;           /* the context may have more for no more input */
	tel_status end;     /* TEL_OK, or how it ended */
	struct tel_fault fault;
};

static tel_status
zstd_fail(struct zstd_source *z, size_t code)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return tel_fault_errno(&z->fault, ENOMEM);
	return tel_fault_set(&z->fault, TEL_EDAMAGED, EIO, "zstd: %s",
	    ZSTD_getErrorName(code));
}

/* More to decode.  TEL_OK, or how the input ends. */
static tel_status
zstd_fill(struct zstd_source *z)
{
	const unsigned char *data;
	size_t avail;
	tel_status st;

	tel_input_consume(z->in, z->from.size);
	z->from.size = z->from.pos = 0;
	st = tel_input_peek(z->in, 1, &data, &avail);
	if (avail > 0) {
		z->from.src = data;
		z->from.size = avail;
		return TEL_OK;
	}
	if (st != TEL_OK) {
		z->fault = z->in->fault;
		return st;
	}
	if (z->inside)
		return tel_fault_set(&z->fault, TEL_EDAMAGED, EIO,
		    "zstd: input ends inside a frame");
	return TEL_END;
}

static tel_status
zstd_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct zstd_source *z = self;
	ZSTD_outBuffer out = { to, size, 0 };
	size_t code;

	while (z->end == TEL_OK && out.pos < size) {
		if (z->from.pos == z->from.size && !z->held) {
			if (out.pos > 0)
				break;
			z->end = zstd_fill(z);
			continue;
		}
		code = ZSTD_decompressStream(z->context, &out, &z->from);
		if (ZSTD_isError(code)) {
			z->end = zstd_fail(z, code);
			break;
		}
		z->inside = code != 0;
		z->held = code != 0 && out.pos == size;
	}
	*got = out.pos;
	if (out.pos > 0)
		return TEL_OK;
	*fault = z->fault;
	return z->end;
}

static uint64_t
zstd_taken(const void *self)
{
	const struct zstd_source *z = self;

	return tel_input_raw_bytes(z->in);
}

static void
zstd_set_wake(void *self, int fd)
{
	struct zstd_source *z = self;

	tel_input_set_wake(z->in, fd);
}

static void
zstd_free(void *self)
{
	struct zstd_source *z = self;

	ZSTD_freeDCtx(z->context);
	tel_input_free(z->in);
	free(z);
}

static const struct tel_source_ops zstd_ops = {
	.read = zstd_read,
	.taken = zstd_taken,
	.set_wake = zstd_set_wake,
	.free = zstd_free,
};

tel_status
tel_source_zstd(struct tel_input *in, struct tel_source *out)
{
	struct zstd_source *z = calloc(1, sizeof(*z));

	if (z == NULL) {
		tel_input_free(in);
		return TEL_ENOMEM;
	}
	z->in = in;
	z->context = ZSTD_createDCtx();
	if (z->context == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax,
	        WINDOW_LOG_MOST))) {
		zstd_free(z);
		return TEL_ENOMEM;
	}
	out->ops = &zstd_ops;
	out->self = z;
	return TEL_OK;
}
