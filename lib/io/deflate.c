/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deflate: the filter of libarchive, over an archive that is one file.  The
 * library is loaded as it is to read archives, see archive.c.
 */
#include "io/deflate.h"

#include <stdio.h>

#include "io/archive.h"

#ifndef TEL_ARCHIVE_LINKED
#include "base/library.h"
#endif

/* Each function of libarchive that is used. */
#define FUNCTIONS(X) \
	X(archive_write_new) \
	X(archive_write_free) \
	X(archive_entry_new) \
	X(archive_entry_free) \
	X(archive_entry_set_pathname) \
	X(archive_entry_set_filetype) \
	X(archive_write_add_filter_gzip) \
	X(archive_write_set_filter_option) \
	X(archive_write_set_format_raw) \
	X(archive_write_set_bytes_per_block) \
	X(archive_write_open) \
	X(archive_write_header) \
	X(archive_write_data) \
	X(archive_write_close)

struct functions {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Finds the functions; the library stays in memory from the first time on. */
static int
deflate_load(struct functions *f, const char **why)
{
#ifdef TEL_ARCHIVE_LINKED
#define LINKED(name) .name = name,
	static const struct functions linked = { FUNCTIONS(LINKED) };
#undef LINKED
	(void)why;
	*f = linked;
	return 1;
#else
#define LOADED(name) { #name, offsetof(struct functions, name) },
	static const struct tel__library_function functions[] = { FUNCTIONS(
	    LOADED) };
#undef LOADED

	return tel__library_load(TEL_ARCHIVE_LIBRARY, functions,
	           sizeof(functions) / sizeof(functions[0]), f, why) != NULL;
#endif
}

int
tel__gzip_load(const char **why)
{
	struct functions f;

	return deflate_load(&f, why);
}

/* An archive_write_callback. */
static la_ssize_t
deflate_take(struct archive *a, void *arg, const void *data, size_t n)
{
	struct tel__buffer *out = arg;

	(void)a;
	tel__buffer_put(out, data, n);
	return out->failed ? -1 : (la_ssize_t)n;
}

/* The archive of one unnamed file.  1, or 0. */
static int
deflate_pack(const struct functions *f, struct archive *a,
    struct archive_entry *entry, struct tel__buffer *out, const void *data,
    size_t n, int level)
{
	char text[12];

	(void)snprintf(text, sizeof(text), "%d", level);
	f->archive_entry_set_pathname(entry, "data");
	f->archive_entry_set_filetype(entry, AE_IFREG);
	/* without the time, or each page would be another one */
	return f->archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
	    f->archive_write_set_filter_option(a, "gzip", "timestamp", NULL) ==
	    ARCHIVE_OK &&
	    f->archive_write_set_filter_option(a, "gzip", "compression-level",
	        text) == ARCHIVE_OK &&
	    f->archive_write_set_format_raw(a) == ARCHIVE_OK &&
	    f->archive_write_set_bytes_per_block(a, 0) == ARCHIVE_OK &&
	    f->archive_write_open(a, out, NULL, deflate_take, NULL) ==
	    ARCHIVE_OK &&
	    f->archive_write_header(a, entry) == ARCHIVE_OK &&
	    f->archive_write_data(a, data, n) == (la_ssize_t)n &&
	    f->archive_write_close(a) == ARCHIVE_OK;
}

int
tel__gzip_put(struct tel__buffer *out, const void *data, size_t n, int level)
{
	const size_t used = out->used;
	struct functions f;
	const char *why;

	if (!deflate_load(&f, &why))
		return 0;
	struct archive *a = f.archive_write_new();
	struct archive_entry *entry = f.archive_entry_new();
	int good = a != NULL && entry != NULL && !out->failed &&
	    deflate_pack(&f, a, entry, out, data, n, level);
	f.archive_entry_free(entry);
	if (a != NULL)
		(void)f.archive_write_free(a);
	/* closing an archive that failed still writes */
	if (!good)
		out->used = used;
	return good;
}
