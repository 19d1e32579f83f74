/* SPDX-License-Identifier: BSD-2-Clause */
/* The compiler: what becomes of each operation, and the facts of a trace. */
#include "telreplay/compile/emit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_OF_A_KIND 10 /* of anomalies that are kept */
#define TAG_SHIFT 48
#define WINDOW_SHARE 0.02 /* of live bytes that threads may run ahead */
#define POINT_STEP 64     /* operations between points, until there are many */

struct compiler *
compiler_new(tel_output *out)
{
	struct compiler *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->out = out;
	c->threads_max = 256;
	c->max_live = UINT64_C(1) << 26;
	c->window_share = WINDOW_SHARE;
	c->window = 1;
	c->window_most = 1;
	c->chunk_words = (size_t)1 << 20;
	c->point_left = c->point_step = POINT_STEP;
	c->facts.logs = 1;
	memcpy(c->facts.log_names[0], "-", 2);
	tel__table_init(&c->table);
	tel__table_init(&c->thread_by_id);
	tel__table_init(&c->processes);
	tel__table_init(&c->ends);
	tel__table_init(&c->parts_by_slot);
	tel__table_init(&c->reorder_by_address);
	emit_rate(c);
	if (pools_open(c) != 0) {
		compiler_free(c);
		return NULL;
	}
	return c;
}

void
compiler_free(struct compiler *c)
{
	if (c == NULL)
		return;
	tel__table_clear(&c->table);
	tel__table_clear(&c->processes);
	tel__table_clear(&c->ends);
	tel__table_clear(&c->parts_by_slot);
	tel__table_clear(&c->reorder_by_address);
	pools_close(c);
	threads_close(c);
	free(c->blocks);
	free(c->parts);
	free(c->reorder);
	free(c->index);
	free(c);
}

tel_status
compiler_fail(struct compiler *c, tel_status st, const char *format, ...)
{
	va_list ap;

	if (c->failed != TEL_OK)
		return c->failed;
	c->failed = st;
	va_start(ap, format);
	vsnprintf(c->error, sizeof(c->error), format, ap);
	va_end(ap);
	return st;
}

tel_status
compiler_no_memory(struct compiler *c)
{
	return compiler_fail(c, TEL_ENOMEM, "out of memory");
}

/* Whether a setting is valid, and comes in time. */
static tel_status
may_set(const struct compiler *c, int valid)
{
	if (c->started)
		return TEL_ESTATE;
	return valid ? TEL_OK : TEL_EINVAL;
}

tel_status
compiler_set_order(struct compiler *c, enum program_order order)
{
	tel_status st = may_set(c, order <= ORDER_NONE);

	if (st == TEL_OK)
		c->order = order;
	return st;
}

tel_status
compiler_set_window(struct compiler *c, double share, uint64_t operations)
{
	tel_status st = may_set(c,
	    share >= 0 && share <= 1 && operations <= UINT64_C(1) << 40);

	if (st == TEL_OK) {
		c->window_share = share;
		c->window_operations = operations;
	}
	return st;
}

tel_status
compiler_set_threads(struct compiler *c, unsigned threads)
{
	tel_status st = may_set(c, threads >= 1 && threads <= PROGRAM_THREADS);

	if (st == TEL_OK)
		c->threads_max = threads;
	return st;
}

tel_status
compiler_set_strict(struct compiler *c, int on)
{
	tel_status st = may_set(c, 1);

	if (st == TEL_OK)
		c->strict = on;
	return st;
}

tel_status
compiler_set_max_live(struct compiler *c, uint64_t blocks)
{
	tel_status st = may_set(c, blocks >= 1 && blocks <= UINT64_C(1) << 31);

	if (st == TEL_OK)
		c->max_live = blocks;
	return st;
}

tel_status
compiler_set_chunk(struct compiler *c, size_t words)
{
	tel_status st =
	    may_set(c, words >= (size_t)1 << 10 && words <= (size_t)1 << 27);

	if (st == TEL_OK)
		c->chunk_words = words;
	return st;
}

