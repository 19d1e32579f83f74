/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timeline: counters.  Live bytes are counted by the events that allocate and
 * free them, of all and of each pool; and so is memory that one type takes and
 * another gives back.
 */
#include "model/clock.h"
#include "model/role.h"
#include "model/schema.h"
#include "print/gauges.h"

void
tel__timeline_count_clear(struct timeline *tl)
{
	tel__live_clear(&tl->live);
	tel__table_clear(&tl->pools);
	tel__table_clear(&tl->flows);
	tel__table_clear(&tl->arenas);
	tel__table_clear(&tl->classes);
	memset(tl->recent, 0, sizeof(tl->recent));
	memset(&tl->sizes, 0, sizeof(tl->sizes));
	memset(&tl->lifetimes, 0, sizeof(tl->lifetimes));
	tl->shown = 0;
	tl->ngauges = tl->ended = 0;
	tl->all_log = NULL;
}

/* More or less lives in a gauge, and in that of all which it is a part of. */
static void
change_by(struct timeline *tl, size_t gauge, uint64_t size,
    void (*change)(struct timeline_gauge *, uint64_t))
{
	change(&tl->gauges[gauge], size);
	if (gauge != tl->whole)
		change(&tl->gauges[tl->whole], size);
}

/* How long a block of a log lived. */
static void
live_end_count(struct timeline *tl, const struct tel__live_block *b,
    uint64_t clock)
{
	int64_t ns;

	if (tl->lifetimes.track == NULL || tl->whole != tl->all)
		return;
	if (clock <= b->clock)
		ns = 0;
	else if (!tel__clock_between(tl->clock, b->clock, clock, &ns))
		ns = (int64_t)(clock - b->clock);
	strip_count(&tl->lifetimes, ns > 0 ? (uint64_t)ns : 0, b->blocks);
}

/* A block ends with its process, which may be of another log than this event. */
static void
live_left(struct timeline *tl, const struct tel__live_block *b)
{
	gauge_subtract(&tl->gauges[b->owner], b->size);
	tl->gauges[b->owner].left = 1;
	if (b->account != b->owner)
		gauge_subtract(&tl->gauges[b->account], b->size);
	tl->gauges[b->account].left = 1;
}

/*
 * A block lives, or does no more: its owner is a gauge, and its account that of
 * which it is a part.
 */
static tel_status
change_live(void *arg, enum tel__live_what what, struct tel__live_block *block,
    const tel_alloc *op)
{
	struct timeline *tl = arg;

	switch (what) {
	case TEL__LIVE_ALLOCATED:
		block->owner = tl->member;
		block->account = tl->whole;
		change_by(tl, tl->member, block->size, gauge_add);
		break;
	case TEL__LIVE_FREED:
	case TEL__LIVE_RESIZED:
	case TEL__LIVE_POOL_DESTROYED:
		live_end_count(tl, block, op->clock);
		/* FALLTHROUGH */
	case TEL__LIVE_REPLACED:
	case TEL__LIVE_PART_FREED:
		change_by(tl, block->owner,
		    what == TEL__LIVE_PART_FREED ? op->size : block->size,
		    gauge_subtract);
		tl->changed = block->owner;
		break;
	case TEL__LIVE_LEFT: live_left(tl, block); break;
	case TEL__LIVE_UNKNOWN: tl->gauges[tl->whole].unknown++; break;
	case TEL__LIVE_INHERITED:
	case TEL__LIVE_UNTRACKED: break;
	}
	return TEL_OK;
}

void
tel__timeline_count_init(struct timeline *tl)
{
	tel__live_init(&tl->live, change_live, tl);
}

/*
 * Does an operation to the blocks of a gauge, which is a part of whole.  tag:
 * tells addresses of one log, or one gauge, from those of others.
 */
static void
live_follow(struct timeline *tl, uint32_t gauge, uint32_t whole,
    const tel_alloc *op, uint64_t tag)
{
	tl->member = gauge;
	tl->whole = whole;
	tl->changed = gauge;
	if (tel__live_take(&tl->live, op, tag) != TEL_OK)
		tl->no_memory = 1;
}

