/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holders: moments are taken of a heap, at the ends of intervals that become
 * twice as wide, and pairs of them one, when the log outgrows them.
 */
#include "print/holders.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bucket.h"
#include "model/allocator.h"
#include "model/live.h"
#include "model/role.h"
#include "model/schema.h"
#include "model/stacks.h"
#include "print/page.h"
#include "query/pools.h"

/* Cells of all moments: 40 MB.  With more, intervals become wider. */
#define MAX_CELLS ((size_t)1 << 20)
/* Holders that have a colour of their own. */
#define COLOURS 6u
/* More than one in so many frames without a name are worth a hint. */
#define NAMELESS_MANY 5u

int
tel__holders_want(struct holders *h, const struct tel_schema *s)
{
	int allocates = 0, pools = 0;

	if (h->schema == s || h->ended)
		return h->wanted && !h->ended;
	h->schema = s;
	for (unsigned i = 0; i < s->ntypes; i++) {
		if (!tel_type_is_alloc(&s->types[i]))
			continue;
		h->stacked |= s->types[i].role_field[TEL_PART_STACK] >= 0;
		allocates = 1;
		pools |= tel__pools_has(&s->types[i]);
		h->pools |= h->heap == NULL &&
		    (s->types[i].role_field[TEL_PART_POOL] >= 0 ||
		        s->types[i].role_field[TEL_PART_BUFFER] >= 0);
	}
	h->wanted |= h->stacked || (allocates && !pools);
	return h->wanted;
}

/* ------------------------------------------------------------- moments */

/* The later moment of two, which are each in order of stacks, in the first. */
static int
holders_join(struct holders_moment *to, struct holders_moment *more)
{
	struct holders_moment all = { 0 };
	size_t i = 0, j = 0;

	if (!TEL__RESERVE(all.cells, all.room, to->count + more->count + 1))
		return 0;
	while (i < to->count || j < more->count) {
		if (j == more->count ||
		    (i < to->count &&
		        to->cells[i].stack < more->cells[j].stack)) {
			all.cells[all.count++] = to->cells[i++];
		} else {
			i += i < to->count &&
			    to->cells[i].stack == more->cells[j].stack;
			all.cells[all.count++] = more->cells[j++];
		}
	}
	free(to->cells);
	free(more->cells);
	*to = all;
	*more = (struct holders_moment){ 0 };
	return 1;
}

/* Ends the interval: what changed in it since the moment before. */
static int
holders_take(struct holders *h)
{
	struct holders_moment taken = { 0 }, *m = &taken;
	const size_t n = tel_heap_count(h->heap);
	tel_heap_stack s;
	size_t i;

	if (!TEL__RESERVE_ZEROED(h->last, h->last_room, n))
		return 0;
	for (i = 0; i < n && tel_heap_stack_at(h->heap, i, &s); i++) {
		const struct holders_cell cell = { (uint32_t)i, s.live_bytes,
			s.live_blocks, s.allocated_bytes, s.allocations };
		struct holders_cell *last = &h->last[i];

		if (last->live == cell.live && last->blocks == cell.blocks &&
		    last->calls == cell.calls &&
		    last->allocated == cell.allocated)
			continue;
		if (!TEL__RESERVE(m->cells, m->room, m->count + 1))
			break;
		m->cells[m->count++] = *last = cell;
		h->ncells++;
	}
	/* a page that was written before has ended the interval, too */
	if (i < n || !holders_join(&h->moments[h->now], &taken)) {
		free(taken.cells);
		return 0;
	}
	return 1;
}

/* Makes intervals twice as wide. */
static int
holders_fold(struct holders *h)
{
	h->shift++;
	h->ncells = 0;
	for (size_t i = 0; i < HOLDERS_MOMENTS / 2; i++) {
		if (i > 0) {
			h->moments[i] = h->moments[2 * i];
			h->moments[2 * i] = (struct holders_moment){ 0 };
		}
		if (!holders_join(&h->moments[i], &h->moments[2 * i + 1]))
			return 0;
		h->ncells += h->moments[i].count;
	}
	h->now /= 2;
	return 1;
}

