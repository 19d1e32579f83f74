/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fileset: files that are one log together, of a folder and the folders in it, or
 * of an archive, whose members are kept in a temporary file.
 */
#ifndef TEL_FILESET_H
#define TEL_FILESET_H

#include "io/source.h"

/* Documented limits: files, and folders in folders. */
#define TEL_FILESET_FILES_MAX ((size_t)1 << 17)
#define TEL_FILESET_DEPTH_MAX 16u
/* Files that are open at a time. */
#define TEL_FILESET_OPEN_MAX 128u

struct tel_fileset_file {
	char *name;    /* "folder/file", below the folder of the set */
	uint64_t base; /* in the temporary file */
	uint64_t size;
	int fd; /* -1: it is not open, or in the temporary file */
};

struct tel_fileset {
	struct tel_fileset_file *files; /* in the order of their names */
	size_t count, room;
	int folder; /* or -1: an archive */
	int spool;  /* or -1: a folder */
	uint64_t spooled;
	size_t opened; /* files that are open */
	size_t oldest; /* the next one to close */
};

/* An empty set of an archive.  NULL when out of memory. */
struct tel_fileset *tel__fileset_new(void);

/*
 * Makes a set of the regular files of a folder, which stays open until the set
 * is freed; deep: of the folders in it, too, except for those that are links.
 * Names that begin with a dot are left out.  fd is closed on failure, too.
 * TEL_OK, TEL_EIO (with errno in *fault), TEL_ELIMIT, TEL_ENOMEM.
 */
tel_status tel__fileset_open_folder(int fd, int deep, struct tel_fileset **out,
    struct tel_fault *fault);

/*
 * Adds what in has left to give as a file of that name.
 * TEL_OK, TEL_EDAMAGED (what there is is added), TEL_EIO, TEL_ELIMIT,
 * TEL_ENOMEM, with *fault set.
 */
tel_status tel__fileset_add(struct tel_fileset *set, struct tel_input *in,
    const char *name, struct tel_fault *fault);

/* Puts the files into the order of their names, after the last was added. */
void tel__fileset_sort(struct tel_fileset *set);

/*
 * Reads up to n bytes of file i from a place on: fewer at its end only.
 * Returns how many; -1 with errno set.
 */
ptrdiff_t tel__fileset_read(struct tel_fileset *set, size_t i, void *to,
    size_t n, uint64_t from);

void tel__fileset_free(struct tel_fileset *set);

#endif
