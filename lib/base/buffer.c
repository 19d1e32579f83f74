/* SPDX-License-Identifier: BSD-2-Clause */
/* Growth of buffers. */
#include "base/buffer.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/varint.h"

/* The least room: most buffers never need more. */
#define FIRST_ROOM 256u

int
tel__buffer_grow(struct tel__buffer *b, size_t n)
{
	size_t need;

	if (__builtin_add_overflow(b->used, n, &need)) {
		b->failed = 1;
		return 0;
	}
	if (need < FIRST_ROOM)
		need = FIRST_ROOM;
	if (!TEL__RESERVE(b->bytes, b->room, need)) {
		b->failed = 1;
		return 0;
	}
	return 1;
}

void
tel__buffer_clear(struct tel__buffer *b)
{
	free(b->bytes);
	memset(b, 0, sizeof(*b));
}

void
tel__buffer_put_varint(struct tel__buffer *b, uint64_t v)
{
	unsigned char *p = tel__buffer_room(b, TEL__VARINT_MAX);

	if (p != NULL)
		b->used = (size_t)(tel__varint_put(p, v) - b->bytes);
}
