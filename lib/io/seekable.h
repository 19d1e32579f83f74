/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The zstd seekable format: independent frames, and behind the last of them a
 * table of their sizes, in a frame that a decoder skips.
 */
#ifndef TEL_SEEKABLE_H
#define TEL_SEEKABLE_H

#include <stddef.h>
#include <stdint.h>

#include "tel/base.h"

/* A skippable frame of this magic: head, entries, foot. */
#define SEEK_FRAME_MAGIC 0x184d2a5eu
/* That of a frame that marks what the frames after it are. */
#define SEEK_MARK_MAGIC 0x184d2a50u
#define SEEK_HEAD 8 /* the frame's magic and the size of what follows */
/* The sizes of a frame and its content; a checksum may follow. */
#define SEEK_ENTRY 8
#define SEEK_CHECKSUM 4
#define SEEK_FOOT 9 /* the number of frames, flags, and this magic: */
#define SEEK_MAGIC 0x8f92eab1u
#define SEEK_HAS_CHECKSUMS 0x80u
#define SEEK_RESERVED 0x7cu
/* More frames than this no table may have. */
#define SEEK_FRAMES_MAX 0x8000000u

struct tel_input;

/* Where a frame begins in the file, and where its content does.  Tables
 * between frames count with the frame before them. */
struct tel_frame {
	uint64_t raw;
	uint64_t content;
};

/* All frames of a file. */
struct tel_frames {
	size_t count;
	uint64_t raw_most;        /* the size of the largest frame, */
	uint64_t content_most;    /* and of the largest content */
	struct tel_frame frame[]; /* and one more, where the last one ends */
};

/*
 * Finds the frames of a file that ends with a table of them, or of several such
 * files concatenated.
 * in: a raw input, which stays where it is.
 * out: set to the frames, for free(); NULL when there is no table, or it does
 *	not fit the file.
 * Returns TEL_OK, TEL_ENOMEM.
 */
tel_status tel__frames_find(const struct tel_input *in,
    struct tel_frames **out);

/* The frame that a position of the content is in; count when behind all. */
size_t tel__frames_at(const struct tel_frames *f, uint64_t content);
/* The first frame that begins behind a position of the file; or count. */
size_t tel__frames_behind(const struct tel_frames *f, uint64_t raw);

#endif
