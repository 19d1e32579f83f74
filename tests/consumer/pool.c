/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool allocator as a plug-in of telreplay: blocks are powers of 2, cut
 * from chunks of the pool, and those that are freed are kept in a list for
 * each size.
 *
 *	cc -shared -fPIC -o pool.so pool.c
 *	telreplay -a ./pool.so LOG
 */
#include <stdlib.h>
#include <string.h>
#include <tel_pool.h>

#define CHUNK ((size_t)64 << 10)
#define LEAST 4 /* the smallest block has 2^4 bytes */
#define POWERS (8 * (unsigned)sizeof(size_t) - 1)

struct chunk {
	_Alignas(16) struct chunk *next; /* blocks are aligned alike */
};

struct pool {
	struct chunk *chunks;
	char *fresh;        /* of the newest chunk, what is not yet used */
	size_t left;        /* and how much that is */
	void *free[POWERS]; /* a free block begins with the next one */
};

static unsigned
power_of(size_t size)
{
	unsigned power = LEAST;

	while (power < POWERS && ((size_t)1 << power) < size)
		power++;
	return power;
}

static void *
create(void *state, uint64_t number)
{
	(void)state;
	(void)number;
	return calloc(1, sizeof(struct pool));
}

static void
destroy(void *arg)
{
	struct pool *pool = arg;

	while (pool->chunks != NULL) {
		struct chunk *chunk = pool->chunks;

		pool->chunks = chunk->next;
		free(chunk);
	}
	free(pool);
}

static void *
allocate(void *arg, size_t size)
{
	struct pool *pool = arg;
	unsigned power = power_of(size);
	size_t bytes = (size_t)1 << power;
	void *block;

	if (power == POWERS)
		return NULL;
	block = pool->free[power];
	if (block != NULL) {
		memcpy(&pool->free[power], block, sizeof(void *));
		return block;
	}
	if (pool->left < bytes) {
		size_t room = bytes > CHUNK ? bytes : CHUNK;
		struct chunk *chunk = malloc(sizeof(*chunk) + room);

		if (chunk == NULL)
			return NULL;
		chunk->next = pool->chunks;
		pool->chunks = chunk;
		pool->fresh = (char *)(chunk + 1);
		pool->left = room;
	}
	block = pool->fresh;
	pool->fresh += bytes;
	pool->left -= bytes;
	return block;
}

static void
release(void *arg, void *block, size_t size)
{
	struct pool *pool = arg;
	unsigned power = power_of(size);

	memcpy(block, &pool->free[power], sizeof(void *));
	pool->free[power] = block;
}

static size_t
usable(void *arg, void *block, size_t size)
{
	(void)arg;
	(void)block;
	return (size_t)1 << power_of(size);
}

const tel_pool_table tel_pool_allocator = {
	.version = TEL_POOL_VERSION,
	.name = "powers",
	.release = "1",
	.create = create,
	.destroy = destroy,
	.alloc = allocate,
	.free = release,
	.usable = usable,
};
