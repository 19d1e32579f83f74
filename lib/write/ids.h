/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids: the numbers of strings in a stream that several logs are written to.
 * Each log numbers its strings from 1, so what they say clashes; a number
 * that is taken by another string is replaced by one that is free.
 */
#ifndef TEL_IDS_H
#define TEL_IDS_H

#include "model/labels.h"

/* The strings of the stream. */
struct ids {
	struct tel_labels *taken; /* number to place in strings */
	struct id_string {
		uint64_t id;
		char *
		    text; /* NULL: a label has its number, but it is not seen yet */
		size_t length;
		unsigned owner;
		int shared; /* by another log than its owner */
	} * strings;
	size_t count, room;
	uint64_t largest;
	int full; /* some strings are not here */
};

/* max: how many strings are held.  TEL_OK, TEL_ENOMEM. */
tel_status tel__ids_begin(struct ids *ids, size_t max);
void tel__ids_free(struct ids *ids);

/*
 * What a number that a log gives to a string becomes.
 * map: of the log, number to place in strings; owner: the log's own number.
 * limit: the greatest number that the stream can hold.
 * text: NULL when it is a label that has the number.
 * same: set to 1 when the number stood for this text already, else to 0.
 * Returns TEL_OK; TEL_ENOMEM; TEL_ELIMIT: too many strings, and *out is id.
 */
tel_status tel__ids_map(struct ids *ids, struct tel_labels *map, unsigned owner,
    uint64_t limit, uint64_t id, const char *text, size_t length, uint64_t *out,
    int *same);

#endif
