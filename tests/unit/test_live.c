/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live blocks, compared after each of many random operations with a list of
 * blocks that is searched from its start.
 */
#include "model/live.h"
#include "must.h"

#define ROUNDS 200
#define OPERATIONS 2000
#define BLOCKS 256

struct block {
	uint64_t address, process, pool, size;
};

/* What has changed, by either side. */
struct totals {
	uint64_t allocated, freed, resized, replaced, destroyed, unknown;
	uint64_t part_bytes, blocks, bytes;
};

static struct block list[BLOCKS];
static size_t nlist;
static struct totals want, got;
static uint64_t random_state;

static uint64_t
draw(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* ------------------------------------------------------- the short model */

static struct block *
list_find(uint64_t address, uint64_t process)
{
	size_t i;

	for (i = 0; i < nlist; i++)
		if (list[i].address == address && list[i].process == process)
			return &list[i];
	return NULL;
}

static void
list_end(struct block *b, uint64_t *total)
{
	++*total;
	want.blocks--;
	want.bytes -= b->size;
	*b = list[--nlist];
}

/* A free of a part: at the start of block b, or at the end of any block. */
static int
list_free_part(struct block *b, const tel_alloc *op)
{
	size_t i;

	if (!op->sized || op->size == 0)
		return 0;
	for (i = 0; i < nlist; i++) {
		if (b != NULL ? &list[i] != b :
		                list[i].process != op->process ||
		            list[i].address + list[i].size !=
		                op->address + op->size)
			continue;
		if (op->size >= list[i].size ||
		    (b != NULL &&
		        list_find(op->address + op->size, op->process) != NULL))
			return 0;
		list[i].address += b != NULL ? op->size : 0;
		list[i].size -= op->size;
		want.part_bytes += op->size;
		want.bytes -= op->size;
		return 1;
	}
	return 0;
}

static void
list_take(const tel_alloc *op)
{
	const uint64_t old =
	    op->kind == TEL_ALLOC_REALLOC ? op->old : op->address;
	struct block *b = list_find(old, op->process);
	/* a block that is resized stays in its pool, unless one is named */
	uint64_t pool = op->pool == 0 && op->kind == TEL_ALLOC_REALLOC &&
	        old != 0 && b != NULL ?
	    b->pool :
	    op->pool;
	size_t i;

	if (op->kind == TEL_ALLOC_POOL_DESTROY) {
		for (i = nlist; i-- > 0;)
			if (list[i].pool == op->pool &&
			    list[i].process == op->process)
				list_end(&list[i], &want.destroyed);
		return;
	}
	if (op->kind == TEL_ALLOC_FREE && list_free_part(b, op))
		return;
	if (op->kind == TEL_ALLOC_FREE || op->kind == TEL_ALLOC_REALLOC) {
		if (b != NULL)
			list_end(b,
			    op->kind == TEL_ALLOC_FREE ? &want.freed :
			                                 &want.resized);
		else
			want.unknown += old != 0;
	}
	if (op->kind == TEL_ALLOC_FREE)
		return;
	b = list_find(op->address, op->process);
	if (b != NULL)
		list_end(b, &want.replaced);
	list[nlist++] =
	    (struct block){ op->address, op->process, pool, op->size };
	want.allocated++;
	want.blocks++;
	want.bytes += op->size;
}

/* ---------------------------------------------------------- the real one */

static tel_status
change(void *arg, enum tel__live_what what, struct tel__live_block *b,
    const tel_alloc *op)
{
	(void)arg;
	switch (what) {
	case TEL__LIVE_ALLOCATED:
		got.allocated++;
		got.blocks++;
		got.bytes += b->size;
		return TEL_OK;
	case TEL__LIVE_PART_FREED:
		got.part_bytes += op->size;
		got.bytes -= op->size;
		return TEL_OK;
	case TEL__LIVE_UNKNOWN: got.unknown++; return TEL_OK;
	case TEL__LIVE_FREED: got.freed++; break;
	case TEL__LIVE_RESIZED: got.resized++; break;
	case TEL__LIVE_REPLACED: got.replaced++; break;
	case TEL__LIVE_POOL_DESTROYED: got.destroyed++; break;
	default: return TEL_EINVAL;
	}
	got.blocks--;
	got.bytes -= b->size;
	return TEL_OK;
}

/* Nonzero if a block would overlap one that is not ended by the operation. */
static int
overlaps(const tel_alloc *op)
{
	size_t i;

	for (i = 0; i < nlist; i++)
		if (list[i].process == op->process &&
		    list[i].address != op->address &&
		    list[i].address <= op->address + op->size &&
		    op->address <= list[i].address + list[i].size)
			return 1;
	return 0;
}

static void
draw_operation(tel_alloc *op)
{
	static const tel_alloc_kind kinds[] = { TEL_ALLOC_MALLOC,
		TEL_ALLOC_MALLOC, TEL_ALLOC_FREE, TEL_ALLOC_FREE,
		TEL_ALLOC_REALLOC };

	memset(op, 0, sizeof(*op));
	op->kind = draw(100) == 0 ? TEL_ALLOC_POOL_DESTROY : kinds[draw(5)];
	op->process = draw(2);
	op->pool = op->kind == TEL_ALLOC_POOL_DESTROY ? 1 + draw(3) : draw(4);
	op->buffer = draw(3); /* none of which is created: in no pool */
	op->address = 0x1000 + draw(60) * 16;
	op->old = draw(4) == 0 ? 0 : 0x1000 + draw(60) * 16;
	op->size = draw(2) == 0 ? 16 : 16 * draw(6);
	/* blocks of a log do not overlap */
	if (op->kind != TEL_ALLOC_POOL_DESTROY && overlaps(op))
		op->kind = TEL_ALLOC_FREE;
	op->sized = op->kind == TEL_ALLOC_FREE && draw(2) == 0;
}

/* The first operation that made them differ, and 1; 0: none. */
static unsigned
find_difference(uint64_t seed)
{
	struct tel__live live;
	tel_alloc op;
	unsigned i, differs = 0;

	random_state = seed;
	nlist = 0;
	memset(&want, 0, sizeof(want));
	memset(&got, 0, sizeof(got));
	tel__live_init(&live, change, NULL);
	for (i = 0; i < OPERATIONS && differs == 0; i++) {
		draw_operation(&op);
		list_take(&op);
		must_ok(tel__live_take(&live, &op, 0));
		if (memcmp(&want, &got, sizeof(want)) != 0 ||
		    live.bytes != want.bytes ||
		    live.by_key.count != want.blocks)
			differs = i + 1;
	}
	tel__live_clear(&live);
	return differs;
}

int
main(void)
{
	struct totals all = { 0 };
	unsigned i, differs = 0;

	for (i = 1; i <= ROUNDS && differs == 0; i++) {
		differs = find_difference(i * UINT64_C(0x9e3779b97f4a7c15));
		all.replaced += got.replaced;
		all.destroyed += got.destroyed;
		all.part_bytes += got.part_bytes;
		all.unknown += got.unknown;
	}
	is_u64(differs, 0, "%u random operations are as the short model has it",
	    ROUNDS * OPERATIONS);
	ok(all.replaced > 1000 && all.destroyed > 1000 &&
	        all.part_bytes > 1000 && all.unknown > 1000,
	    "among them are all kinds of changes");
	return done();
}
