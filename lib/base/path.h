/* SPDX-License-Identifier: BSD-2-Clause */
/* Path: the name of a file, in a message of limited length. */
#ifndef TEL_BASE_PATH_H
#define TEL_BASE_PATH_H

#include <string.h>

/* At most so many bytes of the end of a path, which identify the file. */
static inline const char *
tel__path_end(const char *path, size_t most)
{
	size_t n = strlen(path);

	return n > most ? path + (n - most) : path;
}

#endif
