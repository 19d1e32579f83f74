/* SPDX-License-Identifier: BSD-2-Clause */
/* The zstd seekable format: the table of frames behind the last of them. */
#ifndef TEL_SEEKABLE_H
#define TEL_SEEKABLE_H

/* A skippable frame of this magic: head, entries, foot. */
#define SEEK_FRAME_MAGIC 0x184d2a5eu
#define SEEK_HEAD 8 /* the frame's magic and the size of what follows */
/* The sizes of a frame and its content; a checksum may follow. */
#define SEEK_ENTRY 8
#define SEEK_CHECKSUM 4
#define SEEK_FOOT 9 /* the number of frames, flags, and this magic: */
#define SEEK_MAGIC 0x8f92eab1u
#define SEEK_HAS_CHECKSUMS 0x80u
#define SEEK_RESERVED 0x7cu
/* More frames than this no table may have. */
#define SEEK_FRAMES_MOST 0x8000000u

#endif
