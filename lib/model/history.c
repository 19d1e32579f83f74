/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What began earlier and has not ended: a copy of each event that allocated a
 * block which lives, and of each that began a range which is open.
 */
#include "model/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/getter.h"
#include "model/live.h"
#include "model/pair.h"
#include "model/role.h"
#include "model/stacks.h"
#include "tel/filter.h"

/* Places of starts are numbers, so that the array can move; 0: none. */
struct start {
	unsigned char *bytes; /* the event's, and then its inline labels */
	size_t bytes_room;
	const struct tel_type *type;
	uint64_t clock, offset, index;
	uint32_t size, inline_size;
	enum tel_inline inline_use;
	uint32_t
	    below; /* the range around it, of the same key; or the next free */
};

struct tel__history {
	uint64_t taken; /* the index of the event that was taken last, and 1 */
	struct tel__live live;
	struct tel__table ranges; /* a hash of the key to the innermost range */
	uint64_t seed;
	size_t nranges;
	struct start *starts;
	size_t nstarts, room;
	uint32_t spare; /* the first that is free */
	/* of the event that was taken last */
	struct tel_log *log;
	const struct tel_event *event; /* while it is taken */
	uint32_t start;                /* what began it */
	int ended;                     /* and ends with it */
	int allocates, frees, has_bytes;
	uint64_t bytes;
	/* where what it allocates and what it frees is; .size 0: nothing */
	struct extent {
		uint64_t address, size;
	} allocated, freed;
	int any;                    /* an event has allocated or freed */
	struct tel__stacks *stacks; /* NULL until one is asked for */
};

/* -------------------------------------------------------------- starts */

/* Copies an event.  Its place; 0: no memory. */
static uint32_t
start_add(struct tel__history *h, const struct tel_event *ev)
{
	const size_t size = (size_t)ev->size + ev->inline_size;
	uint32_t place = h->spare;

	if (place == 0 &&
	    !TEL__RESERVE_ZEROED(h->starts, h->room, h->nstarts + 1))
		return 0;
	struct start *s = &h->starts[place == 0 ? h->nstarts : place - 1];
	/* what was here before has mostly the same size */
	if (!TEL__RESERVE(s->bytes, s->bytes_room, size))
		return 0;
	if (place == 0)
		place = (uint32_t)++h->nstarts;
	else
		h->spare = s->below;
	if (ev->size > 0)
		memcpy(s->bytes, ev->data, ev->size);
	if (ev->inline_size > 0)
		memcpy(s->bytes + ev->size, ev->inline_labels, ev->inline_size);
	s->type = ev->type;
	s->clock = ev->clock;
	s->offset = ev->offset;
	s->index = ev->index;
	s->size = ev->size;
	s->inline_size = ev->inline_size;
	s->inline_use = ev->inline_use;
	s->below = 0;
	return place;
}

static void
start_remove(struct tel__history *h, uint32_t place)
{
	if (place == 0)
		return;
	struct start *s = &h->starts[place - 1];
	s->below = h->spare;
	h->spare = place;
}

/* A view of the copy at a place. */
static void
start_event(const struct tel__history *h, uint32_t place, struct tel_event *out)
{
	const struct start *s = &h->starts[place - 1];

	memset(out, 0, sizeof(*out));
	out->type = s->type;
	out->log = h->log;
	out->clock = s->clock;
	out->offset = s->offset;
	out->index = s->index;
	out->size = s->size;
	out->inline_size = s->inline_size;
	out->inline_use = s->inline_use;
	tel_event_place(out, s->bytes);
}

/* -------------------------------------------------------------- blocks */

/* The bytes of a block, without those of others that it is a sample of. */
static uint64_t
block_size(const struct tel__history *h, const struct tel__live_block *b)
{
	struct tel_event start;
	tel_alloc op;

	if (h->starts[b->owner - 1].type->role_field[TEL_PART_WEIGHT] < 0)
		return b->size;
	start_event(h, b->owner, &start);
	(void)tel__event_alloc(&start, &op);
	return op.weight != 0 ? tel_alloc_bytes(&op) : b->size;
}

