/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The null allocator: every block is the same one, as large as the largest, so
 * that it may be written to.  A run with it measures telreplay's own cost.
 */
#include "telreplay/run/builtin.h"

#include <stdint.h>

/* One mapping, which outlives the run. */
struct null {
	size_t size;
};

/* Offset of the block, which is aligned to a page. */
#define HEAD ((size_t)4096)

static const char *
null_start(const char *parameters, const tel_pool_trace *trace, void **state)
{
	if (parameters[0] != '\0')
		return "null has no parameters";
	if (trace->largest > SIZE_MAX / 4)
		return "the largest block is too large";
	size_t size = HEAD + (((size_t)trace->largest + HEAD) & ~(HEAD - 1));
	struct null *n = pages_map_shared(size);
	if (n == NULL)
		return "no memory";
	n->size = size;
	*state = (unsigned char *)n + HEAD;
	return NULL;
}

static void
null_end(void *state)
{
	struct null *n = (void *)((unsigned char *)state - HEAD);

	pages_unmap(n, n->size);
}

/* Without create, the pool is the state: the block. */
static void *
null_alloc(void *pool, size_t size)
{
	(void)size;
	return pool;
}

static void *
null_aligned(void *pool, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	return pool;
}

static void *
null_resize(void *pool, void *block, size_t from, size_t to)
{
	(void)block;
	(void)from;
	(void)to;
	return pool;
}

/* The functions of malloc have no argument for it. */
static void *null_block;

static void *
null_malloc(size_t size)
{
	(void)size;
	return null_block;
}

static void *
null_calloc(size_t count, size_t size)
{
	(void)count;
	(void)size;
	return null_block;
}

static void *
null_realloc(void *block, size_t size)
{
	(void)size;
	return block;
}

static void
null_free(void *block)
{
	(void)block;
}

void
builtin_null_functions(struct alloc_functions *a)
{
	null_block = a->state;
	a->pool = NULL;
	a->malloc = null_malloc;
	a->calloc = null_calloc;
	a->aligned = null_calloc;
	a->realloc = null_realloc;
	a->free = null_free;
}

const tel_pool_table builtin_null = {
	.version = TEL_POOL_VERSION,
	.flags = TEL_POOL_THREADS,
	.name = "null",
	.start = null_start,
	.end = null_end,
	.alloc = null_alloc,
	.zeroed = null_alloc,
	.aligned = null_aligned,
	.resize = null_resize,
	.free = builtin_drop,
	.free_part = builtin_drop,
};
