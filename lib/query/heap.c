/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps: allocations by stack.  Stacks are a tree of names, so that those of
 * several logs and processes meet; a frame of a log is resolved to its node
 * once.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/index.h"
#include "base/table.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/role.h"
#include "tel.h"

/* Documented limit: blocks that are live at once. */
#define BLOCKS_MAX ((size_t)1 << 24)
/* Stacks that are told apart, and frames of them; the others are one more. */
#define SITES_MAX ((size_t)1 << 20)
#define NODES_MAX ((size_t)1 << 24)
/* Documented limit: frames of a stack that are shown, the innermost ones. */
#define DEPTH_MAX 4096
/* Bytes of a name. */
#define NAME_MAX_BYTES 4096

/* Frames that are inlined into others are one label, the innermost first. */
static const char inlined[] = " <- ";
/* In front of a frame's file and line. */
static const char at_line[] = " at ";

struct name {
	char *text;
	size_t length;
};

/* A frame of a stack, below that of its caller; the first one is the root. */
struct node {
	uint32_t parent;
	uint32_t name;
	uint32_t site; /* and 1; 0: it has not allocated itself */
};

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

/* A log whose reader exists. */
struct heap_log {
	const struct tel_log *log;
	unsigned number;
	uint64_t tag;    /* differs from log to log, for addresses */
	uint32_t *nodes; /* of its frames by place, and 1; 0: not resolved */
	size_t room;
};

struct tel_heap {
	int lines;
	int begun, recorded, ticks;
	struct heap_log *logs;
	size_t nlogs, log_room, last_log;
	uint64_t tags;
	struct name *names;
	size_t nnames, name_room;
	struct tel__index by_name;
	struct node *nodes;
	size_t nnodes, node_room;
	struct tel__table children; /* parent and name to a node */
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
	} * order;    /* NULL: as they occurred */
	size_t *path; /* places of frames, while a stack is resolved */
	size_t path_room;
	char *text;
	size_t text_room;
};

tel_heap *
tel_heap_new(void)
{
	struct tel_heap *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return NULL;
	tel__index_init(&h->by_name);
	tel__table_init(&h->children);
	tel__table_init(&h->by_address);
	if (!TEL__RESERVE_ZEROED(h->nodes, h->node_room, 1)) {
		free(h);
		return NULL;
	}
	h->nnodes = 1;
	h->peaks = 1;
	return h;
}

void
tel_heap_end(tel_heap *h)
{
	size_t i;

	for (i = 0; i < h->nlogs; i++)
		free(h->logs[i].nodes);
	h->nlogs = h->last_log = 0;
	tel__table_clear(&h->by_address);
	tel__table_init(&h->by_address);
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
	tel__table_clear(&h->children);
	tel__index_clear(&h->by_name);
	for (i = 0; i < h->nnames; i++)
		free(h->names[i].text);
	for (i = 0; i < h->nsites; i++)
		free(h->sites[i].lifetimes);
	free(h->names);
	free(h->nodes);
	free(h->sites);
	free(h->blocks);
	free(h->spare);
	free(h->logs);
	free(h->order);
	free(h->path);
	free(h->text);
	free(h);
}

tel_status
tel_heap_set_lines(tel_heap *h, int on)
{
	if (h->begun)
		return TEL_ESTATE;
	h->lines = on != 0;
	return TEL_OK;
}

/* --------------------------------------------------------------- stacks */

