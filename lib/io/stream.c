/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are decoded at once. */
#define PIECE_MAX TEL_PEEK_MAX
/* Bytes that may be looked through again, and once more those of the input. */
#define AGAIN_MAX ((uint64_t)1 << 26)

#define CUT "the input ends inside a member"

struct streams {
	const struct tel_decoder *decoder;
	struct tel_input *in;
	void *state;
	int loaded;
	int started;
	int inside;     /* a stream began, and did not end */
	uint64_t start; /* where it began */
	uint64_t again; /* bytes that were looked through again */
	int held;       /* the decoder has more output than it had room for */
	tel_status end; /* TEL_OK, or how it ended */
	struct tel_fault fault;
};

static tel_status
streams_damage(struct streams *s, const char *what)
{
	return tel__fault_set(&s->fault, TEL_EDAMAGED, EIO, "%s: %s",
	    s->decoder->name, what);
}

static tel_status
streams_start(struct streams *s)
{
	s->started = 1;
	if (!s->decoder->start(s->state))
		return tel__fault_errno(&s->fault, ENOMEM);
	s->inside = 1;
	s->start = tel__input_offset(s->in);
	s->held = 0;
	return TEL_OK;
}

static tel_status
streams_load(struct streams *s)
{
	const char *why;

	s->loaded = 1;
	return s->decoder->load(s->state, &why) ?
	    TEL_OK :
	    tel__fault_set(&s->fault, TEL_EIO, ENOSYS,
	        "%s: %s is needed to read it: %s", s->decoder->name,
	        s->decoder->library, why);
}

/*
 * Looks for a stream behind another.  Zeros fill up a tape.  TEL_OK with
 * s->inside set, or how the input ends.
 */
static tel_status
streams_next(struct streams *s)
{
	const size_t header = s->decoder->header;
	const unsigned char *data;
	size_t avail, n;
	tel_status st;

	while ((st = tel__input_peek(s->in, header, &data, &avail)) == TEL_OK &&
	    avail > 0 && data[0] == 0) {
		for (n = 1; n < avail && data[n] == 0; n++)
			continue;
		tel__input_consume(s->in, n);
	}
	if (avail == 0 && st == TEL_OK)
		return TEL_END;
	if (avail < header && st != TEL_OK) {
		s->fault = s->in->fault;
		return st;
	}
	if (avail < header || !s->decoder->is_header(data))
		return streams_damage(s,
		    s->started         ? "the data ends before the input does" :
		        avail < header ? CUT :
		                         "unsupported header");
	return streams_start(s);
}

/*
 * A stream that is cut may have had the start of the next one decoded: what
 * was decoded last is looked through for it, as far as it can be had again.
 */
static void
streams_step_back(struct streams *s, size_t decoded)
{
	const uint64_t now = tel__input_offset(s->in), at = now + decoded;
	uint64_t from = at > s->decoder->back ? at - s->decoder->back : 0;

	/* nor may many short ones take long */
	if (s->again > at + AGAIN_MAX)
		from = at;
	if (from <= s->start)
		from = s->start + 1;
	s->again += from < at ? at - from : 0;
	if (from >= now)
		tel__input_consume(s->in, (size_t)(from - now));
	else
		(void)tel__input_seek(s->in, (int64_t)from, SEEK_SET);
}

/* As read; *got is 0 where more input is needed. */
static tel_status
streams_decode(struct streams *s, unsigned char *to, size_t size, size_t *got)
{
	const unsigned char *data = NULL;
	const char *why = NULL;
	size_t avail = 0;
	tel_status st = TEL_OK;

	/* what the decoder has is not to wait for more */
	if (!s->held)
		st = tel__input_peek(s->in, 1, &data, &avail);
	if (avail == 0 && !s->held) {
		if (st == TEL_OK)
			return streams_damage(s, CUT);
		s->fault = s->in->fault;
		return st;
	}
	const unsigned in = (unsigned)(avail < PIECE_MAX ? avail : PIECE_MAX);
	const unsigned room = (unsigned)(size < PIECE_MAX ? size : PIECE_MAX);
	struct tel_piece piece = { data, in, to, room };
	st = s->decoder->decode(s->state, &piece, &why);
	*got = room - piece.out_left;
	s->held = st == TEL_OK && piece.out_left == 0;
	if (st == TEL_ENOMEM)
		return tel__fault_errno(&s->fault, ENOMEM);
	if (st == TEL_EDAMAGED) {
		streams_step_back(s, in - piece.in_left);
		return streams_damage(s,
		    why != NULL ? why : "damaged or unsupported");
	}
	tel__input_consume(s->in, in - piece.in_left);
	s->inside = st == TEL_OK;
	return TEL_OK;
}

static tel_status
streams_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct streams *s = self;

	*got = 0;
	if (!s->loaded)
		s->end = streams_load(s);
	while (s->end == TEL_OK && *got == 0)
		s->end = s->inside ? streams_decode(s, to, size, got) :
		                     streams_next(s);
	*fault = s->fault;
	return *got > 0 ? TEL_OK : s->end;
}

/* Goes on with what looks like the next stream. */
static tel_status
streams_resume(void *self, uint64_t *lost)
{
	struct streams *s = self;
	const size_t header = s->decoder->header;
	const unsigned char *data;
	size_t avail, n;

	(void)lost;
	while (tel__input_peek(s->in, header, &data, &avail) == TEL_OK &&
	    avail >= header) {
		for (n = 0; n <= avail - header; n++)
			if (s->decoder->is_header(data + n))
				break;
		tel__input_consume(s->in, n);
		if (n <= avail - header) {
			s->end = streams_start(s);
			return s->end;
		}
	}
	return TEL_END;
}

static uint64_t
streams_taken(const void *self)
{
	const struct streams *s = self;

	return tel__input_raw_bytes(s->in);
}

static void
streams_set_wake(void *self, int fd)
{
	struct streams *s = self;

	tel__input_set_wake(s->in, fd);
}

static void
streams_free(void *self)
{
	struct streams *s = self;

	if (s->started)
		s->decoder->stop(s->state);
	tel__input_free(s->in);
	free(s->state);
	free(s);
}

static const struct tel_source_ops streams_ops = {
	.read = streams_read,
	.taken = streams_taken,
	.set_wake = streams_set_wake,
	.resume = streams_resume,
	.free = streams_free,
};

static const struct tel_decoder *const decoders[] = {
	[TEL_GZIP] = &tel__gzip_decoder,
	[TEL_BZIP2] = &tel__bzip2_decoder,
	[TEL_XZ] = &tel__xz_decoder,
	[TEL_LZ4] = &tel__lz4_decoder,
};

tel_status
tel__source_codec(struct tel_input *in, enum tel_packing packing,
    struct tel_source *out)
{
	if (packing == TEL_ZSTD)
		return tel__source_zstd(in, out);
	struct streams *s = calloc(1, sizeof(*s));
	if (s != NULL)
		s->state = calloc(1, decoders[packing]->size);
	if (s == NULL || s->state == NULL) {
		free(s);
		tel__input_free(in);
		return TEL_ENOMEM;
	}
	s->decoder = decoders[packing];
	s->in = in;
	out->ops = &streams_ops;
	out->self = s;
	return TEL_OK;
}
