/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed output, in the zstd seekable format (contrib/seekable_format of
 * zstd): frames that stand for themselves, and behind the last one a table of
 * their sizes in a frame that a decoder skips.  A reader of the file finds
 * from the table where each frame begins, and what it holds of the content.
 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "io/output.h"
#include "io/seekable.h"

/*
 * The first frame has a block that ends here: a file that is cut off behind it
 * has enough to tell its format, and the rest is lost as in any other frame.
 */
#define FIRST_BLOCK ((size_t)128)
/* It has more of them where that many bytes, and twice those before, are there. */
#define FIRST_FLUSH ((size_t)1 << 13)
/* A frame ends at the first place that may be an end from here on, */
#define FRAME_ENOUGH ((size_t)1 << 16)
/* or here, if the writer announces no such places, */
#define FRAME_FULL ((size_t)1 << 22)
/* and always before it holds more than the format allows. */
#define FRAME_MAX ((size_t)1 << 30)

struct tel_packer {
	ZSTD_CCtx *context;
	unsigned char *to; /* what it gives */
	size_t room;
	int announced;         /* the writer announces where a frame may end */
	uint64_t content, raw; /* bytes of the frame so far, and compressed */
	uint64_t flushed;      /* bytes of the first frame that are in blocks */
	struct tel__buffer table; /* an entry for each frame that has ended */
	size_t frames;            /* those of them with content */
	int marked;               /* the first one is a mark */
	int empty;                /* nothing was put in since the last table */
};

static void
free_packer(struct tel_packer *k)
{
	if (k == NULL)
		return;
	ZSTD_freeCCtx(k->context);
	free(k->to);
	tel__buffer_clear(&k->table);
	free(k);
}

/* Room for n more bytes of the table. */
static unsigned char *
table_room(struct tel_output *out, size_t n)
{
	struct tel_packer *k = out->packer;
	unsigned char *p = tel__buffer_room(&k->table, n);

	if (p == NULL)
		tel__output_fail(out, TEL_ENOMEM, ENOMEM);
	return p;
}

/* Adds the frame that has ended to the table. */
static tel_status
packer_add_frame(struct tel_output *out)
{
	struct tel_packer *k = out->packer;
	unsigned char *p = table_room(out, SEEK_ENTRY);

	if (p == NULL)
		return out->status;
	tel_store(p, k->raw, 4, 0);
	tel_store(p + 4, k->content, 4, 0);
	k->table.used += SEEK_ENTRY;
	k->raw = k->content = 0;
	return TEL_OK;
}

/* Compresses size bytes, and writes what comes of it. */
static tel_status
compress(struct tel_output *out, const unsigned char *data, size_t size,
    ZSTD_EndDirective how)
{
	struct tel_packer *k = out->packer;
	ZSTD_inBuffer from = { data, size, 0 };
	size_t left;

	k->content += size;
	k->empty = 0;
	do {
		ZSTD_outBuffer to = { k->to, k->room, 0 };

		left = ZSTD_compressStream2(k->context, &to, &from, how);
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) ==
			        ZSTD_error_memory_allocation ?
			    tel__output_fail(out, TEL_ENOMEM, ENOMEM) :
			    tel__output_fail(out, TEL_EIO, EIO);
		if (to.pos > 0 &&
		    tel__output_emit(out, k->to, to.pos) != TEL_OK)
			return out->status;
		k->raw += to.pos;
	} while (how == ZSTD_e_continue ? from.pos < from.size : left > 0);
	if (how != ZSTD_e_end)
		return TEL_OK;
	k->frames++;
	return packer_add_frame(out);
}

/* Compresses bytes of the first frame, up to FIRST_BLOCK; *size: how many. */
static tel_status
put_first(struct tel_output *out, const unsigned char *data, size_t *size)
{
	const size_t n = FIRST_BLOCK - (size_t)out->packer->content;

	if (*size < n)
		return compress(out, data, *size, ZSTD_e_continue);
	*size = n;
	return compress(out, data, n, ZSTD_e_flush);
}

static tel_status
packer_put(struct tel_output *out, const unsigned char *data, size_t size)
{
	struct tel_packer *k = out->packer;
	size_t full = k->announced ? FRAME_MAX : FRAME_FULL, n = size;
	tel_status st = out->status;

	if (st == TEL_OK && size > 0 && k->frames == 0 &&
	    k->content < FIRST_BLOCK) {
		st = put_first(out, data, &n);
		data += n;
		size -= n;
	}
	while (st == TEL_OK && size > 0) {
		n = full - (size_t)k->content;
		st = compress(out, data, n < size ? n : size,
		    n <= size ? ZSTD_e_end : ZSTD_e_continue);
		n = n < size ? n : size;
		data += n;
		size -= n;
	}
	return st;
}

