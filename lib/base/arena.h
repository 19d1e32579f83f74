/* SPDX-License-Identifier: BSD-2-Clause */
/* Arena: many small pieces of memory that are freed at once. */
#ifndef TEL__ARENA_H
#define TEL__ARENA_H

#include <stddef.h>

struct tel__arena_chunk;

/* All zeros, and a limit, is an empty one. */
struct tel__arena {
	struct tel__arena_chunk *chunks;
	size_t used, room; /* of the first chunk */
	size_t total;      /* bytes of all chunks */
	size_t max;        /* that .total may come to */
};

/*
 * n bytes, at least one, all zero, aligned for any type; NULL when out of
 * memory, or past the limit.  They are valid until the arena is cleared.
 */
void *tel__arena_alloc(struct tel__arena *a, size_t n);
/* A copy of n bytes, NUL-terminated. */
char *tel__arena_string(struct tel__arena *a, const void *bytes, size_t n);
/* Frees all pieces; it is empty then. */
void tel__arena_clear(struct tel__arena *a);

#endif
