/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zstandard (RFC 8878): frames, one after the other, skippable ones too.
 * A frame may ask for a window of up to 2^27 bytes; one that asks for more
 * is refused.
 *
 * The decoder is given a frame's header, its blocks and its checksum one by
 * one, each when it is there as a whole, and steps over it when it has been
 * decoded: so what comes behind the last good block of a frame that is
 * damaged is still there to look for the next frame in.
 *
 * A log that is not compressed may have been appended to one that is.  What
 * follows a frame and starts as the content did, by its first MARK bytes, is
 * taken as it is, to the end of the input.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "io/seekable.h"
#include "io/source.h"

#define WINDOW_LOG_MAX 27
#define BLOCK_MAX ((size_t)1 << 17)
#define SKIPPABLE 8 /* bytes of the header */
#define MARK 4

/* What comes next. */
enum part { FRAME, BLOCK, CHECKSUM, PLAIN };

struct zstd_source {
	struct tel_input *in;
	struct tel_frames *frames; /* or NULL: the file has no table */
	ZSTD_DCtx *context;
	ZSTD_inBuffer from;    /* the part at hand, .pos of it decoded */
	enum part part, after; /* what it is, and what comes after it */
	int checksum;          /* the frame has one */
	int held;              /* the context may have more for no more input */
	uint64_t pass;         /* bytes to step over */
	uint64_t leave;        /* bytes of content to leave out */
	uint64_t position;     /* of the content that comes next */
	unsigned char mark[MARK]; /* the first bytes of the content, */
	size_t marked;            /* so many of them */
	tel_status end;           /* TEL_OK, or how it ended */
	struct tel_fault fault;
};

static tel_status
zstd_fail(struct zstd_source *z, size_t code)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return tel__fault_errno(&z->fault, ENOMEM);
	return tel__fault_set(&z->fault, TEL_EDAMAGED, EIO, "zstd: %s",
	    ZSTD_getErrorName(code));
}

static tel_status
bad_frame(struct zstd_source *z, const char *what)
{
	return tel__fault_set(&z->fault, TEL_EDAMAGED, EIO, "zstd: %s", what);
}

/* The length of a frame's header, by what comes behind its magic. */
static size_t
header_length(unsigned char descriptor)
{
	static const unsigned char ids[] = { 0, 1, 2, 4 };
	static const unsigned char sizes[] = { 0, 2, 4, 8 };
	int single = descriptor >> 5 & 1;

	return 5 + (size_t)!single + ids[descriptor & 3] +
	    (descriptor >> 6 == 0 ? (size_t)single : sizes[descriptor >> 6]);
}

/*
 * How many bytes the part that begins at p has, by n bytes of it; 0 when it
 * takes more to tell.  TEL_EDAMAGED when it is none.
 */
static tel_status
zstd_measure(struct zstd_source *z, const unsigned char *p, size_t n,
    size_t *size)
{
	uint32_t header;

	*size = 0;
	switch (z->part) {
	case CHECKSUM:
		*size = 4;
		z->after = FRAME;
		return TEL_OK;
	case BLOCK:
		if (n < 3)
			return TEL_OK;
		header = tel_le16(p) | (uint32_t)p[2] << 16;
		*size = 3 + ((header >> 1 & 3) == 1 ? 1 : header >> 3);
		z->after = !(header & 1) ? BLOCK :
		    z->checksum          ? CHECKSUM :
		                           FRAME;
		return header >> 3 > BLOCK_MAX ?
		    bad_frame(z, "Corrupted block detected") :
		    TEL_OK;
	case PLAIN:
		*size = n;
		z->after = PLAIN;
		return TEL_OK;
	case FRAME: break;
	}
	if (n < 5)
		return TEL_OK;
	if (tel_le32(p) == 0xfd2fb528u) {
		*size = header_length(p[4]);
		z->checksum = p[4] >> 2 & 1;
		z->after = BLOCK;
	} else if ((tel_le32(p) & ~15u) == 0x184d2a50u) {
		if (n < SKIPPABLE)
			return TEL_OK;
		z->pass = SKIPPABLE + (uint64_t)tel_le32(p + 4);
	} else if (z->marked == MARK && memcmp(p, z->mark, MARK) == 0) {
		z->part = z->after = PLAIN;
		*size = n;
	} else {
		return bad_frame(z, "Unknown frame descriptor");
	}
	return TEL_OK;
}

