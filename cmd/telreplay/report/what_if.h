/* SPDX-License-Identifier: BSD-2-Clause */
/* What if: size classes that blocks might be rounded up to. */
#ifndef TELREPLAY_WHAT_IF_H
#define TELREPLAY_WHAT_IF_H

#include <stddef.h>
#include <stdint.h>

/* The most sizes in a list, and the most lists. */
#define WHAT_IF_SIZES 256
#define WHAT_IF_MAX 8

/* Size classes: one of these forms. */
struct what_if {
	const char *text; /* for the report */
	uint64_t each;    /* classes for each power of 2; 0: a list */
	uint64_t least;   /* of these the smallest, and their least distance */
	uint64_t header;  /* bytes in front of each block */
	uint64_t sizes[WHAT_IF_SIZES]; /* of the list, in order */
	size_t n;
	uint64_t step; /* behind the list: multiples of this */
};

/*
 * Reads an argument of --classes, which must live as long as *out: the name of
 * an allocator or a list of sizes.  Returns 1, or 0 after a message.
 */
int what_if_parse(const char *text, struct what_if *out);

#endif