tel_status
compiler_set_tick_rate(struct compiler *c, double hertz)
{
	if (c->ended)
		return TEL_ESTATE;
	if (!(hertz >= 0) || hertz > 1e300)
		return TEL_EINVAL;
	c->facts.tick_rate = hertz;
	emit_rate(c);
	return TEL_OK;
}

tel_status
compiler_set_log(struct compiler *c, const char *name)
{
	struct facts *f = &c->facts;
	char text[LOG_NAME];
	uint64_t i;
	size_t n;

	if (c->ended)
		return TEL_ESTATE;
	n = strlen(name);
	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	memset(text, 0, sizeof(text));
	memcpy(text, name, n);
	if (!c->named) {
		c->named = 1;
		memcpy(f->log_names[0], text, sizeof(text));
		return TEL_OK;
	}
	for (i = 0; i < f->logs; i++)
		if (memcmp(f->log_names[i], text, sizeof(text)) == 0)
			break;
	if (i == LOG_NAMES)
		i--;
	else if (i == f->logs)
		memcpy(f->log_names[f->logs++], text, sizeof(text));
	c->log = i;
	return TEL_OK;
}

const struct facts *
compiler_facts(const struct compiler *c)
{
	return &c->facts;
}

const char *
compiler_error(const struct compiler *c)
{
	return c->error;
}

/* ----------------------------------------------------------- anomalies */

struct anomaly_event
anomaly_here(const struct compiler *c, enum anomaly anomaly, uint64_t address)
{
	struct anomaly_event one = { anomaly, (uint32_t)c->log, c->event,
		address == 0 ? 0 : address ^ c->tag, c->thread_id ^ c->tag };

	return one;
}

tel_status
anomaly_add(struct compiler *c, const struct anomaly_event *one)
{
	struct facts *f = &c->facts;

	f->anomalies[one->anomaly]++;
	if (c->anomalies_kept_of[one->anomaly] < EVENTS_OF_A_KIND &&
	    f->anomaly_event_count < ANOMALY_EVENTS) {
		c->anomalies_kept_of[one->anomaly]++;
		f->anomaly_events[f->anomaly_event_count++] = *one;
	}
	if (c->strict && anomaly_is_damage(one->anomaly))
		return compiler_fail(c, TEL_EDAMAGED, "event %llu: %s, 0x%llx",
		    (unsigned long long)one->event, anomaly_text(one->anomaly),
		    (unsigned long long)one->address);
	return TEL_OK;
}

tel_status
anomaly_count(struct compiler *c, enum anomaly anomaly, uint64_t address)
{
	struct anomaly_event one = anomaly_here(c, anomaly, address);

	return anomaly_add(c, &one);
}

/* ----------------------------------------------------------- operations */

/* An allocation of any kind. */
static tel_status
allocate(struct compiler *c, struct thread *t, const tel_alloc *op,
    uint64_t size)
{
	struct tel__entry *e;
	uint32_t flags = 0;
	tel_status st;
	int fresh;

	if (op->failed || op->address == 0)
		return anomaly_count(c, ANOMALY_FAILED, op->address);
	if (size > BLOCK_MAX)
		return anomaly_count(c, ANOMALY_ARGUMENT, op->address);
	if (op->alignment > BLOCK_MAX)
		return anomaly_count(c, ANOMALY_IMPOSSIBLE, op->address);
	if ((op->alignment & (op->alignment - 1)) != 0 &&
	    (st = anomaly_count(c, ANOMALY_ALIGNMENT, op->address)) != TEL_OK)
		return st;
	e = tel__table_put(&c->table, op->address, &fresh);
	if (e == NULL)
		return compiler_no_memory(c);
	if (!fresh) {
		if (op->kind == TEL_ALLOC_COMMIT) {
			st = anomaly_count(c, ANOMALY_RECLAIMED, op->address);
			if (st == TEL_OK)
				st = block_remove(c, t, e, 0);
		} else
			st = reorder_double(c, t, e);
		if (st != TEL_OK)
			return st;
		e = tel__table_put(&c->table, op->address, &fresh);
		if (e == NULL)
			return compiler_no_memory(c);
	}
	if (c->reorder_used > 0 &&
	    (st = reorder_allocated(c, t, op->address, &flags)) != TEL_OK)
		return st;
	return block_allocate(c, t, e, size, flags, op);
}

