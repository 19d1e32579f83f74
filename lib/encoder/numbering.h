/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbering: the numbers of strings in a stream that several logs are written to.
 * Each log numbers its strings from 1, so what they say clashes; a number
 * that is taken by another string is replaced by one that is free.
 */
#ifndef TEL_NUMBERING_H
#define TEL_NUMBERING_H

#include "base/table.h"
#include "model/labels.h"

/* The strings of the stream. */
struct numbering {
	struct tel__table taken; /* number to place in strings */
	struct id_string {
		uint64_t id;
		char *
		    text; /* NULL: a label has its number, but it is not seen yet */
		size_t length;
		int shared; /* by other numbers, of any log */
	} * strings;
	size_t count, room, max;
	uint64_t largest;

	unsigned char init[64]; /* the fields of the first EventInit */
	size_t init_size;       /* 0 before it */
	int init_made;          /* no log had it: it was made */
	unsigned char *changed; /* an event with another number in it */
};

/* max: how many strings are held. */
void tel__numbering_begin(struct numbering *ids, size_t max);
void tel__numbering_free(struct numbering *ids);

/*
 * What a number that a log gives to a string becomes.
 * map: of the log, number to place in strings.
 * limit: the greatest number that the stream can hold.
 * text: NULL when it is a label that has the number.
 * same: set to 1 when the number was of this text already, else to 0.
 * Returns TEL_OK; TEL_ENOMEM; TEL_ELIMIT: too many strings, and *out is id.
 */
tel_status tel__numbering_map(struct numbering *ids, struct tel__table *map,
    uint64_t limit, uint64_t id, const char *text, size_t length, uint64_t *out,
    int *same);

#endif
