/* SPDX-License-Identifier: BSD-2-Clause */
/* An allocator, wrapped by counters. */
#include "telreplay/run/watch.h"

#include <string.h>

/* malloc has no argument for this. */
static struct {
	struct shared *shared;
	struct allocator real;
	tel_pool_table table; /* replaces .real.pool */
	size_t (*usable)(void *);
	atomic_uint_fast64_t asked; /* requested bytes of all blocks */
	atomic_uint_fast64_t given; /* usable bytes of all blocks */
	/* the same by size */
	struct {
		atomic_uint_fast64_t blocks, asked, given;
	} slack[RUN_SIZES];
} watch;

/* A new block of size bytes, with room for more. */
static void
add_room(size_t size, size_t room)
{
	size_t i = run_size_class(size);

	(void)atomic_fetch_add(&watch.shared->room, room);
	(void)atomic_fetch_add(&watch.asked, size);
	(void)atomic_fetch_add(&watch.given, room);
	if (room > 0) {
		(void)atomic_fetch_add(&watch.slack[i].blocks, 1);
		(void)atomic_fetch_add(&watch.slack[i].asked, size);
		(void)atomic_fetch_add(&watch.slack[i].given, room);
	}
}

static void
take_room(size_t room)
{
	(void)atomic_fetch_sub(&watch.shared->room, room);
}

static size_t
room_of(void *block)
{
	return block != NULL && watch.usable != NULL ? watch.usable(block) : 0;
}

static void *
watch_malloc(size_t size)
{
	void *p = watch.real.malloc(size);

	add_room(p != NULL ? size : 0, room_of(p));
	return p;
}

static void *
watch_calloc(size_t number, size_t size)
{
	void *p = watch.real.calloc(number, size);

	add_room(p != NULL ? number * size : 0, room_of(p));
	return p;
}

static void *
watch_aligned(size_t alignment, size_t size)
{
	void *p = watch.real.aligned(alignment, size);

	add_room(p != NULL ? size : 0, room_of(p));
	return p;
}

static void *
watch_realloc(void *block, size_t size)
{
	size_t before = room_of(block);
	void *p = watch.real.realloc(block, size);

	if (p != NULL || size == 0) {
		take_room(before);
		add_room(p != NULL ? size : 0, room_of(p));
	}
	return p;
}

static void
watch_free(void *block)
{
	take_room(room_of(block));
	watch.real.free(block);
}

static void *
watch_new(size_t size)
{
	void *p = watch.real.new(size);

	add_room(p != NULL ? size : 0, room_of(p));
	return p;
}

static void
watch_delete(void *block)
{
	take_room(room_of(block));
	watch.real.delete(block);
}

static void
watch_delete_sized(void *block, size_t size)
{
	take_room(room_of(block));
	watch.real.delete_sized(block, size);
}

static void
watch_free_sized(void *block, size_t size)
{
	take_room(room_of(block));
	watch.real.free_sized(block, size);
}

static size_t
room_in(void *pool, void *block, size_t size)
{
	if (block == NULL)
		return 0;
	return watch.real.pool->usable != NULL ?
	    watch.real.pool->usable(pool, block, size) :
	    size;
}

static void *
pool_alloc(void *pool, size_t size)
{
	void *p = watch.real.pool->alloc(pool, size);

	add_room(p != NULL ? size : 0, room_in(pool, p, size));
	return p;
}

static void *
pool_zeroed(void *pool, size_t size)
{
	void *p = watch.real.pool->zeroed(pool, size);

	add_room(p != NULL ? size : 0, room_in(pool, p, size));
	return p;
}

static void *
pool_aligned(void *pool, size_t alignment, size_t size)
{
	void *p = watch.real.pool->aligned(pool, alignment, size);

	add_room(p != NULL ? size : 0, room_in(pool, p, size));
	return p;
}

static void *
pool_resize(void *pool, void *block, size_t from, size_t to)
{
	size_t before = room_in(pool, block, from);
	void *p = watch.real.pool->resize(pool, block, from, to);

	if (p != NULL) {
		take_room(before);
		add_room(to, room_in(pool, p, to));
	}
	return p;
}

static void
pool_free(void *pool, void *block, size_t size)
{
	take_room(room_in(pool, block, size));
	watch.real.pool->free(pool, block, size);
}

static void
pool_free_part(void *pool, void *part, size_t size)
{
	take_room(size);
	watch.real.pool->free_part(pool, part, size);
}

static void *
pool_reserve(void *buffer, size_t size)
{
	void *p = watch.real.pool->reserve(buffer, size);

	add_room(p != NULL ? size : 0, p != NULL ? size : 0);
	return p;
}

static void
watch_pool(struct allocator *a)
{
	const tel_pool_table *real = watch.real.pool;

	watch.table = *real;
	watch.table.alloc = pool_alloc;
	watch.table.free = pool_free;
	if (real->zeroed != NULL)
		watch.table.zeroed = pool_zeroed;
	if (real->aligned != NULL)
		watch.table.aligned = pool_aligned;
	if (real->resize != NULL)
		watch.table.resize = pool_resize;
	if (real->free_part != NULL)
		watch.table.free_part = pool_free_part;
	if (real->reserve != NULL)
		watch.table.reserve = pool_reserve;
	a->pool = &watch.table;
}

void
watch_begin(struct shared *sh, struct allocator *a, size_t (*usable)(void *))
{
	watch.shared = sh;
	watch.real = *a;
	watch.usable = usable;
	if (a->pool != NULL) {
		watch_pool(a);
		return;
	}
	a->malloc = watch_malloc;
	a->calloc = watch_calloc;
	a->aligned = watch_aligned;
	a->realloc = watch_realloc;
	a->free = watch_free;
	if (a->new != NULL)
		a->new = watch_new;
	if (a->delete != NULL)
		a->delete = watch_delete;
	if (a->delete_sized != NULL)
		a->delete_sized = watch_delete_sized;
	if (a->free_sized != NULL)
		a->free_sized = watch_free_sized;
}

void
watch_end(void)
{
	size_t i;

	watch.shared->asked = atomic_load(&watch.asked);
	watch.shared->given = atomic_load(&watch.given);
	for (i = 0; i < RUN_SIZES; i++) {
		struct slack *s = &watch.shared->slack[i];

		s->blocks = atomic_load(&watch.slack[i].blocks);
		s->asked = atomic_load(&watch.slack[i].asked);
		s->given = atomic_load(&watch.slack[i].given);
	}
}
