/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The size-class pool: a chunk holds blocks of one class, a class has a list
 * of those that are free.  Classes are multiples of 16 up to 128, and then
 * four for each doubling.  Larger blocks have pages of their own.
 */
#include "telreplay/run/builtin.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define GRAIN ((size_t)16)
/* A chunk is aligned to its size, so that a block's address leads to it. */
#define CHUNK ((size_t)1 << 18)
/* The largest block in a chunk. */
#define LARGEST ((size_t)1 << 15)
#define LINEAR 8
#define CLASSES 48

struct chunk {
	struct chunk *next; /* of the pool's chunks, or large blocks */
	struct chunk *previous;
	size_t size;  /* of blocks; of a large one, of the mapping */
	size_t class; /* CLASSES for a large block */
};

struct extent {
	struct extent *next;
	size_t size;
};

struct pool {
	pthread_mutex_t lock;
	size_t extend;
	void *free[CLASSES];           /* a free block begins with the next */
	unsigned char *fresh[CLASSES]; /* never used so far, */
	unsigned char *limit[CLASSES]; /* up to here */
	struct extent *extents;
	unsigned char *space; /* chunks not used so far */
	size_t nspace;
	struct chunk large; /* a ring */
};

/* The state is how many bytes are taken from the kernel at a time. */
static const char *
size_class_start(const char *parameters, const tel_pool_trace *trace,
    void **state)
{
	(void)trace;
	return builtin_start(parameters, CHUNK, state);
}

/* The class for size bytes, at most LARGEST. */
static size_t
size_class_class_of(size_t size)
{
	unsigned power;

	if (size <= LINEAR * GRAIN)
		return size == 0 ? 0 : (size - 1) / GRAIN;
	power = 63 - (unsigned)__builtin_clzll((unsigned long long)(size - 1));
	return LINEAR + (size_t)(power - 7) * 4 +
	    (((size - 1) >> (power - 2)) & 3);
}

/* The bytes of a block of a class. */
static size_t
size_of(size_t class)
{
	if (class < LINEAR)
		return (class + 1) * GRAIN;
	class -= LINEAR;
	return (size_t)(5 + class % 4) << (5 + class / 4);
}

/* The least power of 2 that is not below size. */
static size_t
size_of_power(size_t size)
{
	size_t power = GRAIN;

	while (power < size)
		power *= 2;
	return power;
}

/* A block that is aligned to a chunk is behind its own. */
static struct chunk *
chunk_of(void *block)
{
	const size_t offset = (uintptr_t)block & (CHUNK - 1);

	return (struct chunk *)(void *)((unsigned char *)block -
	    (offset > 0 ? offset : CHUNK));
}

static void *
size_class_create(void *state, uint64_t number)
{
	struct pool *p = pages_map(sizeof(*p));

	(void)number;
	if (p == NULL)
		return NULL;
	if (pthread_mutex_init(&p->lock, NULL) != 0) {
		pages_unmap(p, sizeof(*p));
		return NULL;
	}
	p->extend = *(size_t *)state;
	p->large.next = p->large.previous = &p->large;
	return p;
}

static void
size_class_destroy(void *pool)
{
	struct pool *p = pool;

	while (p->large.next != &p->large) {
		struct chunk *c = p->large.next;

		p->large.next = c->next;
		pages_unmap(c, c->size);
	}
	while (p->extents != NULL) {
		struct extent *e = p->extents;

		p->extents = e->next;
		pages_unmap(e, e->size);
	}
	(void)pthread_mutex_destroy(&p->lock);
	pages_unmap(p, sizeof(*p));
}

/* Gives a class a new chunk. */
static int
size_class_refill(struct pool *p, size_t class)
{
	size_t size = size_of(class), head;

	if (p->nspace < CHUNK) {
		struct extent *e = pages_map_aligned(p->extend + CHUNK, CHUNK);

		if (e == NULL)
			return 0;
		e->size = p->extend + CHUNK;
		e->next = p->extents;
		p->extents = e;
		p->space = (unsigned char *)e + CHUNK;
		p->nspace = p->extend;
	}
	struct chunk *c = (struct chunk *)(void *)p->space;
	p->space += CHUNK;
	p->nspace -= CHUNK;
	c->size = size;
	c->class = class;
	/* blocks of a power of 2 are aligned to their size */
	head = (size & (size - 1)) == 0 && size > sizeof(*c) ? size : 64;
	p->fresh[class] = (unsigned char *)c + head;
	p->limit[class] = (unsigned char *)c + CHUNK;
	return 1;
}

