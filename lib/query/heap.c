/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps: allocations by stack, or by pool, what of them is live, and how long
 * they lived.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/getter.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/lifetimes.h"
#include "model/live.h"
#include "model/role.h"
#include "model/stacks.h"
#include "query/heap.h"
#include "query/pools.h"
#include "tel/heap.h"

/* Distinct stacks; all others count as one more. */
#define SITES_MAX ((size_t)1 << 20)
/* Bytes of a key that distinguish it. */
#define KEY_MAX 1024

/* What a stack allocated. */
struct site {
	uint32_t node;
	struct tel__lifetimes *lifetimes;
	uint64_t allocations, bytes, temporary;
	uint64_t live_blocks, live_bytes;
	uint64_t left_blocks, left_bytes; /* by processes that have ended */
	/*
	 * As it was at peak number .peak; the live blocks now, if that is not
	 * the last peak: nothing has changed since.
	 */
	uint64_t peak, peak_blocks, peak_bytes;
};

/* A thread: the block that it allocated last, as its place and 1. */
struct thread {
	uint32_t last;
	struct tel__lifetimes_thread clock;
};

/* The units of times: ticks are of a log whose rate is unknown. */
#define UNIT_NS 1
#define UNIT_TICKS 2
#define UNIT_BOTH 3

struct tel_heap {
	int begun;
	unsigned units; /* UNIT_*, of its times */
	tel_expr *key;  /* NULL: stacks */
	/*
	 * It counts samples of stacks alone: of the innermost frame, the child
	 * that has the name of the type is the site's node.
	 */
	int samples;
	uint32_t
	    type;    /* the number of that name, of the first sample; 0: none */
	int several; /* others have other types */
	uint64_t min_age;
	uint64_t end; /* the latest clock */
	uint64_t peak_time;
	struct tel_clock *clock; /* of the log of the last event */
	struct tel__stacks stacks;
	struct tel__table pools; /* names of pools */
	struct site *sites;
	size_t nsites, site_room;
	struct tel__live live;         /* the owner of a block is its site */
	const struct tel_event *event; /* that is taken, of a log with a tag */
	uint64_t tag;
	tel_value value; /* of the key */
	/* where no stack is recorded: the nodes of a process, by size */
	int has_classes;
	uint64_t class_process;
	uint32_t class_nodes[TEL__HEAP_CLASSES];
	uint64_t untracked, unknown;
	tel__live_fn *also; /* of the event; or NULL */
	void *also_arg;
	tel__heap_fn *watch; /* NULL: no one asks */
	void *watch_arg;
	/*
	 * What the allocations are, by the first: blocks, or samples, of which
	 * there are two kinds.  Those of others would be counted twice.
	 */
	enum { HEAP_NONE, HEAP_BLOCKS, HEAP_SAMPLES, HEAP_SIZED_SAMPLES } kind;
	struct tel__table thread_places; /* by process and number, and 1 */
	uint64_t thread_key;             /* of the last one, */
	uint32_t thread;                 /* its place */
	struct thread *threads;
	size_t nthreads, thread_room;
	uint32_t *allocators; /* of blocks by place: the thread's place */
	size_t allocator_room;
	struct tel__lifetimes *lifetimes; /* of all */
	/* times between clocks of a thread, for each block allocated there */
	struct tel__lifetimes_clock resolution;
	uint64_t before;      /* live bytes of the logs that have ended */
	uint64_t most, peaks; /* bytes */
	struct order {
		uint64_t weight;
		uint32_t site;
	} * order; /* NULL: as they occurred */
};

static tel__live_fn heap_change;

tel_heap *
tel_heap_new(void)
{
	struct tel_heap *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return NULL;
	if (!tel__stacks_init(&h->stacks)) {
		free(h);
		return NULL;
	}
	tel__live_init(&h->live, heap_change, h);
	tel__table_init(&h->pools);
	tel__table_init(&h->thread_places);
	h->peaks = 1;
	return h;
}

