/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE ((size_t)1 << 16)
#define ALIGNMENT (sizeof(max_align_t))

struct tel__arena_chunk {
	struct tel__arena_chunk *next;
	max_align_t bytes[];
};

/* Puts a chunk of at least n bytes in front. */
static int
arena_grow(struct tel__arena *a, size_t n)
{
	struct tel__arena_chunk *chunk;
	size_t size = n > CHUNK_SIZE ? n : CHUNK_SIZE;

	if (size > SIZE_MAX - sizeof(*chunk) || size > a->max - a->total)
		return 0;
	chunk = calloc(1, sizeof(*chunk) + size);
	if (chunk == NULL)
		return 0;
	chunk->next = a->chunks;
	a->chunks = chunk;
	a->used = 0;
	a->room = size;
	a->total += size;
	return 1;
}

void *
tel__arena_alloc(struct tel__arena *a, size_t n)
{
	if (n > SIZE_MAX - ALIGNMENT)
		return NULL;
	n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (a->room - a->used < n && !arena_grow(a, n))
		return NULL;
	unsigned char *p = (unsigned char *)a->chunks->bytes + a->used;
	a->used += n;
	return p;
}

char *
tel__arena_string(struct tel__arena *a, const void *bytes, size_t n)
{
	char *copy = n < SIZE_MAX ? tel__arena_alloc(a, n + 1) : NULL;

	if (copy != NULL && n > 0)
		memcpy(copy, bytes, n);
	return copy;
}

void
tel__arena_clear(struct tel__arena *a)
{
	struct tel__arena_chunk *chunk;

	while ((chunk = a->chunks) != NULL) {
		a->chunks = chunk->next;
		free(chunk);
	}
	a->used = a->room = a->total = 0;
}
