/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the preloaded library say to each other. */
#ifndef TELREC_PRELOAD_H
#define TELREC_PRELOAD_H

/* Names this thread. */
void ring_put_name(const char *name);
/* This thread is about to lose all system calls but a few, or has not. */
void ring_forbid_calls(int on);

/* The functions of the allocator are those that the program has already. */
void hooks_late(void);
/* Maps the arena at path.  0: that is not possible, or there is one. */
int process_attach(const char *path);
/* Starts recording to the arena at path; telrec has the program call it. */
__attribute__((visibility("default"))) int telrec_attach(const char *path);

#endif