static uint64_t
log_tag(const struct tel_log *log)
{
	return tel__hash((uint64_t)(uintptr_t)log, TEL__FNV);
}

/* A pool ends, with all that lives in it. */
static void
end_pool(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const tel_alloc *op, uint64_t time)
{
	const uint64_t all = tl->gauges[tl->all].bytes;
	struct timeline_gauge *g = tel__gauge_end_pool(tl, ev, op);
	const uint64_t had = g == NULL ? 0 : g->bytes;

	live_follow(tl, tl->all, tl->all, op, log_tag(ev->log));
	if (g != NULL) {
		gauge_subtract(&tl->gauges[tl->all], g->bytes);
		g->bytes = 0;
		g->ended = 1;
		tl->ended++;
	}
	if (had > 0)
		tel__gauge_show(pr, tl, (size_t)(g - tl->gauges), time);
	if (tl->gauges[tl->all].bytes != all)
		tel__gauge_show(pr, tl, tl->all, time);
}

/* What processes of a log left that have ended lives no more. */
static void
end_processes(struct tel_printer *pr, struct timeline *tl,
    const struct tel_log *log, uint64_t time)
{
	if (tl->live.nended == 0)
		return;
	if (live_settle(&tl->live, log_tag(log)) != TEL_OK)
		tl->no_memory = 1;
	for (size_t i = 0; i < tl->ngauges; i++) {
		if (!tl->gauges[i].left)
			continue;
		tl->gauges[i].left = 0;
		tel__gauge_show(pr, tl, i, time);
	}
}

/* The track of a strip; NULL: it is not shown. */
static struct timeline_track *
find_strip(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, enum timeline_memory memory, const char *name)
{
	if (tl->ops->heat == NULL)
		return NULL;
	struct timeline_track *t = tel__timeline_in_log(pr, tl, ev->log,
	    TIMELINE_HEAT, name, strlen(name));
	if (t == NULL || t->use != TIMELINE_HEAT)
		return NULL;
	t->memory = memory;
	return t;
}

/* Finds the gauge of all of an event's log.  0: there is none. */
static int
live_enter_log(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev)
{
	if (tl->all_log == ev->log)
		return 1;
	tl->all_log = NULL;
	tl->all = tel__gauge_log(pr, tl, ev);
	if (tl->all == GAUGE_NONE)
		return 0;
	if ((tl->sizes.rows | tl->lifetimes.rows) != 0)
		tl->ops->flush_bucket(pr);
	tl->sizes.track =
	    find_strip(pr, tl, ev, TIMELINE_SIZES, "sizes of blocks");
	tl->lifetimes.track =
	    find_strip(pr, tl, ev, TIMELINE_LIFETIMES, "lifetimes of blocks");
	tl->all_log = ev->log;
	return 1;
}

/* Shows how many frees there were of blocks that the log does not allocate. */
static void
show_unknown(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, uint64_t time)
{
	const struct timeline_track *t = tel__timeline_in_log(pr, tl, ev->log,
	    TIMELINE_COUNT, TIMELINE_UNKNOWN, sizeof(TIMELINE_UNKNOWN) - 1);

	if (t != NULL && t->use == TIMELINE_COUNT)
		tl->ops->counter(pr, t, time,
		    (int64_t)tl->gauges[tl->all].unknown);
}

/* An operation that changes which blocks live, except for the end of a pool. */
static void
change_blocks(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    const tel_alloc *op, uint64_t time)
{
	uint32_t part = tel__gauge_part(pr, tl, ev, p, op);
	const uint64_t unknown = tl->gauges[tl->all].unknown;

	if (part == GAUGE_NONE)
		part = tl->all;
	if (op->kind != TEL_ALLOC_FREE && op->address != 0)
		strip_count(&tl->sizes, op->size, 1);
	tl->changed = part;
	live_follow(tl, part, tl->all, op, log_tag(ev->log));
	if (tl->gauges[tl->all].unknown != unknown)
		show_unknown(pr, tl, ev, time);
	if (tl->changed != part && tl->changed != tl->all)
		tel__gauge_show(pr, tl, tl->changed, time);
	if (part != tl->all)
		tel__gauge_show(pr, tl, part, time);
	tel__gauge_show(pr, tl, tl->all, time);
}