/* Steps over z->pass bytes, or as many as there are without waiting. */
static tel_status
pass_over(struct zstd_source *z)
{
	const unsigned char *data;
	size_t avail;
	tel_status st = tel__input_peek(z->in, 1, &data, &avail);

	if (avail == 0) {
		if (st != TEL_OK)
			z->fault = z->in->fault;
		return st != TEL_OK ? st :
		                      bad_frame(z, "input ends inside a frame");
	}
	if (avail > z->pass)
		avail = (size_t)z->pass;
	tel__input_consume(z->in, avail);
	z->pass -= avail;
	return TEL_OK;
}

/*
 * Brings the next part.  TEL_OK, or how the input ends, then with what there
 * is of the part, as a block that is cut may be good up to there.
 */
static tel_status
zstd_fill(struct zstd_source *z)
{
	const unsigned char *data;
	size_t avail, size = 0, want = 1;
	tel_status st;

	tel__input_consume(z->in, z->from.size);
	if (z->from.size > 0)
		z->part = z->after;
	z->from.size = z->from.pos = 0;
	if (z->pass > 0)
		return pass_over(z);
	do {
		st = tel__input_peek(z->in, want, &data, &avail);
		if (avail < want)
			break;
		if (size == 0) {
			st = zstd_measure(z, data, avail, &size);
			if (st != TEL_OK || z->pass > 0)
				return st;
		}
		want = size > 0 ? size : avail + 1;
	} while (avail < want);
	if (size > 0 && avail >= size) {
		z->from.src = data;
		z->from.size = size;
		return TEL_OK;
	}
	if (st == TEL_OK && avail == 0 &&
	    (z->part == FRAME || z->part == PLAIN))
		return TEL_END;
	if (st != TEL_OK)
		z->fault = z->in->fault;
	else
		st = bad_frame(z, "input ends inside a frame");
	z->from.src = data;
	z->from.size = avail;
	return st;
}

/* The first bytes that are asked for lie before the place sought. */
static void
leave_out(struct zstd_source *z, unsigned char *to, size_t *got)
{
	size_t n = z->leave < *got ? (size_t)z->leave : *got;

	if (n == 0)
		return;
	z->leave -= n;
	*got -= n;
	memmove(to, to + n, *got);
}

/* Keeps the first bytes of the content. */
static void
keep_mark(struct zstd_source *z, const unsigned char *p, size_t n)
{
	while (z->marked < MARK && n-- > 0)
		z->mark[z->marked++] = *p++;
}

static void
zstd_copy_plain(struct zstd_source *z, unsigned char *to, size_t size,
    size_t *got)
{
	size_t n = z->from.size - z->from.pos;

	if (n > size - *got)
		n = size - *got;
	memcpy(to + *got, (const unsigned char *)z->from.src + z->from.pos, n);
	z->from.pos += n;
	z->position += n;
	*got += n;
}

/* Decodes the bytes at hand, up to size bytes. */
static void
zstd_decode(struct zstd_source *z, unsigned char *to, size_t size, size_t *got)
{
	ZSTD_outBuffer out = { to, size, *got };

	if (z->part == PLAIN) {
		zstd_copy_plain(z, to, size, got);
		return;
	}
	size_t code = ZSTD_decompressStream(z->context, &out, &z->from);
	if (z->position == z->marked)
		keep_mark(z, to + *got, out.pos - *got);
	z->position += out.pos - *got;
	*got = out.pos;
	if (ZSTD_isError(code)) {
		if (z->end == TEL_OK)
			z->end = zstd_fail(z, code);
		z->held = 0;
		return;
	}
	z->held = code != 0 && out.pos == size;
}

static tel_status
zstd_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct zstd_source *z = self;

	*got = 0;
	while (z->held || (z->end == TEL_OK && *got < size)) {
		if (z->held || z->from.pos < z->from.size) {
			zstd_decode(z, to, size, got);
			leave_out(z, to, got);
			if (*got == size)
				break;
			continue;
		}
		if (*got > 0)
			break;
		z->end = zstd_fill(z);
		/* the start of a truncated block */
		if (z->end != TEL_OK && z->from.size > 0)
			zstd_decode(z, to, size, got);
	}
	if (*got > 0)
		return TEL_OK;
	*fault = z->fault;
	return z->end;
}

