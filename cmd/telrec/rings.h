/* SPDX-License-Identifier: BSD-2-Clause */
/* From the records of a ring to columns. */
#ifndef TELREC_RINGS_H
#define TELREC_RINGS_H

#include <stdint.h>

#include "telrec/arena.h"
#include "telrec/columns.h"
#include "telrec/symbols.h"

/* The position up to which a ring is drained. */
struct cursor {
	struct arena_ring *ring;
	const uint64_t *words;
	uint32_t at, end; /* words */
	uint32_t seen;    /* the end in the round before */
	uint64_t clock;   /* of the next record */
	uint32_t claim;
	uint32_t idle; /* where it was when drain_tend() looked */
	int is_new;    /* its thread has no event yet */
	struct source source;
};

/*
 * Takes the records of a ring whose times are below limit, up to the end of the
 * block; modules go to symbols, if it is not NULL.
 */
void rings_take(struct columns *to, struct cursor *c, uint64_t limit,
    struct telrec_symbols *symbols);

#endif
