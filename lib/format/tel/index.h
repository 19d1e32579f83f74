/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a file in the native format: where its blocks are, and which
 * time each of them is of.
 */
#ifndef TEL_NATIVE_INDEX_H
#define TEL_NATIVE_INDEX_H

#include "format/tel/wire.h"
#include "io/input.h"

/* A record of a stream. */
struct native_entry {
	uint64_t offset;  /* in the file */
	uint64_t first;   /* the least clock in it, */
	uint64_t last;    /* and the greatest */
	uint64_t ordinal; /* events in the blocks of its stream before it */
	/* blocks of its stream before it; of a summary: blocks it is about */
	uint64_t sequence;
	uint64_t from; /* of names and summaries: the first block */
	uint32_t size;
	uint32_t count; /* events in it */
	uint8_t kind;   /* NATIVE_START, _LOG, _BLOCK or _NAMES */
	uint8_t named;  /* a block that a names record is about */
};

struct native_index {
	size_t count;
	struct native_entry *entries; /* in the order of the file */
	uint64_t end;                 /* where the record is that ends all */
	int single;                   /* there is one log */
	size_t least;                 /* the block with the least clock */
	uint64_t events;              /* in all blocks */
	uint64_t first;               /* the least clock in a block, */
	uint64_t last;                /* and the greatest; 0 without blocks */
};

/*
 * Reads the index of an input that can seek and is nothing but streams each of
 * which has one.  It is not believed where it cannot be true, but what it says
 * of records is checked only when they are read.
 * in: is left anywhere: seek before reading on.
 * out: set to the index, or NULL when there is none.
 * Returns TEL_OK, TEL_ENOMEM.
 */
tel_status tel__native_index_read(struct tel_input *in,
    struct native_index **out);
void tel__native_index_free(struct native_index *x);

/*
 * Compares the blocks and names records with what the index says of them.
 * Gives the number of the first entry that is wrong, or x->count; that also
 * where the input cannot be read in places.
 */
size_t tel__native_index_check(const struct tel_input *in,
    const struct native_index *x);

#endif