int
tel__timeline_allocate(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time)
{
	tel_alloc op;

	if (!tel__event_alloc(ev, &op))
		return 0;
	if (op.failed)
		return 1;
	end_processes(pr, tl, ev->log, time);
	/* no event shows whether a reserved block is used */
	if (op.kind == TEL_ALLOC_RESERVE)
		return 1;
	if (op.kind == TEL_ALLOC_POOL_CREATE ||
	    op.kind == TEL_ALLOC_POOL_DESCRIBE)
		tel__gauge_start_pool(pr, tl, ev, p, &op);
	if (op.kind == TEL_ALLOC_BUFFER_CREATE ||
	    op.kind == TEL_ALLOC_BUFFER_DESTROY ||
	    op.kind == TEL_ALLOC_PROCESS_END)
		live_follow(tl, GAUGE_NONE, GAUGE_NONE, &op, log_tag(ev->log));
	if (op.kind > TEL_ALLOC_FREE && op.kind != TEL_ALLOC_COMMIT &&
	    op.kind != TEL_ALLOC_POOL_DESTROY)
		return 0;
	if (!live_enter_log(pr, tl, ev))
		return 1;
	if (op.kind == TEL_ALLOC_POOL_DESTROY) {
		end_pool(pr, tl, ev, &op, time);
		return 0;
	}
	change_blocks(pr, tl, ev, p, &op, time);
	return 1;
}

/* Bytes that an event takes or gives back; has_size: the event has them. */
static inline uint64_t
event_bytes(const struct timeline_plan *p, const struct tel_field *fields,
    const unsigned char *data, int *has_size)
{
	uint64_t size = 0;

	*has_size = 1;
	if (p->size >= 0)
		size = tel__load_mostly(&fields[p->size], data);
	else if (p->base >= 0 && p->limit >= 0)
		size = tel__load_mostly(&fields[p->limit], data) -
		    tel__load_mostly(&fields[p->base], data);
	else
		*has_size = 0;
	/* such as where the limit is before the base */
	return size > TEL__LIVE_BLOCK_MAX ? 0 : size;
}

/* By its size, or as a block where what gives it back does not say that. */
static inline void
print_live_bytes_take(struct timeline *tl, const struct timeline_plan *p,
    uint32_t gauge, const struct tel_field *fields, const unsigned char *data)
{
	const int takes = p->memory > 0;
	tel_alloc op = { .kind = takes ? TEL_ALLOC_MALLOC : TEL_ALLOC_FREE };
	int has_size;

	op.size = event_bytes(p, fields, data, &has_size);
	if (p->key < 0) {
		(takes ? gauge_add : gauge_subtract)(&tl->gauges[gauge],
		    op.size);
		return;
	}
	/* 0 may be a key, and is no address */
	op.address = tel__load_mostly(&fields[p->key], data) + 1;
	op.sized = has_size;
	live_follow(tl, gauge, gauge, &op,
	    gauge * UINT64_C(0x9e3779b97f4a7c15));
}

void
tel__timeline_take(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time)
{
	const struct tel_type *t = ev->type;
	uint64_t arena = 0;
	uint32_t gauge = p->gauge;

	if (p->arena >= 0)
		arena = tel_load(&t->fields[p->arena], ev->data);
	if (p->take_log != ev->log || p->take_arena != arena)
		gauge = tel__gauge_type(pr, tl, ev, p);
	if (gauge == GAUGE_NONE)
		return;
	p->take_log = ev->log;
	p->take_arena = arena;
	p->gauge = gauge;
	print_live_bytes_take(tl, p, gauge, t->fields, ev->data);
	tel__gauge_show(pr, tl, gauge, time);
	if (p->pool < 0 || tl->ops->heat == NULL)
		return;
	p->take_pool = tel_load(&t->fields[p->pool], ev->data);
	p->held = tel__gauge_type_pool(pr, tl, ev, p, p->take_pool);
	if (p->held == GAUGE_NONE)
		return;
	print_live_bytes_take(tl, p, p->held, t->fields, ev->data);
	tel__gauge_show(pr, tl, p->held, time);
}