/* Goes to the interval of a time. */
static int
holders_advance(struct holders *h, uint64_t time)
{
	if (time >> h->shift <= h->now)
		return 1;
	/* the interval that ends may become the first half of one */
	if (!holders_take(h))
		return 0;
	while (h->shift < 63 &&
	    (time >> h->shift >= HOLDERS_MOMENTS ||
	        (h->ncells > MAX_CELLS && time >> h->shift > 0)))
		if (!holders_fold(h))
			return 0;
	h->now = (size_t)(time >> h->shift);
	return 1;
}

tel_status
tel__holders_event(struct holders *h, const struct tel_event *ev, uint64_t time,
    tel__heap_fn *watch, void *arg)
{
	tel_alloc op;

	if (!tel__event_alloc(ev, &op))
		return TEL_OK;
	if (h->heap == NULL) {
		if ((h->heap = tel_heap_new()) == NULL)
			return TEL_ENOMEM;
		/* beside stacks, a size would look like a function */
		if (!h->stacked)
			tel__heap_set_classes(h->heap);
		tel__heap_watch(h->heap, watch, arg);
	}
	if (!holders_advance(h, time))
		return TEL_ENOMEM;
	if (op.kind < TEL_ALLOC_FREE && !op.failed) {
		if (h->largest == 0)
			h->process = op.process;
		h->processes |= op.process != h->process;
		uint64_t size = tel_alloc_bytes(&op);
		h->largest = size > h->largest ? size : h->largest;
		h->sizes[tel__bit_length(size)]++;
	}
	return tel__heap_take(h->heap, ev, &op, NULL, NULL);
}

void
tel__holders_clear(struct holders *h)
{
	tel_heap_free(h->heap);
	for (size_t i = 0; i < HOLDERS_MOMENTS; i++)
		free(h->moments[i].cells);
	free(h->last);
	memset(h, 0, sizeof(*h));
}

/* ------------------------------------------------------------- holders */

/* The node of a stack in a tree; 0: no memory. */
static uint32_t
holders_node(struct tel__stacks *tree, const char *frames)
{
	uint32_t node = 0;
	size_t n;

	for (;; frames += n + 1) {
		n = strcspn(frames, ";");
		node = tel__stacks_name(tree, node, frames, n);
		if (node == 0 || frames[n] == '\0')
			return node;
	}
}

/*
 * The name, and 1, of the innermost frame of a stack that is of no allocator;
 * of its innermost frame, if all are.
 */
static uint32_t
holder_of(const struct tel__stacks *tree, const unsigned char *allocator,
    uint32_t node)
{
	for (uint32_t i = node; i != 0; i = tree->nodes[i].parent)
		if (!allocator[tree->nodes[i].name])
			return tree->nodes[i].name + 1;
	return tree->nodes[node].name + 1;
}

/*
 * Which names are of allocators: a byte for each; also those that match an
 * expression, if it is not NULL.  NULL: no memory.
 */
static unsigned char *
find_allocators(const struct tel__names *names, const char *expression)
{
	unsigned char *allocator = calloc(names->count + 1, 1);
	regex_t regex;

	if (allocator == NULL)
		return NULL;
	if (expression != NULL &&
	    regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB) != 0) {
		free(allocator);
		return NULL;
	}
	for (size_t i = 0; i < names->count; i++) {
		const struct tel__name *name = &names->list[i];

		allocator[i] = tel__is_allocator(name->text, name->length) ||
		    (expression != NULL &&
		        regexec(&regex, name->text, 0, NULL, 0) == 0);
	}
	if (expression != NULL)
		regfree(&regex);
	return allocator;
}

/* Finds the holders of n stacks, by their nodes.  0: no memory. */
static int
find_holders(const struct holders *h, const struct tel__stacks *tree,
    const uint32_t *nodes, size_t n, uint32_t *holders)
{
	/* without stacks, the first frame is a process */
	const int outermost = !h->stacked && h->processes;
	unsigned char *allocator =
	    find_allocators(&tree->names, h->stacked ? h->allocators : NULL);

	if (allocator == NULL)
		return 0;
	for (size_t i = 0; i < n; i++)
		holders[i] = holder_of(tree, allocator,
		    outermost ? tree->nodes[nodes[i]].parent : nodes[i]);
	free(allocator);
	return 1;
}