tel_status
tel_heap_set_lines(tel_heap *h, int on)
{
	if (h->begun)
		return TEL_ESTATE;
	h->stacks.lines = on != 0;
	return TEL_OK;
}

tel_status
tel_heap_set_key(tel_heap *h, tel_expr *key)
{
	tel_expr_free(h->key);
	h->key = key;
	return h->begun ? TEL_ESTATE : TEL_OK;
}

tel_status
tel_heap_set_samples(tel_heap *h, int on)
{
	if (h->begun)
		return TEL_ESTATE;
	h->samples = on != 0;
	return TEL_OK;
}

void
tel__heap_set_classes(struct tel_heap *h)
{
	h->has_classes = 1;
}

void
tel__heap_watch(struct tel_heap *h, tel__heap_fn *watch, void *arg)
{
	h->watch = watch;
	h->watch_arg = arg;
}

tel_status
tel_heap_set_min_age(tel_heap *h, uint64_t ns)
{
	if (h->begun)
		return TEL_ESTATE;
	h->min_age = ns;
	return TEL_OK;
}

/* ---------------------------------------------------------------- sites */

/* The site of a node, made when it is new; NULL: no memory. */
static struct site *
find_site(struct tel_heap *h, uint32_t node)
{
	uint32_t *number = tel__stacks_user(&h->stacks, node);

	if (*number == 0 && h->nsites >= SITES_MAX) {
		node = tel__stacks_others(&h->stacks);
		if (node == 0)
			return NULL;
		number = tel__stacks_user(&h->stacks, node);
	}
	if (*number == 0) {
		if (!TEL__RESERVE_ZEROED(h->sites, h->site_room, h->nsites + 1))
			return NULL;
		struct site *s = &h->sites[h->nsites++];
		s->node = node;
		*number = (uint32_t)h->nsites;
	}
	return &h->sites[*number - 1];
}

/* --------------------------------------------------------------- blocks */

/* The time between two readings of the clock. */
static uint64_t
heap_between(struct tel_heap *h, uint64_t from, uint64_t to)
{
	h->units |= tel__clock_rate(h->clock) > 0 ? UNIT_NS : UNIT_TICKS;
	return tel__lifetimes_between(h->clock, from, to);
}

/* How long a block lived. */
static tel_status
heap_count_lifetime(struct tel_heap *h, struct site *s,
    const struct tel__live_block *b)
{
	const uint64_t time = heap_between(h, b->clock, h->event->clock);
	tel_status st = tel__lifetimes_add(&s->lifetimes, time, b->blocks);

	if (st == TEL_OK)
		st = tel__lifetimes_add(&h->lifetimes, time, b->blocks);
	return st == TEL_OK && h->watch != NULL ?
	    h->watch(h->watch_arg, 1, time, b->blocks) :
	    st;
}

/* -------------------------------------------------------------- threads */

/* The place of the thread that an operation is of; UINT32_MAX: no memory. */
static uint32_t
heap_find_thread(struct tel_heap *h, const tel_alloc *op, uint64_t tag)
{
	const uint64_t key = tel__hash(op->thread, tel__live_tag(op, tag));
	struct tel__entry *e;
	int fresh;

	if (h->nthreads > 0 && key == h->thread_key)
		return h->thread;
	if (!TEL__RESERVE_ZEROED(h->threads, h->thread_room, h->nthreads + 1) ||
	    (e = tel__table_put(&h->thread_places, key, &fresh)) == NULL)
		return UINT32_MAX;
	if (fresh)
		e->value = h->nthreads++;
	h->thread_key = key;
	h->thread = (uint32_t)e->value;
	return h->thread;
}

