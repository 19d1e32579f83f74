/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pattern that verifying fills blocks with: another one for each slot,
 * and another one at each eight bytes, so that neither a block that overlaps
 * nor one that was moved by a little goes unseen.
 */
#include "run_inside.h"

#include <string.h>

static uint64_t
word_at(uint32_t slot, uint64_t offset)
{
	uint64_t v = ((uint64_t)slot << 32 | 1) + offset / 8;

	v *= UINT64_C(0x9e3779b97f4a7c15);
	return v ^ v >> 29;
}

static unsigned char
byte_at(uint32_t slot, uint64_t offset)
{
	return (unsigned char)(word_at(slot, offset) >> (offset % 8 * 8));
}

/* Eight bytes at a time, least significant one first. */
static void
store(unsigned char *p, uint64_t v)
{
	int i;

	for (i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> (i * 8));
}

void
run_fill(unsigned char *block, uint32_t slot, uint64_t from, uint64_t to)
{
	uint64_t i = from;

	for (; i < to && i % 8 != 0; i++)
		block[i] = byte_at(slot, i);
	for (; i + 8 <= to; i += 8)
		store(block + i, word_at(slot, i));
	for (; i < to; i++)
		block[i] = byte_at(slot, i);
}

uint64_t
run_compare(const unsigned char *block, uint32_t slot, uint64_t from,
    uint64_t to)
{
	unsigned char want[8];
	uint64_t i = from;

	for (; i < to && i % 8 != 0; i++)
		if (block[i] != byte_at(slot, i))
			return i;
	for (; i + 8 <= to; i += 8) {
		store(want, word_at(slot, i));
		if (memcmp(block + i, want, 8) != 0)
			break;
	}
	for (; i < to; i++)
		if (block[i] != byte_at(slot, i))
			return i;
	return to;
}

uint64_t
run_zeros(const unsigned char *block, uint64_t size)
{
	uint64_t i;

	for (i = 0; i < size; i++)
		if (block[i] != 0)
			return i;
	return size;
}