/* The number of a name; 0: no memory. */
static uint32_t
find_name(struct tel_heap *h, const char *text, size_t n)
{
	struct tel__probe at;
	uint64_t hash;
	uint32_t i;

	if (n > NAME_MAX_BYTES)
		n = NAME_MAX_BYTES;
	hash = tel__hash_bytes(text, n, h->by_name.seed);
	for (i = tel__index_first(&h->by_name, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&h->by_name, &at))
		if (h->names[i].length == n &&
		    memcmp(h->names[i].text, text, n) == 0)
			return i + 1;
	if (h->nnames >= NODES_MAX ||
	    !TEL__RESERVE(h->names, h->name_room, h->nnames + 1))
		return 0;
	h->names[h->nnames].length = n;
	h->names[h->nnames].text = tel__copy_string(text, n);
	if (h->names[h->nnames].text == NULL)
		return 0;
	h->nnames++;
	if (!tel__index_add(&h->by_name, hash, (uint32_t)(h->nnames - 1))) {
		free(h->names[--h->nnames].text);
		return 0;
	}
	return (uint32_t)h->nnames;
}

/* The node of a name below another one; 0: no memory. */
static uint32_t
find_child(struct tel_heap *h, uint32_t parent, const char *text, size_t n)
{
	static const char others[] = "<other stacks>";
	uint32_t name;
	struct tel__entry *e;
	int fresh;

	if (h->nnodes >= NODES_MAX) {
		text = others;
		n = sizeof(others) - 1;
		parent = 0;
	}
	name = find_name(h, text, n);
	if (name == 0 || !TEL__RESERVE(h->nodes, h->node_room, h->nnodes + 1) ||
	    (e = tel__table_put(&h->children, (uint64_t)parent << 32 | name,
	         &fresh)) == NULL)
		return 0;
	if (fresh) {
		e->value = h->nnodes;
		h->nodes[h->nnodes].parent = parent;
		h->nodes[h->nnodes].name = name - 1;
		h->nodes[h->nnodes++].site = 0;
	}
	return (uint32_t)e->value;
}

/* The first of n bytes at text that are what; NULL: none. */
static const char *
find_text(const char *text, size_t n, const char *what, size_t length)
{
	size_t i;

	for (i = 0; i + length <= n; i++)
		if (text[i] == what[0] && memcmp(text + i, what, length) == 0)
			return text + i;
	return NULL;
}

/* Adds a function below the node of its caller. */
static uint32_t
add_function(struct tel_heap *h, uint32_t node, const char *text, size_t n)
{
	const char *line = NULL;

	if (!h->lines)
		line = find_text(text, n, at_line, sizeof(at_line) - 1);
	return find_child(h, node, text,
	    line != NULL ? (size_t)(line - text) : n);
}

/* Adds the functions of a label: those that were inlined come first. */
static uint32_t
add_label(struct tel_heap *h, uint32_t node, const char *text, size_t n)
{
	const size_t length = sizeof(inlined) - 1;
	const char *next, *last;

	while (n > 0) {
		/* the last one is the caller of all */
		last = NULL;
		for (next = text;
		     (next = find_text(next, n - (size_t)(next - text), inlined,
		          length)) != NULL;
		     next += length)
			last = next;
		if (last == NULL)
			return add_function(h, node, text, n);
		node = add_function(h, node, last + length,
		    n - (size_t)(last - text) - length);
		if (node == 0)
			return 0;
		n = (size_t)(last - text);
	}
	return node;
}

static uint32_t
add_address(struct tel_heap *h, uint32_t node, const struct tel_log *log,
    uint64_t address, uint64_t clock)
{
	static const char digits[] = "0123456789abcdef";
	struct tel_label label;
	char text[2 + 16];
	unsigned n = 16;

	if (tel__labels_find(log->labels, TEL_SPACE_ADDRESS, address, clock,
	        &label) &&
	    label.string != NULL && label.length > 0)
		return add_label(h, node, label.string, label.length);
	do {
		text[2 + --n] = digits[address & 15];
		address >>= 4;
	} while (address != 0);
	text[n] = '0';
	text[n + 1] = 'x';
	return find_child(h, node, text + n, sizeof(text) - n);
}

