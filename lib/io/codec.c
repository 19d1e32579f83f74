/* SPDX-License-Identifier: BSD-2-Clause */
/* Codec: an input that is compressed in a way that libarchive knows. */
#include <errno.h>
#include <stdlib.h>

#include "io/archive.h"

struct codec {
	struct tel_archive ar;
	int begun;
	tel_status end; /* TEL_OK, or how it ended */
	struct tel_fault fault;
};

/*
 * A check that libarchive omits: that the input ended with the compressed data.
 * Zeros may fill up a tape.
 */
static tel_status
codec_check(struct codec *c)
{
	struct archive *a = c->ar.a;

	/* filters: the one that was asked for, and the input */
	if (c->ar.f.archive_filter_count(a) != 2)
		return TEL_END;
	uint64_t used = (uint64_t)c->ar.f.archive_filter_bytes(a, 1);
	if (c->ar.content > used)
		return tel__fault_set(&c->fault, TEL_EDAMAGED, EIO,
		    "%s: the data ends before the input does",
		    tel__packing_name(c->ar.packing));
	return TEL_END;
}

/* Starts at the first read, which is on the thread that reads ahead. */
static tel_status
codec_begin(struct codec *c)
{
	struct archive_entry *entry;
	tel_status st = tel__archive_open(&c->ar, &c->fault);

	if (st != TEL_OK)
		return st;
	int r = tel__archive_next(&c->ar, &entry);
	if (r == ARCHIVE_EOF)
		return codec_check(c);
	return r < ARCHIVE_WARN ? tel__archive_fault(&c->ar, &c->fault) :
	                          TEL_OK;
}

static tel_status
codec_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct codec *c = self;

	if (!c->begun) {
		c->begun = 1;
		c->end = codec_begin(c);
	}
	if (c->end == TEL_OK) {
		c->end = tel__archive_read(&c->ar, to, size, got, &c->fault);
		if (c->end == TEL_END)
			c->end = codec_check(c);
	}
	*fault = c->fault;
	return c->end;
}

static uint64_t
codec_taken(const void *self)
{
	const struct codec *c = self;

	return tel__input_raw_bytes(c->ar.in);
}

static void
codec_set_wake(void *self, int fd)
{
	struct codec *c = self;

	tel__input_set_wake(c->ar.in, fd);
}

static void
codec_free(void *self)
{
	struct codec *c = self;

	tel__archive_close(&c->ar);
	tel__input_free(c->ar.in);
	free(c);
}

static const struct tel_source_ops codec_ops = {
	.read = codec_read,
	.taken = codec_taken,
	.set_wake = codec_set_wake,
	.free = codec_free,
};

tel_status
tel__source_codec(struct tel_input *in, enum tel_packing packing,
    struct tel_source *out)
{
	if (packing == TEL_ZSTD)
		return tel__source_zstd(in, out);
	if (packing == TEL_GZIP)
		return tel__source_gzip(in, out);
	struct codec *c = calloc(1, sizeof(*c));
	if (c == NULL) {
		tel__input_free(in);
		return TEL_ENOMEM;
	}
	c->ar.in = in;
	c->ar.packing = packing;
	out->ops = &codec_ops;
	out->self = c;
	return TEL_OK;
}
