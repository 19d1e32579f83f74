/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/output.h - part of libtel, see tel.h for the general rules.
 *
 * Outputs: checked, buffered writing to a descriptor or a callback.
 */
#ifndef TEL_TEL_OUTPUT_H
#define TEL_TEL_OUTPUT_H

#include "tel/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tel_output tel_output;

/*
 * Writes up to size bytes at data.  Returns their number, at least 1, or -1
 * on failure with errno set.  Short writes are fine.
 */
typedef ptrdiff_t tel_write_fn(void *arg, const void *data, size_t size);

/*
 * Makes an output that writes to fd, which stays the caller's to close.
 * NULL when out of memory.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_output *tel_output_new_fd(int fd);
/* Makes an output that hands its bytes to write(arg, ...). */
TEL_SINCE_0_1 TEL_MUST_USE tel_output *
tel_output_new_callback(tel_write_fn *write, void *arg);
/*
 * Compresses the output with zstd, in frames with a seek table at the end (the
 * zstd seekable format), which zstd(1) and libtel read. To be called before the
 * first write; tel_output_finish() ends it.
 * level: 1 (fast) to 19 (small, about 100 MB of memory); 3 is usual.
 * Returns TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_output_set_zstd(tel_output *out,
    int level);
/*
 * Appends size bytes to the output.
 * Returns TEL_OK, TEL_EIO (now or earlier), TEL_ENOMEM.
 */
TEL_SINCE_0_1 tel_status tel_output_write(tel_output *out, const void *data,
    size_t size);
/*
 * Writes out all that is buffered.  Compressed output can be decompressed up to
 * here; it grows by a few bytes each time.
 * Returns TEL_OK, or TEL_EIO or TEL_ENOMEM when this or an earlier call failed:
 * an output that failed once stays failed.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_output_flush(tel_output *out);
/*
 * Writes out all that is buffered, and ends the compressed stream. Later writes
 * start a new one, as in two concatenated files.
 * Returns as tel_output_flush().
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_output_finish(tel_output *out);
/* The errno of the first failure, 0 when there was none. */
TEL_SINCE_0_1 int tel_output_errno(const tel_output *out);
/* Bytes written to the output so far, before compression. */
TEL_SINCE_0_1 uint64_t tel_output_bytes(const tel_output *out);
/* Frees the output and discards what it has not written: finish first. */
TEL_SINCE_0_1 void tel_output_free(tel_output *out);

#ifdef __cplusplus
}
#endif

#endif