/* Starts again at the current position of the input. */
static void
restart(struct zstd_source *z)
{
	ZSTD_DCtx_reset(z->context, ZSTD_reset_session_only);
	z->from.size = z->from.pos = 0;
	z->part = FRAME;
	z->held = 0;
	z->pass = 0;
	z->end = TEL_OK;
}

static uint64_t
zstd_taken(const void *self)
{
	const struct zstd_source *z = self;

	return tel__input_raw_bytes(z->in);
}

static void
zstd_set_wake(void *self, int fd)
{
	struct zstd_source *z = self;

	tel__input_set_wake(z->in, fd);
}

static int64_t
zstd_extent(const void *self)
{
	const struct zstd_source *z = self;

	return z->frames != NULL ?
	    (int64_t)z->frames->frame[z->frames->count].content :
	    -1;
}

static int64_t
zstd_seek(void *self, int64_t offset, int whence)
{
	struct zstd_source *z = self;
	int64_t extent = zstd_extent(z);
	const struct tel_frame *frame;

	if (extent < 0 ||
	    (whence == SEEK_END &&
	        __builtin_add_overflow(extent, offset, &offset)) ||
	    offset < 0 || offset > extent)
		return -1;
	frame = &z->frames->frame[tel__frames_at(z->frames, (uint64_t)offset)];
	if (tel__input_seek(z->in, (int64_t)frame->raw, SEEK_SET) < 0)
		return -1;
	restart(z);
	z->position = frame->content;
	z->leave = (uint64_t)offset - frame->content;
	return offset;
}

/* Goes on with the frame that the table has behind this one. */
static tel_status
resume_by_table(struct zstd_source *z, uint64_t *lost)
{
	const struct tel_frame *frame =
	    &z->frames->frame[tel__frames_behind(z->frames,
	        tel__input_offset(z->in))];

	if (tel__input_seek(z->in, (int64_t)frame->raw, SEEK_SET) < 0)
		return TEL_END;
	restart(z);
	if (frame->content > z->position)
		*lost = frame->content - z->position;
	z->position = frame->content;
	z->leave = 0;
	return TEL_OK;
}

static tel_status
zstd_resume(void *self, uint64_t *lost)
{
	struct zstd_source *z = self;
	const unsigned char *data, *p;
	size_t avail, n = 1;

	if (z->frames != NULL)
		return resume_by_table(z, lost);
	/* z->from was not stepped over: the damage begins there */
	for (;;) {
		if (tel__input_peek(z->in, 6, &data, &avail) != TEL_OK ||
		    avail < 6)
			return TEL_END;
		p = memchr(data + n, 0x28, avail - 4 - n);
		/* a bit of the descriptor must be 0 */
		if (p != NULL && tel_le32(p) == 0xfd2fb528u && !(p[4] & 8))
			break;
		n = p != NULL ? (size_t)(p + 1 - data) : avail - 4;
		tel__input_consume(z->in, n);
		n = 0;
	}
	n = (size_t)(p - data);
	tel__input_consume(z->in, n);
	restart(z);
	return TEL_OK;
}

static void
zstd_free(void *self)
{
	struct zstd_source *z = self;

	ZSTD_freeDCtx(z->context);
	tel__input_free(z->in);
	free(z->frames);
	free(z);
}

static const struct tel_source_ops zstd_ops = {
	.read = zstd_read,
	.taken = zstd_taken,
	.set_wake = zstd_set_wake,
	.seek = zstd_seek,
	.extent = zstd_extent,
	.resume = zstd_resume,
	.free = zstd_free,
};

tel_status
tel__source_zstd(struct tel_input *in, struct tel_source *out)
{
	struct zstd_source *z = calloc(1, sizeof(*z));

	if (z == NULL) {
		tel__input_free(in);
		return TEL_ENOMEM;
	}
	z->in = in;
	z->context = ZSTD_createDCtx();
	if (z->context == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax,
	        WINDOW_LOG_MAX)) ||
	    tel__frames_find(in, &z->frames) != TEL_OK) {
		zstd_free(z);
		return TEL_ENOMEM;
	}
	out->ops = &zstd_ops;
	out->self = z;
	return TEL_OK;
}
