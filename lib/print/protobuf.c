/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of protobuf, in its wire format. */
#include "print/protobuf.h"

#include "base/utf8.h"
#include "base/varint.h"
#include "base/bytes.h"

/* The most bytes of a field's tag and a number behind it. */
#define TAG_AND_NUMBER ((size_t)2 * TEL__VARINT_MAX)

void
tel__protobuf_varint(struct tel__buffer *m, unsigned field, uint64_t v)
{
	unsigned char *p = tel__buffer_room(m, TAG_AND_NUMBER);

	if (p == NULL)
		return;
	p = tel__varint_put(p, (uint64_t)field << 3);
	m->used = (size_t)(tel__varint_put(p, v) - m->bytes);
}

void
tel__protobuf_fixed64(struct tel__buffer *m, unsigned field, uint64_t v)
{
	unsigned char *p = tel__buffer_room(m, TAG_AND_NUMBER);

	if (p == NULL)
		return;
	p = tel__varint_put(p, (uint64_t)field << 3 | 1);
	tel_store_le64(p, v);
	m->used = (size_t)(p + 8 - m->bytes);
}

static void
protobuf_bytes(struct tel__buffer *m, unsigned field, const void *bytes,
    size_t size)
{
	unsigned char *p = tel__buffer_room(m, size + TAG_AND_NUMBER);

	if (p == NULL)
		return;
	p = tel__varint_put(p, (uint64_t)field << 3 | 2);
	p = tel__varint_put(p, size);
	if (size > 0)
		memcpy(p, bytes, size);
	m->used = (size_t)(p + size - m->bytes);
}

void
tel__protobuf_text(struct tel__buffer *m, unsigned field, const char *s,
    size_t size)
{
	size_t i, n;

	protobuf_bytes(m, field, s, size);
	if (m->failed)
		return;
	unsigned char *p = m->bytes + m->used - size;
	for (i = 0; i < size; i += n == 0 ? 1 : n) {
		n = p[i] < 0x80 ? 1 : tel__utf8_length(p + i, size - i);
		if (n == 0)
			p[i] = '?';
	}
}

void
tel__protobuf_message(struct tel__buffer *m, unsigned field,
    struct tel__buffer *inner)
{
	m->failed |= inner->failed;
	if (!m->failed)
		protobuf_bytes(m, field, inner->bytes, inner->used);
	inner->used = 0;
}