static tel_status
commit(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	uint32_t n;
	struct pool *b;

	if (op->buffer == 0)
		return allocate(c, t, op, op->size);
	n = buffer_find(c, t, op);
	if (n == NO_SLOT)
		return compiler_no_memory(c);
	b = &c->buffers.all[n];
	if (op->kind == TEL_ALLOC_COMMIT) {
		b->reserved = 0;
		return allocate(c, t, op, op->size);
	}
	if (b->reserved != 0)
		return anomaly_count(c, ANOMALY_RESERVED, b->at);
	b->reserved = 1;
	b->at = op->address;
	return TEL_OK;
}

static tel_status
release(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	struct tel__entry *e;
	const struct block *b;
	tel_status st;
	int done;

	if (op->address == 0)
		return anomaly_count(c, ANOMALY_FREE_NULL, 0);
	if (c->reorder_used > 0) {
		st = reorder_freed(c, t, op->address, 1, &done);
		if (st != TEL_OK || done)
			return st;
	}
	e = tel__table_find(&c->table, op->address);
	c->call = op->call;
	if (e == NULL) {
		done = 0;
		st = op->sized ? part_end(c, t, op->address, op->size, &done) :
		                 TEL_OK;
		return st != TEL_OK || done ? st :
		                              reorder_free(c, t, op->address);
	}
	b = &c->blocks[e->value];
	/* nothing but a pool frees parts */
	if (!op->sized || op->size == b->size || op->size == 0 ||
	    op->call != TEL_CALL_C)
		return block_remove(c, t, e, 0);
	if (op->size < b->size)
		return part_front(c, t, e, op->size);
	st = anomaly_count(c, ANOMALY_SIZE, op->address);
	return st != TEL_OK ? st : block_remove(c, t, e, 0);
}

/* A realloc of a live block. */
static tel_status
resize(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	struct tel__entry *e;
	uint32_t slot, flags = 0;
	tel_status st;
	int fresh;

	if (op->address != op->old &&
	    (e = tel__table_find(&c->table, op->address)) != NULL &&
	    (st = reorder_double(c, t, e)) != TEL_OK)
		return st;
	if (op->address != op->old && c->reorder_used > 0 &&
	    (st = reorder_allocated(c, t, op->address, &flags)) != TEL_OK)
		return st;
	/* settling an entry may have freed this block */
	e = tel__table_find(&c->table, op->old);
	if (e == NULL)
		return allocate(c, t, op, op->size);
	slot = (uint32_t)e->value;
	if (c->blocks[slot].where & BLOCK_PARTS) {
		st = block_remove(c, t, e, 0);
		return st != TEL_OK ? st : allocate(c, t, op, op->size);
	}
	if (c->ends_on)
		end_remove(c, e->key + c->blocks[slot].size, slot);
	if (op->address != op->old) {
		tel__table_remove(&c->table, e);
		e = tel__table_put(&c->table, op->address, &fresh);
		if (e == NULL)
			return compiler_no_memory(c);
		e->value = slot;
		if (c->pooled != NULL)
			pool_move(c, slot, op->address);
	}
	if (c->ends_on && end_add(c, e->key + op->size, slot) != 0)
		return compiler_no_memory(c);
	st = block_resize(c, t, slot, op->size);
	c->blocks[slot].where |= flags | BLOCK_UNSIZED;
	return st;
}

