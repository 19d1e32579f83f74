/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pager: the command in the environment variable TELTOOLS_PAGER, through
 * which a tool shows on a terminal what it prints.
 */
#ifndef COMMON_PAGER_H
#define COMMON_PAGER_H

#include <sys/types.h>

/*
 * Starts the pager, and makes standard output its input, if the variable is
 * set and standard output is a terminal; after a message if that fails.
 * Returns the process, for pager_end(), or 0 when there is none.
 */
pid_t pager_begin(void);

/* Waits until the user has left the pager; standard output is closed. */
void pager_end(pid_t pager);

#endif
