/* SPDX-License-Identifier: BSD-2-Clause */
/* An archive, as libarchive reads it. */
#ifndef TEL_ARCHIVE_H
#define TEL_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "io/source.h"

/* The functions that are loaded where libarchive is not linked. */
#ifndef TEL_ARCHIVE_LIBRARY
#define TEL_ARCHIVE_LIBRARY "libarchive.so.13"
#endif

/* Each function of libarchive that is used. */
#define TEL_ARCHIVE_FUNCTIONS(X) \
	X(archive_read_new) \
	X(archive_read_free) \
	X(archive_read_support_format_tar) \
	X(archive_read_support_format_zip) \
	X(archive_read_support_format_7zip) \
	X(archive_read_support_format_cpio) \
	X(archive_read_set_read_callback) \
	X(archive_read_set_seek_callback) \
	X(archive_read_set_callback_data) \
	X(archive_read_open1) \
	X(archive_read_next_header) \
	X(archive_read_data_block) \
	X(archive_read_data_skip) \
	X(archive_errno) \
	X(archive_set_error) \
	X(archive_error_string) \
	X(archive_entry_filetype) \
	X(archive_entry_pathname) \
	X(archive_entry_pathname_utf8) \
	X(archive_entry_size) \
	X(archive_entry_size_is_set)

/* libarchive, as it was loaded. */
struct tel_archive_functions {
#define TEL_ARCHIVE_MEMBER(name) __typeof__(name) *name;
	TEL_ARCHIVE_FUNCTIONS(TEL_ARCHIVE_MEMBER)
#undef TEL_ARCHIVE_MEMBER
};

struct tel_archive {
	void *library; /* NULL until it is loaded, or when it is linked */
	struct tel_archive_functions f;
	struct archive *a;    /* NULL until tel__archive_open() */
	struct tel_input *in; /* where its bytes come from; not owned */
	enum tel_packing packing;
	locale_t names;            /* of headers; 0: that of the program */
	size_t given;              /* bytes of in that libarchive looks at */
	struct tel_fault in_fault; /* number is 0 while in has not failed */
	uint64_t header_left;      /* bytes that a header may still take */
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
