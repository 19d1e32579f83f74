/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash functions.  A table of what a log holds takes a seed, so that no log
 * can be written whose keys all collide.
 */
#ifndef TEL__HASH_H
#define TEL__HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* FNV-1a by Fowler, Noll and Vo: what the hash of no bytes is. */
#define TEL__FNV UINT64_C(0xcbf29ce484222325)

static inline uint64_t
tel__fnv_byte(uint64_t hash, unsigned char c)
{
	return (hash ^ c) * UINT64_C(0x100000001b3);
}

/* hash: TEL__FNV, or that of the bytes before these. */
static inline uint64_t
tel__fnv(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (; n > 0; n--)
		hash = tel__fnv_byte(hash, *p++);
	return hash;
}

/* The same of the low bytes of a number, the lowest one first. */
static inline uint64_t
tel__fnv_number(uint64_t hash, uint64_t v, size_t width)
{
	for (; width > 0; width--, v >>= 8)
		hash = tel__fnv_byte(hash, (unsigned char)v);
	return hash;
}

/* A number: the finaliser of Steele, Lea and Flood's SplitMix64. */
static inline uint64_t
tel__hash(uint64_t bits, uint64_t seed)
{
	bits ^= seed;
	bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
	return bits ^ bits >> 31;
}

/* Bytes, eight at a time: faster than FNV-1a, but not the same everywhere. */
static inline uint64_t
tel__hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t hash = seed + n, word;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		hash = tel__hash(word, hash);
	}
	word = 0;
	if (n > 0)
		memcpy(&word, p, n);
	return tel__hash(word, hash);
}

/* A seed that is another one for each run, and for each address. */
static inline uint64_t
tel__hash_seed(const void *address)
{
	struct timespec now = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return tel__hash((uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec,
	    (uint64_t)(uintptr_t)address);
}

#endif
