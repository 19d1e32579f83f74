/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Archives by libarchive.  A format is enabled alone, by what was detected:
 * what a log is not need not be parsed.
 *
 * The library is loaded for the first input that needs it.  With libarchive
 * come eleven others, up to one for XML and two for C++ and Unicode, and to
 * link with them would take every start of every tool 1.2 ms, half of what it
 * takes in all.  A program that cannot load libraries, a static one, is linked
 * with it: "make DEPS='libarchive libzstd'" defines TEL_ARCHIVE_LINKED.
 */
#include "io/archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef TEL_ARCHIVE_LINKED
#include <dlfcn.h>

#include "base/library.h"
#endif

/*
 * The most zeros that stand for the holes of one sparse member: a header of
 * 512 bytes may claim one of 2^63.
 */
#define HOLES_MAX ((uint64_t)1 << 30)

/*
 * The most bytes that are read for the header of one member, which for zip
 * and 7z is that of all members: libarchive keeps what it reads of it, and
 * accepts a header with a name of 2^32 bytes.
 */
#define HEADER_MAX ((uint64_t)1 << 26)

struct packing {
	const char *name;
	size_t enable; /* where struct tel_archive_functions has it; archives */
	int seeks;
};

#define FUNCTION(name) offsetof(struct tel_archive_functions, name)

static const struct packing packings[] = {
	[TEL_PLAIN] = { "plain", 0, 0 },
	[TEL_GZIP] = { "gzip", 0, 0 },
	[TEL_BZIP2] = { "bzip2", 0, 0 },
	[TEL_XZ] = { "xz", 0, 0 },
	[TEL_LZ4] = { "lz4", 0, 0 },
	[TEL_ZSTD] = { "zstd", 0, 0 },
	[TEL_TAR] = { "tar", FUNCTION(archive_read_support_format_tar), 0 },
	[TEL_ZIP] = { "zip", FUNCTION(archive_read_support_format_zip), 1 },
	[TEL_7ZIP] = { "7z", FUNCTION(archive_read_support_format_7zip), 1 },
	[TEL_CPIO] = { "cpio", FUNCTION(archive_read_support_format_cpio), 0 },
};

const char *
tel__packing_name(enum tel_packing packing)
{
	return packings[packing].name;
}

/* Sets ar->f.  TEL_OK, or a failure with *fault set. */
static tel_status
archive_load(struct tel_archive *ar, struct tel_fault *fault)
{
#ifdef TEL_ARCHIVE_LINKED
#define LINKED(name) .name = name,
	static const struct tel_archive_functions linked = {
		TEL_ARCHIVE_FUNCTIONS(LINKED)
	};
#undef LINKED
	(void)fault;
	ar->f = linked;
#else
#define LOADED(name) { #name, FUNCTION(name) },
	static const struct tel__library_function functions[] = {
		TEL_ARCHIVE_FUNCTIONS(LOADED)
	};
#undef LOADED
	const char *why;

	ar->library = tel__library_load(TEL_ARCHIVE_LIBRARY, functions,
	    sizeof(functions) / sizeof(functions[0]), &ar->f, &why);
	if (ar->library == NULL)
		return tel__fault_set(fault, TEL_EIO, ENOSYS,
		    "%s: libarchive is needed to read it: %s",
		    packings[ar->packing].name, why);
#endif
	return TEL_OK;
}

/* Enables a format.  As the function of libarchive. */
static int
enable(const struct tel_archive *ar)
{
	int (*function)(struct archive *);

	memcpy(&function, (const char *)&ar->f + packings[ar->packing].enable,
	    sizeof(function));
	return function(ar->a);
}

static la_ssize_t
on_read(struct archive *a, void *arg, const void **buffer)
{
	struct tel_archive *ar = arg;
	const unsigned char *data;
	size_t avail;

	tel__input_consume(ar->in, ar->given);
	ar->given = 0;
	tel_status st = tel__input_peek(ar->in, 1, &data, &avail);
	if (avail > ar->header_left) {
		st = tel__fault_set(&ar->in_fault, TEL_EDAMAGED, EIO,
		    "%s: a header of more than 2^26 bytes",
		    packings[ar->packing].name);
		avail = 0;
	} else if (avail == 0 && st != TEL_OK) {
		ar->in_fault = ar->in->fault;
	}
	if (avail == 0 && st != TEL_OK) {
		ar->f.archive_set_error(a, ar->in_fault.number, "%s",
		    ar->in_fault.text);
		return -1;
	}
	if (ar->header_left != UINT64_MAX)
		ar->header_left -= avail;
	ar->given = avail;
	*buffer = data;
	return (la_ssize_t)avail;
}

static la_int64_t
on_seek(struct archive *a, void *arg, la_int64_t offset, int whence)
{
	struct tel_archive *ar = arg;
	int64_t at = -1;

	/* some releases of libarchive skip so, behind what they were given */
	if (whence != SEEK_CUR ||
	    !__builtin_add_overflow(offset,
	        (int64_t)(ar->in->offset + ar->given), &offset))
		at = tel__input_seek(ar->in, offset,
		    whence == SEEK_CUR ? SEEK_SET : whence);
	if (at < 0) {
		ar->f.archive_set_error(a, EIO, "cannot seek");
		return ARCHIVE_FATAL;
	}
	ar->given = 0;
	return at;
}

