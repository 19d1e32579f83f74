/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Input: bytes to look at and then step over, whatever they come from.
 *
 * peek(min) gives at least min bytes in one piece, or all that is left when
 * the end is nearer; consume(n) steps over n of what was peeked.  What the
 * layers above see never depends on how the bytes came in.
 */
#ifndef TEL_INPUT_H
#define TEL_INPUT_H

#include "tel/reader.h"

struct tel_input;

/* The most that may be peeked at once. */
#define TEL_PEEK_MAX ((size_t)1 << 18)

/*
 * Raw sources.  read_size: the most bytes asked for at a time.
 * A descriptor may be a pipe, and one that does not block; where it is to be
 * closed, it is closed on failure, too.  Memory is not copied when read_size
 * is at least TEL_PEEK_MAX.  A function that is called back may be called on
 * another thread, though never by two at once, until the input is freed.
 * Return TEL_OK, TEL_ENOMEM: reading begins with the first peek.
 */
tel_status tel__input_fd(int fd, int close_it, size_t read_size,
    struct tel_input **out);
/* size bytes of a regular file from base on, which must stay open. */
tel_status tel__input_part(int fd, int64_t base, int64_t size, size_t read_size,
    struct tel_input **out);
tel_status tel__input_memory(const void *data, size_t size, size_t read_size,
    struct tel_input **out);
tel_status tel__input_callback(tel_read_fn *read, tel_seek_fn *seek, void *arg,
    size_t read_size, struct tel_input **out);

/*
 * Decompresses it on the thread that reads, before tel__input_unpack().
 */
void tel__input_one_thread(struct tel_input *raw);

/*
 * Opens compressed or archived input: takes over raw (it is freed with *out, or
 * on failure) and gives an input of the contents, or raw itself when it is
 * neither.  Archives are entered by tel__input_next_member().  Up to two layers
 * of compression are taken off, then one archive entered, and from each member
 * again up to two.  Decompression runs on threads, one a layer, which take no
 * signals and end with tel__input_free(); they read from raw, up to 4 blocks of
 * 2^18 bytes ahead of what was peeked.
 * Returns TEL_OK, TEL_ENOMEM.  If reading failed, or the data is damaged, the
 * first peek or tel__input_next_member() of *out reports it.
 */
tel_status tel__input_unpack(struct tel_input *raw, struct tel_input **out);

/* Nonzero for an archive, whose bytes come member by member. */
int tel__input_is_archive(const struct tel_input *in);

/*
 * Moves to the next member of an archive that is a regular file and not
 * empty, skipping the rest of this one.  A member that is itself compressed is
 * opened too.
 * name: set to the member's name, any bytes but NUL, valid until the next call;
 *	"" when there is none, or when it could not be read.
 * Returns TEL_OK; TEL_END; TEL_ENOMEM; TEL_EDAMAGED: this member cannot be
 * read (encrypted, damaged, of unknown compression), or the archive cannot from
 * here on; TEL_EIO: reading failed.  After these two the next call continues
 * after it, or returns TEL_END if it cannot.
 */
tel_status tel__input_next_member(struct tel_input *in, const char **name);

/* Nonzero unless the input can be read once more. */
int tel__input_is_pipe(const struct tel_input *in);

/*
 * Waits at most so many milliseconds until more can be read.  0: nothing has come;
 * 1: it has, or the input has ended, or cannot tell.
 */
int tel__input_await(struct tel_input *in, int ms);

/*
 * Makes at least min bytes (up to TEL_PEEK_MAX) available at *data, fewer only
 * at the end of the input or on failure.  It blocks only while there are fewer
 * than min.  avail: how many there are, 0 at the end.
 * Returns TEL_OK; TEL_EDAMAGED (compression or an archive that is damaged) and
 * TEL_EIO (reading failed), with errno set: *avail bytes, fewer than min, are
 * valid, and no more follow; TEL_ENOMEM.  A failure stays, until the next
 * member of an archive.
 * *data is valid until the next peek, consume or free.
 */
tel_status tel__input_peek(struct tel_input *in, size_t min,
    const unsigned char **data, size_t *avail);

/* Steps over n bytes, at most as many as the last peek gave. */
void tel__input_consume(struct tel_input *in, size_t n);

/*
 * Moves to another place: SEEK_SET or SEEK_END, and positions counted from
 * where the input began, uncompressed.  Gives the new one; or -1 when the
 * input cannot, and is where it was: a pipe, a file compressed without a
 * table of its frames, an archive.
 */
int64_t tel__input_seek(struct tel_input *in, int64_t offset, int whence);

/*
 * Copies size bytes from an offset, and leaves the input anywhere.  1; 0: it
 * cannot.
 */
int tel__input_copy(struct tel_input *in, uint64_t offset, void *to,
    size_t size);

/*
 * Goes on behind the damage, after a peek that gave TEL_EDAMAGED and all that
 * it gave has been stepped over.
 * lost: set to how many bytes are left out, 0 when that is not known;
 *	tel__input_offset() has them in it.
 * Returns TEL_OK, or TEL_END when nothing comes that could be read.
 */
tel_status tel__input_resume(struct tel_input *in, uint64_t *lost);

/* How many bytes more than the last peek gave need not be waited for. */
size_t tel__input_ready(struct tel_input *in);

/* Has what can be sought decoded on the thread that reads from here on. */
void tel__input_alone(struct tel_input *in);

/* Bytes stepped over so far (in this member). */
uint64_t tel__input_offset(const struct tel_input *in);

/*
 * Bytes taken so far from the raw source, compressed as they may be, to give
 * what was peeked.
 */
uint64_t tel__input_raw_bytes(const struct tel_input *in);

/*
 * Why the last call failed, one line, no line end, printable ASCII; good
 * until the next call.
 */
const char *tel__input_error(const struct tel_input *in);

void tel__input_free(struct tel_input *in);

#endif
