/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations that fail when a test wants them to.  Included before the
 * source files under test, whose calls it redirects; those files are then
 * part of the test, and their objects in the library are not linked.
 */
#ifndef FAILING_H
#define FAILING_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* So many allocations succeed before all others fail. */
/* More than any machine has. */
#define FAILING_MAX \
	(sizeof(size_t) > 4 ? (size_t)((uint64_t)1 << 40) : (size_t)1 << 31)

static unsigned failing_after = UINT32_MAX;
/* The size that was asked for last. */
static size_t failing_asked;

static inline int
failing_now(size_t size)
{
	failing_asked = size;
	/* what no machine has: the sanitizers end a program that asks for it */
	if (failing_after == 0 || size > FAILING_MAX)
		return 1;
	failing_after--;
	return 0;
}

static inline void *
failing_malloc(size_t size)
{
	return failing_now(size) ? NULL : malloc(size);
}

static inline void *
failing_calloc(size_t n, size_t size)
{
	return failing_now(n * size) ? NULL : calloc(n, size);
}

static inline void *
failing_realloc(void *p, size_t size)
{
	return failing_now(size) ? NULL : realloc(p, size);
}

#define malloc failing_malloc
#define calloc failing_calloc
#define realloc failing_realloc

#endif
