/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffer: bytes that grow at their end.  Memory that runs out is noted once,
 * so that a row of calls can be checked at its end.
 */
#ifndef TEL__BUFFER_H
#define TEL__BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All zeros is an empty one. */
struct tel__buffer {
	unsigned char *bytes;
	size_t used, room;
	int failed; /* there was no memory: later data is dropped */
};

/* Makes room for n bytes more, which do not fit.  1, or 0: no memory. */
int tel__buffer_grow(struct tel__buffer *b, size_t n);

/* Frees what it holds; it is empty then. */
void tel__buffer_clear(struct tel__buffer *b);

/*
 * Where n more bytes, at least one, can be written; the caller adds them to
 * used.  NULL when out of memory.
 */
static inline unsigned char *
tel__buffer_room(struct tel__buffer *b, size_t n)
{
	if (b->room - b->used < n && !tel__buffer_grow(b, n))
		return NULL;
	return b->bytes + b->used;
}

/* Adds n bytes. */
static inline void
tel__buffer_put(struct tel__buffer *b, const void *bytes, size_t n)
{
	unsigned char *to = n > 0 ? tel__buffer_room(b, n) : NULL;

	if (to == NULL)
		return;
	memcpy(to, bytes, n);
	b->used += n;
}

/* Adds an integer as base/varint.h has it. */
void tel__buffer_put_varint(struct tel__buffer *b, uint64_t v);

#endif
