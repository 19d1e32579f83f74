/* SPDX-License-Identifier: BSD-2-Clause */
/* Child: telreplay as a process that runs one allocator once. */
#ifndef TELREPLAY_CHILD_H
#define TELREPLAY_CHILD_H

/*
 * Does what the shared memory says, and ends the process; returns when this
 * is no such process.
 */
void child_main(void);

#endif
