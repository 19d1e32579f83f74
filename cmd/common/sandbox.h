/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sandbox: what a tool can reach while it decodes logs, which are hostile.
 * Landlock limits the file system to what the command line names, and a filter
 * of system calls (seccomp) excludes programs, sockets and administration.
 */
#ifndef COMMON_SANDBOX_H
#define COMMON_SANDBOX_H

#include "streams.h"

/*
 * Confines the process and the threads that it starts from now on, unless
 * --no-sandbox is given.  To be called when the output is open and nothing has
 * been read.  Without support of the kernel the tool continues as it is, which
 * --verbose reports.
 * sink: the output, or NULL; made: a name beside which files are made later, of
 * a database or of the pieces of --split, or NULL.
 */
void sandbox_enter(const struct settings *s, const struct sink *sink,
    const char *made);

#endif
