/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading the library into a running process. */
#ifndef TELREC_ATTACH_H
#define TELREC_ATTACH_H

#include <sys/types.h>

/*
 * Has process pid load the library at that path, and record to an arena.  1, or
 * 0 after a message.
 */
int attach_process(pid_t pid, const char *library, const char *arena);

#endif
