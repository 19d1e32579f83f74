/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocators for tests of telreplay's loop: one that checks what it is asked,
 * and can be made to fail; one that is wrong; one of pools.  Included
 * after telreplay/run/run.h.
 */
#ifndef RUN_ALLOCATORS_H
#define RUN_ALLOCATORS_H

#define GOOD_HEAD 64
#define GOOD_MAGIC UINT64_C(0x5ca1ab1e0ddba115)

static _Atomic uint64_t good_live, good_calls, good_wrong, good_fails;
static unsigned fail_every; /* 0: never */

static void *
good_aligned(size_t alignment, size_t size)
{
	uint64_t n = atomic_fetch_add(&good_calls, 1);
	unsigned char *p, *block;

	if (fail_every != 0 && n % fail_every == fail_every - 1) {
		atomic_fetch_add(&good_fails, 1);
		return NULL;
	}
	p = malloc(size + alignment + GOOD_HEAD);
	if (p == NULL)
		abort();
	block = p + GOOD_HEAD;
	block += -(uintptr_t)block & (alignment - 1);
	((uint64_t *)(void *)block)[-1] = GOOD_MAGIC;
	((uint64_t *)(void *)block)[-2] = (uint64_t)(block - p);
	((uint64_t *)(void *)block)[-3] = size;
	/* what a program may not rely on */
	memset(block, 0xa5, size);
	atomic_fetch_add(&good_live, 1);
	return block;
}

static void
good_free(void *block)
{
	uint64_t *head = block;

	if (block == NULL)
		return;
	if (head[-1] != GOOD_MAGIC) {
		atomic_fetch_add(&good_wrong, 1);
		return;
	}
	head[-1] = 0;
	atomic_fetch_sub(&good_live, 1);
	free((unsigned char *)block - head[-2]);
}

static void *
good_malloc(size_t size)
{
	return good_aligned(16, size);
}

static void *
good_calloc(size_t count, size_t size)
{
	void *p = good_aligned(16, count * size);

	if (p != NULL)
		memset(p, 0, count * size);
	return p;
}

static void *
good_realloc(void *block, size_t size)
{
	uint64_t before;
	void *p;

	p = good_aligned(16, size);
	if (block == NULL || p == NULL)
		return p;
	before = ((uint64_t *)block)[-3];
	memcpy(p, block, before < size ? (size_t)before : size);
	good_free(block);
	return p;
}

static const struct alloc_functions good = { .malloc = good_malloc,
	.calloc = good_calloc,
	.aligned = good_aligned,
	.realloc = good_realloc,
	.free = good_free };

/* The second block lies in the first one; zeros are none; odd addresses. */
static unsigned char bad_memory[4096] __attribute__((aligned(4096)));
static unsigned bad_calls;

static void *
bad_malloc(size_t size)
{
	(void)size;
	return bad_memory + 64 * bad_calls++ + 16;
}

static void *
bad_calloc(size_t count, size_t size)
{
	(void)count;
	memset(bad_memory + 2048, 0, size);
	bad_memory[2048 + size / 2] = 1;
	return bad_memory + 2048;
}

static void *
bad_aligned(size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	return bad_memory + 3072 + 16;
}

static void *
bad_realloc(void *block, size_t size)
{
	(void)size;
	((unsigned char *)block)[5] ^= 1;
	return block;
}

static void
bad_free(void *block)
{
	(void)block;
}

static const struct alloc_functions bad = { .malloc = bad_malloc,
	.calloc = bad_calloc,
	.aligned = bad_aligned,
	.realloc = bad_realloc,
	.free = bad_free };

/* A pool allocator that knows what it was asked before. */
struct test_pool {
	uint64_t number;
	_Atomic unsigned blocks;
	unsigned buffers;
	int alive;
};

static struct test_pool pools[8];
static unsigned pools_made, pools_parts;
static _Atomic unsigned pools_wrong;

/*
 * What a block was is kept until the test ends: it may be asked for again.
 * The block behind it is aligned as that of malloc().
 */
struct test_block {
	_Alignas(16) struct test_pool *pool;
	uint64_t size; /* ~0: it was freed */
	struct test_block *next;
};
static _Atomic(struct test_block *) test_blocks;

static void *
pool_create(void *state, uint64_t number)
{
	struct test_pool *p = &pools[pools_made++ % 8];

	pools_wrong += state != pools;
	p->number = number;
	p->blocks = 0;
	p->buffers = 0;
	p->alive = 1;
	return p;
}

static void
pool_destroy(void *pool)
{
	struct test_pool *p = pool;

	/* those of pool 0 are freed before it is */
	pools_wrong +=
	    !p->alive || p->buffers != 0 || (p->number == 0 && p->blocks != 0);
	p->alive = 0;
}

static void *
pool_alloc(void *pool, size_t size)
{
	struct test_pool *p = pool;
	struct test_block *b = malloc(sizeof(*b) + size);

	pools_wrong += !p->alive || size == 0;
	p->blocks++;
	b->pool = p;
	b->size = size;
	b->next = atomic_load(&test_blocks);
	while (!atomic_compare_exchange_weak(&test_blocks, &b->next, b))
		;
	return b + 1;
}

static void
pool_free(void *pool, void *block, size_t size)
{
	struct test_block *b = (struct test_block *)block - 1;

	pools_wrong += b->pool != pool || b->size != size || !b->pool->alive;
	b->pool->blocks--;
	b->size = UINT64_MAX;
}

/* Parts are counted only: what is left of the block is never freed. */
static void
pool_free_part(void *pool, void *part, size_t size)
{
	struct test_pool *p = pool;

	(void)part;
	pools_wrong += !p->alive || size == 0;
	pools_parts++;
}

static void *
pool_buffer(void *pool)
{
	struct test_pool *p = pool;

	p->buffers++;
	return p;
}

static void
pool_buffer_end(void *buffer)
{
	struct test_pool *p = buffer;

	p->buffers--;
}

static int
pool_commit(void *buffer, void *block, size_t size)
{
	struct test_block *b = (struct test_block *)block - 1;

	pools_wrong += b->pool != buffer || b->size != size;
	return 1;
}

static const tel_pool_table pool_all = {
	.version = TEL_POOL_VERSION,
	.create = pool_create,
	.destroy = pool_destroy,
	.alloc = pool_alloc,
	.free = pool_free,
	.buffer_create = pool_buffer,
	.buffer_destroy = pool_buffer_end,
	.reserve = pool_alloc,
	.commit = pool_commit,
};

/* All that must be there. */
static const tel_pool_table pool_least = {
	.version = TEL_POOL_VERSION,
	.alloc = pool_alloc,
	.free = pool_free,
};

#endif