/* A thread has allocated a block. */
static tel_status
set_last(struct tel_heap *h, const struct tel__live_block *b,
    const tel_alloc *op, uint64_t tag)
{
	const size_t place = (size_t)(b - h->live.blocks);
	const uint32_t thread = heap_find_thread(h, op, tag);

	if (thread == UINT32_MAX ||
	    !TEL__RESERVE(h->allocators, h->allocator_room, place + 1))
		return TEL_ENOMEM;
	/* between samples it has allocated more */
	h->threads[thread].last = op->weight == 0 ? (uint32_t)place + 1 : 0;
	h->allocators[place] = thread;
	return tel__lifetimes_allocated(&h->resolution,
	    &h->threads[thread].clock, h->clock, op->clock);
}

/* A block ends; nonzero when its thread has not allocated since. */
static int
was_last(struct tel_heap *h, const struct tel__live_block *b)
{
	const uint32_t place = (uint32_t)(b - h->live.blocks);
	struct thread *t = &h->threads[h->allocators[place]];
	const int last = t->last == place + 1;

	if (last)
		t->last = 0;
	return last;
}

/* Before the live blocks of a site change: keeps what they were at the peak. */
static void
keep_peak(const struct tel_heap *h, struct site *s)
{
	if (s->peak == h->peaks)
		return;
	s->peak = h->peaks;
	s->peak_blocks = s->live_blocks;
	s->peak_bytes = s->live_bytes;
}

static uint64_t
add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* The node of the value of the key for the event; 0: no memory. */
static uint32_t
heap_find_value(struct tel_heap *h)
{
	char buffer[KEY_MAX];
	size_t n = h->value.missing ?
	    (size_t)snprintf(buffer, sizeof(buffer), "<none>") :
	    tel_value_text(&h->value, buffer, sizeof(buffer));

	if (n >= sizeof(buffer))
		n = sizeof(buffer) - 1;
	/* a frame has neither */
	for (size_t i = 0; i < n; i++)
		if (buffer[i] == ';' || (unsigned char)buffer[i] < ' ')
			buffer[i] = buffer[i] == ';' ? ':' : '?';
	h->stacks.recorded = 1;
	return tel__stacks_name(&h->stacks, 0, buffer, n);
}

/* The node of the process and the size of a block; 0: no memory. */
static uint32_t
heap_find_class(struct tel_heap *h, const tel_alloc *op)
{
	static const char *const names[TEL__HEAP_CLASSES] = { "to 64 B",
		"to 1 KiB", "to 16 KiB", "to 256 KiB", "above 256 KiB" };
	const uint64_t size = tel_alloc_bytes(op);
	char process[40];
	unsigned i = 0;

	while (i < TEL__HEAP_CLASSES - 1 && size > UINT64_C(64) << 4 * i)
		i++;
	if (h->class_process != op->process)
		memset(h->class_nodes, 0, sizeof(h->class_nodes));
	h->class_process = op->process;
	if (h->class_nodes[i] == 0) {
		(void)snprintf(process, sizeof(process), "process %llu",
		    (unsigned long long)op->process);
		uint32_t node =
		    tel__stacks_name(&h->stacks, 0, process, strlen(process));
		h->class_nodes[i] = node == 0 ?
		    0 :
		    tel__stacks_name(&h->stacks, node, names[i],
		        strlen(names[i]));
	}
	return h->class_nodes[i];
}

/* The node of the stack and the type of a sample; 0: no memory. */
static uint32_t
heap_find_sample(struct tel_heap *h, struct tel__stack_log *l)
{
	const struct tel_event *ev = h->event;
	const uint32_t stack = tel__stacks_find(&h->stacks, l, ev, 0);
	const uint32_t type = tel__stacks_intern(&h->stacks, ev->type->name,
	    ev->type->name_length);

	if (stack == 0 || type == 0)
		return 0;
	if (h->type == 0)
		h->type = type;
	h->several |= type != h->type;
	return tel__stacks_child(&h->stacks, stack, type);
}

