/* SPDX-License-Identifier: BSD-2-Clause */
/* What splitting an archive and merging need of the public reader. */
#ifndef TEL_FORMAT_READER_H
#define TEL_FORMAT_READER_H

#include "reader/reader.h"

/*
 * Takes the member of an archive at whose start the reader is out
 * into a reader of its own, which reads a copy in a temporary file, and goes
 * on to the next one.  *out belongs to r, whose counts have its counts in
 * them, and is freed with it.
 * Returns TEL_OK; TEL_END: the member was the last one; a failure.
 */
tel_status tel__reader_split(struct tel_reader *r, struct tel_reader **out);

/*
 * Opens fd, which then is the reader's own, and goes on to the next member
 * that is a log (TEL_OK, TEL_END, or a failure).
 */
tel_status tel__reader_open_kept(struct tel_reader *r, int fd,
    const char *name);
tel_status tel__reader_next_member(struct tel_reader *r);

/*
 * Finds the next event, and what comes with it, once r->found has none that was
 * not returned.  Returns as tel_reader_next().
 */
tel_status tel__reader_find(struct tel_reader *r);

/* Adds a file that the user names; its path is copied. */
tel_status tel__reader_add_sidecar(struct tel_reader *r,
    enum tel_sidecar_kind kind, const char *path);

/* Opens what is in raw, which is taken over. */
tel_status tel__reader_open_input(struct tel_reader *r, struct tel_input *raw,
    const char *name);

#endif
