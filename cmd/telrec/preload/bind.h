/* SPDX-License-Identifier: BSD-2-Clause */
/* Binding the calls of all modules to functions of the library. */
#ifndef TELREC_BIND_H
#define TELREC_BIND_H

#include <stddef.h>

/* A function that the modules call, and the one that they are to call. */
struct bind_hook {
	const char *name;
	void *own;    /* NULL: leave it */
	void *before; /* what the dynamic linker has bound, or would bind */
};

/*
 * Binds the calls of all modules that are loaded, and of those that they load
 * from now on; hooks stays in use.  A second call with the same hooks, of which
 * count may be more, looks at all modules again.
 */
void bind_calls(const struct bind_hook *hooks, size_t count);
/* The same, without those that are loaded later. */
void bind_loaded(const struct bind_hook *hooks, size_t count);

typedef void *bind_open_fn(const char *name, int flags);

/*
 * Whether dlopen() finds the same whoever calls it: the module of its caller
 * may say where to look.
 */
int bind_is_found_anyway(const char *name, const void *caller);

/*
 * What the calls of modules are bound to: dlsym(3) finds a stub in a program at a
 * fixed address that uses the address of the function.  NULL: there is none.
 */
void *bind_definition(const char *name);

/*
 * Looks for functions among those that the module of an address exports, which
 * is not the program itself: sets before, or leaves it.  Their names begin with
 * the same two letters.  0: it has none.
 */
size_t bind_find(const void *address, struct bind_hook *hooks, size_t count);

#endif