static void
put_strings(const struct tel__stacks *tree, struct tel__buffer *b)
{
	tel__buffer_put_varint(b, tree->names.count);
	for (size_t i = 0; i < tree->names.count; i++) {
		tel__buffer_put_varint(b, tree->names.list[i].length);
		tel__buffer_put(b, tree->names.list[i].text,
		    tree->names.list[i].length);
	}
	tel__buffer_put_varint(b, tree->nnodes);
	for (size_t i = 1; i < tree->nnodes; i++) {
		tel__buffer_put_varint(b, i - tree->nodes[i].parent);
		tel__buffer_put_varint(b, tree->nodes[i].name);
	}
}

/* The names that held most at the peak, and else allocated most: of a colour. */
static int
put_ranks(const struct tel__stacks *tree, const uint64_t *peak,
    const uint32_t *holder, size_t n, struct tel__buffer *b)
{
	uint64_t *sums = calloc(tree->names.count + 1, sizeof(*sums));
	size_t i, best, k;

	if (sums == NULL)
		return 0;
	for (i = 0; i < n; i++)
		sums[holder[i]] += peak[i];
	for (k = 0; k < COLOURS; k++) {
		for (best = 0, i = 1; i <= tree->names.count; i++)
			if (sums[i] > sums[best])
				best = i;
		tel__buffer_put_varint(b, best);
		sums[best] = 0;
	}
	free(sums);
	return 1;
}

static void
put_moments(const struct holders *h, int with, struct tel__buffer *b)
{
	tel__buffer_put_varint(b, with ? h->now + 1 : 0);
	for (size_t i = 0; with && i <= h->now; i++) {
		const struct holders_moment *m = &h->moments[i];
		uint32_t before = 0;

		tel__buffer_put_varint(b, m->count);
		for (size_t j = 0; j < m->count; before = m->cells[j++].stack)
			tel__buffer_put_varint(b, m->cells[j].stack - before);
		for (size_t j = 0; j < m->count; j++)
			tel__buffer_put_varint(b, m->cells[j].live);
		for (size_t j = 0; j < m->count; j++)
			tel__buffer_put_varint(b, m->cells[j].blocks);
		for (size_t j = 0; j < m->count; j++)
			tel__buffer_put_varint(b, m->cells[j].allocated);
		for (size_t j = 0; j < m->count; j++)
			tel__buffer_put_varint(b, m->cells[j].calls);
	}
}

/* Nonzero when a frame is an address, or one in a module, +0x1f or [0x1f]. */
static int
is_nameless(const char *frame)
{
	const char *x = strstr(frame, "0x");

	if (x == NULL || (x != frame && x[-1] != '+' && x[-1] != '['))
		return 0;
	const char *end = x + 2 + strspn(x + 2, "0123456789abcdef");
	return strcmp(end, x != frame && x[-1] == '[' ? "]" : "") == 0;
}

static void
count_nameless(struct holders *h, const struct tel__names *names)
{
	h->names = names->count;
	h->nameless = 0;
	for (size_t i = 0; i < names->count; i++)
		h->nameless += (size_t)is_nameless(names->list[i].text);
}

/* The stacks: their nodes and holders, and what they held at the peak. */
static int
put_stacks(struct holders *h, struct tel__stacks *tree, struct tel__buffer *b)
{
	const size_t n = tel_heap_count(h->heap);
	uint32_t *nodes = calloc(2 * n + 1, sizeof(*nodes));
	uint64_t *peak = calloc(n + 1, sizeof(*peak));
	tel_heap_stack s;
	size_t i = 0;
	int good = nodes != NULL && peak != NULL;

	for (; good && i < n && tel_heap_stack_at(h->heap, i, &s); i++) {
		const char *frames = tel_heap_frames(h->heap, i);

		peak[i] = s.peak_bytes;
		if (frames != NULL && !h->stacked && !h->processes)
			frames += strcspn(frames, ";") + 1;
		good = frames != NULL &&
		    (nodes[i] = holders_node(tree, frames)) != 0;
	}
	good = good && find_holders(h, tree, nodes, n, nodes + n);
	count_nameless(h, &tree->names);
	if (good) {
		put_strings(tree, b);
		good = put_ranks(tree, peak, nodes + n, n, b);
		tel__buffer_put_varint(b, n);
		for (i = 0; i < 2 * n; i++)
			tel__buffer_put_varint(b, nodes[i]);
		for (i = 0; i < n && tel_heap_stack_at(h->heap, i, &s); i++) {
			tel__buffer_put_varint(b, s.peak_bytes);
			tel__buffer_put_varint(b, s.peak_blocks);
		}
	}
	free(nodes);
	free(peak);
	return good;
}

