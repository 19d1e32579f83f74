/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FlatBuffers.  References are unsigned and point forwards, so what refers is
 * written first, and the reference once the place of its object is known.
 */
#include "print/flatbuffer.h"

#include "base/bytes.h"

/* Bytes of a vtable before its slots, of a slot, and of a reference. */
#define VTABLE_HEAD 4u
#define VTABLE_SLOT 2u
#define REFERENCE 4u

/* Adds n zeros. */
static unsigned char *
add_zeros(struct tel__buffer *b, size_t n)
{
	unsigned char *p = n > 0 ? tel__buffer_room(b, n) : NULL;

	if (p == NULL)
		return NULL;
	memset(p, 0, n);
	b->used += n;
	return p;
}

/* Adds zeros until the size and before are a multiple of eight. */
static void
flatbuffer_align(struct tel__buffer *b, size_t before)
{
	(void)add_zeros(b, (8 - (b->used + before) % 8) % 8);
}

void
tel__flat_start(struct tel__buffer *b)
{
	b->used = 0;
	(void)add_zeros(b, REFERENCE);
}

size_t
tel__flat_table(struct tel__buffer *b, const char *sizes)
{
	const size_t n = strlen(sizes), head = VTABLE_HEAD + VTABLE_SLOT * n;
	size_t at, table, i, size, used = REFERENCE;
	const int root = b->used == REFERENCE;

	flatbuffer_align(b, head);
	at = b->used;
	if (add_zeros(b, head) == NULL)
		return 0;
	table = b->used;
	for (i = 0; i < n; i++) {
		size = (size_t)(sizes[i] - '0');
		if (size == 0)
			continue;
		used = (used + size - 1) / size * size;
		tel_store(b->bytes + at + VTABLE_HEAD + VTABLE_SLOT * i, used,
		    2, 0);
		used += size;
	}
	tel_store(b->bytes + at, head, 2, 0);
	tel_store(b->bytes + at + 2, used, 2, 0);
	if (add_zeros(b, used) == NULL)
		return 0;
	/* from the table back to its vtable */
	tel_store(b->bytes + table, head, 4, 0);
	if (root)
		tel_store(b->bytes, table, 4, 0);
	return table;
}

/* The place of a slot's value. */
static size_t
flatbuffer_find_slot(const struct tel__buffer *b, size_t table, unsigned slot)
{
	const size_t vtable = table - tel_le32(b->bytes + table);

	return table +
	    tel_le16(b->bytes + vtable + VTABLE_HEAD + VTABLE_SLOT * slot);
}

void
tel__flat_set(struct tel__buffer *b, size_t table, unsigned slot, unsigned size,
    uint64_t value)
{
	if (!b->failed)
		tel_store(b->bytes + flatbuffer_find_slot(b, table, slot),
		    value, size, 0);
}

void
tel__flat_refer(struct tel__buffer *b, size_t table, unsigned slot,
    size_t object)
{
	if (b->failed)
		return;
	size_t at = flatbuffer_find_slot(b, table, slot);
	tel_store(b->bytes + at, object - at, REFERENCE, 0);
}

size_t
tel__flat_vector(struct tel__buffer *b, size_t count, size_t size)
{
	flatbuffer_align(b, REFERENCE);
	size_t at = b->used;
	if (add_zeros(b, REFERENCE + count * size) != NULL)
		tel_store(b->bytes + at, count, REFERENCE, 0);
	return at;
}

void
tel__flat_element(struct tel__buffer *b, size_t vector, size_t i, size_t object)
{
	const size_t at = vector + REFERENCE * (i + 1);

	if (!b->failed)
		tel_store(b->bytes + at, object - at, REFERENCE, 0);
}

void
tel__flat_word(struct tel__buffer *b, size_t at, uint64_t value)
{
	if (!b->failed)
		tel_store_le64(b->bytes + at, value);
}

size_t
tel__flat_string(struct tel__buffer *b, const char *s, size_t n)
{
	flatbuffer_align(b, 0);
	size_t at = b->used;
	if (add_zeros(b, REFERENCE) == NULL)
		return 0;
	tel_store(b->bytes + at, n, REFERENCE, 0);
	tel__buffer_put(b, s, n);
	(void)add_zeros(b, 1);
	return at;
}

void
tel__flat_end(struct tel__buffer *b)
{
	flatbuffer_align(b, 0);
}
