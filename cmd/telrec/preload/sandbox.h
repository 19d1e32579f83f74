/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters of system calls (seccomp) that end a program for a call. */
#ifndef TELREC_SANDBOX_H
#define TELREC_SANDBOX_H

/* What the library may no longer do. */
enum {
	SANDBOX_NO_WAIT = 1,  /* sleep, wake telrec, look at memory */
	SANDBOX_NO_START = 2, /* take a ring: it asks for numbers and names */
	SANDBOX_NO_FOLDER = 4 /* ask for the current folder */
};
extern unsigned sandbox __attribute__((visibility("hidden")));

/*
 * Learns what a filter forbids, a struct sock_fprog, before this thread has it.
 * Returns sandbox as it was, to be stored again if the filter is refused.
 */
unsigned sandbox_learn(const void *filter);

#endif
