/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that others watch. */
#ifndef TEL__BASE_PROCESS_H
#define TEL__BASE_PROCESS_H

#include <stdint.h>

/*
 * Whether a process has ended, also one that its parent did not ask about; one
 * whose main thread has ended goes on while it has others.  -1: it cannot be
 * seen, as it is gone, or for lack of /proc.
 */
int tel__process_ended(uint32_t pid);

#endif