/* --------------------------------------------------------- many at once */

/* A field that is a part of the role of a type, or NULL. */
static const struct tel_field *
part_of(const struct tel_type *t, enum tel_role_part part)
{
	return t->role_field[part] < 0 ? NULL : &t->fields[t->role_field[part]];
}

void
tel__timeline_action(struct timeline_action *a, const struct tel_type *type)
{
	const struct timeline_plan *p = a->plan;

	a->does = 0;
	if ((p->is != PLAN_INSTANT && p->is != PLAN_NONE) ||
	    type->role == TEL_ROLE_MIDDLE || tel_type_is_gauge(type) ||
	    type->unknown || p->sender != 0 || p->resource != RESOURCE_NONE ||
	    p->path >= 0 || p->interrupt >= 0) {
		a->does = TIMELINE_MORE;
		return;
	}
	if (tel_type_is_alloc(type))
		a->does |= TIMELINE_ALLOCATES;
	if (p->memory != 0)
		a->does |= TIMELINE_TAKES;
}

/* Where a field is, or 0; *right: it is 64 bits, little-endian, or none. */
static uint16_t
live_place_of(const struct tel_field *f, int *right)
{
	*right &= f == NULL || f->load == TEL_LOAD_LE64;
	return f == NULL ? 0 : f->offset;
}

static void
sum_blocks(struct timeline_action *a, const struct tel_type *t)
{
	const int frees = tel_type_frees(t);

	a->address = part_of(t, TEL_PART_ADDRESS);
	a->size = part_of(t, TEL_PART_SIZE);
	a->pool = part_of(t, TEL_PART_POOL);
	if (a->address == NULL || t->role >= TEL_ROLE_MIDDLE ||
	    !(frees || (tel_type_allocates(t) && a->size != NULL)) ||
	    part_of(t, TEL_PART_COUNT) != NULL ||
	    part_of(t, TEL_PART_WEIGHT) != NULL ||
	    part_of(t, TEL_PART_PROCESS) != NULL)
		return;
	a->first = a->address->datatype == TEL_UNSIGNED ||
	    a->address->datatype == TEL_SIGNED;
	a->sum = SUM_BLOCK;
}

static void
sum_memory(struct timeline_action *a, const struct tel_type *t)
{
	const struct timeline_plan *p = a->plan;

	a->sum = SUM_MEMORY;
	a->pool = p->arena < 0 ? NULL : &t->fields[p->arena];
	a->held = p->pool < 0 ? NULL : &t->fields[p->pool];
	if (p->size >= 0) {
		a->size = &t->fields[p->size];
	} else if (p->base >= 0 && p->limit >= 0) {
		a->size = &t->fields[p->limit];
		a->base = &t->fields[p->base];
	}
	if (p->key < 0 && a->size != NULL)
		a->sum = p->memory > 0 ? SUM_TAKE : SUM_GIVE;
}

void
tel__timeline_sum(struct timeline_action *a, const struct tel_type *t)
{
	int right = 1;

	a->sum = SUM_NOT;
	if (a->does == 0)
		a->sum = SUM_EVENTS;
	else if (a->does == TIMELINE_ALLOCATES)
		sum_blocks(a, t);
	else if (a->does == TIMELINE_TAKES)
		sum_memory(a, t);
	(void)live_place_of(a->address, &right);
	a->size_at = live_place_of(a->size, &right);
	a->pool_at = live_place_of(a->pool, &right);
	a->base_at = live_place_of(a->base, &right);
	if (!right && (a->sum == SUM_TAKE || a->sum == SUM_GIVE))
		a->sum = SUM_MEMORY;
}

