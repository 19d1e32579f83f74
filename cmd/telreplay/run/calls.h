/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls: the system calls by which an allocator gets and gives back memory,
 * counted by a parent that traces the process.
 */
#ifndef TELREPLAY_CALLS_H
#define TELREPLAY_CALLS_H

#include <sys/types.h>
#include "telreplay/run/shared.h"

/*
 * In the process: lets the kernel stop it at those calls.  To be called when
 * it is traced, before there is a second thread.  Returns 1, or 0.
 */
int calls_stop(void);

/* In the parent: traces a process.  Returns 1, or 0 when it may not. */
int calls_trace(pid_t pid);

/*
 * In the parent, for a status of waitpid() that means "stopped": counts the
 * call, if the clock runs, and lets the thread go on.
 */
void calls_count(pid_t pid, int status, int running, uint64_t *counts);

/* A call's name. */
const char *calls_name(enum system_call call);

#endif