/* The node of the stack, or of the pool, that allocates; 0: no memory. */
static uint32_t
heap_find_node(struct tel_heap *h, const tel_alloc *op)
{
	const struct tel_event *ev = h->event;
	struct tel__stack_log *l = tel__stacks_log(&h->stacks, ev->log);

	if (l == NULL)
		return 0;
	if (h->key != NULL)
		return heap_find_value(h);
	if (h->samples)
		return heap_find_sample(h, l);
	if (h->has_classes && ev->type->role_field[TEL_PART_STACK] < 0)
		return heap_find_class(h, op);
	if (!tel__pools_has(ev->type))
		return tel__stacks_find(&h->stacks, l, ev, op->process);
	h->stacks.recorded = 1;
	return tel__pools_find(&h->pools, &h->stacks, ev, op,
	    tel__live_pool_of(&h->live, op, l->tag), l->tag);
}

/* Counts blocks for the site that allocates them; NULL: no memory. */
static struct site *
count_allocation(struct tel_heap *h, const tel_alloc *op, uint64_t blocks,
    uint64_t bytes)
{
	uint32_t node = heap_find_node(h, op);
	struct site *s = node == 0 ? NULL : find_site(h, node);

	if (s == NULL)
		return NULL;
	s->allocations += blocks;
	s->bytes = add_saturated(s->bytes, bytes);
	return s;
}

static tel_status
begin_block(struct tel_heap *h, struct tel__live_block *b, const tel_alloc *op,
    int tracked)
{
	struct site *s = count_allocation(h, op, b->blocks, b->size);

	tel_status st = TEL_OK;

	if (s == NULL)
		return TEL_ENOMEM;
	if (h->watch != NULL)
		st = h->watch(h->watch_arg, 0, b->size, b->blocks);
	if (st != TEL_OK || !tracked) {
		h->untracked += !tracked;
		return st;
	}
	b->owner = (uint32_t)(s - h->sites);
	keep_peak(h, s);
	s->live_blocks += b->blocks;
	s->live_bytes += b->size;
	const uint64_t live = add_saturated(h->before, h->live.bytes);
	if (live > h->most) {
		h->most = live;
		h->peak_time = heap_between(h, tel__clock_origin(h->clock),
		    h->event->clock);
		h->peaks++;
	}
	return set_last(h, b, op, h->tag);
}

/*
 * Of a block that was replaced it is not known when it ended; what a process
 * left would have lived on.
 */
static tel_status
heap_end_block(struct tel_heap *h, const struct tel__live_block *b,
    enum tel__live_what what)
{
	struct site *s = &h->sites[b->owner];
	tel_status st = TEL_OK;

	keep_peak(h, s);
	s->live_blocks -= b->blocks;
	s->live_bytes -= b->size;
	if (what == TEL__LIVE_LEFT) {
		s->left_blocks += b->blocks;
		s->left_bytes = add_saturated(s->left_bytes, b->size);
	} else if (what != TEL__LIVE_REPLACED) {
		st = heap_count_lifetime(h, s, b);
	}
	if (was_last(h, b) && what == TEL__LIVE_FREED)
		s->temporary += b->blocks;
	return st;
}

static tel_status
heap_change(void *arg, enum tel__live_what what, struct tel__live_block *block,
    const tel_alloc *op)
{
	struct tel_heap *h = arg;
	struct site *s;
	tel_status st;

	st = h->also == NULL ? TEL_OK : h->also(h->also_arg, what, block, op);
	if (st != TEL_OK || h->kind != HEAP_BLOCKS)
		return st;
	switch (what) {
	case TEL__LIVE_ALLOCATED: return begin_block(h, block, op, 1);
	case TEL__LIVE_UNTRACKED: return begin_block(h, block, op, 0);
	case TEL__LIVE_FREED:
	case TEL__LIVE_RESIZED:
	case TEL__LIVE_POOL_DESTROYED:
	case TEL__LIVE_LEFT:
	case TEL__LIVE_REPLACED: return heap_end_block(h, block, what);
	case TEL__LIVE_PART_FREED:
		s = &h->sites[block->owner];
		keep_peak(h, s);
		s->live_bytes -= op->size;
		return TEL_OK;
	case TEL__LIVE_UNKNOWN: h->unknown++; break;
	case TEL__LIVE_INHERITED: break;
	}
	return TEL_OK;
}

