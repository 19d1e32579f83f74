/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder that is written as one: it is made beside the one that is asked for,
 * and gets its name when it is complete.  An incomplete one is removed.
 */
#ifndef TEL_CTF_FOLDER_H
#define TEL_CTF_FOLDER_H

#include <stddef.h>

struct ctf_folder {
	char *path;   /* that is asked for */
	char *made;   /* that is written to; NULL: none, or it is complete */
	char **names; /* of the files and folders in it, in the order made */
	size_t count, room;
};

/*
 * Makes the folder for path, which must not exist.  tag: makes its own name
 * another than that of others.  1, or 0 with errno set.
 */
int tel__ctf_folder_open(struct ctf_folder *f, const char *path, unsigned tag);
/*
 * Makes a file in it, and the folders of its name, of which none is "..".
 * Returns the descriptor, or -1 with errno set.
 */
int tel__ctf_folder_file(struct ctf_folder *f, const char *name);
/* Gives it its name.  1, or 0 with errno set. */
int tel__ctf_folder_finish(struct ctf_folder *f);
/* Removes it unless it is complete. */
void tel__ctf_folder_close(struct ctf_folder *f);

#endif
