/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the compiler share: blocks, lanes, and how operations
 * are put into them.
 */
#ifndef TEL_COMPILER_H
#define TEL_COMPILER_H

#include "alloc/layout.h"
#include "model/table.h"
#include "tel.h"

#define NO_SLOT UINT32_MAX

/* A block that is live, by its slot. */
struct block {
	uint64_t size;  /* what of it is live */
	uint64_t birth; /* the operation that began it, from 1 */
	uint64_t clock; /* and its clock */
	uint32_t where; /* the word that made it: number, flags */
	uint32_t chunk; /* of that word: number, lane */
};
#define WHERE_MASK 0xfffffffu
#define BLOCK_PARTS 0x10000000u /* parts of it were freed */
#define BLOCK_EARLY 0x20000000u /* a free came before it was allocated */
#define CHUNK_SHIFT 10          /* low bits of .chunk: the lane */
#define LANE_MASK 0x3ffu
#define CHUNKS_MAX (UINT32_C(1) << (32 - CHUNK_SHIFT))

/* Of a block in a pool. */
struct pooled {
	uint64_t address;
	uint32_t pool;
	uint32_t next, previous; /* blocks of the pool, or NO_SLOT */
};

/* Of a block of which parts were freed. */
struct part {
	uint64_t whole;  /* its size at first */
	uint64_t offset; /* of what is live */
	uint32_t slot;
};

#define SNAPSHOTS 8
/* What a lane knew of the others when it had waited. */
struct snapshot {
	uint32_t position; /* its own, after the wait */
	uint32_t *known;
};

/* Room that there is before an operation and what goes before it. */
#define LANE_SLACK 8
#define ORIGIN_SLACK 32

struct lane {
	uint64_t *words;
	uint32_t count, room;
	uint32_t last;       /* the first word of the last operation */
	uint32_t operations; /* in this chunk */
	unsigned char *origins;
	size_t origins_used, origins_room;
	uint64_t event; /* of the last operation */
	uint64_t log;
	uint64_t *times;                 /* pairs */
	uint32_t times_used, times_room; /* numbers */
	uint32_t time_word;              /* of the last time */
	uint64_t time_clock;
	uint32_t *free; /* slots that this lane freed */
	size_t free_used, free_room;
	uint32_t fresh, fresh_end; /* slots never used */
	uint32_t use;              /* pool or buffer number */
	int use_buffer;            /* it is a buffer's */
	int ended;                 /* its thread did */
	/* How many words of each lane are done, as far as this one knows. */
	uint32_t *known;
	struct snapshot snapshots[SNAPSHOTS];
	unsigned snapshot_count; /* ever */
};

/* A pool, or a buffer. */
struct pool {
	uint64_t address;      /* 0: it is destroyed */
	uint32_t where, chunk; /* the word that creates it, as of a block */
	uint32_t first;        /* of a pool: a block, or NO_SLOT */
	uint32_t buffer;       /* of a pool: a buffer, or NO_SLOT */
	uint32_t pool;         /* of a buffer */
	uint32_t next;         /* of a buffer: another one of the pool */
	int reserved;          /* of a buffer: it has reserved */
	uint64_t at;           /* and at this address */
	int used;              /* it was used, but not created so far */
	tel_odd_one odd;       /* when it was used first */
};
struct pools {
	struct pool *all; /* number 0 is the one without name */
	size_t count, room;
	struct tel_table by_address;
};

/* An operation that something is wrong with, of which more may be learnt. */
struct suspect {
	uint64_t address; /* 0: settled */
	uint64_t when;    /* the operation, from 1 */
	tel_odd_one odd;
	uint32_t slot; /* of the older block, for SUSPECT_DOUBLE */
	uint32_t lane; /* that freed, or that allocated anew */
	int what;
};
enum { SUSPECT_FREE, SUSPECT_BORN, SUSPECT_DOUBLE };
#define SUSPECTS 1024
#define SUSPECT_OPERATIONS 4096 /* how long a race may last */

struct tel_compiler {
	tel_output *out;
	tel_lane_order order;
	unsigned lanes_max;
	int strict;
	uint64_t max_live;
	size_t chunk_words;

	tel_facts facts;
	uint64_t event; /* of the operation being added */
	uint64_t thread;
	uint64_t clock;
	uint64_t process; /* of the last operation, and its tag */
	uint64_t tag;     /* what its addresses are marked with */
	struct tel_table processes;
	uint64_t log;
	uint64_t now; /* operations so far */
	uint64_t live_blocks, live_bytes;
	uint64_t point_peak; /* most bytes since the last point of the curve */
	uint64_t point_left, point_step; /* operations to the next one */

