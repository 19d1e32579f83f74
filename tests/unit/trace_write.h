/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces that are made up: all operations, and mistakes of each kind. */
#ifndef TRACE_WRITE_H
#define TRACE_WRITE_H

#include "model/live.h"
#include "tel/event.h"

#define PLACES 24

/* A program, and a log of it, with a mistake now and then. */
struct writer {
	uint64_t random;
	unsigned threads, processes;
	int pools;
	int large; /* some blocks are */
	struct {
		uint64_t address, size;
	} place[PLACES];
	uint64_t clock;
};

static inline uint64_t
below(struct writer *w, uint64_t n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 8) % n;
}

static inline uint64_t
size_choose(struct writer *w)
{
	static const uint64_t rare[] = { 0, 1, 0xfffffff, 0x10000000,
		UINT64_C(1) << 33 };
	const uint64_t n = below(w, 24);

	return n < 2 || (n < 5 && w->large) ? rare[n] :
	                                      below(w, n < 8 ? 9000 : 300);
}

/* Pools, buffers, and blocks of buffers. */
static inline void
write_pool(struct writer *w, tel_alloc *op, size_t i)
{
	static const tel_alloc_kind kinds[] = { TEL_ALLOC_POOL_CREATE,
		TEL_ALLOC_POOL_DESTROY, TEL_ALLOC_BUFFER_CREATE,
		TEL_ALLOC_BUFFER_DESTROY, TEL_ALLOC_RESERVE, TEL_ALLOC_COMMIT,
		TEL_ALLOC_COMMIT, TEL_ALLOC_COMMIT };

	op->kind = kinds[below(w, 8)];
	op->pool = 0x100 * (1 + below(w, 3));
	op->buffer = op->kind >= TEL_ALLOC_BUFFER_CREATE ||
	        op->kind == TEL_ALLOC_RESERVE || below(w, 4) > 0 ?
	    0x10 * (1 + below(w, 4)) :
	    0;
	if (op->kind == TEL_ALLOC_POOL_DESTROY && below(w, 3) > 0)
		op->kind = TEL_ALLOC_POOL_CREATE;
	op->size = size_choose(w);
	op->address = w->place[i].address;
	if (op->kind == TEL_ALLOC_COMMIT)
		w->place[i].size = op->size;
}

static inline void
write_allocation(struct writer *w, tel_alloc *op, size_t i)
{
	static const tel_alloc_kind kinds[] = { TEL_ALLOC_MALLOC,
		TEL_ALLOC_MALLOC, TEL_ALLOC_CALLOC, TEL_ALLOC_ALIGNED };
	uint64_t n = below(w, 12);

	op->kind = kinds[below(w, 4)];
	op->address = w->place[i].address;
	op->size = size_choose(w);
	op->count = op->kind == TEL_ALLOC_CALLOC ? below(w, 4) : 0;
	if (op->kind == TEL_ALLOC_ALIGNED)
		op->alignment = UINT64_C(1) << below(w, 14);
	if (w->pools && below(w, 2) > 0)
		op->pool = 0x100 * (1 + below(w, 3));
	op->call = n == 0 ? TEL_CALL_CXX : TEL_CALL_C;
	w->place[i].size =
	    op->size * (op->kind == TEL_ALLOC_CALLOC ? op->count : 1);
	if (below(w, 60) == 0)
		op->alignment += 5;
	if (w->large && below(w, 60) == 0)
		op->size = UINT64_C(1) << (46 + below(w, 4));
	op->failed = below(w, 60) == 0;
	if (below(w, 60) == 0)
		op->address = 0;
}

static inline void
write_free(struct writer *w, tel_alloc *op, size_t i)
{
	const uint64_t size = w->place[i].size, n = below(w, 10);

	op->kind = TEL_ALLOC_FREE;
	op->address = below(w, 40) == 0 ? 0 : w->place[i].address;
	if (n < 4) {
		op->call = (tel_alloc_call)n;
		op->sized = n != TEL_CALL_CXX;
		op->size = size;
	}
	if (n == 4 && size > 2) {
		/* a part, at its start or its end */
		op->sized = 1;
		op->size = size / 3;
		op->address += below(w, 2) * (size - op->size);
	}
	op->size += n == 5;
}

static inline tel_alloc
write_operation(struct writer *w)
{
	const size_t i = (size_t)below(w, PLACES);
	tel_alloc op = { .kind = TEL_ALLOC_NONE };
	const uint64_t n = below(w, 100);

	w->place[i].address = UINT64_C(0x100000000) * (i + 1);
	op.thread = 11 * (1 + below(w, w->threads));
	op.process = below(w, w->processes);
	/* each process executes a program now and then */
	if (w->processes > 2)
		op.process |= (w->clock >> 10) << TEL__LIVE_PROCESS_BITS;
	w->clock += below(w, 40) == 0 ? 3000 : below(w, 9);
	op.clock = w->clock;
	if (n < 2)
		op.kind = TEL_ALLOC_THREAD_END;
	else if (n < 20 && w->pools)
		write_pool(w, &op, i);
	else if (n < 28) {
		op.kind = TEL_ALLOC_REALLOC;
		op.old = below(w, 20) == 0 ? 0 : w->place[i].address;
		op.address =
		    w->place[below(w, 8) > 0 ? i : (i + 1) % PLACES].address;
		op.size = below(w, 20) == 0 ? 0 : size_choose(w);
		op.failed = below(w, 30) == 0;
		if (below(w, 30) == 0)
			op.address = 0;
		if (op.address == w->place[i].address && !op.failed)
			w->place[i].size = op.size;
	} else if (w->place[i].size == 0 || n > 95) {
		write_allocation(w, &op, i);
	} else {
		write_free(w, &op, i);
		if (n < 93)
			w->place[i].size = 0;
	}
	return op;
}

#endif
