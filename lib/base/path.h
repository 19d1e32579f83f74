/* SPDX-License-Identifier: BSD-2-Clause */
/* Path: the name of a file, in a message of limited length. */
#ifndef TEL_BASE_PATH_H
#define TEL_BASE_PATH_H

#include <string.h>

#include "base/digit.h"

/*
 * The end of a path, which identifies the file: whole characters that take at
 * most so many in a message.
 */
static inline const char *
tel__path_end(const char *path, size_t most)
{
	const char *p = path + strlen(path);

	while (p > path && tel_digit_width(p[-1]) <= most)
		most -= tel_digit_width(*--p);
	while (p > path && ((unsigned char)*p & 0xc0) == 0x80)
		p++;
	return p;
}

#endif
