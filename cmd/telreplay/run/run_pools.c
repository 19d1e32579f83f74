/* SPDX-License-Identifier: BSD-2-Clause */
/* Pool allocators in a run: pools, buffers, and their operations. */
#include "telreplay/run/run_inside.h"

#include <string.h>

static void *
pool_reserve(struct worker *w, size_t size)
{
	const tel_pool_table *t = w->a->pool;
	void *block;

	block = t->reserve != NULL ? t->reserve(w->buffer, size) :
	                             t->alloc(w->pool, size);
	if (block != NULL && t->commit != NULL &&
	    t->commit(w->buffer, block, size) == 0)
		run_error(w, RUN_POOL, NULL, 0, 0, block);
	return block;
}

void *
run_pool_call(struct worker *w, const struct step *s, void *old)
{
	const tel_pool_table *t = w->a->pool;
	size_t size = s->size > 0 ? s->size : 1;
	size_t before = w->extra[s->slot].size > 0 ? w->extra[s->slot].size : 1;
	void *block;

	switch (s->kind) {
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
			return t->aligned(w->pool, s->alignment, size);
		return t->alloc(w->pool, size);
	default:
		if (w->buffer != NULL)
			return pool_reserve(w, size);
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
		w->buffer = NULL;
	} else {
		w->buffer = r->buffers[2 * (size_t)n];
		w->pool = r->buffers[2 * (size_t)n + 1];
	}
}

/* Without a pool the run must end; .phase does not return. */
static void
no_pool(struct worker *w, const uint64_t *p)
{
	struct run *r = w->run;

	run_error(w, RUN_POOL, p, WORD_SLOT(*p), 0, NULL);
	if (r->options->phase != NULL)
		r->options->phase(r->options->arg, RUN_NO_POOL);
}

static void
create(struct worker *w, const uint64_t *p)
{
	const tel_pool_table *t = w->a->pool;
	void **pool = &w->run->pools[WORD_SLOT(*p)];

	*pool = t->create != NULL ? t->create(w->a->state, p[1]) : w->a->state;
	if (*pool == NULL && t->create != NULL)
		no_pool(w, p);
}

static void
buffer_create(struct worker *w, const uint64_t *p)
{
	const tel_pool_table *t = w->a->pool;
	void **buffer = &w->run->buffers[2 * (size_t)WORD_SLOT(*p)];

	buffer[1] = w->run->pools[p[1]];
	buffer[0] =
	    t->buffer_create != NULL ? t->buffer_create(buffer[1]) : buffer[1];
	if (buffer[0] == NULL && t->buffer_create != NULL)
		no_pool(w, p);
}

static void
destroy(const tel_pool_table *t, void **pool)
{
	if (*pool != NULL && t->create != NULL && t->destroy != NULL)
		t->destroy(*pool);
	*pool = NULL;
}

static void
buffer_destroy(const tel_pool_table *t, void **buffer)
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
	switch (WORD_SIZE(*p)) {
	case EXTENDED_POOL_CREATE: create(w, p); break;
	case EXTENDED_POOL_DESTROY: destroy(t, &r->pools[n]); break;
	case EXTENDED_BUFFER_CREATE: buffer_create(w, p); break;
	case EXTENDED_BUFFER_DESTROY:
		buffer_destroy(t, &r->buffers[2 * n]);
		break;
	default: break;
	}
}

int
run_first_pool(struct run *r)
{
	const tel_pool_table *t = r->a->pool;
	unsigned i;

	if (t == NULL)
		return 1;
	memset(r->pools, 0, ((size_t)r->facts->pools + 1) * sizeof(void *));
	memset(r->buffers, 0, (size_t)r->facts->buffers * 2 * sizeof(void *));
	r->pools[0] =
	    t->create != NULL ? t->create(r->a->state, 0) : r->a->state;
	for (i = 0; i < r->threads; i++) {
		r->workers[i].pool = r->pools[0];
		r->workers[i].buffer = NULL;
	}
	return r->pools[0] != NULL || t->create == NULL;
}

void
run_last_pools(struct run *r)
{
	const tel_pool_table *t = r->a->pool;
	uint64_t i;

	if (t == NULL)
		return;
	for (i = 0; i < r->facts->buffers; i++)
		buffer_destroy(t, &r->buffers[2 * i]);
	for (i = r->facts->pools + 1; i-- > 0;)
		destroy(t, &r->pools[i]);
}