tel_status
tel__archive_fault(const struct tel_archive *ar, struct tel_fault *fault)
{
	const char *text = ar->f.archive_error_string(ar->a);

	if (ar->in_fault.number != 0) {
		*fault = ar->in_fault;
		return fault->status;
	}
	if (ar->f.archive_errno(ar->a) == ENOMEM)
		return tel__fault_errno(fault, ENOMEM);
	return tel__fault_set(fault, TEL_EDAMAGED, EIO, "%s: %s",
	    packings[ar->packing].name,
	    text != NULL ? text : "damaged or unsupported");
}

tel_status
tel__archive_open(struct tel_archive *ar, struct tel_fault *fault)
{
	const struct packing *packing = &packings[ar->packing];

	if (archive_load(ar, fault) != TEL_OK)
		return fault->status;
	ar->a = ar->f.archive_read_new();
	if (ar->a == NULL)
		return tel__fault_errno(fault, ENOMEM);
	/* libarchive warns if a program would have to do it */
	int failed = enable(ar) != ARCHIVE_OK;
	failed |= ar->f.archive_read_set_read_callback(ar->a, on_read) |
	    ar->f.archive_read_set_callback_data(ar->a, ar);
	if (packing->seeks && tel__input_seek(ar->in, 0, SEEK_SET) == 0)
		failed |= ar->f.archive_read_set_seek_callback(ar->a, on_seek);
	if (failed)
		return tel__fault_set(fault, TEL_EIO, ENOSYS,
		    "%s: this libarchive was built without it", packing->name);
	/* in a locale without UTF-8, names of zip and 7z would be lost */
	ar->names = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	ar->header_left = HEADER_MAX;
	if (ar->f.archive_read_open1(ar->a) != ARCHIVE_OK) {
		ar->dead = 1;
		return tel__archive_fault(ar, fault);
	}
	return TEL_OK;
}

void
tel__archive_close(struct tel_archive *ar)
{
	if (ar->a != NULL)
		ar->f.archive_read_free(ar->a);
	ar->a = NULL;
	if (ar->names != (locale_t)0)
		freelocale(ar->names);
	ar->names = (locale_t)0;
#ifndef TEL_ARCHIVE_LINKED
	if (ar->library != NULL)
		(void)dlclose(ar->library);
	ar->library = NULL;
#endif
}

int
tel__archive_next(struct tel_archive *ar, struct archive_entry **entry)
{
	ar->data = NULL;
	ar->length = 0;
	ar->hole = ar->position = ar->holes = 0;
	ar->end = TEL_OK;
	/* skipped data may be of any length */
	ar->header_left = UINT64_MAX;
	int r = ar->entered ? ar->f.archive_read_data_skip(ar->a) : ARCHIVE_OK;
	ar->entered = 0;
	if (r > ARCHIVE_FATAL) {
		/* 0 changes nothing */
		const locale_t before = uselocale(ar->names);

		ar->header_left = HEADER_MAX;
		r = ar->f.archive_read_next_header(ar->a, entry);
		(void)uselocale(before);
		ar->header_left = UINT64_MAX;
		ar->entered = r == ARCHIVE_OK || r == ARCHIVE_WARN;
	}
	if (r <= ARCHIVE_FATAL)
		ar->dead = 1;
	return r;
}

/* The next bytes of the entry into ar->data, or its end into ar->end. */
static void
archive_next_block(struct tel_archive *ar)
{
	const void *data = NULL;
	la_int64_t offset = (la_int64_t)ar->position;
	size_t length = 0;
	int r = ar->f.archive_read_data_block(ar->a, &data, &length, &offset);

	if (r == ARCHIVE_EOF) {
		ar->end = TEL_END;
		return;
	}
	if (r <= ARCHIVE_FATAL)
		ar->dead = 1;
	if (r != ARCHIVE_OK) {
		ar->end = tel__archive_fault(ar, &ar->fault);
		/* a warning (a wrong checksum) comes with the bytes */
		if (r != ARCHIVE_WARN)
			return;
	}
	if (length == 0)
		return;
	if (offset < 0 || (uint64_t)offset < ar->position) {
		ar->end = tel__fault_set(&ar->fault, TEL_EDAMAGED, EIO,
		    "%s: bytes out of order", packings[ar->packing].name);
		return;
	}
	ar->hole = (uint64_t)offset - ar->position;
	if (ar->hole > HOLES_MAX - ar->holes) {
		ar->hole = 0;
		ar->end = tel__fault_set(&ar->fault, TEL_EDAMAGED, EIO,
		    "%s: holes of more than 2^30 bytes",
		    packings[ar->packing].name);
		return;
	}
	ar->holes += ar->hole;
	ar->data = data;
	ar->length = length;
}

tel_status
tel__archive_read(struct tel_archive *ar, unsigned char *to, size_t size,
    size_t *got, struct tel_fault *fault)
{
	size_t n;

	while (ar->length == 0) {
		if (ar->end != TEL_OK) {
			*fault = ar->fault;
			return ar->end;
		}
		archive_next_block(ar);
	}
	if (ar->hole > 0) {
		n = ar->hole < size ? (size_t)ar->hole : size;
		memset(to, 0, n);
		ar->hole -= n;
	} else {
		n = ar->length < size ? ar->length : size;
		memcpy(to, ar->data, n);
		ar->data += n;
		ar->length -= n;
	}
	ar->position += n;
	*got = n;
	return TEL_OK;
}