	struct tel_table table; /* slots by address */
	struct block *blocks;
	size_t blocks_room;
	uint32_t slots;
	uint32_t *shared_free; /* slots that any lane may take */
	size_t shared_used, shared_room;

	struct tel_table threads; /* lanes by thread + 1 */
	uint64_t last_thread;
	struct lane *last_lane;
	struct lane *total_lane; /* of the last operation in the program */
	struct lane *lanes;
	unsigned lane_count;
	unsigned ended_count;
	size_t used;         /* words in this chunk */
	uint64_t time_ticks; /* how often the time is noted */
	uint64_t base;       /* where in the output the program begins */
	uint64_t *index;     /* offset and size of each chunk */
	size_t index_used, index_room;

	struct pools pools, buffers;
	struct pooled *pooled; /* by slot; NULL until there are pools */
	size_t pooled_room;

	int ends_on;           /* ends are kept up to date */
	struct tel_table ends; /* slots by the address behind the block */
	struct tel_table parts_by_slot; /* slot + 1 */
	struct part *parts;
	size_t parts_used, parts_room;

	struct suspect *suspects; /* a ring */
	struct tel_table suspects_by_address;
	unsigned suspects_first, suspects_used;

	unsigned odd_of[TEL_ODD_KINDS]; /* how many of it were kept */
	int begun, ended, named;
	tel_status failed;
	char error[192];
};

static inline uint64_t
tel_make_word(tel_word kind, uint32_t slot, uint32_t size)
{
	return (uint64_t)kind | (uint64_t)size << TEL_WORD_SIZE_SHIFT |
	    (uint64_t)slot << TEL_WORD_SLOT_SHIFT;
}

/* What block.chunk is for words of a lane in this chunk. */
static inline uint32_t
lane_place(const struct tel_compiler *c, const struct lane *l)
{
	return (uint32_t)c->facts.chunks << CHUNK_SHIFT |
	    (uint32_t)(l - c->lanes);
}

