/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps: allocations by stack, or by pool, what of them is live, and how long
 * they lived.
 */
#include <stdlib.h>

#include "base/array.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/live.h"
#include "query/pools.h"
#include "model/stacks.h"
#include "tel.h"

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
};

struct tel_heap {
	int begun, ticks;
	struct tel__stacks stacks;
	struct tel__table pools; /* names of pools */
	struct site *sites;
	size_t nsites, site_room;
	struct tel__live live;         /* the owner of a block is its site */
	const struct tel_event *event; /* that is taken */
	uint64_t untracked, unknown;
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
	h->peaks = 1;
	return h;
}

void
tel_heap_end(tel_heap *h)
{
	tel__stacks_end(&h->stacks);
	tel__live_clear(&h->live);
	tel__table_clear(&h->pools);
}

void
tel_heap_free(tel_heap *h)
{
	size_t i;

	if (h == NULL)
		return;
	tel_heap_end(h);
	tel__stacks_clear(&h->stacks);
	for (i = 0; i < h->nsites; i++)
		free(h->sites[i].lifetimes);
	free(h->sites);
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
count_lifetime(struct tel_heap *h, struct site *s,
    const struct tel__live_block *b, const struct tel_event *ev)
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

static uint64_t
add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* The node of the stack, or of the pool, that allocates; 0: no memory. */
static uint32_t
find_node(struct tel_heap *h, const tel_alloc *op)
{
	const struct tel_event *ev = h->event;
	struct tel__stack_log *l = tel__stacks_log(&h->stacks, ev->log);

	if (l == NULL)
		return 0;
	if (!tel__pools_has(ev->type))
		return tel__stacks_find(&h->stacks, l, ev, op->process);
	h->stacks.recorded = 1;
	return tel__pools_find(&h->pools, &h->stacks, ev, op,
	    tel__live_pool_of(&h->live, op, l->tag), l->tag);
}

static tel_status
begin_block(struct tel_heap *h, struct tel__live_block *b, const tel_alloc *op,
    int tracked)
{
	uint32_t node = find_node(h, op);
	struct site *s = node == 0 ? NULL : find_site(h, node);

	if (s == NULL)
		return TEL_ENOMEM;
	s->allocations += b->blocks;
	s->bytes = add_saturated(s->bytes, b->size);
	if (!tracked) {
		h->untracked++;
		return TEL_OK;
	}
	b->owner = (uint32_t)(s - h->sites);
	keep_peak(h, s);
	s->live_blocks += b->blocks;
	s->live_bytes += b->size;
	if (h->live.bytes > h->most) {
		h->most = h->live.bytes;
		h->peaks++;
	}
	return TEL_OK;
}

/* known: the event says when the block ended. */
static tel_status
end_block(struct tel_heap *h, const struct tel__live_block *b, int known)
{
	struct site *s = &h->sites[b->owner];

	keep_peak(h, s);
	s->live_blocks -= b->blocks;
	s->live_bytes -= b->size;
	return known ? count_lifetime(h, s, b, h->event) : TEL_OK;
}

static tel_status
heap_change(void *arg, enum tel__live_what what, struct tel__live_block *block,
    const tel_alloc *op)
{
	struct tel_heap *h = arg;
	struct site *s;

	switch (what) {
	case TEL__LIVE_ALLOCATED: return begin_block(h, block, op, 1);
	case TEL__LIVE_UNTRACKED: return begin_block(h, block, op, 0);
	case TEL__LIVE_FREED:
	case TEL__LIVE_RESIZED:
	case TEL__LIVE_POOL_DESTROYED: return end_block(h, block, 1);
	case TEL__LIVE_REPLACED: return end_block(h, block, 0);
	case TEL__LIVE_PART_FREED:
		s = &h->sites[block->owner];
		keep_peak(h, s);
		s->live_bytes -= op->size;
		return TEL_OK;
	case TEL__LIVE_UNKNOWN: h->unknown++; return TEL_OK;
	}
	return TEL_OK;
}

tel_status
tel_heap_event(tel_heap *h, const tel_event *event)
{
	struct tel__stack_log *l;
	tel_alloc op;
	tel_status st;

	if (!tel_type_is_alloc(event->type) || !tel_event_alloc(event, &op) ||
	    op.failed)
		return TEL_OK;
	h->begun = 1;
	l = tel__stacks_log(&h->stacks, event->log);
	if (l == NULL)
		return TEL_ENOMEM;
	if (h->order != NULL) {
		free(h->order);
		h->order = NULL;
	}
	h->event = event;
	st = tel__live_take(&h->live, &op, l->tag);
	if (st == TEL_OK &&
	    !tel__pools_note(&h->pools, &h->stacks, event, &op, l->tag))
		st = TEL_ENOMEM;
	return st;
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
