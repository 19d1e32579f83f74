/* SPDX-License-Identifier: BSD-2-Clause */
/* Program: what its files share. */
#ifndef TEL_PROGRAM_H
#define TEL_PROGRAM_H

#include "alloc/layout.h"

struct tel_program {
	int fd;                    /* or -1 */
	const unsigned char *data; /* or NULL */
	uint64_t size;             /* of all of it */
	uint64_t *index;           /* offset and size of each chunk */
	tel_facts facts;
};

/* A lane of a chunk, as its head has it. */
struct lane_head {
	uint32_t words;
	uint32_t times; /* pairs */
	uint64_t origins;
};

/* A chunk whose head was read. */
struct chunk {
	uint64_t offset;
	uint64_t size;  /* without the sum */
	uint64_t words; /* sums over its lanes */
	uint64_t times;
	uint64_t origins;
	unsigned lanes;
	struct lane_head lane[PROGRAM_LANES];
};

/* Reads size bytes at offset.  TEL_OK, TEL_EIO, TEL_EDAMAGED. */
tel_status tel_program_read(const struct tel_program *p, uint64_t offset,
    void *buffer, size_t size);
/* Reads a chunk's head.  The same, and TEL_EINVAL. */
tel_status tel_chunk_open(const struct tel_program *p, uint64_t number,
    struct chunk *c);

#endif