/* Nonzero when an operation may allocate a block. */
static int
is_allocation(const tel_alloc *op)
{
	return (op->kind <= TEL_ALLOC_REALLOC && op->kind != TEL_ALLOC_FREE) ||
	    op->kind == TEL_ALLOC_COMMIT;
}

/* Nonzero when events of the type are of the kind that is counted. */
static int
set_kind(struct tel_heap *h, const struct tel_type *t, int sample)
{
	const unsigned kind = !sample        ? HEAP_BLOCKS :
	    t->role_field[TEL_PART_SIZE] < 0 ? HEAP_SAMPLES :
	                                       HEAP_SIZED_SAMPLES;

	if (h->samples)
		return sample;
	if (h->kind == HEAP_NONE)
		h->kind = kind;
	return h->kind == kind;
}

/* Nonzero when events of the type are samples that are counted. */
static int
heap_is_sample(const struct tel_heap *h, const struct tel_type *t)
{
	return h->samples ? t->role == TEL_ROLE_SAMPLE :
	                    tel_type_samples_allocs(t);
}

/* The bytes, or the time, that a sample stands for; 1: it has no weight. */
static uint64_t
heap_weight_of(const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	const int part = t->role_field[TEL_PART_WEIGHT];

	return part < 0 ? 1 : tel_load(&t->fields[part], ev->data);
}

tel_status
tel__heap_take(tel_heap *h, const tel_event *event, const tel_alloc *op,
    tel__live_fn *also, void *arg)
{
	const int sample = heap_is_sample(h, event->type);
	tel_status st = TEL_OK;

	if (!tel_event_timeless(event))
		tel__heap_reach(h, event->clock);
	if (op == NULL || op->failed ||
	    (!set_kind(h, event->type, sample) && (sample || also == NULL)))
		return TEL_OK;
	h->begun = 1;
	struct tel__stack_log *l = tel__stacks_log(&h->stacks, event->log);
	if (l == NULL)
		return TEL_ENOMEM;
	if (h->order != NULL) {
		free(h->order);
		h->order = NULL;
	}
	h->event = event;
	h->tag = l->tag;
	h->also = also;
	h->also_arg = arg;
	if (h->clock != event->log->clock) {
		tel__clock_free(h->clock);
		h->clock = tel__clock_share(event->log->clock);
	}
	if (h->key != NULL && (sample || is_allocation(op)))
		st = tel_expr_eval(h->key, event, &h->value);
	if (st != TEL_OK)
		return st;
	if (sample)
		return count_allocation(h, op, 1, heap_weight_of(event)) ==
		        NULL ?
		    TEL_ENOMEM :
		    TEL_OK;
	st = tel__live_take(&h->live, op, l->tag);
	if (st == TEL_OK &&
	    !tel__pools_note(&h->pools, &h->stacks, event, op, l->tag))
		st = TEL_ENOMEM;
	return st;
}

tel_status
tel_heap_event(tel_heap *h, const tel_event *event)
{
	tel_alloc op;
	int counts = 1;

	if (heap_is_sample(h, event->type))
		memset(&op, 0, sizeof(op));
	else
		counts = tel_type_is_alloc(event->type) &&
		    tel__event_alloc(event, &op);
	return tel__heap_take(h, event, counts ? &op : NULL, NULL, NULL);
}

struct tel__live *
tel__heap_blocks(tel_heap *h, const struct tel_log *log, uint64_t *tag)
{
	const struct tel__stack_log *l = tel__stacks_log(&h->stacks, log);

	if (l == NULL)
		return NULL;
	*tag = l->tag;
	return &h->live;
}

void
tel__heap_reach(tel_heap *h, uint64_t clock)
{
	if (clock > h->end)
		h->end = clock;
}

