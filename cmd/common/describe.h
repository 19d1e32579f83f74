/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that describe events, as the options name them. */
#ifndef COMMON_DESCRIBE_H
#define COMMON_DESCRIBE_H

#include <stddef.h>

/*
 * Adds the path of a file to a list.  A relative one that is not there is
 * looked for in the folders of TEL_SCHEMA_PATH, which are separated by colons.
 * Returns 1, or 0 after a message.
 */
int describe_add(char ***list, size_t *count, const char *path);

void describe_free(char **list, size_t count);

#endif
