/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live blocks: which blocks of a log live, from the operations of its events.
 * What a block is counted in, such as a stack or a pool, is up to the user, who
 * is called for each change.
 */
#ifndef TEL_LIVE_H
#define TEL_LIVE_H

#include "base/table.h"
#include "model/event.h"
#include "model/role.h"
#include "model/run.h"

/*
 * Documented limits: blocks that live at once, and the bytes of one.  An
 * allocation of more is wrong, and left out.
 */
#define TEL__LIVE_MAX ((size_t)1 << 24)
#define TEL__LIVE_BLOCK_MAX (UINT64_C(1) << 47)

/* A live block, or those that a sample stands for. */
struct tel__live_block {
	uint64_t address;
	uint64_t tag;     /* of its process and log: its key is address ^ tag */
	uint64_t size;    /* bytes, of all, without the parts that were freed */
	uint64_t clock;   /* of its allocation */
	uint32_t blocks;  /* 1, unless it is a sample */
	uint32_t owner;   /* the user's; 0 at first, */
	uint32_t account; /* and so is this */
	uint32_t pool;    /* its place and 1; 0: none */
	uint32_t next, previous; /* in the pool: places of blocks and 1 */
};

enum tel__live_what {
	TEL__LIVE_ALLOCATED,
	/*
	 * A block was allocated that there is no room for: it is not followed,
	 * and good during the call only.
	 */
	TEL__LIVE_UNTRACKED,
	/* Its first or last bytes were freed: .size is the rest. */
	TEL__LIVE_PART_FREED,
	/* It ends: it was freed, or resized, or its pool was destroyed. */
	TEL__LIVE_FREED,
	TEL__LIVE_RESIZED,
	TEL__LIVE_POOL_DESTROYED,
	/* It ends with its process, which left it. */
	TEL__LIVE_LEFT,
	/* It ends, as another one has its address: its free is not in the log. */
	TEL__LIVE_REPLACED,
	/* A free, or a resize, of a block that the log does not allocate; */
	TEL__LIVE_UNKNOWN,
	/*
	 * the same in another process than the first that allocated, if it has
	 * executed no other program: the one that forked it may have had it.
	 */
	TEL__LIVE_INHERITED
};

/*
 * Of the number of a process that telrec(1) records, the bits of the process;
 * those above count the programs that it executed.
 */
#define TEL__LIVE_PROCESS_BITS 22

/*
 * Takes a change.  A resize is two: RESIZED for the block as it was, then
 * ALLOCATED.  block: NULL of the last two.  op: the operation.
 * Returns TEL_OK, or a failure, with which tel__live_take() returns.
 */
typedef tel_status tel__live_fn(void *arg, enum tel__live_what what,
    struct tel__live_block *block, const tel_alloc *op);

struct tel__live_pool {
	uint32_t first; /* the newest live block and 1; if free, the next one */
	uint32_t owner; /* the user's; 0 at first */
};

struct tel__live {
	tel__live_fn *change;
	void *arg;
	uint64_t bytes;           /* of all blocks that live */
	size_t max;               /* blocks that live; TEL__LIVE_MAX at first */
	struct tel__table by_key; /* to a place in blocks */
	struct tel__live_block *blocks;
	size_t nblocks, block_room;
	uint32_t spare; /* the first place that is free, and 1; then .next */
	/*
	 * Places of blocks by where they end, once a part was freed that is not
	 * the start of a block.
	 */
	struct tel__table ends;
	int has_ends;
	uint32_t rest;             /* of samples: parts of a block */
	struct tel__table pools;   /* by address, to a place */
	struct tel__table buffers; /* by address, to the address of a pool */
	struct tel__live_pool *pool_list;
	size_t npools, pool_room;
	uint32_t spare_pool;               /* the first that is free, and 1 */
	uint32_t resized_pool;             /* of the block that is resized */
	uint64_t log_tag;                  /* of the last block's log */
	struct tel__table first_processes; /* to allocate, of logs by tag */
	/*
	 * Processes that ended, and their places by tag.  Their blocks end
	 * before the next operation of the log: what its last process leaves is
	 * live at the end.
	 */
	struct tel__live_ended {
		uint64_t tag, log_tag, clock;
		uint64_t allocations; /* before it */
	} * ended;
	size_t nended, ended_room;
	struct tel__table ended_places;
	uint64_t allocations, looks; /* at blocks, for those of processes */
};

void tel__live_init(struct tel__live *l, tel__live_fn *change, void *arg);
/* Forgets all blocks and pools, without a call. */
void tel__live_clear(struct tel__live *l);

