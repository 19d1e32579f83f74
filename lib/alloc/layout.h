/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a program: all numbers are little-endian, all parts are
 * multiples of eight bytes.
 *
 *	header	magic, version, 0
 *	chunk	how many lanes, then of each: words, times, bytes of origins;
 *		all words; all times; all origins, with zeros up to a multiple
 *		of eight; a sum of what is before it
 *	...
 *	facts	tel_facts: its numbers, then as many odd ones, points and names
 *		as these say
 *	index	the offset of each chunk, its size
 *	trailer	the offset of the facts, the size of facts and index, a sum of
 *		them, magic
 *
 * The origins are a byte string for each lane, and in it for each operation
 * (not for waits and uses): twice the difference to the event before it,
 * zigzag, plus 1 when another log begins, whose number follows; all of them
 * seven bits a byte, low ones first.
 */
#ifndef TEL_ALLOC_LAYOUT_H
#define TEL_ALLOC_LAYOUT_H

#include <stddef.h>
#include "io/bytes.h"
#include "tel.h"

#define PROGRAM_MAGIC UINT64_C(0x0a676f7270746c89)
#define PROGRAM_VERSION 1
#define PROGRAM_HEADER 16
#define PROGRAM_TRAILER 32
#define PROGRAM_LANES 1024
#define TEL_BLOCK_MAX (UINT64_C(1) << 47) /* no block is larger */

/* Words of tel_facts that are one number each. */
#define FACTS_NUMBERS (offsetof(tel_facts, odd_ones) / 8)
#define FACTS_ODD 4   /* words of an odd one */
#define FACTS_POINT 5 /* words of a point */
#define FACTS_MOST \
	((FACTS_NUMBERS + TEL_ODD_KEPT * FACTS_ODD + \
	     TEL_CURVE_POINTS * FACTS_POINT) * \
	        8 + \
	    TEL_LOG_NAMES * TEL_LOG_NAME)

/* Writes facts to room for FACTS_MOST bytes; returns how many. */
size_t tel_facts_store(const tel_facts *f, unsigned char *room);
/*
 * Reads them.  *used: how many bytes they took.  0, or -1 when they cannot be
 * such.
 */
int tel_facts_load(tel_facts *f, const unsigned char *p, size_t size,
    size_t *used);

/* The sum that follows bytes, a multiple of eight of them; begin with 0. */
static inline uint64_t
tel_program_sum(uint64_t sum, const unsigned char *p, size_t size)
{
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		sum = (sum ^ tel_le64(p + i)) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* How many words follow the one given; the word of a wait has none. */
static inline unsigned
tel_word_more(uint64_t w)
{
	return (w & TEL_WORD_KIND) == TEL_WORD_MORE ? TEL_WORD_SIZE(w) & 7 : 0;
}

#endif