/* As tel__timeline_allocate() does, if the gauge is known; else 0. */
static int
live_add_block(struct timeline *tl, const struct timeline_action *a,
    const struct tel_log *log, const struct tel_type *t,
    const unsigned char *data, uint64_t clock)
{
	const int frees = tel_type_frees(t);
	tel_alloc op = { .kind = frees ? TEL_ALLOC_FREE : TEL_ALLOC_MALLOC,
		.call = t->role >= TEL_ROLE_NEW ? TEL_CALL_CXX : TEL_CALL_C,
		.sized = a->size != NULL,
		.clock = clock };
	uint32_t part = tl->all;

	if (tl->all_log != log || tl->live.nended > 0)
		return 0;
	if (a->pool != NULL) {
		op.pool = tel__load_mostly(a->pool, data);
		const struct timeline_recent *r = gauge_recent(tl, op.pool);
		if (r->log != log || r->owner != op.pool ||
		    r->gauge == GAUGE_NONE)
			return 0;
		part = r->gauge;
	}
	op.address = tel__load_mostly(a->address, data) + a->first;
	op.size = a->size == NULL ? 0 : tel__load_mostly(a->size, data);
	if (op.address == 0)
		return 1;
	if (!frees)
		strip_count(&tl->sizes, op.size, 1);
	tl->changed = part;
	live_follow(tl, part, tl->all, &op, log_tag(log));
	if (tl->changed != part && tl->changed != tl->all)
		gauge_hold(tl, &tl->gauges[tl->changed]);
	if (part != tl->all)
		gauge_hold(tl, &tl->gauges[part]);
	gauge_hold(tl, &tl->gauges[tl->all]);
	return 1;
}

/* As tel__timeline_take() does, if the gauge is known; else 0. */
static int
live_add_memory(struct timeline *tl, const struct timeline_action *a,
    const struct tel_log *log, const struct tel_type *t,
    const unsigned char *data)
{
	const struct timeline_plan *p = a->plan;

	if (p->take_log != log ||
	    (a->pool != NULL &&
	        tel__load_mostly(a->pool, data) != p->take_arena))
		return 0;
	print_live_bytes_take(tl, p, p->gauge, t->fields, data);
	gauge_hold(tl, &tl->gauges[p->gauge]);
	return 1;
}

static inline void
add_bytes(struct timeline *tl, uint32_t gauge, int gives, uint64_t size)
{
	struct timeline_gauge *g = &tl->gauges[gauge];

	if (gives) {
		gauge_subtract(g, size);
		gauge_hold_lower(tl, g);
	} else {
		gauge_add(g, size);
		gauge_hold_higher(tl, g);
	}
}

/* The same of SUM_TAKE and SUM_GIVE. */
static inline int
add_taken(struct timeline *tl, const struct timeline_action *a,
    const struct tel_log *log, const unsigned char *data)
{
	const struct timeline_plan *p = a->plan;
	uint64_t size = tel_le64(data + a->size_at);

	if (p->take_log != log ||
	    (a->pool != NULL && tel_le64(data + a->pool_at) != p->take_arena) ||
	    (a->held != NULL && tel_load(a->held, data) != p->take_pool))
		return 0;
	if (a->base != NULL)
		size -= tel_le64(data + a->base_at);
	size = size <= TEL__LIVE_BLOCK_MAX ? size : 0;
	add_bytes(tl, p->gauge, a->sum == SUM_GIVE, size);
	if (a->held != NULL && p->held != GAUGE_NONE)
		add_bytes(tl, p->held, a->sum == SUM_GIVE, size);
	return 1;
}

size_t
tel__timeline_counts(struct timeline *tl, struct timeline_actions *to,
    const struct tel_run *events, size_t i, size_t last)
{
	const struct tel_type *types = events->first->schema->types;
	const struct tel_log *log = events->event->log;
	const unsigned char *const *data = events->data;
	const uint32_t *const numbers = events->types;
	int added;

	for (; i < last && numbers[i] < to->count; i++) {
		struct timeline_action *a = &to->all[numbers[i]];

		switch (a->sum) {
		case SUM_EVENTS: added = 1; break;
		case SUM_TAKE:
		case SUM_GIVE: added = add_taken(tl, a, log, data[i]); break;
		case SUM_BLOCK:
			added = live_add_block(tl, a, log, &types[numbers[i]],
			    data[i], events->clocks[i]);
			break;
		case SUM_MEMORY:
			added = live_add_memory(tl, a, log, &types[numbers[i]],
			    data[i]);
			break;
		default: added = 0;
		}
		if (!added)
			break;
		if (a->news++ == 0)
			to->recent[to->nrecent++] = numbers[i];
	}
	return i;
}