int
tel__holders_put(struct holders *h, uint64_t last, int moments,
    struct tel__buffer *block)
{
	struct tel__stacks tree = { 0 };
	int good = holders_advance(h, last) && holders_take(h) &&
	    tel__stacks_init(&tree);

	if (!good)
		return 0;
	good = put_stacks(h, &tree, block);
	put_moments(h, moments, block);
	tel__stacks_clear(&tree);
	return good && !block->failed;
}

/* The share of freed blocks, in parts of 10^9, that lived at most ns. */
static uint32_t
share_within(const tel_heap *heap, uint64_t ns)
{
	uint32_t low = 0, high = 1000000000, middle;
	uint64_t time;

	while (low < high) {
		middle = low + (high - low + 1) / 2;
		if (tel_heap_lifetime_of_all(heap, middle, &time) && time <= ns)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* How to record who holds memory, where a log does not say it, or hardly. */
static void
put_hint(const struct holders *h, struct tel__buffer *b)
{
	char text[128] = "";

	if (!h->stacked)
		(void)snprintf(text, sizeof(text),
		    "Record with `telrec -g` to see who holds it.");
	else if (h->nameless > h->names / NAMELESS_MANY)
		(void)snprintf(text, sizeof(text),
		    "%zu of %zu functions have no name; telrec(1) says where "
		    "names come from.",
		    h->nameless, h->names);
	tel__json_word(b, "hint", text);
}

void
tel__holders_head(const struct holders *h, struct tel__buffer *b)
{
	tel_heap_stack all;
	uint64_t time = 0, n = 0, below = 0;
	unsigned i = 0;

	tel_heap_total(h->heap, &all);
	(void)tel_heap_peak_time(h->heap, &time);
	tel__json_pair(b, "stacked", h->stacked != 0);
	put_hint(h, b);
	tel__json_pair(b, "processes", h->processes != 0);
	tel__json_pair(b, "width", UINT64_C(1) << h->shift);
	tel__json_pair(b, "peak", all.peak_bytes);
	tel__json_pair(b, "peak_blocks", all.peak_blocks);
	tel__json_pair(b, "peak_time", time);
	tel__json_pair(b, "live", all.live_bytes);
	tel__json_pair(b, "live_blocks", all.live_blocks);
	tel__json_pair(b, "allocated", all.allocated_bytes);
	tel__json_pair(b, "calls", all.allocations);
	tel__json_pair(b, "freed", all.freed);
	/* a clock that is read more rarely does not tell shorter lives apart */
	uint64_t within = 1000000, end = within;
	if (tel_heap_resolution(h->heap, &time) && time > within) {
		within = time;
		/* many live exactly as long */
		end = tel__bucket_start(tel__bucket(time) + 1) - 1;
	}
	tel__json_pair(b, "within", within);
	tel__json_pair(b, "freed_within",
	    all.freed > 0 && !tel_heap_ticks(h->heap) ?
	        share_within(h->heap, end) :
	        0);
	tel__json_pair(b, "largest", h->largest);
	for (i = 0; i < 65; i++)
		n += h->sizes[i];
	for (i = 0; i < 65 && 2 * (below += h->sizes[i]) < n; i++)
		;
	/* the median is below this power of two */
	tel__json_pair(b, "median_below",
	    i >= 64 ? UINT64_MAX : UINT64_C(1) << i);
}