static tel_status
reallocate(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	tel_alloc other = *op;
	tel_status st = TEL_OK;
	int done;

	if (op->size == 0 && op->old != 0)
		st = anomaly_count(c, ANOMALY_REALLOC_ZERO, op->old);
	else if (op->old == 0)
		st = anomaly_count(c, ANOMALY_REALLOC_NULL, op->address);
	if (st != TEL_OK)
		return st;
	if (op->old == 0)
		return allocate(c, t, op, op->size);
	if (op->size == 0 && op->address == 0) {
		other.address = op->old;
		other.sized = 0;
		return release(c, t, &other);
	}
	if (op->failed || op->address == 0)
		return anomaly_count(c, ANOMALY_FAILED, op->old);
	if (op->size > BLOCK_MAX)
		return anomaly_count(c, ANOMALY_ARGUMENT, op->old);
	if (c->reorder_used > 0 &&
	    (st = reorder_freed(c, t, op->old, 0, &done)) != TEL_OK)
		return st;
	if (tel__table_find(&c->table, op->old) != NULL)
		return resize(c, t, op);
	st = anomaly_count(c, ANOMALY_REALLOC, op->old);
	return st != TEL_OK ? st : allocate(c, t, op, op->size);
}

static tel_status
compile_operation(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	uint64_t size = op->size;

	switch (op->kind) {
	case TEL_ALLOC_CALLOC:
		if (__builtin_mul_overflow(op->count, op->size, &size))
			size = UINT64_MAX;
		return allocate(c, t, op, size);
	case TEL_ALLOC_MALLOC:
	case TEL_ALLOC_ALIGNED: return allocate(c, t, op, size);
	case TEL_ALLOC_REALLOC: return reallocate(c, t, op);
	case TEL_ALLOC_FREE: return release(c, t, op);
	case TEL_ALLOC_RESERVE:
	case TEL_ALLOC_COMMIT: return commit(c, t, op);
	case TEL_ALLOC_POOL_CREATE:
	case TEL_ALLOC_POOL_DESTROY:
	case TEL_ALLOC_BUFFER_CREATE:
	case TEL_ALLOC_BUFFER_DESTROY:
	case TEL_ALLOC_POOL_DESCRIBE: return pool_operation(c, t, op);
	case TEL_ALLOC_THREAD_END: break;
	case TEL_ALLOC_NONE: break;
	}
	return TEL_OK;
}

/* ------------------------------------------------------------ the stream */

/* Drops every second point when there are too many. */
static void
curve_thin(struct compiler *c)
{
	struct live_point *p = c->facts.curve;
	uint64_t i, n = c->facts.curve_points;

	for (i = 0; i + 1 < n; i += 2) {
		p[i / 2] = p[i + 1];
		if (p[i].peak > p[i / 2].peak)
			p[i / 2].peak = p[i].peak;
	}
	c->facts.curve_points = n / 2;
	c->point_step *= 2;
}

static void
curve_point(struct compiler *c)
{
	struct live_point *p;

	/* one place is left for the last point */
	if (c->facts.curve_points >= CURVE_POINTS - 1)
		curve_thin(c);
	p = &c->facts.curve[c->facts.curve_points++];
	p->done = c->facts.words + c->used;
	p->clock = c->clock;
	p->blocks = c->live_blocks;
	p->bytes = c->live_bytes;
	p->peak = c->point_peak;
	c->point_peak = c->live_bytes;
	c->point_left = c->point_step;
}

static tel_status
start(struct compiler *c, const tel_alloc *op)
{
	c->started = 1;
	c->threads = calloc(c->threads_max, sizeof(*c->threads));
	if (c->threads == NULL)
		return compiler_no_memory(c);
	if (op != NULL)
		c->facts.first_clock = op->clock;
	c->facts.order = c->order;
	c->facts.window_share = c->window_share;
	c->facts.window_operations = c->window_operations;
	return program_start(c);
}

/*
 * Each process has its own addresses and threads.  Those of the first process
 * are used as they are; those of the others are xored with the number of their
 * process, in bits that are 0 in every user-space address.
 */
static int
process_enter(struct compiler *c, uint64_t process)
{
	struct tel__entry *e;
	int fresh;

	e = tel__table_put(&c->processes, process, &fresh);
	if (e == NULL)
		return -1;
	if (fresh)
		e->value = (uint32_t)c->processes.count - 1;
	c->process = process;
	c->tag = (uint64_t)e->value << TAG_SHIFT;
	return 0;
}