static void *
size_class_take(struct pool *p, size_t class)
{
	size_t size = size_of(class);
	void *block = p->free[class];

	if (block != NULL) {
		memcpy(&p->free[class], block, sizeof(void *));
		return block;
	}
	if ((size_t)(p->limit[class] - p->fresh[class]) < size &&
	    !size_class_refill(p, class))
		return NULL;
	block = p->fresh[class];
	p->fresh[class] += size;
	return block;
}

/* A block in its own pages, after a page that describes it. */
static void *
take_large(struct pool *p, size_t alignment, size_t size)
{
	const size_t head = alignment > 4096 ? alignment : 4096;
	const size_t unused = head > CHUNK ? head - CHUNK : 0;
	size_t whole;

	if (head > SIZE_MAX / 4 ||
	    __builtin_add_overflow(size, head + 4095, &whole))
		return NULL;
	whole &= ~(size_t)4095;
	unsigned char *pages =
	    pages_map_aligned(whole, head > CHUNK ? head : CHUNK);
	if (pages == NULL)
		return NULL;
	pages_unmap(pages, unused);
	struct chunk *c = (struct chunk *)(void *)(pages + unused);
	c->size = whole - unused;
	c->class = CLASSES;
	c->next = p->large.next;
	c->previous = &p->large;
	c->next->previous = c;
	p->large.next = c;
	return pages + head;
}

static void *
size_class_aligned(void *pool, size_t alignment, size_t size)
{
	struct pool *p = pool;
	void *block;

	if (alignment > GRAIN && size <= LARGEST && alignment <= LARGEST) {
		/* a power of 2 is aligned to itself */
		size = size_of_power(size > alignment ? size : alignment);
	}
	if (pthread_mutex_lock(&p->lock) != 0)
		return NULL;
	if (size <= LARGEST && alignment <= LARGEST)
		block = size_class_take(p, size_class_class_of(size));
	else
		block = take_large(p, alignment, size);
	(void)pthread_mutex_unlock(&p->lock);
	return block;
}

static void *
size_class_alloc(void *pool, size_t size)
{
	return size_class_aligned(pool, 1, size);
}

static size_t
room(const struct chunk *c, void *block)
{
	if (c->class < CLASSES)
		return c->size;
	return c->size -
	    (size_t)((unsigned char *)block - (const unsigned char *)c);
}

static size_t
usable(void *pool, void *block, size_t size)
{
	(void)pool;
	(void)size;
	return room(chunk_of(block), block);
}

static void
size_class_drop(void *pool, void *block, size_t size)
{
	struct chunk *c = chunk_of(block);
	struct pool *p = pool;

	(void)size;
	if (pthread_mutex_lock(&p->lock) != 0)
		return;
	if (c->class < CLASSES) {
		memcpy(block, &p->free[c->class], sizeof(void *));
		p->free[c->class] = block;
	} else {
		c->previous->next = c->next;
		c->next->previous = c->previous;
		pages_unmap(c, c->size);
	}
	(void)pthread_mutex_unlock(&p->lock);
}

static void *
size_class_resize(void *pool, void *block, size_t from, size_t to)
{
	size_t has = room(chunk_of(block), block);

	/* a block that would be half empty is moved */
	if (to <= has && to > has / 2)
		return block;
	void *now = size_class_alloc(pool, to);
	if (now == NULL)
		return NULL;
	memcpy(now, block, from < to ? from : to);
	size_class_drop(pool, block, from);
	return now;
}

const tel_pool_table builtin_class = {
	.version = TEL_POOL_VERSION,
	.flags = TEL_POOL_THREADS,
	.name = "class",
	.start = size_class_start,
	.end = builtin_end,
	.create = size_class_create,
	.destroy = size_class_destroy,
	.alloc = size_class_alloc,
	.aligned = size_class_aligned,
	.resize = size_class_resize,
	.free = size_class_drop,
	.usable = usable,
};