static tel_status
block_changes(void *arg, enum tel__live_what what, struct tel__live_block *b,
    const tel_alloc *op)
{
	struct tel__history *h = arg;

	switch (what) {
	case TEL__LIVE_ALLOCATED:
		b->owner = start_add(h, h->event);
		if (b->owner == 0)
			return TEL_ENOMEM;
		/* fallthrough */
	case TEL__LIVE_UNTRACKED:
		h->allocates = h->has_bytes = 1;
		h->bytes = b->size;
		h->allocated =
		    (struct extent){ b->address, tel_alloc_bytes(op) };
		break;
	case TEL__LIVE_PART_FREED:
		h->frees = h->has_bytes = 1;
		h->bytes = op->size;
		h->start = b->owner;
		h->freed = (struct extent){ op->address, op->size };
		break;
	case TEL__LIVE_FREED:
	case TEL__LIVE_RESIZED:
		h->frees = h->has_bytes = h->ended = 1;
		h->bytes = b->size;
		h->start = b->owner;
		h->freed = (struct extent){ b->address, block_size(h, b) };
		break;
	case TEL__LIVE_POOL_DESTROYED:
	case TEL__LIVE_LEFT:
	case TEL__LIVE_REPLACED: start_remove(h, b->owner); break;
	case TEL__LIVE_UNKNOWN:
	case TEL__LIVE_INHERITED: h->frees = 1; break;
	}
	return TEL_OK;
}

static tel_status
take_operation(struct tel__history *h, const struct tel_event *ev)
{
	tel_alloc op;

	(void)tel__event_alloc(ev, &op);
	h->any |= op.kind <= TEL_ALLOC_FREE || op.kind == TEL_ALLOC_COMMIT;
	return tel__live_take(&h->live, &op, 0);
}

/* -------------------------------------------------------------- ranges */

static uint64_t
history_range_key(const struct tel__history *h, const struct tel_event *ev)
{
	int known;
	const uint64_t key = tel__hash(tel__pair_key(ev, &known), h->seed);

	return tel__hash((uint64_t)tel_pair_of(ev->type), key);
}

static tel_status
take_range(struct tel__history *h, const struct tel_event *ev)
{
	const uint64_t key = history_range_key(h, ev);
	struct tel__entry *e = tel__table_find(&h->ranges, key);
	int fresh;

	if (ev->type->role != TEL_ROLE_START) {
		h->start = e == NULL ? 0 : (uint32_t)e->value;
		if (h->start == 0 || ev->type->role != TEL_ROLE_FINISH)
			return TEL_OK;
		h->ended = 1;
		h->nranges--;
		e->value = h->starts[h->start - 1].below;
		if (e->value == 0)
			tel__table_remove(&h->ranges, e);
		return TEL_OK;
	}
	if (h->nranges == TEL__HISTORY_RANGES_MAX)
		return TEL_OK;
	uint32_t place = start_add(h, ev);
	e = place == 0 ? NULL : tel__table_put(&h->ranges, key, &fresh);
	if (e == NULL) {
		start_remove(h, place);
		return TEL_ENOMEM;
	}
	h->starts[place - 1].below = fresh ? 0 : (uint32_t)e->value;
	e->value = place;
	h->nranges++;
	return TEL_OK;
}

/* ------------------------------------------------------------- history */

void
tel__history_free(struct tel__history *h)
{
	if (h == NULL)
		return;
	for (size_t i = 0; i < h->room; i++)
		free(h->starts[i].bytes);
	free(h->starts);
	tel__live_clear(&h->live);
	tel__table_clear(&h->ranges);
	if (h->stacks != NULL)
		tel__stacks_clear(h->stacks);
	free(h->stacks);
	free(h);
}

