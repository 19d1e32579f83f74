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

/* Each function of libarchive that is used: result, name, parameters. */
#define FUNCTIONS(X) \
	X(struct archive *, archive_write_new, (void)) \
	X(int, archive_write_free, (struct archive *)) \
	X(struct archive_entry *, archive_entry_new, (void)) \
	X(void, archive_entry_free, (struct archive_entry *)) \
	X(void, archive_entry_set_pathname, \
	    (struct archive_entry *, const char *)) \
	X(void, archive_entry_set_filetype, \
	    (struct archive_entry *, unsigned int)) \
	X(int, archive_write_add_filter_gzip, (struct archive *)) \
	X(int, archive_write_set_filter_option, \
	    (struct archive *, const char *, const char *, const char *)) \
	X(int, archive_write_set_format_raw, (struct archive *)) \
	X(int, archive_write_set_bytes_per_block, (struct archive *, int)) \
	X(int, archive_write_open, \
	    (struct archive *, void *, archive_open_callback *, \
	        archive_write_callback *, archive_close_callback *)) \
	X(int, archive_write_header, \
	    (struct archive *, struct archive_entry *)) \
	X(la_ssize_t, archive_write_data, \
	    (struct archive *, const void *, size_t)) \
	X(int, archive_write_close, (struct archive *))

struct functions {
#define MEMBER(result, name, parameters) result(*name) parameters;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Finds the functions; the library stays in memory from the first time on. */
static int
deflate_load(struct functions *f, const char **why)
{
#ifdef TEL_ARCHIVE_LINKED
#define LINKED(result, name, parameters) .name = name,
	static const struct functions linked = { FUNCTIONS(LINKED) };
#undef LINKED
	(void)why;
	*f = linked;
	return 1;
#else
#define LOADED(result, name, parameters) \
	{ #name, offsetof(struct functions, name) },
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
	struct archive_entry *entry;
	struct functions f;
	struct archive *a;
	const char *why;
	int good;

	if (!deflate_load(&f, &why))
		return 0;
	a = f.archive_write_new();
	entry = f.archive_entry_new();
	good = a != NULL && entry != NULL && !out->failed &&
	    deflate_pack(&f, a, entry, out, data, n, level);
	f.archive_entry_free(entry);
	if (a != NULL)
		(void)f.archive_write_free(a);
	/* closing an archive that failed still writes */
	if (!good)
		out->used = used;
	return good;
}
