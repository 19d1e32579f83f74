/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps: allocations by stack, or by pool, what of them is live, and how long
 * they lived.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/table.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/role.h"
#include "query/pools.h"
#include "query/stacks.h"
#include "tel.h"

/* Documented limit: blocks that are live at once. */
#define BLOCKS_MAX ((size_t)1 << 24)
/* Distinct stacks; all others count as one more. */
#define SITES_MAX ((size_t)1 << 20)
/*
 * How long blocks lived: buckets of a sixteenth of a power of two, from the
 * first that is used to the last.
 */
#define STEPS 16u
struct lifetimes {
	uint64_t least, most, count;
	unsigned first, n;
	uint64_t buckets[];
};

/* What a stack allocated. */
struct site {
	uint32_t node;
	struct lifetimes *lifetimes;
	uint64_t allocations, bytes;
	uint64_t live_blocks, live_bytes;
	/*
	 * As it was at peak number .peak; what is live now, if that is not the
	 * last peak: nothing has changed since.
	 */
	uint64_t peak, peak_blocks, peak_bytes;
	uint32_t rest; /* of samples: parts of a block */
};

/* A block, or those that a sample stands for. */
struct block {
	uint64_t size; /* of all */
	uint64_t clock;
	uint32_t site;
	uint32_t blocks;
};

struct tel_heap {
	int begun, ticks;
	struct tel__stacks stacks;
	struct tel__pools pools;
	struct site *sites;
	size_t nsites, site_room;
	struct tel__table by_address; /* to a place in blocks */
	struct block *blocks;
	size_t nblocks, block_room;
	uint32_t *spare; /* places in blocks that are free */
	size_t nspare, spare_room;
	uint64_t untracked;
	uint64_t live, most, peaks; /* bytes */
	struct order {
		uint64_t weight;
		uint32_t site;
	} * order; /* NULL: as they occurred */
};

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
	tel__table_init(&h->by_address);
	tel__pools_init(&h->pools);
	h->peaks = 1;
	return h;
}

void
tel_heap_end(tel_heap *h)
{
	tel__stacks_end(&h->stacks);
	tel__table_clear(&h->by_address);
	tel__table_init(&h->by_address);
	tel__pools_clear(&h->pools);
	h->nblocks = h->nspare = 0;
}

void
tel_heap_free(tel_heap *h)
{
	size_t i;

	if (h == NULL)
		return;
	tel_heap_end(h);
	tel__table_clear(&h->by_address);
	tel__stacks_clear(&h->stacks);
	for (i = 0; i < h->nsites; i++)
		free(h->sites[i].lifetimes);
	free(h->sites);
	free(h->blocks);
	free(h->spare);
	free(h->order);
	free(h);
}

tel_status
tel_heap_set_lines(tel_heap *h, int on)
{
	if (h->begun)
		return TEL_ESTATE;
	h->stacks.lines = on != 0;
	return TEL_OK;
}

/* ---------------------------------------------------------------- sites */

/* The site of a node, made when it is new; NULL: no memory. */
static struct site *
find_site(struct tel_heap *h, uint32_t node)
{
	uint32_t *number = tel__stacks_user(&h->stacks, node);
	struct site *s;

	if (*number == 0 && h->nsites >= SITES_MAX) {
		node = tel__stacks_others(&h->stacks);
		if (node == 0)
			return NULL;
		number = tel__stacks_user(&h->stacks, node);
	}
	if (*number == 0) {
		if (!TEL__RESERVE_ZEROED(h->sites, h->site_room, h->nsites + 1))
			return NULL;
		s = &h->sites[h->nsites++];
		s->node = node;
		*number = (uint32_t)h->nsites;
	}
	return &h->sites[*number - 1];
}

/* --------------------------------------------------------------- blocks */

static unsigned
bucket_of(uint64_t v)
{
	unsigned log = 0;
	uint64_t rest = v;

	if (v < STEPS)
		return (unsigned)v;
	while (rest >= 2 * STEPS) {
		rest >>= 1;
		log++;
	}
	return log * STEPS + (unsigned)rest;
}

