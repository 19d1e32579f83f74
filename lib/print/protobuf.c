/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of protobuf, in its wire format. */
#include "print/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "io/bytes.h"
#include "base/utf8.h"

static unsigned char *
room(struct protobuf *m, size_t n)
{
	unsigned char *bigger;

	if (m->failed)
		return NULL;
	if (m->room - m->size < n) {
		bigger = realloc(m->bytes, 2 * (m->size + n) + 256);
		if (bigger == NULL) {
			m->failed = 1;
			return NULL;
		}
		m->bytes = bigger;
		m->room = 2 * (m->size + n) + 256;
	}
	return m->bytes + m->size;
}

size_t
tel__protobuf_put(unsigned char *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (unsigned char)(v | 0x80);
	p[n++] = (unsigned char)v;
	return n;
}

void
tel__protobuf_varint(struct protobuf *m, unsigned field, uint64_t v)
{
	unsigned char *p = room(m, 2 * PROTOBUF_VARINT);
	size_t n;

	if (p == NULL)
		return;
	n = tel__protobuf_put(p, (uint64_t)field << 3);
	m->size += n + tel__protobuf_put(p + n, v);
}

void
tel__protobuf_fixed64(struct protobuf *m, unsigned field, uint64_t v)
{
	unsigned char *p = room(m, 2 * PROTOBUF_VARINT);
	size_t n;

	if (p == NULL)
		return;
	n = tel__protobuf_put(p, (uint64_t)field << 3 | 1);
	tel_store_le64(p + n, v);
	m->size += n + 8;
}

void
tel__protobuf_bytes(struct protobuf *m, unsigned field, const void *bytes,
    size_t size)
{
	unsigned char *p = room(m, size + 2 * PROTOBUF_VARINT);
	size_t n;

	if (p == NULL)
		return;
	n = tel__protobuf_put(p, (uint64_t)field << 3 | 2);
	n += tel__protobuf_put(p + n, size);
	memcpy(p + n, bytes, size);
	m->size += n + size;
}

void
tel__protobuf_text(struct protobuf *m, unsigned field, const char *s,
    size_t size)
{
	unsigned char *p;
	size_t i, n;

	tel__protobuf_bytes(m, field, s, size);
	if (m->failed)
		return;
	p = m->bytes + m->size - size;
	for (i = 0; i < size; i += n == 0 ? 1 : n) {
		n = p[i] < 0x80 ? 1 : tel__utf8_length(p + i, size - i);
		if (n == 0)
			p[i] = '?';
	}
}

void
tel__protobuf_message(struct protobuf *m, unsigned field,
    struct protobuf *inner)
{
	m->failed |= inner->failed;
	if (!m->failed)
		tel__protobuf_bytes(m, field, inner->bytes, inner->size);
	inner->size = 0;
}
