/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One lock around all functions of a pool allocator, for those that must not
 * be called by two threads at once.
 */
#include "telreplay/run/locked.h"

#include <pthread.h>

/* The functions have no argument for this. */
static struct {
	const tel_pool_table *real;
	tel_pool_table table;
	pthread_mutex_t lock;
} locked = { NULL, { 0 }, PTHREAD_MUTEX_INITIALIZER };

/* Locking a normal mutex that is never copied or destroyed cannot fail. */
static const tel_pool_table *
enter(void)
{
	(void)pthread_mutex_lock(&locked.lock);
	return locked.real;
}

static void
leave(void)
{
	(void)pthread_mutex_unlock(&locked.lock);
}

static void *
create(void *state, uint64_t number)
{
	void *p = enter()->create(state, number);

	leave();
	return p;
}

static void *
create_as(void *state, uint64_t number, const char *description)
{
	void *p = enter()->create_as(state, number, description);

	leave();
	return p;
}

static void
destroy(void *pool)
{
	enter()->destroy(pool);
	leave();
}

static void *
alloc(void *pool, size_t size)
{
	void *p = enter()->alloc(pool, size);

	leave();
	return p;
}

static void *
zeroed(void *pool, size_t size)
{
	void *p = enter()->zeroed(pool, size);

	leave();
	return p;
}

static void *
aligned(void *pool, size_t alignment, size_t size)
{
	void *p = enter()->aligned(pool, alignment, size);

	leave();
	return p;
}

static void *
resize(void *pool, void *block, size_t from, size_t to)
{
	void *p = enter()->resize(pool, block, from, to);

	leave();
	return p;
}

static void
drop(void *pool, void *block, size_t size)
{
	enter()->free(pool, block, size);
	leave();
}

static void
drop_part(void *pool, void *part, size_t size)
{
	enter()->free_part(pool, part, size);
	leave();
}

static size_t
usable(void *pool, void *block, size_t size)
{
	size_t room = enter()->usable(pool, block, size);

	leave();
	return room;
}

static void *
buffer_create(void *pool)
{
	void *p = enter()->buffer_create(pool);

	leave();
	return p;
}

static void
buffer_destroy(void *buffer)
{
	enter()->buffer_destroy(buffer);
	leave();
}

static void *
reserve(void *buffer, size_t size)
{
	void *p = enter()->reserve(buffer, size);

	leave();
	return p;
}

static int
commit(void *buffer, void *block, size_t size)
{
	int done = enter()->commit(buffer, block, size);

	leave();
	return done;
}

const tel_pool_table *
locked_table(const tel_pool_table *real)
{
	tel_pool_table *t = &locked.table;

	locked.real = real;
	*t = *real;
	t->alloc = alloc;
	t->free = drop;
	t->create = real->create != NULL ? create : NULL;
	t->create_as = real->create_as != NULL ? create_as : NULL;
	t->destroy = real->destroy != NULL ? destroy : NULL;
	t->zeroed = real->zeroed != NULL ? zeroed : NULL;
	t->aligned = real->aligned != NULL ? aligned : NULL;
	t->resize = real->resize != NULL ? resize : NULL;
	t->free_part = real->free_part != NULL ? drop_part : NULL;
	t->usable = real->usable != NULL ? usable : NULL;
	t->buffer_create = real->buffer_create != NULL ? buffer_create : NULL;
	t->buffer_destroy =
	    real->buffer_destroy != NULL ? buffer_destroy : NULL;
	t->reserve = real->reserve != NULL ? reserve : NULL;
	t->commit = real->commit != NULL ? commit : NULL;
	return t;
}