/* Live blocks that are too young are not counted as live. */
static void
drop_young(struct tel_heap *h)
{
	const struct tel__table *t = &h->live.by_key;

	/* the last entry is that of the key 0 */
	for (size_t i = 0; t->count > 0 && i <= t->mask + 1; i++) {
		const struct tel__entry *e = &t->entries[i];

		if (e->key == 0)
			continue;
		const struct tel__live_block *b = &h->live.blocks[e->value];
		if (tel__lifetimes_between(h->clock, b->clock, h->end) >=
		    h->min_age)
			continue;
		struct site *s = &h->sites[b->owner];
		keep_peak(h, s);
		s->live_blocks -= b->blocks;
		s->live_bytes -= b->size;
		h->live.bytes -= b->size;
	}
}

void
tel_heap_end(tel_heap *h)
{
	if (h->min_age > 0)
		drop_young(h);
	h->before = add_saturated(h->before, h->live.bytes);
	tel__stacks_end(&h->stacks);
	tel__live_clear(&h->live);
	tel__table_clear(&h->pools);
	tel__table_clear(&h->thread_places);
}

void
tel_heap_free(tel_heap *h)
{
	if (h == NULL)
		return;
	tel_heap_end(h);
	tel__stacks_clear(&h->stacks);
	for (size_t i = 0; i < h->nsites; i++)
		free(h->sites[i].lifetimes);
	free(h->sites);
	free(h->order);
	free(h->lifetimes);
	free(h->resolution.steps);
	free(h->threads);
	free(h->allocators);
	tel__clock_free(h->clock);
	tel_expr_free(h->key);
	free(h);
}

/* -------------------------------------------------------------- results */

static const char *const weights[] = {
	[TEL_HEAP_ALLOCATED] = "allocated",
	[TEL_HEAP_PEAK] = "peak",
	[TEL_HEAP_LEAKED] = "leaked",
	[TEL_HEAP_COUNT] = "count",
};

int
tel_heap_find_weight(const char *name, tel_heap_weight *out)
{
	for (unsigned i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
		if (strcmp(name, weights[i]) == 0) {
			*out = (tel_heap_weight)i;
			return 1;
		}
	return 0;
}

TEL__GETTER(size_t, tel_heap_count, tel_heap, nsites)

static const struct site *
site_at(const struct tel_heap *h, size_t i)
{
	return &h->sites[h->order != NULL ? h->order[i].site : i];
}

static void
heap_describe(const struct tel_heap *h, const struct site *s,
    tel_heap_stack *out)
{
	const int same = s->peak != h->peaks;

	out->allocations = s->allocations;
	out->allocated_bytes = s->bytes;
	out->peak_blocks = same ? s->live_blocks : s->peak_blocks;
	out->peak_bytes = same ? s->live_bytes : s->peak_bytes;
	out->live_blocks = s->live_blocks;
	out->live_bytes = s->live_bytes;
	out->leaked_blocks = s->live_blocks + s->left_blocks;
	out->leaked_bytes = add_saturated(s->live_bytes, s->left_bytes);
	out->freed = s->lifetimes != NULL ? s->lifetimes->count : 0;
	out->temporary = s->temporary;
}

int
tel_heap_stack_at(const tel_heap *h, size_t i, tel_heap_stack *out)
{
	if (i >= h->nsites)
		return 0;
	heap_describe(h, site_at(h, i), out);
	return 1;
}

void
tel_heap_total(const tel_heap *h, tel_heap_stack *out)
{
	tel_heap_stack one;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < h->nsites; i++) {
		heap_describe(h, &h->sites[i], &one);
		out->allocations += one.allocations;
		out->allocated_bytes =
		    add_saturated(out->allocated_bytes, one.allocated_bytes);
		out->peak_blocks += one.peak_blocks;
		out->peak_bytes += one.peak_bytes;
		out->live_blocks += one.live_blocks;
		out->live_bytes += one.live_bytes;
		out->leaked_blocks += one.leaked_blocks;
		out->leaked_bytes =
		    add_saturated(out->leaked_bytes, one.leaked_bytes);
		out->freed += one.freed;
		out->temporary += one.temporary;
	}
}

