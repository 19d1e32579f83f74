/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of protobuf, in its wire format, field by field. */
#ifndef TEL_PROTOBUF_H
#define TEL_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* A message that is being made. */
struct protobuf {
	unsigned char *bytes;
	size_t size, room;
	int failed; /* there was no memory */
};

/* The most bytes of a number, and of a field's tag. */
#define PROTOBUF_VARINT 10

/* Puts a number at p.  Returns its length. */
size_t tel__protobuf_put(unsigned char *p, uint64_t v);

/* Each adds a field to a message, or notes that there is no memory. */
void tel__protobuf_varint(struct protobuf *m, unsigned field, uint64_t v);
void tel__protobuf_fixed64(struct protobuf *m, unsigned field, uint64_t v);
void tel__protobuf_bytes(struct protobuf *m, unsigned field, const void *bytes,
    size_t size);
/* Text, in which what is no UTF-8 becomes '?'. */
void tel__protobuf_text(struct protobuf *m, unsigned field, const char *s,
    size_t size);
/* Another message, which is empty then. */
void tel__protobuf_message(struct protobuf *m, unsigned field,
    struct protobuf *inner);

#endif