/* The history of the log of an event; NULL: no memory. */
static struct tel__history *
history_of(struct tel_log *log)
{
	struct tel__history *h = log->history;

	if (h == NULL && (h = calloc(1, sizeof(*h))) != NULL) {
		tel__live_init(&h->live, block_changes, h);
		tel__table_init(&h->ranges);
		h->seed = tel__hash_seed(h);
		h->log = log;
		log->history = h;
	}
	return h;
}

tel_status
tel_event_remember(const struct tel_event *ev)
{
	struct tel__history *h = history_of(ev->log);
	tel_status st = TEL_OK;

	if (h == NULL)
		return TEL_ENOMEM;
	if (h->taken == ev->index + 1)
		return TEL_OK;
	if (h->ended)
		start_remove(h, h->start);
	h->taken = ev->index + 1;
	h->start = 0;
	h->ended = h->allocates = h->frees = h->has_bytes = 0;
	h->allocated.size = h->freed.size = 0;
	h->event = ev;
	if (tel_type_is_alloc(ev->type))
		st = take_operation(h, ev);
	else if (tel_pair_of(ev->type) >= 0)
		st = take_range(h, ev);
	h->event = NULL;
	return st;
}

int
tel__history_start(const struct tel__history *h, struct tel_event *out)
{
	if (h->start != 0)
		start_event(h, h->start, out);
	return h->start != 0;
}

TEL__GETTER(int, tel__history_allocates, struct tel__history, allocates)
TEL__GETTER(int, tel__history_frees, struct tel__history, frees)

int
tel__history_bytes(const struct tel__history *h, uint64_t *out)
{
	*out = h->bytes;
	return h->has_bytes;
}

int
tel__history_blocks(const struct tel__history *h,
    int (*fn)(const void *arg, uint64_t first, uint64_t last), const void *arg)
{
	const struct extent *const of[] = { &h->allocated, &h->freed };
	uint64_t last;
	int result = 0;

	for (size_t i = 0; i < 2 && result == 0; i++) {
		if (of[i]->size == 0)
			continue;
		if (__builtin_add_overflow(of[i]->address, of[i]->size - 1,
		        &last))
			last = UINT64_MAX;
		result = fn(arg, of[i]->address, last);
	}
	return result;
}

int
tel__history_live(const struct tel__history *h, uint64_t *out)
{
	*out = h->live.bytes;
	return h->any;
}

/* Whether an event recorded its stack: 0 stands for none. */
static int
has_stack(const struct tel_event *ev)
{
	const int part = tel__stacks_field(ev->type);

	return part >= 0 && tel_load(&ev->type->fields[part], ev->data) != 0;
}

const char *
tel__history_stack(const struct tel_event *ev, size_t *length)
{
	struct tel__history *h = history_of(ev->log);
	struct tel_event start;

	if (h == NULL)
		return NULL;
	if (!has_stack(ev) && h->frees && tel__history_start(h, &start))
		ev = &start;
	int process = ev->type->role_field[TEL_PART_PROCESS];
	if (tel__stacks_field(ev->type) < 0)
		return NULL;
	if (h->stacks == NULL) {
		h->stacks = malloc(sizeof(*h->stacks));
		if (h->stacks == NULL)
			return NULL;
		if (!tel__stacks_init(h->stacks)) {
			tel__stacks_clear(h->stacks);
			free(h->stacks);
			h->stacks = NULL;
			return NULL;
		}
	}
	struct tel__stack_log *log = tel__stacks_log(h->stacks, h->log);
	uint32_t node = log == NULL ?
	    0 :
	    tel__stacks_find(h->stacks, log, ev,
	        process < 0 ? 0 : tel_event_u64(ev, (unsigned)process));
	const char *text = node == 0 ? NULL : tel__stacks_text(h->stacks, node);
	*length = text == NULL ? 0 : strlen(text);
	return text;
}
