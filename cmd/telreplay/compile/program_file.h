/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a program: all numbers are little-endian, all parts are
 * multiples of eight bytes.
 *
 *	header	magic, version
 *	chunk	the number of threads, then of each: words, times, bytes of
 *		origins; all words; all times; all origins, with zeros up to a
 *		multiple of eight; a checksum of what precedes
 *	...
 *	facts	struct facts: its numbers, then as many lives of threads,
 *		anomalies, points and names as these say
 *	pools	what describes the pools from number 0 on: text and a NUL for
 *		each, with zeros up to a multiple of eight
 *	index	the offset of each chunk, its size
 *	trailer	the offset of the facts, the size of facts, pools and
 *		index, a checksum of them, magic
 *
 * The origins are a byte string for each thread, and in it for each operation
 * (not for waits and uses): twice the difference to the event before it,
 * zigzag, plus 1 when another log starts, whose number follows; all of them
 * seven bits a byte, low ones first.
 */
#ifndef TELREPLAY_PROGRAM_FILE_H
#define TELREPLAY_PROGRAM_FILE_H

#include "base/bytes.h"
#include "telreplay/compile/program.h"

#define PROGRAM_MAGIC UINT64_C(0x0a676f7270746c89)
#define PROGRAM_VERSION 9
#define PROGRAM_HEADER 16
#define PROGRAM_TRAILER 32

/* Words of the file as numbers, and back. */
static inline void
program_swap(uint64_t *words, size_t count)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	size_t i;

	for (i = 0; i < count; i++)
		words[i] = tel_le64((const unsigned char *)&words[i]);
#else
	(void)words;
	(void)count;
#endif
}

/* A checksum of a multiple of eight bytes; sum: 0 at first. */
static inline uint64_t
program_sum(uint64_t sum, const unsigned char *p, size_t size)
{
	for (size_t i = 0; i + 8 <= size; i += 8) {
		sum = (sum ^ tel_le64(p + i)) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return sum;
}

struct program {
	int fd;                    /* or -1 */
	const unsigned char *data; /* or NULL */
	uint64_t size;             /* of the file */
	uint64_t *index;           /* offset and size of each chunk */
	char *pools;               /* what describes them */
	size_t *pool;              /* where in .pools, by number */
	size_t npools;             /* numbers in .pool */
	uint64_t walked;           /* the chunk that program_walk() is in */
	struct facts facts;
};

#endif
