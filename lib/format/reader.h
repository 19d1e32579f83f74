/* SPDX-License-Identifier: BSD-2-Clause */
/* What splitting an archive and merging need of the public reader. */
#ifndef TEL_FORMAT_READER_H
#define TEL_FORMAT_READER_H

#include "reader/reader.h"

/* A member of an archive, in the temporary file of all that were split off. */
struct tel_member {
	int64_t start, size; /* where the copy is; 0 of several files */
	int files; /* it is a log of several files, those of the reader's set */
	char *name;    /* "archive:member" */
	unsigned told; /* notices when it was opened */
};

/*
 * Copies the member of an archive at whose start the reader is into a temporary
 * file, and goes on to the next one.  part->name is the caller's.
 * Returns TEL_OK; TEL_END: the member was the last one; a failure.
 */
tel_status tel__reader_split(struct tel_reader *r, struct tel_member *part);

/*
 * Opens a copied member.  *member is a reader that has read another to its end;
 * or NULL, and a new one is made.  counted: it belongs to r, whose counts have
 * its counts in them, and is freed with it; else it is the caller's, and reports
 * nothing.  Returns TEL_OK, or a failure, which is that of r as well.
 */
tel_status tel__reader_open_part(struct tel_reader *r,
    const struct tel_member *part, int counted, struct tel_reader **member);

/*
 * Frees what a reader needs to read its log, a regular file.  Its schema and its
 * clock stay.  again: it is read from its start again, when its next event is
 * asked for; else it has ended, and its labels stay, too.  TEL_OK;
 * TEL_ESTATE: the log has to stay open.
 */
tel_status tel__reader_suspend(struct tel_reader *r, int again);

/*
 * Finds the next event, and what comes with it, once r->batch has none that was
 * not returned.  Returns as tel_reader_next().
 */
tel_status tel__reader_find(struct tel_reader *r);

/* Adds a file that the user names; its path is copied. */
tel_status tel__reader_add_sidecar(struct tel_reader *r, tel_file_kind kind,
    const char *path);

/* Opens the content of raw, which is taken over. */
tel_status tel__reader_open_input(struct tel_reader *r, struct tel_input *raw,
    const char *name);
/* Opens the content of raw after the log that was read before, if any. */
tel_status tel__reader_open_again(struct tel_reader *r, struct tel_input *raw,
    const char *name);

#endif