/* What is known of a log; NULL: no memory. */
static struct heap_log *
find_log(struct tel_heap *h, const struct tel_log *log)
{
	struct heap_log *l;
	size_t i;

	if (h->last_log < h->nlogs && h->logs[h->last_log].log == log &&
	    h->logs[h->last_log].number == log->number)
		return &h->logs[h->last_log];
	for (i = 0; i < h->nlogs; i++)
		if (h->logs[i].log == log && h->logs[i].number == log->number)
			break;
	if (i == h->nlogs) {
		if (!TEL__RESERVE(h->logs, h->log_room, i + 1))
			return NULL;
		l = &h->logs[h->nlogs++];
		l->log = log;
		l->number = log->number;
		l->tag = h->tags++ * UINT64_C(0xd6e8feb86659fd93);
		l->nodes = NULL;
		l->room = 0;
	}
	h->last_log = i;
	return &h->logs[i];
}

/*
 * The node of a frame; 0: no memory.  A frame names its caller's number, which
 * a log may have made a circle of: a stack then ends where it comes round.
 */
static uint32_t
find_frame(struct tel_heap *h, struct heap_log *l, uint64_t process,
    uint64_t id, uint64_t clock)
{
	static const char unknown[] = "<unknown>";
	const struct tel_labels *labels = l->log->labels;
	const size_t count = tel__labels_frames(labels);
	const struct tel_frame *f;
	uint32_t node = 0;
	size_t place, n = 0;

	if (!TEL__RESERVE_ZEROED(l->nodes, l->room, count))
		return 0;
	/* frames need not say whose they are */
	if (!tel__labels_find_frame(labels, process, id, &place))
		process = 0;
	while (tel__labels_find_frame(labels, process, id, &place)) {
		node = l->nodes[place];
		if (node != 0)
			break;
		if (!TEL__RESERVE(h->path, h->path_room, n + 1))
			return 0;
		h->path[n++] = place;
		/* until it has a node, it has the root */
		l->nodes[place] = 1;
		id = tel__labels_frame(labels, place)->parent;
	}
	if (node > 0)
		node--;
	if (node == 0 && n == 0)
		return find_child(h, 0, unknown, sizeof(unknown) - 1);
	while (n > 0) {
		place = h->path[--n];
		f = tel__labels_frame(labels, place);
		node = f->name != NULL && f->length > 0 ?
		    add_label(h, node, f->name, f->length) :
		    add_address(h, node, l->log, f->address, clock);
		if (node == 0)
			return 0;
		l->nodes[place] = node + 1;
	}
	return node;
}

/* The node of the stack of an event; 0: no memory. */
static uint32_t
find_node(struct tel_heap *h, struct heap_log *l, const struct tel_event *ev,
    uint64_t process)
{
	static const char none[] = "<none>";
	const int part = ev->type->role_field[TEL_PART_STACK];
	const struct tel_field *f;
	struct tel_label label;
	uint64_t value;

	if (part < 0)
		return find_child(h, 0, none, sizeof(none) - 1);
	h->recorded = 1;
	f = &ev->type->fields[part];
	value = tel_load(f, ev->data);
	if (value == 0)
		return find_child(h, 0, none, sizeof(none) - 1);
	if (f->datatype != TEL_ADDRESS && f->datatype != TEL_POINTER)
		return find_frame(h, l, process, value, ev->clock);
	if (tel_find_label(ev, f, value, &label) && label.string != NULL &&
	    label.length > 0)
		return add_label(h, 0, label.string, label.length);
	return add_address(h, 0, l->log, value, ev->clock);
}

/* The site of a node, made when it is new; NULL: no memory. */
static struct site *
find_site(struct tel_heap *h, uint32_t node)
{
	static const char others[] = "<other stacks>";
	struct site *s;

	if (h->nodes[node].site == 0 && h->nsites >= SITES_MAX) {
		node = find_child(h, 0, others, sizeof(others) - 1);
		if (node == 0)
			return NULL;
	}
	if (h->nodes[node].site == 0) {
		if (!TEL__RESERVE_ZEROED(h->sites, h->site_room, h->nsites + 1))
			return NULL;
		s = &h->sites[h->nsites++];
		s->node = node;
		h->nodes[node].site = (uint32_t)h->nsites;
	}
	return &h->sites[h->nodes[node].site - 1];
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
	tel__table_remove(&h->by_address, e);
	keep_peak(h, s);
	s->live_blocks -= b->blocks;
	s->live_bytes -= b->size;
	h->live -= b->size;
	return count_lifetime(h, s, b, ev);
}

