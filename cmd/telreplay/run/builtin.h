/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools: the allocators that are built in, as plug-ins see them.  Their
 * memory comes from the kernel, never from malloc.
 */
#ifndef TELREPLAY_POOLS_H
#define TELREPLAY_POOLS_H

#include <stddef.h>
#include "telreplay/run/run.h"
#include "tel_pool.h"

/* Does nothing: every block is the same one. */
extern const tel_pool_table builtin_null;
/* An arena for each pool: blocks one behind the other, freed at its end. */
extern const tel_pool_table builtin_bump;
/* A free list for each size class. */
extern const tel_pool_table builtin_class;

/* Numbers of those that are built in. */
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
const tel_pool_table *builtin_number(unsigned built);

/* Makes the null allocator that was started one that is called as malloc. */
void builtin_null_functions(struct allocator *a);

/*
 * Reads "word=NUMBER" or "", a number of bytes from min to max that is a
 * multiple of the page.  out: set when it is there.
 * Returns NULL, or what is wrong.
 */
const char *builtin_parameter(const char *text, const char *word, size_t *out);

/* Pages, zeroed, not of malloc; NULL when there are none. */
void *pages_map(size_t size);
/* The same at a multiple of align, which is a power of 2. */
void *pages_map_aligned(size_t size, size_t align);
/* The same in a mapping that does not count as the allocator's memory. */
void *pages_map_shared(size_t size);
void pages_unmap(void *pages, size_t size);

#endif