/* The largest value of a bucket. */
static uint64_t
bucket_end(unsigned i)
{
	const unsigned log = i < STEPS ? 0 : i / STEPS - 1;

	return (((uint64_t)i - log * STEPS) << log) +
	    (((uint64_t)1 << log) - 1);
}

/* Makes room for bucket i.  1, or 0: no memory. */
static int
reserve_bucket(struct lifetimes **all, unsigned i)
{
	struct lifetimes *old = *all, *new;
	unsigned first = i, end = i + 1;

	if (old != NULL && i - old->first < old->n)
		return 1;
	if (old != NULL) {
		first = i < old->first ? i : old->first;
		end = i + 1 > old->first + old->n ? i + 1 : old->first + old->n;
	}
	new = calloc(1, sizeof(*new) + (end - first) * sizeof(uint64_t));
	if (new == NULL)
		return 0;
	if (old != NULL) {
		*new = *old;
		memcpy(new->buckets + (old->first - first), old->buckets,
		    old->n * sizeof(uint64_t));
		free(old);
	}
	new->first = first;
	new->n = end - first;
	*all = new;
	return 1;
}

/* How long a block lived. */
static tel_status
count_lifetime(struct tel_heap *h, struct site *s, const struct block *b,
    const struct tel_event *ev)
{
	const double rate = tel__clock_rate(ev->log->clock);
	uint64_t time = ev->clock > b->clock ? ev->clock - b->clock : 0;
	double ns = (double)time * 1e9 / rate;
	struct lifetimes *l;
	unsigned i;

	if (!(rate > 0))
		h->ticks = 1;
	else if (rate < 1e9 || rate > 1e9)
		time = ns < 1.8e19 ? (uint64_t)ns : UINT64_MAX;
	i = bucket_of(time);
	if (!reserve_bucket(&s->lifetimes, i))
		return TEL_ENOMEM;
	l = s->lifetimes;
	l->buckets[i - l->first] += b->blocks;
	if (l->count == 0 || time < l->least)
		l->least = time;
	if (time > l->most)
		l->most = time;
	l->count += b->blocks;
	return TEL_OK;
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

/*
 * Ends a block; ev: the event that says so, or NULL: it is not known when it
 * was freed, only that another one is in its place.
 */
static tel_status
end_block(struct tel_heap *h, uint64_t address, const struct tel_event *ev)
{
	struct tel__entry *e = tel__table_find(&h->by_address, address);
	struct block *b;
	struct site *s;

	if (e == NULL)
		return TEL_OK;
	if (!TEL__RESERVE(h->spare, h->spare_room, h->nspare + 1))
		return TEL_ENOMEM;
	b = &h->blocks[e->value];
	s = &h->sites[b->site];
	h->spare[h->nspare++] = (uint32_t)e->value;
	tel__pools_unlink(&h->pools, (size_t)e->value);
	tel__table_remove(&h->by_address, e);
	keep_peak(h, s);
	s->live_blocks -= b->blocks;
	s->live_bytes -= b->size;
	h->live -= b->size;
	return ev != NULL ? count_lifetime(h, s, b, ev) : TEL_OK;
}

static uint64_t
add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static tel_status
begin_block(struct tel_heap *h, struct site *s, uint64_t address, uint64_t size,
    uint32_t blocks, uint32_t pool, const struct tel_event *ev)
{
	struct tel__entry *e;
	struct block *b;
	size_t place;
	int fresh;

	s->allocations += blocks;
	s->bytes = add_saturated(s->bytes, size);
	/* sizes that cannot be are not of live blocks */
	if (size > (uint64_t)1 << 62 || h->live > (uint64_t)1 << 62 ||
	    h->nblocks - h->nspare >= BLOCKS_MAX) {
		h->untracked++;
		return TEL_OK;
	}
	place = h->nspare > 0 ? h->spare[h->nspare - 1] : h->nblocks;
	if ((h->nspare == 0 &&
	        !TEL__RESERVE(h->blocks, h->block_room, h->nblocks + 1)) ||
	    (e = tel__table_put(&h->by_address, address, &fresh)) == NULL)
		return TEL_ENOMEM;
	if (!tel__pools_link(&h->pools, pool, place, address)) {
		tel__table_remove(&h->by_address, e);
		return TEL_ENOMEM;
	}
	if (h->nspare > 0)
		h->nspare--;
	else
		h->nblocks++;
	e->value = place;
	b = &h->blocks[place];
	b->size = size;
	b->clock = ev->clock;
	b->site = (uint32_t)(s - h->sites);
	b->blocks = blocks;
	keep_peak(h, s);
	s->live_blocks += blocks;
	s->live_bytes += size;
	h->live += size;
	if (h->live > h->most) {
		h->most = h->live;
		h->peaks++;
	}
	return TEL_OK;
}

/* The node of the stack, or of the pool, that allocates; 0: no memory. */
static uint32_t
find_node(struct tel_heap *h, struct tel__stack_log *l, const tel_alloc *a,
    const struct tel_event *ev, uint32_t *pool)
{
	uint32_t node;

	*pool = 0;
	if (!tel__pools_has(ev->type))
		return tel__stacks_find(&h->stacks, l, ev, a->process);
	h->stacks.recorded = 1;
	return tel__pools_find(&h->pools, &h->stacks, ev, a, l->tag, pool,
	           &node) ?
	    node :
	    0;
}

static tel_status
allocate(struct tel_heap *h, struct tel__stack_log *l, const tel_alloc *a,
    uint64_t tag, const struct tel_event *ev)
{
	uint64_t size = a->size, blocks;
	uint32_t pool, node = find_node(h, l, a, ev, &pool);
	struct site *s = node == 0 ? NULL : find_site(h, node);

	if (s == NULL)
		return TEL_ENOMEM;
	if (a->kind == TEL_ALLOC_CALLOC &&
	    __builtin_mul_overflow(size, a->count, &size))
		size = UINT64_MAX;
	blocks = tel__alloc_blocks(a, size, &s->rest);
	if (a->weight != 0)
		size = a->weight;
	if (end_block(h, a->address ^ tag, NULL) != TEL_OK)
		return TEL_ENOMEM;
	return begin_block(h, s, a->address ^ tag, size,
	    blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX, pool, ev);
}

/* A pool ends, with all that lives in it. */
static tel_status
destroy_pool(struct tel_heap *h, const tel_alloc *a, uint64_t tag,
    const struct tel_event *ev)
{
	tel_status st = TEL_OK;
	uint64_t key;

	while (st == TEL_OK && tel__pools_next(&h->pools, a, tag, &key))
		st = end_block(h, key, ev);
	if (st == TEL_OK)
		tel__pools_end(&h->pools, a, tag);
	return st;
}

tel_status
tel_heap_event(tel_heap *h, const tel_event *event)
{
	struct tel__stack_log *l;
	uint64_t tag;
	tel_alloc a;
	tel_status st = TEL_OK;

	if (!tel_type_is_alloc(event->type) || !tel_event_alloc(event, &a) ||
	    a.failed)
		return TEL_OK;
	h->begun = 1;
	l = tel__stacks_log(&h->stacks, event->log);
	if (l == NULL)
		return TEL_ENOMEM;
	tag = l->tag ^ a.process * UINT64_C(0x9e3779b97f4a7c15);
	if (h->order != NULL) {
		free(h->order);
		h->order = NULL;
	}
	switch (a.kind) {
	case TEL_ALLOC_FREE:
		return a.address == 0 ? TEL_OK :
		                        end_block(h, a.address ^ tag, event);
	case TEL_ALLOC_REALLOC:
		if (a.old != 0)
			st = end_block(h, a.old ^ tag, event);
		break;
	case TEL_ALLOC_MALLOC:
	case TEL_ALLOC_CALLOC:
	case TEL_ALLOC_ALIGNED:
	case TEL_ALLOC_COMMIT: break;
	case TEL_ALLOC_POOL_DESTROY: return destroy_pool(h, &a, l->tag, event);
	default:
		return tel__pools_note(&h->pools, &h->stacks, event, &a,
		           l->tag) ?
		    TEL_OK :
		    TEL_ENOMEM;
	}
	if (st != TEL_OK || a.address == 0)
		return st;
	return allocate(h, l, &a, tag, event);
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
	unsigned i;

	for (i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
		if (strcmp(name, weights[i]) == 0) {
			*out = (tel_heap_weight)i;
			return 1;
		}
	return 0;
}

size_t
tel_heap_count(const tel_heap *h)
{
	return h->nsites;
}

static const struct site *
site_at(const struct tel_heap *h, size_t i)
{
	return &h->sites[h->order != NULL ? h->order[i].site : i];
}

static void
describe(const struct tel_heap *h, const struct site *s, tel_heap_stack *out)
{
	const int same = s->peak != h->peaks;

	out->allocations = s->allocations;
	out->allocated_bytes = s->bytes;
	out->peak_blocks = same ? s->live_blocks : s->peak_blocks;
	out->peak_bytes = same ? s->live_bytes : s->peak_bytes;
	out->live_blocks = s->live_blocks;
	out->live_bytes = s->live_bytes;
	out->freed = s->lifetimes != NULL ? s->lifetimes->count : 0;
}

int
tel_heap_stack_at(const tel_heap *h, size_t i, tel_heap_stack *out)
{
	if (i >= h->nsites)
		return 0;
	describe(h, site_at(h, i), out);
	return 1;
}

void
tel_heap_total(const tel_heap *h, tel_heap_stack *out)
{
	tel_heap_stack one;
	size_t i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < h->nsites; i++) {
		describe(h, &h->sites[i], &one);
		out->allocations += one.allocations;
		out->allocated_bytes =
		    add_saturated(out->allocated_bytes, one.allocated_bytes);
		out->peak_blocks += one.peak_blocks;
		out->peak_bytes += one.peak_bytes;
		out->live_blocks += one.live_blocks;
		out->live_bytes += one.live_bytes;
		out->freed += one.freed;
	}
}

uint64_t
tel_heap_weight_of(const tel_heap_stack *s, tel_heap_weight weight)
{
	switch (weight) {
	case TEL_HEAP_ALLOCATED: return s->allocated_bytes;
	case TEL_HEAP_PEAK: return s->peak_bytes;
	case TEL_HEAP_LEAKED: return s->live_bytes;
	case TEL_HEAP_COUNT: return s->allocations;
	default: return 0;
	}
}

static int
compare(const void *a, const void *b)
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
	size_t i;

	if (order == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < h->nsites; i++) {
		describe(h, &h->sites[i], &s);
		order[i].weight = tel_heap_weight_of(&s, weight);
		order[i].site = (uint32_t)i;
	}
	qsort(order, h->nsites, sizeof(*order), compare);
	free(h->order);
	h->order = order;
	return TEL_OK;
}

const char *
tel_heap_frames(tel_heap *h, size_t i)
{
	return i >= h->nsites ?
	    NULL :
	    tel__stacks_text(&h->stacks, site_at(h, i)->node);
}

int
tel_heap_lifetime(const tel_heap *h, size_t i, uint32_t share, uint64_t *out)
{
	const struct lifetimes *l;
	uint64_t rank, sum = 0, v = 0;
	unsigned k;

	if (i >= h->nsites || (l = site_at(h, i)->lifetimes) == NULL)
		return 0;
	/* of the count and the share, neither fits into 64 bits with the other */
	rank = l->count / 1000000000 * share +
	    (l->count % 1000000000 * share + 999999999) / 1000000000;
	for (k = 0; k < l->n && sum < rank; k++) {
		sum += l->buckets[k];
		v = bucket_end(l->first + k);
	}
	if (rank == 0 || v < l->least)
		v = l->least;
	*out = v > l->most ? l->most : v;
	return 1;
}

int
tel_heap_ticks(const tel_heap *h)
{
	return h->ticks;
}

int
tel_heap_recorded(const tel_heap *h)
{
	return h->stacks.recorded;
}

uint64_t
tel_heap_untracked(const tel_heap *h)
{
	return h->untracked;
}
