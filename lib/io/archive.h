/* SPDX-License-Identifier: BSD-2-Clause */
/* What the codecs and the archives that libarchive reads have in common. */
#ifndef TEL_ARCHIVE_H
#define TEL_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "io/gzip.h"

/* The functions that are loaded where libarchive is not linked. */
#ifndef TEL_ARCHIVE_LIBRARY
#define TEL_ARCHIVE_LIBRARY "libarchive.so.13"
#endif

/* Each function of libarchive that is used: result, name, parameters. */
#define TEL_ARCHIVE_FUNCTIONS(X) \
	X(struct archive *, archive_read_new, (void)) \
	X(int, archive_read_free, (struct archive *)) \
	X(int, archive_read_support_filter_gzip, (struct archive *)) \
	X(int, archive_read_support_filter_bzip2, (struct archive *)) \
	X(int, archive_read_support_filter_xz, (struct archive *)) \
	X(int, archive_read_support_filter_lz4, (struct archive *)) \
	X(int, archive_read_support_format_tar, (struct archive *)) \
	X(int, archive_read_support_format_zip, (struct archive *)) \
	X(int, archive_read_support_format_7zip, (struct archive *)) \
	X(int, archive_read_support_format_cpio, (struct archive *)) \
	X(int, archive_read_support_format_raw, (struct archive *)) \
	X(int, archive_read_support_format_empty, (struct archive *)) \
	X(int, archive_read_set_read_callback, \
	    (struct archive *, archive_read_callback *)) \
	X(int, archive_read_set_seek_callback, \
	    (struct archive *, archive_seek_callback *)) \
	X(int, archive_read_set_callback_data, (struct archive *, void *)) \
	X(int, archive_read_open1, (struct archive *)) \
	X(int, archive_read_next_header, \
	    (struct archive *, struct archive_entry **)) \
	X(int, archive_read_data_block, \
	    (struct archive *, const void **, size_t *, la_int64_t *)) \
	X(int, archive_read_data_skip, (struct archive *)) \
	X(int, archive_errno, (struct archive *)) \
	X(void, archive_set_error, (struct archive *, int, const char *, ...)) \
	X(const char *, archive_error_string, (struct archive *)) \
	X(int, archive_filter_count, (struct archive *)) \
	X(int, archive_filter_code, (struct archive *, int)) \
	X(la_int64_t, archive_filter_bytes, (struct archive *, int)) \
	X(mode_t, archive_entry_filetype, (struct archive_entry *)) \
	X(const char *, archive_entry_pathname, (struct archive_entry *)) \
	X(const char *, archive_entry_pathname_utf8, (struct archive_entry *)) \
	X(la_int64_t, archive_entry_size, (struct archive_entry *)) \
	X(int, archive_entry_size_is_set, (struct archive_entry *))

/* libarchive, as it was loaded. */
struct tel_archive_functions {
#define TEL_ARCHIVE_MEMBER(result, name, parameters) result(*name) parameters;
	TEL_ARCHIVE_FUNCTIONS(TEL_ARCHIVE_MEMBER)
#undef TEL_ARCHIVE_MEMBER
};

struct tel_archive {
	void *library; /* NULL until it is loaded, or when it is linked */
	struct tel_archive_functions f;
	struct archive *a;    /* NULL until tel__archive_open() */
	struct tel_input *in; /* where its bytes come from; not owned */
	enum tel_packing packing;
	size_t given;              /* bytes of in that libarchive looks at */
	struct tel_fault in_fault; /* number is 0 while in has not failed */
	uint64_t taken;            /* bytes that libarchive was given */
	uint64_t content;          /* of them, up to the last that is not 0 */
	uint64_t header_left;      /* bytes that a header may still take */
	struct tel_gzip *gzip;     /* receives the same bytes; or NULL */
	int dead;                  /* libarchive cannot go on */
	/* the entry that is being read */
	int entered; /* its header was read, and it not yet stepped over */
	const unsigned char *data; /* bytes of it, after a hole of zeros */
	size_t length;
	uint64_t hole;
	uint64_t position; /* bytes of it handed out, data and hole included */
	uint64_t holes;    /* all zeros made so far */
	tel_status end;    /* TEL_OK, or how it ended */
	struct tel_fault fault;
};

/* "gzip", for messages. */
const char *tel__packing_name(enum tel_packing packing);

/*
 * Starts libarchive on in, for one packing only.  TEL_OK, or a failure with
 * *fault set.
 */
tel_status tel__archive_open(struct tel_archive *ar, struct tel_fault *fault);
void tel__archive_close(struct tel_archive *ar);

/* Forgets the entry that was read and goes on to the next. */
int tel__archive_next(struct tel_archive *ar, struct archive_entry **entry);

/* Why libarchive failed: in's own fault where that was the reason. */
tel_status tel__archive_fault(const struct tel_archive *ar,
    struct tel_fault *fault);

/* Bytes of the entry, as a source's read. */
tel_status tel__archive_read(struct tel_archive *ar, unsigned char *to,
    size_t size, size_t *got, struct tel_fault *fault);

#endif
