/* SPDX-License-Identifier: BSD-2-Clause */
/* Library: one that is loaded when it is first needed. */
#ifndef TEL__LIBRARY_H
#define TEL__LIBRARY_H

#include <stddef.h>

/* A function of it, and where its address goes. */
struct tel__library_function {
	const char *name;
	size_t at; /* offset in a structure of pointers */
};

/*
 * Loads a library and stores the addresses of n functions at into.  Returns
 * what dlclose() takes, which leaves the library in memory for the next time;
 * or NULL, with *why set to the reason, valid until this thread calls again.
 */
void *tel__library_load(const char *file,
    const struct tel__library_function *functions, size_t n, void *into,
    const char **why);

#endif
