/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Built-in pool allocators.  Their memory comes from the kernel, never from
 * malloc.
 */
#ifndef TELREPLAY_POOLS_H
#define TELREPLAY_POOLS_H

#include <stddef.h>
#include "telreplay/run/run.h"
#include "tel_pool.h"

/* Does nothing: every block is the same one. */
extern const tel_pool_table builtin_null;
/* An arena for each pool: blocks are consecutive, and freed with the pool. */
extern const tel_pool_table builtin_bump;
/* A free list for each size class. */
extern const tel_pool_table builtin_class;

/* Their numbers. */
enum builtin {
	BUILTIN_NONE,
	BUILTIN_NULL,
	BUILTIN_BUMP,
	BUILTIN_CLASS,
	BUILTIN_NULL_MALLOC /* null, called as malloc is */
};

/* The one of that name, or BUILTIN_NONE. */
enum builtin builtin_find(const char *name);
/* The table of a number, or NULL for BUILTIN_NONE. */
const tel_pool_table *builtin_number(unsigned builtin);

/* Gives the null allocator, which was started, the functions of malloc. */
void builtin_null_functions(struct alloc_functions *a);

/*
 * Starts an allocator whose only parameter is extend=BYTES, and whose state is
 * that number, a size_t, as a multiple of grain.  Returns NULL, or a message.
 */
const char *builtin_start(const char *parameters, size_t grain, void **state);
void builtin_end(void *state);
/* A free that keeps the memory. */
void builtin_drop(void *pool, void *block, size_t size);

/* Zeroed pages from the kernel; NULL when there are none. */
void *pages_map(size_t size);
/* The same at a multiple of align, which is a power of 2. */
void *pages_map_aligned(size_t size, size_t align);
/* The same in a mapping that does not count as the allocator's memory. */
void *pages_map_shared(size_t size);
void pages_unmap(void *pages, size_t size);

#endif
