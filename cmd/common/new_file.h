/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new file: written beside the one of the name that it is to have, so that a
 * run that fails leaves that one as it was.
 */
#ifndef COMMON_NEW_FILE_H
#define COMMON_NEW_FILE_H

#include <sys/types.h>

struct new_file {
	char *path;   /* its name for now; NULL: it has its name */
	char *target; /* the name that it is to have */
	struct new_file *next;
};

/*
 * Creates NAME.new-PID in the folder of a name, or of the file that a symbolic
 * link of that name leads to, with the mode of that file if it exists, and its
 * owner and group as far as the user may.  A file that is not a regular one, or
 * in /dev or /proc, or whose name cannot be given to another, as in a folder
 * that cannot be written, is opened itself, and emptied.
 * mode: of a file that does not exist, less the umask.
 * Returns a descriptor; or -1, and errno is set.
 */
int new_file_open(struct new_file *f, const char *name, mode_t mode);

/* Gives it its name.  0; or -1, and errno is set. */
int new_file_publish(struct new_file *f);

/*
 * Removes it, unless it has its name; frees .path and .target.  A signal that
 * ends the program removes it, too, except SIGKILL.
 */
void new_file_close(struct new_file *f);

#endif