static uint64_t
add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static tel_status
begin_block(struct tel_heap *h, struct site *s, uint64_t address, uint64_t size,
    uint32_t blocks, const struct tel_event *ev)
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

/* A block that was where a new one is was freed, but the log lacks that. */
static void
forget_block(struct tel_heap *h, uint64_t address)
{
	struct tel__entry *e = tel__table_find(&h->by_address, address);
	struct block *b;
	struct site *s;

	if (e == NULL || !TEL__RESERVE(h->spare, h->spare_room, h->nspare + 1))
		return;
	b = &h->blocks[e->value];
	s = &h->sites[b->site];
	h->spare[h->nspare++] = (uint32_t)e->value;
	tel__table_remove(&h->by_address, e);
	keep_peak(h, s);
	s->live_blocks -= b->blocks;
	s->live_bytes -= b->size;
	h->live -= b->size;
}

static tel_status
allocate(struct tel_heap *h, struct heap_log *l, const tel_alloc *a,
    uint64_t tag, const struct tel_event *ev)
{
	uint64_t size = a->size, blocks;
	uint32_t node = find_node(h, l, ev, a->process);
	struct site *s = node == 0 ? NULL : find_site(h, node);

	if (s == NULL)
		return TEL_ENOMEM;
	if (a->kind == TEL_ALLOC_CALLOC &&
	    __builtin_mul_overflow(size, a->count, &size))
		size = UINT64_MAX;
	blocks = tel__alloc_blocks(a, size, &s->rest);
	if (a->weight != 0)
		size = a->weight;
	forget_block(h, a->address ^ tag);
	return begin_block(h, s, a->address ^ tag, size,
	    blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX, ev);
}

tel_status
tel_heap_event(tel_heap *h, const tel_event *event)
{
	struct heap_log *l;
	uint64_t tag;
	tel_alloc a;
	tel_status st = TEL_OK;

	if (!tel_type_is_alloc(event->type) || !tel_event_alloc(event, &a) ||
	    a.failed)
		return TEL_OK;
	h->begun = 1;
	l = find_log(h, event->log);
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
	default: return TEL_OK;
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

/* Adds a name to the text; no separator, nothing but text. */
static int
put_name(struct tel_heap *h, size_t *n, const char *name, size_t length)
{
	unsigned char c;
	size_t i;

	if (!TEL__RESERVE(h->text, h->text_room, *n + length + 2))
		return 0;
	if (*n > 0)
		h->text[(*n)++] = ';';
	for (i = 0; i < length; i++) {
		c = (unsigned char)name[i];
		h->text[(*n)++] = c == ';' ? ':' :
		    c < ' ' || c == 0x7f   ? '?' :
		                             (char)c;
	}
	h->text[*n] = '\0';
	return 1;
}

const char *
tel_heap_frames(tel_heap *h, size_t i)
{
	static const char outer[] = "<outer frames>";
	uint32_t path[DEPTH_MAX], node;
	const struct name *name;
	size_t n = 0, depth = 0;

	if (i >= h->nsites)
		return NULL;
	for (node = site_at(h, i)->node; node != 0 && depth < DEPTH_MAX;
	     node = h->nodes[node].parent)
		path[depth++] = node;
	if (node != 0 && !put_name(h, &n, outer, sizeof(outer) - 1))
		return NULL;
	while (depth > 0) {
		name = &h->names[h->nodes[path[--depth]].name];
		if (!put_name(h, &n, name->text, name->length))
			return NULL;
	}
	return h->text;
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
	return h->recorded;
}

uint64_t
tel_heap_untracked(const tel_heap *h)
{
	return h->untracked;
}
