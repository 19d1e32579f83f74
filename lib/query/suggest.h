/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that an unknown one may have been meant for, for messages. */
#ifndef TEL_QUERY_SUGGEST_H
#define TEL_QUERY_SUGGEST_H

#include <stddef.h>

struct suggestion {
	const char *want;
	size_t length;
	const char *best[3]; /* nearest first; NULL past the last */
	unsigned distance[3];
};

void tel__suggest_start(struct suggestion *n, const char *want, size_t length);

/* Offers a name, which must live until tel__suggest_text(). */
void tel__suggest_offer(struct suggestion *n, const char *name);

/*
 * Puts "; did you mean 'a', 'b' or 'c'?" into buffer, or nothing when no
 * name is near.  Returns buffer.
 */
const char *tel__suggest_text(const struct suggestion *n, char *buffer,
    size_t size);

#endif
