/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding events as the C structs of a writer with the schema's ABI: what
 * model/event.h loads, this stores.  Each has a header (code and size of 16
 * bits, and a clock of 64), its fields, and at most one string behind them.
 */
#ifndef TEL_ENCODE_H
#define TEL_ENCODE_H

#include "base/bytes.h"
#include "model/schema.h"

/* The size of an event is 16 bits on the wire. */
#define TEL_SIZE_MAX 0xFFFFu

/* The longest string of an event: EventMaxStringLength, and the NUL. */
#define TEL_STRING_ROOM 256u

/*
 * The size of an event whose last field, at offset, is a string of length
 * bytes: every stream of the known releases has room for a NUL and three
 * bytes more, and then the rounding.
 */
static inline uint32_t
tel_string_size(const struct tel_schema *s, uint32_t offset, uint32_t length)
{
	return (offset + length + 4 + s->align - 1) / s->align * s->align;
}

/* Nonzero when an event of type t may be size bytes long. */
static inline int
tel_size_fits(const struct tel_schema *s, const struct tel_type *t,
    uint32_t size)
{
	if (size == t->size)
		return 1;
	return t->has_string && size > t->size && size % s->align == 0 &&
	    size - t->size <= TEL_STRING_ROOM;
}

/*
 * Writes the header of an event at data, which has room for schema->header
 * bytes.  code and size must fit in 16 bits.
 */
void tel__encode_header(const struct tel_schema *schema, unsigned char *data,
    uint32_t code, uint32_t size, uint64_t clock);

/*
 * The size of an event of a type with a string of length bytes in field f,
 * the string's NUL and the padding behind it included.  It may be over
 * TEL_SIZE_MAX; length must be below 2^31.
 */
uint32_t tel__encode_size(const struct tel_schema *schema,
    const struct tel_type *type, const struct tel_field *f, size_t length);

/*
 * Nonzero when v is a value that the field's bytes can hold: what
 * tel_encode_field() stores, tel_load() gives back.
 */
static inline int
tel_encode_fits(const struct tel_field *f, uint64_t v)
{
	/* a double that is too large would become infinite */
	if (f->load == TEL_LOAD_LEF32)
		return tel_bits_float(v) << 1 != (uint32_t)0xff << 24 ||
		    v << 1 == (uint64_t)0x7ff << 53;
	return f->width >= 64 || v >> f->width == 0;
}

/* Stores v as the value of field f, no string, of the event at data. */
static inline void
tel_encode_field(const struct tel_field *f, uint64_t v, unsigned char *data)
{
	unsigned char *p = data + f->offset;

	switch (f->load) {
	case TEL_LOAD_LE64: tel_store(p, v, 8, 0); break;
	case TEL_LOAD_LE32: tel_store(p, v, 4, 0); break;
	case TEL_LOAD_U8: p[0] = (unsigned char)v; break;
	case TEL_LOAD_BIT:
		p[0] = (unsigned char)((p[0] & ~(1u << f->bit)) |
		    (unsigned)(v & 1) << f->bit);
		break;
	case TEL_LOAD_BE64: tel_store(p, v, 8, 1); break;
	case TEL_LOAD_BE32: tel_store(p, v, 4, 1); break;
	case TEL_LOAD_LE16: tel_store(p, v, 2, 0); break;
	case TEL_LOAD_BE16: tel_store(p, v, 2, 1); break;
	case TEL_LOAD_LE16S: tel_store(p, v, 2, 0); break;
	case TEL_LOAD_LE32S: tel_store(p, v, 4, 0); break;
	case TEL_LOAD_BE16S: tel_store(p, v, 2, 1); break;
	case TEL_LOAD_BE32S: tel_store(p, v, 4, 1); break;
	case TEL_LOAD_LEF32: tel_store(p, tel_bits_float(v), 4, 0); break;
	case TEL_LOAD_STRING:
	case TEL_LOAD_STRING_AT:
	case TEL_LOAD_LIST: break;
	}
}

#endif
