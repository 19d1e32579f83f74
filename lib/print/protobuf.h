/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of protobuf, in its wire format, field by field. */
#ifndef TEL_PROTOBUF_H
#define TEL_PROTOBUF_H

#include "base/buffer.h"

/* Each adds a field to the message in a buffer. */
void tel__protobuf_varint(struct tel__buffer *m, unsigned field, uint64_t v);
void tel__protobuf_fixed64(struct tel__buffer *m, unsigned field, uint64_t v);
/* Text; bytes that are not UTF-8 become '?'. */
void tel__protobuf_text(struct tel__buffer *m, unsigned field, const char *s,
    size_t size);
/* Another message, which is empty then. */
void tel__protobuf_message(struct tel__buffer *m, unsigned field,
    struct tel__buffer *inner);

#endif
