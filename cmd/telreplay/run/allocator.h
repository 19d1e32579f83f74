/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocators: the allocators that -a names, and how a process loads one. */
#ifndef TELREPLAY_ALLOCATOR_H
#define TELREPLAY_ALLOCATOR_H

#include <stddef.h>
#include "telreplay/run/builtin.h"

/* The most that -a may name. */
#define ALLOCATORS_MAX 32

struct allocator {
	char *name;           /* for the report */
	char *text;           /* as it was named; .path points here */
	enum builtin builtin; /* or BUILTIN_NONE */
	/*
	 * What the loader is to load before all else: its names, in the order
	 * in which they are tried, up to a NULL.  None for the C library.
	 */
	const char *const *libraries;
	const char *path[2]; /* .libraries of a file that was named */
	char library[4200];  /* the one of them, for LD_PRELOAD, or "" */
	int fd; /* of a library that only a descriptor can name; or -1 */
	const char *package;    /* Debian's, for a message; or NULL */
	const char *parameters; /* what follows the colon, or "" */
};

struct allocators {
	struct allocator list[ALLOCATORS_MAX];
	size_t n;
};

/*
 * Adds what an argument of -a names: "glibc", "jemalloc,mimalloc",
 * "new=/path/lib.so", "jemalloc:MALLOC_CONF=...".  text stays borrowed.
 * Returns 1, or 0 after a message.
 */
int allocators_add(struct allocators *a, const char *text);

/* Refuses two of one name.  Returns 1, or 0 after a message. */
int allocators_check(const struct allocators *a);

/*
 * Settles on a library.  The loader splits names at blanks and colons: a path
 * with any is passed as a descriptor.
 * Returns 1, or 0 after a message.
 */
int allocator_use(struct allocator *a, const char *library);

void allocators_free(struct allocators *a);

/*
 * Refuses parameters of a malloc other than environment variables.
 * Returns 1, or 0 after a message.
 */
int allocator_check_settings(const struct allocator *a);

/*
 * In a process that is about to use the allocator: sets its environment, without
 * other preloaded libraries.  Returns 1, or 0 when out of memory.
 */
int allocator_environment(const struct allocator *a);

/*
 * The assignments in the environment that configure allocators, a NUL behind
 * each and an empty one last, as many as fit.
 */
void allocator_settings(char *text, size_t room);

#endif
