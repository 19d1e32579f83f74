/* SPDX-License-Identifier: BSD-2-Clause */
/* Child: telreplay as a process that runs one allocator once. */
#ifndef TELREPLAY_CHILD_H
#define TELREPLAY_CHILD_H

/*
 * In a child, runs the request in the shared memory, and ends the process;
 * returns in any other process.
 */
void child_main(void);

#endif