static void
tag(const struct compiler *c, uint64_t *address)
{
	if (*address != 0)
		*address ^= c->tag;
}

/* Where the address that an operation starts from is in the table, or NULL. */
static const struct tel__entry *
expected(const struct compiler *c, const tel_alloc *op)
{
	uint64_t address =
	    op->kind == TEL_ALLOC_REALLOC ? op->old : op->address;

	return c->table.entries == NULL ?
	    NULL :
	    &c->table.entries[tel__table_home(&c->table, address ^ c->tag)];
}

void
compiler_expect(const struct compiler *c, const tel_alloc *op)
{
	const struct tel__entry *e = expected(c, op);

	if (e != NULL)
		__builtin_prefetch(e, 1);
}

void
compiler_approach(const struct compiler *c, const tel_alloc *op)
{
	const struct tel__entry *e = expected(c, op);

	/* nearly all blocks are at home there */
	if (e != NULL && e->key != 0)
		__builtin_prefetch(&c->blocks[e->value], 1);
}

tel_status
compiler_add(struct compiler *c, const tel_alloc *op, uint64_t event)
{
	tel_alloc tagged;
	struct thread *t;
	tel_status st;

	if (c->failed != TEL_OK || c->ended)
		return TEL_ESTATE;
	if (!c->started && (st = start(c, op)) != TEL_OK)
		return st;
	if (op->kind > TEL_ALLOC_POOL_DESCRIBE)
		return TEL_OK;
	if ((op->process != c->process || c->processes.count == 0) &&
	    process_enter(c, op->process) != 0)
		return compiler_no_memory(c);
	if (c->tag != 0) {
		tagged = *op;
		tagged.thread ^= c->tag;
		tag(c, &tagged.address);
		tag(c, &tagged.old);
		tag(c, &tagged.pool);
		tag(c, &tagged.buffer);
		op = &tagged;
	}
	c->event = event;
	c->thread_id = op->thread;
	c->clock = op->clock;
	c->now++;
	if (op->kind < ALLOC_KINDS)
		c->facts.operations[op->kind]++;
	c->facts.by_new +=
	    op->call == TEL_CALL_CXX && op->kind != TEL_ALLOC_FREE;
	c->facts.by_delete +=
	    op->call >= TEL_CALL_CXX && op->kind == TEL_ALLOC_FREE;
	c->facts.by_sized +=
	    op->call == TEL_CALL_C_SIZED || op->call == TEL_CALL_CXX_SIZED;
	c->call = TEL_CALL_C;
	if (op->kind == TEL_ALLOC_THREAD_END)
		return thread_end(c, op->thread) == 0 ? TEL_OK :
		                                        compiler_no_memory(c);
	t = c->last_thread;
	if (t == NULL || c->last_thread_id != op->thread)
		t = thread_find(c, op->thread);
	if (t == NULL)
		return compiler_no_memory(c);
	if (c->reorder_used > 0 && (st = reorder_expire(c, 0)) != TEL_OK)
		return st;
	st = compile_operation(c, t, op);
	/* a failure deeper down has set the error already */
	if (st != TEL_OK || (st = c->failed) != TEL_OK)
		return st;
	if (--c->point_left == 0)
		curve_point(c);
	if (c->used >= c->chunk_words)
		return chunk_end(c);
	return TEL_OK;
}

tel_status
compiler_finish(struct compiler *c)
{
	tel_status st = TEL_OK;

	if (c->failed != TEL_OK || c->ended)
		return TEL_ESTATE;
	if (!c->started)
		st = start(c, NULL);
	if (st == TEL_OK)
		st = reorder_expire(c, 1);
	if (st == TEL_OK)
		st = pools_finish(c);
	if (st != TEL_OK)
		return st;
	if (c->facts.threads == 0)
		c->facts.threads = 1;
	c->facts.last_clock = c->clock;
	curve_point(c);
	blocks_finish(c);
	if ((st = chunk_end(c)) != TEL_OK)
		return st;
	c->ended = 1;
	return program_end(c);
}
