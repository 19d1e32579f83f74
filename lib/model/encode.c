/* SPDX-License-Identifier: BSD-2-Clause */
/* The header and the size of an encoded event. */
#include "model/encode.h"

/*
 * Code and size are 16 bits each; the clock is the last member of the
 * header, behind padding where the ABI aligns it to 8 bytes.
 */
void
tel__encode_header(const struct tel_schema *schema, unsigned char *data,
    uint32_t code, uint32_t size, uint64_t clock)
{
	int big = schema->abi.big;

	tel_store(data, code, 2, big);
	tel_store(data + 2, size, 2, big);
	memset(data + 4, 0, schema->header - 12);
	tel_store(data + schema->header - 8, clock, 8, big);
}

uint32_t
tel__encode_size(const struct tel_schema *schema, const struct tel_type *type,
    const struct tel_field *f, size_t length)
{
	uint32_t size = tel_string_size(schema, f->offset, (uint32_t)length);

	return size > type->size ? size : type->size;
}
