/* SPDX-License-Identifier: BSD-2-Clause */
/* What column.c makes for wire.c. */
#ifndef TEL_EMIT_WIRE_H
#define TEL_EMIT_WIRE_H

#include "emit.h"

void tel__emit_put_string(struct tel__emit_bytes *b, const void *p, size_t n);
/* Stores the low n bytes of v, least first. */
void tel__emit_store(unsigned char *p, uint64_t v, unsigned n);
/* XXH64 with the seed 0. */
uint64_t tel__emit_hash(const unsigned char *p, size_t n);
/* The least and the greatest of n values, 1 or more. */
void tel__emit_range(const uint64_t *v, unsigned n, uint64_t *low,
    uint64_t *high);
/* A column of n values, 1 or more, that begins near before. */
void tel__emit_put_column(struct tel__emit_bytes *b, const uint64_t *v,
    unsigned n, uint64_t before);

#endif