static tel_status
packer_flush(struct tel_output *out)
{
	if (out->status != TEL_OK || out->packer->content == 0)
		return out->status;
	return compress(out, NULL, 0, ZSTD_e_flush);
}

static tel_status
packer_boundary(struct tel_output *out, int must)
{
	struct tel_packer *k = out->packer;

	k->announced = 1;
	if (k->content + out->used == 0)
		return out->status;
	if (!must && k->content + out->used < FRAME_ENOUGH) {
		/* what the first frame has, if that is as much again */
		if (k->frames > 0 || k->content + out->used < 2 * k->flushed ||
		    k->content + out->used < FIRST_FLUSH)
			return out->status;
		k->flushed = k->content + out->used;
		return tel__output_spill(out) != TEL_OK ? out->status :
		                                          packer_flush(out);
	}
	if (tel__output_spill(out) != TEL_OK || k->content == 0)
		return out->status;
	return compress(out, NULL, 0, ZSTD_e_end);
}

static tel_status
packer_mark(struct tel_output *out, const void *mark, size_t size)
{
	struct tel_packer *k = out->packer;
	unsigned char head[SEEK_HEAD];

	if (out->status != TEL_OK || k->content > 0 || k->table.used > 0)
		return out->status;
	tel_store(head, SEEK_MARK_MAGIC, 4, 0);
	tel_store(head + 4, size, 4, 0);
	if (tel__output_emit(out, head, sizeof(head)) != TEL_OK ||
	    tel__output_emit(out, mark, size) != TEL_OK)
		return out->status;
	/* in the table it is a frame without content */
	k->marked = 1;
	k->raw = sizeof(head) + size;
	return packer_add_frame(out);
}

static tel_status
packer_finish(struct tel_output *out)
{
	struct tel_packer *k = out->packer;
	unsigned char head[SEEK_HEAD], *p;

	if (out->status != TEL_OK)
		return out->status;
	/* nothing at all is a frame, too: an empty file is none of zstd */
	if ((k->content > 0 || (k->empty && k->table.used == 0)) &&
	    compress(out, NULL, 0, ZSTD_e_end) != TEL_OK)
		return out->status;
	size_t frames = k->table.used / SEEK_ENTRY;
	if (frames == 0 || frames > SEEK_FRAMES_MAX)
		return TEL_OK;
	/* behind the mark of a small log it would be a tenth of the file */
	if (k->frames < 2 && k->marked)
		return TEL_OK;
	p = table_room(out, SEEK_FOOT);
	if (p == NULL)
		return out->status;
	tel_store(p, frames, 4, 0);
	p[4] = 0;
	tel_store(p + 5, SEEK_MAGIC, 4, 0);
	k->table.used += SEEK_FOOT;
	tel_store(head, SEEK_FRAME_MAGIC, 4, 0);
	tel_store(head + 4, k->table.used, 4, 0);
	if (tel__output_emit(out, head, sizeof(head)) == TEL_OK)
		(void)tel__output_emit(out, k->table.bytes, k->table.used);
	k->table.used = 0;
	return out->status;
}

static void
packer_free(struct tel_output *out)
{
	free_packer(out->packer);
}

static const struct tel_packer_ops packing = { packer_put, packer_flush,
	packer_boundary, packer_mark, packer_finish, packer_free };

tel_status
tel_output_set_zstd(tel_output *out, int level)
{
	struct tel_packer *k;

	if (out->packing != NULL || tel_output_bytes(out) > 0)
		return TEL_ESTATE;
	if (level < 1 || level > 19)
		return TEL_EINVAL;
	k = calloc(1, sizeof(*k));
	if (k == NULL)
		return TEL_ENOMEM;
	k->empty = 1;
	k->room = ZSTD_CStreamOutSize();
	k->to = malloc(k->room);
	k->context = ZSTD_createCCtx();
	if (k->to == NULL || k->context == NULL ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(k->context,
	        ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(
	        ZSTD_CCtx_setParameter(k->context, ZSTD_c_checksumFlag, 1))) {
		free_packer(k);
		return TEL_ENOMEM;
	}
	out->packer = k;
	out->packing = &packing;
	return TEL_OK;
}
