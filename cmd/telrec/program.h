/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a library can be preloaded into a program. */
#ifndef TELREC_PROGRAM_H
#define TELREC_PROGRAM_H

/*
 * Why a program, which is found as by execvp(3), ignores preloaded libraries;
 * NULL: no reason is known.  Static.
 */
const char *program_obstacle(const char *name);

#endif
