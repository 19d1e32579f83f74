/* SPDX-License-Identifier: BSD-2-Clause */
/* The names nearest to one that nobody knows, for messages. */
#ifndef TEL_QUERY_NEAR_H
#define TEL_QUERY_NEAR_H

#include <stddef.h>

struct near {
	const char *want;
	size_t length;
	const char *best[3]; /* nearest first; NULL past the last */
	unsigned distance[3];
};

void tel__near_begin(struct near *n, const char *want, size_t length);

/* Offers a name, which must live until tel__near_text(). */
void tel__near_offer(struct near *n, const char *name);

/*
 * Puts "; did you mean 'a', 'b' or 'c'?" into buffer, or nothing when no
 * name is near.  Returns buffer.
 */
const char *tel__near_text(const struct near *n, char *buffer, size_t size);

#endif
