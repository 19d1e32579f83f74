/* SPDX-License-Identifier: BSD-2-Clause */
/* Pool allocators in a run: pools, buffers, and their operations. */
#include "telreplay/run/run_inside.h"

#include <string.h>

static void *
pool_reserve(struct worker *w, const struct step *s, size_t size)
{
	const tel_pool_table *t = w->a->pool;
	void *block = t->reserve != NULL ? t->reserve(w->buffer, size) :
	                                   t->alloc(w->pool, size);

	if (block != NULL && t->commit != NULL &&
	    t->commit(w->buffer, block, size) == 0)
		run_error(w, RUN_POOL, s->p, 0, block);
	return block;
}

void *
run_pool_call(struct worker *w, const struct step *s, void *old)
{
	const tel_pool_table *t = w->a->pool;
	size_t size = s->size > 0 ? s->size : 1;
	size_t before = w->extra[s->slot].size > 0 ? w->extra[s->slot].size : 1;
	void *block;

	switch (s->op->kind) {
	case RUN_FREE:
	case RUN_DELETE:
		if (old != NULL)
			t->free(w->pool, old, size);
		return NULL;
	case RUN_REALLOC:
		if (old != NULL && t->resize != NULL)
			return t->resize(w->pool, old, before, size);
		block = t->alloc(w->pool, size);
		if (old == NULL || block == NULL)
			return block;
		memcpy(block, old, before < size ? before : size);
		t->free(w->pool, old, before);
		return block;
	case RUN_CALLOC:
		if (t->zeroed != NULL)
			return t->zeroed(w->pool, size);
		block = t->alloc(w->pool, size);
		if (block != NULL)
			memset(block, 0, size);
		return block;
	case RUN_ALIGNED:
		if (t->aligned != NULL)
			return t->aligned(w->pool, (size_t)s->p[2], size);
		return t->alloc(w->pool, size);
	default:
		if (w->buffer != NULL)
			return pool_reserve(w, s, size);
		return t->alloc(w->pool, size);
	}
}

void
run_pool_use(struct worker *w, uint64_t word)
{
	struct run *r = w->run;
	uint32_t n = WORD_SLOT(word);

	if (w->a->pool == NULL)
		return;
	if (WORD_SIZE(word) == 0) {
		w->pool = r->pools[n];
		w->left_out = r->internal[n];
		/* no fast path for its allocations */
		w->buffer = w->left_out ? w->pool : NULL;
	} else {
		w->buffer = r->buffers[2 * (size_t)n];
		w->pool = r->buffers[2 * (size_t)n + 1];
		w->left_out = w->buffer == NULL;
		if (w->left_out)
			w->buffer = w->pool;
	}
}

int
run_has_pools(const tel_pool_table *t)
{
	return t != NULL && (t->create != NULL || t->create_as != NULL);
}

/* Without a pool the run must end; .phase does not return. */
static void
no_pool(struct worker *w, const uint64_t *p)
{
	struct run *r = w->run;

	run_error(w, RUN_POOL, p, 0, NULL);
	if (r->options->phase != NULL)
		r->options->phase(r->options->arg, RUN_NO_POOL);
}

/* Creates a pool.  Returns 1, or 0 when the allocator has none. */
static int
run_pools_create(struct run *r, uint32_t n, uint64_t address)
{
	const tel_pool_table *t = r->a->pool;
	void *pool = r->a->state;

	if (t->create_as != NULL)
		pool = t->create_as(pool, address, program_pool(r->program, n));
	else if (t->create != NULL)
		pool = t->create(pool, address);
	r->pools[n] = pool;
	r->internal[n] =
	    pool != NULL && t->internal != NULL && t->internal(pool) != 0;
	return pool != NULL || !run_has_pools(t);
}

static void
run_buffer_create(struct worker *w, const uint64_t *p)
{
	const tel_pool_table *t = w->a->pool;
	void **buffer = &w->run->buffers[2 * (size_t)WORD_SLOT(*p)];

	buffer[0] = NULL;
	buffer[1] = w->run->pools[p[1]];
	if (w->run->internal[p[1]])
		return;
	buffer[0] =
	    t->buffer_create != NULL ? t->buffer_create(buffer[1]) : buffer[1];
	if (buffer[0] == NULL && t->buffer_create != NULL)
		no_pool(w, p);
}

static void
run_pools_destroy(const tel_pool_table *t, void **pool)
{
	if (*pool != NULL && run_has_pools(t) && t->destroy != NULL)
		t->destroy(*pool);
	*pool = NULL;
}

static void
run_buffer_destroy(const tel_pool_table *t, void **buffer)
{
	if (*buffer != NULL && t->buffer_create != NULL &&
	    t->buffer_destroy != NULL)
		t->buffer_destroy(*buffer);
	*buffer = NULL;
}

void
run_pool_step(struct worker *w, const uint64_t *p)
{
	const tel_pool_table *t = w->a->pool;
	struct run *r = w->run;
	size_t n = WORD_SLOT(*p);

	if (t == NULL)
		return;
	switch (word_operation(*p)->effect) {
	case EFFECT_CREATE_POOL:
		if (!run_pools_create(r, (uint32_t)n, p[1]))
			no_pool(w, p);
		break;
	case EFFECT_DESTROY_POOL: run_pools_destroy(t, &r->pools[n]); break;
	case EFFECT_CREATE_BUFFER: run_buffer_create(w, p); break;
	case EFFECT_DESTROY_BUFFER:
		run_buffer_destroy(t, &r->buffers[2 * n]);
		break;
	default: break;
	}
}

int
run_first_pool(struct run *r)
{
	if (r->a->pool == NULL)
		return 1;
	memset(r->pools, 0, ((size_t)r->facts->pools + 1) * sizeof(void *));
	memset(r->buffers, 0, (size_t)r->facts->buffers * 2 * sizeof(void *));
	/* no operation needs it in a log whose blocks all are in pools */
	if (r->facts->unpooled > 0 && !run_pools_create(r, 0, 0))
		return 0;
	for (unsigned i = 0; i < r->threads; i++)
		run_pool_use(&r->workers[i], 0);
	return 1;
}

void
run_last_pools(struct run *r)
{
	const tel_pool_table *t = r->a->pool;

	if (t == NULL)
		return;
	for (uint64_t i = 0; i < r->facts->buffers; i++)
		run_buffer_destroy(t, &r->buffers[2 * i]);
	for (uint64_t i = r->facts->pools + 1; i-- > 0;)
		run_pools_destroy(t, &r->pools[i]);
}