uint64_t
tel_heap_weight_of(const tel_heap_stack *s, tel_heap_weight weight)
{
	switch (weight) {
	case TEL_HEAP_ALLOCATED: return s->allocated_bytes;
	case TEL_HEAP_PEAK: return s->peak_bytes;
	case TEL_HEAP_LEAKED: return s->leaked_bytes;
	case TEL_HEAP_COUNT: return s->allocations;
	default: return 0;
	}
}

static int
heap_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->site < y->site ? -1 : x->site > y->site;
}

tel_status
tel_heap_sort(tel_heap *h, tel_heap_weight weight)
{
	struct order *order = calloc(h->nsites + 1, sizeof(*order));
	tel_heap_stack s;

	if (order == NULL)
		return TEL_ENOMEM;
	for (size_t i = 0; i < h->nsites; i++) {
		heap_describe(h, &h->sites[i], &s);
		order[i].weight = tel_heap_weight_of(&s, weight);
		order[i].site = (uint32_t)i;
	}
	qsort(order, h->nsites, sizeof(*order), heap_compare);
	free(h->order);
	h->order = order;
	return TEL_OK;
}

const char *
tel_heap_type(const tel_heap *h, size_t i)
{
	if (i >= h->nsites)
		return NULL;
	const struct tel__stack_node *node =
	    &h->stacks.nodes[site_at(h, i)->node];
	return h->samples ? h->stacks.names.list[node->name].text : "";
}

const char *
tel_heap_frames(tel_heap *h, size_t i)
{
	if (i >= h->nsites)
		return NULL;
	const uint32_t site = site_at(h, i)->node;
	const struct tel__stack_node *node = &h->stacks.nodes[site];
	/* the node of all stacks beyond the limit has no type */
	if (!h->samples || node->parent == 0)
		return tel__stacks_text(&h->stacks, site);
	return tel__stacks_text_below(&h->stacks,
	    h->several ? node->name + 1 : 0, node->parent);
}

const char *
tel_heap_holder(tel_heap *h, size_t i)
{
	if (h->samples)
		return tel_heap_frames(h, i);
	return i >= h->nsites ?
	    NULL :
	    tel__stacks_text(&h->stacks,
	        tel__stacks_holder(&h->stacks, site_at(h, i)->node));
}

int
tel_heap_lifetime(const tel_heap *h, size_t i, uint32_t share, uint64_t *out)
{
	return i < h->nsites && h->units != UNIT_BOTH &&
	    tel__lifetimes_quantile(site_at(h, i)->lifetimes, share, out);
}

int
tel_heap_lifetime_of_all(const tel_heap *h, uint32_t share, uint64_t *out)
{
	return h->units != UNIT_BOTH &&
	    tel__lifetimes_quantile(h->lifetimes, share, out);
}

int
tel_heap_resolution(const tel_heap *h, uint64_t *out)
{
	return h->lifetimes != NULL && h->units != UNIT_BOTH &&
	    tel__lifetimes_resolution(&h->resolution, out);
}

int
tel_heap_peak_time(const tel_heap *h, uint64_t *out)
{
	*out = h->peak_time;
	return h->most > 0 && h->units != UNIT_BOTH;
}

TEL__GETTER(size_t, tel_heap_threads, tel_heap, nthreads)

int
tel_heap_ticks(const tel_heap *h)
{
	return (h->units & UNIT_TICKS) != 0;
}

TEL__GETTER(int, tel_heap_several, tel_heap, several)
TEL__GETTER(int, tel_heap_recorded, tel_heap, stacks.recorded)
TEL__GETTER(uint64_t, tel_heap_untracked, tel_heap, untracked)
TEL__GETTER(uint64_t, tel__heap_live, tel_heap, live.bytes)
TEL__GETTER(uint64_t, tel__heap_unknown, tel_heap, unknown)