/* Tells the addresses of a process, and of a log with that tag, from others. */
static inline uint64_t
tel__live_process_tag(uint64_t process, uint64_t log_tag)
{
	return log_tag ^ process * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t
tel__live_tag(const tel_alloc *op, uint64_t log_tag)
{
	return tel__live_process_tag(op->process, log_tag);
}

/* The log's tag, of a tag that has the process of the operation as well. */
static inline uint64_t
tel__live_log_tag(const tel_alloc *op, uint64_t tag)
{
	return tel__live_tag(op, tag);
}

/*
 * An operation on the block of a key comes soon: fetches the entry of the key,
 * and later, once that is near, the block.  Where many blocks live, an
 * operation would wait for both.  (Where such a function is not inlined at
 * once, gcc drops its calls, as it has no effect.)
 */
__attribute__((always_inline)) static inline void
tel__live_expect(const struct tel__live *l, uint64_t key)
{
	const struct tel__table *t = &l->by_key;

	if (t->entries != NULL)
		__builtin_prefetch(&t->entries[tel__table_home(t, key)], 1);
}

__attribute__((always_inline)) static inline void
tel__live_approach(const struct tel__live *l, uint64_t key)
{
	const struct tel__table *t = &l->by_key;

	if (t->entries == NULL)
		return;
	/* nearly all blocks are at home there */
	const struct tel__entry *e = &t->entries[tel__table_home(t, key)];
	if (e->key == 0)
		return;
	const struct tel__live_block *b = &l->blocks[e->value];
	__builtin_prefetch(b, 1);
	__builtin_prefetch(&b->previous, 1);
}

/* So many blocks are in the caches of a processor anyway. */
#define TEL__LIVE_NEAR ((size_t)1 << 13)

/*
 * The same, before event i of a run is taken, for those that come so many
 * events after it.
 */
#define TEL__LIVE_ENTRY 16u
#define TEL__LIVE_BLOCK 8u
void tel__live_fetch(const struct tel__live *l, const struct tel_run *run,
    size_t i, uint64_t log_tag);

/* Plans for the types of a run, as these are used; .of: UINT32_MAX for none. */
#define TEL__LIVE_PLANS 8u
struct tel__live_plans {
	uint32_t of[TEL__LIVE_PLANS]; /* numbers of types */
	struct tel__alloc_plan plans[TEL__LIVE_PLANS];
};

/* Event i of a run as an operation: see tel_event_alloc(). */
static inline int
tel__live_operation(struct tel__live_plans *by, const struct tel_run *run,
    size_t i, tel_alloc *op)
{
	const uint32_t type = run->types[i];
	struct tel__alloc_plan *p = &by->plans[type % TEL__LIVE_PLANS];

	if (by->of[type % TEL__LIVE_PLANS] != type) {
		by->of[type % TEL__LIVE_PLANS] = type;
		tel__alloc_plan(p, run_type(run, i), run->data[i]);
	}
	return tel__alloc_load_by(p, run->data[i], run->clocks[i], op);
}

/*
 * Ends the blocks of processes of a log that have ended, before an operation of
 * it is taken; tel__live_take() does so.  Returns as that.
 */
tel_status tel__live_leave(struct tel__live *l, uint64_t log_tag);
static inline tel_status
live_settle(struct tel__live *l, uint64_t log_tag)
{
	return __builtin_expect(l->nended == 0, 1) ?
	    TEL_OK :
	    tel__live_leave(l, log_tag);
}

/* The address of the pool that an operation allocates in; 0: not known. */
uint64_t tel__live_pool_of(const struct tel__live *l, const tel_alloc *op,
    uint64_t log_tag);

/*
 * Takes an operation of an event.  log_tag: see tel__live_tag().
 * Returns TEL_OK, TEL_ENOMEM, or what the user's function returned.
 */
tel_status tel__live_take(struct tel__live *l, const tel_alloc *op,
    uint64_t log_tag);

/*
 * The same for an allocation of any kind but a resize, of an address, and for a
 * free of one, after live_settle().  tag: see tel__live_tag().
 */
tel_status tel__live_allocate(struct tel__live *l, const tel_alloc *op,
    uint64_t tag);
tel_status tel__live_free(struct tel__live *l, const tel_alloc *op,
    uint64_t tag);

/* The bytes that an operation allocates: calloc has a count. */
static inline uint64_t
tel_alloc_bytes(const tel_alloc *op)
{
	uint64_t size;

	if (op->kind != TEL_ALLOC_CALLOC)
		return op->size;
	return __builtin_mul_overflow(op->size, op->count, &size) ? UINT64_MAX :
	                                                            size;
}

#endif
