/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs for tests: compiled into memory, of traces that are made up. */
#ifndef PROGRAM_MAKE_H
#define PROGRAM_MAKE_H

#include <stdlib.h>
#include <string.h>
#include "telreplay/compile/compiler.h"
#include "telreplay/compile/program.h"

struct bytes {
	unsigned char *data;
	size_t size;
	size_t room;
};

static ptrdiff_t
bytes_write(void *arg, const void *data, size_t size)
{
	struct bytes *b = arg;

	if (b->size + size > b->room) {
		b->room = (b->size + size) * 2;
		b->data = realloc(b->data, b->room);
		if (b->data == NULL)
			abort();
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return (ptrdiff_t)size;
}

/* How a program is made; zeros are the defaults. */
struct making {
	enum program_order order;
	unsigned threads;
	size_t chunk;
	int strict;
	double share;        /* of a window; below 0: none */
	uint64_t operations; /* of a window */
	double rate;
};

/*
 * Compiles n operations, whose events are number 0 and so on.  facts: set to
 * a copy.  Returns what the last call came to.
 */
static inline tel_status
program_make(const tel_alloc *ops, size_t n, const struct making *m,
    struct bytes *to, struct facts *facts)
{
	tel_output *out = tel_output_new_callback(bytes_write, to);
	struct compiler_settings set = compiler_defaults;
	struct compiler *c;
	tel_status st = TEL_OK;
	tel_alloc op;
	size_t i;

	set.order = m->order;
	set.strict = m->strict;
	if (m->threads != 0)
		set.threads = m->threads;
	if (m->chunk != 0)
		set.chunk = m->chunk;
	/* blocks of these programs are small */
	set.window_min = 0;
	if (m->share != 0 || m->operations != 0) {
		set.window_share = m->share < 0 ? 0 : m->share;
		set.window_operations = m->operations;
	}
	c = compiler_new(out, &set);
	if (out == NULL || c == NULL)
		abort();
	if (m->rate > 0)
		st = compiler_set_tick_rate(c, m->rate);
	if (st == TEL_OK)
		st = compiler_set_log(c, "made.log");
	for (i = 0; i < n && st == TEL_OK; i++) {
		op = ops[i];
		st = compiler_add(c, &op, i);
	}
	if (st == TEL_OK)
		st = compiler_finish(c);
	*facts = *compiler_facts(c);
	compiler_free(c);
	tel_output_free(out);
	return st;
}

/* ----------------------------------------------------------- made-up heaps */

#define HEAP_BLOCKS 400

/* A heap that gives out the address again that was freed last. */
struct heap {
	uint64_t address[HEAP_BLOCKS]; /* 0: not live */
	uint64_t size[HEAP_BLOCKS];
	uint64_t free[4 * HEAP_BLOCKS];
	size_t frees;
	uint64_t next;
	uint64_t random;
};

static inline uint64_t
heap_random(struct heap *h, uint64_t below)
{
	h->random ^= h->random << 13;
	h->random ^= h->random >> 7;
	h->random ^= h->random << 17;
	return h->random % below;
}

static inline uint64_t
heap_address(struct heap *h)
{
	if (h->frees > 0)
		return h->free[--h->frees];
	return h->next += 16;
}

static inline uint64_t
heap_size(struct heap *h)
{
	uint64_t n = heap_random(h, 100);

	/* some that no word has room for, and none at all */
	if (n == 0)
		return (UINT64_C(1) << 28) + heap_random(h, 1 << 20);
	return n == 1 ? 0 : heap_random(h, n < 10 ? 100000 : 600);
}

/*
 * The next operation of a program that makes no mistakes.  block: set to
 * which of its blocks it is about.
 */
static inline tel_alloc
heap_step(struct heap *h, unsigned threads, size_t *block)
{
	size_t i = (size_t)heap_random(h, HEAP_BLOCKS);
	tel_alloc op = { .kind = TEL_ALLOC_MALLOC };
	uint64_t n = heap_random(h, 10);

	*block = i;
	op.thread = heap_random(h, threads) * 7;
	if (h->address[i] != 0 && n < 8) {
		op.kind = TEL_ALLOC_FREE;
		op.address = h->address[i];
		h->free[h->frees++] = h->address[i];
		h->address[i] = 0;
		return op;
	}
	op.size = heap_size(h);
	if (h->address[i] != 0) {
		op.kind = TEL_ALLOC_REALLOC;
		op.old = h->address[i];
		op.size += op.size == 0;
		if (n == 8) {
			h->address[i] = heap_address(h);
			h->free[h->frees++] = op.old;
		}
	} else {
		h->address[i] = heap_address(h);
		if (n == 0) {
			op.kind = TEL_ALLOC_CALLOC;
			op.count = 1 + heap_random(h, 3);
		} else if (n == 1) {
			op.kind = TEL_ALLOC_ALIGNED;
			op.alignment = UINT64_C(8) << heap_random(h, 8);
		}
	}
	h->size[i] = op.size * (op.kind == TEL_ALLOC_CALLOC ? op.count : 1);
	op.address = h->address[i];
	return op;
}

#endif
