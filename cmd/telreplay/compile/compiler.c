/* SPDX-License-Identifier: BSD-2-Clause */
/* The compiler: what becomes of each operation, and the facts of a trace. */
#include "telreplay/compile/emit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report/lifetimes.h"

#define EVENTS_OF_A_KIND 10 /* of anomalies that are kept */
#define POINT_STEP 64 /* operations between points, until there are many */
/* So many blocks are in the first cache of a processor anyway. */
#define BLOCKS_NEAR 256

const struct compiler_settings compiler_defaults = {
	.order = ORDER_EDGES,
	.window_share = 0.02,
	.window_min = WINDOW_MIN,
	.threads = 256,
	.max_live = UINT64_C(1) << 26,
	.chunk = (size_t)1 << 20,
};

struct compiler *
compiler_new(tel_output *out, const struct compiler_settings *set)
{
	struct compiler *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->out = out;
	c->set = *set;
	c->idle = 1;
	c->window = 1;
	c->window_max = 1;
	c->point_left = c->point_step = POINT_STEP;
	c->facts.logs = 1;
	c->facts.order = set->order;
	c->facts.selected = set->selected != 0;
	memcpy(c->facts.log_names[0], "-", 2);
	c->resized = NO_SLOT;
	tel__live_init(&c->live, block_change, c);
	c->live.max = (size_t)set->max_live;
	tel__table_init(&c->thread_by_id);
	tel__table_init(&c->logs);
	tel__table_init(&c->processes);
	tel__table_init(&c->images);
	tel__table_init(&c->reorder_by_key);
	emit_rate(c);
	c->threads = calloc(set->threads, sizeof(*c->threads));
	if (!pools_open(c) || c->threads == NULL) {
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
	tel__live_clear(&c->live);
	tel__table_clear(&c->logs);
	tel__table_clear(&c->processes);
	tel__table_clear(&c->images);
	tel__table_clear(&c->reorder_by_key);
	pools_close(c);
	threads_close(c);
	free(c->lifetimes);
	free(c->resolution.steps);
	free(c->blocks);
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
	c->idle = 1;
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

void
compiler_set_part(struct compiler *c)
{
	c->facts.selected = 1;
}

tel_status
compiler_enter(struct compiler *c, const struct tel_log *log, int *fresh)
{
	/* the readers of other operands may have been in the same place */
	const uint64_t key = (uintptr_t)log ^
	    tel__hash(log->number, tel__hash(c->operands, TEL__FNV));
	struct tel__entry *e;

	c->log_clock = log->clock;
	*fresh = 0;
	if (key == c->log_key)
		return TEL_OK;
	e = tel__table_put(&c->logs, key, fresh);
	if (e == NULL)
		return compiler_no_memory(c);
	if (*fresh)
		e->value = c->logs.count - 1;
	c->log_key = key;
	c->entered = 0;
	c->log_tag = e->value * UINT64_C(0xd6e8feb86659fd93);
	return TEL_OK;
}

void
compiler_leave(struct compiler *c)
{
	c->log_clock = NULL;
}

tel_status
compiler_set_log(struct compiler *c, const char *name)
{
	struct facts *f = &c->facts;
	char text[LOG_NAME];
	uint64_t i;

	if (c->ended)
		return TEL_ESTATE;
	c->operands++;
	size_t n = strlen(name);
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
		address, c->thread_id ^ c->tag };

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
	if (c->set.strict && facts_damage(f, one->anomaly))
		return compiler_fail(c, TEL_EDAMAGED, "event %llu: %s, 0x%llx",
		    (unsigned long long)one->event, anomaly_text(one->anomaly),
		    (unsigned long long)one->address);
	return TEL_OK;
}

RARE tel_status
anomaly_count(struct compiler *c, enum anomaly anomaly, uint64_t address)
{
	struct anomaly_event one = anomaly_here(c, anomaly, address);

	return anomaly_add(c, &one);
}

/* ----------------------------------------------------------- operations */

/* What the live blocks returned, with the error set. */
static inline tel_status
live_status(struct compiler *c, tel_status st)
{
	return st == TEL_ENOMEM ? compiler_no_memory(c) : st;
}

/* An allocation of any kind. */
static inline tel_status
compiler_allocate(struct compiler *c, const tel_alloc *op)
{
	tel_status st;

	if (op->failed || op->address == 0)
		return anomaly_count(c, ANOMALY_FAILED, op->address);
	if (tel_alloc_bytes(op) > BLOCK_MAX)
		return anomaly_count(c, ANOMALY_ARGUMENT, op->address);
	if (op->alignment > BLOCK_MAX)
		return anomaly_count(c, ANOMALY_IMPOSSIBLE, op->address);
	if ((op->alignment & (op->alignment - 1)) != 0 &&
	    (st = anomaly_count(c, ANOMALY_ALIGNMENT, op->address)) != TEL_OK)
		return st;
	return live_status(c, tel__live_allocate(&c->live, op, c->key_tag));
}

RARE static tel_status
commit(struct compiler *c, struct thread *t, tel_alloc *op)
{
	if (op->buffer == 0)
		return compiler_allocate(c, op);
	uint32_t n = buffer_find(c, t, op);
	if (n == NO_SLOT)
		return compiler_no_memory(c);
	struct pool *b = &c->buffers.all[n];
	if (op->kind == TEL_ALLOC_COMMIT) {
		b->reserved = 0;
		op->pool = c->pools.all[b->pool].address;
		return compiler_allocate(c, op);
	}
	if (b->reserved != 0)
		return anomaly_count(c, ANOMALY_RESERVED, b->at);
	b->reserved = 1;
	b->at = op->address;
	return TEL_OK;
}

/* A free while operations are in the reorder buffer. */
RARE static tel_status
release_reordered(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	int done;
	tel_status st = reorder_freed(c, t, op->address, 1, &done);

	if (st != TEL_OK || done)
		return st;
	c->call = op->call;
	return live_status(c, tel__live_free(&c->live, op, c->key_tag));
}

static inline tel_status
compiler_release(struct compiler *c, struct thread *t, const tel_alloc *op)
{
	if (op->address == 0)
		return anomaly_count(c, ANOMALY_FREE_NULL, 0);
	if (c->reorder_used > 0)
		return release_reordered(c, t, op);
	c->call = op->call;
	return live_status(c, tel__live_free(&c->live, op, c->key_tag));
}

__attribute__((noinline)) static tel_status
reallocate(struct compiler *c, struct thread *t, tel_alloc *op)
{
	tel_status st = TEL_OK;
	int done;

	if (op->size == 0 && op->old != 0)
		st = anomaly_count(c, ANOMALY_REALLOC_ZERO, op->old);
	else if (op->old == 0)
		st = anomaly_count(c, ANOMALY_REALLOC_NULL, op->address);
	if (st != TEL_OK)
		return st;
	if (op->old == 0) {
		op->kind = TEL_ALLOC_MALLOC;
		return compiler_allocate(c, op);
	}
	if (op->size == 0 && op->address == 0) {
		op->kind = TEL_ALLOC_FREE;
		op->address = op->old;
		op->sized = op->failed = 0;
		return compiler_release(c, t, op);
	}
	if (op->failed || op->address == 0)
		return anomaly_count(c, ANOMALY_FAILED, op->old);
	if (op->size > BLOCK_MAX)
		return anomaly_count(c, ANOMALY_ARGUMENT, op->old);
	if (c->reorder_used > 0 &&
	    (st = reorder_freed(c, t, op->old, 0, &done)) != TEL_OK)
		return st;
	return live_status(c, tel__live_take(&c->live, op, c->log_tag));
}

static inline tel_status
compile_operation(struct compiler *c, struct thread *t, tel_alloc *op)
{
	if (op->kind == TEL_ALLOC_FREE)
		return compiler_release(c, t, op);
	if (op->kind == TEL_ALLOC_MALLOC || op->kind == TEL_ALLOC_CALLOC ||
	    op->kind == TEL_ALLOC_ALIGNED)
		return compiler_allocate(c, op);
	if (op->kind == TEL_ALLOC_REALLOC)
		return reallocate(c, t, op);
	if (op->kind == TEL_ALLOC_RESERVE || op->kind == TEL_ALLOC_COMMIT)
		return commit(c, t, op);
	if (op->kind == TEL_ALLOC_PROCESS_END) {
		c->leaving = 1;
		c->leaving_thread = op->thread;
		return live_status(c, tel__live_take(&c->live, op, c->log_tag));
	}
	return op->kind == TEL_ALLOC_NONE ? TEL_OK : pool_operation(c, t, op);
}

/* ------------------------------------------------------------ processes */

/* Numbers of processes are hashed, so that none is the tag of a log. */
static uint64_t
process_key(const struct compiler *c, uint64_t process)
{
	return tel__hash(process, 0) ^ c->log_tag;
}

/*
 * A number for a process: the next one, but none of a process that runs, of
 * which there may be a few when all others have come and gone.
 */
#define PROCESSES_SKIPPED 1024
static uint64_t
process_number(struct compiler *c, uint64_t key)
{
	uint32_t n = c->next_process, skipped = 0;

	while ((c->process_of[n] & 1) != 0 && skipped++ < PROCESSES_SKIPPED)
		n = (n + 1) % TAGS;
	c->process_of[n] = key | 1;
	c->next_process = (n + 1) % TAGS;
	return n;
}

/* All threads of a process end, after what it left was freed. */
static tel_status
process_threads_end(struct compiler *c, uint64_t thread)
{
	const tel_status st = live_settle(&c->live, c->log_tag);

	c->process_of[thread >> TAG_SHIFT] &= ~(uint64_t)1;
	return st != TEL_OK             ? live_status(c, st) :
	    threads_end(c, thread) == 0 ? TEL_OK :
	                                  compiler_no_memory(c);
}

/*
 * A process executes another program: its thread goes on, but nothing else.
 * telrec numbers such programs by the bits above those of the process.
 */
static tel_status
image_start(struct compiler *c, const tel_alloc *op, uint64_t index)
{
	const uint64_t thread = op->thread, process = op->process;
	const uint64_t pid =
	    process & ((UINT64_C(1) << TEL__LIVE_PROCESS_BITS) - 1);
	struct tel__entry *e, *of;
	int fresh;

	e = tel__table_put(&c->images, process_key(c, pid), &fresh);
	if (e == NULL)
		return compiler_no_memory(c);
	uint64_t image = e->value;
	e->value = process;
	if (fresh || process >> TEL__LIVE_PROCESS_BITS == 0)
		return TEL_OK;
	of = tel__table_find(&c->processes, process_key(c, image));
	uint64_t before = of != NULL ? of->value : index;
	of = tel__table_find(&c->thread_by_id, thread ^ before << TAG_SHIFT);
	if (of == NULL)
		return TEL_OK;
	c->thread = thread_running(c, (uint32_t)of->value);
	c->leaving &= c->leaving_thread != (thread ^ before << TAG_SHIFT);
	if (!thread_rename(c, thread ^ before << TAG_SHIFT,
	        thread ^ index << TAG_SHIFT))
		return compiler_no_memory(c);
	const tel_alloc end = { .kind = TEL_ALLOC_PROCESS_END,
		.process = image,
		.clock = op->clock };
	const tel_status st = tel__live_take(&c->live, &end, c->log_tag);
	return st == TEL_OK ? process_threads_end(c, before << TAG_SHIFT) :
	                      live_status(c, st);
}

/*
 * Each process of each log has its own addresses and threads.  Those of the
 * first process are used as they are; threads of the others are xored with the
 * number of their process, in bits that are 0 in every user-space address.
 */
RARE static tel_status
process_enter(struct compiler *c, const tel_alloc *op)
{
	const uint64_t key = process_key(c, op->process);
	struct tel__entry *e;
	tel_status st = TEL_OK;
	int fresh;

	e = tel__table_put(&c->processes, key, &fresh);
	if (e == NULL)
		return compiler_no_memory(c);
	/* one that has ended may have lost its number */
	if (fresh || (c->process_of[e->value] ^ key) > 1)
		e->value = process_number(c, key);
	uint64_t index = e->value;
	if (fresh)
		st = image_start(c, op, index);
	c->process = op->process;
	c->entered = 1;
	c->tag = index << TAG_SHIFT;
	c->key_tag = tel__live_tag(op, c->log_tag);
	return st;
}

/* The thread of a process that has ended frees what that left. */
RARE static tel_status
process_leave(struct compiler *c)
{
	const struct tel__entry *e =
	    tel__table_find(&c->thread_by_id, c->leaving_thread);

	c->leaving = 0;
	if (e != NULL)
		c->thread = thread_running(c, (uint32_t)e->value);
	return process_threads_end(c, c->leaving_thread);
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

RARE static void
curve_point(struct compiler *c)
{
	/* one place is left for the last point */
	if (c->facts.curve_points >= CURVE_POINTS - 1)
		curve_thin(c);
	struct live_point *p = &c->facts.curve[c->facts.curve_points++];
	p->done = c->facts.words + c->used;
	p->clock = c->clock;
	p->blocks = c->live_blocks;
	p->bytes = c->live_bytes;
	p->peak = c->point_peak;
	c->point_peak = c->live_bytes;
	c->point_left = c->point_step;
}

/* Before the first operation, or the end without one; or after a failure. */
RARE static tel_status
compiler_start(struct compiler *c, const tel_alloc *op)
{
	if (c->failed != TEL_OK || c->ended)
		return TEL_ESTATE;
	c->idle = 0;
	if (op != NULL)
		c->facts.first_clock = op->clock;
	program_start(c);
	return TEL_OK;
}

uint64_t
compiler_operations(const struct compiler *c)
{
	return c->now;
}

uint64_t
compiler_samples(const struct compiler *c)
{
	return c->samples;
}

/* Tells what belongs to a process from what others have. */
static inline void
tag(const struct compiler *c, tel_alloc *op)
{
	if (c->tag == 0)
		return;
	op->thread ^= c->tag;
	if (op->pool != 0)
		op->pool ^= c->tag;
	if (op->buffer != 0)
		op->buffer ^= c->tag;
}

static void
operation_count(struct compiler *c, const tel_alloc *op)
{
	struct facts *f = &c->facts;
	int frees = op->kind == TEL_ALLOC_FREE;

	c->now++;
	if (op->kind < ALLOC_KINDS)
		f->operations[op->kind]++;
	if (op->call == TEL_CALL_C)
		return;
	f->by_new += op->call == TEL_CALL_CXX && !frees;
	f->by_delete += op->call >= TEL_CALL_CXX && frees;
	f->by_sized +=
	    op->call == TEL_CALL_C_SIZED || op->call == TEL_CALL_CXX_SIZED;
}

/* Compiles an operation of a compiler that has started. */
__attribute__((always_inline)) static inline tel_status
operation_add(struct compiler *c, tel_alloc *op, uint64_t event)
{
	tel_status st;

	c->event = event;
	c->clock = op->clock;
	c->call = TEL_CALL_C;
	operation_count(c, op);
	if ((op->process != c->process || !c->entered) &&
	    (st = process_enter(c, op)) != TEL_OK)
		return st;
	tag(c, op);
	if (__builtin_expect(c->leaving, 0) &&
	    (st = process_leave(c)) != TEL_OK)
		return st;
	c->thread_id = op->thread;
	if (__builtin_expect(op->weight != 0, 0)) {
		c->samples++;
		op->weight = 0;
	}
	if (op->kind == TEL_ALLOC_THREAD_END)
		return thread_end(c, op->thread) == 0 ? TEL_OK :
		                                        compiler_no_memory(c);
	struct thread *t = c->last_thread;
	if (t == NULL || c->last_thread_id != op->thread) {
		/* the C library frees NULL behind the end of a thread */
		if (op->kind == TEL_ALLOC_FREE && op->address == 0)
			return anomaly_count(c, ANOMALY_FREE_NULL, 0);
		/* what a process without a thread left, the first one frees */
		t = op->kind == TEL_ALLOC_PROCESS_END && c->thread_count > 0 &&
		        tel__table_find(&c->thread_by_id, op->thread) == NULL ?
		    thread_running(c, 0) :
		    thread_find(c, op->thread);
	}
	if (t == NULL)
		return compiler_no_memory(c);
	c->thread = t;
	if (c->reorder_used > 0 && (st = reorder_expire(c, 0)) != TEL_OK)
		return st;
	if (!op->failed && (st = live_settle(&c->live, c->log_tag)) != TEL_OK)
		return live_status(c, st);
	st = compile_operation(c, t, op);
	/* a failure deeper down has set the error already */
	if (st != TEL_OK || (st = c->failed) != TEL_OK)
		return st;
	if (--c->point_left == 0)
		curve_point(c);
	return c->used < c->set.chunk ? TEL_OK : chunk_end(c);
}

tel_status
compiler_add(struct compiler *c, tel_alloc *op, uint64_t event)
{
	tel_status st;

	if (c->idle && (st = compiler_start(c, op)) != TEL_OK)
		return st;
	return operation_add(c, op, event);
}

/*
 * Operations of a run, so many that the memory which one needs is fetched while
 * those before it are compiled.
 */
#define BATCH_OPERATIONS 16
struct operation_batch {
	struct tel__live_plans plans;
	unsigned count;
	uint32_t at[BATCH_OPERATIONS]; /* numbers of events in the run */
	tel_alloc ops[BATCH_OPERATIONS];
};

/*
 * Makes operations of the events from i on, up to one that describes a pool.
 * Returns the number of the event behind them.
 */
static size_t
batch_make(struct operation_batch *b, const tel_run *run, size_t i)
{
	int describes = 0;

	for (b->count = 0;
	     i < run->count && b->count < BATCH_OPERATIONS && !describes; i++) {
		tel_alloc *op = &b->ops[b->count];

		if (!tel__live_operation(&b->plans, run, i, op))
			continue;
		b->at[b->count++] = (uint32_t)i;
		describes = alloc_describes(op->kind);
	}
	return i;
}

/*
 * Fetches the blocks of the operations.  Without a test whether there is one,
 * whose outcome nobody could foresee: the place of none is that of another.
 */
static void
batch_fetch(const struct compiler *c, const struct operation_batch *b)
{
	const struct tel__table *t = &c->live.by_key;

	if (t->count < BLOCKS_NEAR)
		return;
	for (unsigned i = 0; i < b->count; i++) {
		const tel_alloc *op = &b->ops[i];
		const uint64_t address =
		    op->kind == TEL_ALLOC_REALLOC ? op->old : op->address;
		const size_t place =
		    t->entries[tel__table_home(t,
		                   address ^ tel__live_tag(op, c->log_tag))]
		        .value;
		const struct tel__live_block *live = &c->live.blocks[place];

		/* each may be in two lines of the cache */
		__builtin_prefetch(&live->size, 1);
		__builtin_prefetch(&live->next, 1);
		__builtin_prefetch(&c->blocks[place].full, 1);
		__builtin_prefetch(&c->blocks[place].pool, 1);
	}
}

tel_status
compiler_add_run(struct compiler *c, const tel_run *run, size_t *i,
    tel_alloc_kind *kind)
{
	struct operation_batch b;
	tel_status st = TEL_OK;

	memset(b.plans.of, 0xff, sizeof(b.plans.of));
	*kind = TEL_ALLOC_NONE;
	while (*i < run->count && st == TEL_OK && !alloc_describes(*kind)) {
		*i = batch_make(&b, run, *i);
		batch_fetch(c, &b);
		if (c->idle && b.count > 0)
			st = compiler_start(c, &b.ops[0]);
		for (unsigned k = 0; k < b.count && st == TEL_OK; k++) {
			*kind = b.ops[k].kind;
			st = operation_add(c, &b.ops[k],
			    run->index + run->numbers[b.at[k]]);
		}
	}
	return st;
}

/* Facts of the lifetimes, which the heap counts until the end. */
static void
lifetimes_finish(struct compiler *c)
{
	struct facts *f = &c->facts;

	for (size_t i = 0; i < REPORT_LIFETIMES; i++)
		(void)tel__lifetimes_quantile(c->lifetimes,
		    report_lifetimes[i].share, &f->lifetimes[i]);
	tel__lifetimes_powers(c->lifetimes, f->lived_ns);
	if (c->lifetimes != NULL)
		(void)tel__lifetimes_resolution(&c->resolution,
		    &f->lifetimes_clock);
}

tel_status
compiler_finish(struct compiler *c)
{
	tel_status st = TEL_OK;

	if (c->idle)
		st = compiler_start(c, NULL);
	if (st == TEL_OK)
		st = reorder_expire(c, 1);
	if (st == TEL_OK)
		st = pools_finish(c);
	if (st != TEL_OK)
		return st;
	if (c->facts.threads == 0)
		c->facts.threads = 1;
	curve_point(c);
	blocks_finish(c);
	lifetimes_finish(c);
	if ((st = chunk_end(c)) != TEL_OK)
		return st;
	c->ended = c->idle = 1;
	return program_end(c);
}