/* Says what went wrong; returns the status. */
tel_status tel_compiler_fail(struct tel_compiler *c, tel_status st,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for what fails most. */
tel_status tel_compiler_no_memory(struct tel_compiler *c);

/* compile.c */
/* Compiles an operation of a lane. */
tel_status tel_compile(struct tel_compiler *c, struct lane *l,
    const tel_alloc *op);

/* odd.c */
tel_odd_one tel_odd_now(const struct tel_compiler *c, tel_odd odd,
    uint64_t address);
tel_status tel_odd_add(struct tel_compiler *c, const tel_odd_one *one);
/* Counts what is odd about the operation being added. */
tel_status tel_odd_count(struct tel_compiler *c, tel_odd odd, uint64_t address);

/* lanes.c */
/* The lane of a thread, found or made; NULL when there is no memory. */
struct lane *tel_lane_find(struct tel_compiler *c, uint64_t thread);
void tel_lane_end(struct tel_compiler *c, uint64_t thread);
void tel_lanes_close(struct tel_compiler *c);
/* Room for an operation and what goes before it. */
int tel_lane_grow(struct lane *l);
/*
 * Makes *p, an array with room for *room elements of size bytes, one for at
 * least need.  0, or -1 when there is no memory.
 */
int tel_array_grow(void *p, size_t *room, size_t need, size_t size);
/* Slots for a lane that has none.  0, or -1 when there is no memory. */
int tel_slots_fetch(struct tel_compiler *c, struct lane *l);

/* A slot for an operation of a lane; NO_SLOT when there is no memory. */
static inline uint32_t
slot_new(struct tel_compiler *c, struct lane *l)
{
	if (l->free_used == 0 && l->fresh == l->fresh_end &&
	    tel_slots_fetch(c, l) != 0)
		return NO_SLOT;
	return l->free_used > 0 ? l->free[--l->free_used] : l->fresh++;
}

static inline int
slot_free(struct lane *l, uint32_t slot)
{
	if (l->free_used == l->free_room &&
	    tel_array_grow(&l->free, &l->free_room, l->free_used + 1,
	        sizeof(*l->free)) != 0)
		return -1;
	l->free[l->free_used++] = slot;
	return 0;
}

/* emit.c: these return 0, or -1 when there is no memory */
/* A rare one, with its words. */
int tel_emit_more(struct tel_compiler *c, struct lane *l, tel_more what,
    uint32_t slot, uint64_t first, uint64_t second, uint64_t third);
/* Has the operations of lane l be those of a pool or a buffer. */
int tel_emit_use(struct tel_compiler *c, struct lane *l, uint32_t number,
    int buffer);
/*
 * Has lane l wait for a word of another, given as a block has it.  Nothing is
 * done when it comes after that word anyway.
 */
int tel_emit_wait(struct tel_compiler *c, struct lane *l, uint32_t where,
    uint32_t chunk);
/* Has lane l wait for all that the others did. */
int tel_emit_join(struct tel_compiler *c, struct lane *l);
/* The rate of the clock is known anew. */
void tel_emit_rate(struct tel_compiler *c);

/* chunk.c */
tel_status tel_program_begin(struct tel_compiler *c);
tel_status tel_chunk_end(struct tel_compiler *c);
tel_status tel_program_end(struct tel_compiler *c);

/* blocks.c */
/*
 * The lane that runs an operation on a block, with its wait emitted; NULL
 * when there is no memory.
 */
struct lane *tel_block_lane(struct tel_compiler *c, struct lane *l,
    const struct block *b);
/* Begins a block at the address that e is for, with flags in its .where. */
tel_status tel_block_begin(struct tel_compiler *c, struct lane *l,
    struct tel_entry *e, uint64_t size, uint32_t flags, const tel_alloc *op);
/* Gives the block in a slot, which is in the table, another size. */
tel_status tel_block_resize(struct tel_compiler *c, struct lane *l,
    uint32_t slot, uint64_t size);
/* Ends the block in a slot, which is not in the table any more. */
tel_status tel_block_end(struct tel_compiler *c, struct lane *l, uint32_t slot,
    int with_pool);
/* Takes a block out of the table, and ends it. */
tel_status tel_block_take(struct tel_compiler *c, struct lane *l,
    struct tel_entry *e, int with_pool);
/* What is live at the end. */
void tel_blocks_finish(struct tel_compiler *c);

/* parts.c */
/* Keeps where blocks end, once that is asked for: .ends_on. */
int tel_end_add(struct tel_compiler *c, uint64_t end, uint32_t slot);
void tel_end_remove(struct tel_compiler *c, uint64_t end, uint32_t slot);
/* Frees the first size bytes of a larger block. */
tel_status tel_part_front(struct tel_compiler *c, struct lane *l,
    struct tel_entry *e, uint64_t size);
/* Frees size bytes at address if they are the end of a block: *found. */
tel_status tel_part_end(struct tel_compiler *c, struct lane *l,
    uint64_t address, uint64_t size, int *found);
/* Emits the free of what is left.  0, or -1 when there is no memory. */
int tel_part_last(struct tel_compiler *c, struct lane *l, uint32_t slot,
    int with_pool);

/* suspects.c */
/* A free of an unknown address. */
tel_status tel_suspect_free(struct tel_compiler *c, struct lane *l,
    uint64_t address);
/* An allocation of the address of a block; takes that out of the table. */
tel_status tel_suspect_double(struct tel_compiler *c, struct lane *l,
    struct tel_entry *e);
/* A block begins: *flags is set for it. */
tel_status tel_suspect_born(struct tel_compiler *c, struct lane *l,
    uint64_t address, uint32_t *flags);
/*
 * The block at an address is about to be freed, or to change.  *done: it was
 * a free of another one, and is complete.
 */
tel_status tel_suspect_ended(struct tel_compiler *c, struct lane *l,
    uint64_t address, int freed, int *done);
/* Gives up suspects that are too old, or all. */
tel_status tel_suspects_expire(struct tel_compiler *c, int all);

/* pools.c: those that return int return 0, or -1 when there is no memory */
int tel_pools_open(struct tel_compiler *c);
void tel_pools_close(struct tel_compiler *c);
/* Counts what was used and never created. */
tel_status tel_pools_finish(struct tel_compiler *c);
/* Creates or destroys a pool or a buffer. */
tel_status tel_pool_operation(struct tel_compiler *c, struct lane *l,
    const tel_alloc *op);
/* The number of a buffer, created when it is unknown; NO_SLOT: failed. */
uint32_t tel_buffer_find(struct tel_compiler *c, struct lane *l,
    const tel_alloc *op);
/* Puts a new block into its pool, of which operations then are. */
int tel_pool_enter(struct tel_compiler *c, struct lane *l, uint32_t slot,
    uint64_t address, const tel_alloc *op);
void tel_pool_leave(struct tel_compiler *c, uint32_t slot);
void tel_pool_move(struct tel_compiler *c, uint32_t slot, uint64_t address);
/* Has the operations of a lane be those of the pool of a block. */
int tel_pool_of(struct tel_compiler *c, struct lane *l, uint32_t slot);

#endif
