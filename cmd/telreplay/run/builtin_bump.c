/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bump arena: the blocks of a pool are consecutive in chunks, and are freed
 * together with the pool.
 */
#include "telreplay/run/builtin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define GRAIN ((size_t)16)

struct chunk {
	struct chunk *next;
	size_t size;
	atomic_size_t used; /* may pass size: a block did not fit */
};

struct pool {
	_Atomic(struct chunk *) current;
	pthread_mutex_t lock; /* for a new chunk */
	size_t extend;
	struct chunk first;
};

/* The bytes before the first block of a chunk. */
#define HEAD ((sizeof(struct chunk) + GRAIN - 1) & ~(GRAIN - 1))
#define POOL_HEAD ((sizeof(struct pool) + GRAIN - 1) & ~(GRAIN - 1))

/* The state is the least bytes of a chunk. */
static const char *
bump_start(const char *parameters, const tel_pool_trace *trace, void **state)
{
	(void)trace;
	return builtin_start(parameters, 4096, state);
}

/* The first chunk starts with the pool. */
static void *
bump_create(void *state, uint64_t number)
{
	size_t extend = *(size_t *)state;
	struct pool *p = pages_map(extend);

	(void)number;
	if (p == NULL)
		return NULL;
	if (pthread_mutex_init(&p->lock, NULL) != 0) {
		pages_unmap(p, extend);
		return NULL;
	}
	p->extend = extend;
	p->first.next = NULL;
	p->first.size = extend - offsetof(struct pool, first);
	atomic_init(&p->first.used, POOL_HEAD - offsetof(struct pool, first));
	atomic_init(&p->current, &p->first);
	return p;
}

static void
bump_destroy(void *pool)
{
	struct pool *p = pool;
	struct chunk *c = atomic_load(&p->current);

	while (c != &p->first) {
		struct chunk *next = c->next;

		pages_unmap(c, c->size);
		c = next;
	}
	(void)pthread_mutex_destroy(&p->lock);
	pages_unmap(p, p->extend);
}

/* Adds a chunk with room for size, unless another thread did. */
static int
bump_extend(struct pool *p, struct chunk *full, size_t size)
{
	struct chunk *c = full;
	size_t whole;

	if (__builtin_add_overflow(size, HEAD + GRAIN, &whole))
		return 0;
	if (whole < p->extend)
		whole = p->extend;
	if (pthread_mutex_lock(&p->lock) != 0)
		return 0;
	if (atomic_load(&p->current) == full) {
		c = pages_map(whole);
		if (c != NULL) {
			c->size = whole;
			c->next = full;
			atomic_init(&c->used, HEAD);
			atomic_store(&p->current, c);
		}
	}
	(void)pthread_mutex_unlock(&p->lock);
	return c != NULL;
}

static void *
bump_aligned(void *pool, size_t alignment, size_t size)
{
	struct pool *p = pool;
	size_t room;

	if (alignment < GRAIN)
		alignment = GRAIN;
	if (__builtin_add_overflow(size, alignment - 1, &room) ||
	    room > SIZE_MAX / 2)
		return NULL;
	room &= ~(GRAIN - 1);
	for (;;) {
		struct chunk *c =
		    atomic_load_explicit(&p->current, memory_order_acquire);
		size_t at = atomic_fetch_add_explicit(&c->used, room,
		    memory_order_relaxed);

		if (at <= c->size && room <= c->size - at) {
			uintptr_t block = (uintptr_t)c + at;

			return (unsigned char *)c + at +
			    (-block & (alignment - 1));
		}
		if (!bump_extend(p, c, room))
			return NULL;
	}
}

static void *
bump_alloc(void *pool, size_t size)
{
	return bump_aligned(pool, GRAIN, size);
}

static void *
bump_resize(void *pool, void *block, size_t from, size_t to)
{
	if (to <= from)
		return block;
	void *now = bump_alloc(pool, to);
	if (now != NULL)
		memcpy(now, block, from);
	return now;
}

/* Memory comes zeroed from the kernel, and is never reused. */
const tel_pool_table builtin_bump = {
	.version = TEL_POOL_VERSION,
	.flags = TEL_POOL_THREADS,
	.name = "bump",
	.start = bump_start,
	.end = builtin_end,
	.create = bump_create,
	.destroy = bump_destroy,
	.alloc = bump_alloc,
	.zeroed = bump_alloc,
	.aligned = bump_aligned,
	.resize = bump_resize,
	.free = builtin_drop,
	.free_part = builtin_drop,
};
